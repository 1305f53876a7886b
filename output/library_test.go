package output

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const (
	maskPatch = "diff --git a/widget.py b/widget.py\n--- a/widget.py\n+++ b/widget.py\n@@ -1,2 +1,2 @@\n def size():\n-    return 1\n+    raise NotImplementedError(\"masked: size\")\n"
	bodyPatch = "diff --git a/widget.py b/widget.py\n--- a/widget.py\n+++ b/widget.py\n@@ -1,2 +1,2 @@\n def size():\n-    raise NotImplementedError(\"masked: size\")\n+    return 1\n"
)

// libraryTask is a proved task of the sample repository's release.
func libraryTask(t testing.TB) Task {
	t.Helper()
	x := task(t, 12, goldPatch)
	release := baseTree(t)
	base := apply(t, release, maskPatch)
	date := time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC)
	cut := schemas.Cut{Repo: "acme/widget", Licence: "MIT", Profile: "strict", Release: schemas.Release{Repo: "acme/widget", Tag: "v1.0", Version: "1.0", Commit: strings.Repeat("1", 40), Date: date}}
	x.Origin = schemas.Origin{Cut: &cut}
	s := &x.Start
	s.ChangeID, s.Kind, s.Commit, s.SourceTree = cut.ID(), schemas.KindLibrary, cut.Release.Commit, release.ID()
	s.BaseTree, s.StartTree, s.SolutionTree = base.ID(), base.ID(), release.ID()
	s.Patch, s.TestPatch, s.Derive = schemas.DigestBytes([]byte(bodyPatch)), "", schemas.DigestBytes([]byte(maskPatch))
	s.Files, s.Sizes = s.Files[:1], schemas.Sizes{SourceFiles: 1, SourceHunks: 1, SourceAdded: 1, SourceRemoved: 1}
	s.Functions = schemas.FunctionEdits{}
	s.Masked = &schemas.Masked{Manifest: schemas.DigestBytes([]byte("manifest")), Profile: "strict", Functions: 3, Taken: 1, Kept: map[string]int{"loaded": 2}, Lines: 8, Left: 2}
	passed, failed := []schemas.Status{schemas.Passed}, []schemas.Status{schemas.Failed}
	x.Proof.Tests = []schemas.TestVerdict{
		{ID: "tests/test_widget.py::test_loads", Unit: "tests/test_widget.py", Class: schemas.P2P, S: passed, G: passed},
		{ID: "tests/test_widget.py::test_size", Unit: "tests/test_widget.py", Class: schemas.F2P, Cause: schemas.CauseFails, S: failed, G: passed},
		{ID: "tests/test_widget.py::test_width", Unit: "tests/test_widget.py", Class: schemas.F2P, Cause: schemas.CauseFails, S: failed, G: passed},
		{ID: "tests/test_widget.py::test_old", Unit: "tests/test_widget.py", Class: schemas.Failing, S: failed, G: failed},
	}
	x.Proof.StartID, x.Proof.Interface, x.QuarantinedIn = cut.ID(), nil, nil
	x.Label = schemas.Labelled{StartID: cut.ID(), Provider: "rules"}
	x.Adequacy = schemas.Adequacy{StartID: cut.ID(), Proof: schemas.DigestBytes([]byte("proof")), Hunks: []schemas.HunkNotice{}, Skipped: 1, SkippedFor: map[schemas.HunkSkip]int{schemas.SkipMasked: 1}, Coverage: &schemas.Coverage{Lines: 20, Ran: 19}}
	x.Statement = schemas.Statement{StartID: cut.ID(), Text: "Write the missing bodies of widget 1.0.", From: []string{"signatures"}, Provider: "rules"}
	x.Specification = map[string][]byte{schemas.SpecificationText: []byte("# widget 1.0\n")}
	x.Statement.Specification = &schemas.Specification{
		Source: "signatures", Reader: "files", Reference: true, Words: 3, Left: map[string]int{}, WithoutPDF: "no Chromium on the machine",
		Files:  []schemas.SpecificationFile{{Path: schemas.SpecificationText, Digest: schemas.DigestBytes(x.Specification[schemas.SpecificationText])}},
		Masked: []schemas.Masking{{Line: 1, Rule: "email"}},
	}
	x.Patch, x.TestPatch, x.Derive = []byte(bodyPatch), nil, []byte(maskPatch)
	x.Base = func() (*tree.Tree, error) { return base, nil }
	return x
}

