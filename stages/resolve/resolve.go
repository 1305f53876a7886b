// Package resolve turns a start into a recipe with a lock and a key: infer,
// resolve, then key (design 7). It is cheap next to a build: seconds, no layer kept.
//
// It never builds an env layer and never runs a test.
package resolve

import (
	"context"
	"errors"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is the version of this stage's rules.
const Version = "1"

// Resolver infers, resolves and keys.
type Resolver struct {
	builder  *environment.Builder
	projects environment.Projects
}

// New resolves with the builder's sandbox and languages.
func New(b *environment.Builder, p environment.Projects) *Resolver {
	return &Resolver{builder: b, projects: p}
}

// Run rejects with provision/recipe, provision/toolchain or provision/resolve,
// and defers when a registry does not answer.
func (r *Resolver) Run(ctx context.Context, s schemas.Start) (schemas.Resolved, error) {
	project, err := r.projects.Of(ctx, s)
	if err != nil {
		return schemas.Resolved{}, err
	}
	l, ok := r.builder.Languages[s.Language]
	if !ok {
		return schemas.Resolved{}, pipeline.Reject(schemas.NoRecipe, "no language plugin for %q", s.Language)
	}
	guess, err := l.Infer(project)
	if err != nil {
		return schemas.Resolved{}, ended(err)
	}
	recipe, err := r.builder.Lock(ctx, project, guess)
	if err != nil {
		return schemas.Resolved{}, ended(err)
	}
	key, err := r.builder.Key(ctx, recipe)
	if err != nil {
		return schemas.Resolved{}, ended(err)
	}
	return schemas.Resolved{StartID: s.ID(), Start: schemas.DigestOf(s), Key: key, Recipe: recipe}, nil
}

// ended turns what building layers can say into an end; what is left is a fault.
func ended(err error) error {
	var no *lang.Refusal
	var build *sandbox.BuildError
	switch {
	case errors.Is(err, environment.ErrUnavailable):
		return &pipeline.Deferred{Resource: "registry", Err: err}
	case errors.As(err, &no):
		return pipeline.Reject(no.Reason, "%s", no.Detail)
	case errors.As(err, &build):
		return pipeline.Reject(schemas.Unresolvable, "repairs included: %w", err)
	}
	return err
}
