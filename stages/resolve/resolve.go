// Package resolve turns a start into a recipe with a lock and a key: infer,
// resolve, then key (design 7). It is cheap next to a build: seconds, no layer kept.
//
// It never builds an env layer and never runs a test.
package resolve

import (
	"context"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is the version of this stage's rules.
const Version = "4"

// Starts finds the start that a label belongs to.
type Starts interface {
	Start(id string) (schemas.Start, error)
}

// Resolver infers, resolves and keys.
type Resolver struct {
	builder  *environment.Builder
	projects environment.Projects
	starts   Starts
}

var _ pipeline.Stage[schemas.Labelled, schemas.Resolved] = (*Resolver)(nil)

// New resolves with the builder's sandbox and languages.
func New(b *environment.Builder, p environment.Projects, s Starts) *Resolver {
	return &Resolver{builder: b, projects: p, starts: s}
}

// Depends: what a change is called says nothing of what it runs in.
func (r *Resolver) Depends(l schemas.Labelled) any {
	return struct {
		StartID string
		Start   schemas.Digest
	}{l.StartID, l.Start}
}

// Run rejects with provision/recipe, provision/toolchain or provision/resolve,
// and defers when a registry does not answer.
func (r *Resolver) Run(ctx context.Context, in schemas.Labelled) (schemas.Resolved, error) {
	s, err := r.starts.Start(in.StartID)
	if err != nil {
		return schemas.Resolved{}, err
	}
	project, err := r.projects.Of(ctx, s)
	if err != nil {
		return schemas.Resolved{}, ends.Of(err, schemas.NoToolchain)
	}
	if _, ok := r.builder.Languages[s.Language]; !ok {
		return schemas.Resolved{}, pipeline.Reject(schemas.NoRecipe, "no language plugin for %q", s.Language)
	}
	framework := ""
	if s.Group != nil {
		framework = s.Group.Framework
	}
	guess, err := r.builder.Guess(ctx, project, s.Language, framework)
	if err != nil {
		return schemas.Resolved{}, ends.Of(err, schemas.Unresolvable)
	}
	recipe, err := r.builder.Lock(ctx, project, guess)
	if err != nil {
		return schemas.Resolved{}, ends.For(ends.Of(err, schemas.Unresolvable), recipe)
	}
	key, err := r.builder.Key(ctx, recipe)
	if err != nil {
		return schemas.Resolved{}, ends.Of(err, schemas.Unresolvable)
	}
	return schemas.Resolved{StartID: s.ID(), Start: schemas.DigestOf(s), Key: key, Recipe: recipe}, nil
}
