package sources

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
	"github.com/benchmint/benchmint/internal/store"
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
	Names []string `json:"names,omitempty"`
	Asked string   `json:"asked"` // YYYY-MM-DD
	// Projects are those of PyPI that were asked for, by normal name.
	Projects map[string]project `json:"projects,omitempty"`
}

func readFindings(dir string) (findings, error) {
	f := findings{}
	b, err := os.ReadFile(filepath.Join(dir, store.FoundFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what searches found: %s: %w", filepath.Join(dir, store.FoundFile), err)
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
	return blob.WriteFile(filepath.Join(dir, store.FoundFile), append(b, '\n'))
}

// find is every repository of the configuration: those that it names, and those that its
// searches and lists find. One that is there twice is one source, where it was first.
func (f *Finder) find(ctx context.Context) (all []placed, known findings, err error) {
	c := f.Config
	named := map[string]bool{}
	for _, src := range c.Sources {
		for _, name := range []string{src.Name, src.GitHub} {
			named[strings.ToLower(name)] = name != ""
		}
	}
	if known, err = readFindings(f.Folder); err != nil {
		return nil, nil, &RefusedError{Err: err}
	}
	for i, src := range c.Sources {
		if !src.Finds() {
			all = append(all, placed{Source: src, at: i, gates: gatesOf(c, schemas.Gates{}, src)})
			continue
		}
		listed, gates, err := f.foundBy(ctx, src, known)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range listed {
			name := l.Name
			if named[strings.ToLower(name)] {
				continue
			}
			named[strings.ToLower(name)] = true
			one := config.Source{Git: f.Server + name + ".git", Name: name, Since: src.Since, Until: src.Until, Only: src.Only, Kinds: src.Kinds}
			if f.GitHub != nil {
				one.GitHub = name
			}
			all = append(all, placed{Source: one, at: i, found: true, gates: gatesOf(c, gates, one), category: l.Category})
		}
	}
	return all, known, nil
}

// foundBy are the repositories that one entry finds, and what the repositories must be.
func (f *Finder) foundBy(ctx context.Context, src config.Source, known findings) ([]config.Listed, schemas.Gates, error) {
	if src.List != "" {
		listed, err := config.ReadList(src.List)
		if err != nil {
			return nil, schemas.Gates{}, &RefusedError{Err: err}
		}
		return listed, schemas.Gates{}, nil
	}
	if !src.PyPI.IsZero() {
		listed, err := f.foundOnPyPI(ctx, src, known)
		return listed, schemas.Gates{}, err
	}
	search := src.Search
	key := "search " + search.String()
	if src.Preset != "" {
		key = "preset " + src.Preset
		search = presets[src.Preset].search
	}
	have, ok := known[key]
	if !ok || f.Again {
		names, err := f.search(ctx, search)
		if err != nil {
			return nil, schemas.Gates{}, err
		}
		for _, name := range names {
			if !slices.ContainsFunc(have.Names, func(n string) bool { return strings.EqualFold(n, name) }) {
				have.Names = append(have.Names, name)
			}
		}
		have.Asked = f.Now().UTC().Format(time.DateOnly)
		known[key] = have
		f.Say("%s  %s", strings.TrimPrefix(key, "search "), plural(len(names), "source"))
	}
	var found []config.Listed
	for _, name := range have.Names {
		found = append(found, config.Listed{Name: name})
	}
	if src.Preset == "" {
		return found, schemas.Gates{}, nil
	}
	asked, err := time.Parse(time.DateOnly, cmp.Or(f.Config.AsOf.String(), have.Asked))
	if err != nil {
		return nil, schemas.Gates{}, fmt.Errorf("reading what searches found: %w", err)
	}
	return found, presets[src.Preset].gates(asked), nil
}

// search asks GitHub for repositories, and waits where it says that it answers again soon.
func (f *Finder) search(ctx context.Context, search config.Search) ([]string, error) {
	query, first, last, err := search.Query()
	if err != nil {
		return nil, &RefusedError{Err: err}
	}
	results := github.NewResults()
	results.Each = func(found, of int) { f.Progress("found", found, of) }
	for {
		found, err := f.GitHub.Client().Search(ctx, query, last, results)
		if err == nil {
			var names []string
			for _, f := range found[min(max(first-1, 0), len(found)):] {
				names = append(names, f.Name)
			}
			return names, nil
		}
		if err := f.pause(ctx, err); err != nil {
			return nil, err
		}
	}
}

// pause waits until GitHub answers again, where that is within the time that a run waits
// for what is put off; else the error ends the run.
func (f *Finder) pause(ctx context.Context, err error) error {
	var later *github.Later
	if !errors.As(err, &later) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &RefusedError{Err: err}
	}
	wait := later.Until.Sub(f.Now())
	if later.Until.IsZero() || wait > f.Config.Wait {
		return &RefusedError{Err: f.again(err), Later: true}
	}
	f.Say("GitHub answers again at %s: waiting", f.Clock(later.Until))
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
func (f *Finder) again(err error) error {
	var later *github.Later
	if errors.As(err, &later) && !later.Until.IsZero() {
		return fmt.Errorf("%w; it answers again at %s", err, f.Clock(later.Until))
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
func (f *Finder) ask(ctx context.Context, all []placed) (said answers, err error) {
	var names []string
	for _, src := range all {
		if src.GitHub != "" {
			names = append(names, src.GitHub)
		}
	}
	if len(names) == 0 || f.GitHub == nil {
		return said, nil
	}
	said.gone = map[string]*github.Gone{}
	of := len(names)
	for {
		if names, err = f.askEach(ctx, names, said.gone, func(left int) { f.Progress("asked of", of-left, of) }); err == nil {
			return said, nil
		}
		var put *github.Later
		if !errors.As(err, &put) {
			if ctx.Err() != nil {
				return said, ctx.Err()
			}
			return said, &RefusedError{Err: err}
		}
		var refused *RefusedError
		switch waited := f.pause(ctx, err); {
		case errors.As(waited, &refused):
			said.later = f.again(err)
			names = slices.DeleteFunc(names, f.GitHub.Knows)
			f.Say("%v; deferred: %s", said.later, plural(len(names), "source"))
			return said, nil
		case waited != nil:
			return said, waited
		}
	}
}

// askEach asks of a few sources at a time. rest are those that were not answered for.
func (f *Finder) askEach(ctx context.Context, names []string, gone map[string]*github.Gone, each func(left int)) (rest []string, err error) {
	for rest = names; len(rest) > 0; each(len(rest)) {
		part := rest[:min(github.AboutBatch, len(rest))]
		none, err := f.GitHub.Learn(ctx, part)
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
func (f *Finder) askedOf(s *Set, src placed, said answers, seed *schemas.Source) (none *github.Gone) {
	if src.GitHub == "" || f.GitHub == nil {
		return nil
	}
	if none = said.gone[src.GitHub]; none != nil {
		seed.GitHub = "" // nobody is to ask again for its pull requests
		return none
	}
	if !f.GitHub.Knows(src.GitHub) {
		s.unreachable[src.Name] = said.later
		return nil
	}
	seed.Forge = f.forgeOf(src, said)
	_, seed.Edits = f.GitHub.Repository(src.GitHub)
	seed.AsOf = f.Config.AsOf.String()
	if forge := seed.Forge; !strings.EqualFold(forge.Name, src.GitHub) {
		f.Say("%s is %s on GitHub now; its IDs stay as they are", src.GitHub, forge.Name)
		if f.Again {
			s.note(src.Name, SourceRenamed, forge.Name+" on GitHub now", 0)
		}
	}
	return nil
}

// forgeOf is what GitHub says of a source; nil where nothing is known, or it has none.
func (f *Finder) forgeOf(src placed, said answers) *schemas.Forge {
	if src.GitHub == "" || f.GitHub == nil || said.gone[src.GitHub] != nil || !f.GitHub.Knows(src.GitHub) {
		return nil
	}
	forge, _ := f.GitHub.Repository(src.GitHub)
	return &forge
}
