package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// TestEvalKilled kills an evaluation twice.
func TestEvalKilled(t *testing.T) {
	t.Parallel()
	evalKilled(t, 6, 2)
}

// TestEvalKilledTenTimes is that of 60 predictions.
func TestEvalKilledTenTimes(t *testing.T) {
	t.Parallel()
	evalKilled(t, 60, 10)
}

// evalKilled takes predictions through an evaluation that is killed while it grades, and
// through one that is not: the files are the same, and what had a verdict before a kill is
// not begun again after it.
func evalKilled(t *testing.T, predictions, kills int) {
	history := built(t, "gadget-go")
	dir := t.TempDir()
	env := append(os.Environ(), "NO_COLOR=1", "BENCHMINT_FILTERS_LABELS=feature,improvement,fix,other", "BENCHMINT_FILTERS_MODIFIES_ONLY=false", "BENCHMINT_FILTERS_THIN=true")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "benchmint", args...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	if out, err := command("run", gitrepotest.New(t, history), "--sandbox", "bwrap", "--set", "proof.runs=1", "--set", "proof.hunks=0", "--set", "dataset=kill").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	id, err := filepath.Glob(filepath.Join(dir, "benchmint-out", "tasks", "*"))
	if err != nil || len(id) != 1 {
		t.Fatalf("tasks: %v, %v", id, err)
	}
	write(t, filepath.Join(dir, "preds.jsonl"), manyPredictions(t, filepath.Base(id[0]), predictions))
	eval := []string{"eval", "benchmint-out", "preds.jsonl", "-v", "-j", "2"}

	settled, begun, inFlight := map[string]bool{}, 0, 0
	for n := 1; ; n++ {
		cmd := command(append(eval, "--output", "killed")...)
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		open := map[string]bool{}
		var tail bytes.Buffer
		until := 1 + predictions/(kills+1) // begun, and then killed
		for lines := bufio.NewScanner(said); lines.Scan(); {
			line := lines.Text()
			fmt.Fprintln(&tail, line)
			key, verdict, ok := strings.Cut(strings.TrimSpace(line), "  ")
			switch {
			case !ok || !strings.Contains(key, "@"):
			case verdict == "grade …":
				if settled[key] {
					t.Errorf("%s is graded again after its verdict", key)
				}
				open[key] = true
				begun++
				if until--; until == 0 && n <= kills {
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			default:
				settled[key] = true
				delete(open, key)
			}
		}
		err = cmd.Wait()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.Signaled() {
			inFlight += len(open)
			continue
		}
		if err != nil || n <= kills {
			t.Fatalf("run %d came to its end: %v\n%s", n, err, &tail)
		}
		break
	}
	if begun > predictions+inFlight {
		t.Errorf("%d of %d predictions were begun, and %d were in flight at a kill", begun, predictions, inFlight)
	}
	t.Logf("%d kills, %d in flight, %d begun", kills, inFlight, begun)
	if out, err := command(append(eval, "--output", "whole")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"results.jsonl", "report.json", "metrics.json", "resq.json"} {
		one, err1 := os.ReadFile(filepath.Join(dir, "killed", name))
		two, err2 := os.ReadFile(filepath.Join(dir, "whole", name))
		if d := cmp.Diff(string(two), string(one)); d != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v\n%s", name, errors.Join(err1, err2), d)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manyPredictions are samples of one model for the second change of gadget-go: every second
// one solves it, one is empty and one does not apply.
func manyPredictions(t *testing.T, id string, n int) string {
	t.Helper()
	base := map[string]string{"gadget.go": "package gadget\n\nfunc Area(w, h int) int { return w * h }\n"}
	var out strings.Builder
	for i := range n {
		condition := "w < 0 || h < 0"
		if i%2 == 1 {
			condition = "w < 0 && h == 0"
		}
		code := fmt.Sprintf("package gadget\n\n// Area of sample %d.\nfunc Area(w, h int) int {\n\tif %s {\n\t\treturn 0\n\t}\n\treturn w * h\n}\n", i, condition)
		patch := string(gitrepotest.Diff(t, 3, base, map[string]string{"gadget.go": code}))
		switch i {
		case 2:
			patch = ""
		case 3:
			patch = strings.Replace(patch, "return w * h", "return h * w", 1)
		}
		line, err := json.Marshal(map[string]any{"instance_id": id, "model_name_or_path": "m", "model_patch": patch})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}
