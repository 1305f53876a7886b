package provision_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/provision"
)

// machine is a sandbox whose steps and runs answer from a table.
type machine struct {
	sandbox.Sandbox
	fail    map[string]string // build argv → failing log
	prints  map[string]string // run argv@lock → output
	lock    string            // of the env layer that was built last
	removed int
}

func (m *machine) Base(context.Context, sandbox.Base) (sandbox.Layer, error) {
	return sandbox.Layer{Key: "sha256:base"}, nil
}

func (m *machine) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	argv := strings.Join(b.Steps[0].Argv, " ")
	if log, ok := m.fail[argv]; ok {
		res := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(log)}
		return sandbox.Layer{}, res, &sandbox.BuildError{Step: b.Steps[0], Result: res}
	}
	if lock, ok := strings.CutPrefix(argv, "setup "); ok {
		m.lock = lock
	}
	return sandbox.Layer{Key: b.Key}, sandbox.Result{Files: map[string][]byte{langtest.LockPath: []byte(strings.Join(b.Steps[0].Argv[1:], "+"))}}, nil
}

func (m *machine) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	return sandbox.Result{End: sandbox.Exited, Output: []byte(m.prints[strings.Join(r.Command.Argv, " ")+"@"+m.lock])}, nil
}

func (m *machine) Remove(context.Context, sandbox.Layer) error {
	m.removed++
	return nil
}

type world struct{}

func (world) Of(context.Context, schemas.Start) (states.Trees, error) {
	t, err := tree.New([]tree.Entry{{Path: "test_a.toy", Mode: tree.ModeFile, Data: []byte("a")}})
	return states.Trees{B: t, S: t, G: t}, err
}
func (world) Describe(context.Context, string, string) (tree.Version, error) {
	return tree.Version{}, nil
}
func (world) Available(context.Context, ...string) ([]lang.ToolchainRelease, error) { return nil, nil }
func (world) Get(_ context.Context, name, version string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{Toolchain: schemas.Toolchain{Name: name, Version: version}}, nil
}

func (world) Start(id string) (schemas.Start, error) {
	return schemas.Start{
		ChangeID: id, Language: "toy", BaseDate: time.Unix(0, 0),
		Files: []schemas.PartFile{{ChangedFile: schemas.ChangedFile{Path: "test_a.toy", Status: "M"}, Part: schemas.PartTest}},
	}, nil
}

func newStage(m sandbox.Sandbox, l lang.Language, by ...environment.Repairer) *provision.Provisioner {
	b := &environment.Builder{Sandbox: m, Toolchains: world{}, Languages: map[string]lang.Language{"toy": l}, Runners: langtest.Runners(), Repairers: by}
	return provision.New(b, environment.Projects{States: world{}, History: world{}, Toolchains: world{}}, world{}, "bwrap")
}

