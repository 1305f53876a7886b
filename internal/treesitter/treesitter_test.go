package treesitter_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/treesitter"
	"github.com/benchmint/benchmint/internal/treesitter/treetest"
)

// constructs are the sources of the masks' tests: in them is each construct of each language.
func constructs(t testing.TB) []txtar.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "lang", "*", "testdata", "mask", "*.txtar"))
	if err != nil || len(names) < 50 {
		t.Fatalf("%d files of constructs: %v", len(names), err)
	}
	var all []txtar.File
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if treetest.LanguageOf(f.Name) != "" {
				all = append(all, txtar.File{Name: name + "/" + f.Name, Data: f.Data})
			}
		}
	}
	return all
}

// TestTrees: each node is that of tree-sitter's own runtime, in sources without and with
// syntax errors.
func TestTrees(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range constructs(t) {
		l := treetest.LanguageOf(f.Name)
		seen[l] = true
		marked := append([]byte("\ufeff"), f.Data...)
		for i, source := range append(treetest.Damaged(f.Data, 20, 1), f.Data, marked) {
			if err := treetest.Compare(l, source); err != nil {
				t.Errorf("%s, %d: %v", f.Name, i, err)
			}
		}
	}
	for _, l := range treetest.Languages() {
		if !seen[l] {
			t.Errorf("no source in %s", l)
		}
	}
}

// TestScannerGivesUp: a heredoc's word of 256 bytes is written down as one of none, and the
// scanner sees that its state does not add up. One of 255 is read.
func TestScannerGivesUp(t *testing.T) {
	t.Parallel()
	ruby := treesitter.Of("ruby")
	for _, word := range []int{255, 256, 300, 255} {
		quoted := strings.Repeat("w", word)
		_, err := ruby.Parse(fmt.Appendf(nil, "a = <<'%s'\n  text\n%[1]s\nb = 1\n", quoted), treesitter.Extent{}, time.Minute)
		if gaveUp := errors.Is(err, treesitter.ErrGivenUp); gaveUp != (word > 255) || !gaveUp && err != nil {
			t.Errorf("a word of %d bytes: %v", word, err)
		}
	}
}

// FuzzTrees: the same of anything.
func FuzzTrees(f *testing.F) {
	all := treetest.Languages()
	for _, c := range constructs(f) {
		f.Add(uint8(slices.Index(all, treetest.LanguageOf(c.Name))), c.Data)
	}
	f.Fuzz(func(t *testing.T, language uint8, source []byte) {
		l := all[int(language)%len(all)]
		if err := treetest.Compare(l, source); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	})
}
