package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
)

// kit is a repository with so many releases and merged pull requests.
func kit(releases, pulls int) *githubtest.Repository {
	r := &githubtest.Repository{
		Forge: schemas.Forge{
			Stars: 5100, Size: 3 << 20, Topics: []string{"web"}, Languages: []string{"Python", "C"}, Licence: "MIT", Pushed: now.Add(-time.Hour), Root: []string{"README.md", "tests/"},
		},
		Created: now.AddDate(-3, 0, 0), Pulls: map[int]github.Pull{},
	}
	for i := releases; i > 0; i-- {
		r.Releases = append(r.Releases, github.Release{Tag: fmt.Sprintf("v%d", i), Title: fmt.Sprintf("Release %d", i), Body: "* Add a thing", Published: now.AddDate(0, 0, i-releases)})
	}
	for i := 1; i <= pulls; i++ {
		touch(r, i, "Pull", now.Add(time.Duration(i-pulls)*time.Hour))
	}
	return r
}

func touch(r *githubtest.Repository, n int, title string, at time.Time) {
	r.Pulls[n] = github.Pull{Pull: schemas.Pull{Number: n, Title: title, Labels: []string{"feature"}, Merge: fmt.Sprintf("%040x", n)}, Updated: at}
}

// What both APIs say is the same, but for what REST does not tell.
func TestAbout(t *testing.T) {
	t.Parallel()
	for _, graph := range []bool{true, false} {
		s := githubtest.Start(githubtest.Repositories{"acme/kit": kit(120, 130), "acme/old": kit(1, 1)})
		defer s.Close()
		s.Rename("acme/old", "acme/new")
		if !graph {
			s.NoGraphQL()
		}
		c := client(t, s)
		got, err := c.About(t.Context(), []string{"acme/kit", "acme/none", "acme/old"})
		if err != nil {
			t.Fatal(err)
		}
		a := got["acme/kit"]
		want := schemas.Forge{Name: "acme/kit", Stars: 5100, Size: 3 << 20, Topics: []string{"web"}, Licence: "MIT", Pushed: now.Add(-time.Hour)}
		if graph {
			want.Languages, want.Root = []string{"Python", "C"}, []string{"README.md", "tests/"}
		}
		if diff := cmp.Diff(want, a.Repository); diff != "" {
			t.Errorf("graphql %v (-want +got):\n%s", graph, diff)
		}
		if len(a.Releases) != 100 || a.MoreReleases == "" || a.Releases[0].Tag != "v120" || a.Releases[0].Body != "* Add a thing" {
			t.Errorf("graphql %v: %d releases, then %q; first %+v", graph, len(a.Releases), a.MoreReleases, a.Releases[0])
		}
		if len(a.Pulls) != 100 || a.MorePulls == "" || a.Pulls[0].Number != 130 || a.Pulls[0].Merge != fmt.Sprintf("%040x", 130) || !slices.Equal(a.Pulls[0].Labels, []string{"feature"}) {
			t.Errorf("graphql %v: %d pulls, then %q; first %+v", graph, len(a.Pulls), a.MorePulls, a.Pulls[0])
		}
		rest, more, err := c.Releases(t.Context(), "acme/kit", a.MoreReleases)
		if err != nil || len(rest) != 20 || more != "" {
			t.Errorf("graphql %v: %d more releases, then %q, %v", graph, len(rest), more, err)
		}
		recent, more, err := c.Recent(t.Context(), "acme/kit", a.MorePulls)
		if err != nil || len(recent) != 30 || more != "" {
			t.Errorf("graphql %v: %d more pulls, then %q, %v", graph, len(recent), more, err)
		}
		var gone *github.Gone
		if !errors.As(got["acme/none"].Err, &gone) || got["acme/old"].Repository.Name != "acme/new" {
			t.Errorf("graphql %v: none is %v, old is %q", graph, got["acme/none"].Err, got["acme/old"].Repository.Name)
		}
		pulls, err := c.Pulls(t.Context(), "acme/kit", []int{3, 129, 131})
		if err != nil || len(pulls) != 2 || pulls[3].Title != "Pull" {
			t.Errorf("graphql %v: %v, %v", graph, pulls, err)
		}
	}
}

