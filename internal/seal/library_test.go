package seal

import (
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
)

// TestSearch: what the standard library says as well is no leak, compiled in a build's cache;
// what it does not say is one, beside it.
func TestSearch(t *testing.T) {
	t.Parallel()
	const borrowed, own = "default type does not match variable type", "a widget cannot shrink below the least of its sizes"
	base, err := tree.New([]tree.Entry{{Path: "a.go", Mode: tree.ModeFile, Data: []byte("package widget\n")}})
	if err != nil {
		t.Fatal(err)
	}
	set := func(literal string) *Set {
		return Needles(Task{Base: base, Solution: base, Patch: []byte(added("a.go", 1, "\nfunc fail() { panic(\""+literal+"\") }\n"))})
	}
	with, without := t.TempDir(), t.TempDir()
	putFile(t, filepath.Join(with, "src", "flag", "flag.go"), "package flag\n\nfunc set() { panic(\""+borrowed+"\") }\n")
	putFile(t, filepath.Join(with, "src", "flag", "notes.txt"), own+"\n")
	compiled := func(literal string) Walk { return walkOf(layer{"/opt/env/gocache/09/x-d": "\x00" + literal + "\x00"}) }
	for _, tt := range []struct {
		name, literal, toolchain string
		leaks                    int
	}{{"borrowed", borrowed, with, 0}, {"borrowed_of_another", borrowed, without, 1}, {"own", own, with, 1}} {
		got, err := Search(t.Context(), set(tt.literal), compiled(tt.literal), tt.toolchain)
		if err != nil || len(got.Hits) != tt.leaks {
			t.Errorf("%s: %+v, %v", tt.name, got.Hits, err)
		}
	}
	if _, err := Search(t.Context(), set(own), compiled(own), filepath.Join(with, "none")); err == nil {
		t.Error("no toolchain: nothing is said")
	}
}
