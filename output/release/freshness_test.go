package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

func modelsOf(t testing.TB, text string) modelfile.Models {
	t.Helper()
	name := filepath.Join(t.TempDir(), "models.yaml")
	put(t, name, text)
	all, err := modelfile.Read(name)
	must(t, err)
	return all
}

// TestFreshness: each task has its first public date with where it is from, each model the share after its cut-off, and
// --since-cutoff a configuration with these tasks alone.
func TestFreshness(t *testing.T) {
	t.Parallel()
	models := modelsOf(t, "- {name: Old One, cutoff: 2024-11, source: card}\n- {name: New-2, cutoff: 2025-01-11, source: card}\n- {name: scored, scores: {mmlu: 80}, source: card}\n")
	opened := widget(3, "2025-01-15")
	opened.edit = func(x *output.Task) {
		x.Origin.Change.ReleasedAt = time.Date(2025, 1, 20, 0, 0, 0, 0, time.UTC)
		x.Origin.Change.Pull = &schemas.Pull{OpenedAt: time.Date(2025, 1, 11, 23, 0, 0, 0, time.UTC)}
	}
	tagged := widget(4, "2025-01-16")
	tagged.edit = func(x *output.Task) { // a committer whose clock was ahead
		x.Origin.Change.Release, x.Origin.Change.ReleasedAt = "v2", time.Date(2025, 1, 12, 0, 0, 0, 0, time.UTC)
	}
	dir := filepath.Join(t.TempDir(), "releases")
	o := options(work(t, nil, widget(1, "2024-11-30"), widget(2, "2025-01-12"), opened, tagged), "2025-02-01")
	var err error
	o.CutOffs, err = CutOffs(models, []string{"New-2"})
	must(t, err)
	publish(t, dir, o)
	f := record(t, dir, "2025.02").Freshness
	want := []Dated{{"acme__widget-1", "2024-11-30", "commit"}, {"acme__widget-2", "2025-01-12", "commit"}, {"acme__widget-3", "2025-01-11", "pull_request"}, {"acme__widget-4", "2025-01-12", "release"}}
	if !slices.Equal(f.Tasks, want) {
		t.Errorf("%+v", f.Tasks)
	}
	if len(f.Models) != 2 || f.Models[0].Tasks != 3 || f.Models[0].Share != 0.75 || f.Models[0].Config || f.Models[1].Tasks != 2 || f.Models[1].Share != 0.5 || !f.Models[1].Config {
		t.Errorf("%+v", f.Models)
	}
	d := dataset(t, dir, "2025.02")
	if got := d.ConfigRows("test")["since_new_2"]; !slices.Equal(got, []string{"acme__widget-2", "acme__widget-4"}) || !slices.Contains(d.Configs(), "since_new_2") || slices.Contains(d.Configs(), "since_old_one") {
		t.Errorf("%q, %q", got, d.Configs())
	}
	if _, err := os.Stat(filepath.Join(dir, "2025.02", "data", "since_new_2", "test.parquet")); err != nil {
		t.Error(err)
	}
	card := read(t, filepath.Join(dir, "2025.02", output.CardFile))
	for _, text := range []string{"| New-2 | 2025-01-11 | 2 | 50.0 % | `since_new_2` | card |", "| Old One | 2024-11-30 | 3 | 75.0 % |  | card |", "config_name: since_new_2"} {
		if !strings.Contains(card, text) {
			t.Errorf("the card does not have %q", text)
		}
	}
	corrected(t, dir, Act{IDs: []string{"acme__widget-2"}, Reason: schemas.ForUnfair, Text: "unfair"})
	if f := record(t, dir, "2025.02.1").Freshness; len(f.Tasks) != 3 || f.Models[1].Tasks != 1 {
		t.Errorf("after a correction: %+v", f)
	}
	// What release.json says is held to the rows.
	path := filepath.Join(dir, "2025.02", output.ReleaseFile)
	put(t, path, strings.Replace(read(t, path), `"date": "2024-11-30"`, `"date": "2025-11-30"`, 1))
	if all := findings(t, dir); !slices.ContainsFunc(all, func(f Finding) bool { return strings.Contains(f.Text, "freshness is not that of the rows") }) {
		t.Errorf("%v", all)
	}
}

func TestCutOffs(t *testing.T) {
	t.Parallel()
	models := modelsOf(t, "- {name: alpha-1, cutoff: 2024-11, source: card}\n- {name: alpha 1, cutoff: 2024-11, source: card}\n- {name: scored, scores: {mmlu: 80}, source: card}\n")
	for _, tt := range []struct {
		since []string
		text  string
	}{
		{[]string{"alhpa-1"}, "did you mean alpha-1?"},
		{[]string{"scored"}, "known: alpha-1, alpha 1"},
		{[]string{"alpha-1", "alpha 1"}, "have one configuration, since_alpha_1"},
	} {
		if _, err := CutOffs(models, tt.since); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%q: %v", tt.since, err)
		}
	}
	o := options(work(t, nil, widget(1, "2024-11-30")), "2025-02-01")
	var err error
	o.CutOffs, err = CutOffs(models, []string{"alpha-1"})
	must(t, err)
	if _, err := plan(filepath.Join(t.TempDir(), "releases"), o, true); err == nil || !strings.Contains(err.Error(), "no task was first public after 2024-11-30") {
		t.Errorf("%v", err)
	}
}
