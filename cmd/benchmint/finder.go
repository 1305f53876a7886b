package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
	"github.com/benchmint/benchmint/stages/cut"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/survey"
)

var _ stages.Repos = (*sources.Set)(nil)

// finder finds the sources of a configuration in this program's world.
func (p *program) finder(c *config.Config) *sources.Finder {
	return &sources.Finder{
		Config: c, Crawl: crawlConfig(c), Makers: makers{c}, Cache: p.cache, UseCache: p.useCache, Folder: c.Store,
		GitHub: p.github.library, Server: p.github.server(), Again: p.refreshing, Index: p.machine(c).toolchains(), Distribution: plugins.Distribution, Starts: p.starts, Now: p.now,
		Clock: func(t time.Time) string { return clock(t, p.now()) }, Say: p.say, Progress: newMeter(p.github).came,
	}
}

// makers are the stages that make tasks of releases and of services, asked for what an exact
// selection means.
type makers struct{ *config.Config }

// Release implements sources.Makers.
func (m makers) Release(repo string, releases []schemas.Release, selection string) (string, bool) {
	return cut.Named(repo, releases, cutConfig(m.Config), selection)
}

// Slices implements sources.Makers. It masks the release, in a folder of its own.
func (m makers) Slices(ctx context.Context, repos *sources.Set, repo schemas.Repo, releases []schemas.Release, selection string) (ids []string, err error) {
	tmp, err := os.MkdirTemp("", "benchmint-slices-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	blobs, err := blob.Open(tmp)
	if err != nil {
		return nil, err
	}
	masker, err := mask.New(repos, blobs, plugins.Languages(), plugins.Maskers(), nil, maskConfig(m.Config))
	if err != nil {
		return nil, err
	}
	cutter, err := cut.New(masker, cutConfig(m.Config))
	if err != nil {
		return nil, err
	}
	return cutter.Slices(ctx, repo, releases, selection)
}

// Groups implements sources.Makers. Nothing is started for it.
func (m makers) Groups(t *tree.Tree) ([]string, error) {
	return survey.Groups(t, surveyConfig(m.Config))
}
