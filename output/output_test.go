package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldPatch = `diff --git a/widget.py b/widget.py
--- a/widget.py
+++ b/widget.py
@@ -1,2 +1,5 @@
 def size():
     return 1
+
+def colour():
+    return "cornflower"
`

const testPatch = `diff --git a/tests/test_widget.py b/tests/test_widget.py
--- a/tests/test_widget.py
+++ b/tests/test_widget.py
@@ -1,3 +1,6 @@
 import widget
 def test_size():
     assert widget.size() == 1
+
+def test_colour():
+    assert widget.colour() == "cornflower"
`

func baseTree(t testing.TB) *tree.Tree {
	t.Helper()
	tr, err := tree.New([]tree.Entry{
		{Path: "widget.py", Mode: tree.ModeFile, Data: []byte("def size():\n    return 1\n")},
		{Path: "tests/test_widget.py", Mode: tree.ModeFile, Data: []byte("import widget\ndef test_size():\n    assert widget.size() == 1\n")},
		{Path: "run", Mode: tree.ModeExec, Data: []byte("#!/bin/sh\n")},
		{Path: "caf\xe9.txt", Mode: tree.ModeFile, Data: []byte{0xff, 0}},
		{Path: "link", Mode: tree.ModeSymlink, Data: []byte("run")},
		{Path: "vendor/m", Mode: tree.ModeModule, Data: []byte(strings.Repeat("c", 40))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func apply(t testing.TB, tr *tree.Tree, patch string) *tree.Tree {
	t.Helper()
	out, err := tr.Apply([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// task makes a proved task of the sample change; number names it.
func task(t testing.TB, number int, gold string) Task {
	t.Helper()
	base := baseTree(t)
	start := apply(t, base, testPatch)
	solution := apply(t, start, gold)
	commit := strings.Repeat("ab", 20)
	id := schemas.FeatureID("acme/widget", number, commit).String()
	env := schemas.DigestBytes([]byte("environment"))
	requirements := sandbox.File{Path: "/run/benchmint/requirements.txt", Data: []byte("pytest==8.0.0\n")}
	setup := []schemas.Command{{Argv: []string{"uv", "pip", "sync", requirements.Path}}}
	return Task{
		Origin: schemas.Origin{Change: &schemas.Change{
			Repo: "acme/widget", Licence: "MIT", Commit: commit, Base: strings.Repeat("1", 40), Number: number, NumberFrom: schemas.NumberSubject,
			Subject: "Give widgets a colour (#12)", Body: "Ask jo@example.org.\r\n\r\nCo-authored-by: Jo <jo@example.org>\n",
			CommittedAt: time.Date(2024, 3, 10, 1, 2, 3, 0, time.FixedZone("", 3600)), Release: "v1.1",
			Notes: []schemas.Note{{Release: "v1.1", Version: "1.1", Heading: "Added", Text: "Widgets have a colour (#12).", Path: "CHANGES.md", Line: 5, Form: schemas.NoteChangelog, Link: schemas.LinkDiff,
				References: []schemas.Reference{{Number: 12, Text: "#12"}}}},
		}},
		Start: schemas.Start{
			ChangeID: id, Repo: "acme/widget", Kind: schemas.KindFeature, Language: "python", Base: strings.Repeat("1", 40), Commit: commit,
			BaseDate: time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC), BaseTree: base.ID(), StartTree: start.ID(), SolutionTree: solution.ID(),
			Patch: schemas.DigestBytes([]byte(gold)), TestPatch: schemas.DigestBytes([]byte(testPatch)),
			Files: []schemas.PartFile{
				{ChangedFile: schemas.ChangedFile{Status: "M", Path: "widget.py"}, Part: schemas.PartCode, Hunks: 1},
				{ChangedFile: schemas.ChangedFile{Status: "M", Path: "tests/test_widget.py"}, Part: schemas.PartTest, Hunks: 1},
			},
			Sizes: schemas.Sizes{SourceFiles: 1, SourceHunks: 1, SourceAdded: 3, TestFiles: 1}, Identity: schemas.DigestBytes([]byte(id)),
			Functions: schemas.FunctionEdits{Added: []string{"widget.py::colour"}},
		},
		Label: schemas.Labelled{StartID: id, Label: schemas.LabelFeature, Provider: "rules",
			Evidence: []schemas.LabelEvidence{{Label: schemas.LabelFeature, Rule: "heading", Quote: "Added", Weight: 9}}},
		Environment: schemas.Environment{Key: env, Sandbox: "bwrap", Host: true, Recipe: schemas.Recipe{
			Language: "python", Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1", Digest: schemas.DigestBytes([]byte("python"))},
			Variables: map[string]string{"TZ": "UTC", "LANG": "C.UTF-8"}, Lock: "pytest==8.0.0\n", Pinning: schemas.PinDate, PinDate: "2024-03-09",
			DepsFrom: "solution", Setup: setup, Build: []schemas.Command{{Argv: []string{"uv", "pip", "install", "--offline", "-e", "."}}},
			Test: []schemas.Command{{Argv: []string{"pytest"}}}, Report: "benchmint-pytest",
		}},
		Proof: schemas.Proof{
			StartID: id, Environment: env,
			Runs: []schemas.RunRecord{{State: schemas.StateS, Scope: "suite", Number: 1, End: "exited", ExitCode: 1, Report: schemas.DigestBytes(nil), Log: schemas.DigestBytes(nil)}},
			Tests: []schemas.TestVerdict{
				{ID: "tests/test_widget.py::test_size", Unit: "tests/test_widget.py", Class: schemas.P2P, S: []schemas.Status{schemas.Passed}, G: []schemas.Status{schemas.Passed}},
				{ID: "tests/test_widget.py::test_colour", Unit: "tests/test_widget.py", Class: schemas.F2P, Cause: schemas.CauseFails, S: []schemas.Status{schemas.Failed}, G: []schemas.Status{schemas.Passed}},
				{ID: "tests/test_widget.py::test_flaky[a\n<b>]", Unit: "tests/test_widget.py", Class: schemas.Quarantined, S: []schemas.Status{schemas.Passed}, G: []schemas.Status{schemas.Failed}},
				{ID: "tests/test_widget.py::test_rare", Unit: "tests/test_widget.py", Class: schemas.Quarantined, S: []schemas.Status{schemas.Passed}, G: []schemas.Status{schemas.Passed}},
				{ID: "tests/test_widget.py::test_base", Unit: "tests/test_widget.py", Class: schemas.P2P, Baseline: schemas.StateB, S: []schemas.Status{schemas.NotLoaded}, G: []schemas.Status{schemas.Passed}, B: schemas.Passed},
			},
			Interface: []schemas.Name{{Name: "colour", Kind: "function", Path: "widget.py"}},
			Leaks:     schemas.Scan{Scanner: "1", Needles: schemas.DigestBytes([]byte("needles")), Count: 2},
		},
		QuarantinedIn: map[string][]string{"tests/test_widget.py::test_rare": {"acme__widget-7"}},
		Adequacy: schemas.Adequacy{StartID: id, Proof: schemas.DigestBytes([]byte("proof")), Noticed: 1, Hunks: []schemas.HunkNotice{
			{Path: "widget.py", Hunk: 0, End: "noticed", Tests: []string{"tests/test_widget.py::test_colour"}}, {Path: "widget.py", Hunk: 1, End: "unnoticed"}},
			Near: []string{"tests/test_widget.py::test_size", "tests/test_widget.py::test_rare"}},
		Statement: schemas.Statement{StartID: id, Text: "I want to give widgets a colour.\n", Hints: "Ask <address>.", From: []string{"note", "subject"}, Provider: "rules",
			Interface: []schemas.Name{{Name: "colour", Kind: "function", Path: "widget.py"}}},
		Patch: []byte(gold), TestPatch: []byte(testPatch), Version: "v1.0",
		Base:  func() (*tree.Tree, error) { return base, nil },
		Setup: recipe.Step{Commands: setup, Files: []sandbox.File{requirements}},
		Runs: []recipe.TestRun{{
			Command: schemas.Command{Argv: []string{"pytest", "-p", "report"}}, Report: "/run/benchmint/report.jsonl",
			Inputs: []sandbox.File{{Path: "/run/benchmint/report.py", Data: []byte("# plugin\n")}},
		}},
		Provenance: []Provenance{{Stage: "link", Fingerprint: schemas.DigestBytes([]byte("link")), Output: schemas.DigestBytes([]byte(id))}},
	}
}

// sample is an input whose parts tests may change.
type sample struct {
	Input
	split   string
	tasks   []Task
	rejects []Reject
	flakes  []ledger.Flake
}

// of gives the input of the parts as they are now.
func (s *sample) of() Input {
	in := s.Input
	in.Splits = []SplitInput{{Name: s.split, Tasks: each(s.tasks)}}
	in.Rejects, in.Flakes = each(s.rejects), slices.Values(s.flakes)
	return in
}

func each[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
	}
}

func input(t testing.TB) *sample {
	t.Helper()
	latin1 := strings.Replace(goldPatch, "cornflower", "bleu-\xe9", 1)
	odd := task(t, 0, latin1)
	c := odd.Origin.Change
	c.Licence, odd.Version, c.Notes, c.Release = "", "2024-01-01", nil, ""
	return &sample{
		Input: Input{
			Name: "my-features",
			Funnel: []Funnel{
				{Stage: "crawl", Done: 1, Rejected: map[schemas.Reason]int{schemas.FewReleases: 1}},
				{Stage: "link", Done: 3, Rejected: map[schemas.Reason]int{schemas.NoTests: 1, schemas.AddsFunctions: 2}},
				{Stage: "classify", Done: 3}, {Stage: "resolve", Done: 3}, {Stage: "provision", Done: 3}, {Stage: "validate", Done: 2, Failed: 1},
				{Stage: "assess", Done: 2}, {Stage: "describe", Done: 2},
			},
			Releases:      4,
			Configuration: map[string]any{"kinds": []string{"feature"}},
			Tools:         map[string]string{"git": "2.39.5", "benchmint": "dev"},
		},
		tasks: []Task{task(t, 12, goldPatch), odd},
		rejects: []Reject{
			{InstanceID: "acme__widget-8", Repo: "acme/widget", Commit: strings.Repeat("8", 40), End: schemas.StepFailed, Stage: "validate", Detail: "disk full"},
			{InstanceID: "acme__widget-9", Repo: "acme/widget", Commit: strings.Repeat("9", 40), End: schemas.StepRejected, Stage: "link", Reason: schemas.NoTests, Detail: "no test among 1 path"},
		},
		flakes: []ledger.Flake{
			{Repo: "acme/widget", Test: "tests/test_widget.py::test_flaky[a\n<b>]", Environment: schemas.DigestBytes([]byte("environment")), State: schemas.StateG, Causes: []ledger.Cause{ledger.Disagrees},
				Runs: 6, Outcomes: map[schemas.Status]int{schemas.Passed: 5, schemas.Failed: 1}, Changes: []string{"acme__widget-12", "acme__widget-cabababababab"}},
			{Repo: "acme/widget", Test: "tests/test_widget.py::test_rare", Environment: schemas.DigestBytes([]byte("environment")), State: schemas.StateS, Causes: []ledger.Cause{ledger.Disagrees},
				Runs: 9, Outcomes: map[schemas.Status]int{schemas.Passed: 8, schemas.Failed: 1}, Changes: []string{"acme__widget-7"}},
		},
	}
}

// contents is a folder as name → bytes.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWriteGolden(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, input(t).of()); err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: []byte("The dataset of input(), without its blobs. Rewrite with go test ./output -update.\n")}
	files := contents(t, dir)
	for _, name := range sorted(keys(files)) {
		if !strings.HasPrefix(name, "blobs/") && !strings.HasSuffix(name, "gold.patch") && !strings.HasSuffix(name, ".parquet") { // not all are text
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(files[name])})
		}
	}
	golden := filepath.Join("testdata", "dataset.txtar")
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(txtar.Format(got))); d != "" {
		t.Errorf("dataset (-want +got):\n%s", d)
	}
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestWriteThenReadThenCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "out")
	in := input(t)
	m, err := Write(dir, in.of())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Counts{Tasks: 2, Rejected: 1, Failed: 1}, m.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 2 || d.Rows[0].InstanceID != "acme__widget-12" || d.Rows[1].Line != 2 {
		t.Fatalf("rows: %+v", d.Rows)
	}
	latin1 := d.Rows[1].Row
	if b, err := latin1.GoldPatch(); err != nil || string(b) != string(in.tasks[1].Patch) || latin1.Benchmint.PatchEncoding != EncodingBase64 {
		t.Errorf("patch that is not UTF-8: %v, encoding %q, equal %v", err, latin1.Benchmint.PatchEncoding, string(b) == string(in.tasks[1].Patch))
	}
	for _, r := range d.Rows {
		b, s, g, err := d.States(r.Row)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Benchmint.Trees, Trees{b.ID(), s.ID(), g.ID()}); diff != "" {
			t.Error(diff)
		}
		env, err := d.Environment(r.Row)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in.tasks[0].Environment, env); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
		start, err := d.Start(r.InstanceID)
		if err != nil || start.ID() != r.InstanceID {
			t.Errorf("start: %v, %s", err, start.ID())
		}
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check of a fresh dataset: %v, %v", err, findings)
	}
	if _, err := d.Row("acme__widget-13"); !errors.Is(err, ErrUnknownID) || !strings.Contains(err.Error(), `did you mean acme__widget-12`) {
		t.Errorf("unknown ID: %v", err)
	}
}