// The price that is told before a run is the one that GitHub asks.
func TestPrices(t *testing.T) {
	t.Parallel()
	all := githubtest.Repositories{}
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("acme/kit%d", i))
		all[names[i]] = kit(3, 100)
	}
	s := githubtest.Start(all)
	defer s.Close()
	c := client(t, s)
	l := github.NewLibrary(c, t.TempDir())
	if _, err := l.Learn(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	if told := github.PriceOfLearning(len(names)); told.Requests != s.Requests() || told.Points != s.Points() || c.Spent().Points != s.Points() {
		t.Errorf("told %+v, spent %+v, the server counts %d and %d", told, c.Spent(), s.Requests(), s.Points())
	}
	var numbers []int
	for n := range 260 {
		numbers = append(numbers, n+50)
	}
	told, requests, points := l.Price(names[0], numbers), s.Requests(), s.Points()
	if _, err := l.Pulls(t.Context(), names[0], numbers); err != nil {
		t.Fatal(err)
	}
	if told.Requests != s.Requests()-requests || told.Points != s.Points()-points {
		t.Errorf("told %+v, the server counts %d and %d", told, s.Requests()-requests, s.Points()-points)
	}
	// The worked examples of GitHub's documentation.
	for query, want := range map[string][2]int{
		`query{viewer{repositories(first:50){edges{repository:node{name pullRequests(first:20){edges{pullRequest:node{title comments(first:10){edges{comment:node{bodyHTML}}}}}} issues(first:20){totalCount edges{issue:node{title bodyHTML comments(first:10){edges{comment:node{bodyHTML}}}}}}}}} followers(first:10){edges{follower:node{login}}}}}`: {22060, 21},
		`query{viewer{login repositories(first:100){edges{node{id issues(first:50){edges{node{id labels(first:60){edges{node{id name}}}}}}}}}}}`:                                                                                                                                                                                                         {305100, 51},
	} {
		nodes, points, err := githubtest.Price(query)
		if err != nil || nodes != want[0] || points != want[1] {
			t.Errorf("%d nodes, %d points, %v; want %v", nodes, points, err, want)
		}
	}
}

