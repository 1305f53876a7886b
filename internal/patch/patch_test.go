package patch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

func base(t *testing.T) *tree.Tree {
	t.Helper()
	out, err := tree.New([]tree.Entry{
		{Path: "a.py", Mode: tree.ModeFile, Data: []byte("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")},
		{Path: "crlf.txt", Mode: tree.ModeFile, Data: []byte("one\r\ntwo\r\nthree\r\n")},
		{Path: "run.sh", Mode: tree.ModeFile, Data: []byte("#!/bin/sh\n")},
		{Path: "sub/link", Mode: tree.ModeSymlink, Data: []byte("../a.py")},
		{Path: "vendor", Mode: tree.ModeModule, Data: []byte(strings.Repeat("1", 40))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestApply: what git applies is applied as git does it, and what it refuses is a conflict.
func TestApply(t *testing.T) {
	t.Parallel()
	const head = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
	for _, tc := range []struct {
		name, patch string
		exact       bool
		path, want  string // "" for a path that is gone
		mode        string
		conflict    bool
	}{
		{name: "exact", patch: head + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", exact: true, path: "a.py", want: "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n", mode: tree.ModeFile},
		{name: "offset", patch: head + "@@ -21,3 +21,3 @@\n five\n-six\n+6\n seven\n", path: "a.py", want: "one\ntwo\nthree\nfour\nfive\n6\nseven\neight\n", mode: tree.ModeFile},
		{name: "no_fuzz", patch: head + "@@ -5,3 +5,3 @@\n other\n-six\n+6\n seven\n", conflict: true},
		{name: "crlf_offset", patch: "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -5,3 +5,3 @@\n one\r\n-two\r\n+2\r\n three\r\n", path: "crlf.txt", want: "one\r\n2\r\nthree\r\n", mode: tree.ModeFile},
		{name: "crlf_against_lf", patch: "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", conflict: true},
		{name: "rename_offset", patch: "diff --git a/a.py b/b.py\nsimilarity index 80%\nrename from a.py\nrename to b.py\n--- a/a.py\n+++ b/b.py\n@@ -21,3 +21,3 @@\n five\n-six\n+6\n seven\n", path: "b.py", want: "one\ntwo\nthree\nfour\nfive\n6\nseven\neight\n", mode: tree.ModeFile},
		{name: "mode", patch: "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", exact: true, path: "run.sh", want: "#!/bin/sh\n", mode: tree.ModeExec},
		{name: "out_of_the_tree", patch: "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", conflict: true},
		{name: "through_a_link", patch: "diff --git a/sub/link/x b/sub/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/sub/link/x\n@@ -0,0 +1 @@\n+x\n", conflict: true},
		{name: "not_a_patch", patch: "I have fixed it.\n", conflict: true},
		{name: "cut", patch: head + "@@ -1,3 +1,3 @@\n one\n-two\n", conflict: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			before := base(t)
			after, exact, err := patch.Apply(t.Context(), before, []byte(tc.patch))
			if tc.conflict {
				if !errors.Is(err, patch.ErrConflict) && !errors.Is(err, tree.ErrUnsafe) {
					t.Fatalf("error %v, want a conflict", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e, ok := after.Entry(tc.path)
			if !ok || string(e.Data) != tc.want || e.Mode != tc.mode || exact != tc.exact {
				t.Errorf("exact %v, mode %s, %q", exact, e.Mode, e.Data)
			}
			if e, _ := after.Entry("vendor"); e.Mode != tree.ModeModule {
				t.Error("the submodule is gone")
			}
		})
	}
}

// TestApplyKeepsToItsFolder: a tree with a link out of it cannot be written through.
func TestApplyKeepsToItsFolder(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(outside, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := tree.New([]tree.Entry{{Path: "link", Mode: tree.ModeSymlink, Data: []byte(outside)}})
	if err != nil {
		t.Fatal(err)
	}
	if after, _, err := patch.Apply(t.Context(), before, []byte("--- a/link\n+++ b/link\n@@ -8,2 +8,2 @@\n one\n-two\n+2\n")); err == nil {
		t.Errorf("applied: %v", after.Paths())
	}
	if b, _ := os.ReadFile(outside); string(b) != "one\ntwo\n" {
		t.Errorf("the file outside is %q", b)
	}
}
