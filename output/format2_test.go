package output

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// older is a copy of a dataset that the last program before format 3 made of the sample
// testdata/samples/demo-go (only: [4, 5]).
func older(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.CopyFS(dir, os.DirFS("testdata/format2")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFormat2Reads(t *testing.T) {
	t.Parallel()
	dir := older(t)
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	const id = "demo__slug-5"
	r, err := d.Row(id)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Benchmint.Change
	got := []any{d.Manifest.Format, d.Manifest.Splits, r.Benchmint.Kind, c.Commit, c.Number, c.NumberFrom, c.Subject, c.Label, c.LabelProvider, len(c.LabelEvidence) > 0, r.Benchmint.Adequacy}
	want := []any{format2, []Split{{"test", 1}}, schemas.KindFeature, "58940c3a6b412931e9bc8e7f179b5549cdf31d8d", 5, schemas.NumberSubject, "Support punctuation in titles (#5)", schemas.LabelFeature, "rules", true,
		Adequacy{Share: 2.0 / 3, Tried: 3, Noticed: 2, Unnoticed: []Hunk{{"slug.go", 1}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"adequacy.finding", "adequacy.skipped_for"}, d.Manifest.Lacks()); d != "" {
		t.Errorf("what it lacks (-want +got):\n%s", d)
	}
	// All that prove and show read.
	if _, _, _, err := d.States(r); err != nil {
		t.Error(err)
	}
	start, startErr := d.Start(id)
	env, envErr := d.Environment(r)
	proof, proofErr := d.Proof(id)
	a, adequacyErr := d.Adequacy(id)
	for _, err := range []error{startErr, envErr, proofErr, adequacyErr} {
		if err != nil {
			t.Error(err)
		}
	}
	if start.ID() != id || proof.ID() != id || a.ID() != id || env.Recipe.Language != "go" {
		t.Errorf("start %s, proof %s, adequacy %s, language %q", start.ID(), proof.ID(), a.ID(), env.Recipe.Language)
	}
	rows, err := Standings(dir)
	if d := cmp.Diff([]Standing{{ID: id, Repo: "demo/slug", Commit: c.Commit, Number: 5}}, rows); d != "" || err != nil {
		t.Errorf("standings: %v (-want +got):\n%s", err, d)
	}
}

func TestFormat2Checks(t *testing.T) {
	t.Parallel()
	if findings, err := Check(older(t)); err != nil || len(findings) > 0 {
		t.Fatalf("%v, %v", err, findings)
	}
	for _, tt := range []struct {
		name, says, from, to string
		rule                 Rule
	}{
		{"label", "unknown label", `\"label\":\"feature\",\"label_evidence`, `\"label\":\"featur\",\"label_evidence`, RuleLabel},
		{"number", "repo, number and commit make demo__slug-6", `\"number\":5,\"number_from`, `\"number\":6,\"number_from`, RuleID},
		{"share", "share is 0.5; 2 of 3 are noticed", `\"share\":0.6666666666666666`, `\"share\":0.5`, RuleAdequacy},
		{"a_finding_before_its_time", `finding is "some"`, `\"noticed\":2`, `\"finding\":\"some\",\"noticed\":2`, RuleAdequacy},
		{"unknown_key", `unknown key "subjet"; did you mean subject?`, `\"subject\":`, `\"subjet\":`, RuleSyntax},
		{"a_key_of_format_3", `unknown key "commit"`, `\"commit\":`, `\"change\":null,\"commit\":`, RuleSyntax},
		{"cut_short", "benchmint: byte", `\"}]}"}`, `\"}]"}`, RuleSyntax},
		{"no_json", "byte", `{"instance_id"`, `{instance_id"`, RuleSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := older(t)
			edit(t, dir, "data/test.jsonl", true, replace(tt.from, tt.to))
			findings, err := Check(dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == tt.rule && strings.Contains(f.Message, tt.says) }) {
				t.Errorf("no %s that says %q: %v", tt.rule, tt.says, findings)
			}
		})
	}
	// Nothing that was tried is not the same as nothing noticed: then it was written as 1.
	row := Row{Benchmint: Extra{Adequacy: Adequacy{Share: 1, Unnoticed: []Hunk{}}}}
	l := linter{row: row, layout: layouts[1]}
	if l.adequacy(); len(l.findings) > 0 {
		t.Error(l.findings)
	}
	l = linter{row: row, layout: layouts[0]}
	if l.adequacy(); len(l.findings) == 0 {
		t.Error("format 3 takes a share of 1 where nothing was tried")
	}
}

// A dataset of format 2 is written over like any other: as a whole, and without a row
// lost.
func TestFormat2IsReplaced(t *testing.T) {
	t.Parallel()
	dir := older(t)
	in := input(t)
	if _, err := Write(dir, in.of()); err == nil || !strings.Contains(err.Error(), "demo__slug-5") {
		t.Fatalf("writing over it: %v", err)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Fatalf("the refused write has touched it: %v %v", err, findings)
	}
	next := in.of()
	next.Replace = true
	if m, err := Write(dir, next); err != nil || m.Format != Format {
		t.Fatalf("%v, format %q", err, m.Format)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", err, findings)
	}
}

func TestSplits(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	write := func(splits ...SplitInput) (Manifest, error) {
		next := in.of()
		next.Splits = splits
		return Write(dir, next)
	}
	// The order of IDs holds within a split.
	m, err := write(SplitInput{Name: "test", Tasks: each(in.tasks[1:])}, SplitInput{Name: "dev", Tasks: each(in.tasks[:1])}, SplitInput{Name: "train", Tasks: each[Task](nil)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Split{{"test", 1}, {"dev", 1}, {"train", 0}}, m.Splits); d != "" || m.Counts.Tasks != 2 {
		t.Errorf("%d tasks, splits (-want +got):\n%s", m.Counts.Tasks, d)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", err, findings)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range d.Rows {
		got[r.InstanceID] = r.File
	}
	if d := cmp.Diff(map[string]string{in.tasks[1].ID(): "data/test.jsonl", in.tasks[0].ID(): "data/dev.jsonl"}, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	card, err := os.ReadFile(filepath.Join(dir, CardFile))
	if err != nil || !strings.Contains(string(card), "  - split: dev\n    path: data/dev.parquet\n") {
		t.Errorf("%v, the card:\n%s", err, card)
	}
	var want []Standing
	for _, x := range []Task{in.tasks[1], in.tasks[0]} {
		want = append(want, Standing{ID: x.ID(), Repo: "acme/widget", Commit: x.Origin.Commit(), Number: x.Origin.Change.Number})
	}
	rows, err := Standings(dir)
	if d := cmp.Diff(want, rows); d != "" || err != nil {
		t.Errorf("standings: %v (-want +got):\n%s", err, d)
	}
	// A row of any split is one that may be lost.
	if _, err := write(SplitInput{Name: "test", Tasks: each(in.tasks[1:])}); err == nil || !strings.Contains(err.Error(), in.tasks[0].ID()) {
		t.Errorf("a split is dropped: %v", err)
	}
	for want, splits := range map[string][]SplitInput{
		"one split at least": {},
		"given twice":        {{Name: "test", Tasks: each(in.tasks)}, {Name: "Test", Tasks: each[Task](nil)}},
		"two tasks":          {{Name: "test", Tasks: each(in.tasks)}, {Name: "dev", Tasks: each(in.tasks)}},
	} {
		if _, err := write(splits...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
