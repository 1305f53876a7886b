package gitrepo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/tree"
)

func TestDiffApplies(t *testing.T) {
	t.Parallel()
	for name, history := range map[string]string{"rows": rows, "attributed": attributed, "numbers": numbers} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, gitrepotest.New(t, history))
			for _, c := range log(t, r, gitrepo.Query{}) {
				base, err := r.Tree(t.Context(), c.BaseTree)
				if err != nil {
					t.Fatal(err)
				}
				for _, to := range []string{c.Tree, c.BaseTree} {
					patch, err := r.Diff(t.Context(), c.BaseTree, to)
					if err != nil {
						t.Fatal(err)
					}
					after, err := base.Apply(patch)
					if err != nil {
						t.Fatalf("%s: %v\n%s", c.Subject, err, patch)
					}
					if after.ID() != to {
						t.Errorf("%s: base + patch = %s, want %s", c.Subject, after.ID(), to)
					}
				}
			}
		})
	}
}

func TestGraft(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, rows))
	c := log(t, r, gitrepo.Query{})[0]
	for _, tc := range []struct {
		name  string
		edits []gitrepo.Edit
		want  map[string]string // path → content, "" for absent
	}{
		{"nothing", nil, map[string]string{"keep.txt": "1\n2\nthree\n4\n5\n6\n"}},
		{"write_deep", []gitrepo.Edit{{Path: "a/b/c", Mode: tree.ModeFile, Data: []byte("x")}}, map[string]string{"a/b/c": "x", "mode.sh": "x\n"}},
		{"remove_last_of_folder", []gitrepo.Edit{{Path: "naïve/ünïcode.txt"}}, map[string]string{"naïve/ünïcode.txt": ""}},
		{"file_becomes_folder", []gitrepo.Edit{{Path: "mode.sh"}, {Path: "mode.sh/x", Mode: tree.ModeExec, Data: []byte("y")}}, map[string]string{"mode.sh/x": "y", "mode.sh": ""}},
		{"folder_becomes_file", []gitrepo.Edit{{Path: "naïve/ünïcode.txt"}, {Path: "naïve", Mode: tree.ModeFile, Data: []byte("z")}}, map[string]string{"naïve": "z"}},
		{"remove_what_is_not_there", []gitrepo.Edit{{Path: "no/such"}}, map[string]string{"no/such": ""}},
		{"sorts_as_git_does", []gitrepo.Edit{{Path: "keep/x", Mode: tree.ModeFile, Data: []byte("1")}, {Path: "keep-x", Mode: tree.ModeFile, Data: []byte("2")}}, map[string]string{"keep/x": "1", "keep-x": "2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id, err := r.Graft(t.Context(), c.Tree, tc.edits)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Tree(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID() != id { // tree computes IDs by itself
				t.Errorf("grafted tree %s reads as %s", id, got.ID())
			}
			for path, want := range tc.want {
				data, err := got.Read(path)
				if want == "" && err == nil {
					t.Errorf("%s is still there", path)
				} else if want != "" && string(data) != want {
					t.Errorf("%s holds %q (%v), want %q", path, data, err, want)
				}
			}
		})
	}
	if id, err := r.Graft(t.Context(), gitrepo.EmptyTree, nil); err != nil || id != gitrepo.EmptyTree {
		t.Errorf("nothing on nothing is %s, %v", id, err)
	}
}

