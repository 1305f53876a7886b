package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadList(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []Listed
	}{
		{"by_category", "web: [acme/widget, acme/kit]\n\"command line\": [acme/KIT, acme/box]\n", []Listed{{"acme/widget", "web"}, {"acme/kit", "web"}, {"acme/box", "command line"}}},
		{"json", `{"web": ["acme/widget"]}`, []Listed{{"acme/widget", "web"}}},
		{"one_list", "- acme/widget\n- acme/kit\n", []Listed{{"acme/widget", ""}, {"acme/kit", ""}}},
	} {
		file := filepath.Join(t.TempDir(), "list.yaml")
		if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadList(file)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", tc.name, err, diff)
		}
	}
}

// TestPapersLists: the lists of docs hold the repositories that the papers count, each in a category.
func TestPapersLists(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{"featbench.yaml": 27, "abcbench.yaml": 127} {
		got, err := ReadList(filepath.Join("../../docs/lists", file))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != want || slices.ContainsFunc(got, func(l Listed) bool { return l.Category == "" }) {
			t.Errorf("%s: %d repositories, want %d with a category each", file, len(got), want)
		}
	}
}
