package golang

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/schemas"
)

// memory is a tree of a txtar.
type memory map[string]string

func (m memory) Paths() []string {
	var out []string
	for p := range m {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

func (m memory) Has(p string) bool { _, ok := m[p]; return ok }

func (m memory) Read(p string) ([]byte, error) {
	text, ok := m[p]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

func fromTxtar(text []byte) memory {
	m := memory{}
	for _, f := range txtar.Parse(text).Files {
		m[f.Name] = string(f.Data)
	}
	return m
}

// goAt is a copy of one Go, fetched with the host's own; the test is skipped where
// it cannot be had.
func goAt(t *testing.T, minor string) string {
	t.Helper()
	if minor == "local" {
		path, err := exec.LookPath("go")
		if err != nil {
			t.Fatal(err) // this test was started by it
		}
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("LOUD SKIP: no cache folder for Go %s: %v", minor, err)
	}
	store := toolchain.New(toolchain.Host{Cache: filepath.Join(cache, "benchmint-test"), Env: os.Environ()})
	all, err := store.Available(context.Background(), Name)
	for _, r := range all {
		if r.Name != Name || minorOf(r.Version) != minor {
			continue
		}
		tc, err := store.Get(context.Background(), Name, r.Version)
		if err != nil {
			t.Skipf("LOUD SKIP: Go %s: %v", minor, err)
		}
		return filepath.Join(tc.Dir, "bin", "go")
	}
	t.Skipf("LOUD SKIP: no Go %s can be had (%v): its reports are not tested", minor, err)
	return ""
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runReal runs the test runs of a tree with a real Go, outside of any sandbox:
// the tree is ours.
func runReal(t *testing.T, goExe string, m memory, sel lang.Select, version string, words ...string) testlog.Report {
	t.Helper()
	return runRealBy(t, schemas.Recipe{
		Toolchain: schemas.Toolchain{Name: Name, Version: version},
		Test:      []schemas.Command{{Argv: append(append([]string{goExe, "test"}, words...), "./..."), Env: offline}},
	}, m, sel)
}

// runRealBy runs a recipe with the go of its command.
func runRealBy(t *testing.T, r schemas.Recipe, m memory, sel lang.Select) testlog.Report {
	t.Helper()
	p := newScratch(t, m)
	var outs []lang.Output
	for _, run := range (Language{}).Runs(r, m, sel) {
		outs = append(outs, lang.Output{Run: run, Result: p.execute(t, run.Command, run.Inputs)})
	}
	return Language{}.Parse(r, outs)
}

// runCompiled is runReal with each program by itself.
func runCompiled(t *testing.T, goExe string, m memory, version string) testlog.Report {
	t.Helper()
	l, p := Language{}, newScratch(t, m)
	r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: Name, Version: version}, Test: []schemas.Command{{Argv: []string{goExe, "test", "./..."}, Env: offline}}}
	convert := l.Converter(r)
	convert.Commands[0].Argv[3], convert.Commands[0].Env = goExe, convert.Env
	if res := p.execute(t, convert.Commands[0], nil); res.ExitCode != 0 {
		t.Fatalf("test2json: %s", res.Output)
	}
	var outs []lang.Output
	for _, run := range l.Runs(r, m, lang.Select{Number: 1}) {
		step, ok := l.Compile(r, run)
		if !ok {
			t.Fatalf("%q cannot be compiled", run.Command.Argv)
		}
		p.execute(t, step.Commands[0], append(run.Inputs, step.Files...))
		made, err := os.ReadFile(p.at(madePath))
		if err != nil {
			t.Fatal(err)
		}
		programs, code, err := l.Programs(r, run, made)
		if err != nil {
			t.Fatal(err)
		}
		out := lang.Output{Run: run, Result: sandbox.Result{End: sandbox.Exited, ExitCode: code}}
		var said []sandbox.Result
		for _, program := range programs {
			said = append(said, p.execute(t, program.Command, program.Inputs))
		}
		conversion, err := l.Convert(r, made, said)
		if err != nil {
			t.Fatal(err)
		}
		out.Report = p.execute(t, conversion.Command, conversion.Inputs).Output
		outs = append(outs, out)
	}
	return l.Parse(r, outs)
}

// scratch has the sandbox's paths in folders of a test.
type scratch struct {
	tree string
	*strings.Replacer
}

func newScratch(t *testing.T, m memory) scratch {
	t.Helper()
	dir := t.TempDir()
	for p, text := range m {
		write(t, filepath.Join(dir, p), text)
	}
	return scratch{dir, strings.NewReplacer(sandbox.RunPath, t.TempDir(), sandbox.EnvPath, t.TempDir(), sandbox.TreePath, dir)}
}

func (p scratch) at(path string) string { return p.Replace(path) }

func (p scratch) execute(t *testing.T, c schemas.Command, inputs []sandbox.File) sandbox.Result {
	t.Helper()
	for _, f := range inputs {
		write(t, p.at(f.Path), p.at(string(f.Data)))
		if err := os.Chmod(p.at(f.Path), f.Mode.Perm()|0o200); err != nil {
			t.Fatal(err)
		}
	}
	argv := slices.Clone(c.Argv)
	for i, word := range argv {
		if argv[i] = p.at(word); strings.HasPrefix(word, "-timeout=") {
			argv[i] = "-timeout=8s" // the slow package shall pass it soon, the others never
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if cmd.Dir = p.tree; filepath.IsAbs(c.Dir) {
		cmd.Dir = p.at(c.Dir)
	}
	cmd.Env = append(os.Environ(), "GOENV=off", "GOFLAGS=", "GOWORK=", "GOTOOLCHAIN=local")
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return sandbox.Result{End: sandbox.Exited, ExitCode: cmd.ProcessState.ExitCode(), Output: out}
}

// sketch is a report in a form that is easy to compare.
func sketch(r testlog.Report) map[string][]string {
	out := map[string][]string{}
	for _, u := range r.Units {
		line := string(u.State)
		if u.Running != "" {
			line += " running " + strings.TrimPrefix(u.Running, u.Name+idSeparator)
		}
		name := strings.TrimPrefix(u.Name, "example.com/ends/")
		out[name] = []string{line}
	}
	for _, x := range r.Tests {
		name := strings.TrimPrefix(x.Unit, "example.com/ends/")
		line := strings.TrimPrefix(x.ID, x.Unit+idSeparator) + " " + string(x.Status)
		if x.Parent != "" {
			line += " of " + strings.TrimPrefix(x.Parent, x.Unit+idSeparator)
		}
		out[name] = append(out[name], line)
	}
	return out
}

func TestParseRealReports(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/report.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := fromTxtar(text)
	want := map[string][]string{
		"fine": {
			"finished", "TestPass passed", "TestSkip skipped", "TestNames passed",
			"TestNames/with_blank passed of TestNames", "TestNames/a/b passed of TestNames", "TestNames/[x] passed of TestNames",
			"TestNames/日本 passed of TestNames", "TestNames/line_break passed of TestNames", "TestNames/#00 passed of TestNames",
			"TestNames/#01 passed of TestNames", "TestNames/dup passed of TestNames", "TestNames/dup#01 passed of TestNames",
			"TestFails failed", "TestFails/good passed of TestFails", "TestFails/bad failed of TestFails",
			"TestParallel passed", "TestParallel/one passed of TestParallel", "TestParallel/two passed of TestParallel",
			"TestExternal passed", "ExampleThing passed", "ExampleWrong failed",
		},
		"nobuild":     {"not_loaded"},
		"broken":      {"not_loaded"},
		"needsbroken": {"not_loaded"},
		"setup":       {"not_loaded"},
		"panics":      {"aborted running TestParent/wild", "TestBefore passed", "TestParent failed", "TestParent/calm passed of TestParent", "TestParent/wild failed of TestParent"},
		"background":  {"aborted running TestSpawns", "TestBefore passed", "TestSpawns failed"},
		"exits":       {"aborted running TestExits", "TestBefore passed", "TestExits failed"},
		"exitszero":   {"aborted running TestExits", "TestBefore passed", "TestExits failed"},
		"killed":      {"aborted running TestKilled", "TestBefore passed", "TestKilled failed"},
		"slow":        {"aborted running TestSlow/deep", "TestBefore passed", "TestSlow failed", "TestSlow/deep failed of TestSlow"},
		"mainzero":    {"finished"},
		"mainone":     {"not_loaded"},
		"initpanics":  {"not_loaded"},
		"notests":     {"finished"},
		"forged":      {"finished", "TestForger failed", "TestVictim failed"},
		"noline":      {"finished", "TestPrints passed", "TestSkips skipped"},
		"inner":       {"finished", "TestOfFailingTests passed"},
	}
	for _, name := range []string{"local", "1.19", "local_programs", "1.19_programs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			minor, programs := strings.CutSuffix(name, "_programs")
			version := map[string]string{"local": "1.26.0", "1.19": "1.19.13"}[minor]
			var report testlog.Report
			if programs {
				report = runCompiled(t, goAt(t, minor), m, version)
			} else {
				report = runReal(t, goAt(t, minor), m, lang.Select{Number: 1}, version)
			}
			if !report.Started || !report.Ended {
				t.Errorf("started %v, ended %v", report.Started, report.Ended)
			}
			got := sketch(report)
			if minor == "1.19" {
				// Older Go has no event for a package without tests when others do not build.
				got["broken"], got["notests"] = want["broken"], want["notests"]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			for unit, says := range map[string]string{
				"nobuild": "Missing", "needsbroken": "example.com/ends/broken", "setup": "nowhere",
				"panics": "at the wild one", "background": "in the background", "initpanics": "while loading",
			} {
				for _, u := range report.Units {
					if u.Name == "example.com/ends/"+unit && !strings.Contains(u.Message, says) {
						t.Errorf("message of %s lacks %q:\n%s", unit, says, u.Message)
					}
				}
			}
			for _, x := range report.Tests {
				if strings.HasSuffix(x.ID, "TestFails/bad") && !strings.Contains(x.Message, "two is not three") {
					t.Errorf("message of %s is %q", x.ID, x.Message)
				}
			}
		})
	}
}
