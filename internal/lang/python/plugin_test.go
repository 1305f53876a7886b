package python

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// pairs are the interpreters and runners that the plugin is held to; each test
// uses those that this machine has.
var pairs = []struct{ python, pytest string }{
	{"2.7", "4.6.11"}, {"3.6", "4.6.11"}, {"3.7", "3.5.1"}, {"3.7", "5.4.3"}, {"3.8", "6.2.5"}, {"3.9", "7.4.4"},
	{"3.10", "7.0.1"}, {"3.11", "8.0.2"}, {"3.12", "8.4.2"}, {"3.13", "9.0.1"},
}

// runner is an interpreter that imports one pytest.
type runner struct {
	name, python string
	env          []string
}

// venvs makes each environment once for all tests.
var venvs struct {
	sync.Mutex
	dir  string
	made map[string]runner
}

func TestMain(m *testing.M) {
	code := m.Run()
	if venvs.dir != "" {
		_ = os.RemoveAll(venvs.dir) // scratch of this run; the system cleans what is left
	}
	os.Exit(code)
}

// runnerFor gives a runner, with more packages beside pytest, or skips loudly. Runners with other packages are others.
func runnerFor(t *testing.T, python, pytest string, more ...string) runner {
	t.Helper()
	venvs.Lock()
	defer venvs.Unlock()
	name := python + "-" + pytest
	if len(more) > 0 {
		name += "-" + schemas.DigestBytes([]byte(strings.Join(more, " "))).Short()
	}
	if r, ok := venvs.made[name]; ok {
		return r
	}
	if venvs.dir == "" {
		dir, err := os.MkdirTemp("", "plugin")
		if err != nil {
			t.Fatal(err)
		}
		venvs.dir, venvs.made = dir, map[string]runner{}
	}
	base := findPython(python)
	if base == "" {
		t.Skipf("SKIP: no CPython %s on this machine", python)
	}
	dir := filepath.Join(venvs.dir, name)
	r := runner{name: name, python: filepath.Join(dir, "bin", "python")}
	var commands [][]string
	if python == "2.7" { // uv knows nothing below 3.6
		r.python, r.env = base, []string{"PYTHONPATH=" + dir}
		commands = [][]string{{base, "-m", "pip", "install", "-q", "--target", dir, "pytest==" + pytest}}
	} else {
		commands = [][]string{{"uv", "venv", "-q", "--python", base, dir}, append([]string{"uv", "pip", "install", "-q", "--python", r.python, "pytest==" + pytest}, more...)}
	}
	for _, c := range commands {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("SKIP: pytest %s %v for CPython %s cannot be had: %v: %s", pytest, more, python, err, out)
		}
	}
	venvs.made[name] = r
	return r
}

// findPython looks where interpreters are kept: pyenv, then PATH.
func findPython(version string) string {
	root := os.Getenv("PYENV_ROOT")
	if home, err := os.UserHomeDir(); root == "" && err == nil {
		root = filepath.Join(home, ".pyenv")
	}
	found, _ := filepath.Glob(filepath.Join(root, "versions", version+"*", "bin", "python"))
	for _, f := range found {
		if v := filepath.Base(filepath.Dir(filepath.Dir(f))); v == version || strings.HasPrefix(v, version+".") {
			return f
		}
	}
	if p, err := exec.LookPath("python" + version); err == nil {
		return p
	}
	return ""
}

// session is one process of pytest under the plugin, outside any sandbox.
type session struct {
	report testlog.Report
	said   []byte // the report as it came
	output string
	exit   int
}

func runSession(t *testing.T, r runner, archive string, sel lang.Select, words ...string) session {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "plugin", archive))
	if err != nil {
		t.Fatal(err)
	}
	return sessionIn(t, r, a, sel, words...)
}

func sessionIn(t *testing.T, r runner, a *txtar.Archive, sel lang.Select, words ...string) session {
	t.Helper()
	root, run := runOf(t, a, sel, append([]string{venvPath + "/bin/pytest"}, words...)...)
	return execute(t, r, filepath.Dir(root), root, run)
}

// runOf writes a tree into a folder and gives the run of its only test command.
func runOf(t *testing.T, a *txtar.Archive, sel lang.Select, argv ...string) (root string, run recipe.TestRun) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(dir, "tree")
	var entries []tree.Entry
	for _, f := range a.Files {
		entries = append(entries, tree.Entry{Path: f.Name, Mode: "100644", Data: f.Data})
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	runs := Language{}.Runs(schemas.Recipe{Test: []schemas.Command{{Argv: argv}}}, tr, sel)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	return root, runs[0]
}

func environOf(r runner, dir string, run recipe.TestRun) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "PYTHONHASHSEED=" + run.Command.Env["PYTHONHASHSEED"]}, r.env...)
}