// toy is a recipe with its lock.
func toy(requirement string) schemas.Recipe {
	return schemas.Recipe{
		Language: "toy", Toolchain: schemas.Toolchain{Name: "toy", Version: "1"}, Requirements: []string{requirement}, Lock: requirement,
		Build: []schemas.Command{{Argv: []string{"build"}}}, Test: []schemas.Command{{Argv: []string{"test"}}}, Report: langtest.Format,
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		m       *machine
		report  string // of the recipe; "" is the toy's own
		fixes   map[string]string
		reason  schemas.Reason // "" = it builds
		lock    string
		deferds bool
	}{
		{name: "first_time_right", m: &machine{prints: map[string]string{"test test_a.toy@a": "t passed\nend\n"}}, lock: "a"},
		{
			name: "repaired_from_the_test_log", fixes: map[string]string{"No module named b": "b"}, lock: "a+b",
			m: &machine{prints: map[string]string{"test test_a.toy@a": "t failed\nNo module named b\nend\n", "test test_a.toy@a+b": "t passed\nend\n"}},
		},
		{
			name: "repaired_from_the_build_log", fixes: map[string]string{"needs c": "c"}, lock: "a+c",
			m: &machine{fail: map[string]string{"setup a": "needs c"}, prints: map[string]string{"test test_a.toy@a+c": "t passed\nend\n"}},
		},
		{
			name: "changed_tests_fail_and_the_suite_runs", lock: "a",
			m: &machine{prints: map[string]string{"test test_a.toy@a": "t failed\nend\n", "test@a": "t failed\nu passed\nend\n"}},
		},
		{
			name: "nothing_runs", reason: schemas.NoRunner,
			m: &machine{prints: map[string]string{"test test_a.toy@a": "t failed\nend\n", "test@a": "boom\n"}},
		},
		{name: "another_runner", report: langtest.ReversedFormat, lock: "a", m: &machine{prints: map[string]string{"test reversed test_a.toy@a": "passed t\nend\n"}}},
		{name: "does_not_build", reason: schemas.NoBuild, m: &machine{fail: map[string]string{"setup a": "no compiler"}}},
		{name: "project_does_not_build", reason: schemas.NoBuild, m: &machine{fail: map[string]string{"build": "syntax error"}}},
		{name: "registry_is_down", deferds: true, m: &machine{fail: map[string]string{"setup a": "error: HTTP status server error (503 Service Unavailable) for url (https://index.example/a)"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newStage(tc.m, langtest.Toy{Fixes: tc.fixes})
			recipe := toy("a")
			recipe.Report = cmp.Or(tc.report, recipe.Report)
			built, err := p.Run(t.Context(), schemas.Resolved{StartID: "acme__widget-1", Recipe: recipe}, provision.Built{})
			var rejected *pipeline.Rejected
			var deferred *pipeline.Deferred
			switch {
			case tc.deferds != errors.As(err, &deferred):
				t.Fatalf("got %v, deferred wanted: %v", err, tc.deferds)
			case tc.reason != "" && (!errors.As(err, &rejected) || rejected.Reason != tc.reason):
				t.Fatalf("got %v, want %s", err, tc.reason)
			case tc.reason == "" && !tc.deferds && err != nil:
				t.Fatal(err)
			}
			if built.Environment.Recipe.Lock != tc.lock {
				t.Errorf("lock %q, want %q", built.Environment.Recipe.Lock, tc.lock)
			}
		})
	}
}

// fixer adds a requirement to any recipe that failed, or says that it cannot answer now.
type fixer struct {
	add string
	err error
}

func (f fixer) Repair(_ context.Context, _ lang.Project, r schemas.Recipe, _ []byte) (schemas.Recipe, bool, error) {
	r.Requirements, r.Lock = append(slices.Clone(r.Requirements), f.add), ""
	return r, f.err == nil, f.err
}

// What the failure table does not know goes to the builder's repairers; one that cannot
// answer now is a fault and rejects nothing.
func TestRunAsksRepairers(t *testing.T) {
	t.Parallel()
	down := errors.New("model is down")
	for _, tc := range []struct {
		name string
		by   fixer
		lock string
	}{{"edits", fixer{add: "d"}, "a+d"}, {"cannot_answer", fixer{err: down}, ""}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := &machine{fail: map[string]string{"setup a": "unknown symptom"}, prints: map[string]string{"test test_a.toy@a+d": "t passed\nend\n"}}
			p, recipe := newStage(m, langtest.Toy{}, tc.by), toy("a")
			built, err := p.Run(t.Context(), schemas.Resolved{StartID: "acme__widget-1", Recipe: recipe}, provision.Built{})
			var rejected *pipeline.Rejected
			if built.Environment.Recipe.Lock != tc.lock || !errors.Is(err, tc.by.err) || errors.As(err, &rejected) {
				t.Errorf("lock %q, %v; want %q, %v", built.Environment.Recipe.Lock, err, tc.lock, tc.by.err)
			}
		})
	}
}

// TestRunNamesItsStart: what is made of a start that changed is made again, although its
// environment is the same.
func TestRunNamesItsStart(t *testing.T) {
	t.Parallel()
	m := &machine{prints: map[string]string{"test test_a.toy@a": "t passed\nend\n"}}
	p := newStage(m, langtest.Toy{})
	run := func(start schemas.Digest) schemas.Digest {
		out, err := p.Run(t.Context(), schemas.Resolved{StartID: "acme__widget-1", Start: start, Recipe: toy("a")}, provision.Built{})
		if err != nil {
			t.Fatal(err)
		}
		return schemas.DigestOf(out)
	}
	if run("sha256:aa") == run("sha256:bb") {
		t.Error("two starts in one environment give one record: the proof of the first stands for the second")
	}
}
