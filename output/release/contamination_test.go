package release

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/output"
)

// theirs writes rows of another dataset: some of ours under other names.
func theirs(t *testing.T, w *output.Dataset, ids ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "theirs.jsonl")
	var b []byte
	for _, r := range w.Rows {
		if !slices.Contains(ids, r.InstanceID) {
			continue
		}
		line, err := json.Marshal(map[string]string{"instance_id": "copy__of-" + r.InstanceID[len(r.InstanceID)-1:], "repo": "Acme/Widgets", "base_commit": strings.Repeat("9", 40), "patch": r.Patch, "problem_statement": "Another text."})
		must(t, err)
		b = append(append(b, line...), '\n')
	}
	must(t, os.WriteFile(name, b, 0o644))
	return name
}

// TestDecontamination: a new task that stands in another dataset is left out with its evidence, and a published one
// stays and is named. The version says against what it was held.
func TestDecontamination(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, three := widget(1, "2025-01-10"), widget(2, "2025-02-10"), widget(3, "2025-02-11")
	publish(t, dir, options(work(t, nil, one), "2025-02-01"))
	w := work(t, nil, two, three)
	o := options(w, "2025-03-01")
	o.Contamination = contamination.Default()
	o.Against = []string{theirs(t, w, two.id()), theirs(t, work(t, nil, one), one.id())}
	c := publish(t, dir, o)
	if got := idsOf(t, dir, "2025.03"); !slices.Equal(got, []string{one.id(), three.id()}) {
		t.Errorf("the version has %q", got)
	}
	if len(c.Left) != 1 || c.Left[0].Gate != "decontamination" || c.Left[0].ID != two.id() || !strings.Contains(c.Left[0].Text, "it is copy__of-2 of theirs.jsonl by patch_id") {
		t.Errorf("left: %v", c.Left)
	}
	if len(c.Decide) != 1 || !strings.HasPrefix(c.Decide[0], one.id()+" is published and is copy__of-1 of theirs.jsonl by patch_id (1.00): ") {
		t.Errorf("to decide: %q", c.Decide)
	}
	hits, err := contamination.Decode(filepath.Join(dir, "2025.03", output.DecontaminationFile))
	must(t, err)
	var said []string // the last two by the version before: all widgets begin with one base
	for _, h := range hits {
		said = append(said, h.InstanceID+" "+string(h.Key)+" "+string(h.Action))
	}
	if want := []string{two.id() + " patch_id removed", two.id() + " patch_blank removed", one.id() + " patch_id removed", one.id() + " patch_blank removed",
		two.id() + " base_commit labelled", three.id() + " base_commit labelled"}; !slices.Equal(said, want) {
		t.Errorf("hits: %q", said)
	}
	d := dataset(t, dir, "2025.03")
	known := d.Manifest.Release.Decontamination
	if known == nil || len(known.Sets) != 3 || known.Sets[0].Name != "theirs.jsonl" || known.Sets[2].Name != "bench 2025.02" || known.Sets[2].Rows != 1 {
		t.Fatalf("sets: %+v", known)
	}
	if want := (output.ContaminationHits{Key: "patch_id", Removed: 1, Kept: 1}); known.Hits[1] != want {
		t.Errorf("counts: %+v", known.Hits)
	}
	card := read(t, filepath.Join(dir, "2025.03", output.CardFile))
	for _, line := range []string{"| bench 2025.02 | 1 | `" + known.Sets[2].SHA256 + "` |\n", "| `patch_id` | 1 | 1 | 0 |\n"} {
		if !strings.Contains(card, line) {
			t.Errorf("the card lacks %q", line)
		}
	}
	for _, g := range record(t, dir, "2025.03").Gates {
		if g.Name == "decontamination" && (g.State != Held || g.Removed != 1 || g.Figures["sets"] != 3 || g.Figures["rows"] != 3) {
			t.Errorf("gate: %+v", g)
		}
	}
	holds(t, dir)
}

// TestEarlierVersionsAreSets: a new task that an earlier version has under another name does not come again.
func TestEarlierVersionsAreSets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one := widget(1, "2025-01-10")
	publish(t, dir, options(work(t, nil, one), "2025-02-01"))
	again, other := widget(1, "2025-02-10"), widget(2, "2025-02-11")
	again.number, again.identity = 5, "pushed anew"
	c := publish(t, dir, options(work(t, nil, again, other), "2025-03-01"))
	if got := idsOf(t, dir, "2025.03"); !slices.Equal(got, []string{one.id(), other.id()}) {
		t.Errorf("the version has %q", got)
	}
	if len(c.Left) != 1 || !strings.Contains(c.Left[0].Text, "it is "+one.id()+" of bench 2025.02 by ") {
		t.Errorf("left: %v", c.Left)
	}
}
