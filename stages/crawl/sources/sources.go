// Package sources finds the repositories of a run, looks them up before it begins, and opens
// them when a stage asks: those that a configuration names, those that its searches and lists
// find, and of these what exact selections (--only) name.
//
// A Finder makes a Set, as "sources: [{git: ./widget}, {search: {language: python}}]" becomes
// widget and, say, a hundred repositories on GitHub. The package never decides which of them is
// wanted (the crawl does), and never reads the environment, the command line or the clock.
package sources

import (
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

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

// Set is the repositories of a run, by name. They are looked up before it begins, and
// opened when a stage asks for one.
type Set struct {
	config  *config.Config
	makers  Makers
	shelf   *gitrepo.Shelf
	origins map[string]*gitrepo.Origin
	order   []schemas.Source
	place   map[string]int  // of names in the configuration
	asked   map[string]bool // names of sources of which exact changes are asked
	// fetchedAtStart are those that had to be fetched when the run began: what they need of
	// this machine shows when they are crawled.
	fetchedAtStart map[string]bool
	// CheckMachine says what this machine cannot build a source without, by how many files
	// of each language it ships; nil where nothing is built.
	CheckMachine func(ctx context.Context, source string, files map[string]int) error
	// unreachable are those that do not answer and have no mirror, by name: the crawl defers
	// them. later holds those as well that a mirror stands in for: the run ends with "again
	// later".
	unreachable map[string]error
	later       []error
	// absent are those that GitHub does not have, and nobody else: the crawl rejects them.
	absent map[string]error
	// merged are the numbers of exact selections that GitHub knows; unknownNumbers is why it
	// does not answer, by source.
	merged         merges
	unknownNumbers map[string]error
	// found is what searches found, for the runs after this one.
	found findings
}

// Makers say what an exact selection means to the stages that make tasks of releases and of
// services.
type Makers interface {
	// Release is what a selection means among releases, as Source.Only has it.
	Release(repo string, releases []schemas.Release, selection string) (only string, ok bool)
	// Slices are the IDs of all slices of the release that a selection begins with.
	Slices(ctx context.Context, all *Set, repo schemas.Repo, releases []schemas.Release, selection string) ([]string, error)
	// Groups are the names of the groups of endpoints that a tree declares.
	Groups(t *tree.Tree) ([]string, error)
}

// New is an empty set, for the sources of c.
func New(c *config.Config, makers Makers) *Set {
	return &Set{
		config: c, makers: makers, shelf: gitrepo.NewShelf(max(c.Jobs, gitrepo.DefaultOpen)), origins: map[string]*gitrepo.Origin{},
		place: map[string]int{}, asked: map[string]bool{}, fetchedAtStart: map[string]bool{}, unreachable: map[string]error{}, absent: map[string]error{},
	}
}

// AddLocal adds a repository on this machine. It does nothing where one of its name is there.
func (s *Set) AddLocal(git string, o *gitrepo.Origin) {
	if s.origins[o.Info().Name] != nil {
		return
	}
	s.add(o)
	s.order = append(s.order, schemas.Source{Git: git, Repo: o.Info()})
}

// add takes a source that was looked up.
func (s *Set) add(o *gitrepo.Origin) {
	name := o.Info().Name
	s.origins[name], s.fetchedAtStart[name] = o, !o.Here()
	s.shelf.Add(o)
}

// All are the sources in the order of the configuration.
func (s *Set) All() []schemas.Source { return s.order }

// Origin is where a source is read from; nil where it does not answer.
func (s *Set) Origin(name string) *gitrepo.Origin { return s.origins[name] }

// Unreachable are the names of the sources that do not answer and have no mirror, sorted.
func (s *Set) Unreachable() []string { return slices.Sorted(maps.Keys(s.unreachable)) }

// Deferred counts the sources that do not answer, those that a mirror stands in for included.
// A run with one of them is to be repeated.
func (s *Set) Deferred() int { return len(s.later) }

// looksAtOnce bounds how many sources are looked up at one time.
const looksAtOnce = 8

// looked is a source of the configuration that was looked up.
type looked struct {
	origin *gitrepo.Origin
	err    error
}

// errNotWanted is a source that is not looked at: what GitHub says of it keeps it out.
var errNotWanted = errors.New("it is kept out by what GitHub says of it")

// look looks up the sources, many at one time. One that GitHub keeps out is not looked up.
func (f *Finder) look(ctx context.Context, all []placed, said answers) []looked {
	out := make([]looked, len(all))
	ctx = gitrepo.WithPatience(ctx, gitrepo.Patience{Waiting: func(host string, silent time.Duration) {
		f.Say("waiting for %s, %s", host, silent)
	}})
	var g errgroup.Group
	g.SetLimit(looksAtOnce)
	for i, src := range all {
		seed := schemas.Source{GitHub: src.GitHub, Gates: src.gates, Forge: f.forgeOf(src, said)}
		if f.GitHub != nil && crawl.CheckGitHub(seed, f.GitHub, f.Crawl) != nil {
			out[i].err = errNotWanted
			continue
		}
		g.Go(func() error {
			if ctx.Err() == nil {
				out[i].origin, out[i].err = gitrepo.Look(ctx, src.Git, src.Name, filepath.Join(f.Cache, "mirrors"))
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own error
	return out
}

// Open looks up all sources before anything starts, so that every wrong path is said at
// once. A URL that does not answer now leaves the others unharmed: its mirror
// serves where it is whole.
func (f *Finder) Open(ctx context.Context) (*Set, error) {
	c := f.Config
	places, found, err := f.find(ctx)
	if err != nil {
		return nil, err
	}
	if f.GitHub != nil || slices.ContainsFunc(places, func(src placed) bool { return config.IsURL(src.Git) }) { // of mirrors
		if err := f.UseCache(ctx); err != nil {
			return nil, &RefusedError{Err: err}
		}
	}
	said, err := f.ask(ctx, places)
	if err != nil {
		return nil, err
	}
	s := New(c, f.Makers)
	s.found = found
	all := f.look(ctx, places, said)
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var problems config.Problems
	for i, src := range places {
		if text := f.addLooked(s, src, said, all[i]); text != "" {
			problems = append(problems, config.Problem{Where: c.Origin(fmt.Sprintf("sources[%d].git", src.at)).Where, Text: text})
		}
	}
	if said.later != nil {
		s.later = append(s.later, said.later)
	}
	if s.merged, s.unknownNumbers, err = f.merged(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	unknown, err := s.pick(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	problems = append(problems, unknown...)
	s.compareHistories()
	if len(problems) > 0 {
		return nil, errors.Join(problems, s.Close())
	}
	if len(s.origins) == 0 && len(s.later) > 0 {
		return nil, errors.Join(&RefusedError{Err: errors.Join(s.later...), Later: true}, s.Close())
	}
	return s, nil
}

// addLooked takes one source, or says what is wrong with it.
func (f *Finder) addLooked(s *Set, src placed, said answers, l looked) (problem string) {
	c := f.Config
	seed := schemas.Source{Git: src.Git, GitHub: src.GitHub, Since: src.Since.String(), Until: src.Until.String(), Only: src.Only, Changes: c.Limits.Changes, Releases: c.Limits.Releases, Gates: src.gates, Category: src.category, Kinds: kindsOfSource(c, src.Source)}
	none := f.askedOf(s, src, said, &seed)
	if none != nil && l.err == nil {
		f.Say("%v; using the code at %s", none, src.Git)
	}
	switch {
	case errors.Is(l.err, errNotWanted):
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.absent[seed.Repo.Name] = l.err
	case none != nil && l.err != nil:
		seed.Repo, seed.Forge = schemas.Repo{Name: silentName(src.Source), URL: src.Git}, &schemas.Forge{Name: src.GitHub, Gone: none.Error()}
		s.absent[seed.Repo.Name] = none
	case errors.Is(l.err, gitrepo.ErrRemote):
		s.later = append(s.later, l.err)
		f.Say("%s  deferred: %v", src.Git, l.err)
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.unreachable[seed.Repo.Name] = l.err
	case l.err != nil:
		return l.err.Error() + elsewhere(src.Source)
	default:
		if asOf, why := l.origin.Silent(); why != nil {
			s.later = append(s.later, why)
			f.Say("%s  does not answer; using its mirror of %s (%v)", src.Git, asOf.Format("2006-01-02 15:04"), why)
		}
		seed.Repo, seed.Refs = l.origin.Info(), l.origin.Refs()
		if _, twice := s.place[seed.Repo.Name]; twice {
			return fmt.Sprintf("%s and another source are both %s; give one of them a name (owner/name=%s)", src.Git, seed.Repo.Name, src.Git)
		}
		s.add(l.origin)
	}
	s.place[seed.Repo.Name] = src.at
	s.order = append(s.order, f.grown(seed))
	return ""
}

// kindsOfSource are the kinds of tasks that are made of a source; nil is features alone.
func kindsOfSource(c *config.Config, src config.Source) []schemas.Kind {
	words := src.Kinds
	if len(words) == 0 {
		words = c.Kinds
	}
	var out []schemas.Kind
	for _, w := range schemas.Kinds {
		if slices.Contains(words, string(w)) {
			out = append(out, w)
		}
	}
	if len(out) == 1 && out[0] == schemas.KindFeature {
		return nil
	}
	return out
}

// OwnerName matches what names a repository on a forge, and may be meant for a path.
var OwnerName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// elsewhere is where a source may be that is not at its path: in a folder above, or on
// GitHub.
func elsewhere(src config.Source) string {
	if config.IsURL(src.Git) {
		return ""
	}
	if _, err := os.Stat(src.Git); err != nil {
		if OwnerName.MatchString(src.Git) {
			return "; did you mean " + hosts.GitHub + src.Git + "?"
		}
		return ""
	}
	dir, err := filepath.Abs(src.Git)
	if err != nil {
		return ""
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, ".git")); err == nil {
			return "; it lies in the repository at " + above
		}
	}
	return ""
}

// compareHistories notes for each source those with the same history whose names come first,
// as far as that is known without fetching any; the crawl finds the others.
func (s *Set) compareHistories() {
	for i := range s.order {
		own := &s.order[i]
		var unknown []string
		for _, other := range s.order {
			switch {
			case other.ID() >= own.ID() || s.origins[other.Repo.Name] == nil:
			case other.Repo.Root == "" || own.Repo.Root == "":
				unknown = append(unknown, other.Repo.Name)
			case other.Repo.Root == own.Repo.Root:
				own.EarlierSources = append(own.EarlierSources, other.Repo.Name)
			}
		}
		slices.Sort(own.EarlierSources)
		if len(unknown) > 0 {
			slices.Sort(unknown)
			own.Beside = schemas.DigestOf(unknown)
		}
	}
}

// EarlierSources implements crawl.Repositories. A source that cannot be read now is left out:
// once it can be read, the others are crawled again.
func (s *Set) EarlierSources(ctx context.Context, r schemas.Repo) ([]string, error) {
	var out []string
	for _, other := range s.order {
		origin := s.origins[other.Repo.Name]
		if origin == nil || other.ID() >= r.ID() {
			continue
		}
		root, err := origin.Root(ctx)
		switch {
		case errors.Is(err, gitrepo.ErrRemote), errors.Is(err, gitrepo.ErrNoRepo), errors.Is(err, gitrepo.ErrMissing):
		case err != nil:
			return nil, err
		case root == r.Root:
			out = append(out, other.Repo.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// MissingTools implements crawl.Repositories.
func (s *Set) MissingTools(ctx context.Context, r schemas.Repo, files map[string]int) error {
	if s.CheckMachine == nil || !s.fetchedAtStart[r.Name] {
		return nil
	}
	return s.CheckMachine(ctx, r.URL, files)
}

// Seeds are what the plan begins with.
func (s *Set) Seeds() []pipeline.Record {
	var out []pipeline.Record
	// By name: each waits for those before it that were never fetched.
	for _, src := range slices.SortedFunc(slices.Values(s.order), func(a, b schemas.Source) int { return strings.Compare(a.ID(), b.ID()) }) {
		out = append(out, src)
	}
	return out
}

// IsUnreachable reports whether the source with an ID did not answer when it was looked up.
func (s *Set) IsUnreachable(id string) bool {
	for name := range s.unreachable {
		if schemas.RepoSlug(name) == id {
			return true
		}
	}
	return false
}

// Close closes what is open.
func (s *Set) Close() error { return s.shelf.Close() }

// Open implements the stages: one repository at the head of its record.
func (s *Set) Open(ctx context.Context, r schemas.Repo) (*gitrepo.Repo, func(), error) {
	if err := s.absent[r.Name]; err != nil {
		return nil, nil, fmt.Errorf("%w: %w", gitrepo.ErrRemote, err)
	}
	var waits *github.Later
	if err := s.unreachable[r.Name]; errors.As(err, &waits) {
		return nil, nil, &pipeline.Deferred{Resource: github.Resource, Until: waits.Until, Err: err}
	} else if err != nil { // at whatever stage it is asked
		return nil, nil, &pipeline.Deferred{Resource: crawl.GitResource, Err: err}
	}
	repo, release, err := s.shelf.Open(ctx, r)
	if errors.Is(err, gitrepo.ErrRemote) {
		err = &pipeline.Deferred{Resource: crawl.GitResource, Err: err}
	}
	return repo, release, err
}

// reading has read use a repository where it stands; what is read by the IDs of objects
// is the same at every head.
func reading[T any](ctx context.Context, s *Set, name string, read func(*gitrepo.Repo) (T, error)) (out T, err error) {
	repo, release, err := s.Open(ctx, schemas.Repo{Name: name})
	if err != nil {
		return out, err
	}
	defer release()
	return read(repo)
}

// Tree implements states.Repos.
func (s *Set) Tree(ctx context.Context, repo, id string) (*tree.Tree, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (*tree.Tree, error) { return r.Tree(ctx, id) })
}

// Describe implements environment.History.
func (s *Set) Describe(ctx context.Context, repo, commit string) (tree.Version, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (tree.Version, error) { return r.Describe(ctx, commit) })
}

// Note keeps where the sources lie on this machine, for env and for whoever comes back
// to the store. It is not a record: nothing that is digested or exported is read from it.
func (s *Set) Note(dir string) error {
	if err := s.found.write(dir); err != nil {
		return err
	}
	notes, err := ReadNotes(dir)
	if err != nil {
		return err
	}
	for _, src := range s.order {
		git := src.Git
		if !config.IsURL(git) {
			if git, err = filepath.Abs(git); err != nil {
				return err
			}
		}
		notes[src.Repo.Name] = git
	}
	b, err := json.MarshalIndent(notes, "", " ")
	if err != nil {
		return err
	}
	return blob.WriteFile(filepath.Join(dir, store.NotesFile), append(b, '\n'))
}

// ReadNotes reads where the sources of a store lie on this machine, by name.
func ReadNotes(dir string) (map[string]string, error) {
	notes := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, store.NotesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return notes, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &notes); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, store.NotesFile), err)
	}
	return notes, nil
}

// Files implements link.Repos.
func (s *Set) Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]schemas.ChangedFile, error) { return r.Files(ctx, from, to) })
}

// Graft implements link.Repos.
func (s *Set) Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (string, error) { return r.Graft(ctx, base, edits) })
}

// Diff implements link.Repos.
func (s *Set) Diff(ctx context.Context, repo, from, to string) ([]byte, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]byte, error) { return r.Diff(ctx, from, to) })
}

// Hunks implements link.Repos.
func (s *Set) Hunks(ctx context.Context, repo, from, to string) ([]byte, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]byte, error) { return r.Hunks(ctx, from, to) })
}

// Shipped counts the source files at a repository's head by language; nothing where
// the clone lacks its trees or cannot be opened: the stages see that.
func (s *Set) Shipped(ctx context.Context, r schemas.Repo) map[string]int {
	repo, release, err := s.Open(ctx, r)
	if err != nil {
		return nil
	}
	defer release()
	paths, err := repo.Paths(ctx, repo.Info().Head)
	if err != nil {
		return nil
	}
	return crawl.Shipped(paths)
}

// Sliced reports whether parts of releases are among what tasks are made of.
func (s *Set) Sliced() bool { return s.config.Library.Sliced() }
