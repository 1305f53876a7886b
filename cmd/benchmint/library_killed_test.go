package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// TestLibraryKilled kills a run of libraries in four stages, and lets it come to its end: its
// dataset is that of a run that nobody killed, and nothing of a killed one is left.
func TestLibraryKilled(t *testing.T) {
	t.Parallel()
	history := built(t, "lathe")
	repo, dir := gitrepotest.New(t, history), t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	// run is ended where it begins a stage; "" is nowhere.
	run := func(name, until string) (killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "benchmint", "run", repo, "-v", "--sandbox", "bwrap", "--store", name, "--output", name+"-out",
			"--set", "kinds=library", "--set", "library.releases=0", "--set", "proof.runs=1", "--set", "proof.hunks=0", "--set", "dataset=kill")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "NO_COLOR=1", "TMPDIR="+tmp)
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(&all, lines.Text())
			if until != "" && strings.HasSuffix(lines.Text(), "  "+until+" …") {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		err = cmd.Wait()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if err != nil && !status.Signaled() {
			t.Fatalf("%v\n%s", err, &all)
		}
		return status.Signaled()
	}
	for _, stage := range []string{"mask", "resolve", "provision", "validate"} {
		if !run("killed", stage) {
			t.Fatalf("the run that is to be killed in %s came to its end", stage)
		}
	}
	run("killed", "")
	run("whole", "")
	one, two := filesOf(t, filepath.Join(dir, "whole-out")), filesOf(t, filepath.Join(dir, "killed-out"))
	delete(one, "timings.jsonl") // what it took
	delete(two, "timings.jsonl")
	if d := cmp.Diff(one, two); d != "" {
		t.Errorf("whole and killed differ:\n%s", d)
	}
	if rows := strings.Count(one["data/test.jsonl"], "\n"); rows != 2 {
		t.Errorf("%d rows of 2 releases", rows)
	}
	for _, left := range []string{tmp, filepath.Join(dir, "killed", "blobs", "unfinished")} {
		if held, err := os.ReadDir(left); err != nil || len(held) > 0 {
			t.Errorf("left in %s: %v, %v", left, held, err)
		}
	}
}

// filesOf is a folder as text by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		out[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
