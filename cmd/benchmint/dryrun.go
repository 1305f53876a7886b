package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// forecast is what a run would do.
type forecast struct {
	Changes  int                    `json:"changes"`
	Rejected map[schemas.Reason]int `json:"rejected"` // by reading alone
	Prove    []string               `json:"prove"`    // IDs with no verdict yet
	Settled  int                    `json:"settled"`  // IDs with a verdict in the store
	// Seconds is the estimate for Prove from the middle time of earlier proofs in
	// the store; -1 where there is none to go by.
	Seconds float64 `json:"seconds"`
	// Services are the sources of which services would be made: to know their groups they have to
	// be started, which a dry run does not.
	Services int `json:"services,omitempty"`
	suites   int // of Prove that want one
	// GitHub is what GitHub would be asked: what the dry run asked is not in it.
	GitHub *github.Bill `json:"github,omitempty"`
	// Model is what a model would be asked.
	Model *bill `json:"model,omitempty"`
}

// dryRun crawls and links into a store that is thrown away: reading costs seconds,
// and the real store stays as it is.
func (p *program) dryRun(ctx context.Context, c *config.Config) (err error) {
	tmp, err := os.MkdirTemp("", "benchmint-dry-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	s, err := store.Open(ctx, tmp, store.Options{Now: p.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// Which repositories there are, and what they are, is asked; of pull requests nothing is.
	if err := p.github.open(c); err != nil {
		return err
	}
	repos, err := p.finder(c).OpenWhole(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repos.Close()) }()
	if err := p.readPublished(ctx, c); err != nil {
		return err
	}
	free := *c
	free.Model = config.Model{} // nobody is asked
	var bill github.Bill
	d := p.deps(&free, repos, &workshop{builder: idleBuilder(c)})
	if p.github.library != nil {
		d.Forge = planned{p.github.library, &bill}
	}
	plan, err := p.planOf(d, &free, s)
	if err != nil {
		return &ended{exitUsage, err}
	}
	seeds, services := withoutServices(repos.Seeds())
	summary, err := plan.Run(ctx, s, seeds, &faults{watcher{p.terminal, p.models, repos}}, p.runOptions(c, runFlags{until: stages.LastWithoutSandbox}))
	if err != nil {
		return err
	}
	f, err := forecastOf(ctx, p.world, c, s, summary)
	if err != nil {
		return err
	}
	if p.github.library != nil {
		f.GitHub = &bill
	}
	f.Services = services
	if c.Model.Name != "" {
		groups, err := repos.DeclaredGroups(ctx)
		if err != nil {
			return err
		}
		b := price(c, len(f.Prove)+f.Rejected[schemas.OtherLabel], len(f.Prove), groups, f.suites)
		f.Model = &b
	}
	if err := f.print(p.github, c, len(repos.All())); err != nil {
		return err
	}
	if code := summary.Code(); code != exitOK {
		return &ended{code: code}
	}
	return nil
}

// withoutServices are sources as a dry run reads them, and how many of them make services.
func withoutServices(seeds []pipeline.Record) (kept []pipeline.Record, services int) {
	for _, seed := range seeds {
		src, ok := seed.(schemas.Source)
		if !ok || !src.Wants(schemas.KindService) {
			kept = append(kept, seed)
			continue
		}
		services++
		src.Kinds = slices.DeleteFunc(slices.Clone(src.Kinds), func(k schemas.Kind) bool { return k == schemas.KindService })
		if len(src.Kinds) > 0 {
			kept = append(kept, src)
		}
	}
	return kept, services
}

// faults says only what kept a dry run from seeing everything.
type faults struct{ watcher }

func (f *faults) Begin(string, string) {}

func (f *faults) End(s schemas.Step, reused bool) {
	if s.State == schemas.StepFailed || s.State == schemas.StepDeferred {
		f.watcher.End(s, reused)
	}
}

