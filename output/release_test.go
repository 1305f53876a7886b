package output

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/schemas"
)

// released writes the dataset of input() as a version, all of its tasks carried and new.
func carriedInto(t *testing.T, edit func(*Input, []Carried)) (from, dir string) {
	t.Helper()
	root := t.TempDir()
	from, dir = filepath.Join(root, "work"), filepath.Join(root, "2025.02")
	in := input(t)
	in.tasks[0].Timings = []Timing{{InstanceID: in.tasks[0].ID(), Stage: "validate", MS: 7}}
	if _, err := Write(from, in.of()); err != nil {
		t.Fatal(err)
	}
	releasedInto(t, in.Input, from, dir, edit)
	return from, dir
}

// releasedInto makes a release of a dataset.
func releasedInto(t *testing.T, again Input, from, dir string, edit func(*Input, []Carried)) {
	t.Helper()
	d, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	all := d.Carry(func(Row) bool { return true })
	guid := Canary("my-features", "2025.02")
	for i := range all {
		r := all[i].Row.Row
		r.Benchmint.Release = &Published{First: "2025.02", Canary: CanaryText(guid)}
		if all[i].Line, err = r.Encoded(); err != nil {
			t.Fatal(err)
		}
		all[i].Row.Row = r
		all[i].Edit = func(name string, b []byte) ([]byte, error) { return WithCanary(name, b, guid), nil }
	}
	again.Flakes, again.CarriedRejects = slices.Values(d.Flakes), d.Rejects
	again.Release = &Release{Version: "2025.02", Date: "2025-02-01", Canary: guid}
	again.Splits = []SplitInput{{Carried: all}}
	if edit != nil {
		edit(&again, all)
	}
	if _, err := Write(dir, again); err != nil {
		t.Fatal(err)
	}
}

// TestCarry: a carried task is the one that it was but for canary and release; times, redactions
// and rejects come along, and the whole holds.
func TestCarry(t *testing.T) {
	t.Parallel()
	from, dir := carriedInto(t, nil)
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Fatalf("%v %v", err, findings)
	}
	a, b := contents(t, from), contents(t, dir)
	for name, text := range a {
		if bare := string(Bare(name, []byte(b[name]))); (strings.HasPrefix(name, "tasks/") || strings.HasPrefix(name, "blobs/") || strings.HasSuffix(name, "s.jsonl")) && bare != text {
			t.Errorf("%s: not what it was:\n%s", name, cmp.Diff(text, bare))
		}
	}
	for _, name := range []string{TimingsFile, RejectsFile, FlakesFile} {
		if len(a[name]) == 0 {
			t.Errorf("%s is empty: the comparison proves nothing", name)
		}
	}
	// A second time to the byte, from the version.
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := input(t).Input
	in.Flakes, in.CarriedRejects, in.Release, in.Splits = slices.Values(d.Flakes), d.Rejects, d.Manifest.Release, []SplitInput{{Carried: d.Carry(func(Row) bool { return true })}}
	again := filepath.Join(t.TempDir(), "again")
	if _, err := Write(again, in); err != nil {
		t.Fatal(err)
	}
	c := contents(t, again)
	if diff := cmp.Diff(b, c); diff != "" {
		t.Errorf("carried once more:\n%s", diff)
	}
}

