// Package resolve turns a start into a recipe with a lock and a key: infer,
// resolve, then key (design 7). It is cheap next to a build: seconds, no layer kept.
//
// It never builds an env layer and never runs a test.
package resolve

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/deploy"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is the version of this stage's rules.
const Version = "7"

// Timeout bounds a step: a lock is made at most so often.
func Timeout(l sandbox.Limits) time.Duration {
	return ends.Timeout + environment.Attempts*l.Filled().Timeout
}

// Starts finds the start that a label belongs to.
type Starts interface {
	Start(id string) (schemas.Start, error)
}

// Blobs has the recipes that services were recorded with.
type Blobs interface {
	Get(d schemas.Digest) ([]byte, error)
}

// Resolver infers, resolves and keys.
type Resolver struct {
	builder  *environment.Builder
	projects environment.Projects
	starts   Starts
	blobs    Blobs
}

var _ pipeline.Stage[schemas.Labelled, schemas.Resolved] = (*Resolver)(nil)

// New resolves with the builder's sandbox and languages.
func New(b *environment.Builder, p environment.Projects, s Starts, blobs Blobs) *Resolver {
	return &Resolver{builder: b, projects: p, starts: s, blobs: blobs}
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
	recipe, err := r.recipe(ctx, s)
	if err != nil {
		return schemas.Resolved{}, err
	}
	key, err := r.builder.Key(ctx, recipe)
	if err != nil {
		return schemas.Resolved{}, ends.Of(err, schemas.Unresolvable)
	}
	return schemas.Resolved{StartID: s.ID(), Start: schemas.DigestOf(s), Key: key, Recipe: recipe}, nil
}

// recipe is the locked recipe of a start. A service is proved in what it was recorded in.
func (r *Resolver) recipe(ctx context.Context, s schemas.Start) (schemas.Recipe, error) {
	none := schemas.Recipe{}
	if s.Group != nil {
		raw, err := r.blobs.Get(s.Group.Recipe)
		if err != nil {
			return none, fmt.Errorf("reading the recipe of %s: %w", s.ID(), err)
		}
		var recorded schemas.Recipe
		if err := json.Unmarshal(raw, &recorded); err != nil {
			return none, fmt.Errorf("reading the recipe of %s: %w", s.ID(), err)
		}
		if s.Deploy != nil {
			return deploy.Recipe(recorded, s.Deploy.Image), nil
		}
		return recorded, nil
	}
	pipeline.Doing(ctx, "reading how the project is built")
	project, err := r.projects.Of(ctx, s)
	if err != nil {
		return none, ends.Of(err, schemas.NoToolchain)
	}
	if _, ok := r.builder.Languages[s.Language]; !ok {
		return none, pipeline.Reject(schemas.NoRecipe, "no language plugin for %q", s.Language)
	}
	guess, err := r.builder.Guess(ctx, project, s.Language, "")
	if err != nil {
		return none, ends.Of(err, schemas.Unresolvable)
	}
	recipe, err := r.builder.Lock(ctx, project, guess)
	if err != nil {
		return none, ends.For(ends.Of(err, schemas.Unresolvable), recipe)
	}
	return recipe, nil
}
