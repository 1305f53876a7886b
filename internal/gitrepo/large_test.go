package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/tree"
)

// TestHugeBlob: a blob that is larger than is read is asked for its size only, by every
// way that leads to it; what is beside it is read.
func TestHugeBlob(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	dir := gitrepotest.New(t, "-- commit: Start --\n-- a --\n0\n")
	huge := filepath.Join(t.TempDir(), "huge")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, tree.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	blob := gitrepotest.Git(t, dir, "hash-object", "-w", huge)
	small := gitrepotest.Git(t, dir, "rev-parse", "HEAD:a")
	before := gitrepotest.Git(t, dir, "rev-parse", "HEAD^{tree}")
	after := mktree(t, dir, fmt.Sprintf("100644 blob %s\ta\n100644 blob %s\thuge\n", small, blob))
	r := open(t, dir)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	_, treeErr := r.Tree(t.Context(), after)
	_, blobErr := r.Blob(t.Context(), blob)
	_, diffErr := r.Diff(t.Context(), before, after)
	_, hunksErr := r.Hunks(t.Context(), before, after)
	for name, err := range map[string]error{"tree": treeErr, "blob": blobErr, "diff": diffErr, "hunks": hunksErr} {
		if !errors.Is(err, tree.ErrTooLarge) {
			t.Errorf("%s: %v, want that it is too large", name, err)
		}
	}
	if treeErr != nil && !strings.Contains(treeErr.Error(), "huge: ") {
		t.Errorf("%v does not name the file", treeErr)
	}
	files, err := r.Files(t.Context(), before, after)
	if err != nil || len(files) != 1 || files[0].Path != "huge" || files[0].Added != -1 {
		t.Errorf("files: %+v, %v", files, err)
	}
	runtime.ReadMemStats(&end)
	if took := end.TotalAlloc - start.TotalAlloc; took > 32<<20 {
		t.Errorf("%d MiB were taken for one that is not read", took>>20)
	}
	if got, err := r.Blob(t.Context(), small); err != nil || string(got) != "0\n" {
		t.Errorf("the one beside it: %q, %v", got, err)
	}
	if _, err := r.Tree(t.Context(), before); err != nil {
		t.Errorf("the tree before it: %v", err)
	}
}

// TestTreeBomb: a few objects stand for ten billion files.
func TestTreeBomb(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, "-- commit: Start --\n-- a --\n0\n")
	before := gitrepotest.Git(t, dir, "rev-parse", "HEAD^{tree}")
	id, kind := gitrepotest.Git(t, dir, "rev-parse", "HEAD:a"), "100644 blob"
	for range 10 {
		var rows strings.Builder
		for i := range 10 {
			fmt.Fprintf(&rows, "%s %s\t%d\n", kind, id, i)
		}
		id, kind = mktree(t, dir, rows.String()), "040000 tree"
	}
	r := open(t, dir)
	_, treeErr := r.Tree(t.Context(), id)
	_, diffErr := r.Diff(t.Context(), before, id)
	_, pathsErr := r.Paths(t.Context(), id)
	for name, err := range map[string]error{"tree": treeErr, "diff": diffErr, "paths": pathsErr} {
		if !errors.Is(err, tree.ErrTooLarge) {
			t.Errorf("%s: %v, want that it is too large", name, err)
		}
	}
	if files, err := r.Files(t.Context(), before, id); err != nil || len(files) > 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if files, err := r.Raw(t.Context(), before, id); err != nil || len(files) > 0 {
		t.Errorf("raw: %d files, %v", len(files), err)
	}
	if _, err := r.Tree(t.Context(), before); err != nil {
		t.Errorf("the tree before it: %v", err)
	}
}

// TestPullBomb: a pull request whose head is such a tree is compared with commits that have
// no number, and is none of them.
func TestPullBomb(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, "-- commit: Start --\n-- a --\n0\n-- commit: Change --\n-- a --\n1\n")
	raw := gitrepotest.NewRaw(t, dir)
	main := gitrepotest.Git(t, dir, "rev-parse", "HEAD")
	bomb := raw.Commit("Bomb", raw.UnsafeTrees(raw.Rows("HEAD"))[gitrepotest.Endless])
	gitrepotest.Git(t, dir, "update-ref", "refs/pull/7/head", bomb)
	gitrepotest.Git(t, dir, "update-ref", "HEAD", main)
	got := log(t, open(t, dir), gitrepo.Query{})
	if len(got) != 2 || got[0].Subject != "Change" || got[0].Number != 0 {
		t.Errorf("%+v", got)
	}
}

// mktree makes a tree object of git's lines.
func mktree(t *testing.T, dir, rows string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return gitrepotest.Git(t, dir, "-c", "alias.make=!git mktree < "+file, "make")
}
