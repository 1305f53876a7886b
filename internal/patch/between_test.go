package patch_test

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

func treeOf(t *testing.T, entries ...tree.Entry) *tree.Tree {
	t.Helper()
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBetween: the patch makes the other tree, by the strict reader and by git apply.
func TestBetween(t *testing.T) {
	t.Parallel()
	file := func(path, data string) tree.Entry {
		return tree.Entry{Path: path, Mode: tree.ModeFile, Data: []byte(data)}
	}
	before := treeOf(t, file("a/same.py", "x\n"), file("a/changed.py", "1\n2\n3\n"), file("a/no newline", "x"), file("gone", "y\n"), file("becomes", "z\n"),
		file("mode.sh", "#!/bin/sh\n"), tree.Entry{Path: "link", Mode: tree.ModeSymlink, Data: []byte("gone")})
	after := treeOf(t, file("a/same.py", "x\n"), file("a/changed.py", "1\n3\nB\n"), file("a/no newline", "x\n"), file("new/ö \"q\".py", "n\n"), file("becomes/a.py", "z\n"),
		file("empty", ""), file("bin", "\x00\x01\xff"), tree.Entry{Path: "mode.sh", Mode: tree.ModeExec, Data: []byte("#!/bin/sh\n")},
		tree.Entry{Path: "link", Mode: tree.ModeSymlink, Data: []byte("empty")})
	for _, x := range []struct{ from, to *tree.Tree }{{before, after}, {after, before}} {
		got, err := patch.Between(t.Context(), x.from, x.to)
		if err != nil {
			t.Fatal(err)
		}
		made, exact, err := patch.Apply(t.Context(), x.from, got)
		if err != nil || !exact || made.ID() != x.to.ID() {
			t.Errorf("exact %t, error %v, of\n%s", exact, err, got)
		}
		if strings.Contains(string(got), "same.py") {
			t.Errorf("a file that is the same is in\n%s", got)
		}
	}
	if got, err := patch.Between(t.Context(), before, before); err != nil || got != nil {
		t.Errorf("between equal trees: %q, %v", got, err)
	}
}