// execute maps the sandbox's paths to a scratch folder, and its channel to one of ours.
func execute(t *testing.T, r runner, dir, root string, run recipe.TestRun) session {
	t.Helper()
	c := configOf(run)
	c.Tree, c.Python = root, ""
	run.Given = encode(c)
	argv := slices.Clone(run.Command.Argv)
	for _, f := range run.Inputs {
		path := filepath.Join(dir, filepath.Base(f.Path))
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		argv[slices.Index(argv, f.Path)] = path
	}
	argv[0] = r.python
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = root
	cmd.Env = environOf(r, dir, run)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	said := converse(t, cmd, run.Given)
	_ = cmd.Run() // its exit code is looked at
	if ctx.Err() != nil {
		t.Fatalf("timeout: %s", out.String())
	}
	exit := cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit = 128 + int(status.Signal()) // as sandboxes say it
	}
	result := sandbox.Result{End: sandbox.Exited, ExitCode: exit, Output: out.Bytes()}
	report := said()
	got := Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Report: report, Result: result}})
	return session{report: got, said: report, output: out.String(), exit: exit}
}

// converse gives a command the descriptors of a channel; said is what it wrote, once
// it is gone.
func converse(t *testing.T, cmd *exec.Cmd, given []byte) (said func() []byte) {
	t.Helper()
	in, giver, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = make([]*os.File, sandbox.ReportFD-2)
	cmd.ExtraFiles[sandbox.GivenFD-3], cmd.ExtraFiles[sandbox.ReportFD-3] = in, report
	var data []byte
	var done sync.WaitGroup
	done.Go(func() { _, _ = giver.Write(given); giver.Close() })
	done.Go(func() { data, _ = io.ReadAll(reader); reader.Close() })
	return func() []byte {
		in.Close()
		report.Close()
		done.Wait()
		return data
	}
}

// forEach runs a test with every pair.
func forEach(t *testing.T, f func(t *testing.T, r runner)) {
	for _, p := range pairs {
		t.Run(p.python+"_pytest_"+p.pytest, func(t *testing.T) { f(t, runnerFor(t, p.python, p.pytest)) })
	}
}

func statuses(r testlog.Report) map[string]schemas.Status {
	out := map[string]schemas.Status{}
	for _, x := range r.Tests {
		if old, ok := out[x.ID]; ok {
			out[x.ID] = old + "+" + x.Status
			continue
		}
		out[x.ID] = x.Status
	}
	return out
}

func units(r testlog.Report) map[string]testlog.UnitState {
	out := map[string]testlog.UnitState{}
	for _, u := range r.Units {
		out[u.Name] = u.State
	}
	return out
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	const o, p, n = "tests/test_outcomes.py::", "tests/test_process.py::", "tests/test_names.py::test_names["
	want := map[string]schemas.Status{
		o + "test_passes": "passed", o + "test_fails": "failed", o + "test_set_up": "error", o + "test_tear_down": "error",
		o + "test_fails_and_tear_down": "failed", o + "test_skips": "skipped", o + "test_xfails": "xfailed", o + "test_xpasses": "xpassed",
		o + "test_xpasses_strictly": "failed", o + "test_xfails_without_run": "xfailed", o + "test_calls_exit": "failed",
		o + "TestClass::test_method": "passed", o + "Old::test_passes": "passed", o + "Old::test_expected": "xfailed", o + "Old::test_skipped": "skipped",
		"tests/sub/test_same.py::test_passes": "passed",
		p + "test_forks":                      "passed", p + "test_child_runs_on": "passed", p + "test_closes_descriptors": "passed",
		p + "test_uses_the_number_again": "passed", p + "test_changes_directory": "passed", p + "test_replaces_modules": "passed",
		p + "test_replaces_output": "passed", p + "test_runs_pytest_inside": "passed", p + "test_runs_pytest_beside": "passed",
		p + "test_environment_is_clean": "passed", p + "test_forges": "passed", p + "test_after_all": "passed",
		n + "two words]": "passed", n + "a/b]": "passed", n + "[x]]": "passed", n + "a::b]": "passed", n + `line\nbreak]`: "passed",
		n + `\u65e5\u672c]`: "passed", n + "]": "passed", n + `nul\x00]`: "passed", n + `quote'"]`: "passed", n + "same0]": "passed", n + "same1]": "passed",
	}
	wantUnits := map[string]testlog.UnitState{
		"tests/sub/test_same.py": "finished", "tests/test_broken.py": "not_loaded", "tests/test_left_out.py": "skipped",
		"tests/test_names.py": "finished", "tests/test_outcomes.py": "finished", "tests/test_process.py": "finished",
	}
	forEach(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "outcomes.txtar", lang.Select{Number: 1, Traces: true})
		if !s.report.Started || !s.report.Ended || s.report.Tampered != "" || s.report.Unwatched != "" {
			t.Errorf("started %v, ended %v, tampered %q, unwatched %q", s.report.Started, s.report.Ended, s.report.Tampered, s.report.Unwatched)
		}
		want := maps.Clone(want)
		if strings.Contains(r.name, "-3.") { // its node of a class is named so
			delete(want, o+"TestClass::test_method")
			want[o+"TestClass::()::test_method"] = "passed"
		}
		if diff := cmp.Diff(want, statuses(s.report)); diff != "" {
			t.Errorf("statuses (-want +got):\n%s\n%s", diff, s.output)
		}
		if diff := cmp.Diff(wantUnits, units(s.report)); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
		for _, x := range s.report.Tests {
			if x.ID == o+"test_fails" && !strings.Contains(x.Message, "1 == 2") {
				t.Errorf("the failing assertion is %q", x.Message)
			}
			if x.ID == o+"test_fails" && !assertedAt.MatchString(x.Trace) {
				t.Errorf("the trace is %q", x.Trace)
			}
			if failed := x.Status == schemas.Failed || x.Status == schemas.Errored; failed != (x.Trace != "") {
				t.Errorf("%s is %s, with the trace %q", x.ID, x.Status, x.Trace)
			}
		}
		for _, u := range s.report.Units {
			if u.Name == "tests/test_broken.py" && !strings.Contains(u.Message, "a_module_that_is_not_there") {
				t.Errorf("the import error is %q", u.Message)
			}
			if u.Name == "tests/test_broken.py" && !strings.Contains(u.Trace, "\nE   ") {
				t.Errorf("its trace is %q", u.Trace)
			}
		}
	})
}

