// Package crawl decides which sources are wanted, before anything of them is read
// that costs: by their releases, their licence, their languages.
//
// It is the first to open a source: a URL is fetched here, once what its forge says of it
// lets it in. It never looks at a change, and never asks a forge itself: what that said
// stands in the record.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/domain"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "3"

// GitResource is paused where a remote does not answer; stages names it in Needs.
const GitResource = "git"

// Config is what a source must be to be read at all; the zero Config lets every
// source in.
type Config struct {
	MinReleases int      // final ones: alphas, betas and candidates do not count
	Licences    []string // SPDX identifiers; empty: any, and none
	Languages   []string // one of them has a source file at the head; empty: any
}

// Repositories are the sources of a run.
type Repositories interface {
	// Open opens one at the head that its record names; release gives it back.
	Open(ctx context.Context, r schemas.Repo) (repo *gitrepo.Repo, release func(), err error)
	// EarlierSources names those with the root of r whose names come before its own.
	EarlierSources(ctx context.Context, r schemas.Repo) ([]string, error)
	// MissingTools says what this machine cannot build a source without, by how many files
	// of each language it ships; nil where it has all, and where that was said before.
	MissingTools(ctx context.Context, r schemas.Repo, files map[string]int) error
}

// Announcements are how releases were announced on GitHub.
type Announcements interface {
	// Releases are those of owner/name, newest first.
	Releases(name string) []github.Release
}

// Gate is the stage: it lets sources in, with what they released.
type Gate struct {
	repos  Repositories
	forge  Announcements
	config Config
}

// NewGate reads from repos; forge is nil where GitHub was not asked.
func NewGate(repos Repositories, forge Announcements, config Config) *Gate {
	return &Gate{repos: repos, forge: forge, config: config}
}

var _ pipeline.Stage[schemas.Source, schemas.Crawled] = (*Gate)(nil)

// Run rejects a source that is not what the configuration asks for: crawl/licence,
// crawl/releases, crawl/language, and by what GitHub says of it crawl/gone, crawl/archived,
// crawl/stars, crawl/size, crawl/inactive, crawl/content, crawl/no_tests.
func (g *Gate) Run(ctx context.Context, s schemas.Source) (schemas.Crawled, error) {
	announced := announcedBy(g.forge, s)
	if s.Forge != nil {
		if err := g.told(s, announced); err != nil {
			return schemas.Crawled{}, err
		}
	}
	var topics []string
	if s.Forge != nil {
		topics = s.Forge.Topics
	}
	// What moves from day to day decides here, and nothing later.
	s.Forge, s.Gates = nil, nil
	c, err := g.read(ctx, s, topics)
	if err != nil {
		return c, err
	}
	announce(c.Releases, announced)
	// Others may have to be fetched for this: the repository is given back before.
	c.Source.Beside = ""
	pipeline.Doing(ctx, "comparing it with the other sources")
	if c.Source.EarlierSources, err = g.repos.EarlierSources(ctx, c.Source.Repo); err != nil {
		return c, fmt.Errorf("comparing %s with the other sources: %w", s.Repo.Name, err)
	}
	return c, nil
}

