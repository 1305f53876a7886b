package tree_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

const history = `
-- commit: one --
date: 2025-01-01T00:00:00Z

-- keep.txt --
kept
-- dir/a.txt --
one
two
three
-- crlf: win.txt --
first
second
-- base64: logo.png --
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
-- bare: tail --
no newline
-- tool.sh --
echo hi
-- symlink: link --
keep.txt
-- becomes --
a file
-- "caf\xe9 \t\"q\".txt" --
bytes
-- old/deep/only.txt --
gone later
-- submodule: lib --
1111111111111111111111111111111111111111
-- commit: two --
date: 2025-01-02T00:00:00Z

-- dir/a.txt --
one
2
three
four
-- crlf: win.txt --
first
changed
-- base64: logo.png --
iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0k
-- bare: tail --
no newline, longer
-- delete: tool.sh --
-- exec: tool.sh --
echo hi
-- delete: link --
-- symlink: link --
dir/a.txt
-- delete: becomes --
-- becomes/inside.txt --
a directory now
-- rename: "caf\xe9 \t\"q\".txt" -> "na\xefve.txt" --
-- delete: old/deep/only.txt --
-- delete: lib --
-- submodule: lib --
2222222222222222222222222222222222222222
-- empty --
`

// read loads a commit with the git binary, so that the test does not rest on our
// own reader.
func read(t *testing.T, dir, rev string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for row := range strings.SplitSeq(strings.TrimRight(gitrepotest.Git(t, dir, "ls-tree", "-r", "-z", rev), "\x00\n"), "\x00") {
		meta, path, _ := strings.Cut(row, "\t")
		f := strings.Fields(meta)
		e := tree.Entry{Path: path, Mode: f[0], Data: []byte(f[2])}
		if f[1] == "blob" {
			out, err := exec.Command("git", "-C", dir, "cat-file", "blob", f[2]).Output()
			if err != nil {
				t.Fatal(err)
			}
			e.Data = out
		}
		entries = append(entries, e)
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestApplyGivesGitsTree(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, history)
	one, two := read(t, dir, "HEAD^"), read(t, dir, "HEAD")
	if got, want := one.ID(), strings.TrimSpace(gitrepotest.Git(t, dir, "rev-parse", "HEAD^^{tree}")); got != want {
		t.Errorf("ID %s, git says %s", got, want)
	}
	for _, tc := range []struct {
		name     string
		from, to *tree.Tree
		args     []string
	}{
		{"forward", one, two, []string{"HEAD^", "HEAD"}},
		{"backward", two, one, []string{"HEAD", "HEAD^"}},
		{"forward_with_renames", one, two, []string{"-M", "HEAD^", "HEAD"}},
		{"forward_with_copies", one, two, []string{"-C", "--find-copies-harder", "HEAD^", "HEAD"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			patch, err := exec.Command("git", append([]string{"-C", dir, "diff", "--binary", "--full-index"}, tc.args...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := tc.from.Apply(patch)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID() != tc.to.ID() {
				t.Errorf("paths (-want +got):\n%s", cmp.Diff(tc.to.Entries(), got.Entries()))
			}
		})
	}
}

func TestApplyIsStrict(t *testing.T) {
	t.Parallel()
	base, err := tree.New([]tree.Entry{{Path: "a", Mode: tree.ModeFile, Data: []byte("x\ny\nz\n")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, patch string
		want        error
	}{
		{"wrong_context", "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n-Y\n+1\n z\n", tree.ErrConflict},
		{"wrong_offset", "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2,2 +2,2 @@\n x\n-y\n+1\n", tree.ErrConflict},
		{"missing_file", "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n", tree.ErrConflict},
		{"new_file_is_there", "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+y\n", tree.ErrConflict},
		{"delete_leaves_bytes", "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", tree.ErrConflict},
		{"no_patch_at_all", "hello\n", tree.ErrConflict},
		{"leaves_the_tree", "diff --git a/../../etc/passwd b/../../etc/passwd\nnew file mode 100644\n--- /dev/null\n+++ b/../../etc/passwd\n@@ -0,0 +1 @@\n+y\n", tree.ErrUnsafe},
		{"writes_into_git", "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+y\n", tree.ErrUnsafe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if _, err := base.Apply([]byte(tc.patch)); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestNewRefusesUnsafePaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", ".git/config", "sub/.GIT/x", "a\x00b", strings.Repeat("n", 300)} {
		if _, err := tree.New([]tree.Entry{{Path: path, Mode: tree.ModeFile}}); !errors.Is(err, tree.ErrUnsafe) {
			t.Errorf("%q: got %v, want ErrUnsafe", path, err)
		}
	}
	_, err := tree.New([]tree.Entry{{Path: "a", Mode: tree.ModeSymlink, Data: []byte("/etc")}, {Path: "a/passwd", Mode: tree.ModeFile}})
	if !errors.Is(err, tree.ErrUnsafe) {
		t.Errorf("a file below a symlink: got %v, want ErrUnsafe", err)
	}
}

func TestTarRoundTrip(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, history)
	for _, rev := range []string{"HEAD", "HEAD^"} {
		want := read(t, dir, rev)
		var one, two bytes.Buffer
		if err := errors.Join(want.WriteTar(&one), want.WriteTar(&two)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Error("two archives of one tree differ")
		}
		got, err := tree.ReadTar(&one, "")
		if err != nil {
			t.Fatal(err)
		}
		if got.ID() != want.ID() {
			t.Errorf("%s (-want +got):\n%s", rev, cmp.Diff(want.Entries(), got.Entries()))
		}
	}
}

// apply carries Changes out on a plain map, as a sandbox would on its disk.
func apply(files map[string]string, changes []sandbox.File) {
	for _, c := range changes {
		if c.Delete {
			for p := range files {
				if p == c.Path || strings.HasPrefix(p, c.Path+"/") {
					delete(files, p)
				}
			}
			continue
		}
		files[c.Path] = c.Mode.String() + string(c.Data)
	}
}

func TestChangesTurnOneTreeIntoAnother(t *testing.T) {
	t.Parallel()
	genTree := rapid.Custom(func(t *rapid.T) *tree.Tree {
		paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab](/[ab]){0,2}`), 0, 6, func(s string) string { return s }).Draw(t, "paths")
		var entries []tree.Entry
		for _, p := range paths {
			entries = append(entries, tree.Entry{
				Path: p, Mode: rapid.SampledFrom([]string{tree.ModeFile, tree.ModeExec, tree.ModeSymlink}).Draw(t, "mode"),
				Data: []byte(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "data")),
			})
		}
		tr, err := tree.New(entries)
		if err != nil {
			t.Skip("a file and a directory of one name")
		}
		return tr
	})
	rapid.Check(t, func(t *rapid.T) {
		from, to := genTree.Draw(t, "from"), genTree.Draw(t, "to")
		got, want := map[string]string{}, map[string]string{}
		apply(got, from.Files(time.Unix(1, 0)))
		apply(got, from.Changes(to, time.Unix(2, 0)))
		apply(want, to.Files(time.Unix(2, 0)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestShared: several trees in one archive read as each by itself, and a file that they share is
// in it once.
func TestShared(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	make := func(more ...tree.Entry) *tree.Tree {
		out, err := tree.New(append(more,
			tree.Entry{Path: "big", Mode: tree.ModeFile, Data: noise}, tree.Entry{Path: "run", Mode: tree.ModeExec, Data: noise},
			tree.Entry{Path: "empty", Mode: tree.ModeFile}, tree.Entry{Path: "link", Mode: tree.ModeSymlink, Data: []byte("big")},
			tree.Entry{Path: "sub", Mode: tree.ModeModule, Data: []byte(strings.Repeat("a", 40))}))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	trees := []*tree.Tree{make(), make(tree.Entry{Path: "a/b", Mode: "100664", Data: []byte("x")}), make(tree.Entry{Path: "copy", Mode: tree.ModeFile, Data: noise})}
	var b, again bytes.Buffer
	if err := errors.Join(tree.WriteTars(&b, trees), tree.WriteTars(&again, []*tree.Tree{trees[2], trees[0], trees[1], trees[0]})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("another order gives other bytes")
	}
	if b.Len() > 3*len(noise) {
		t.Errorf("%d bytes for two contents of %d", b.Len(), len(noise))
	}
	for _, want := range trees {
		got, err := tree.ReadTar(bytes.NewReader(b.Bytes()), want.ID())
		if err != nil || got.ID() != want.ID() {
			t.Errorf("%v, %v", got, err)
		}
	}
	var bad bytes.Buffer
	tw := tar.NewWriter(&bad)
	if err := errors.Join(tw.WriteHeader(&tar.Header{Name: "x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), tw.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.ReadTar(&bad, ""); err == nil || !strings.Contains(err.Error(), "not before it") {
		t.Errorf("a link out of the archive: %v", err)
	}
}
