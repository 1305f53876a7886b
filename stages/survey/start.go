package survey

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/relay"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/serve"
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
	for attempt := 1; ; attempt++ {
		if r, err = w.Builder.Lock(ctx, project, r); err != nil {
			return nil, r, nil, ends.For(ends.Of(err, schemas.Unresolvable), r)
		}
		s, stop, err := w.built(ctx, c, t, r)
		if err != nil {
			return nil, r, nil, err
		}
		repaired, ok, err := w.repaired(ctx, project, s, r)
		if err == nil && (!ok || attempt == environment.Attempts) {
			return s, r, stop, nil
		}
		if err = errors.Join(err, stop()); err != nil {
			return nil, r, nil, err
		}
		r = repaired
	}
}

// Variant implements Starter.
func (w Workshop) Variant(r schemas.Recipe) (schemas.Deploy, []byte, error) {
	return w.Builder.Variant(r)
}

// repaired starts a service once, and gives its recipe with the edit that its log asks for where
// it does not get ready. ok is false where it does, or no repair is known: who records it says so.
func (w Workshop) repaired(ctx context.Context, p lang.Project, s contract.Server, r schemas.Recipe) (out schemas.Recipe, ok bool, err error) {
	_, stop, err := s.Fresh(ctx, false)
	var not *contract.NotReady
	if errors.As(err, &not) {
		return w.Builder.Repair(ctx, p, r, append([]byte(not.Why+"\n"), not.Log...))
	}
	if err == nil {
		_, err = stop()
	}
	return r, false, err
}

// built is the service of a locked recipe.
func (w Workshop) built(ctx context.Context, c Commit, t routes.Table, r schemas.Recipe) (server contract.Server, stop func() error, err error) {
	env, err := w.Builder.Env(ctx, r)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	files, err := seal.Files(c.Tree, c.Release.Date)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing the tree: %w", err)
	}
	layer, err := w.Builder.State(ctx, env, r, files)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	stop = func() error { return w.Builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }
	return &relay.Server{
		Sandbox: w.Builder.Sandbox, Layer: layer, Service: *r.Service, Env: r.Variables, Shift: serve.Shifts(r), Probes: ready(t, ""), Limits: w.Builder.Limits,
	}, stop, nil
}
