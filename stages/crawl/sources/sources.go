// Package sources finds the repositories of a run, looks them up before it begins, and opens
// them when a stage asks: those that a configuration names, those that its searches, lists and
// projects of PyPI stand for, and of these what exact selections (--only) name.
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
	"sync"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
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
	// Bring gets a source that is not in the set yet; nil: all of them were looked up.
	Bring    func(ctx context.Context, name string) (*gitrepo.Origin, error)
	bringing sync.Mutex
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
	// again says that rows are carried on whose source is gone or rewritten: kept are these
	// sources, rewritten the IDs of rows whose commits are not on a line any more.
	again     bool
	kept      []Kept
	rewritten []string
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

// compareHistories notes for each source those with the same history whose names come first,
// as far as that is known without fetching any; the crawl finds the others. Whether a mirror is here
// already says nothing: a second run would crawl again what the first one fetched.
func (s *Set) compareHistories() {
	for i := range s.order {
		if config.IsURL(s.order[i].Git) {
			s.order[i].Repo.Root = ""
		}
	}
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
	if err := s.bring(ctx, r.Name); err != nil {
		return nil, nil, err
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

// bring gets a source where somebody brings it.
func (s *Set) bring(ctx context.Context, name string) error {
	if s.Bring == nil {
		return nil
	}
	s.bringing.Lock()
	defer s.bringing.Unlock()
	if s.origins[name] != nil {
		return nil
	}
	o, err := s.Bring(ctx, name)
	if err != nil {
		return &pipeline.Halted{Err: fmt.Errorf("getting %s from the run: %w", name, err)} // it says nothing of the item
	}
	s.AddLocal(o.Info().URL, o)
	return nil
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
		if s.origins[src.Repo.Name] == nil {
			continue // nobody has read it
		}
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
