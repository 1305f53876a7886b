package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

// one is a world of one repository.
type one struct {
	repo   *gitrepo.Repo
	elders []string
	lacks  error
	err    error
}

func (o one) Open(context.Context, schemas.Repo) (*gitrepo.Repo, func(), error) {
	return o.repo, func() {}, o.err
}

func (o one) EarlierSources(context.Context, schemas.Repo) ([]string, error) { return o.elders, o.err }

func (o one) MissingTools(_ context.Context, _ schemas.Repo, files map[string]int) error {
	if files["go"] > 0 {
		return o.lacks
	}
	return nil
}

// source has two releases and a candidate, Go that ships, and Python that does not.
const source = `
-- commit: Start --
-- main.go --
package main
-- tests/check.py --
x = 1
-- docs/conf.py --
x = 1
-- tag: v1.0 --
-- commit: More --
-- main.go --
package main // more
-- tag: v1.1rc1 --
-- tag: latest --
-- commit: Yet more --
-- main.go --
package main // yet more
-- tag: v1.1 --
`

func TestGate(t *testing.T) {
	t.Parallel()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, source), "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	for name, c := range map[string]struct {
		config crawl.Config
		want   schemas.Reason
		detail string
	}{
		"no_gates":                   {},
		"enough_releases":            {config: crawl.Config{MinReleases: 2}},
		"candidates_do_not_count":    {config: crawl.Config{MinReleases: 3}, want: schemas.FewReleases, detail: "2 releases (and 1 pre-releases), 3"},
		"no_licence":                 {config: crawl.Config{Licences: []string{"MIT"}}, want: schemas.BadLicence, detail: "no licence file"},
		"language":                   {config: crawl.Config{Languages: []string{"python", "Go"}}},
		"tests_and_docs_do_not_ship": {config: crawl.Config{Languages: []string{"python"}}, want: schemas.NoSources, detail: "1 in go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := schemas.Source{Repo: r.Info()}
			got, err := crawl.NewGate(one{repo: r}, nil, c.config).Run(t.Context(), s)
			var rejected *pipeline.Rejected
			if c.want == "" {
				if err != nil || len(got.Releases) != 3 || got.Releases[0].Tag != "v1.1" || got.ID() != "acme__widget" {
					t.Errorf("%+v: %v", got, err)
				}
			} else if !errors.As(err, &rejected) || rejected.Reason != c.want || !strings.Contains(rejected.Detail(), c.detail) {
				t.Errorf("error %v, want %s: %s", err, c.want, c.detail)
			}
		})
	}
}

func TestGateDefersRemoteFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want schemas.StepState
	}{{fmt.Errorf("mirroring: %w", gitrepo.ErrRemote), schemas.StepDeferred}, {errors.New("disk full"), schemas.StepFailed}} {
		_, err := crawl.NewGate(one{err: c.err}, nil, crawl.Config{}).Run(t.Context(), schemas.Source{})
		if got := pipeline.EndOf(t.Context(), err); got != c.want {
			t.Errorf("%v ends %s, want %s", c.err, got, c.want)
		}
	}
}

func TestGateKnowsEarlierSources(t *testing.T) {
	t.Parallel()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, source), "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	unfetched := schemas.Source{Repo: schemas.Repo{Name: "acme/widget", Head: r.Info().Head}, Beside: "sha256:00"}
	c, err := crawl.NewGate(one{repo: r, elders: []string{"acme/elder"}}, nil, crawl.Config{}).Run(t.Context(), unfetched)
	if err != nil || len(c.Source.EarlierSources) != 1 || c.Source.Beside != "" || c.Source.Repo.Root != r.Info().Root {
		t.Errorf("%+v: %v", c.Source, err)
	}
	lacks := errors.New("go is missing")
	_, err = crawl.NewGate(one{repo: r, lacks: lacks}, nil, crawl.Config{Languages: []string{"go"}}).Run(t.Context(), unfetched)
	if !errors.Is(err, lacks) || pipeline.EndOf(t.Context(), err) != schemas.StepFailed {
		t.Errorf("on a machine without Go: %v", err)
	}
}

// A source that no list gives a category has its domain, by its topics and its README.
func TestGateGivesADomain(t *testing.T) {
	t.Parallel()
	r, err := gitrepo.Open(t.Context(), gitrepotest.New(t, source+"-- README --\nold\n-- README.md --\nA web framework.\n-- docs/README.md --\nA database with SQL and an ORM.\n"), "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	topics := &schemas.Forge{Name: "acme/widget", Topics: []string{"http"}}
	for name, tc := range map[string]struct {
		source   schemas.Source
		want, by string
	}{
		"rule":          {schemas.Source{Forge: topics}, "web", `topic http, word "web framework"`},
		"readme_alone":  {schemas.Source{}, "", ""},
		"of_a_category": {schemas.Source{Forge: topics, Category: "kits"}, "kits", ""},
	} {
		tc.source.Repo = r.Info()
		c, err := crawl.NewGate(one{repo: r}, nil, crawl.Config{}).Run(t.Context(), tc.source)
		if err != nil || c.Source.Category != tc.want || c.Source.CategoryBy != tc.by {
			t.Errorf("%s: %q by %q, %v", name, c.Source.Category, c.Source.CategoryBy, err)
		}
	}
}
