package release

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// change is a task of a working dataset, as tests vary it.
type change struct {
	repo      string
	number    int
	day       string // on which it landed
	identity  string
	statement string
	tag       string // of its first release
	key       string // of its environment
	licence   string // text in the base tree; "" puts none there
	word      string // in the patch
	leak      bool
	hand      bool
	edit      func(*output.Task)
}

func (c change) id() string { return schemas.FeatureID(c.repo, c.number, commit).String() }

// commit is of the change alone: two tasks with one are one.
func (c change) commit() string {
	return strings.TrimPrefix(string(schemas.DigestBytes(fmt.Append(nil, c.repo, c.number))), "sha256:")[:40]
}

func widget(number int, day string) change {
	return change{
		repo: "acme/widget", number: number, day: day, identity: fmt.Sprint("acme/widget", number), statement: fmt.Sprintf("I want to give widgets a colour, number %d.\n", number),
		key: "environment", licence: "Permission is granted to use widgets.\n", word: fmt.Sprint("cornflower", number),
	}
}

var commit = strings.Repeat("ab", 20)

const (
	deciding = "tests/test_widget.py::test_colour"
	second   = "tests/test_widget.py::test_shade"
	guarding = "tests/test_widget.py::test_size"
)

// task makes the proved task of a change. Its proof is made up: nothing here runs it.
func (c change) task(t testing.TB) output.Task {
	t.Helper()
	if c.repo != "acme/widget" { // another task has another solution
		c.word += " of " + c.repo
	}
	entries := []tree.Entry{
		{Path: "widget.py", Mode: tree.ModeFile, Data: []byte("def size():\n    return 1\n")},
		{Path: "tests/test_widget.py", Mode: tree.ModeFile, Data: []byte("import widget\ndef test_size():\n    assert widget.size() == 1\n")},
	}
	if c.licence != "" {
		entries = append(entries, tree.Entry{Path: "LICENSE", Mode: tree.ModeFile, Data: []byte(c.licence)})
	}
	gold := []byte(fmt.Sprintf("diff --git a/widget.py b/widget.py\n--- a/widget.py\n+++ b/widget.py\n@@ -1,2 +1,5 @@\n def size():\n     return 1\n+\n+def colour():\n+    return %q\n", c.word))
	tests := []byte("diff --git a/tests/test_widget.py b/tests/test_widget.py\n--- a/tests/test_widget.py\n+++ b/tests/test_widget.py\n@@ -1,3 +1,9 @@\n import widget\n def test_size():\n     assert widget.size() == 1\n+\n+def test_colour():\n+    assert widget.colour() == \"" + c.word + "\"\n+\n+def test_shade():\n+    assert widget.colour() != \"dark\"\n")
	base, err := tree.New(entries)
	must(t, err)
	start, err := base.Apply(tests)
	must(t, err)
	solution, err := start.Apply(gold)
	must(t, err)
	day, err := time.Parse(time.DateOnly, c.day)
	must(t, err)
	id, env := c.id(), schemas.DigestBytes([]byte(c.key))
	requirements := sandbox.File{Path: "/run/benchmint/requirements.txt", Data: []byte("pytest==8.0.0\n")}
	setup := []schemas.Command{{Argv: []string{"uv", "pip", "sync", requirements.Path}}}
	names := []schemas.Name{{Name: "colour", Kind: "function", Path: "widget.py"}}
	passes, fails := []schemas.Status{schemas.Passed}, []schemas.Status{schemas.Failed}
	x := output.Task{
		Origin: schemas.Origin{Change: &schemas.Change{Repo: c.repo, Licence: "MIT", Commit: c.commit(), Base: strings.Repeat("1", 40), Number: c.number, NumberFrom: schemas.NumberSubject, Subject: "Give widgets a colour", CommittedAt: day, Release: c.tag}},
		Start: schemas.Start{
			ChangeID: id, Repo: c.repo, Kind: schemas.KindFeature, Language: "python", Base: strings.Repeat("1", 40), Commit: c.commit(), BaseDate: day.AddDate(0, 0, -1),
			BaseTree: base.ID(), StartTree: start.ID(), SolutionTree: solution.ID(), Patch: schemas.DigestBytes(gold), TestPatch: schemas.DigestBytes(tests),
			Files: []schemas.PartFile{
				{ChangedFile: schemas.ChangedFile{Status: "M", Path: "widget.py"}, Part: schemas.PartCode, Hunks: 1},
				{ChangedFile: schemas.ChangedFile{Status: "M", Path: "tests/test_widget.py"}, Part: schemas.PartTest, Hunks: 1},
			},
			Sizes: schemas.Sizes{SourceFiles: 1, SourceHunks: 1, SourceAdded: 3, TestFiles: 1}, Identity: schemas.DigestBytes([]byte(c.identity)),
			Functions: schemas.FunctionEdits{Added: []string{"widget.py::colour"}},
		},
		Label: schemas.Labelled{StartID: id, Label: schemas.LabelFeature, Provider: "rules", Evidence: []schemas.LabelEvidence{{Label: schemas.LabelFeature, Rule: "heading", Quote: "Added", Weight: 9}}},
		Environment: schemas.Environment{Key: env, Sandbox: "bwrap", Host: true, Recipe: schemas.Recipe{
			Language: "python", Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1", Digest: schemas.DigestBytes([]byte("python"))},
			Variables: map[string]string{"TZ": "UTC"}, Lock: "pytest==8.0.0\n", Pinning: schemas.PinDate, PinDate: "2024-03-09", DepsFrom: "solution", Setup: setup,
			Build: []schemas.Command{{Argv: []string{"uv", "pip", "install", "--offline", "-e", "."}}}, Test: []schemas.Command{{Argv: []string{"pytest"}}}, Report: "benchmint-pytest",
		}},
		Proof: schemas.Proof{
			StartID: id, Environment: env, Interface: names, Leaks: schemas.Scan{Scanner: "1", Needles: schemas.DigestBytes([]byte("needles")), Count: 2},
			Runs: []schemas.RunRecord{{State: schemas.StateS, Scope: "suite", Number: 1, End: "exited", ExitCode: 1, Report: schemas.DigestBytes(nil), Log: schemas.DigestBytes(nil)}},
			Tests: []schemas.TestVerdict{
				{ID: guarding, Unit: "tests/test_widget.py", Class: schemas.P2P, S: passes, G: passes},
				{ID: deciding, Unit: "tests/test_widget.py", Class: schemas.F2P, Cause: schemas.CauseFails, S: fails, G: passes},
				{ID: second, Unit: "tests/test_widget.py", Class: schemas.F2P, Cause: schemas.CauseFails, S: fails, G: passes},
			},
		},
		Adequacy:  schemas.Adequacy{StartID: id, Proof: schemas.DigestBytes([]byte("proof")), Noticed: 1, Hunks: []schemas.HunkNotice{{Path: "widget.py", End: "noticed", Tests: []string{deciding}}}},
		Statement: schemas.Statement{StartID: id, Text: c.statement, From: []string{"subject"}, Provider: "rules", Interface: names},
		Patch:     gold, TestPatch: tests, Version: "v1.0", Base: func() (*tree.Tree, error) { return base, nil },
		Setup:      recipe.Step{Commands: setup, Files: []sandbox.File{requirements}},
		Runs:       []recipe.TestRun{{Command: schemas.Command{Argv: []string{"pytest"}}, Report: "/run/benchmint/report.jsonl", Inputs: []sandbox.File{{Path: "/run/benchmint/report.py", Data: []byte("# plugin\n")}}}},
		Provenance: []output.Provenance{{Stage: "link", Fingerprint: schemas.DigestBytes([]byte("link" + c.key)), Output: schemas.DigestBytes([]byte(id))}},
		Timings:    []output.Timing{{InstanceID: id, Stage: "validate", MS: int64(time.Now().Nanosecond())}},
	}
	if c.hand {
		x.Statement.Provider, x.Statement.WrittenBy, x.Statement.From = schemas.Hand, schemas.Hand, []string{"hand"}
	}
	if c.leak {
		x.Proof.Leaks.Hits = []schemas.Hit{{Place: "base tree: docs.md"}}
	}
	if c.edit != nil {
		c.edit(&x)
	}
	return x
}

