package survey

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
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
func (w Workshop) Start(ctx context.Context, c Commit, t routes.Table) (server contract.Server, login *schemas.Login, stop func() error, err error) {
	project, err := w.Projects.At(ctx, c.Repo.Name, c.Release.Commit, c.Language, c.Tree, c.Release.Date)
	if err != nil {
		return nil, nil, nil, ends.Of(err, schemas.NoToolchain)
	}
	r, err := w.Builder.Guess(ctx, project, c.Language, t.Framework)
	if err != nil {
		return nil, nil, nil, ends.Of(err, schemas.NoBoot)
	}
	if r, err = w.Builder.Lock(ctx, project, r); err != nil {
		return nil, nil, nil, ends.For(ends.Of(err, schemas.Unresolvable), r)
	}
	env, err := w.Builder.Env(ctx, r)
	if err != nil {
		return nil, nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	files, err := seal.Files(c.Tree, c.Release.Date)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("sealing the tree: %w", err)
	}
	layer, err := w.Builder.State(ctx, env, r, files)
	if err != nil {
		return nil, nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	stop = func() error { return w.Builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }
	return &relay.Server{
		Sandbox: w.Builder.Sandbox, Layer: layer, Service: *r.Service, Env: r.Variables, Shift: serve.Shifts(r), Probes: ready(t, ""), Limits: w.Builder.Limits,
	}, r.Service.Login, stop, nil
}
