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

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// sources are the opened repositories of a run, by name.
type sources struct {
	repos map[string]*gitrepo.Repo
	order []schemas.Source
	place map[string]int  // of names in the configuration
	asked map[string]bool // names of sources of which exact changes are asked
	// silent are those that do not answer and have no mirror, by name: the crawl puts
	// them off. later holds those as well that a mirror stands in for: the run ends with
	// "again later".
	silent map[string]error
	later  []error
}

// openSources opens all of them before anything starts, so that every wrong path
// is told at once. A URL that does not answer now leaves the others unharmed: its
// mirror serves where it is whole.
func (p *program) openSources(ctx context.Context, c *config.Config) (*sources, error) {
	s := &sources{repos: map[string]*gitrepo.Repo{}, place: map[string]int{}, asked: map[string]bool{}, silent: map[string]error{}}
	if slices.ContainsFunc(c.Sources, func(src config.Source) bool { return config.IsURL(src.Git) }) { // of mirrors
		if err := p.useCache(ctx); err != nil {
			return nil, &ended{exitUsage, err}
		}
	}
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
			name := silentName(src)
			s.silent[name], s.place[name] = err, i
			s.order = append(s.order, schemas.Source{
				Git: src.Git, Repo: schemas.Repo{Name: name, URL: src.Git}, Since: src.Since.String(), Until: src.Until.String(), Only: src.Only,
				Changes: c.Limits.Changes, Releases: c.Limits.Releases,
			})
			continue
		case err != nil:
			problems = append(problems, config.Problem{Where: where, Text: err.Error()})
			continue
		}
		if asOf, why := r.Silent(); why != nil {
			s.later = append(s.later, why)
			p.say("%s  does not answer; using its mirror of %s (%v)", src.Git, asOf.Format("2006-01-02 15:04"), why)
		}
		name := r.Info().Name
		if _, twice := s.place[name]; twice {
			problems = append(problems, config.Problem{Where: where, Text: fmt.Sprintf("%s and another source are both %s; give one of them a name", src.Git, name)})
			_ = r.Close() // the problem is told already
			continue
		}
		s.repos[name], s.place[name] = r, i
		s.order = append(s.order, schemas.Source{
			Git: src.Git, Repo: r.Info(), Since: src.Since.String(), Until: src.Until.String(), Only: src.Only, Changes: c.Limits.Changes,
			Releases: c.Limits.Releases, Refs: r.Refs(),
		})
	}
	unknown, err := s.pick(ctx, c)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	problems = append(problems, unknown...)
	s.elders()
	if len(problems) > 0 {
		return nil, errors.Join(&ended{exitUsage, problems}, s.close())
	}
	if len(s.repos) == 0 && len(s.later) > 0 {
		return nil, errors.Join(&ended{exitDeferred, errors.Join(s.later...)}, s.close())
	}
	return s, nil
}

// elders tells each source of those with the same history whose names come first.
func (s *sources) elders() {
	for i := range s.order {
		own := &s.order[i]
		for _, other := range s.order {
			if other.Repo.Root != "" && other.Repo.Root == own.Repo.Root && other.ID() < own.ID() {
				own.Elders = append(own.Elders, other.Repo.Name)
			}
		}
		slices.Sort(own.Elders)
	}
}

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
	if err := s.silent[name]; err != nil { // at whatever stage it is asked
		return nil, &pipeline.Deferred{Resource: "git", Err: err}
	}
	return nil, fmt.Errorf("%s is not a source of this run", name)
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
func (s *sources) Describe(ctx context.Context, repo, commit string) (tree.Version, error) {
	r, err := s.Repository(repo)
	if err != nil {
		return tree.Version{}, err
	}
	return r.Describe(ctx, commit)
}

// note keeps where the sources lie on this machine, for env and for whoever comes back
// to the store. It is not a record: nothing that is digested or exported is read from it.
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
	return blob.WriteFile(filepath.Join(dir, store.NotesFile), append(b, '\n'))
}

func readNotes(dir string) (map[string]string, error) {
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
