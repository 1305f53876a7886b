package pair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// one is a world of one repository.
type one struct{ repo *gitrepo.Repo }

func (o one) Open(context.Context, schemas.Repo) (*gitrepo.Repo, func(), error) {
	return o.repo, func() {}, nil
}

func open(t *testing.T, history string) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, history), "acme/kit", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// commit is a block of a history.
func commit(subject, author, date string, files ...string) string {
	b := fmt.Sprintf("-- commit: %s --\nauthor: %s <%[2]s@example.org>\ndate: %sT00:00:00Z\n", subject, author, date)
	for _, f := range files {
		b += fmt.Sprintf("-- %s --\n# %s\n", f, subject)
	}
	return b
}

// ranges are the subjects of each range, oldest first.
func ranges(t *testing.T, r *gitrepo.Repo, s schemas.Source) (out []string) {
	t.Helper()
	s.Repo, s.Kinds = r.Info(), append(s.Kinds, schemas.KindEdit)
	s.Repo.Licence = "MIT"
	all, err := New(one{r}, nil, false).Run(t.Context(), schemas.Crawled{Source: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Category != s.Category || c.Licence != "MIT" {
			t.Errorf("%s has category %q and licence %q, want %q and MIT", c.Subject, c.Category, c.Licence, s.Category)
		}
		var subjects []string
		for _, x := range c.Range {
			subjects = append(subjects, x.Subject)
		}
		out = append(out, strings.Join(subjects, "+"))
		if c.Kind != schemas.KindEdit || c.Subject != c.Range[0].Subject || c.Commit != c.Range[len(c.Range)-1].Commit || len(c.Files) == 0 || c.Base == "" || !strings.Contains(c.ID(), "acme__kit-e"+c.Commit[:12]) {
			t.Errorf("%+v", c)
		}
		if multi := len(c.Range) > 1; strings.Contains(c.ID(), ".b"+c.Base[:8]) != multi {
			t.Errorf("%s: %d commits", c.ID(), len(c.Range))
		}
	}
	return out
}

func TestRanges(t *testing.T) {
	t.Parallel()
	const code, tests = "kit/read.py", "tests/test_read.py"
	root := commit("Root", "ann", "2025-01-01", code, tests)
	said := func(block, body string) string {
		return strings.Replace(block, "T00:00:00Z\n", "T00:00:00Z\n\n"+body+"\n", 1)
	}
	both := []schemas.Kind{schemas.KindFeature}
	for _, tc := range []struct {
		name, history string
		source        schemas.Source
		want          []string // newest first
	}{
		{"neighbours", commit("Drop simplejson", "ann", "2025-01-02", code, tests) + commit("Deprecate signatures", "ann", "2025-01-02", code, tests), schemas.Source{}, []string{"Deprecate signatures", "Drop simplejson"}},
		{"words", commit("Add strict readers", "ann", "2025-01-02", code) + commit("Test the strict reader", "ann", "2025-01-03", tests), schemas.Source{}, []string{"Add strict readers+Test the strict reader"}},
		{"two_words_are_the_least", commit("Add areas", "ann", "2025-01-02", code, tests) + commit("Sort areas", "ann", "2025-01-03", code, tests), schemas.Source{}, []string{"Sort areas", "Add areas"}},
		{"issue", said(commit("Add strict readers", "ann", "2025-01-02", code), "Closes #4.") + commit("Refuse unknown keys, see issue 4", "ann", "2025-01-03", "kit/keys.py", tests), schemas.Source{}, []string{"Add strict readers+Refuse unknown keys, see issue 4"}},
		{"other_issues", commit("Add strict readers (#4)", "ann", "2025-01-02", code, tests) + commit("Fix strict readers (#5)", "ann", "2025-01-03", code, tests), schemas.Source{}, []string{"Fix strict readers (#5)", "Add strict readers (#4)"}},
		{"each_with_each", commit("Sort long lines", "ann", "2025-01-02", code, tests) + commit("Sort long lines of strict readers", "ann", "2025-01-02", code, tests) + commit("Strict readers", "ann", "2025-01-02", code, tests), schemas.Source{}, []string{"Sort long lines of strict readers+Strict readers", "Sort long lines"}},
		{"taken_back", commit("Add strict readers (#4)", "ann", "2025-01-02", code, tests) + commit("Remove strict readers (#4)", "ann", "2025-01-03", code, tests), schemas.Source{}, []string{"Remove strict readers (#4)", "Add strict readers (#4)"}},
		{"two_wishes", commit("Drop simplejson and deprecate signatures", "ann", "2025-01-02", code, tests), schemas.Source{}, nil},
		{"tidied_up", commit("Add areas", "ann", "2025-01-02", code) + commit("Add tests", "ann", "2025-01-03", tests) + commit("Fix typo", "ann", "2025-01-03", code), schemas.Source{}, []string{"Add areas+Add tests+Fix typo"}},
		{"tidied_up_elsewhere", commit("Add areas", "ann", "2025-01-02", code, tests) + commit("Fix typo", "ann", "2025-01-03", "kit/write.py") + commit("Add scales", "ann", "2025-01-03", "kit/write.py", tests), schemas.Source{}, []string{"Add scales", "Add areas"}},
		{"says_nothing", commit("Fix tests", "ann", "2025-01-02", code, tests), schemas.Source{}, nil},
		{"another_author", commit("Add strict readers", "ann", "2025-01-02", code, tests) + commit("Fix strict readers", "bob", "2025-01-03", code, tests), schemas.Source{}, []string{"Fix strict readers", "Add strict readers"}},
		{"too_long_ago", commit("Add strict readers", "ann", "2025-01-02", code, tests) + commit("Fix strict readers", "ann", "2025-01-20", code, tests), schemas.Source{}, []string{"Fix strict readers", "Add strict readers"}},
		{"at_most_five", strings.Repeat(commit("Sort lines #1", "ann", "2025-01-02", code, tests)+commit("Sort long lines #1", "ann", "2025-01-02", code, tests), 3), schemas.Source{}, []string{"Sort long lines #1+Sort lines #1+Sort long lines #1+Sort lines #1+Sort long lines #1", "Sort lines #1"}},
		{"without_tests", commit("Add strict readers", "bob", "2025-01-02", code) + commit("Fix strict readers", "bob", "2025-01-03", code), schemas.Source{}, nil},
		{"window", commit("Add areas", "bob", "2025-01-02", code, tests) + commit("Add scales", "bob", "2025-01-05", code, tests) + commit("Add maps", "bob", "2025-01-08", code, tests), schemas.Source{Since: "2025-01-04", Until: "2025-01-07", Category: "web"}, []string{"Add scales"}},
		{"a_merge_has_the_title_of_its_request", said(commit("Merge pull request #7 from ann/x", "ann", "2025-01-05", code, tests), "Let readers stop\n\nBecause."), schemas.Source{Since: "2025-01-04"}, []string{"Let readers stop"}},
		{"a_merge_without_a_title", said(commit("Merge branch 'strict-readers'", "ann", "2025-01-05", code, tests), "# Conflicts:\n#\tx.py"), schemas.Source{Since: "2025-01-04"}, nil},
		{"features_as_well", commit("Add strict readers", "bob", "2025-01-02", code) + commit("Test strict readers", "bob", "2025-01-03", tests) + commit("Sort strict readers", "bob", "2025-01-03", code, tests) + commit("Add areas", "ann", "2025-01-04", code, tests), schemas.Source{Kinds: both}, []string{"Add strict readers+Test strict readers"}},
		{"features_as_well_and_all_drawn", commit("Add areas", "bob", "2025-01-02", code, tests), schemas.Source{Kinds: both, EditShare: 1}, []string{"Add areas"}},
	} {
		if got := ranges(t, open(t, root+tc.history), tc.source); !cmp.Equal(tc.want, got) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Exact selections: a base and a later commit, whoever wrote what lies between.
func TestOnly(t *testing.T) {
	t.Parallel()
	r := open(t, commit("Root", "ann", "2025-01-01", "kit/read.py")+commit("Add a", "ann", "2025-01-02", "kit/read.py", "tests/test_a.py")+commit("Docs", "bob", "2025-01-03", "README.md")+commit("Add b", "cid", "2025-02-02", "kit/read.py", "tests/test_a.py"))
	line := r.Line()
	only := line[3].Commit[:10] + ".." + strings.ToUpper(line[0].Commit[:12])
	if got := ranges(t, r, schemas.Source{Only: []string{"12", only}}); !cmp.Equal([]string{"Add a+Docs+Add b"}, got) {
		t.Errorf("%q", got)
	}
	if got := ranges(t, r, schemas.Source{Only: []string{"12"}}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{line[0].Commit + ".." + line[3].Commit, line[0].Commit + ".." + line[0].Commit, "0000000..0000001"} {
		s := schemas.Source{Repo: r.Info(), Only: []string{bad}}
		if _, err := New(one{r}, nil, false).Run(t.Context(), schemas.Crawled{Source: s}); err == nil || !strings.Contains(err.Error(), "is not a commit of the line and a later one") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Ranges are drawn by a seed to the repository's own mix, and the same ones each time.
func TestDraw(t *testing.T) {
	t.Parallel()
	var all []span
	for i := range 100 {
		class := "fix"
		if i%4 == 0 {
			class = "feature"
		}
		all = append(all, span{newest: i, class: class})
	}
	rank := func(sp span) string { return string(schemas.DigestOf(sp.newest)) }
	got := draw(all, map[string]int{"fix": 750, "feature": 250, "other": 1000}, 20, rank)
	count := map[string]int{}
	for _, sp := range got {
		count[sp.class]++
	}
	// Half of the repository is of a class that has no ranges: others give what is left.
	if len(got) != 20 || count["fix"] < 7 || count["feature"] < 2 || !slices.IsSortedFunc(got, func(a, b span) int { return a.newest - b.newest }) {
		t.Errorf("%v, %v", count, got)
	}
	if again := draw(slices.Clone(all), map[string]int{"fix": 750, "feature": 250, "other": 1000}, 20, rank); !cmp.Equal(got, again, cmp.AllowUnexported(span{})) {
		t.Error("drawn again, others come")
	}
	if len(draw(all, nil, 0, rank)) != 100 || len(draw(all, nil, 200, rank)) != 100 {
		t.Error("all are asked for")
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"Fix a leak": "fix", "Add `strict`": "feature", "feat(api): strict": "feature", "Remove x": "removal", "Rename x to y": "refactor", "Update x": "change", "x": "other", "Reader: fixes the end": "fix",
	} {
		if got := Class(subject); got != want {
			t.Errorf("%q is %s, want %s", subject, got, want)
		}
	}
}

// What a merge leaves unsaid is read from the first commit of its branch.
func TestBranchBody(t *testing.T) {
	t.Parallel()
	const root, branch = "-- commit: Root --\ndate: 2025-01-01T00:00:00Z\n-- kit/read.py --\n1\n", "-- branch: topic --\n-- commit: wip --\ndate: 2025-01-02T00:00:00Z\n\nA file stayed open.\n-- kit/read.py --\n2\n-- commit: more --\ndate: 2025-01-02T01:00:00Z\n\nOther words.\n-- tests/test_read.py --\n2\n"
	for own, want := range map[string]string{"": "A file stayed open.", "\n\nIts own words.": "Its own words."} {
		r := open(t, root+branch+"-- branch: main --\n-- commit: Merge pull request #7 from ann/topic --\ndate: 2025-01-03T00:00:00Z\nmerge: topic\n\nLet readers stop"+own+"\n")
		all, err := New(one{r}, nil, false).Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: r.Info(), Kinds: []schemas.Kind{schemas.KindEdit}}})
		if err != nil || len(all) != 1 || all[0].Subject != "Let readers stop" || all[0].Body != want || len(all[0].Range) != 1 {
			t.Errorf("%q: %+v, %v", own, all, err)
		}
	}
}

// What GitHub says of the pull request that a commit is stands for the commit's own text; a range of several commits is
// none. What the forge says later leaves alone what reads the code.
func TestPulls(t *testing.T) {
	t.Parallel()
	both := []string{"kit/read.py", "tests/test_a.py"}
	r := open(t, commit("Root", "ann", "2025-01-01", "kit/read.py")+commit("Widen margins (#7)", "ann", "2025-01-02", both...)+commit("Print tables (#8)", "bob", "2025-02-02", both...)+
		commit("Sort colours", "cid", "2025-03-02", both...)+commit("Parse dates of logs", "dee", "2025-04-02", both...)+commit("Parse dates of old logs", "dee", "2025-04-03", both...))
	line := r.Line()
	all := githubtest.Repositories{}
	all.Add("acme/kit", map[int]schemas.Pull{
		7:  {Number: 7, Title: "Widen the margins of pages", Body: "A page has margins of two centimetres. ghp_" + strings.Repeat("a1B2", 9)},
		9:  {Number: 9, Title: "Sort colours by hue", Merge: line[2].Commit},
		10: {Number: 10, Title: "Parse the dates", Merge: line[0].Commit},
	})
	for _, tc := range []struct {
		name   string
		faults []githubtest.Fault
		late   bool
	}{
		{"answered", nil, false},
		{"limit", []githubtest.Fault{{Status: 429, Header: map[string]string{"Retry-After": "60"}, Body: "{}", Times: 1}}, true},
		{"out_of_order", []githubtest.Fault{{Status: 503, Times: 9}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := githubtest.Start(all, tc.faults...)
			t.Cleanup(s.Close)
			client, err := github.New(s.URL(), []string{"token"}, 0, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			source := schemas.Source{Repo: r.Info(), Kinds: []schemas.Kind{schemas.KindEdit}, GitHub: "acme/kit"}
			got, err := New(one{r}, github.NewLibrary(client, t.TempDir()), false).Run(t.Context(), schemas.Crawled{Source: source})
			var deferred *pipeline.Deferred
			if late := errors.As(err, &deferred) && deferred.Resource == github.Resource; late != tc.late || err != nil && !late {
				t.Fatalf("%v", err)
			}
			if tc.late {
				return
			}
			var titles []string
			for _, c := range got {
				title, body := c.Written()
				if titles = append(titles, title); strings.Contains(body, "ghp_") {
					t.Errorf("%s holds a credential", c.Subject)
				}
				own := c
				if own.Pull = nil; schemas.DigestOf(c.Stable()) != schemas.DigestOf(own.Stable()) || c.ID() != own.ID() {
					t.Errorf("%s: stages that read states depend on what its pull request says", c.Subject)
				}
			}
			if diff := cmp.Diff([]string{"Parse dates of logs", "Sort colours by hue", "Print tables (#8)", "Widen the margins of pages"}, titles); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUntested: a range without tests is one where tests are to be written.
func TestUntested(t *testing.T) {
	t.Parallel()
	r := open(t, "-- commit: Root --\n-- kit/read.py --\n1\n-- commit: Let readers stop --\n-- kit/read.py --\n2\n")
	for untested, want := range map[bool]int{false: 0, true: 1} {
		all, err := New(one{r}, nil, untested).Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: r.Info(), Kinds: []schemas.Kind{schemas.KindEdit}}})
		if err != nil || len(all) != want {
			t.Errorf("untested %t: %d ranges, %v, want %d", untested, len(all), err, want)
		}
	}
}