// TestPathsThatAreNotUTF8: a dataset whose patches touch one passes check.
func TestPathsThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	const latin = "latin\xe9\xff\xfe.py"
	x := task(t, 12, goldPatch+`diff --git "a/latin\351\377\376.py" "b/latin\351\377\376.py"
new file mode 100644
--- /dev/null
+++ "b/latin\351\377\376.py"
@@ -0,0 +1 @@
+x = 1
`)
	x.Start.Files = append(x.Start.Files, schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "A", Path: schemas.RecordPath(latin)}, Part: schemas.PartCode, Hunks: 1})
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	in.tasks = []Task{x}
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	findings, err := Check(dir)
	if err != nil || len(findings) > 0 {
		t.Fatalf("%v %v", findings, err)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, _, g, err := d.States(d.Rows[0].Row)
	if err != nil || !g.Has(latin) {
		t.Errorf("the solution does not have the file: %v", err)
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a, b := input(t), input(t)
	a.tasks[0].Timings = []Timing{{InstanceID: "acme__widget-12", Stage: "validate", MS: 1234}}
	b.tasks[0].Timings = []Timing{{InstanceID: "acme__widget-12", Stage: "validate", MS: 999}} // measured: must not show outside timings.jsonl
	for name, in := range map[string]*sample{"a": a, "b": b} {
		if _, err := Write(filepath.Join(root, name), in.of()); err != nil {
			t.Fatal(err)
		}
	}
	ca, cb := contents(t, filepath.Join(root, "a")), contents(t, filepath.Join(root, "b"))
	if ca[TimingsFile] == cb[TimingsFile] {
		t.Error("timings are equal: the comparison below proves nothing about them")
	}
	delete(ca, TimingsFile)
	delete(cb, TimingsFile)
	if d := cmp.Diff(ca, cb); d != "" {
		t.Errorf("two writings differ:\n%s", d)
	}
}

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/HEAD", ReproofFile} { // a ledger that somebody keeps inside
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in.tasks, in.Replace = in.tasks[:1], true
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	got := contents(t, dir)
	if got[".git/HEAD"] != "x" || got[ReproofFile] != "x" {
		t.Error("what is not ours is gone")
	}
	if _, err := os.Stat(filepath.Join(dir, TasksDir, in.tasks[0].ID())); err != nil {
		t.Error(err)
	}
	for name := range got {
		if strings.Contains(name, "widget-c") {
			t.Errorf("%s is left of the earlier dataset", name)
		}
	}
	siblings, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(siblings) != 1 {
		t.Errorf("left beside the dataset: %v %v", siblings, err)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
}

func TestWriteThroughLink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link, folder := filepath.Join(root, "link"), filepath.Join(root, "disk", "out")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.Symlink(folder, link)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Write(link, input(t).of()); err != nil {
			t.Fatal(err)
		}
	}
	if target, err := os.Readlink(link); err != nil || target != folder {
		t.Errorf("the link is now %q, %v", target, err)
	}
	if findings, err := Check(folder); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		edit       func(*sample)
		before     map[string]string
	}{
		{name: "folder_of_somebody", want: "not a benchmint dataset", before: map[string]string{"thesis.tex": "x"}},
		{name: "other_manifest", want: "not a benchmint dataset", before: map[string]string{"manifest.json": `{"format":"other"}`}},
		{name: "ids_that_differ_by_case", want: "two tasks", edit: func(in *sample) {
			other := in.tasks[0]
			other.Start.ChangeID, other.Start.Identity = "ACME__widget-12", "sha256:other"
			in.tasks = append([]Task{other}, in.tasks...)
		}},
		{name: "split_with_slash", want: "split", edit: func(in *sample) { in.split = "../test" }},
		{name: "no_f2p", want: "no FAIL_TO_PASS", edit: func(in *sample) { in.tasks[0].Proof.Tests, in.tasks[0].QuarantinedIn = nil, nil }},
		{name: "wrong_base", want: "the base tree is", edit: func(in *sample) {
			in.tasks[0].Start.BaseTree = strings.Repeat("0", 40)
		}},
		{name: "tasks_out_of_order", want: "out of order", edit: func(in *sample) { slices.Reverse(in.tasks) }},
		{name: "rejects_out_of_order", want: "out of order", edit: func(in *sample) { slices.Reverse(in.rejects) }},
		{name: "unknown_end", want: "unknown end \"gone\" of an item", edit: func(in *sample) { in.rejects[0].End = "gone" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			for name, data := range tt.before {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			in := input(t)
			if tt.edit != nil {
				tt.edit(in)
			}
			_, err := Write(dir, in.of())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			siblings, err := os.ReadDir(filepath.Dir(dir))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range siblings {
				if s.Name() != "out" {
					t.Errorf("left behind: %s", s.Name())
				}
			}
			if tt.before != nil {
				if d := cmp.Diff(tt.before, contents(t, dir)); d != "" {
					t.Errorf("the folder was changed:\n%s", d)
				}
			}
		})
	}
}

