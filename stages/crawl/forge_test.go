package crawl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

// announced are releases by name.
type announced map[string][]github.Release

func (a announced) Releases(name string) []github.Release { return a[name] }

// What GitHub says decides before anything is fetched: these sources cannot be opened.
func TestGateByWhatGitHubSays(t *testing.T) {
	t.Parallel()
	day := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	told := announced{"acme/widget": {
		{Tag: "v3", Body: "Told in some words.", Published: day},
		{Tag: "v2", Body: "  Short.  ", Published: day},
		{Tag: "v2rc1", Body: "Told in some words.", Pre: true, Published: day},
		{Tag: "v1", Body: "Told in some words.", Published: day.AddDate(-1, 0, 0)},
		{Tag: "v0.9", Body: "Told in some words.", Author: "github-actions", Published: day},
		{Tag: "v0.8", Body: "Told in some words.", Author: "Acme[bot]", Published: day},
	}}
	notFetched := errors.New("it was opened")
	for name, tc := range map[string]struct {
		forge  schemas.Forge
		gates  schemas.Gates
		config crawl.Config
		want   schemas.Reason // "": let in
		detail string
	}{
		"let_in":             {},
		"gone":               {forge: schemas.Forge{Gone: "deleted"}, want: schemas.GoneSource, detail: "deleted"},
		"archived":           {forge: schemas.Forge{Archived: true}, gates: schemas.Gates{NotArchived: true}, want: schemas.IsArchived},
		"archived_is_fine":   {forge: schemas.Forge{Archived: true}},
		"stars":              {forge: schemas.Forge{Stars: 9}, gates: schemas.Gates{Stars: 10}, want: schemas.FewStars, detail: "9 stars, 10"},
		"stars_enough":       {forge: schemas.Forge{Stars: 10}, gates: schemas.Gates{Stars: 10}},
		"size":               {forge: schemas.Forge{Size: 11 << 20}, gates: schemas.Gates{Size: 10 << 20}, want: schemas.LargeSource, detail: "11 MiB, 10"},
		"inactive":           {forge: schemas.Forge{Pushed: day}, gates: schemas.Gates{PushedSince: "2025-06-02"}, want: schemas.Inactive, detail: "2025-06-01"},
		"active":             {forge: schemas.Forge{Pushed: day}, gates: schemas.Gates{PushedSince: "2025-06-01"}},
		"topic":              {forge: schemas.Forge{Topics: []string{"web", "Tutorial"}}, gates: schemas.Gates{TopicsNot: []string{"tutorial"}}, want: schemas.OffTopic, detail: "tutorial"},
		"list_by_name":       {forge: schemas.Forge{Name: "acme/Awesome-kits"}, gates: schemas.Gates{TopicsNot: []string{"awesome"}}, want: schemas.OffTopic},
		"awesome_thing":      {forge: schemas.Forge{Name: "acme/awesomeness"}, gates: schemas.Gates{TopicsNot: []string{"awesome"}}},
		"no_tests":           {forge: schemas.Forge{Root: []string{"README.md", "latest/", "widget.py"}}, gates: schemas.Gates{Tests: true}, want: schemas.Untested},
		"tests":              {forge: schemas.Forge{Root: []string{"README.md", "Tests/"}}, gates: schemas.Gates{Tests: true}},
		"test_file":          {forge: schemas.Forge{Root: []string{"widget_test.go"}}, gates: schemas.Gates{Tests: true}},
		"root_not_known":     {gates: schemas.Gates{Tests: true}},
		"releases":           {gates: schemas.Gates{Releases: 4}, want: schemas.FewReleases, detail: "3 of 6 releases"},
		"releases_with_text": {gates: schemas.Gates{Releases: 2, ReleaseText: 10, ReleasedSince: "2025-01-01"}, want: schemas.FewReleases, detail: "1 of 6 releases"},
		"licence":            {forge: schemas.Forge{Licence: "GPL-3.0"}, config: crawl.Config{Licences: []string{"MIT"}}, want: schemas.BadLicence, detail: "GPL-3.0"},
		"licence_not_known":  {forge: schemas.Forge{Licence: "NOASSERTION"}, config: crawl.Config{Licences: []string{"MIT"}}},
		"language":           {forge: schemas.Forge{Languages: []string{"Rust", "C"}}, config: crawl.Config{Languages: []string{"go"}}, want: schemas.NoSources, detail: "Rust, C"},
		"language_wanted":    {forge: schemas.Forge{Languages: []string{"Rust", "Go"}}, config: crawl.Config{Languages: []string{"go"}}},
		"languages_cut":      {forge: schemas.Forge{Languages: strings.Fields("a b c d e f g h i j")}, config: crawl.Config{Languages: []string{"go"}}},
	} {
		s := schemas.Source{GitHub: "acme/widget", Forge: &tc.forge, Gates: &tc.gates}
		_, err := crawl.NewGate(one{err: notFetched}, told, tc.config).Run(t.Context(), s)
		var rejected *pipeline.Rejected
		switch {
		case tc.want == "" && !errors.Is(err, notFetched):
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (!errors.As(err, &rejected) || rejected.Reason != tc.want || !strings.Contains(rejected.Detail(), tc.detail)):
			t.Errorf("%s: error %v, want %s: %s", name, err, tc.want, tc.detail)
		}
		if early := crawl.CheckGitHub(s, told, tc.config); (early == nil) != (tc.want == "") {
			t.Errorf("%s: told before: %v", name, early)
		}
	}
}

// Releases keep the words in which they were announced; what moves from day to day does not
// reach the stages after this one.
func TestGateAnnounces(t *testing.T) {
	t.Parallel()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, source), "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	told := announced{"acme/widget": {{Tag: "v1.1", Body: "* Yet more", Pre: true}, {Tag: "v0.9", Body: "not here"}}}
	s := schemas.Source{Repo: r.Info(), GitHub: "acme/widget", Forge: &schemas.Forge{Stars: 1}, Gates: &schemas.Gates{}}
	c, err := crawl.NewGate(one{repo: r}, told, crawl.Config{}).Run(t.Context(), s)
	if err != nil || c.Releases[0].Body != "* Yet more" || !c.Releases[0].Pre || c.Releases[2].Body != "" || c.Source.Forge != nil || c.Source.Gates != nil {
		t.Errorf("%+v, %v", c, err)
	}
}