// What is known is not asked again, and one question tells what is new.
func TestLibrary(t *testing.T) {
	t.Parallel()
	r := kit(2, 150)
	s := githubtest.Start(githubtest.Repositories{"acme/kit": r})
	defer s.Close()
	dir := t.TempDir()
	// A library is opened for each run.
	run := func(numbers ...int) (pulls map[int]schemas.Pull, edits, requests int) {
		l := github.NewLibrary(client(t, s), dir)
		before := s.Requests()
		if gone, err := l.Learn(t.Context(), []string{"acme/kit"}); err != nil || len(gone) > 0 {
			t.Fatal(gone, err)
		}
		pulls, err := l.Pulls(t.Context(), "acme/kit", numbers)
		if err != nil {
			t.Fatal(err)
		}
		_, edits = l.Repository("acme/kit")
		return pulls, edits, s.Requests() - before
	}
	if pulls, edits, n := run(3, 60, 999); len(pulls) != 2 || edits != 0 || n != 2 {
		t.Errorf("first: %d pulls, %d edits, %d requests", len(pulls), edits, n)
	}
	if pulls, edits, n := run(3, 60, 999); len(pulls) != 2 || edits != 0 || n != 1 {
		t.Errorf("again: %d pulls, %d edits, %d requests", len(pulls), edits, n)
	}
	s.Change(func(githubtest.Repositories) {
		touch(r, 3, "Pull", now.Add(time.Hour))       // a comment: it says the same
		touch(r, 151, "Pull 151", now.Add(time.Hour)) // a new one
	})
	if pulls, edits, n := run(3, 151); pulls[151].Title != "Pull 151" || edits != 0 || n != 1 {
		t.Errorf("a comment: %v, %d edits, %d requests", pulls, edits, n)
	}
	s.Change(func(githubtest.Repositories) {
		touch(r, 3, "Edited", now.Add(2*time.Hour))
		r.Releases = append([]github.Release{{Tag: "v3", Body: "* Fix it"}, {Tag: "v4", Draft: true}}, r.Releases...)
	})
	if pulls, edits, n := run(3); pulls[3].Title != "Edited" || edits != 2 || n != 1 {
		t.Errorf("an edit: %v, %d edits, %d requests", pulls, edits, n)
	}
	l := github.NewLibrary(client(t, s), dir)
	if all := l.Releases("acme/kit"); len(all) != 3 || all[0].Tag != "v3" {
		t.Errorf("releases: %+v", all)
	}
	// More was touched than the first page holds: pages are read down to what was seen.
	s.Change(func(githubtest.Repositories) {
		for n := 1; n <= 140; n++ {
			touch(r, n, "Edited again", now.Add(3*time.Hour))
		}
	})
	if pulls, _, n := run(3); pulls[3].Title != "Edited again" || n != 2 {
		t.Errorf("many edits: %v, %d requests", pulls, n)
	}
	// A file that cannot be read is asked for again.
	files, err := filesOf(dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	overwrite(t, files[0], `{"format":`)
	if pulls, _, n := run(3, 60); len(pulls) != 2 || n != 2 {
		t.Errorf("a broken file: %v, %d requests", pulls, n)
	}
}

// So much was touched that what is known may be too old: it is asked for again.
func TestForgets(t *testing.T) {
	t.Parallel()
	r := kit(1, 1200)
	s := githubtest.Start(githubtest.Repositories{"acme/kit": r})
	defer s.Close()
	dir := t.TempDir()
	first := github.NewLibrary(client(t, s), dir)
	if _, err := first.Learn(t.Context(), []string{"acme/kit"}); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Pulls(t.Context(), "acme/kit", []int{5}); err != nil {
		t.Fatal(err)
	}
	s.Change(func(githubtest.Repositories) {
		for n := range r.Pulls {
			touch(r, n, "Edited", now.Add(time.Hour+time.Duration(n)*time.Second))
		}
	})
	second := github.NewLibrary(client(t, s), dir)
	if _, err := second.Learn(t.Context(), []string{"acme/kit"}); err != nil {
		t.Fatal(err)
	}
	pulls, err := second.Pulls(t.Context(), "acme/kit", []int{5})
	if err != nil || pulls[5].Title != "Edited" {
		t.Errorf("%v, %v", pulls, err)
	}
	if _, edits := second.Repository("acme/kit"); edits == 0 {
		t.Error("no edit was seen")
	}
}

// Merged pull requests are found by their commit, back to a time.
func TestMerged(t *testing.T) {
	t.Parallel()
	s := githubtest.Start(githubtest.Repositories{"acme/kit": kit(1, 350)})
	defer s.Close()
	dir := t.TempDir()
	l := github.NewLibrary(client(t, s), dir)
	if _, err := l.Learn(t.Context(), []string{"acme/kit"}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ back, requests int }{{50, 1}, {220, 3}, {220, 3}, {9999, 4}, {99999, 4}} {
		got, err := l.Merged(t.Context(), "acme/kit", now.Add(-time.Duration(tc.back)*time.Hour))
		want := fmt.Sprintf("%040x", max(1, 351-tc.back))
		if err != nil || got[want].Number == 0 || s.Requests() != tc.requests {
			t.Errorf("%d hours back: %d pulls, %d requests, %v", tc.back, len(got), s.Requests(), err)
		}
	}
}

// As of a day, what came later is not given; it is kept, so that a later day asks nothing again
// and misses nothing.
func TestBefore(t *testing.T) {
	t.Parallel()
	for _, graph := range []bool{true, false} {
		r := kit(3, 0) // v1 two days ago, v2 yesterday, v3 now
		for n, merged := range map[int]time.Time{1: now.AddDate(0, 0, -3), 2: now.AddDate(0, 0, -1), 3: now} {
			touch(r, n, "Pull", now) // each was edited since
			p := r.Pulls[n]
			p.Merged = merged
			r.Pulls[n] = p
		}
		s := githubtest.Start(githubtest.Repositories{"acme/kit": r})
		defer s.Close()
		if !graph {
			s.NoGraphQL()
		}
		l := github.NewLibrary(client(t, s), t.TempDir())
		if _, err := l.Learn(t.Context(), []string{"acme/kit"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			before time.Time
			want   [3]int // releases, pull requests by number, by commit
		}{
			{now.AddDate(0, 0, -1), [3]int{1, 1, 1}}, // what happens at that moment is not before it
			{now.AddDate(0, 0, -1).Add(time.Second), [3]int{2, 2, 2}},
			{time.Time{}, [3]int{3, 3, 3}},
		} {
			l.Before = c.before
			asked := s.Requests()
			pulls, err := l.Pulls(t.Context(), "acme/kit", []int{1, 2, 3})
			merged, err2 := l.Merged(t.Context(), "acme/kit", now.AddDate(0, 0, -9))
			if got := [3]int{len(l.Releases("acme/kit")), len(pulls), len(merged)}; got != c.want || err != nil || err2 != nil || s.Requests() != asked {
				t.Errorf("graphql %v, before %v: %v, want %v; %d more requests; %v %v", graph, c.before, got, c.want, s.Requests()-asked, err, err2)
			}
		}
	}
}

// One commit may end several pull requests: the first of them, every time.
func TestMergedTogether(t *testing.T) {
	t.Parallel()
	pulls := map[int]schemas.Pull{}
	for n := range 20 {
		pulls[n+3] = schemas.Pull{Title: "Part", Merge: "abc"}
	}
	s := githubtest.Start(githubtest.Of(map[string]map[int]schemas.Pull{"acme/kit": pulls}))
	defer s.Close()
	l := github.NewLibrary(client(t, s), t.TempDir())
	for range 5 {
		got, err := l.Merged(t.Context(), "acme/kit", now)
		if err != nil || got["abc"].Number != 3 {
			t.Fatalf("%v, %v", got["abc"].Number, err)
		}
	}
}

// Where one token's limit is reached, the next one asks; where all are, the first end counts.
func TestTokens(t *testing.T) {
	t.Parallel()
	limit := func(token string, minutes int) githubtest.Fault {
		return githubtest.Fault{Token: token, Times: 9, Status: 429, Header: map[string]string{"Retry-After": fmt.Sprint(minutes * 60)}, Body: `{}`}
	}
	unknown := githubtest.Fault{Token: "three", Times: 9, Status: 401, Body: `{"message":"Bad credentials"}`}
	pulls := map[string]map[int]schemas.Pull{"acme/kit": {1: {Title: "One"}}}
	s := githubtest.Start(githubtest.Of(pulls), limit("one", 30), unknown)
	defer s.Close()
	c := clientOf(t, s, 0, "one", "three", "two")
	for range 3 {
		if got, err := c.Pulls(t.Context(), "acme/kit", []int{1}); err != nil || len(got) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if s.Requests() != 5 { // one and three are asked once
		t.Errorf("%d requests", s.Requests())
	}
	all := githubtest.Start(githubtest.Of(pulls), limit("one", 30), limit("two", 10), unknown)
	defer all.Close()
	_, err := clientOf(t, all, 0, "one", "two", "three").Pulls(t.Context(), "acme/kit", []int{1})
	var later *github.Later
	if !errors.As(err, &later) || !later.Until.Equal(now.Add(10*time.Minute)) {
		t.Errorf("all limits: %v", err)
	}
	none := githubtest.Start(githubtest.Of(pulls), unknown)
	defer none.Close()
	if _, err := clientOf(t, none, 0, "three").Pulls(t.Context(), "acme/kit", []int{1}); err == nil || errors.As(err, &later) || !strings.Contains(err.Error(), "GITHUB_TOKEN") {
		t.Errorf("a token that is not known: %v", err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	s := githubtest.Start(githubtest.Of(map[string]map[int]schemas.Pull{"acme/kit": {1: {}, 101: {}}}))
	defer s.Close()
	c := clientOf(t, s, 2, token)
	var numbers []int
	for n := range 250 {
		numbers = append(numbers, n+1)
	}
	got, err := c.Pulls(t.Context(), "acme/kit", numbers)
	if !errors.Is(err, github.ErrBudget) || len(got) != 2 || s.Requests() != 2 {
		t.Errorf("%v, %v after %d requests", got, err, s.Requests())
	}
}

// A question that is refused for one of several repositories is no verdict on the others.
func TestOneGone(t *testing.T) {
	t.Parallel()
	blocked := githubtest.Fault{Status: 451, Body: `{"message":"Repository access blocked"}`, Times: 2}
	s := githubtest.Start(githubtest.Repositories{"acme/a": kit(1, 1), "acme/b": kit(1, 1)}, blocked)
	defer s.Close()
	got, err := client(t, s).About(t.Context(), []string{"acme/a", "acme/b"})
	var gone *github.Gone
	if err != nil || !errors.As(got["acme/a"].Err, &gone) || got["acme/b"].Err != nil || s.Requests() != 3 {
		t.Errorf("%+v, %v after %d requests", got, err, s.Requests())
	}
	limit := githubtest.Fault{Status: 403, Header: map[string]string{"Retry-After": "7"}, Body: `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/elsewhere"}`, Times: 1}
	busy := githubtest.Start(githubtest.Repositories{"acme/a": kit(1, 1)}, limit)
	defer busy.Close()
	var later *github.Later
	if _, err := client(t, busy).About(t.Context(), []string{"acme/a"}); !errors.As(err, &later) || !later.Until.Equal(now.Add(7*time.Second)) {
		t.Errorf("a limit that go-github does not know: %v", err)
	}
}