func TestEmptyDatasetIsValid(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	in.tasks = nil
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
	if d, err := Read(dir); err != nil || len(d.Rejects) != 2 {
		t.Errorf("read: %v", err)
	}
}

// Every column is a string in every row, in the order of SWE-bench.
func TestRowColumns(t *testing.T) {
	t.Parallel()
	b, err := schemas.Canonical(RowOf(task(t, 12, goldPatch), Base{Archive: "sha256:x"}))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	var names []string
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		value, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := value.(string); !ok {
			t.Errorf("%v is a %T", name, value)
		}
		names = append(names, name.(string))
	}
	if d := cmp.Diff(features, names); d != "" {
		t.Errorf("columns (-want +got):\n%s", d)
	}
}

// TestCardOfWeakTests: tasks whose tests notice nothing by itself are told of.
func TestCardOfWeakTests(t *testing.T) {
	t.Parallel()
	all := newTally()
	for _, f := range []schemas.HunkFinding{schemas.NoneNoticed, schemas.SomeNoticed, schemas.NoneTried, schemas.NoneNoticed} {
		all.add(Row{Benchmint: Extra{Adequacy: Adequacy{Finding: f}}})
	}
	var b bytes.Buffer
	tallies(&b, all)
	for _, want := range []string{
		"\nTasks of which FAIL_TO_PASS tests notice no hunk by itself (`adequacy.finding` is `none`): 2.\n",
		"\nTasks of which no hunk was taken back (`adequacy.finding` is `untried`): 1.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the card does not say %q:\n%s", want, &b)
		}
	}
}

