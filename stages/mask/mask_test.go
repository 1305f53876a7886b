package mask_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	masks "github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/mask"
)

// one answers for a repository by whatever name.
type one struct{ *gitrepo.Repo }

func (o one) Files(ctx context.Context, _, from, to string) ([]schemas.ChangedFile, error) {
	return o.Repo.Files(ctx, from, to)
}
func (o one) Tree(ctx context.Context, _, id string) (*tree.Tree, error) { return o.Repo.Tree(ctx, id) }
func (o one) Graft(ctx context.Context, _, base string, edits []gitrepo.Edit) (string, error) {
	return o.Repo.Graft(ctx, base, edits)
}
func (o one) Diff(ctx context.Context, _, from, to string) ([]byte, error) {
	return o.Repo.Diff(ctx, from, to)
}
func (o one) Hunks(ctx context.Context, _, from, to string) ([]byte, error) {
	return o.Repo.Hunks(ctx, from, to)
}

// run masks the newest commit of a history. What it opened is closed before it returns: a
// start must be made again without it.
func run(t *testing.T, dir string, c mask.Config) (schemas.Start, *blob.Store, error) {
	t.Helper()
	return runAs(t, dir, "strict", c)
}

func runAs(t *testing.T, dir, profile string, c mask.Config) (schemas.Start, *blob.Store, error) {
	t.Helper()
	return runSlice(t, dir, profile, nil, c)
}

func runSlice(t *testing.T, dir, profile string, slice *schemas.Slice, c mask.Config) (schemas.Start, *blob.Store, error) {
	t.Helper()
	repo := open(t, dir)
	defer repo.Close()
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mask.New(one{repo}, blobs, plugins.Languages(), plugins.Maskers(), nil, c)
	if err != nil {
		t.Fatal(err)
	}
	info := repo.Info()
	cut := schemas.Cut{Repo: info.Name, RepoRoot: info.Root, Profile: profile, Slice: slice, Release: schemas.Release{Tag: "v1.0", Version: "1.0", Commit: info.Head}}
	start, err := m.Run(t.Context(), cut)
	return start, blobs, err
}

