package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages"
)

// stayFor is how often a worker that stays looks for new work.
const stayFor = 5 * time.Second

func newWork(p *program) *cobra.Command {
	var stay bool
	cmd := &cobra.Command{
		Use: "work", Short: "one more process on the steps of a run, where the store is postgres://…", Args: argsOf(cobra.NoArgs),
		Long:    "Takes steps of the run that another process began, with the same configuration, until none are left.\nThe process that began the run writes the dataset.",
		Example: "  benchmint run -c benchmint.yaml     # on one machine\n  benchmint work -c benchmint.yaml    # on each of the others",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			if !config.IsPostgres(c.Store) {
				return unmet("store: %s is for one process; several work together on a store at postgres://… (%s)", c.Store, c.Origin("store"))
			}
			return p.work(cmd.Context(), c, stay)
		},
	}
	p.override(cmd, "store", "store", "`URL` of the store")
	p.override(cmd, "overrides", "overrides", "`FILE` of statements and interfaces written by hand, as the run has it")
	p.overrideShort(cmd, "jobs", "j", "jobs", "`N` steps at one time, cheap ones included")
	cmd.Flags().BoolVar(&stay, "stay", false, "wait for more when nothing is left to do, until interrupted")
	return cmd
}

// work is a worker's part in a run.
func (p *program) work(ctx context.Context, c *config.Config, stay bool) (err error) {
	own := *p
	p = &own
	if err := p.begun(ctx, c); err != nil {
		return err
	}
	o, err := p.open(ctx, c, stages.Last, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	options := p.runOptions(c, runFlags{until: stages.Last})
	options.Join = true
	done := worked{Worker: options.Worker.ID}
	for {
		summary, err := p.watched(ctx, o, nil, options)
		for _, count := range summary.Stages {
			done.Executed += count.Executed
		}
		if errors.Is(err, store.ErrPlan) {
			return unmet("%w: a worker needs the configuration and the version of benchmint that the run was begun with", err)
		}
		if err != nil || summary.Interrupted || !stay {
			return errors.Join(err, p.finishWork(done, summary))
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), p.finishWork(done, summary))
		case <-time.After(stayFor):
		}
	}
}

// begun refuses a store on which no run has begun, before anything is opened for it:
// a worker decides nothing, not even which sandbox the run uses.
func (p *program) begun(ctx context.Context, c *config.Config) (err error) {
	s, err := p.openStore(ctx, c)
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tallies, err := s.Tallies(ctx)
	if err == nil && len(tallies) == 0 {
		err = unmet("no run has begun on this store; begin with: benchmint run, with the same configuration")
	}
	return err
}

// worked is what one worker did, for scripts.
type worked struct {
	Worker   string `json:"worker"`
	Executed int    `json:"executed"` // steps that ended here
}

func (p *program) finishWork(w worked, s pipeline.Summary) error {
	var err error
	if p.json {
		err = p.writeJSON(w)
	} else {
		t := p.out()
		t.line("worked   %s ended here", plural(w.Executed, "step"))
		err = t.err
	}
	if code := s.Code(); err == nil && code != exitOK {
		return &ended{code: code}
	}
	return err
}