// sliceTask is a proved task of a slice of it: one function, which one test of three reaches
// without noticing.
func sliceTask(t testing.TB) Task {
	t.Helper()
	x := libraryTask(t)
	slice := &schemas.Slice{Function: "widget.py::size", Name: "size"}
	x.Origin.Cut.Slice, x.Start.Masked.Slice = slice, slice
	id := x.Origin.ID()
	x.Start.ChangeID, x.Proof.StartID, x.Label.StartID, x.Adequacy.StartID, x.Statement.StartID = id, id, id, id, id
	x.Start.Functions = schemas.FunctionEdits{Modified: []string{"widget.py::size"}}
	x.Start.Masked.Functions, x.Start.Masked.Taken, x.Start.Masked.Kept = 1, 1, map[string]int{}
	x.Start.Masked.Lines, x.Start.Masked.Left, x.Start.Masked.Difficulty = 6, 0, &schemas.Difficulty{Lines: 6, Branches: 2, FanIn: 3, Depth: 1}
	passed := []schemas.Status{schemas.Passed}
	x.Proof.Tests = append(x.Proof.Tests, schemas.TestVerdict{ID: "tests/test_widget.py::test_far", Unit: "tests/test_widget.py", Class: schemas.P2P, S: passed, G: passed})
	x.Adequacy.Near = []string{"tests/test_widget.py::test_loads"}
	x.Adequacy.Counted = &schemas.Counted{Rule: schemas.CountReach, P2P: x.Adequacy.Near}
	return x
}

// TestSlice: the row of a slice holds, and each thing that it says of the slice is checked.
func TestSlice(t *testing.T) {
	t.Parallel()
	whole := datasetOf(t, sliceTask(t))
	const folder = "tasks/acme__widget-v1.0.library.strict.size/"
	const differs = "library is not that of " + folder + "start.json, proof.json and adequacy.json"
	for name, c := range map[string]struct {
		rule Rule
		says string
		do   func(*Row, *Library)
	}{
		"another_name":      {RuleID, "make acme__widget-v1.0.library.strict.width", func(_ *Row, l *Library) { l.Slice.Name = "width" }},
		"no_slice":          {RuleID, "make acme__widget-v1.0.library", func(_ *Row, l *Library) { l.Slice = nil }},
		"both":              {RuleField, `slice "size" has module "widget.py", function "widget.py::size" and 0 handlers, not one of the three`, func(_ *Row, l *Library) { l.Slice.Module = "widget.py" }},
		"no_function":       {RuleField, `function "widget.py" is not path::Class.method`, func(_ *Row, l *Library) { l.Slice.Function = "widget.py" }},
		"another_path":      {RuleParts, "the code part is [widget.py], of the slice function gadget.py::size", func(_ *Row, l *Library) { l.Slice.Function = "gadget.py::size" }},
		"another_function":  {RuleField, "functions.modified: widget.py::width is not of function widget.py::size", func(r *Row, _ *Library) { r.Benchmint.Functions.Modified = []string{"widget.py::width"} }},
		"no_functions":      {RuleField, "functions.modified names 0 functions; 1 were taken out", func(r *Row, _ *Library) { r.Benchmint.Functions.Modified = []string{} }},
		"no_difficulty":     {RuleField, "library.difficulty is not there, of a slice", func(_ *Row, l *Library) { l.Difficulty = nil }},
		"lines":             {RuleField, "library.difficulty: 5 lines, 2 branches, fan-in 3, depth 1; 6 of 6 body lines are gone", func(_ *Row, l *Library) { l.Difficulty.Lines = 5 }},
		"depth":             {RuleField, "depth -1", func(_ *Row, l *Library) { l.Difficulty.Depth = -1 }},
		"branches":          {RuleFolder, differs, func(_ *Row, l *Library) { l.Difficulty.Branches = 7 }},
		"tests":             {RuleField, "library.difficulty.tests is 3; FAIL_TO_PASS has 2", func(_ *Row, l *Library) { l.Difficulty.Tests = 3 }},
		"no_counted":        {RuleField, "library.counted is not there, of a slice", func(_ *Row, l *Library) { l.Counted = nil }},
		"counted_by_nobody": {RuleField, `library.counted.rule is "files"`, func(_ *Row, l *Library) { l.Counted.Rule = "files" }},
		"counted_twice":     {RuleLists, "is not sorted, or holds a test twice", func(_ *Row, l *Library) { l.Counted.P2P = append(l.Counted.P2P, l.Counted.P2P[0]) }},
		"counted_otherwise": {RuleLists, "library.counted.pass_to_pass is not p2p_fast, by the rule reach", func(r *Row, _ *Library) { r.Benchmint.P2PFast = nil }},
		"counted_elsewhere": {RuleLists, "which is not in PASS_TO_PASS", func(r *Row, l *Library) { l.Counted.P2P = []string{r.FailToPass[0]} }},
		"counted_rule":      {RuleFolder, differs, func(_ *Row, l *Library) { l.Counted.Rule = schemas.CountUnits }},
		"zero_work":         {RuleField, "library.zero_work is 0.5; 1 of 3 tests that count pass with nothing done", func(_ *Row, l *Library) { l.ZeroWork = 0.5 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			editRow(t, dir, func(r *Row) { c.do(r, r.Benchmint.Library) })
			finds(t, dir, c.rule, c.says)
		})
	}
}

