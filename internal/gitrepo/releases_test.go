package gitrepo_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// tagged has tags on the line and off it, of two packages, of no version, and one
// of each kind.
const tagged = `
-- commit: Start --
date: 2025-01-01T00:00:00Z
-- a --
a
-- b --
b
-- tag: v1.0.0 --
-- tag: nightly --
-- branch: v1 --
-- branch: main --
-- commit: Second --
date: 2025-01-02T00:00:00Z
-- a --
second
-- commit: Third --
date: 2025-01-03T00:00:00Z
-- c --
third
-- tag: v2.0.0rc1 --
-- tag: util-1.0 --
-- commit: Fourth --
date: 2025-01-04T00:00:00Z
-- d --
fourth
-- tag: v2.0.0 --
Widget 2.0.0

* Fourth
-- branch: v1 --
-- commit: Second, picked --
date: 2025-01-05T00:00:00Z
-- a --
second
-- tag: v1.0.1 --
-- commit: Own fix --
date: 2025-01-06T00:00:00Z
-- b --
own
-- tag: v1.0.2 --
-- branch: main --
-- commit: Fifth --
date: 2025-01-07T00:00:00Z
-- e --
fifth
`

func TestReleases(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, tagged))
	releases, err := r.Releases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rel := range releases {
		got = append(got, fmt.Sprintf("%s %s %s %s pre=%t off=%t after %q", rel.Tag, rel.Package, rel.Version, rel.Date.Format("01-02"), rel.Pre, rel.OffBranch, rel.Previous))
	}
	want := []string{
		`v2.0.0  2.0.0 01-04 pre=false off=false after "v1.0.0"`,
		`v2.0.0rc1  2.0.0rc1 01-03 pre=true off=false after "v1.0.0"`,
		`util-1.0 util 1.0 01-03 pre=false off=false after ""`,
		`v1.0.2  1.0.2 01-06 pre=false off=true after "v1.0.1"`,
		`v1.0.1  1.0.1 01-05 pre=false off=true after "v1.0.0"`,
		`v1.0.0  1.0.0 01-01 pre=false off=false after ""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, tagged))
	h, err := r.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	line := r.Line()
	held := map[string]string{}
	for _, tag := range h.Tags {
		for at, c := range line {
			if h.Holds(tag.Name, at) {
				held[tag.Name] += c.Subject + " "
			}
		}
	}
	want := map[string]string{
		"v2.0.0": "Fourth Third Second Start ", "v2.0.0rc1": "Third Second Start ", "util-1.0": "Third Second Start ",
		"v1.0.1": "Second Start ", "v1.0.2": "Second Start ", "v1.0.0": "Start ", "nightly": "Start ",
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	for _, tag := range h.Tags {
		if annotated := tag.Name == "v2.0.0"; annotated != (tag.Message == "Widget 2.0.0\n\n* Fourth") || annotated == tag.Tagged.IsZero() {
			t.Errorf("%s says %q at %s", tag.Name, tag.Message, tag.Tagged)
		}
	}
	for prefix, want := range map[string]int{line[1].Commit[:7]: 1, line[4].Commit: 4, "feedface": -1, "": -1} {
		if got := h.Landed(prefix); got != want {
			t.Errorf("%q landed at %d, want %d", prefix, got, want)
		}
	}
	if h.At("v1.0.2") != 4 || h.At("nowhere") != -1 || h.Holds("nowhere", 0) {
		t.Errorf("v1.0.2 at %d", h.At("v1.0.2"))
	}
}

// What a branch brought landed with its merge.
func TestLandedWithAMerge(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, `
-- commit: Start --
-- a --
a
-- branch: topic --
-- commit: On the branch --
-- b --
b
-- branch: main --
-- commit: Beside --
-- c --
c
-- commit: Merge --
merge: topic
-- commit: Last --
-- d --
d
`)
	h, err := open(t, dir).History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Landed(gitrepotest.Git(t, dir, "rev-parse", "topic")); got != 1 {
		t.Errorf("landed at %d, want 1", got)
	}
}

// A tag that was made later gives other refs, and the same commits.
func TestRefs(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, tagged)
	before := open(t, dir)
	gitrepotest.Git(t, dir, "tag", "v2.1.0")
	after := open(t, dir)
	if before.Origin().Refs() == after.Origin().Refs() || before.Origin().Refs() != open(t, gitrepotest.New(t, tagged)).Origin().Refs() {
		t.Error("refs do not tell tags apart")
	}
	gitrepotest.Git(t, dir, "tag", "v2.2.0", "v2.1.0")
	gitrepotest.Git(t, dir, "tag", "-d", "v2.1.0")
	if open(t, dir).Origin().Refs() == after.Origin().Refs() {
		t.Error("refs do not tell names apart")
	}
	if before.Info() != after.Info() && before.Info().Head != after.Info().Head {
		t.Error("a tag changed the head")
	}
}

// A shallow clone knows the releases that it has the commits of.
func TestReleasesOfAShallowClone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shallow")
	gitrepotest.Git(t, t.TempDir(), "clone", "-q", "--depth=2", "file://"+gitrepotest.New(t, tagged), dir)
	releases, err := open(t, dir).Releases(t.Context())
	if err != nil || len(releases) != 1 || releases[0].Tag != "v2.0.0" {
		t.Errorf("%v: %v", releases, err)
	}
}

func TestOldest(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, `
-- commit: Start --
-- a --
a
-- commit: Add (#1) --
-- a --
b
-- commit: Back (#2) --
-- a --
a
-- commit: Again (#3) --
-- a --
b
-- commit: Nothing (#4) --
`))
	line := r.Line()
	for at, want := range map[int]string{0: "", 1: "acme__widget-1", 2: "acme__widget-2", 3: "acme__widget-1", 4: ""} {
		got, err := r.Oldest(t.Context(), line[at].BaseTree, line[at].Tree)
		if err != nil || got != want && got != "local__repo-"+want[len(want)-1:] {
			t.Errorf("%s is %q, want %q: %v", line[at].Subject, got, want, err)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, "-- commit: Start --\n-- a/b/c.py --\nx\n-- d --\ny\n"))
	got, err := r.Paths(t.Context(), r.Info().Head)
	if diff := cmp.Diff([]string{"a/b/c.py", "d"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := r.Paths(t.Context(), "0123456789012345678901234567890123456789"); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("error %v", err)
	}
}
