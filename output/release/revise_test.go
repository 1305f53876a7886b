package release

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// revise releases a dataset that has another statement for a published task.
func revise(t *testing.T, dir string, now change, day string, ids ...string) (*Candidate, error) {
	t.Helper()
	o := options(work(t, nil, now), day)
	o.Revise = ids
	return plan(dir, o, true)
}

func TestReviseStatement(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two := widget(1, "2025-01-10"), widget(2, "2025-01-11")
	publish(t, dir, options(work(t, nil, one, two), "2025-02-01"))
	hand := one
	hand.hand, hand.statement = true, "I want to give widgets a shade, number 1.\n"
	before := contents(t, dir)
	other := func(edit func(*change)) change {
		c := hand
		edit(&c)
		return c
	}
	for _, tt := range []struct {
		name, want, id string
		now            change
	}{
		{"unknown", "did you mean acme__widget-1", "acme__widget-11", hand},
		{"not_in_work", "does not have it", two.id(), hand},
		{"not_by_hand", "not written by hand", one.id(), other(func(c *change) { c.hand = false })},
		{"same_words", "says the same", one.id(), other(func(c *change) { c.statement = one.statement })},
		{"other_patches", "only a statement can be revised", one.id(), other(func(c *change) { c.word = "vermilion" })},
		{"other_identity", "only a statement can be revised", one.id(), other(func(c *change) { c.identity = "x" })},
		{"other_base", "only a statement can be revised", one.id(), other(func(c *change) { c.licence += "\n" })},
	} {
		if _, err := revise(t, dir, tt.now, "2025-03-01", tt.id); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		same(t, tt.name, before, contents(t, dir))
	}
	now := hand
	now.key, now.tag = "environment of a later program", "v9" // of these nothing comes in
	c, err := revise(t, dir, now, "2025-03-01", one.id())
	must(t, err)
	holds(t, dir)
	x := c.Diff.Changed[0]
	if len(c.Diff.Changed) != 1 || x.ID != one.id() || !slices.Contains(x.Classes, ClassText) || slices.Contains(x.Classes, ClassEnvironment) || slices.Contains(x.Classes, ClassTask) || slices.Contains(x.Classes, ClassLists) {
		t.Errorf("%+v", c.Diff.Changed)
	}
	if i := slices.IndexFunc(x.Fields, func(f Field) bool { return f.Key == "problem_statement" }); i < 0 || !strings.Contains(x.Fields[i].Text, "widgets a [-colour, -]{+shade, +}number 1.") {
		t.Errorf("words: %+v", x.Fields)
	}
	same(t, "the other task", taskOf(t, dir, "2025.02", two.id()), taskOf(t, dir, "2025.03", two.id()))
	old, fresh := taskOf(t, dir, "2025.02", one.id()), taskOf(t, dir, "2025.03", one.id())
	if fresh[output.StatementFile] == old[output.StatementFile] {
		t.Error("the statement of the folder is the old one")
	}
	for _, m := range []map[string]string{old, fresh} {
		delete(m, output.StatementFile)
		delete(m, "row")
	}
	same(t, "the rest of the folder", old, fresh)
	if p := dataset(t, dir, "2025.03").Rows[0].Benchmint.Release; p.First != "2025.02" || p.Revision != 1 || p.RevisedIn != "2025.03" || !slices.Equal(p.Revised, []string{"statement written by hand"}) {
		t.Errorf("%+v", p)
	}
	hand.statement = "I want to give widgets a tint, number 1.\n"
	_, err = revise(t, dir, hand, "2025-04-01", one.id())
	must(t, err)
	holds(t, dir)
	if p := dataset(t, dir, "2025.04").Rows[0].Benchmint.Release; p.Revision != 2 || p.RevisedIn != "2025.04" {
		t.Errorf("%+v", p)
	}
	if log := read(t, filepath.Join(dir, "2025.04", ChangelogFile)); !strings.Contains(log, "[-shade, -]{+tint, +}") {
		t.Errorf("changelog:\n%s", log)
	}
}

// TestNarrowedByFlakes: lists lose what the ledger of any dataset knows, as a revision; what is
// left without a deciding test is held.
func TestNarrowedByFlakes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one := widget(1, "2025-01-10")
	publish(t, dir, options(work(t, nil, one), "2025-02-01"))
	c := publish(t, dir, options(work(t, []ledgerFlake{flaky(guarding), flaky(second)}, widget(9, "2025-02-09")), "2025-03-01"))
	row := dataset(t, dir, "2025.03").Rows[0]
	if !slices.Equal(row.FailToPass, []string{deciding}) || len(row.PassToPass) != 0 || row.Benchmint.Release.Revision != 1 || !slices.Equal(row.Benchmint.Release.Revised, []string{"2 flaky tests left the lists"}) {
		t.Errorf("%q %q %+v", row.FailToPass, row.PassToPass, row.Benchmint.Release)
	}
	if x := c.Diff.Changed[0]; !slices.Contains(x.Classes, ClassLists) || slices.Contains(x.Classes, ClassText) {
		t.Errorf("%+v", x)
	}
	// A new task whose working dataset lost its ledger, and one that only flakes decide.
	lost := widget(5, "2025-03-09")
	only := widget(6, "2025-03-09")
	only.edit = func(x *output.Task) { x.Proof.Tests = slices.Delete(x.Proof.Tests, 1, 2) }
	c = publish(t, dir, options(work(t, nil, lost, only), "2025-04-01"))
	if got := idsOf(t, dir, "2025.04"); !slices.Equal(got, []string{one.id(), lost.id(), widget(9, "").id()}) || len(c.Left) != 1 || c.Left[0].ID != only.id() {
		t.Errorf("%q, left %v", got, c.Left)
	}
	if p := dataset(t, dir, "2025.04").Rows[1].Benchmint.Release; p.Revision != 0 || p.RevisedIn != "" {
		t.Errorf("a new task is a revision: %+v", p)
	}
	// All that decide are flaky.
	c = publish(t, dir, options(work(t, []ledgerFlake{flaky(deciding)}, widget(8, "2025-02-09")), "2025-05-01"))
	feed := feedOf(t, dir)
	if len(feed.Held) != 3 || feed.Held[0].Reason != schemas.ForFlaky || feed.Held[0].In != "2025.05" || feed.Held[0].Last != "2025.04" || len(c.Decide) != 3 {
		t.Errorf("held %+v, decide %q", feed.Held, c.Decide)
	}
	o := options(work(t, nil), "2025-06-01")
	o.Back = []string{one.id()}
	if _, err := plan(dir, o, true); err == nil || !strings.Contains(err.Error(), "still in the flake ledger") {
		t.Errorf("back: %v", err)
	}
}

// TestBackIsNarrowed: a task that was held while a test of its lists turned out flaky comes back
// as a revision.
func TestBackIsNarrowed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one := widget(1, "2025-01-10")
	publish(t, dir, options(work(t, nil, one, widget(2, "2025-01-11")), "2025-02-01"))
	corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "unfair", Text: "Perhaps.", Hold: true})
	o := options(work(t, []ledgerFlake{flaky(guarding)}, widget(9, "2025-02-09")), "2025-03-01")
	o.Back = []string{one.id()}
	publish(t, dir, o)
	row := dataset(t, dir, "2025.03").Rows[0]
	if row.InstanceID != one.id() || len(row.PassToPass) != 0 || row.Benchmint.Release.Revision != 1 || row.Benchmint.Release.RevisedIn != "2025.03" {
		t.Errorf("%s %q %+v", row.InstanceID, row.PassToPass, row.Benchmint.Release)
	}
}
