package github_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
)

func filesOf(dir string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*")) }

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// many are repositories with stars as they are spread in the world, many of them with the
// fewest.
func many(n int) githubtest.Repositories {
	r := rand.New(rand.NewPCG(1, 2))
	all := githubtest.Repositories{}
	for i := range n {
		name := fmt.Sprintf("acme/r%05d", i)
		all[name] = &githubtest.Repository{
			Forge:   schemas.Forge{Stars: min(500+int(100*r.ExpFloat64()*r.ExpFloat64()*r.ExpFloat64()), 900000), Languages: []string{"Python"}, Topics: []string{[]string{"web", "tutorial"}[i%2]}},
			Created: now.AddDate(0, 0, -r.IntN(3000)),
		}
	}
	return all
}

// All results are found, past the thousand that GitHub shows of one question.
func TestSearch(t *testing.T) {
	t.Parallel()
	all := many(2500)
	s := githubtest.Start(all)
	defer s.Close()
	c := client(t, s)
	found, err := c.Search(t.Context(), github.Search{Language: "python", Stars: github.Range{Least: 500}}, 0, github.NewResults())
	if err != nil || len(found) != 2500 {
		t.Fatalf("%d found, %v", len(found), err)
	}
	t.Logf("%d requests for %d repositories", s.Requests(), len(found))
	if s.Requests() > 2500/50 {
		t.Errorf("%d requests", s.Requests())
	}
	if !slices.IsSortedFunc(found, func(a, b schemas.Forge) int { return b.Stars - a.Stars }) {
		t.Error("they are not in order")
	}
	for _, tc := range []struct {
		search github.Search
		limit  int
		want   int
	}{
		{github.Search{Stars: github.Range{Least: 500}}, 200, 2},
		{github.Search{Topics: []string{"web"}, Stars: github.Range{Least: 700, Most: 750}}, 0, -1},
		{github.Search{TopicsNot: []string{"tutorial"}, Pushed: github.Days{From: now}}, 0, 1},
		{github.Search{Language: "go"}, 0, 1},
	} {
		before := s.Requests()
		got, err := c.Search(t.Context(), tc.search, tc.limit, github.NewResults())
		if err != nil || tc.limit > 0 && (len(got) != tc.limit || got[0].Name != found[0].Name) || tc.want > 0 && s.Requests()-before != tc.want {
			t.Errorf("%+v: %d found with %d requests, %v", tc.search, len(got), s.Requests()-before, err)
		}
	}
}

// A search that a limit ends goes on where it was.
func TestSearchGoesOn(t *testing.T) {
	t.Parallel()
	limit := githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "0"}, Body: `{}`, Times: 1}
	var faults []githubtest.Fault
	for i := range 4 {
		limit.After = 3 * (i + 1)
		faults = append(faults, limit)
	}
	whole, cut := githubtest.Start(many(1300)), githubtest.Start(many(1300), faults...)
	defer whole.Close()
	defer cut.Close()
	search := github.Search{Stars: github.Range{Least: 1}}
	want, err := client(t, whole).Search(t.Context(), search, 0, github.NewResults())
	if err != nil {
		t.Fatal(err)
	}
	c, results := client(t, cut), github.NewResults()
	var later *github.Later
	for range 20 {
		got, err := c.Search(t.Context(), search, 0, results)
		if errors.As(err, &later) {
			continue
		}
		if err != nil || len(got) != len(want) {
			t.Errorf("%d found, want %d: %v", len(got), len(want), err)
		}
		// A window of ten pages may be read again for each limit, and no more.
		// Where the search was cut in two is known: its first question is asked once.
		again := 0
		for _, path := range cut.Paths() {
			if path == cut.Paths()[0] {
				again++
			}
		}
		if again != 1 {
			t.Errorf("the first question was asked %d times", again)
		}
		if extra := cut.Requests() - whole.Requests(); extra > 4*10 {
			t.Errorf("%d requests more than without limits", extra)
		}
		return
	}
	t.Error("it does not end")
}

// GitHub says where it did not look at everything.
func TestSearchIsIncomplete(t *testing.T) {
	t.Parallel()
	cut := githubtest.Fault{Body: `{"total_count": 0, "incomplete_results": true, "items": []}`, Times: 2}
	s := githubtest.Start(many(3), cut)
	defer s.Close()
	if got, err := client(t, s).Search(t.Context(), github.Search{}, 0, github.NewResults()); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	cut.Times = 3
	always := githubtest.Start(many(3), cut)
	defer always.Close()
	var later *github.Later
	if _, err := client(t, always).Search(t.Context(), github.Search{}, 0, github.NewResults()); !errors.As(err, &later) {
		t.Errorf("cut short each time: %v", err)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]github.Range{">=5": {5, 0}, ">5": {6, 0}, "<=5": {0, 5}, "<5": {0, 4}, "3..9": {3, 9}, "7": {7, 7}, "3..*": {3, 0}, "*..9": {0, 9}} {
		if got, err := github.ParseRange(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "many", ">=", "-3", "9..3", "5..x", "=>5"} {
		if got, err := github.ParseRange(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
	for in, want := range map[string]string{">=2026-01-31": ">=2026-01-31", ">2026-01-31": ">=2026-02-01", "<2026-01-01": "<=2025-12-31", "2025-01-01..2025-12-31": "2025-01-01..2025-12-31", "2025-05-05": "2025-05-05..2025-05-05"} {
		if got, err := github.ParseDays(in); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"2026", ">=January", "2026-02-30", "2026-02-01..2026-01-01"} {
		if got, err := github.ParseDays(in); err == nil || !strings.Contains(err.Error(), in) {
			t.Errorf("%q is %v, %v", in, got, err)
		}
	}
}
