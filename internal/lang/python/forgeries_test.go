package python

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/forgerytest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// arena is a sandbox with an environment that has pytest.
type arena struct {
	environmenttest.Workplace
	recipe   schemas.Recipe
	env      sandbox.Layer
	packages string // site-packages inside
}

func newArena(t *testing.T) arena {
	t.Helper()
	project := environmenttest.Tree(t, map[string]string{
		"pyproject.toml": "[project]\nname = \"box\"\nversion = \"1\"\nrequires-python = \"==3.12.*\"\n[dependency-groups]\ntest = [\"pytest==8.2.1\"]\n", "tests/test_box.py": "def test_box():\n    pass\n",
	})
	a := arena{Workplace: environmenttest.New(t, environmenttest.Bubblewrap(t), Language{}, ReportFormat), packages: venvPath + "/lib/python3.12/site-packages"}
	a.recipe = a.Recipe(t, project, project)
	// The tests import the tree as it lies there.
	a.recipe.Build, a.recipe.Variables = nil, map[string]string{"PYTHONPATH": sandbox.TreePath}
	var err error
	if a.env, err = a.Env(t.Context(), a.recipe); err != nil {
		t.Fatal(err)
	}
	return a
}

// try runs the suite of a project.
func (a arena) try(t *testing.T, f forgerytest.Forgery) testlog.Report {
	t.Helper()
	files := map[string]string{}
	var put []sandbox.File
	for p, data := range f.Files {
		if rest, ok := strings.CutPrefix(p, forgerytest.Environment); ok {
			put = append(put, sandbox.File{Path: path.Join(a.packages, rest), Mode: 0o644, Data: []byte(data)})
			continue
		}
		if rest, ok := strings.CutPrefix(p, forgerytest.Venv); ok {
			put = append(put, sandbox.File{Path: path.Join(venvPath, rest), Mode: 0o755, Data: []byte(data)})
			continue
		}
		files[p] = data
	}
	tr := environmenttest.Tree(t, files)
	state, _, err := a.Sandbox.Build(t.Context(), sandbox.Build{Key: schemas.Digest("sha256:" + f.Name), Parent: a.env, Files: append(put, tr.Files(time.Unix(0, 0))...)})
	if err != nil {
		t.Fatal(err)
	}
	r := a.recipe
	run := Language{}.Runs(r, tr, lang.Select{Number: 1})[0]
	limits := sandbox.Limits{Memory: 1 << 30, Processes: 64, Timeout: time.Minute}
	res, err := a.Sandbox.Run(t.Context(), run.Asking(sandbox.Run{Layer: state, Command: run.Command, Env: r.Variables, Inputs: run.Inputs, Limits: limits}))
	if err != nil {
		t.Fatal(err)
	}
	said, _ := run.Said(res)
	report := Language{}.Parse(r, []lang.Output{{Run: run, Tree: tr, Report: said, Result: res}})
	t.Logf("ended %v, tampered %q, unwatched %q, %v", report.Ended, report.Tampered, report.Unwatched, statuses(report))
	if testing.Verbose() {
		t.Logf("exit %d: %s", res.ExitCode, res.Output)
	}
	return report
}

// ofEachKind are the forgeries that run before each merge: one for each thing that is
// looked at.
var ofEachKind = []string{
	forgerytest.PythonSound, "plain_records", "fork_writes_later", "memory_of_the_parent", "exit_in_the_test", "endless_line",
	"sitecustomize", "entry_point", "shadowed_json", "other_interpreter", "plugin_by_gc", "encoder", "every_report", "call_info",
	"runtest", "every_makereport", "no_canary", "clock", "assertion_error",
}

// TestForgeries: code of a repository that speaks in the plugin's name, or has pytest say
// what is not so, passes no test that fails.
func TestForgeries(t *testing.T) {
	t.Parallel()
	testForgeries(t, slices.DeleteFunc(forgerytest.Python(), func(f forgerytest.Forgery) bool { return !slices.Contains(ofEachKind, f.Name) }))
}

// TestForgeriesAll runs all of them.
func TestForgeriesAll(t *testing.T) {
	t.Parallel()
	testForgeries(t, forgerytest.Python())
}

func testForgeries(t *testing.T, forgeries []forgerytest.Forgery) {
	if testing.Short() {
		t.Skip("builds an environment")
	}
	if len(forgeries) < len(ofEachKind) {
		t.Fatalf("%d forgeries", len(forgeries))
	}
	a := newArena(t)
	for _, f := range forgeries {
		t.Run(f.Name, func(t *testing.T) {
			report := a.try(t, f)
			got := report.Index().Status(forgerytest.PythonTarget, "tests/test_value.py")
			if got == schemas.Passed && report.Tampered == "" {
				t.Error("the forgery is taken for a pass")
			}
			for _, x := range report.Tests {
				if !strings.HasPrefix(x.ID, "tests/test_") {
					t.Errorf("%s is a result", x.ID)
				}
			}
			if f.Name != forgerytest.PythonSound {
				return
			}
			sounds := report.Index().Status("tests/test_sound.py::test_sound", "tests/test_sound.py")
			if got != schemas.Failed || sounds != schemas.Passed || report.Tampered != "" || report.Unwatched != "" || !report.Ended || len(report.Tests) != 5 {
				t.Errorf("without a forgery: %s, %s, %+v", got, sounds, report)
			}
		})
	}
}
