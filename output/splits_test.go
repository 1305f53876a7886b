package output

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// TestOnly: the number of functions to write decides, at the bound too, and the dataset that
// was given stays whole.
func TestOnly(t *testing.T) {
	t.Parallel()
	row := func(id string, kind schemas.Kind, l *Library) Located {
		return Located{File: dataPath("test"), Row: Row{InstanceID: id, Benchmint: Extra{Kind: kind, Library: l}}}
	}
	d := &Dataset{Manifest: Manifest{Splits: []Split{{Name: "test", Tasks: 4}}}, Rows: []Located{
		row("small", schemas.KindLibrary, &Library{Masked: Masked{Functions: 900, Taken: LiteFunctions}}), row("large", schemas.KindLibrary, &Library{Masked: Masked{Taken: LiteFunctions + 1}}),
		row("feature", schemas.KindFeature, nil), row("tiny", schemas.KindLibrary, &Library{}),
	}}
	for split, want := range map[string]string{Lite: "small tiny", All: "small large feature tiny", "light": ""} {
		got := d.Only(split)
		var ids []string
		for _, r := range got.Rows {
			ids = append(ids, r.InstanceID)
		}
		if strings.Join(ids, " ") != want || got.Manifest.Splits[0].Tasks != len(ids) {
			t.Errorf("%s: %q, %d tasks, want %q", split, ids, got.Manifest.Splits[0].Tasks, want)
		}
	}
	if len(d.Rows) != 4 || d.Manifest.Splits[0].Tasks != 4 {
		t.Error("the dataset itself was changed")
	}
}