// datasetOf is a dataset of one library, which checks.
func datasetOf(t *testing.T, x Task) string {
	t.Helper()
	in := input(t)
	in.tasks = []Task{x}
	in.Funnel, in.flakes = []Funnel{{Stage: "crawl", Done: 1}, {Stage: "cut", Done: 1}, {Stage: "mask", Done: 1}, {Stage: "classify", Done: 1}, {Stage: "resolve", Done: 1},
		{Stage: "provision", Done: 1}, {Stage: "validate", Done: 1}, {Stage: "assess", Done: 1}, {Stage: "describe", Done: 1}}, nil
	in.rejects = nil
	whole := filepath.Join(t.TempDir(), "out")
	if _, err := Write(whole, in.of()); err != nil {
		t.Fatal(err)
	}
	if findings, err := Check(whole); err != nil || len(findings) > 0 {
		t.Fatalf("%v\n%v", err, findings)
	}
	return whole
}

// finds checks a dataset, which must find something that a rule says.
func finds(t *testing.T, dir string, rule Rule, says string) {
	t.Helper()
	findings, err := Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == rule && strings.Contains(f.Message, says) }) {
		t.Errorf("no %s that says %q:\n%v", rule, says, findings)
	}
}

// TestLibrary: the row of a library holds, and each thing that it says is checked.
func TestLibrary(t *testing.T) {
	t.Parallel()
	whole := datasetOf(t, libraryTask(t))
	rows, err := Standings(whole)
	if diff := cmp.Diff([]Standing{{ID: "acme__widget-v1.0.library", Repo: "acme/widget", Release: "v1.0"}}, rows); diff != "" || err != nil {
		t.Errorf("what stands there: %v (-want +got):\n%s", err, diff)
	}
	const folder = "tasks/acme__widget-v1.0.library/"
	library := func(change func(*Library)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { editRow(t, dir, func(r *Row) { change(r.Benchmint.Library) }) }
	}
	for name, c := range map[string]struct {
		rule Rule
		says string
		do   func(t *testing.T, dir string)
	}{
		"no_library":    {RuleField, "library is null, of a library", func(t *testing.T, dir string) { editRow(t, dir, func(r *Row) { r.Benchmint.Library = nil }) }},
		"hidden_tests":  {RuleField, "tests_visible is false", func(t *testing.T, dir string) { editRow(t, dir, func(r *Row) { r.Benchmint.TestsVisible = false }) }},
		"release":       {RuleID, "make acme__widget-v2.0.library", library(func(l *Library) { l.Release = "v2.0" })},
		"profile":       {RuleID, "make acme__widget-v1.0.library.commit0_all", library(func(l *Library) { l.Profile = "commit0-all" })},
		"functions":     {RuleField, "1 functions taken out and 2 kept are not the 4 there are", library(func(l *Library) { l.Functions = 4 })},
		"nothing_taken": {RuleField, "0 functions taken out", library(func(l *Library) { l.Taken, l.Functions = 0, 2 })},
		"lines":         {RuleField, "library.share_left is 1.125; 9 of 8 body lines are left", library(func(l *Library) { l.Left, l.ShareLeft = 9, 9./8 })},
		"share":         {RuleField, "library.share_left is 0.2; 2 of 8 body lines are left", library(func(l *Library) { l.ShareLeft = 0.2 })},
		"zero_work":     {RuleField, "library.zero_work is 0.1; 1 of 3 tests that count pass with nothing done", library(func(l *Library) { l.ZeroWork = 0.1 })},
		"counted":       {RuleField, "library.counted or functions.modified is there, of a library without a slice", library(func(l *Library) { l.Counted = &schemas.Counted{Rule: schemas.CountReach} })},
		"covered_share": {RuleField, "library.coverage.share is 0.5; 19 of 20 lines run", library(func(l *Library) { l.Coverage.Share = 0.5 })},
		"covered":       {RuleField, "library.coverage.share is 1.05; 21 of 20 lines run", library(func(l *Library) { l.Coverage = &Coverage{1.05, schemas.Coverage{Lines: 20, Ran: 21}} })},
		"coverage":      {RuleFolder, "library is not that of " + folder + "start.json, proof.json and adequacy.json", library(func(l *Library) { l.Coverage = nil })},
		"failing":       {RuleFolder, "library is not that of " + folder + "start.json, proof.json and adequacy.json", library(func(l *Library) { l.Failing = []string{} })},
		"passing":       {RuleFolder, "library is not that of " + folder + "start.json, proof.json and adequacy.json", library(func(l *Library) { l.Passing = 1 })},
		"another_mask": {RuleFolder, "mask.patch is not the patch that the start names", func(t *testing.T, dir string) {
			edit(t, dir, folder+MaskFile, true, replace("masked: size", "masked: all"))
		}},
		"no_mask":        {RuleFolder, "mask.patch: ", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, folder+MaskFile)) }},
		"mask_of_nobody": {RuleFolder, "library is not that of " + folder + "start.json", func(t *testing.T, dir string) { edit(t, dir, folder+StartFile, true, unmasked(t)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.do(t, dir)
			finds(t, dir, c.rule, c.says)
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// unmasked takes what was masked out of a start.
func unmasked(t *testing.T) func(string) string {
	return func(text string) string {
		var s schemas.Start
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		s.Masked = nil
		b, err := schemas.Canonical(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// TestLibraryCard: whole libraries and slices have a section each, with the figures of Commit0's Figure 2 and a plot of each;
// figures of several kinds stand apart. A card without libraries has no word of them.
func TestLibraryCard(t *testing.T) {
	t.Parallel()
	row := func(id string, taken, words int, slice *schemas.Slice) Row {
		r := Row{InstanceID: id, FailToPass: make(List, 6), PassToPass: make(List, 4)}
		r.Benchmint.Kind, r.Benchmint.Statistics = schemas.KindLibrary, Statistics{RepositoryFiles: 7, FailToPass: 6}
		r.Benchmint.Library = &Library{Slice: slice, ZeroWork: 0.4, Coverage: &Coverage{Share: 0.95}, Specification: &schemas.Specification{Source: "docs", Words: words}}
		r.Benchmint.Library.Taken, r.Benchmint.Library.Lines, r.Benchmint.Library.Left = taken, 90, 5
		if slice != nil {
			r.Benchmint.Library.Counted = &schemas.Counted{P2P: []string{"one"}}
		}
		return r
	}
	feature := Row{FailToPass: make(List, 2)}
	feature.Benchmint.Kind, feature.Benchmint.Statistics.FailToPass = schemas.KindFeature, 2
	all := newTally()
	for _, r := range []Row{row("a", 10, 1000, nil), row("b", 20, 3000, nil), row("c", 1, 30, &schemas.Slice{Name: "size"}), feature} {
		all.add(r)
	}
	text := string(card(Manifest{Splits: []Split{{Name: "test"}}, Statistics: all.statistics()}, all))
	for _, want := range []string{
		"## Libraries", "| Tests that count | 10 | 10 | 10 | 10 |", "| Functions to write | 15 | 15 | 10 | 20 |", "| Specification: words | 2000 | 2000 | 1000 | 3000 |",
		"| a | 10 | 85 | 10 | 40.0 % | 95.0 % | docs, 1000 words |", "## Slices of libraries", "| Tests that count | 7 | 7 | 7 | 7 |",
		"| Mean (median) | feature: 1 | library: 3 |", "| FAIL_TO_PASS tests | 2 (2) | 6 (6) |", "![Functions to write](plots/library_functions.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	drawn, err := plots(Manifest{}, all)
	if err != nil || !strings.Contains(string(drawn["plots/library_functions.svg"]), "Functions to write (2 tasks)") {
		t.Errorf("%v: %s", err, drawn["plots/library_functions.svg"])
	}
	other := newTally()
	other.add(feature)
	text = string(card(Manifest{Splits: []Split{{Name: "test"}}}, other))
	drawn, err = plots(Manifest{}, other)
	if strings.Contains(text, "ibrar") || strings.Contains(text, "Mean (median)") || len(drawn) != len(metrics) || err != nil {
		t.Errorf("a card without libraries, and %d plots, %v:\n%s", len(drawn), err, text)
	}
}
