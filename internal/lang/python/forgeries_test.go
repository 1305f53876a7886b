package python

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// forgeryPython and its pytest make the environment of the forgeries.
const (
	forgeryPython = "3.12"
	forgeryPytest = "8.4.2"
)

// arena is a sandbox with an environment that has pytest.
type arena struct {
	box       sandbox.Sandbox
	env       sandbox.Layer
	toolchain schemas.Toolchain
	packages  string // site-packages inside
}

func newArena(t *testing.T) arena {
	t.Helper()
	r := runnerFor(t, forgeryPython, forgeryPytest)
	box, err := bwrap.New(t.Context(), bwrap.Options{Dir: t.TempDir()})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO BUBBLEWRAP HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cache, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	chains := toolchain.New(toolchain.Host{Cache: cache, Env: os.Environ()})
	available, err := chains.Available(t.Context(), toolchain.Python)
	at := slices.IndexFunc(available, func(r lang.ToolchainRelease) bool { return strings.HasPrefix(r.Version, forgeryPython+".") })
	if at < 0 {
		t.Skipf("SKIP: no CPython %s on this machine: %v", forgeryPython, err)
	}
	got, err := chains.Get(t.Context(), Name, available[at].Version)
	if err != nil {
		t.Fatal(err)
	}
	a := arena{box: box, toolchain: got.Toolchain, packages: venvPath + "/lib/python" + forgeryPython + "/site-packages"}
	base, err := box.Base(t.Context(), sandbox.Base{Toolchains: []sandbox.Toolchain{got}})
	if err != nil {
		t.Fatal(err)
	}
	a.env, _, err = box.Build(t.Context(), sandbox.Build{
		Key: "sha256:env", Parent: base, Files: packagesOf(t, r, a.packages),
		Steps: []schemas.Command{{Argv: []string{interpreter(schemas.Recipe{Toolchain: a.toolchain}), "-m", "venv", "--without-pip", venvPath}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// packagesOf are the packages of an environment of the host.
func packagesOf(t *testing.T, r runner, to string) []sandbox.File {
	t.Helper()
	from := filepath.Join(filepath.Dir(filepath.Dir(r.python)), "lib", "python"+forgeryPython, "site-packages")
	var files []sandbox.File
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		files = append(files, sandbox.File{Path: path.Join(to, strings.TrimPrefix(p, from)), Mode: 0o644, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// forgeriesOf are the files of each forgery, beside those of the sound tree.
func forgeriesOf(t *testing.T) (names []string, files map[string][]txtar.File) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/forgeries.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]txtar.File{}
	for _, f := range a.Files {
		name, rest, _ := strings.Cut(f.Name, "/")
		if _, ok := files[name]; !ok {
			names = append(names, name)
		}
		files[name] = append(files[name], txtar.File{Name: rest, Data: f.Data})
	}
	return names, files
}

// try runs the suite of a tree with one forgery in it.
func (a arena) try(t *testing.T, name string, files []txtar.File) testlog.Report {
	t.Helper()
	var entries []tree.Entry
	var put []sandbox.File
	seen := map[string]bool{}
	for _, f := range files { // those of the forgery come first
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		if rest, ok := strings.CutPrefix(f.Name, "env/"); ok {
			put = append(put, sandbox.File{Path: path.Join(a.packages, rest), Mode: 0o644, Data: f.Data})
			continue
		}
		if rest, ok := strings.CutPrefix(f.Name, "venv/"); ok {
			put = append(put, sandbox.File{Path: path.Join(venvPath, rest), Mode: 0o755, Data: f.Data})
			continue
		}
		entries = append(entries, tree.Entry{Path: f.Name, Mode: tree.ModeFile, Data: f.Data})
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	state, _, err := a.box.Build(t.Context(), sandbox.Build{Key: schemas.Digest("sha256:" + name), Parent: a.env, Files: append(put, tr.Files(time.Unix(0, 0))...)})
	if err != nil {
		t.Fatal(err)
	}
	r := schemas.Recipe{Toolchain: a.toolchain, Variables: map[string]string{"PYTHONPATH": sandbox.TreePath}, Test: []schemas.Command{{Argv: []string{venvPython, "-m", "pytest"}}}}
	run := Language{}.Runs(r, tr, lang.Select{Number: 1})[0]
	limits := sandbox.Limits{Memory: 1 << 30, Processes: 64, Timeout: time.Minute}
	res, err := a.box.Run(t.Context(), run.Asking(sandbox.Run{Layer: state, Command: run.Command, Env: r.Variables, Inputs: run.Inputs, Limits: limits}))
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

// TestForgeries: code of a repository that speaks in the plugin's name, or has pytest say
// what is not so, passes no test that fails.
func TestForgeries(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds an environment")
	}
	a := newArena(t)
	names, files := forgeriesOf(t)
	sound := files["sound"]
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			report := a.try(t, name, slices.Concat(files[name], sound))
			got := report.Index().Status("tests/test_value.py::test_value", "tests/test_value.py")
			if got == schemas.Passed && report.Tampered == "" {
				t.Error("the forgery is taken for a pass")
			}
			for _, x := range report.Tests {
				if !strings.HasPrefix(x.ID, "tests/test_") {
					t.Errorf("%s is a result", x.ID)
				}
			}
			if name != "sound" {
				return
			}
			sounds := report.Index().Status("tests/test_sound.py::test_sound", "tests/test_sound.py")
			if got != schemas.Failed || sounds != schemas.Passed || report.Tampered != "" || report.Unwatched != "" || !report.Ended || len(report.Tests) != 5 {
				t.Errorf("without a forgery: %s, %s, %+v", got, sounds, report)
			}
		})
	}
}
