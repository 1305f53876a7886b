package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// sources are the opened repositories of a run, by name.
type sources struct {
	repos map[string]*gitrepo.Repo
	order []schemas.Source
	later []error // could not be fetched now: the run ends with "again later"
}

// openSources opens all of them before anything starts, so that every wrong path
// is told at once. A URL that does not answer now leaves the others unharmed.
func (p *program) openSources(ctx context.Context, c *config.Config) (*sources, error) {
	s := &sources{repos: map[string]*gitrepo.Repo{}}
	var problems config.Problems
	for i, src := range c.Sources {
		where := c.Origin(fmt.Sprintf("sources[%d].git", i)).Where
		r, err := gitrepo.Open(ctx, src.Git, src.Name, filepath.Join(p.cache, "mirrors"))
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), s.close())
		case errors.Is(err, gitrepo.ErrRemote):
			s.later = append(s.later, err)
			p.say("%s  deferred: %v", src.Git, err)
			continue
		case err != nil:
			problems = append(problems, config.Problem{Where: where, Text: err.Error()})
			continue
		}
		name := r.Info().Name
		if s.repos[name] != nil {
			problems = append(problems, config.Problem{Where: where, Text: fmt.Sprintf("%s and another source are both %s; give one of them a name", src.Git, name)})
			_ = r.Close() // the problem is told already
			continue
		}
		s.repos[name] = r
		s.order = append(s.order, schemas.Source{
			Git: src.Git, Repo: r.Info(), Since: src.Since.String(), Until: src.Until.String(), Only: src.Only, Changes: c.Limits.Changes,
			Releases: c.Limits.Releases, Refs: r.Refs(),
		})
	}
	problems = append(problems, s.pick()...)
	s.elders()
	if len(problems) > 0 {
		return nil, errors.Join(&ended{exitUsage, problems}, s.close())
	}
	if len(s.order) == 0 && len(s.later) > 0 {
		return nil, errors.Join(&ended{exitDeferred, errors.Join(s.later...)}, s.close())
	}
	return s, nil
}

// elders tells each source of those with the same history whose names come first.
func (s *sources) elders() {
	for i := range s.order {
		own := &s.order[i]
		for _, other := range s.order {
			if other.Repo.Root == own.Repo.Root && other.ID() < own.ID() {
				own.Elders = append(own.Elders, other.Repo.Name)
			}
		}
		slices.Sort(own.Elders)
	}
}

// pick turns the IDs among the exact selections into numbers and commits of the
// repository that they name, and leaves out a source of which nothing is asked.
func (s *sources) pick() (problems config.Problems) {
	var names []string
	for _, src := range s.order {
		names = append(names, src.ID())
	}
	var kept []schemas.Source
	told := map[string]bool{}
	for _, src := range s.order {
		only := []string{}
		for _, entry := range src.Only {
			id, err := schemas.ParseInstanceID(entry)
			switch {
			case err != nil:
				only = append(only, entry)
			case strings.EqualFold(id.Repo, src.ID()):
				only = append(only, keyToSelection(id.Key))
			case !known(names, id.Repo) && !told[entry]:
				told[entry] = true
				problems = append(problems, config.Problem{Text: fmt.Sprintf("%s is of no source of this run (%s)%s", entry, strings.Join(names, ", "), nearest.Hint(id.Repo, names))})
			}
		}
		if len(only) == 0 && len(src.Only) > 0 {
			continue
		}
		src.Only = only
		kept = append(kept, src)
	}
	s.order = kept
	return problems
}

func known(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// keyToSelection is an ID's key as git knows it: c and 12 hex digits is a commit.
func keyToSelection(key string) string { return strings.TrimPrefix(key, "c") }

// seeds are what the plan begins with.
func (s *sources) seeds() []pipeline.Record {
	var out []pipeline.Record
	for _, src := range s.order {
		out = append(out, src)
	}
	return out
}

func (s *sources) close() error {
	var errs []error
	for _, r := range s.repos {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Repository is one repository by its name: the stages know no others.
func (s *sources) Repository(name string) (*gitrepo.Repo, error) {
	if r, ok := s.repos[name]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("%s is no source of this run", name)
}

// Tree implements environment.Repos.
func (s *sources) Tree(ctx context.Context, repo, id string) (*tree.Tree, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return nil, err
	}
	return r.Tree(ctx, id)
}

// Describe implements environment.Repos.
func (s *sources) Describe(ctx context.Context, repo, commit string) (lang.Version, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return lang.Version{}, err
	}
	return r.Describe(ctx, commit)
}

// notesFile says where the sources of a store lie on this machine. It is no record:
// nothing that is digested or exported is read from it.
const notesFile = "sources.json"

// note keeps where the sources lie, for env and for whoever comes back to the store.
func (s *sources) note(dir string) error {
	notes, err := readNotes(dir)
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
	return blob.WriteFile(filepath.Join(dir, notesFile), append(b, '\n'))
}

func readNotes(dir string) (map[string]string, error) {
	notes := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, notesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return notes, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &notes); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, notesFile), err)
	}
	return notes, nil
}

// Files implements link.Repos.
func (s *sources) Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return nil, err
	}
	return r.Files(ctx, from, to)
}

// Graft implements link.Repos.
func (s *sources) Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return "", err
	}
	return r.Graft(ctx, base, edits)
}

// Diff implements link.Repos.
func (s *sources) Diff(ctx context.Context, repo, from, to string) ([]byte, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return nil, err
	}
	return r.Diff(ctx, from, to)
}

// Hunks implements link.Repos.
func (s *sources) Hunks(ctx context.Context, repo, from, to string) ([]byte, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return nil, err
	}
	return r.Hunks(ctx, from, to)
}

var _ stages.Repos = (*sources)(nil)
