package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

const (
	featureTask = "acme__kit-c526b61bf7634"
	editTask    = "acme__kit-e526b61bf7634.ba1683493"
	libraryTask = "acme__lathe-v1.1.0.library"
	serviceTask = "acme__shelf-c46988c4b0025.readers.service"
)

// TestSolver has the real mini-swe-agent answer a task of each kind, by the command of
// docs/solving.md and with models that are played.
func TestSolver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds images")
	}
	if _, err := exec.LookPath("uv"); err != nil {
		t.Skip("NO UV: .ci/setup test")
	}
	b := &bench{kind: "docker", env: needs(t, "docker"), dir: t.TempDir()}
	b.must(t, "run", "-c", solverDataset(t, b.dir), "--sandbox", "docker")
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	player := filepath.Join(b.dir, "miniswe")
	if out, err := exec.Command("go", "build", "-o", player, "../bench/miniswe").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script, err := filepath.Abs("../bench/miniswe/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		model, folder string
		options       []string
		code          int
		says          string
		want          map[string]string // verdict and cause by task
	}{
		// A server that fails decides no verdict, and its task is asked again.
		{model: "nobody", folder: "gold", options: []string{"--filter", featureTask}, code: 2, says: featureTask + ": no answer: mini-swe-agent ended with NotFoundError"},
		{model: "gold", folder: "gold", want: map[string]string{featureTask: "PASS ", editTask: "PASS ", libraryTask: "PASS ", serviceTask: "PASS "}},
		{model: "nop", folder: "nop", want: map[string]string{featureTask: "FAIL incomplete", editTask: "FAIL incomplete", libraryTask: "FAIL incomplete", serviceTask: "FAIL incomplete"}},
		{model: "faulty", folder: "faulty", options: []string{"--filter", libraryTask}, want: map[string]string{libraryTask: "PASS "}},
		{model: "endless", folder: "endless", options: []string{"--filter", editTask, "-c", "agent.step_limit=3"}, says: "the agent ended with LimitsExceeded", want: map[string]string{editTask: "EMPTY unapplied"}},
	} {
		cmd := exec.Command(player, append([]string{"benchmint-out", script, "benchmint-out", "openai/" + tc.model, tc.folder}, tc.options...)...)
		cmd.Dir, cmd.Env = b.dir, append(b.env, "BENCHMINT="+program)
		out, err := cmd.CombinedOutput()
		code := 0
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != tc.code || !strings.Contains(string(out), tc.says) {
			t.Fatalf("%s: exit %d, want %d with %q\n%s", tc.model, code, tc.code, tc.says, tail(string(out)))
		}
		if tc.want != nil {
			if diff := cmp.Diff(tc.want, graded(t, filepath.Join(b.dir, tc.folder))); diff != "" {
				t.Errorf("%s: %s", tc.model, diff)
			}
		}
	}
}

// solverDataset makes three repositories, and a configuration that takes a task of each kind from them.
func solverDataset(t *testing.T, dir string) string {
	t.Helper()
	for _, name := range []string{"kit", "lathe", "shelf-flask"} {
		history, err := os.ReadFile("../cmd/benchmint/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gitrepotest.Build(filepath.Join(dir, name), history); err != nil {
			t.Fatal(err)
		}
	}
	name, kit := filepath.Join(dir, "solver.yaml"), filepath.Join(dir, "kit")
	last, before := gitrepotest.Git(t, kit, "rev-parse", "HEAD"), gitrepotest.Git(t, kit, "rev-parse", "HEAD~2")
	err := os.WriteFile(name, []byte(`
filters: {thin: true}
proof: {runs: 1, hunks: 0}
sources:
- {git: kit, name: acme/kit, kinds: [feature, edit], only: [`+last+`, `+before+`..`+last+`]}
- {git: lathe, name: acme/lathe, kinds: [library]}
- {git: shelf-flask, name: acme/shelf, kinds: [service], only: [readers]}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// graded has verdict and cause of each task that run.sh had answered and graded in a folder. It wants to know what each
// took, and that its container had no network: the played models list the interfaces.
func graded(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "eval", "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range bytes.Lines(text) {
		var l struct {
			ID      string `json:"instance_id"`
			Verdict string
			Cause   string
			Turns   int
			Cost    float64
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		out[l.ID] = l.Verdict + " " + l.Cause
		if l.Turns == 0 || l.Cost == 0 || l.Input == 0 || l.Output == 0 {
			t.Errorf("%s took %+v", folder, l)
		}
		said, err := os.ReadFile(filepath.Join(folder, "run", l.ID, l.ID+".traj.json"))
		if err != nil || !bytes.Contains(said, []byte(` Start of the task\nlo\n"`)) {
			t.Errorf("%s: the container of %s has a network, or does not say (%v)", folder, l.ID, err)
		}
	}
	return out
}