func flaky(test string) ledger.Flake {
	return ledger.Flake{Repo: "acme/widget", Test: test, Environment: schemas.DigestBytes([]byte("environment")), State: schemas.StateG, Causes: []ledger.Cause{ledger.Disagrees},
		Runs: 6, Outcomes: map[schemas.Status]int{schemas.Passed: 5, schemas.Failed: 1}, Changes: []string{"acme__widget-99"}}
}

// work writes a working dataset. It may hold what Check objects to: gates are to find that.
func work(t testing.TB, flakes []ledger.Flake, changes ...change) *output.Dataset {
	t.Helper()
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.id(), b.id()) })
	in := output.Input{Name: "bench", Unsound: true, Configuration: map[string]any{}, Tools: map[string]string{"git": "2"}, Flakes: slices.Values(flakes), Funnel: []output.Funnel{{Stage: "describe", Done: len(changes)}}}
	in.Splits = []output.SplitInput{{Tasks: func(yield func(output.Task, error) bool) {
		for _, c := range changes {
			if !yield(c.task(t), nil) {
				return
			}
		}
	}}}
	dir := filepath.Join(t.TempDir(), "work")
	_, err := output.Write(dir, in)
	must(t, err)
	d, err := output.Read(dir)
	must(t, err)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options are those of a release of a dataset as of a day.
