package worktree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for p, data := range files {
		file := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	base, err := tree.New([]tree.Entry{{Path: "lib", Mode: tree.ModeModule, Data: []byte("1111111111111111111111111111111111111111")}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := worktree.Read(t.Context(), dir, base)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range got.Entries() {
		out[e.Path] = e.Mode + " " + string(e.Data)
	}
	return out
}

// TestRead: with a repository what git would take, without one all but the folders of tools.
func TestRead(t *testing.T) {
	t.Parallel()
	const module = "160000 1111111111111111111111111111111111111111"
	files := map[string]string{"a.py": "changed\n", "new.py": "new\n", "x.log": "ignored\n", "__pycache__/a.pyc": "compiled", ".venv/x.py": "x"}
	repo := gitrepotest.New(t, "-- commit: One --\ndate: 2024-01-01T00:00:00Z\n-- a.py --\none\n-- gone.py --\ngone\n-- .gitignore --\n*.log\n__pycache__\n.venv\n-- exec: run.sh --\nx\n-- symlink: link --\na.py\n")
	write(t, repo, files)
	if err := os.Remove(filepath.Join(repo, "gone.py")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.py": "100644 changed\n", "new.py": "100644 new\n", ".gitignore": "100644 *.log\n__pycache__\n.venv\n", "run.sh": "100755 x\n", "link": "120000 a.py", "lib": module,
	}
	if diff := cmp.Diff(want, read(t, repo)); diff != "" {
		t.Errorf("a repository:\n%s", diff)
	}
	plain := t.TempDir()
	write(t, plain, files)
	if diff := cmp.Diff(map[string]string{"a.py": "100644 changed\n", "new.py": "100644 new\n", "x.log": "100644 ignored\n", "lib": module}, read(t, plain)); diff != "" {
		t.Errorf("a folder:\n%s", diff)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(plain, "out")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, plain)["out"]; got != "120000 /etc/passwd" {
		t.Errorf("a link out of the folder: %q", got)
	}
}
