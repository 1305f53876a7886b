// Package cut turns a source into releases that library tasks are made of: the newest ones
// of its window, or those that are named.
//
// It never looks into a release: whether one can become a task is decided when it is masked.
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
	Releases int    `json:"releases"` // newest final ones of the window that are taken; 0 is all
	Profile  string `json:"profile"`  // how bodies are masked (docs/mask.md)
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
	return nil
}

// Profiles are the names of ways to mask.
func Profiles() []string {
	return []string{string(mask.Strict), string(mask.Commit0All), string(mask.Commit0Docstring), string(mask.Commit0Combined)}
}

// Cutter is the stage.
type Cutter struct{ config Config }

// New fails for a configuration that cannot be used.
func New(c Config) (*Cutter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Cutter{c}, nil
}

var _ pipeline.Expander[schemas.Crawled, schemas.Cut] = (*Cutter)(nil)

// Run lists the releases of a source's window, newest first, or those that only names where
// it names some. Of two tags of one commit the first is taken. Where the repository itself was
// released within a year of the newest, packages and modules in it that have releases of their own are
// left out.
func (c *Cutter) Run(_ context.Context, in schemas.Crawled) ([]schemas.Cut, error) {
	wanted, most, err := c.wanted(in)
	if err != nil {
		return nil, fmt.Errorf("looking for releases of %s: %w", in.Source.Repo.Name, err)
	}
	out := []schemas.Cut{}
	seen := map[string]bool{}
	for _, r := range in.Releases {
		if seen[r.Commit] || !wanted(r) || most > 0 && len(out) == most {
			continue
		}
		seen[r.Commit] = true
		repo := in.Source.Repo
		out = append(out, schemas.Cut{
			Repo: repo.Name, RepoRoot: repo.Root, Licence: repo.Licence, Category: in.Source.Category,
			Release: r, Profile: c.config.Profile,
		})
	}
	return out, nil
}

// wanted tells the releases to take, and how many at most; 0 is all.
func (c *Cutter) wanted(in schemas.Crawled) (func(schemas.Release) bool, int, error) {
	if only := in.Source.Only; len(only) > 0 {
		return func(r schemas.Release) bool { return slices.Contains(only, r.Tag) }, 0, nil
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

// Named is the tag of a source that a selection means: the tag itself, or the ID of the
// library task of it under a profile, whole or from its key on. False where it means none.
func Named(repo string, releases []schemas.Release, profile, selection string) (tag string, ok bool) {
	for _, r := range releases {
		id := schemas.Cut{Repo: repo, Release: r, Profile: profile}.ID()
		parsed, err := schemas.ParseInstanceID(id)
		if r.Tag == selection || strings.EqualFold(id, selection) || err == nil && parsed.Key == selection {
			return r.Tag, true
		}
	}
	return "", false
}