// assertedAt is how pytest shows a failure: the frame, its line, the assertion.
var assertedAt = regexp.MustCompile(`(?m)^tests/test_outcomes\.py:\d+: in test_fails\n +assert 1 == 2\nE +assert 1 == 2`)

// TestTraces: they are bounded, each and all of them, keep what a test printed, and are told only where they are asked for.
func TestTraces(t *testing.T) {
	t.Parallel()
	r := runnerFor(t, "3.12", "8.4.2")
	tree := txtar.Parse([]byte(`
-- tests/test_long.py --
import ctypes
import pytest

def test_prints():
    print("before it \x1b[2J" + "x" * 9000)
    assert [1] == [2]

def test_hostile():
    class Odd(Exception):
        def __str__(self):
            raise SystemExit(0)
    raise Odd()

@pytest.mark.parametrize("n", range(300))
def test_long(n):
    raise ValueError("begin" + "y" * 9000 + "end %d" % n)

def test_zz_dies():
    ctypes.string_at(0)
`))
	s := sessionIn(t, r, tree, lang.Select{Number: 1, Traces: true})
	traces, all := map[string]string{}, 0
	for _, x := range s.report.Tests {
		traces[strings.TrimPrefix(x.ID, "tests/test_long.py::")] = x.Trace
		if all += len(x.Trace); len(x.Trace) > testlog.MaxTrace+60 || x.Status != schemas.Failed {
			t.Errorf("%s is %s: a trace of %d bytes", x.ID, x.Status, len(x.Trace))
		}
	}
	if len(traces) != 302 || all > 2<<20 {
		t.Errorf("%d traces of %d bytes", len(traces), all)
	}
	if x := traces["test_prints"]; !strings.Contains(x, "E   assert [1] == [2]") || !strings.Contains(x, "--- Captured stdout call ---\nbefore it \\u001b[2Jxx") {
		t.Errorf("the trace of a test that prints: %.500q", x)
	}
	if x := traces["test_long[3]"]; !strings.Contains(x, "E   ValueError: beginy") || !strings.Contains(x, "characters left out]") || !strings.HasSuffix(x, "yend 3") {
		t.Errorf("a long trace: %.500q", x)
	}
	if u := s.report.Units[0]; !strings.Contains(u.Trace, "Segmentation fault") || !strings.Contains(u.Trace, "in test_zz_dies\n") {
		t.Errorf("the process ended in %s: %q", u.Running, u.Trace)
	}
	if x := traces["test_long[299]"]; x != "" {
		t.Errorf("behind the bound of all: %.200q", x)
	}
	if untold := sessionIn(t, r, tree, lang.Select{Number: 1}); bytes.Contains(untold.said, []byte(`"trace"`)) || len(untold.report.Tests) != 302 {
		t.Errorf("not asked for: %.200s", untold.said)
	}
}

func ExampleLanguage_Name() {
	fmt.Println(Language{}.Name())
	// Output: python
}
