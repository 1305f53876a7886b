package cut_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/cut"
)

func release(tag, commit string, day int, pre bool) schemas.Release {
	return schemas.Release{Repo: "acme/widget", Tag: tag, Version: tag[1:], Commit: commit, Date: time.Date(2025, 1, day, 12, 0, 0, 0, time.UTC), Pre: pre}
}

var releases = []schemas.Release{
	release("v3.0.0rc1", "eeee", 9, true), release("v2.1.0", "dddd", 8, false), release("v2.1", "dddd", 8, false),
	release("v2.0.0", "cccc", 5, false), release("v1.0.0", "bbbb", 2, false),
}

// nobody lists nothing: a whole library is cut without a look into it.
type nobody struct{}

func (nobody) Manifest(context.Context, schemas.Cut) (*mask.Manifest, error) {
	return nil, errors.New("the release was listed")
}

func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config cut.Config
		source schemas.Source
		want   []string
	}{
		"newest_final":  {cut.Default(), schemas.Source{}, []string{"acme__widget-v2.1.0.library"}},
		"all":           {cut.Config{Profile: "strict"}, schemas.Source{}, []string{"acme__widget-v2.1.0.library", "acme__widget-v2.0.0.library", "acme__widget-v1.0.0.library"}},
		"two":           {cut.Config{Releases: 2, Profile: "strict"}, schemas.Source{}, []string{"acme__widget-v2.1.0.library", "acme__widget-v2.0.0.library"}},
		"window":        {cut.Config{Profile: "strict"}, schemas.Source{Since: "2025-01-02", Until: "2025-01-08"}, []string{"acme__widget-v2.0.0.library", "acme__widget-v1.0.0.library"}},
		"named":         {cut.Default(), schemas.Source{Only: []string{"v1.0.0", "v3.0.0rc1", "12"}}, []string{"acme__widget-v3.0.0rc1.library", "acme__widget-v1.0.0.library"}},
		"others_named":  {cut.Default(), schemas.Source{Only: []string{"1a2b3c4"}}, nil},
		"nothing_there": {cut.Default(), schemas.Source{Since: "2026-01-01"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cutter, err := cut.New(nobody{}, c.config)
			if err != nil {
				t.Fatal(err)
			}
			c.source.Repo = schemas.Repo{Name: "acme/widget", Root: "aaaa", Licence: "MIT"}
			cuts, err := cutter.Run(t.Context(), schemas.Crawled{Source: c.source, Releases: releases})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range cuts {
				got = append(got, x.ID())
				if x.RepoRoot != "aaaa" || x.Licence != "MIT" || x.Profile != "strict" {
					t.Errorf("%+v", x)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunOfParts: a module of the repository that is released by itself is not the library, but
// where nothing else is released.
func TestRunOfParts(t *testing.T) {
	t.Parallel()
	part, whole := release("v3.0.0", "eeee", 9, false), release("v2.0.0", "cccc", 5, false)
	part.Tag, part.Package = "sub/v3.0.0", "sub"
	old := whole
	old.Tag, old.Date = "v1.0.0", whole.Date.AddDate(-2, 0, 0)
	for _, c := range []struct {
		want     string
		releases []schemas.Release
	}{{"v2.0.0", []schemas.Release{part, whole}}, {"sub/v3.0.0", []schemas.Release{part}}, {"sub/v3.0.0", []schemas.Release{part, old}}} {
		want, releases := c.want, c.releases
		cutter, err := cut.New(nobody{}, cut.Default())
		if err != nil {
			t.Fatal(err)
		}
		cuts, err := cutter.Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: schemas.Repo{Name: "acme/widget"}}, Releases: releases})
		if err != nil || len(cuts) != 1 || cuts[0].Release.Tag != want {
			t.Errorf("%+v, %v, want %s", cuts, err, want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for selection, want := range map[string]string{
		"v2.0.0": "v2.0.0", "acme__widget-v2.0.0.library": "v2.0.0", "Acme__Widget-V2.0.0.library": "v2.0.0", "v2.0.0.library": "v2.0.0",
		"v2.0": "", "2.0.0": "", "acme__gadget-v2.0.0.library": "", "12": "",
	} {
		if got, ok := cut.Named("acme/widget", releases, cut.Default(), selection); got != want || ok != (want != "") {
			t.Errorf("%s means %q (%t), want %q", selection, got, ok, want)
		}
	}
}

// TestProfile: the profile is in the ID, but for the usual one, and a selection means it too.
func TestProfile(t *testing.T) {
	t.Parallel()
	cutter, err := cut.New(nobody{}, cut.Config{Releases: 1, Profile: "commit0-all"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := cutter.Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: schemas.Repo{Name: "acme/widget"}}, Releases: releases})
	if err != nil || len(got) != 1 || got[0].Profile != "commit0-all" || got[0].ID() != "acme__widget-v2.1.0.library.commit0_all" {
		t.Errorf("%+v, %v", got, err)
	}
	for selection, want := range map[string]bool{"acme__widget-v2.0.0.library.commit0_all": true, "v2.0.0.library.commit0_all": true, "v2.0.0": true, "v2.0.0.library": false} {
		if _, ok := cut.Named("acme/widget", releases, cut.Config{Profile: "commit0-all"}, selection); ok != want {
			t.Errorf("%s: %t", selection, ok)
		}
	}
	if _, err := cut.New(nobody{}, cut.Config{Profile: "strickt"}); err == nil {
		t.Error("a profile that is none is taken")
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]cut.Config{
		"releases_below_0": {Releases: -1, Profile: "strict"}, "slices_below_0": {MaxSlices: -1, Profile: "strict"},
		"slice_of_nobody": {Profile: "strict", Slices: []string{"modlues"}}, "slices_of_a_profile_that_masks_all": {Profile: "commit0-all", Slices: []string{"whole", "modules"}},
	} {
		if _, err := cut.New(nobody{}, c); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	cutter, err := cut.New(nobody{}, cut.Default())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cutter.Run(t.Context(), schemas.Crawled{Source: schemas.Source{Since: "tomorrow"}, Releases: releases}); err == nil {
		t.Error("a window that is no day is taken")
	}
}
