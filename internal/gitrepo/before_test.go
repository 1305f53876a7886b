package gitrepo_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// past is a line with what makes a cut by day hard: a merge whose side has an older and a younger
// commit, a commit whose clock was a year ahead in the middle, one whose clock was behind at the
// end, tags that came late, tags beside the line.
const past = `
-- commit: Start --
date: 2025-01-01T00:00:00Z
-- app.py --
a
-- branch: side --
-- commit: Older side --
date: 2024-06-01T00:00:00Z
-- old.py --
a
-- commit: Younger side --
date: 2025-09-01T00:00:00Z
-- young.py --
a
-- tag: v0.5 --
-- branch: main --
-- commit: Merged (#1) --
date: 2025-02-01T00:00:00Z
merge: side
-- old.py --
a
-- young.py --
a
-- tag: v1.0 --
-- branch: 1.x --
-- commit: Kept up --
date: 2025-02-02T00:00:00Z
-- app.py --
a1
-- tag: v1.0.1 --
-- branch: main --
-- commit: A clock that is ahead (#2) --
date: 2026-03-01T00:00:00Z
-- app.py --
b
-- commit: The last second (#3) --
date: 2025-06-30T23:59:59Z
-- app.py --
c
-- tag: v1.1 --
Tagged late.
-- commit: The first second (#4) --
date: 2025-07-01T00:00:00Z
-- app.py --
d
-- tag: v1.2 --
-- branch: late --
-- commit: Old work, merged late --
date: 2025-03-01T00:00:00Z
-- late.py --
a
-- tag: v0.9 --
-- branch: main --
-- commit: Merged late (#5) --
date: 2025-08-01T00:00:00Z
merge: late
-- late.py --
a
`

// subjectsOf are the subjects of a line, newest first.
func subjectsOf(r *gitrepo.Repo) (out []string) {
	for _, c := range r.Line() {
		out = append(out, c.Subject)
	}
	return out
}

// A source as it stood before a day is what a clone has that git cuts by hand.
func TestBefore(t *testing.T) {
	t.Parallel()
	source := gitrepotest.New(t, past)
	for day, want := range map[string]struct{ head, tags string }{
		"2025-02-01": {"Start", ""},
		"2025-02-02": {"Merged (#1)", "v1.0 v0.5"},
		"2025-07-01": {"The last second (#3)", "v1.1 v1.0 v0.5"},
		"2025-07-02": {"The first second (#4)", "v1.2 v1.1 v1.0 v0.5"},
		"2026-01-01": {"Merged late (#5)", "v1.2 v0.9 v1.1 v1.0 v0.5"},
	} {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			for name, url := range map[string]string{"path": source, "url": "file://" + source} {
				o, err := gitrepo.Look(t.Context(), url, "acme/widget", t.TempDir())
				if err == nil {
					err = o.Before(t.Context(), at)
				}
				if err != nil {
					t.Fatal(err)
				}
				cut, err := gitrepo.Look(t.Context(), cutBefore(t, source, day), "acme/widget", "")
				if err != nil {
					t.Fatal(err)
				}
				have, hand := readAll(t, o), readAll(t, cut)
				if diff := cmp.Diff(hand, have); diff != "" {
					t.Errorf("%s (-cut by hand +as of %s):\n%s", name, day, diff)
				}
				if have.Subjects[0] != want.head || have.Tags != want.tags || o.Refs() != cut.Refs() || !o.Here() {
					t.Errorf("%s: head %q, tags %q, refs %s and %s", name, have.Subjects[0], have.Tags, o.Refs(), cut.Refs())
				}
			}
		})
	}
	o, err := gitrepo.Look(t.Context(), source, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Before(t.Context(), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, gitrepo.ErrNotYet) {
		t.Errorf("before its first commit: %v", err)
	}
}

// seen is what a source shows.
type seen struct {
	Head, Root, Tags string
	Subjects         []string
}

func readAll(t *testing.T, o *gitrepo.Origin) seen {
	t.Helper()
	r, err := o.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it only reads
	h, err := r.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, tag := range h.Tags {
		tags = append(tags, tag.Name)
	}
	return seen{o.Info().Head, o.Info().Root, strings.Join(tags, " "), subjectsOf(r)}
}

// cutBefore is a bare clone that is moved to the last first-parent commit before a day, with the
// tags that are merged there.
func cutBefore(t *testing.T, source, day string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cut.git")
	git := func(args ...string) []string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "TZ=UTC")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.Fields(string(out))
	}
	git("clone", "-q", "--bare", source, dir)
	end, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	head := git("-C", dir, "rev-list", "-1", "--first-parent", "--before="+end.Add(-time.Second).Format(time.RFC3339), "HEAD")[0]
	git("-C", dir, "update-ref", "HEAD", head)
	merged := git("-C", dir, "tag", "--merged", head)
	for _, tag := range git("-C", dir, "tag") {
		if !slices.Contains(merged, tag) {
			git("-C", dir, "tag", "-d", tag)
		}
	}
	return dir
}
