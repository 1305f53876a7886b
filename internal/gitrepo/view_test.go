package gitrepo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// TestKilledInAMirror: what a killed fetch left keeps nobody out, and half a new
// mirror is made whole.
func TestKilledInAMirror(t *testing.T) {
	t.Parallel()
	upstream := gitrepotest.New(t, numbers)
	cache := t.TempDir()
	fetch := func() {
		t.Helper()
		r, err := gitrepo.Open(t.Context(), "file://"+upstream, "", cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	fetch()
	mirrors, err := filepath.Glob(filepath.Join(cache, "*.git"))
	if err != nil || len(mirrors) != 1 {
		t.Fatalf("%v, %v", mirrors, err)
	}
	left := []string{"packed-refs.lock", "HEAD.lock", "config.lock", "shallow.lock", "refs/heads/new.lock", "refs/heads/a/b.lock", "objects/pack/tmp_pack_x7", "objects/tmp_objdir-incoming-x/half"}
	for _, name := range left {
		file := filepath.Join(mirrors[0], name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("half"), 0o444)); err != nil {
			t.Fatal(err)
		}
	}
	gitrepotest.Git(t, upstream, "tag", "later") // something to write
	gitrepotest.Git(t, upstream, "branch", "new")
	fetch()
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(mirrors[0], name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Killed in its very first second: a HEAD, and nothing to put objects into.
	for _, name := range []string{"objects", "config", "packed-refs", "refs"} {
		if err := os.RemoveAll(filepath.Join(mirrors[0], name)); err != nil {
			t.Fatal(err)
		}
	}
	fetch()
}

// TestViewsOfTheKilled are swept by the next Open; those in use are not.
func TestViewsOfTheKilled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	source := gitrepotest.New(t, numbers)
	used, err := gitrepo.Open(t.Context(), source, "", "")
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, "benchmint-git-dead")
	fresh := filepath.Join(dir, "benchmint-git-just-being-made")
	for _, d := range []string{dead, fresh} {
		if err := os.MkdirAll(filepath.Join(d, "objects"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dead, "benchmint.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	other, err := gitrepo.Open(t.Context(), source, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("swept while it is being made: %v", err)
	}
	if got := log(t, used, gitrepo.Query{}); len(got) == 0 {
		t.Error("the view in use gives no changes")
	}
	if err := errors.Join(used.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "benchmint-git-") && e.Name() != filepath.Base(fresh) {
			t.Errorf("%s is left after Close", e.Name())
		}
	}
}
