package main

import (
	"context"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/classify"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/crawl/sources"
	"github.com/benchmint/benchmint/stages/cut"
	"github.com/benchmint/benchmint/stages/describe"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/suite"
	"github.com/benchmint/benchmint/stages/survey"
	"github.com/benchmint/benchmint/stages/validate"
)

// plan joins the world to the stages.
func (p *program) plan(ctx context.Context, c *config.Config, s *store.Store, repos *sources.Set, w *workshop) (*pipeline.Plan, error) {
	return p.planOf(withPrinter(ctx, p.deps(c, repos, w), c), c, s)
}

// planOf gives the stages their store.
func (p *program) planOf(d stages.Deps, c *config.Config, s *store.Store) (*pipeline.Plan, error) {
	d.Steps, d.Blobs, d.Books, d.Models, d.Now = s, s.Blobs, s, p.models.client(c, s.Blobs), p.now
	return stages.New(d)
}

// deps is the world as the stages see it, without a store.
func (p *program) deps(c *config.Config, repos *sources.Set, w *workshop) stages.Deps {
	return stages.Deps{
		Repos: repos, Builder: w.builder, SandboxKind: w.kind,
		Crawl:     crawlConfig(c),
		Link:      link.Config{Languages: c.Filters.Languages, MaxSourceLines: c.Filters.MaxSourceLines, ModifiesOnly: c.Filters.ModifiesOnly, Allow: c.Redaction.Allow, Suite: c.Suite.Write, Known: p.published, Sets: p.published.Sets(), Dataset: c.Dataset},
		Cut:       cutConfig(c),
		Mask:      maskConfig(c),
		Maskers:   plugins.Maskers(),
		Survey:    surveyConfig(c),
		Services:  c.Makes(schemas.KindService),
		Libraries: c.Makes(schemas.KindLibrary),
		Classify:  classify.Config{Labels: labels(c)},
		Suites:    c.Suite.Write,
		Suite:     suite.Config{Tries: c.Suite.Tries, MinNoticed: c.Filters.MinNoticed, Limits: c.Sandbox.Limits(), Allow: c.Redaction.Allow},
		Validate:  validate.Config{Runs: c.Proof.Runs, Limits: c.Sandbox.Limits(), Service: serviceCases(c)},
		Assess:    assess.Config{MaxHunks: c.Proof.Hunks, Limits: c.Sandbox.Limits()},
		Describe:  describe.Config{Thin: c.Filters.Thin, Unnoticed: c.Filters.Unnoticed, MinNoticed: c.Filters.MinNoticed, Library: libraryTests(c)},
		PinToDate: c.Build.PinToDate,
		Tools:     tools(),
		Program:   self(),
		Overrides: p.written,
		Forge:     p.github.forge(),
		Observe:   p.observe,
		Far:       p.far,
		Dataset:   export.Config{Name: c.Dataset, Dir: c.Output, Allow: c.Redaction.Allow, Configuration: c.Portable(w.kind), Replace: p.replace, Left: p.sayLost, Carry: p.carryOf(repos), Reviews: p.reviews, Balance: c.Balance.Mix(), Bare: !c.Statement.Interface},
	}
}

// carryOf is what an export takes over of the dataset that is there.
func (p *program) carryOf(repos *sources.Set) *export.Carry {
	if repos == nil || !repos.CarriesRows() {
		return nil
	}
	return &export.Carry{Rows: repos.Rewritten(), Gone: repos.Gone(), Unjudged: p.refreshing}
}

func crawlConfig(c *config.Config) crawl.Config {
	return crawl.Config{MinReleases: c.Filters.MinReleases, Licences: c.Filters.Licences, Languages: c.Filters.Languages}
}

// cutConfig has no slices where the whole is asked for alone.
func cutConfig(c *config.Config) cut.Config {
	out := cut.Config{Releases: c.Library.Releases, Profile: c.Library.Profile}
	if c.Library.Sliced() {
		out.Slices, out.MaxSlices = c.Library.Slices, c.Library.MaxSlices
	}
	return out
}

func maskConfig(c *config.Config) mask.Config {
	return mask.Config{Languages: c.Filters.Languages, MinLanguage: c.Library.MinLanguage, Native: c.Library.Native, MaxLinesLeft: c.Library.MaxLinesLeft, Allow: c.Redaction.Allow}
}

func surveyConfig(c *config.Config) survey.Config {
	return survey.Config{
		Frameworks: c.Service.Frameworks, Languages: c.Filters.Languages, MinAnswered: c.Service.MinAnswered,
		MinEndpoints: c.Service.MinEndpoints, WalkBack: c.Service.WalkBack, Env: c.Service.Env, Bare: c.Service.Env && !c.Service.Hints, Allow: c.Redaction.Allow,
	}
}

// serviceCases are the bounds of a service's cases, nil where they are the usual ones: other
// kinds are not proved again for them.
func serviceCases(c *config.Config) *validate.Service {
	s := validate.Service{MinF2P: c.Service.MinF2P, MinEndpoints: c.Service.MinEndpoints}
	if s == validate.DefaultService() {
		return nil
	}
	return &s
}

// libraryTests are the bounds of a library's tests, nil where they are the usual ones: other
// kinds are not described again for them.
func libraryTests(c *config.Config) *describe.Library {
	l := describe.Library{
		MaxZeroWork: c.Library.MaxZeroWork, MinPassing: c.Library.MinPassing, MinCoverage: c.Library.MinCoverage,
		Specification: c.Library.Specification, MinGuideWords: c.Library.MinGuideWords, Reference: c.Library.Reference, MinDocumented: c.Library.MinDocumented, GPU: c.Library.GPU,
	}
	if l == describe.DefaultLibrary() {
		return nil
	}
	return &l
}

func labels(c *config.Config) []schemas.Label {
	var out []schemas.Label
	for _, l := range c.Filters.Labels {
		out = append(out, schemas.Label(l))
	}
	return out
}
