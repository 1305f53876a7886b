package plugins

import (
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/languages"
)

// The table and the plugins are two lists of the same languages.
func TestTableAndPlugins(t *testing.T) {
	t.Parallel()
	var rows, maskers []string
	for _, l := range languages.All() {
		rows = append(rows, l.Name)
	}
	for _, m := range Maskers() {
		maskers = append(maskers, m.Name())
	}
	if d := cmp.Diff(rows, maskers); d != "" {
		t.Errorf("table and maskers (-table +maskers):\n%s", d)
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(languages.Built())), slices.Sorted(maps.Keys(Languages()))); d != "" {
		t.Errorf("table and languages (-table +languages):\n%s", d)
	}
	for name, l := range Languages() {
		if m := l.Masker(); m == nil || m.Name() != name {
			t.Errorf("%s has another masker: %v", name, m)
		}
		row, _ := languages.Find(name)
		for _, ext := range row.Extensions {
			if !l.Source("a" + ext) {
				t.Errorf("%s: *%s is no source file to the plugin", name, ext)
			}
		}
		if l.Source("a") || l.Source("a.txt") {
			t.Errorf("%s: any file is a source file to the plugin", name)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	owner := map[string]string{} // a variable that two rows name would have two meanings
	for _, l := range languages.All() {
		for _, pattern := range l.Own {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("%s: %q: %v", l.Name, pattern, err)
			}
		}
		names := slices.Concat(l.Extensions, l.Registry.Hosts, l.Registry.Variables, l.Registry.Bundle, slices.Collect(maps.Keys(l.Registry.Trust)))
		for _, n := range names {
			if owner[n] != "" {
				t.Errorf("%s and %s both name %q", owner[n], l.Name, n)
			}
			owner[n] = l.Name
		}
	}
}