func open(t *testing.T, dir string) *gitrepo.Repo {
	t.Helper()
	repo, err := gitrepo.Open(t.Context(), dir, "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

const python = `-- commit: Release --
-- README.md --
# Widget
-- docs/conf.py --
def setup(app):
    app.add("x")
-- src/widget/__init__.py --
"""A widget."""


def loaded():
    return 1


VALUE = loaded()


def area(a, b):
    """Give the area."""
    c = a * b
    if c < 0:
        c = 0
    return c
-- tests/helpers.py --
def shape():
    return 2, 3
-- tests/test_widget.py --
from widget import area


def test_area():
    assert area(2, 3) == 6
`

// TestRun masks the code part alone, and its patches make the states without the repository
// that was open then.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, python)
	start, blobs, err := run(t, dir, mask.Default())
	if err != nil {
		t.Fatal(err)
	}
	if start.ID() != "acme__widget-v1.0.library" || start.Kind != schemas.KindLibrary || start.Language != "python" || start.TestPatch != "" || start.BaseTree != start.StartTree {
		t.Errorf("%+v", start)
	}
	if diff := cmp.Diff([]string{"src/widget/__init__.py"}, start.Paths(schemas.PartCode)); diff != "" || len(start.Files) != 1 {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := schemas.Masked{Manifest: start.Masked.Manifest, Profile: "strict", Functions: 2, Taken: 1, Kept: map[string]int{"loaded": 1}, Lines: 5, Left: 1, Difficulty: &schemas.Difficulty{Lines: 4, Branches: 1, Depth: 1}}
	if diff := cmp.Diff(&want, start.Masked); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
	raw, err := blobs.Get(start.Masked.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	var manifest masks.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil || strings.Contains(string(raw), "tests/") || strings.Contains(string(raw), "c = a * b") {
		t.Errorf("the manifest is not that of the code part, or holds code: %v\n%s", err, raw)
	}
	again := open(t, dir)
	defer again.Close()
	trees, err := states.Maker{Repos: one{again}, Blobs: blobs}.Of(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	base, _ := trees.B.Read("src/widget/__init__.py")
	if !strings.Contains(string(base), "masked: area") || strings.Contains(string(base), "a * b") || !strings.Contains(string(base), "return 1") {
		t.Errorf("the starter:\n%s", base)
	}
	for _, p := range []string{"docs/conf.py", "tests/helpers.py", "tests/test_widget.py"} {
		b, _ := trees.B.Entry(p)
		g, _ := trees.G.Entry(p)
		if diff := cmp.Diff(g, b); diff != "" {
			t.Errorf("%s (-release +starter):\n%s", p, diff)
		}
	}
}

// TestProfiles: under the profiles of Commit0 a package's __init__ stays whole, and its lines count
// as left; tests stay whatever the profile.
func TestProfiles(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, python+"-- src/widget/more.py --\ndef told():\n    \"\"\"Give 1.\"\"\"\n    x = 1\n    return x\n\n\ndef untold():\n    return 2\n")
	loose := mask.Default()
	loose.MaxLinesLeft = 1
	for profile, want := range map[string]schemas.Masked{
		"strict":            {Functions: 4, Taken: 3, Kept: map[string]int{"loaded": 1}, Lines: 8, Left: 1},
		"commit0-all":       {Functions: 4, Taken: 2, Kept: map[string]int{"profile": 2}, Lines: 8, Left: 5},
		"commit0-docstring": {Functions: 4, Taken: 1, Kept: map[string]int{"profile": 3}, Lines: 8, Left: 6},
		"commit0-combined":  {Functions: 4, Taken: 2, Kept: map[string]int{"profile": 2}, Lines: 8, Left: 5},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			start, _, err := runAs(t, dir, profile, loose)
			if err != nil {
				t.Fatal(err)
			}
			want.Profile, want.Manifest, want.Difficulty = profile, start.Masked.Manifest, start.Masked.Difficulty
			if diff := cmp.Diff(&want, start.Masked); diff != "" || start.Masked.Difficulty.Lines != want.Lines-want.Left {
				t.Errorf("masked, %d lines (-want +got):\n%s", start.Masked.Difficulty.Lines, diff)
			}
			if got := len(start.Files); got > 2 || slices.Contains(start.Paths(schemas.PartCode), "tests/helpers.py") {
				t.Errorf("files %+v", start.Files)
			}
		})
	}
}

// TestCopies: a document with copies of bodies is in no state, and what the build or the tests need stays; both are
// named. The bodies of a slice are those of the slice.
func TestCopies(t *testing.T) {
	t.Parallel()
	const body = "    scaled = [value * factor for value in values if value > least]\n    for found in scaled:\n        report(found, limit=factor, least=least)\n    return sorted(scaled, key=abs)\n"
	dir := gitrepotest.New(t, "-- commit: Release --\n-- pyproject.toml --\n[project]\nname = \"widget\"\nreadme = \"README.md\"\n-- README.md --\n"+body+"-- docs/use.md --\nscale()\n-- docs/copied.rst --\n"+body+
		"-- notes/changes.patch --\n+"+strings.ReplaceAll(body, "\n", "\n+")+"\n-- widget/data/copy.txt --\n"+body+
		"-- tests/test_widget.py --\nfrom widget import scale\n\n\ndef copied(values, factor, least):\n"+body+"-- widget/__init__.py --\ndef scale(values, factor, least):\n"+body+"\n\ndef other(a):\n    return a\n")
	start, blobs, err := run(t, dir, mask.Default())
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.BodyCopy{
		{Path: "README.md", Stays: true}, {Path: "docs/copied.rst"}, {Path: "notes/changes.patch"}, {Path: "tests/test_widget.py", Stays: true}, {Path: "widget/data/copy.txt", Stays: true},
	}
	if diff := cmp.Diff(want, start.Masked.Copies); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	repo := open(t, dir)
	defer repo.Close()
	trees, err := states.Maker{Repos: one{repo}, Blobs: blobs}.Of(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []*tree.Tree{trees.B, trees.S, trees.G} {
		if state.Has("docs/copied.rst") || state.Has("notes/changes.patch") || !state.Has("docs/use.md") || !state.Has("README.md") {
			t.Errorf("%q", state.Paths())
		}
	}
	if diff := cmp.Diff([]string{"widget/__init__.py"}, start.Paths(schemas.PartCode)); diff != "" || strings.Contains(string(trees.Patch), "copied.rst") {
		t.Errorf("the patch is more than the code:\n%s\n%s", diff, trees.Patch)
	}
	start, _, err = runSlice(t, dir, "strict", &schemas.Slice{Function: "widget/__init__.py::other", Name: "other"}, mask.Default())
	if err != nil || start.Masked.Copies != nil {
		t.Errorf("of another function: %v, %v", start.Masked, err)
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	half := mask.Default()
	half.MaxLinesLeft = 0.1
	for name, c := range map[string]struct {
		tree   string
		config mask.Config
		want   schemas.Reason
	}{
		"other_language": {"-- a.rb --\ndef f\n  1\nend\n-- tests/test_a.py --\ndef test_a(): pass\n", mask.Default(), schemas.MixedSource},
		"mixed":          {"-- a.py --\ndef f():\n    return 2\n-- b.rb --\ndef f\n  1\nend\ndef g\n  1\nend\n-- tests/test_a.py --\ndef test_a(): pass\n", mask.Default(), schemas.MixedSource},
		"no_tests":       {"-- a.py --\ndef f():\n    return 2\n", mask.Default(), schemas.NoSuite},
		"nothing":        {"-- a.py --\nX = 1\n-- tests/test_a.py --\ndef test_a(): pass\n", mask.Default(), schemas.NothingMasked},
		"lines_left":     {strings.TrimPrefix(python, "-- commit: Release --\n"), half, schemas.LinesLeft},
		"secret":         {"-- a.py --\ndef f():\n    return \"AKIA" + "Q3EGTI4RZN7XW2LB\"\n-- tests/test_a.py --\ndef test_a(): pass\n", mask.Default(), schemas.HoldsSecret},
		"secret_beside":  {strings.TrimPrefix(python, "-- commit: Release --\n") + "-- docs/use.md --\nAKIA" + "Q3EGTI4RZN7XW2LB\n", mask.Default(), schemas.HoldsSecret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := run(t, gitrepotest.New(t, "-- commit: Release --\n"+c.tree), c.config)
			var rejected *pipeline.Rejected
			if !errors.As(err, &rejected) || rejected.Reason != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []mask.Config{{MinLanguage: -0.1}, {MaxLinesLeft: 1.1}, {Languages: []string{"pyton"}}} {
		if err := c.Validate([]string{"python"}); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if err := mask.Default().Validate(nil); err != nil {
		t.Error(err)
	}
}
