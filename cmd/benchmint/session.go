package main

import (
	"context"
	"errors"
	"os/exec"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// session is everything that is open for the time of one run.
type session struct {
	*program
	config   *config.Config
	sources  *sources.Set
	store    *store.Store
	workshop *workshop
	plan     *pipeline.Plan
}

// open opens what stages up to until need. On an error nothing is left open.
func (p *program) open(ctx context.Context, c *config.Config, until string) (s *session, err error) {
	if err := errors.Join(places(c, until), p.written.read(c.Overrides), p.reviews.read(c.Reviews), p.models.check(c), p.github.open(c)); err != nil {
		return nil, err
	}
	if err := p.readPublished(ctx, c); err != nil {
		return nil, err
	}
	s = &session{program: p, config: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// Sources and needs first: what cannot be begun leaves no empty store behind.
	if s.sources, s.workshop, err = p.ready(ctx, c, until); err != nil {
		return s, err
	}
	if !p.replace && writes(until) {
		if err := s.sources.KeepsRows(ctx); err != nil {
			return s, err
		}
	}
	if s.store, err = p.openStore(ctx, c); err != nil {
		return s, &ended{exitUsage, err}
	}
	if err := s.store.Lock(); err != nil {
		return s, lockedOr(err)
	}
	if err := s.store.SameBlobs(); err != nil {
		return s, &ended{exitUsage, err}
	}
	if err := errors.Join(s.sources.Note(c.Store), s.noteAsOf(ctx)); err != nil {
		return s, err
	}
	if err := p.machine(c).keepKind(s.store, s.workshop); err != nil {
		return s, err
	}
	if err := p.written.retryChanged(ctx, s.store); err != nil {
		return s, err
	}
	if err := p.models.begin(ctx, c, s.store, until); err != nil {
		return s, err
	}
	if err := s.reopener().begin(ctx); err != nil {
		return s, err
	}
	if s.plan, err = p.plan(ctx, c, s.store, s.sources, s.workshop); err != nil {
		return s, &ended{exitUsage, err}
	}
	return s, nil
}

// close closes what is open.
func (s *session) close() error {
	var errs []error
	if s.workshop != nil {
		errs = append(errs, s.workshop.close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.sources != nil {
		errs = append(errs, s.sources.Close())
	}
	return errors.Join(errs...)
}

// reopener opens rejects of the session's store.
func (s *session) reopener() reopener {
	return reopener{machine: s.machine(s.config), store: s.store, sources: s.sources, workshop: s.workshop}
}

func (s *session) watcher() *watcher { return &watcher{s.terminal, s.models, s.sources} }

// watched runs the plan before the eyes of a person: a live view on a terminal,
// plain lines elsewhere.
func (s *session) watched(ctx context.Context, seeds []pipeline.Record, options pipeline.RunOptions) (pipeline.Summary, error) {
	live := pipeline.NewLive(s.watcher(), s.now)
	end := s.shown(live, (&shelf{Store: s.store}).funnel, sandboxes(options), s.github.leftOf)
	summary, err := s.plan.Run(ctx, s.store, seeds, live, options)
	return summary, errors.Join(err, end())
}

// ready opens the sources and what the stages up to until work with. What is missing
// is reported at once; git is looked for before it is missed.
func (p *program) ready(ctx context.Context, c *config.Config, until string) (s *sources.Set, w *workshop, err error) {
	if _, err := exec.LookPath("git"); err == nil {
		if s, err = p.finder(c).OpenWhole(ctx); err != nil {
			return nil, nil, err
		}
	}
	j, err := p.jobOf(ctx, c, s, until)
	if err == nil {
		w, err = p.machine(c).require(ctx, j)
	}
	if err == nil && s != nil && j.builds {
		s.CheckMachine = p.machine(c).lateNeeds(j)
	}
	return s, w, err
}

// jobOf is what a run up to a stage does with sources, nil where they cannot be read.
func (p *program) jobOf(ctx context.Context, c *config.Config, s *sources.Set, until string) (job, error) {
	j := job{asks: p.machine(c).askers(s, false)}
	plan, err := stages.New(p.deps(c, nil, &workshop{builder: idleBuilder(c)}))
	if err != nil {
		return j, &ended{exitUsage, err}
	}
	if j.builds = plan.Needs(until)[stages.Sandbox]; j.builds {
		err = p.machine(c).recall(ctx, &j)
	}
	return j, err
}
