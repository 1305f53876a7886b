package states_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// The steps from the release to the solution: the mask takes the body of a.py away,
// the test part adds a test, the patch gives the body back.
const (
	derive    = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    raise NotImplementedError\n"
	testPatch = "diff --git a/test_a.py b/test_a.py\nnew file mode 100644\n--- /dev/null\n+++ b/test_a.py\n@@ -0,0 +1 @@\n+assert f() == 1\n"
	patch     = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    raise NotImplementedError\n+    return 1\n"
)

// world is a repository with one tree, and blobs.
type world struct {
	source *tree.Tree
	blobs  map[schemas.Digest]string
}

func (w world) Tree(_ context.Context, repo, id string) (*tree.Tree, error) {
	if repo != "acme/a" || id != w.source.ID() {
		return nil, fmt.Errorf("no tree %s in %s", id, repo)
	}
	return w.source, nil
}

func (w world) Get(d schemas.Digest) ([]byte, error) {
	b, ok := w.blobs[d]
	if !ok {
		return nil, fmt.Errorf("no blob %s", d)
	}
	return []byte(b), nil
}

func (w world) put(s string) schemas.Digest {
	d := schemas.DigestBytes([]byte(s))
	w.blobs[d] = s
	return d
}

func newTree(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for p, data := range files {
		entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)})
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The four trees that starts here are made of.
func trees(t *testing.T) (release, masked, tested, solved *tree.Tree) {
	const body, none, test = "def f():\n    return 1\n", "def f():\n    raise NotImplementedError\n", "assert f() == 1\n"
	return newTree(t, map[string]string{"a.py": body}), newTree(t, map[string]string{"a.py": none}),
		newTree(t, map[string]string{"a.py": none, "test_a.py": test}), newTree(t, map[string]string{"a.py": body, "test_a.py": test})
}

// TestOf: a start whose base is in the repository, one whose base is derived, and one
// whose tests are in its base.
func TestOf(t *testing.T) {
	t.Parallel()
	release, masked, tested, solved := trees(t)
	w := world{blobs: map[schemas.Digest]string{}}
	for _, tc := range []struct {
		name    string
		source  *tree.Tree
		start   schemas.Start
		b, s, g *tree.Tree
	}{
		{
			name: "base_of_the_repository", source: masked, b: masked, s: tested, g: solved,
			start: schemas.Start{TestPatch: w.put(testPatch), Patch: w.put(patch)},
		},
		{
			name: "base_of_the_repository_by_name", source: masked, b: masked, s: tested, g: solved,
			start: schemas.Start{SourceTree: masked.ID(), TestPatch: w.put(testPatch), Patch: w.put(patch)},
		},
		{
			name: "derived_base", source: release, b: masked, s: tested, g: solved,
			start: schemas.Start{SourceTree: release.ID(), Derive: w.put(derive), TestPatch: w.put(testPatch), Patch: w.put(patch)},
		},
		{
			name: "tests_in_the_base", source: release, b: masked, s: masked, g: release,
			start: schemas.Start{SourceTree: release.ID(), Derive: w.put(derive), Patch: w.put(patch)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := tc.start
			s.Repo, s.BaseTree, s.StartTree, s.SolutionTree = "acme/a", tc.b.ID(), tc.s.ID(), tc.g.ID()
			here := world{source: tc.source, blobs: w.blobs}
			got, err := states.Maker{Repos: here, Blobs: here}.Of(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for state, want := range map[schemas.State]*tree.Tree{schemas.StateB: tc.b, schemas.StateS: tc.s, schemas.StateG: tc.g} {
				if diff := cmp.Diff(want.Entries(), got.Tree(state).Entries()); diff != "" {
					t.Errorf("state %s (-want +got):\n%s", state, diff)
				}
			}
			if want := w.blobs[s.TestPatch]; string(got.TestPatch) != want {
				t.Errorf("test patch %q, want %q", got.TestPatch, want)
			}
			if string(got.Patch) != patch {
				t.Errorf("patch %q, want %q", got.Patch, patch)
			}
		})
	}
}

// TestOfOther: a state that is another tree than the start says is an error that names
// the first such state.
func TestOfOther(t *testing.T) {
	t.Parallel()
	release, masked, tested, solved := trees(t)
	for _, tc := range []struct {
		name string
		edit func(*schemas.Start)
		want string
	}{
		{"other_base", func(s *schemas.Start) { s.BaseTree = release.ID() }, "state B: tree is " + masked.ID()},
		{"other_start", func(s *schemas.Start) { s.StartTree = masked.ID() }, "state S: tree is " + tested.ID()},
		{"other_solution", func(s *schemas.Start) { s.SolutionTree = tested.ID() }, "state G: tree is " + solved.ID()},
		{"not_derived", func(s *schemas.Start) { s.Derive = "" }, "applying the gold patch"},
		{"derived_twice", func(s *schemas.Start) { s.Patch = s.Derive }, "applying the gold patch"},
		{"patch_of_the_tests_twice", func(s *schemas.Start) { s.Derive = s.TestPatch }, "applying the test patch"},
		{"derive_that_does_not_fit", func(s *schemas.Start) { s.Derive = s.Patch }, "deriving the base"},
		{"no_source", func(s *schemas.Start) { s.SourceTree = "" }, "reading the base tree: no tree " + masked.ID()},
		{"lost_derive", func(s *schemas.Start) { s.Derive = "sha256:no" }, "no blob sha256:no"},
		{"lost_tests", func(s *schemas.Start) { s.TestPatch = "sha256:no" }, "no blob sha256:no"},
		{"lost_patch", func(s *schemas.Start) { s.Patch = "sha256:no" }, "no blob sha256:no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := world{source: release, blobs: map[schemas.Digest]string{}}
			s := schemas.Start{
				Repo: "acme/a", SourceTree: release.ID(), Derive: w.put(derive), TestPatch: w.put(testPatch), Patch: w.put(patch),
				BaseTree: masked.ID(), StartTree: tested.ID(), SolutionTree: solved.ID(),
			}
			tc.edit(&s)
			if _, err := (states.Maker{Repos: w, Blobs: w}).Of(t.Context(), s); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestFrom: a dataset has the base and the patches themselves.
func TestFrom(t *testing.T) {
	t.Parallel()
	_, masked, tested, solved := trees(t)
	s := schemas.Start{BaseTree: masked.ID(), StartTree: tested.ID(), SolutionTree: solved.ID()}
	got, err := states.From(masked, []byte(testPatch), []byte(patch), s)
	if err != nil || got.B.ID() != masked.ID() || got.S.ID() != tested.ID() || got.G.ID() != solved.ID() {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := states.From(tested, []byte(testPatch), []byte(patch), s); err == nil {
		t.Error("a base that has the tests already makes a start")
	}
}