func TestCarryRefuses(t *testing.T) {
	t.Parallel()
	from, _ := carriedInto(t, nil)
	d, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	all := d.Carry(func(Row) bool { return true })
	fault := errors.New("edit fails")
	for name, tt := range map[string]struct {
		want    string
		carried []Carried
		tasks   []Task
	}{
		"twice":        {want: "two tasks with the ID", carried: []Carried{all[0], all[0]}},
		"out_of_order": {want: "out of order", carried: []Carried{all[1], all[0]}},
		"edit":         {want: fault.Error(), carried: []Carried{{From: d, Row: all[0].Row, Edit: func(string, []byte) ([]byte, error) { return nil, fault }}}},
		"made_again":   {want: "two tasks with the ID", carried: all[:1], tasks: []Task{task(t, 12, goldPatch)}},
	} {
		in := input(t).Input
		in.Splits = []SplitInput{{Carried: tt.carried, Tasks: each(tt.tasks)}}
		if _, err := Write(filepath.Join(t.TempDir(), "out"), in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestTogether: carried tasks and those of the stages come in order of ID.
func TestTogether(t *testing.T) {
	t.Parallel()
	from, _ := carriedInto(t, nil)
	d, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	fresh := task(t, 13, goldPatch)
	in := input(t).Input
	in.Splits = []SplitInput{{Carried: d.Carry(func(Row) bool { return true }), Tasks: each([]Task{fresh})}}
	in.Flakes = slices.Values(d.Flakes)
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, in); err != nil {
		t.Fatal(err)
	}
	if d, err = Read(dir); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range d.Rows {
		got = append(got, r.InstanceID)
	}
	if !slices.Equal(got, []string{"acme__widget-12", "acme__widget-13", "acme__widget-cabababababab"}) {
		t.Errorf("%q", got)
	}
}

func TestCanaryStandsAndComesOff(t *testing.T) {
	t.Parallel()
	guid := Canary("bench", "2025.02")
	if guid != Canary("bench", "2025.02") || guid == Canary("bench", "2025.03") || guid == Canary("benc", "h2025.02") || len(guid) != 36 || guid[14] != '8' {
		t.Errorf("GUID %q", guid)
	}
	for name, text := range map[string]string{
		"tasks/a/gold.patch": goldPatch, "tasks/a/proof.json": "{\n  \"a\": 1\n}\n", "rejects.jsonl": "{\"a\":1}\n", "flakes.jsonl": "",
		"plots/x.svg": "<svg></svg>\n", "tasks/a/run.sh": "#!/bin/sh\necho\n", "tasks/a/Dockerfile": "FROM x\n",
	} {
		with := string(WithCanary(name, []byte(text), guid))
		if strings.Count(with, guid) != 1 || !strings.Contains(with, CanaryWords) {
			t.Errorf("%s has no canary:\n%s", name, with)
		}
		if got := string(Bare(name, []byte(with))); got != text {
			t.Errorf("%s: off it comes as %q, was %q", name, got, text)
		}
		if got := string(Bare(name, []byte(text))); got != text {
			t.Errorf("%s: a file without one loses %q", name, text)
		}
		if filepath.Ext(name) == ".json" && !json.Valid([]byte(with)) {
			t.Errorf("%s is no JSON: %s", name, with)
		}
		if name == "tasks/a/run.sh" && !strings.HasPrefix(with, "#!/bin/sh\n") {
			t.Errorf("the script begins with %q", with)
		}
	}
	for _, name := range []string{"tasks/a/statement.md", "tasks/a/setup/0/x.json", "tasks/a/run/0/report.json", "tasks/a/" + SpecDir + "/text.json", "blobs/x.json", "data/test.jsonl", "LICENSES/a"} {
		if name == "LICENSES/a" || ForSolvers(name) || inFolder(name, BlobsDir) || inFolder(name, DataDir) {
			continue
		}
		t.Errorf("%s would have a canary", name)
	}
}

// TestConfigs: one configuration a window and a kind, each with its rows alone.
func configOf(t *testing.T, dir, name, file string) string {
	t.Helper()
	return "- config_name: " + name + "\n  description: " + string(schemas.DigestBytes([]byte(contents(t, dir)[file]))) + "\n  data_files:\n  - split: test\n    path: " + file + "\n"
}

func TestConfigs(t *testing.T) {
	t.Parallel()
	_, dir := carriedInto(t, func(_ *Input, all []Carried) {
		r := all[1].Row.Row
		p := *r.Benchmint.Release
		p.First, p.Canary = "2025.01", CanaryText(Canary("my-features", "2025.01"))
		r.Benchmint.Release = &p
		all[1].Row.Row = r
		all[1].Line, _ = r.Encoded()
	})
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Configs(); !slices.Equal(got, []string{"w2025_01", "w2025_02", "feature"}) {
		t.Errorf("%q", got)
	}
	card := contents(t, dir)[CardFile]
	for name, want := range map[string][]string{"w2025_01": {"acme__widget-cabababababab"}, "w2025_02": {"acme__widget-12"}, "feature": {"acme__widget-12", "acme__widget-cabababababab"}} {
		var got []string
		if err := readParquet(dir, DataDir+"/"+name+"/test.parquet", func(_ int, c columns) { got = append(got, c.InstanceID) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if !strings.Contains(card, configOf(t, dir, name, DataDir+"/"+name+"/test.parquet")) {
			t.Errorf("the card does not name %s", name)
		}
	}
	if !strings.Contains(card, "| 2024-03 | 2 |") || !strings.Contains(card, `load_dataset(DIR, "w2025_01", split="test")  # 1 task that came with 2025.01`) {
		t.Errorf("card:\n%s", card)
	}
}

// TestLiteConfig: a release has a configuration of the libraries with few functions, and of all tasks by that name; one whose
// card is older has none, and holds.
func TestLiteConfig(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "2025.02")
	in := input(t).Input
	from := datasetOf(t, libraryTask(t))
	work, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	in.Funnel = work.Manifest.Funnel
	releasedInto(t, in, from, dir, nil)
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Fatalf("%v %v", err, findings)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	library := d.Rows[slices.IndexFunc(d.Rows, func(r Located) bool { return r.Benchmint.Kind == schemas.KindLibrary })].InstanceID
	if got := d.ConfigRows(DefaultSplit)[Lite]; !slices.Equal(got, []string{library}) || d.Configs()[len(d.Configs())-1] != Lite {
		t.Errorf("%q of %q", got, d.Configs())
	}
	if card := contents(t, dir)[CardFile]; !strings.Contains(card, configOf(t, dir, "all", "data/test.parquet")) || !strings.Contains(card, "- config_name: lite\n") {
		t.Errorf("card:\n%s", card)
	}
	d.Manifest.Card = liteCard - 1
	if got := d.ConfigRows(DefaultSplit)[Lite]; got != nil || slices.Contains(d.Configs(), Lite) {
		t.Errorf("of an older card: %q, %q", got, d.Configs())
	}
}

// TestNarrowed: the lists of a row follow its proof without flakes, and nothing else does.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	from, _ := carriedInto(t, nil)
	d, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	row := d.Rows[0].Row
	p, err := d.Proof(row.InstanceID)
	if err != nil {
		t.Fatal(err)
	}
	const size = "tests/test_widget.py::test_size"
	flakes := ledger.Of([]ledger.Flake{{Repo: row.Repo, Test: size, State: schemas.StateG, Causes: []ledger.Cause{ledger.Disagrees}, Changes: []string{"acme__widget-7"}}})
	p, removed := flakes.Strip(row.Repo, p)
	got, err := d.Narrowed(row, p, removed)
	if err != nil {
		t.Fatal(err)
	}
	want := row
	want.PassToPass = slices.DeleteFunc(slices.Clone(row.PassToPass), func(s string) bool { return s == size })
	e := &want.Benchmint
	e.Quarantined, e.P2PFast = sorted(append(slices.Clone(e.Quarantined), size)), slices.DeleteFunc(slices.Clone(e.P2PFast), func(s string) bool { return s == size })
	e.QuarantinedIn = map[string][]string{size: {"acme__widget-7"}, "tests/test_widget.py::test_rare": {"acme__widget-7"}}
	e.Statistics.PassToPass--
	if len(e.P2PFast) == 0 {
		e.P2PFast = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("narrowed (-want +got):\n%s", diff)
	}
	if _, there := row.Benchmint.QuarantinedIn[size]; there {
		t.Error("the row that was given changed")
	}
}

// TestTelling: of another row a row takes what a solver is told, and nothing else.
func TestTelling(t *testing.T) {
	t.Parallel()
	a, other := RowOf(task(t, 12, goldPatch), Base{Archive: "sha256:x"}), task(t, 14, goldPatch)
	other.Statement = schemas.Statement{Text: "I want to give widgets a shade.\n", Hints: "Look.", From: []string{"hand"}, Provider: schemas.Hand, WrittenBy: schemas.Hand, Thin: true, Interface: []schemas.Name{{Name: "shade"}}, Review: &schemas.Review{}}
	b := RowOf(other, Base{Archive: "sha256:y"})
	got := a.Telling(b.Told())
	if diff := cmp.Diff(b.Told(), got.Told()); diff != "" {
		t.Errorf("told:\n%s", diff)
	}
	if diff := cmp.Diff(a, got.Telling(a.Told())); diff != "" {
		t.Errorf("more than that changed:\n%s", diff)
	}
	if a.Told().Statement == b.Told().Statement || got.Patch != a.Patch || got.InstanceID != a.InstanceID {
		t.Error("nothing was told, or too much")
	}
}

func TestMergeFlakes(t *testing.T) {
	t.Parallel()
	f := func(test string, runs int, causes []ledger.Cause, changes ...string) ledger.Flake {
		return ledger.Flake{Repo: "a/b", Test: test, State: schemas.StateG, Causes: causes, Runs: runs, Outcomes: map[schemas.Status]int{schemas.Passed: runs}, Changes: changes}
	}
	a := []ledger.Flake{f("t", 9, []ledger.Cause{ledger.Disagrees}, "x"), f("u", 1, []ledger.Cause{ledger.Child}, "x")}
	b := []ledger.Flake{f("t", 3, []ledger.Cause{ledger.Child}, "y", "x")}
	want := []ledger.Flake{f("t", 9, []ledger.Cause{ledger.Child, ledger.Disagrees}, "x", "y"), f("u", 1, []ledger.Cause{ledger.Child}, "x")}
	for _, all := range [][]ledger.Flake{slices.Concat(a, b), slices.Concat(b, a), slices.Concat(a, b, a)} {
		if diff := cmp.Diff(want, MergeFlakes(all)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
