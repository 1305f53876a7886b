package harvest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/harvest"
)

var update = flag.Bool("update", false, "write what is harvested into the archives of testdata")

// world is repositories by name.
type world map[string]*gitrepo.Repo

func (w world) Open(_ context.Context, of schemas.Repo) (*gitrepo.Repo, func(), error) {
	if r, ok := w[of.Name]; ok {
		return r, func() {}, nil
	}
	return nil, nil, fmt.Errorf("%s is not there", of.Name)
}

func open(t *testing.T, history, name string) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, history), name, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// crawled is a source as the stage before hands it over.
func crawled(t *testing.T, r *gitrepo.Repo, s schemas.Source) schemas.Crawled {
	t.Helper()
	releases, err := r.Releases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Repo = r.Info()
	return schemas.Crawled{Source: s, Releases: releases}
}

func run(t *testing.T, history string, s schemas.Source) ([]schemas.Change, error) {
	t.Helper()
	r := open(t, history, "acme/widget")
	return harvest.New(world{"acme/widget": r}, nil).Run(t.Context(), crawled(t, r, s))
}

// show is a line for each change, and one for each of its notes.
func show(changes []schemas.Change) string {
	var out strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&out, "%s [%s]", c.Subject, c.Release)
		if c.Twin != "" {
			out.WriteString(" twin of " + c.Twin)
		}
		out.WriteString("\n")
		for _, n := range c.Notes {
			fmt.Fprintf(&out, "  %s/%s", n.Form, n.Link)
			if n.Path != "" {
				fmt.Fprintf(&out, " %s:%d", n.Path, n.Line)
			}
			fmt.Fprintf(&out, " [%s] [%s] %q", n.Version, n.Heading, n.Text)
			for _, r := range n.References {
				out.WriteString(" " + r.Text)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// Each archive of testdata is a history, and what is harvested from it: "want".
func TestHistories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d histories: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changes, err := run(t, string(txtar.Format(archive)), schemas.Source{})
			if err != nil {
				t.Fatal(err)
			}
			got := show(changes)
			if *update {
				archive.Files[0].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[0].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const history = `
-- commit: Start --
date: 2025-01-01T00:00:00Z
-- app.py --
a
-- commit: Feature one (#1) --
date: 2025-01-02T00:00:00Z
-- app.py --
b
-- tests/test_app.py --
x
-- tag: v1.0 --
-- commit: Docs --
date: 2025-01-03T00:00:00Z
-- README.md --
x
-- commit: Feature two (#2) --
date: 2025-01-04T00:00:00Z
-- app.py --
c
-- tests/test_app.py --
y
-- tag: v1.1rc1 --
-- commit: Code alone (#3) --
date: 2025-01-05T00:00:00Z
-- app.py --
d
-- tag: v1.1 --
-- commit: Feature three (#4) --
date: 2025-01-06T00:00:00Z
-- app.go --
c
-- app_test.go --
y
-- commit: Settings (#5) --
date: 2025-01-07T00:00:00Z
-- app.py --
e
-- tox.ini --
y
`

func TestRun(t *testing.T) {
	t.Parallel()
	both := []schemas.Kind{schemas.KindFeature, schemas.KindEdit}
	for name, c := range map[string]struct {
		source schemas.Source
		want   string
	}{
		"everything":              {schemas.Source{}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
		"limit_of_one":            {schemas.Source{Changes: 1}, "Settings (#5); Feature three (#4)"},
		"limit_of_two":            {schemas.Source{Changes: 2}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2)"},
		"limit_over_all":          {schemas.Source{Changes: 9}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
		"left_to_edits":           {schemas.Source{Changes: 1, Kinds: both, EditShare: 1}, "Settings (#5); Feature three (#4) left to edit; Code alone (#3); Feature two (#2) left to edit; Docs; Feature one (#1) left to edit; Start"},
		"only_leaves_nothing":     {schemas.Source{Only: []string{"4"}, Kinds: both, EditShare: 1}, "Feature three (#4)"},
		"window":                  {schemas.Source{Since: "2025-01-02", Until: "2025-01-04"}, "Docs; Feature one (#1)"},
		"limit_in_window":         {schemas.Source{Until: "2025-01-05", Changes: 1}, "Feature two (#2)"},
		"only_has_no_limit":       {schemas.Source{Only: []string{"2", "4"}, Changes: 1}, "Feature three (#4); Feature two (#2)"},
		"empty_window":            {schemas.Source{Since: "2030-01-01"}, ""},
		"newest_release":          {schemas.Source{Releases: 1}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs"},
		"two_releases":            {schemas.Source{Releases: 2}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
		"release_and_limit":       {schemas.Source{Releases: 1, Changes: 1}, "Settings (#5); Feature three (#4)"},
		"release_and_window":      {schemas.Source{Releases: 1, Until: "2025-01-05"}, "Feature two (#2); Docs"},
		"more_releases_than_made": {schemas.Source{Releases: 9}, "Settings (#5); Feature three (#4); Code alone (#3); Feature two (#2); Docs; Feature one (#1); Start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes, err := run(t, history, c.source)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range changes {
				if change.LeftTo != "" {
					change.Subject += " left to " + string(change.LeftTo)
				}
				got = append(got, change.Subject)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source schemas.Source
		want   []string
	}{
		"only_without_answer": {schemas.Source{Only: []string{"2", "99", "feedface"}}, []string{`"99"`, `"feedface"`}},
		"only_out_of_window":  {schemas.Source{Only: []string{"2"}, Since: "2025-01-06"}, []string{`"2"`}},
		"only_out_of_release": {schemas.Source{Only: []string{"1"}, Releases: 1}, []string{`"1"`}},
		"no_date":             {schemas.Source{Since: "yesterday"}, []string{"since", "yesterday"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, history, c.source)
			for _, word := range c.want {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("error %v does not name %s", err, word)
				}
			}
		})
	}
}

// A note does not depend on the window that its change is looked at through.
func TestWindowsAgree(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/forms.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all, err := run(t, string(data), schemas.Source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		some, err := run(t, string(data), schemas.Source{Only: []string{c.Commit}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]schemas.Change{c}, some); diff != "" {
			t.Errorf("%s (-among all +alone):\n%s", c.Subject, diff)
		}
	}
}

// faulty is a world whose repositories cannot be read now.
type faulty struct{ err error }

func (f faulty) Open(context.Context, schemas.Repo) (*gitrepo.Repo, func(), error) {
	return nil, nil, f.err
}

func TestRemoteFaultsAreDeferred(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for _, c := range []struct {
		err  error
		want schemas.StepState
	}{{fmt.Errorf("mirroring: %w", gitrepo.ErrRemote), schemas.StepDeferred}, {broken, schemas.StepFailed}} {
		_, err := harvest.New(faulty{c.err}, nil).Run(t.Context(), schemas.Crawled{})
		if got := pipeline.EndOf(t.Context(), err); got != c.want {
			t.Errorf("%v ends %s, want %s", c.err, got, c.want)
		}
	}
}

// A change that an elder source of the same history has as well is the elder's.
func TestEarlierSources(t *testing.T) {
	t.Parallel()
	const start = "-- commit: Start --\ndate: 2025-01-01T00:00:00Z\n-- app.py --\na\n"
	const one = "-- commit: One (#1) --\ndate: 2025-01-02T00:00:00Z\n-- app.py --\nb\n"
	const fork = "-- commit: The same (#9) --\ndate: 2025-02-02T00:00:00Z\n-- app.py --\nb\n-- commit: Own (#10) --\ndate: 2025-02-03T00:00:00Z\n-- app.py --\nc\n"
	repos := world{
		"acme/widget": open(t, start+one, "acme/widget"), "fork/widget": open(t, start+fork, "fork/widget"),
		"other/start": open(t, "-- commit: Other --\n-- app.py --\na\n-- commit: Equal trees (#1) --\n-- app.py --\nb\n", "other/start"),
	}
	for elders, want := range map[string]string{
		"":                        "; ; ",
		"acme/widget":             "; acme__widget-1; acme__widget-c" + repos["acme/widget"].Info().Root[:12],
		"other/start":             "; ; ",
		"acme/widget,other/start": "; acme__widget-1; acme__widget-c" + repos["acme/widget"].Info().Root[:12],
	} {
		source := schemas.Source{}
		if elders != "" {
			source.EarlierSources = strings.Split(elders, ",")
		}
		changes, err := harvest.New(repos, nil).Run(t.Context(), crawled(t, repos["fork/widget"], source))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, c.Twin)
		}
		want = strings.Replace(want, "acme__widget-c"+repos["acme/widget"].Info().Root[:12], "", 1) // a root has no base: it is no change
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("elders %q (-want +got):\n%s", elders, diff)
		}
	}
}

// pullsOf answers from a table, and remembers what it was asked.
type pullsOf struct {
	all   map[int]schemas.Pull
	err   error
	asked *[]int
	// merged are those by commit, since asked for the last time.
	merged map[string]schemas.Pull
	since  *time.Time
}

func (p pullsOf) Merged(_ context.Context, _ string, since time.Time) (map[string]schemas.Pull, error) {
	if p.since != nil {
		*p.since = since
	}
	return p.merged, p.err
}

func (p pullsOf) Pulls(_ context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	if name != "acme/widget" {
		return nil, errors.New("asked of " + name)
	}
	*p.asked = append(*p.asked, numbers...)
	return p.all, p.err
}

// GitHub is asked of candidates alone, of a source that names a repository there.
func TestPulls(t *testing.T) {
	t.Parallel()
	const history = "-- commit: One --\n-- widget.py --\na = 1\n-- tests/test_widget.py --\nimport widget\n-- commit: Two (#2) --\n-- widget.py --\na = 2\n-- tests/test_widget.py --\nimport widget as w\n-- commit: Docs (#3) --\n-- README.md --\nText.\n"
	r := open(t, history, "acme/widget")
	want := schemas.Pull{Title: "Make it two", Body: "Because.", Labels: []string{"bug"}}
	later := &github.Later{Until: time.Unix(1000, 0), Err: errors.New("limit")}
	for _, tc := range []struct {
		name   string
		source schemas.Source
		pulls  pullsOf
		asked  []int
		late   bool
	}{
		{"asked", schemas.Source{GitHub: "acme/widget"}, pullsOf{all: map[int]schemas.Pull{2: want, 3: {Title: "not asked"}}}, []int{2}, false},
		{"no_name", schemas.Source{Category: "web"}, pullsOf{}, nil, false},
		{"limit", schemas.Source{GitHub: "acme/widget"}, pullsOf{err: later}, []int{2}, true},
		{"gone_meanwhile", schemas.Source{GitHub: "acme/widget"}, pullsOf{err: &github.Gone{Name: "acme/widget", Err: errors.New("404")}}, []int{2}, true},
	} {
		var asked []int
		tc.pulls.asked = &asked
		changes, err := harvest.New(world{"acme/widget": r}, tc.pulls).Run(t.Context(), crawled(t, r, tc.source))
		var deferred *pipeline.Deferred
		if late := errors.As(err, &deferred) && (deferred.Until.Equal(later.Until) || tc.name == "gone_meanwhile"); late != tc.late || err != nil && !late || !slices.Equal(asked, tc.asked) {
			t.Errorf("%s: %v, asked %v", tc.name, err, asked)
		}
		for _, c := range changes {
			if has := c.Pull != nil; has != (tc.name == "asked" && c.Number == 2) {
				t.Errorf("%s: the pull request of %s is %+v", tc.name, c.Subject, c.Pull)
			}
			if c.Category != tc.source.Category || c.Stable().Category != "" {
				t.Errorf("%s: %s has category %q", tc.name, c.Subject, c.Category)
			}
			if c.Pull != nil && schemas.DigestOf(c.Stable()) != schemas.DigestOf(func() schemas.Change { c.Pull = nil; return c.Stable() }()) {
				t.Error("stages that read states depend on what a pull request says")
			}
		}
	}
}

// A change without a number has the pull request that GitHub says it was merged as, and keeps
// its ID; a release's announcement is a note like a tag's message.
func TestMergedAndAnnounced(t *testing.T) {
	t.Parallel()
	const history = "-- commit: One --\n-- widget.py --\na = 1\n-- tests/test_widget.py --\nimport widget\n-- tag: v1 --\n-- commit: Two --\ndate: 2025-03-01T00:00:00Z\n-- widget.py --\na = 2\n-- tests/test_widget.py --\nimport widget as w\n-- commit: Three (#3) --\n-- widget.py --\na = 3\n-- tests/test_widget.py --\nimport widget as x\n-- tag: v2 --\n"
	r := open(t, history, "acme/widget")
	var asked []int
	var since time.Time
	two := r.Line()[1]
	pulls := pullsOf{asked: &asked, since: &since, merged: map[string]schemas.Pull{two.Commit: {Number: 12, Title: "Make it two"}}, all: map[int]schemas.Pull{3: {Number: 3, Title: "Make it three"}}}
	c := crawled(t, r, schemas.Source{GitHub: "acme/widget"})
	for i := range c.Releases {
		if c.Releases[i].Tag == "v2" {
			c.Releases[i].Body = "## What's Changed\n* Make it three by @ann in https://github.com/acme/widget/pull/3\n"
		}
	}
	changes, err := harvest.New(world{"acme/widget": r}, pulls).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !since.Equal(two.At) || !slices.Equal(asked, []int{3}) {
		t.Errorf("asked since %v, and of %v", since, asked)
	}
	if c := changes[1]; c.Pull == nil || c.Pull.Number != 12 || c.Number != 0 || c.ID() != "acme__widget-c"+c.Commit[:12] {
		t.Errorf("%s has %+v", c.ID(), c.Pull)
	}
	notes := changes[0].Notes
	if len(notes) != 1 || notes[0].Form != schemas.NoteRelease || notes[0].Release != "v2" || notes[0].Heading != "What's Changed" {
		t.Errorf("%+v", notes)
	}
}
