// Package cut turns a source into releases that library tasks are made of: the newest ones
// of its window, or those that are named, each whole, or by slices: modules and functions of it.
//
// It never decides whether a release can become a task: that is seen when it is masked. It looks
// into one only to list its slices.
package cut

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "2"

// Config is the stage's settings (library in the configuration file).
type Config struct {
	Releases int    `json:"releases"` // newest final ones of the window that are taken; 0 means all
	Profile  string `json:"profile"`  // how bodies are masked (docs/mask.md)
	// Slices are what tasks are made of: the whole, modules, functions; empty is the whole alone.
	Slices []string `json:"slices,omitempty"`
	// MaxSlices bounds the modules of a release, and its functions; 0 means all.
	MaxSlices int `json:"max_slices,omitempty"`
}

// Default is what holds where nothing is configured.
func Default() Config { return Config{Releases: 1, Profile: string(mask.Strict)} }

// Validate names the key that cannot be used.
func (c Config) Validate() error {
	if c.Releases < 0 {
		return fmt.Errorf("library.releases: %d is below 0", c.Releases)
	}
	if !slices.Contains(Profiles(), c.Profile) {
		return fmt.Errorf("library.profile: %q is not one of %s", c.Profile, strings.Join(Profiles(), ", "))
	}
	if c.MaxSlices < 0 {
		return fmt.Errorf("library.max_slices: %d is below 0", c.MaxSlices)
	}
	for _, s := range c.Slices {
		if !slices.Contains(Slices(), s) {
			return fmt.Errorf("library.slices: %q is not one of %s", s, strings.Join(Slices(), ", "))
		}
		if s != schemas.WholeLibrary && c.Profile != string(mask.Strict) {
			return fmt.Errorf("library.slices: %s go with library.profile %s only, not with %s", s, mask.Strict, c.Profile)
		}
	}
	return nil
}

// Slices are the names of what tasks can be made of.
func Slices() []string {
	return []string{schemas.WholeLibrary, schemas.ModuleSlices, schemas.FunctionSlices}
}

// Profiles are the names of ways to mask.
func Profiles() []string {
	return []string{string(mask.Strict), string(mask.Commit0All), string(mask.Commit0Docstring), string(mask.Commit0Combined)}
}

// Lister says of each function of a release's code part whether its body can be taken out, as
// the profile strict does it. It rejects a release that no starter can be made of.
type Lister interface {
	Manifest(ctx context.Context, c schemas.Cut) (*mask.Manifest, error)
}

// Cutter is the stage.
type Cutter struct {
	lister Lister
	config Config
}

// New fails for a configuration that cannot be used. The lister is asked where slices are wanted.
func New(l Lister, c Config) (*Cutter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Cutter{l, c}, nil
}

var _ pipeline.Expander[schemas.Crawled, schemas.Cut] = (*Cutter)(nil)

// Run lists the releases of a source's window, newest first, or those that only names where
// it names some. Of two tags of one commit the first is taken. Where the repository itself was
// released within a year of the newest, packages and modules in it that have releases of their own are
// left out. Each release gives the whole and its slices, as they are asked for.
func (c *Cutter) Run(ctx context.Context, in schemas.Crawled) ([]schemas.Cut, error) {
	wanted, most, err := c.wanted(in)
	if err != nil {
		return nil, fmt.Errorf("looking for releases of %s: %w", in.Source.Repo.Name, err)
	}
	out := []schemas.Cut{}
	seen := map[string]bool{}
	for _, r := range in.Releases {
		if seen[r.Commit] || !wanted(r) || most > 0 && len(seen) == most {
			continue
		}
		seen[r.Commit] = true
		repo := in.Source.Repo
		cuts, err := c.cutsOf(ctx, in.Source.Only, schemas.Cut{
			Repo: repo.Name, RepoRoot: repo.Root, Licence: repo.Licence, Category: in.Source.Category, CategoryBy: in.Source.CategoryBy,
			Release: r, Profile: c.config.Profile,
		})
		if err != nil {
			return nil, fmt.Errorf("listing the slices of %s: %w", r.Tag, err)
		}
		out = append(out, cuts...)
	}
	return out, nil
}

// wanted gives the releases to take, and how many at most; 0 means all.
func (c *Cutter) wanted(in schemas.Crawled) (func(schemas.Release) bool, int, error) {
	if only := in.Source.Only; len(only) > 0 {
		return func(r schemas.Release) bool {
			whole := schemas.Cut{Repo: in.Source.Repo.Name, Release: r, Profile: c.config.Profile}
			return slices.Contains(only, r.Tag) || len(named(only, whole)) > 0
		}, 0, nil
	}
	since, until, err := window(in.Source)
	if err != nil {
		return nil, 0, err
	}
	// A project may have changed how it calls its tags: old ones are no sign.
	whole := slices.ContainsFunc(in.Releases, func(r schemas.Release) bool {
		return r.Package == "" && r.Date.AddDate(1, 0, 0).After(in.Releases[0].Date)
	})
	return func(r schemas.Release) bool {
		return !r.Pre && (r.Package == "" || !whole) && (since.IsZero() || !r.Date.Before(since)) && (until.IsZero() || r.Date.Before(until))
	}, c.config.Releases, nil
}

func window(s schemas.Source) (since, until time.Time, err error) {
	read := func(day string) (at time.Time) {
		if day == "" {
			return at
		}
		at, failed := time.Parse(time.DateOnly, day)
		err = errors.Join(err, failed)
		return at
	}
	since, until = read(s.Since), read(s.Until)
	return since, until, err
}

// Named is what a selection means among the releases of a repository, as Source.Only has it: a
// tag, given as it is or by the ID of its library task, whole or from its key on. Where slices
// are asked for, the ID of the whole is the key, and means nothing else of the release. False
// where it means none; a slice is found by Cutter.Slices.
func Named(repo string, releases []schemas.Release, c Config, selection string) (only string, ok bool) {
	for _, r := range releases {
		whole := schemas.Cut{Repo: repo, Release: r, Profile: c.Profile}
		switch {
		case r.Tag == selection:
			return r.Tag, true
		case strings.EqualFold(whole.ID(), selection), keyOf(whole) == selection:
			if len(c.Slices) == 0 {
				return r.Tag, true
			}
			return keyOf(whole), true
		}
	}
	return "", false
}

// keyOf is the key of a cut's ID.
func keyOf(c schemas.Cut) string {
	id, err := schemas.ParseInstanceID(c.ID())
	if err != nil {
		return "" // of no key that is asked for
	}
	return id.Key
}