// TestMissingObjects breaks one blob and one tree: each costs what needs it.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, `
-- commit: Start --
-- a.txt --
a
-- commit: Brings it --
-- b.txt --
needed
-- commit: Takes it away --
-- delete: b.txt --
-- commit: Unharmed --
-- a.txt --
b
-- commit: Deep --
-- deep/x --
x
-- commit: Deep again --
-- deep/x --
y
-- commit: Last --
-- a.txt --
c
`)
	lost := []string{gitrepotest.Git(t, dir, "rev-parse", "HEAD~5:b.txt"), gitrepotest.Git(t, dir, "rev-parse", "HEAD~2:deep")}
	loosen(t, dir)
	for _, id := range lost {
		if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, dir)
	got := map[string]string{}
	for _, c := range log(t, r, gitrepo.Query{}) {
		state := "whole"
		if len(c.Files) == 0 {
			state = "no files"
		} else if c.Files[0].Added < 0 {
			state = "not counted"
		}
		if _, err := r.Tree(t.Context(), c.Tree); err != nil {
			if !errors.Is(err, gitrepo.ErrMissing) {
				t.Errorf("%s: tree: %v", c.Subject, err)
			}
			state += ", tree missing"
		}
		if _, err := r.Diff(t.Context(), c.BaseTree, c.Tree); err != nil {
			if !errors.Is(err, gitrepo.ErrMissing) {
				t.Errorf("%s: diff: %v", c.Subject, err)
			}
			state += ", diff missing"
		}
		got[c.Subject] = state
	}
	want := map[string]string{
		"Start": "whole", "Brings it": "not counted, tree missing, diff missing", "Takes it away": "not counted, diff missing", "Unharmed": "whole",
		"Deep": "no files, tree missing, diff missing", "Deep again": "no files, diff missing", "Last": "whole",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// loosen unpacks all objects, so that single ones can be taken away.
func loosen(t *testing.T, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %v, %v", packs, err)
	}
	away := filepath.Join(t.TempDir(), "pack")
	if err := os.Rename(packs[0], away); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(strings.TrimSuffix(packs[0], ".pack") + ".idx"); err != nil {
		t.Fatal(err)
	}
	gitrepotest.Git(t, dir, "-c", "alias.load=!git unpack-objects -q < "+away, "load")
}

func TestDamagedObjectIsMissing(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, dates)
	id := gitrepotest.Git(t, dir, "rev-parse", "HEAD:a")
	loosen(t, dir)
	path := filepath.Join(dir, ".git", "objects", id[:2], id[2:])
	if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, []byte("rubbish"), 0o644)); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	changes := log(t, r, gitrepo.Query{})
	if len(changes) != 6 || changes[0].Files[0].Added != -1 || changes[1].Files[0].Added != 1 {
		t.Errorf("%d changes, newest %+v, next %+v", len(changes), changes[0].Files, changes[1].Files)
	}
	if _, err := r.Blob(t.Context(), id); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a damaged blob gives %v", err)
	}
	if b, err := r.Blob(t.Context(), changes[1].Files[0].NewBlob); err != nil || string(b) != "4\n" {
		t.Errorf("the blob after a damaged one is %q, %v", b, err)
	}
}

func TestTreeRefusesHostilePaths(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, "-- commit: Evil --\n-- \"../evil\" --\nx\n"))
	if _, err := r.Tree(t.Context(), r.Info().Head); !errors.Is(err, tree.ErrUnsafe) {
		t.Errorf("a tree with ../evil gives %v, want %v", err, tree.ErrUnsafe)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, `
-- commit: Start --
-- a --
0
-- commit: Release --
-- a --
1
-- tag: v1.0-rc-2 --
-- commit: After --
-- a --
2
-- tag: nightly --
-- branch: maintenance --
-- commit: Off the line --
-- b --
2
-- tag: v9.0 --
Annotated.
-- branch: main --
-- commit: More --
-- a --
3
-- commit: Takes it in --
merge: maintenance
`))
	got := map[string]string{}
	for _, c := range log(t, r, gitrepo.Query{}) {
		v, err := r.Describe(t.Context(), c.Commit)
		if err != nil {
			t.Fatal(err)
		}
		if v.Commit == "" || !strings.HasPrefix(c.Commit, v.Commit) {
			t.Errorf("%s: commit %q of %s", c.Subject, v.Commit, c.Commit)
		}
		got[c.Subject] = v.Tag + " " + string(rune('0'+v.Distance))
	}
	want := map[string]string{"Start": " 0", "Release": "v1.0-rc-2 0", "After": "v1.0-rc-2 1", "More": "v1.0-rc-2 2", "Takes it in": "v9.0 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDescribeFails: that git could not look is not that there is no tag: the project
// would be told another version than on the next try.
func TestDescribeFails(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, "-- commit: Start --\n-- a --\n0\n-- tag: v1.0 --\n"))
	if v, err := r.Describe(t.Context(), strings.Repeat("01", 20)); err == nil {
		t.Errorf("of a commit that is not there: %+v", v)
	}
}

func TestCancelledQuestionHarmsNoOther(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, dates))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Tree(cancelled, r.Info().Head); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question gives %v", err)
	}
	if _, err := r.Tree(t.Context(), r.Info().Head); err != nil {
		t.Errorf("the question after a cancelled one: %v", err)
	}
}