func forecastOf(ctx context.Context, w *world, c *config.Config, dry *store.Store, summary pipeline.Summary) (f forecast, err error) {
	f = forecast{Rejected: rejects(summary), Prove: []string{}, Seconds: -1}
	labels, err := dry.Steps(stages.LastWithoutSandbox)
	if err != nil {
		return f, err
	}
	f.Changes = made(summary.Stages).Items()
	var real *store.Store
	if store.Exists(c.Store) {
		if real, err = w.openStore(ctx, c); err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, real.Close()) }()
	}
	for _, l := range labels {
		if l.State != schemas.StepDone {
			continue
		}
		settled, err := hasVerdict(real, l.Key)
		if err != nil {
			return f, err
		}
		if settled {
			f.Settled++
		} else {
			f.Prove = append(f.Prove, l.Key)
			start, err := stages.NewRecords(dry).Made().Start(l.Key)
			if err != nil {
				return f, err
			}
			if start.WantsSuite() {
				f.suites++
			}
		}
	}
	if middle, ok, err := middleTime(real); err != nil {
		return f, err
	} else if ok {
		f.Seconds = middle.Seconds() * float64(len(f.Prove))
	}
	return f, nil
}

// hasVerdict: the item was proved, or rejected by a stage behind those that look at it.
func hasVerdict(s *store.Store, id string) (bool, error) {
	if s == nil {
		return false, nil
	}
	steps, err := s.Ladder(stages.Order[slices.Index(stages.Order, stages.LastWithoutSandbox)+1:], id)
	for _, step := range steps {
		if step.State == schemas.StepRejected || step.Stage == stages.Validate && step.State == schemas.StepDone {
			return true, err
		}
	}
	return false, err
}

// middleTime is the median of what proofs took here, their builds left out.
func middleTime(s *store.Store) (time.Duration, bool, error) {
	if s == nil {
		return 0, false, nil
	}
	steps, err := s.Steps(stages.Validate)
	if err != nil || len(steps) == 0 {
		return 0, false, err
	}
	ms := make([]int64, len(steps))
	for i, step := range steps {
		ms[i] = step.MS
	}
	slices.Sort(ms)
	return time.Duration(ms[len(ms)/2]) * time.Millisecond, true, nil
}

func (f forecast) print(h *hub, c *config.Config, sources int) error {
	if h.json {
		return h.writeJSON(f)
	}
	t := h.out()
	t.line("would look at %s of %s", plural(f.Changes, "change"), plural(sources, "source"))
	if len(f.Rejected) > 0 {
		t.line("  rejected by reading alone: %s", reasons(f.Rejected))
	}
	t.line("  with a verdict in the store: %d (used again where nothing that decides it has changed)", f.Settled)
	if f.Services > 0 {
		t.line("  services of %s: their groups are known once they were started, which a dry run does not", plural(f.Services, "source"))
	}
	t.line("  to build and prove: %d", len(f.Prove))
	for _, id := range f.Prove {
		t.line("    %s", id)
	}
	if f.Seconds >= 0 {
		t.line("  estimated time of the proofs: %s; of the environments: unknown", (time.Duration(f.Seconds) * time.Second).Round(time.Second))
	} else {
		t.line("  estimated time: nothing was proved here yet to go by; each proof runs the suite %d times", 2*c.Proof.Runs)
	}
	if c.Model.Name == "" {
		t.line("  estimated cost: no paid service is used")
	}
	if f.GitHub != nil {
		t.line("  GitHub would be sent %s of pull requests, at %s; their labels and texts may change what is wanted", plural(f.GitHub.Requests, "more question"), plural(f.GitHub.Points, "point"))
		t.line("  GitHub was asked: %s", cmp.Or(h.spent(), "nothing"))
	}
	if f.Model != nil {
		services := ""
		if f.Model.Suites > 0 {
			services = fmt.Sprintf(", %d for suites of edits without tests", f.Model.Suites)
		}
		if f.Model.Requests > 0 {
			services += fmt.Sprintf(", %d for requests of services (one for each group)", f.Model.Requests)
		}
		t.line("  estimated cost: at most %s to %s for labels, statements and reviews%s, and %s to mend environments (one for two tasks): about $%.4f of $%.2f (model.max_cost); labels are here as the rules give them",
			plural(f.Model.Questions, "question"), c.Model.Name, services, fmt.Sprint(f.Model.Repairs), f.Model.Cost, c.Model.MaxCost)
	}
	return t.err
}