// TestUnlisted: a statement without the list of the interface says so in its row, with the names that it does not give; check
// holds both to the statement.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	in := input(t)
	x := &in.tasks[0]
	x.Bare = true
	x.Statement.Text = "I want to see the size, as `size` says."
	x.Statement.Interface = []schemas.Name{{Name: "size", Kind: "function", Signature: "size()", Path: "widget.py"}, {Name: "width", Kind: "function", Signature: "width()", Path: "widget.py"}}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Rows[slices.IndexFunc(d.Rows, func(r Located) bool { return r.InstanceID == x.ID() })]
	if strings.Contains(r.ProblemStatement, "width") || r.Benchmint.Unlisted == nil || !slices.Equal(r.Benchmint.Unlisted.NotGiven, []string{"width"}) || len(r.Benchmint.Interface) != 2 {
		t.Errorf("%q, %+v", r.ProblemStatement, r.Benchmint.Unlisted)
	}
	for name, change := range map[string]func(*Row){
		"":                      func(*Row) {},
		"unlisted.not_given is": func(r *Row) { r.Benchmint.Unlisted.NotGiven = []string{} },
		"lists the interface":   func(r *Row) { r.ProblemStatement = prose.Problem(x.Statement.Text, x.Statement.Interface) },
	} {
		one := r.Row
		u := *r.Benchmint.Unlisted
		one.Benchmint.Unlisted = &u
		change(&one)
		l := linter{row: one}
		l.unlisted()
		if got := said(l.findings); !strings.Contains(got, name) || (name == "") != (got == "") {
			t.Errorf("%q: %q", name, got)
		}
	}
}