func options(w *output.Dataset, day string) Options {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return Options{Work: w, AsOf: at, Without: []string{"huggingface"}, Now: time.Now, Tools: map[string]string{"benchmint": "1"}}
}

// plan makes a candidate on a shelf and, where publish says so, the version.
func plan(dir string, o Options, publish bool) (*Candidate, error) {
	s, err := Open(context.Background(), dir, "bench")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c, err := s.Plan(context.Background(), o)
	if err != nil || !publish {
		return c, err
	}
	_, err = c.Write(context.Background())
	return c, err
}

// publish makes a version that must hold.
func publish(t testing.TB, dir string, o Options) *Candidate {
	t.Helper()
	c, err := plan(dir, o, true)
	must(t, err)
	holds(t, dir)
	return c
}

func correct(dir string, a Act) (Record, error) {
	s, err := Open(context.Background(), dir, "bench")
	if err != nil {
		return Record{}, err
	}
	defer s.Close()
	return s.Correct(context.Background(), options(nil, "2025-01-01"), a)
}

func corrected(t testing.TB, dir string, a Act) Record {
	t.Helper()
	r, err := correct(dir, a)
	must(t, err)
	holds(t, dir)
	return r
}

func findings(t testing.TB, dir string) []Finding {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	all, err := s.Check(nil, func(string, int, int) {})
	must(t, err)
	return all
}

func holds(t testing.TB, dir string) {
	t.Helper()
	for _, f := range findings(t, dir) {
		t.Errorf("check: %s", f)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// contents is a folder as name → bytes, but for locks and what is measured.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range files(t, dir) {
		if base := filepath.Base(name); base == lockFile || base == output.CostFile || base == output.TimingsFile {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		out[name] = string(b)
	}
	return out
}

func files(t testing.TB, dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, p)
			if err == nil && !yield(rel) {
				return fs.SkipAll
			}
			return err
		}))
	}
}

// same compares folders, and names the files that differ.
func same(t testing.TB, what string, a, b map[string]string) {
	t.Helper()
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inA := a[name]
		y, inB := b[name]
		if inA != inB || x != y {
			t.Errorf("%s: %s differs (there before: %v, there now: %v)", what, name, inA, inB)
		}
	}
}

// taskOf is the row of a task as its bytes, and its folder.
func taskOf(t testing.TB, dir string, v Version, id string) map[string]string {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	d, err := s.Dataset(v)
	must(t, err)
	out := contents(t, filepath.Join(s.Path(v), output.TasksDir, id))
	for _, r := range d.Rows {
		if r.InstanceID == id {
			b, err := d.Line(r)
			must(t, err)
			out["row"] = string(b)
		}
	}
	if len(out) < 5 {
		t.Fatalf("%s has no %s", v, id)
	}
	return out
}

func feedOf(t testing.TB, dir string) Feed {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	return s.Feed
}

func versions(t testing.TB, dir string) (out []Version) {
	for _, e := range feedOf(t, dir).Versions {
		out = append(out, e.Version)
	}
	return out
}

func idsOf(t testing.TB, dir string, v Version) (out []string) {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	d, err := s.Dataset(v)
	must(t, err)
	for _, r := range d.Rows {
		out = append(out, r.InstanceID)
	}
	return out
}

func put(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	return string(b)
}

type ledgerFlake = ledger.Flake

func removed(t testing.TB, name string) {
	t.Helper()
	must(t, os.RemoveAll(name))
}