// read lets a source in by what it holds.
func (g *Gate) read(ctx context.Context, s schemas.Source, topics []string) (schemas.Crawled, error) {
	pipeline.Doing(ctx, "opening the repository, or fetching it")
	repo, release, err := g.repos.Open(ctx, s.Repo)
	var later *pipeline.Deferred
	if errors.Is(err, gitrepo.ErrRemote) && !errors.As(err, &later) {
		return schemas.Crawled{}, &pipeline.Deferred{Resource: GitResource, Err: err}
	}
	if err != nil {
		return schemas.Crawled{}, err
	}
	defer release()
	pipeline.Doing(ctx, "reading licence, releases and languages")
	s.Repo.Root = repo.Info().Root
	s.Repo.Licence, err = repo.Licence(ctx)
	switch {
	case errors.Is(err, gitrepo.ErrMissing) && len(g.config.Licences) == 0: // nobody asks for it
	case errors.Is(err, gitrepo.ErrMissing):
		return schemas.Crawled{}, fmt.Errorf("reading the licence of %s: %w: fetch what the clone lacks (git fetch --refetch --no-filter) and run again", s.Repo.Name, err)
	case err != nil:
		return schemas.Crawled{}, fmt.Errorf("reading the licence of %s: %w", s.Repo.Name, err)
	}
	if err := g.licence(s.Repo.Licence); err != nil {
		return schemas.Crawled{}, err
	}
	releases, err := repo.Releases(ctx)
	if err != nil {
		return schemas.Crawled{}, fmt.Errorf("reading the releases of %s: %w", s.Repo.Name, err)
	}
	if err := g.enough(releases); err != nil {
		return schemas.Crawled{}, err
	}
	if err := g.domain(ctx, repo, &s, topics); err != nil {
		return schemas.Crawled{}, err
	}
	return schemas.Crawled{Source: s, Releases: releases}, g.language(ctx, repo)
}

// domain gives a source that no list gives a category its domain. A clone that lacks the README says nothing.
func (g *Gate) domain(ctx context.Context, repo *gitrepo.Repo, s *schemas.Source, topics []string) error {
	if s.Category != "" {
		return nil
	}
	readme, err := repo.Readme(ctx)
	if err != nil && !errors.Is(err, gitrepo.ErrMissing) {
		return fmt.Errorf("reading the README of %s: %w", s.Repo.Name, err)
	}
	d := domain.Of(topics, readme)
	s.Category, s.CategoryBy = d.Name, d.Evidence
	return nil
}

// licence asks for one of the allowed ones. A choice ("MIT OR Apache-2.0") is ours.
func (g *Gate) licence(expression string) error {
	if len(g.config.Licences) == 0 {
		return nil
	}
	for choice := range strings.SplitSeq(expression, " OR ") {
		if slices.ContainsFunc(g.config.Licences, func(l string) bool { return strings.EqualFold(strings.TrimSpace(l), choice) }) {
			return nil
		}
	}
	if expression == "" {
		return pipeline.Reject(schemas.BadLicence, "no licence file at the head is recognised")
	}
	return pipeline.Reject(schemas.BadLicence, "its licence is %s", expression)
}

func (g *Gate) enough(releases []schemas.Release) error {
	final := 0
	for _, r := range releases {
		if !r.Pre {
			final++
		}
	}
	if final >= g.config.MinReleases {
		return nil
	}
	return pipeline.Reject(schemas.FewReleases, "%d releases (and %d pre-releases), %d are asked for", final, len(releases)-final, g.config.MinReleases)
}

// language looks for a file that ships in one of the languages. Where the clone lacks
// the trees of the head, or they cannot be listed, nothing is known, and the stages after
// this one see.
func (g *Gate) language(ctx context.Context, repo *gitrepo.Repo) error {
	if len(g.config.Languages) == 0 {
		return nil
	}
	paths, err := repo.Paths(ctx, repo.Info().Head)
	if errors.Is(err, gitrepo.ErrMissing) || errors.Is(err, tree.ErrUnsafe) {
		return nil // link says so of each change
	}
	if err != nil {
		return fmt.Errorf("listing the head of %s: %w", repo.Info().Name, err)
	}
	counts := Shipped(paths)
	for language := range counts {
		if slices.ContainsFunc(g.config.Languages, func(l string) bool { return strings.EqualFold(l, language) }) {
			return g.repos.MissingTools(ctx, repo.Info(), counts)
		}
	}
	return pipeline.Reject(schemas.NoSources, "no source file at the head is in %s; there are %s", strings.Join(g.config.Languages, " or "), summary(counts))
}

// Shipped counts the source files that ship, by their language.
func Shipped(paths []string) map[string]int {
	counts := map[string]int{}
	for _, p := range paths {
		part, rule := parts.Common(p)
		if language := parts.LanguageOf(p); language != "" && parts.Ships(p, part, rule) {
			counts[language]++
		}
	}
	return counts
}

// summary names the languages there are, the most used first.
func summary(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%d in %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}
