package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// stayFor is how often a worker that stays looks for new work.
const stayFor = 5 * time.Second

func newWork(p *program) *cobra.Command {
	var stay bool
	cmd := &cobra.Command{
		Use: "work", Short: "add one more process to a run whose store is postgres://…", Args: argsOf(cobra.NoArgs),
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
	if err := begun(ctx, p.world, c); err != nil {
		return err
	}
	s, err := p.alone().open(ctx, c, stages.LastBeforeExport, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	options := s.runOptions(c, runFlags{until: stages.LastBeforeExport})
	options.Join = true
	done := worked{Worker: options.Worker.ID}
	for {
		summary, err := s.watched(ctx, nil, options)
		for _, count := range summary.Stages {
			done.Executed += count.Executed
		}
		if errors.Is(err, store.ErrPlan) {
			return unmet("%w: a worker needs the configuration and the version of benchmint that the run was begun with", err)
		}
		if err != nil || summary.Interrupted || !stay {
			return errors.Join(err, done.finish(ctx, s, summary, err))
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), done.finish(ctx, s, summary, nil))
		case <-time.After(stayFor):
		}
	}
}

// begun refuses a store on which no run has begun, before anything is opened for it:
// a worker decides nothing, not even which sandbox the run uses.
func begun(ctx context.Context, w *world, c *config.Config) (err error) {
	s, err := w.openStore(ctx, c)
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
	Ended    string `json:"ended"`    // why it does no more
	// Dataset is where the run wrote it, as host:folder; "" where it has not.
	Dataset string `json:"dataset,omitempty"`
}

// finish says what a worker did, why it ends, and what became of the dataset. fault is
// what ended it, nil for most.
func (w worked) finish(ctx context.Context, s *session, end pipeline.Summary, fault error) error {
	later := 0
	for _, count := range end.Stages {
		later += count.Deferred + count.Open
	}
	dataset := "unknown: the store does not answer"
	switch {
	case ctx.Err() != nil:
		w.Ended = "interrupted; what it had begun is given back"
	case fault != nil:
		w.Ended = visible(tail(fault.Error(), 1))
	case later > 0:
		w.Ended = plural(later, "item") + " deferred for longer than a worker waits (wait)"
	default:
		w.Ended = "nothing is left to do"
	}
	var err error
	if !ofMachine(fault) {
		if w.Dataset, err = datasetAt(context.WithoutCancel(ctx), s.store); err != nil {
			return err
		}
		dataset = cmp.Or(w.Dataset, "not written so far: the process that began the run writes it; where that has ended, benchmint run with the same configuration goes on and writes it")
	}
	if s.json {
		err = s.writeJSON(w)
	} else {
		t := s.out()
		t.line("worked   %s ended here", plural(w.Executed, "step"))
		t.line("ended    %s", w.Ended)
		t.line("dataset  %s", dataset)
		err = t.err
	}
	if code := end.Code(); err == nil && code != exitOK {
		return &ended{code: code}
	}
	return err
}

// datasetNote is where a store keeps the place of the dataset that was written of it last.
const datasetNote = "dataset"

// datasetAt is the place of the dataset of all that the store holds; "" where there is none.
func datasetAt(ctx context.Context, s *store.Store) (string, error) {
	tallies, err := s.Tallies(ctx)
	if err != nil || !slices.ContainsFunc(tallies, func(t pipeline.Tally) bool {
		return t.Stage == stages.Export && t.State == schemas.StepDone && t.N > 0
	}) {
		return "", err
	}
	return s.Note(datasetNote)
}
