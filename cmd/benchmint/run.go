package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// runFlags are the flags of run that are no keys of the configuration.
type runFlags struct {
	until        string
	dryRun       bool
	allowFailed  int
	partial      bool
	retryCrashed bool
	repositories string
	listening
}

func newRun(p *program) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [SOURCE…]", Short: "run the whole pipeline, resumed where it stopped",
		Long:    "Takes git repositories (paths, bare or not, or URLs) to a dataset of proved tasks and a file of\nrejects, each with its reason. Without a configuration: defaults, ./benchmint-state, ./benchmint-out.\n\nA dataset never loses a row unasked: a row that is in the output folder leaves it only where this\nrun rejects its change, by name and reason, or with --replace. A run with other sources, another\nwindow or --only that would take rows away ends with 2 before it begins.",
		Example: "  benchmint run https://example.org/acme/widget.git\n  benchmint run github:acme/widget    # with GITHUB_TOKEN\n  benchmint run ./clone --since 2025-01-01\n  benchmint run -c benchmint.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.repositories != "" {
				listed, err := sources.ReadRepositories(f.repositories, p.lookup(githubToken) != "")
				if err != nil {
					return err
				}
				args = append(args, listed...)
			}
			c, err := p.load(args...)
			if err != nil {
				return err
			}
			if len(c.Sources) == 0 {
				return unmet("no source: benchmint run PATH-OR-URL, or sources: in %s (benchmint config example)", cmp.Or(c.File, config.DefaultFile))
			}
			if f.dryRun {
				return p.dryRun(cmd.Context(), c)
			}
			return p.run(cmd.Context(), c, f)
		},
	}
	p.override(cmd, "since", "sources[].since", "`DATE`: changes committed on this day (UTC) or later")
	p.override(cmd, "before", "sources[].until", "`DATE`: changes committed before this day (UTC)")
	p.override(cmd, "only", "sources[].only", "`ID,…`: only these IDs, pull request numbers or commits, in each source that has them; may be repeated")
	p.override(cmd, "limit", "limits.changes", "`N` newest candidates of each repository: changes that touch code and tests; 0 means all")
	p.override(cmd, "reviews", "reviews", reviewsUsage)
	p.override(cmd, "overrides", "overrides", "`FILE` of statements and interfaces written by hand, by ID")
	cmd.Flags().StringVar(&f.repositories, "repositories", "", "`FILE` of sources, one on a line: owner/name (on GitHub), owner/name=PATH-OR-URL, a path or a URL")
	p.running(cmd, &f)
	cmd.Flags().BoolVar(&f.retryCrashed, "retry-crashed", false, "try items again over which the process died five times")
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be done and the estimated cost")
	return cmd
}

// check refuses flags that cannot be meant.
func (f runFlags) check() error {
	if f.allowFailed < 0 {
		return unmet("--allow-failed: %d is below 0", f.allowFailed)
	}
	if f.until != "" && !slices.Contains(stages.Order, f.until) {
		return unknownStage("--until", f.until)
	}
	return f.listening.check()
}

// run takes the sources through the plan, and prints what came of it.
func (p *program) run(ctx context.Context, c *config.Config, f runFlags) (err error) {
	if err := p.forward(ctx, c); err != nil {
		return err
	}
	p = p.alone()
	p.far = f.address != ""
	s, err := p.open(ctx, c, f.until) // its standard error becomes a live view
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	options := s.runOptions(c, f)
	written, err := datasetUpToDate(c)
	if err != nil {
		return err
	}
	options.Redrain = writes(f.until) && !written
	if len(s.sources.Unreachable()) > 0 {
		options.Patience = 0 // it was tried already: this run does not wait for it again
	}
	var workers *post
	if p.far {
		if workers, err = s.listen(ctx, f.listening); err != nil {
			return err
		}
		workers.spread(&options)
	}
	summary, err := s.watched(ctx, s.sources.Seeds(), options)
	workers.close(err == nil && !summary.Interrupted)
	if !ofMachine(err) {
		err = errors.Join(err, s.reopener().noteVersions(context.WithoutCancel(ctx)), s.models.count(context.WithoutCancel(ctx), s.store))
	}
	if err != nil {
		return s.finish(context.WithoutCancel(ctx), f, summary, err)
	}
	unused, err := s.written.unused(s.store)
	if err != nil {
		return err
	}
	for _, id := range unused {
		s.say("%s: no item is %s", c.Overrides, id)
	}
	if summary.Drained && !summary.Interrupted {
		// A signal that comes now finds the dataset written: it takes nothing back.
		if err := errors.Join(noteDataset(c), s.reviews.sayUnused(s.terminal, c)); err != nil {
			return err
		}
	}
	return s.finish(context.WithoutCancel(ctx), f, summary, nil)
}

// openStore opens the store of the configuration, which is made where it is missing.
func (e *world) openStore(ctx context.Context, c *config.Config) (*store.Store, error) {
	s, err := store.Open(ctx, c.Store, store.Options{Now: e.now})
	if err != nil {
		return nil, &ended{exitUsage, fmt.Errorf("%s: %w", c.Store, err)}
	}
	return s, nil
}

// grace is how long steps have to end after the first Ctrl-C: enough for the cheap
// ones, and none for a suite of tests, which is done again.
const grace = 2 * time.Second

// runOptions are what a run may use of this machine.
func (e *world) runOptions(c *config.Config, f runFlags) pipeline.RunOptions {
	jobs := c.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	return pipeline.RunOptions{
		Until: f.until, Now: e.now, Slots: max(slots, jobs), Resources: map[string]int{stages.CPU: jobs, stages.Sandbox: c.Proof.Parallel, llm.Resource: c.Model.Open(), github.Resource: 1},
		Patience: c.Wait, Partial: f.partial, Grace: grace, RetryCrashed: f.retryCrashed,
		Worker: fmt.Sprintf("%d-%d", os.Getpid(), e.now().UnixNano()),
	}
}

// slots is how many steps run at one time that wait for others more than they compute:
// repositories that are fetched.
const slots = 64
