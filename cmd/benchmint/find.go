package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/schemas"
)

// placed is one repository of a run: a source of the configuration, or one that an entry of
// it found.
type placed struct {
	config.Source
	at    int // of the entry
	found bool
	gates *schemas.Gates
	// category is that of a list; "" elsewhere.
	category string
}

// findings are what searches found, kept beside a store: a run that goes on has the same
// sources, and a refresh adds to them.
type findings map[string]finds

// finds are the repositories of one entry, in order.
type finds struct {
	Names []string `json:"names"`
	Asked string   `json:"asked"` // YYYY-MM-DD
}

const findingsFile = "found.json"

func readFindings(dir string) (findings, error) {
	f := findings{}
	b, err := os.ReadFile(filepath.Join(dir, findingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what searches found: %s: %w", filepath.Join(dir, findingsFile), err)
	}
	return f, nil
}

func (f findings) write(dir string) error {
	if len(f) == 0 {
		return nil
	}
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return blob.WriteFile(filepath.Join(dir, findingsFile), append(b, '\n'))
}

// find is every repository of the configuration: those that it names, and those that its
// searches and lists find. One that is there twice is one source, where it was first.
func (p *program) find(ctx context.Context, c *config.Config) (all []placed, f findings, err error) {
	named := map[string]bool{}
	for _, src := range c.Sources {
		for _, name := range []string{src.Name, src.GitHub} {
			named[strings.ToLower(name)] = name != ""
		}
	}
	if f, err = readFindings(folderOf(c)); err != nil {
		return nil, nil, &ended{exitUsage, err}
	}
	for i, src := range c.Sources {
		if !src.Finds() {
			all = append(all, placed{Source: src, at: i, gates: gatesOf(c, schemas.Gates{}, src)})
			continue
		}
		listed, gates, err := p.foundBy(ctx, c, src, f)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range listed {
			name := l.Name
			if named[strings.ToLower(name)] {
				continue
			}
			named[strings.ToLower(name)] = true
			one := config.Source{Git: p.onGitHub() + name + ".git", Name: name, Since: src.Since, Until: src.Until, Only: src.Only, Kinds: src.Kinds}
			if p.github != nil {
				one.GitHub = name
			}
			all = append(all, placed{Source: one, at: i, found: true, gates: gatesOf(c, gates, one), category: l.Category})
		}
	}
	return all, f, nil
}

// onGitHub is the base of addresses of repositories on GitHub.
func (p *program) onGitHub() string {
	if server := p.lookup(githubServer); server != "" {
		return strings.TrimRight(server, "/") + "/"
	}
	return hosts.GitHub
}

// foundBy are the repositories that one entry finds, and what the repositories must be.
func (p *program) foundBy(ctx context.Context, c *config.Config, src config.Source, f findings) ([]config.Listed, schemas.Gates, error) {
	if src.List != "" {
		listed, err := config.ReadList(src.List)
		if err != nil {
			return nil, schemas.Gates{}, &ended{exitUsage, err}
		}
		return listed, schemas.Gates{}, nil
	}
	search := src.Search
	key := "search " + search.String()
	if src.Preset != "" {
		key = "preset " + src.Preset
		search = presets[src.Preset].search
	}
	have, ok := f[key]
	if !ok || p.refreshing {
		names, err := p.search(ctx, c, search)
		if err != nil {
			return nil, schemas.Gates{}, err
		}
		for _, name := range names {
			if !slices.ContainsFunc(have.Names, func(n string) bool { return strings.EqualFold(n, name) }) {
				have.Names = append(have.Names, name)
			}
		}
		have.Asked = p.now().UTC().Format(time.DateOnly)
		f[key] = have
		p.say("%s  %s", strings.TrimPrefix(key, "search "), plural(len(names), "source"))
	}
	var found []config.Listed
	for _, name := range have.Names {
		found = append(found, config.Listed{Name: name})
	}
	if src.Preset == "" {
		return found, schemas.Gates{}, nil
	}
	asked, err := time.Parse(time.DateOnly, have.Asked)
	if err != nil {
		return nil, schemas.Gates{}, fmt.Errorf("reading what searches found: %w", err)
	}
	return found, presets[src.Preset].gates(asked), nil
}

// search asks GitHub for repositories, and waits where it says that it answers again soon.
func (p *program) search(ctx context.Context, c *config.Config, search config.Search) ([]string, error) {
	query, first, last, err := search.Query()
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	results, meter := github.NewResults(), p.newMeter()
	results.Each = func(found, of int) { meter.came("found", found, of) }
	for {
		found, err := p.github.Client().Search(ctx, query, last, results)
		if err == nil {
			var names []string
			for _, f := range found[min(max(first-1, 0), len(found)):] {
				names = append(names, f.Name)
			}
			return names, nil
		}
		if err := p.pause(ctx, c, err); err != nil {
			return nil, err
		}
	}
}

// pause waits until GitHub answers again, where that is within the time that a run waits
// for what is put off; else the error ends the run.
func (p *program) pause(ctx context.Context, c *config.Config, err error) error {
	var later *github.Later
	if !errors.As(err, &later) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &ended{exitUsage, err}
	}
	wait := later.Until.Sub(p.now())
	if later.Until.IsZero() || wait > c.Wait {
		return &ended{exitDeferred, p.again(err)}
	}
	p.say("GitHub answers again at %s: waiting", clock(later.Until, p.now()))
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// again says when to try again.
func (p *program) again(err error) error {
	var later *github.Later
	if errors.As(err, &later) && !later.Until.IsZero() {
		return fmt.Errorf("%w; it answers again at %s", err, clock(later.Until, p.now()))
	}
	return err
}

// preset is how a published system chose its repositories.
type preset struct {
	search config.Search
	gates  func(asked time.Time) schemas.Gates
}

// topicsNot are the topics that FeatBench leaves out (its data_collect/release_collector.py).
var topicsNot = []string{"tutorial", "beginner", "example", "course", "boilerplate", "book", "books", "awesome", "education", "learning", "demo", "starter", "guide"}

// presets are FeatBench's: of its paper (section 2.3), which names releases, their length and
// the last year, and of its code (the defaults of its template), for all else as well.
var presets = map[string]preset{
	config.PresetPaper: {
		config.Search{Language: "python", Stars: ">=5000", TopicsNot: topicsNot, Ranks: "100..200"},
		func(asked time.Time) schemas.Gates {
			return schemas.Gates{Releases: 3, ReleaseText: 31, ReleasedSince: asked.AddDate(-1, 0, 0).Format(time.DateOnly), TopicsNot: topicsNot, Tests: true}
		},
	},
	config.PresetCode: {
		config.Search{Language: "python", Stars: ">=5000", Ranks: "100..200"},
		func(time.Time) schemas.Gates {
			return schemas.Gates{Releases: 5, ReleaseText: 50, ReleasedSince: "2024-06-01", TopicsNot: topicsNot, Tests: true}
		},
	},
}

// gatesOf are what a source that GitHub is asked of must be: what a preset says, and what
// the filters say beside it.
func gatesOf(c *config.Config, g schemas.Gates, src config.Source) *schemas.Gates {
	if src.GitHub == "" {
		return nil
	}
	f := c.Filters
	g.Stars = max(g.Stars, f.MinStars)
	g.Size, g.NotArchived, g.PushedSince = int64(f.MaxSize), !f.Archived, f.PushedSince.String()
	for _, t := range f.TopicsNot {
		if !slices.Contains(g.TopicsNot, t) {
			g.TopicsNot = append(slices.Clone(g.TopicsNot), t)
		}
	}
	g.Tests = g.Tests || f.Tests
	if f.MinReleaseText > 0 || !f.ReleasedSince.IsZero() {
		g.ReleaseText = max(g.ReleaseText, f.MinReleaseText)
		g.ReleasedSince = cmp.Or(f.ReleasedSince.String(), g.ReleasedSince)
		g.Releases = max(g.Releases, f.MinReleases, 1)
	}
	return &g
}

// answers are what GitHub said of the sources of a run.
type answers struct {
	gone  map[string]*github.Gone // those that it does not have
	later error                   // it did not answer for all
}

// ask asks GitHub of the sources that it has, before anything of them is fetched, and waits
// where it answers again soon.
func (p *program) ask(ctx context.Context, c *config.Config, all []placed) (said answers, err error) {
	var names []string
	for _, src := range all {
		if src.GitHub != "" {
			names = append(names, src.GitHub)
		}
	}
	if len(names) == 0 || p.github == nil {
		return said, nil
	}
	said.gone = map[string]*github.Gone{}
	meter, of := p.newMeter(), len(names)
	for {
		if names, err = p.askEach(ctx, names, said.gone, func(left int) { meter.came("asked of", of-left, of) }); err == nil {
			return said, nil
		}
		var put *github.Later
		if !errors.As(err, &put) {
			if ctx.Err() != nil {
				return said, ctx.Err()
			}
			return said, unmet("%w", err)
		}
		var end *ended
		switch waited := p.pause(ctx, c, err); {
		case errors.As(waited, &end):
			said.later = p.again(err)
			names = slices.DeleteFunc(names, p.github.Knows)
			p.say("%v; deferred: %s", said.later, plural(len(names), "source"))
			return said, nil
		case waited != nil:
			return said, waited
		}
	}
}

// askEach asks of a few sources at a time. rest are those that were not answered for.
func (p *program) askEach(ctx context.Context, names []string, gone map[string]*github.Gone, each func(left int)) (rest []string, err error) {
	for rest = names; len(rest) > 0; each(len(rest)) {
		part := rest[:min(github.AboutBatch, len(rest))]
		none, err := p.github.Learn(ctx, part)
		maps.Copy(gone, none)
		if err != nil {
			return rest, err
		}
		rest = rest[len(part):]
	}
	return nil, nil
}

// askedOf puts what GitHub says of a source into its seed; none says that it does not have
// it. A source of which nothing is known yet waits until it answers.
func (p *program) askedOf(s *sources, src placed, said answers, seed *schemas.Source) (none *github.Gone) {
	if src.GitHub == "" || p.github == nil {
		return nil
	}
	if none = said.gone[src.GitHub]; none != nil {
		seed.GitHub = "" // nobody is to ask again for its pull requests
		return none
	}
	if !p.github.Knows(src.GitHub) {
		s.silent[src.Name] = said.later
		return nil
	}
	seed.Forge = p.forgeOf(src, said)
	_, seed.Edits = p.github.Repository(src.GitHub)
	if forge := seed.Forge; !strings.EqualFold(forge.Name, src.GitHub) {
		p.say("%s is %s on GitHub now; its IDs stay as they are", src.GitHub, forge.Name)
	}
	return nil
}

// forgeOf is what GitHub says of a source; nil where nothing is known, or it has none.
func (p *program) forgeOf(src placed, said answers) *schemas.Forge {
	if src.GitHub == "" || p.github == nil || said.gone[src.GitHub] != nil || !p.github.Knows(src.GitHub) {
		return nil
	}
	forge, _ := p.github.Repository(src.GitHub)
	return &forge
}
