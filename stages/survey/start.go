package survey

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/relay"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Workshop starts services in the sandbox of a builder.
type Workshop struct {
	Builder  *environment.Builder
	Projects environment.Projects
}

var _ Starter = Workshop{}

// Start makes the recipe of a commit's service by rule, its environment and its state, as a
// proof makes them.
func (w Workshop) Start(ctx context.Context, c Commit, t routes.Table) (server contract.Server, r schemas.Recipe, stop func() error, err error) {
	project, err := w.Projects.At(ctx, c.Repo.Name, c.Release.Commit, c.Language, c.Tree, c.Release.Date)
	if err != nil {
		return nil, r, nil, ends.Of(err, schemas.NoToolchain)
	}
	if r, err = w.Builder.Guess(ctx, project, c.Language, t.Framework); err != nil {
		return nil, r, nil, ends.Of(err, schemas.NoBoot)
	}
	var loop environment.Loop
	for attempt := 1; ; attempt++ {
		pipeline.Doing(ctx, "%s, resolving what the service needs", c.Release.Tag)
		if r, err = w.Builder.Lock(ctx, project, r); err != nil {
			return nil, r, nil, ends.For(ends.Of(err, schemas.Unresolvable), r)
		}
		s, stop, not, err := w.attempt(ctx, c, t, r)
		repaired, ok := r, false
		if not != nil && attempt < environment.Attempts {
			var fault error
			if repaired, ok, fault = loop.Repair(ctx, w.Builder, project, r, append([]byte(not.Why+"\n"), not.Log...)); fault != nil {
				return nil, r, nil, errors.Join(fault, stop())
			}
			if !ok && s != nil {
				repaired, ok = otherForm(r, not)
			}
		}
		if !ok {
			return s, r, stop, err
		}
		if err := stop(); err != nil {
			return nil, r, nil, err
		}
		r = repaired
	}
}

// Variant implements Starter.
func (w Workshop) Variant(r schemas.Recipe) (schemas.Deploy, []byte, error) {
	return w.Builder.Variant(r)
}

// attempt makes the state of a recipe's service and starts it once. not has what a command
// printed that prepares it and failed, or is of a service that does not get ready: that one is
// no error yet, and who records it says so. stop is to be called in any case.
func (w Workshop) attempt(ctx context.Context, c Commit, t routes.Table, r schemas.Recipe) (s contract.Server, stop func() error, not *contract.NotReady, err error) {
	s, stop, err = w.built(ctx, c, t, r)
	var failed *sandbox.BuildError
	if errors.As(err, new(*pipeline.Rejected)) && errors.As(err, &failed) && failed.Result.End == sandbox.Exited {
		not = &contract.NotReady{Log: failed.Result.Output}
	}
	if err != nil {
		return nil, func() error { return nil }, not, err
	}
	pipeline.Doing(ctx, "%s, starting the service", c.Release.Tag)
	_, end, err := s.Fresh(ctx, false)
	switch {
	case errors.As(err, &not):
		return s, stop, not, nil
	case err == nil:
		_, err = end()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, stop())
	}
	return s, stop, nil, nil
}

// built is the service of a locked recipe.
func (w Workshop) built(ctx context.Context, c Commit, t routes.Table, r schemas.Recipe) (server contract.Server, stop func() error, err error) {
	pipeline.Doing(ctx, "%s, building the environment", c.Release.Tag)
	env, err := w.Builder.Env(ctx, r)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	files, err := seal.Files(c.Tree, c.Release.Date)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing the tree: %w", err)
	}
	pipeline.Doing(ctx, "%s, building the service", c.Release.Tag)
	layer, err := w.Builder.State(ctx, env, r, files)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	stop = func() error { return w.Builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }
	return &relay.Server{
		Sandbox: w.Builder.Sandbox, Layer: layer, Service: *r.Service, Env: r.Variables, Shift: serve.Shifts(r), Probes: ready(t, "", nil), Limits: w.Builder.Limits,
	}, stop, nil
}
