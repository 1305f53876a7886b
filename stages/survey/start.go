package survey

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/relay"
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

// Start makes the recipe of a commit's service by rule, its environment and its state, as a proof makes them, and starts it
// with a hook. Each start says what the next one needs, until nothing more is known; the recipe has each as evidence.
func (w Workshop) Start(ctx context.Context, c Commit, framework string) (s Started, stop func() error, err error) {
	project, err := w.Projects.At(ctx, c.Repo.Name, c.Release.Commit, c.Language, c.Tree, c.Release.Date)
	if err != nil {
		return s, nil, ends.Of(err, schemas.NoToolchain)
	}
	r, err := w.Builder.Guess(ctx, project, c.Language, framework)
	if err != nil {
		return s, nil, ends.Of(err, schemas.NoBoot)
	}
	server, ok := w.Builder.Languages[c.Language].(lang.Server)
	if !ok {
		return s, nil, pipeline.Reject(schemas.NoBoot, "services in %s are not started", c.Language)
	}
	t := &trials{w: w, c: c, project: project, server: server}
	l, err := t.last(ctx, r)
	if err != nil {
		return s, nil, err
	}
	r = l.recipe
	env, files, err := w.env(ctx, c, r, recipe.Step{})
	if err != nil {
		return s, nil, errors.Join(err, l.stop())
	}
	plain, stopPlain, err := w.state(ctx, c, env, r, files)
	if err != nil {
		return s, nil, errors.Join(err, l.stop())
	}
	plain.Probes = l.server.Probes
	s.Server, s.Look, s.Recipe, s.Table = plain, l.server, r, l.table
	return s, func() error { return errors.Join(stopPlain(), l.stop()) }, nil
}

// Variant implements Starter.
func (w Workshop) Variant(r schemas.Recipe) (schemas.Deploy, []byte, error) {
	return w.Builder.Variant(r)
}

// env is the environment of a locked recipe with the files of a step, and the tree to put above it.
func (w Workshop) env(ctx context.Context, c Commit, r schemas.Recipe, step recipe.Step) (env sandbox.Layer, files []sandbox.File, err error) {
	pipeline.Doing(ctx, "%s, building the environment", c.Release.Tag)
	env, err = w.Builder.Env(ctx, r)
	if err != nil {
		return env, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	if len(step.Files) > 0 {
		if env, err = w.Builder.Above(ctx, env, r, step); err != nil {
			return env, nil, err
		}
	}
	if files, err = seal.Files(c.Tree, c.Release.Date); err != nil {
		return env, nil, fmt.Errorf("sealing the tree: %w", err)
	}
	return env, files, nil
}

// layer is a state of a recipe, until stop.
func (w Workshop) layer(ctx context.Context, parent sandbox.Layer, r schemas.Recipe, files []sandbox.File) (layer sandbox.Layer, stop func() error, err error) {
	if layer, err = w.Builder.State(ctx, parent, r, files); err != nil {
		return layer, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	return layer, func() error { return w.Builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }, nil
}

// state is the service of a locked recipe.
func (w Workshop) state(ctx context.Context, c Commit, parent sandbox.Layer, r schemas.Recipe, files []sandbox.File) (*relay.Server, func() error, error) {
	pipeline.Doing(ctx, "%s, building the service", c.Release.Tag)
	layer, stop, err := w.layer(ctx, parent, r, files)
	if err != nil {
		return nil, nil, err
	}
	return &relay.Server{
		Sandbox: w.Builder.Sandbox, Layer: layer, Service: *r.Service, Env: r.Variables, Shift: serve.Shifts(r), Limits: w.Builder.Limits,
	}, stop, nil
}
