package testrun_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// keeping is a box that keeps the files of the last layer.
type keeping struct {
	box
	files *[]sandbox.File
}

func (k keeping) Build(ctx context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	*k.files = b.Files
	return k.box.Build(ctx, b)
}

// TestSuiteIsNowhere: nothing of the suite reaches the processes of a service, by no object of the
// repository either, which anybody can print.
func TestSuiteIsNowhere(t *testing.T) {
	t.Parallel()
	const expected = "what the service is to answer\n"
	entries := []tree.Entry{{Path: "a.toy", Mode: tree.ModeFile, Data: []byte("a")}, {Path: schemas.SuiteFolder + "/cases.json", Mode: tree.ModeFile, Data: []byte(expected)}}
	with, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	base, err := tree.New(entries[:1])
	if err != nil {
		t.Fatal(err)
	}
	var files []sandbox.File
	o := testrun.Outside{Builder: &environment.Builder{
		Sandbox: keeping{files: &files}, Toolchains: toolchains{}, Languages: map[string]lang.Language{"toy": langtest.Toy{}}, Runners: langtest.Runners(),
	}}
	c := testrun.Case{
		Start: schemas.Start{Language: "toy", BaseDate: time.Unix(0, 0)}, Trees: states.Trees{B: base, S: with, G: with},
		Environment: schemas.Environment{Recipe: schemas.Recipe{Language: "toy", Report: langtest.Format, Service: &schemas.Service{}}},
	}
	bench := testrun.New(o, c, sandbox.Limits{})
	for name, place := range map[string]func() (testrun.Place, error){
		"solution": func() (testrun.Place, error) { return bench.Place(t.Context(), schemas.StateG) },
		"answer":   func() (testrun.Place, error) { return bench.Instead(t.Context(), schemas.StateS, "P", with) },
	} {
		if _, err := place(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range files {
			p := filepath.Join(dir, f.Path)
			if strings.Contains(f.Path, schemas.SuiteFolder) {
				t.Errorf("%s: %s is there", name, f.Path)
			}
			if f.Mode.IsDir() {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "cat-file", "--batch-all-objects", "--batch-check")
		cmd.Dir = filepath.Join(dir, sandbox.TreePath)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tree.BlobID([]byte("a"))) {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if strings.Contains(string(out), tree.BlobID([]byte(expected))) {
			t.Errorf("%s: the repository has an object of the suite", name)
		}
	}
}
