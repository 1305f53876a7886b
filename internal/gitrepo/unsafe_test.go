package gitrepo_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/tree"
)

const plain = `
-- commit: Start --
-- a.py --
x = 1
-- commit: Change (#2) --
-- a.py --
x = 2
`

// TestUnsafeTrees: each ends as an error of its own, and a history that holds all of them is read.
func TestUnsafeTrees(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, plain)
	raw := gitrepotest.NewRaw(t, dir)
	sound := raw.Rows("HEAD")
	good := raw.Tree(sound...)
	trees := raw.UnsafeTrees(sound)
	for name, id := range trees {
		raw.Commit(name, id)
		raw.Commit("back from "+name, good)
	}
	r := open(t, dir)
	for name, id := range trees {
		want := tree.ErrUnsafe
		if name == gitrepotest.Endless {
			want = tree.ErrTooLarge
		}
		if _, err := r.Tree(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := log(t, r, gitrepo.Query{}); len(got) != 2+2*len(trees) {
		t.Errorf("%d changes, want %d", len(got), 2+2*len(trees))
	}
	for _, c := range log(t, r, gitrepo.Query{Only: []string{"2"}}) {
		if len(c.Files) != 1 || c.Files[0].Path != "a.py" {
			t.Errorf("the change beside them: %+v", c.Files)
		}
	}
}

// TestLinksStayLinks: a symlink that leads out of the tree is read as what it says.
func TestLinksStayLinks(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, plain)
	raw := gitrepotest.NewRaw(t, dir)
	id := raw.Tree(append([]gitrepotest.Row{{Mode: "120000", Name: "A", ID: raw.Blob("../../etc/passwd")}}, raw.Rows("HEAD")...)...)
	got, err := open(t, dir).Tree(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := got.Entry("A"); e.Mode != tree.ModeSymlink || string(e.Data) != "../../etc/passwd" || got.ID() != id {
		t.Errorf("%+v, tree %s", e, got.ID())
	}
}

// TestLyingObjects: an entry whose object is of another kind, and an object whose header
// gives another size or kind than it has, are missing; the next question is answered.
func TestLyingObjects(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, plain)
	raw := gitrepotest.NewRaw(t, dir)
	sound := raw.Rows("HEAD")
	blob := raw.Blob("evil\n")
	damaged := raw.Blob("damaged\n")
	path := filepath.Join(dir, ".git", "objects", damaged[:2], damaged[2:])
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, deflated(t, "blob 99\x00damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	for name, row := range map[string]gitrepotest.Row{
		"a file for a folder": {Mode: "40000", Name: "A", ID: blob},
		"a folder for a file": {Mode: "100644", Name: "A", ID: raw.Tree(sound...)},
		"another size":        {Mode: "100644", Name: "A", ID: damaged},
		"not there":           {Mode: "100644", Name: "A", ID: strings.Repeat("1", 40)},
	} {
		id := raw.Tree(append([]gitrepotest.Row{row}, sound...)...)
		if _, err := r.Tree(t.Context(), id); !errors.Is(err, gitrepo.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Tree(t.Context(), "HEAD"); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func deflated(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
