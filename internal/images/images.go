// Package images makes the image that a task is worked on in, from the layers of the
// sandbox: dependencies, the start tree with its one neutral commit, what the build leaves.
//
// It never pulls, pushes or names an image that a rule speaks against, and never puts the
// tests or the solution into one: what a solver gets is searched for them as an image.
package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/benchmint/benchmint/internal/deploy"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/schemas"
)

// Task is what an image is made from.
type Task struct {
	ID          string
	Name        string // of the image
	Start       schemas.Start
	Environment schemas.Environment
	Trees       states.Trees
	Version     string // nearest release at base, "" where there is none
	// Files are those beside the tree that a solver is given, by their absolute paths: a specification.
	Files map[string][]byte
}

// Image is one that was made.
type Image struct {
	ID       string    `json:"instance_id"`
	Name     string    `json:"image"`
	Digest   string    `json:"digest"`   // of the engine
	Findings []Finding `json:"findings"` // none: it has its name
}

// Engine is the sandbox that layers of the builder lie in.
type Engine interface {
	Image(ctx context.Context, from sandbox.Layer, i docker.Image) (sandbox.Layer, error)
	Setup(ctx context.Context, l sandbox.Layer) (docker.Setup, error)
	Root(ctx context.Context, l sandbox.Layer, argv []string) ([]byte, error)
	Tag(ctx context.Context, l sandbox.Layer, name string) error
	Files(ctx context.Context, l sandbox.Layer, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error
	Remove(ctx context.Context, l sandbox.Layer) error
}

var _ Engine = (*docker.Sandbox)(nil)

// Maker makes images.
type Maker struct {
	Environments *environment.Builder // in Engine
	Engine       Engine
	Secrets      []string // credentials of this machine, which no image may hold
}

// version changes where equal tasks would get another image.
const version = 1

// Make makes (or finds) the image of a task, looks at it by all rules, and gives it its
// name where none speaks against it; else it is removed. The error is as that of
// environment.Builder.Env.
func (m Maker) Make(ctx context.Context, t Task) (Image, error) {
	base, err := m.base(ctx, t)
	if err != nil {
		return Image{ID: t.ID, Name: t.Name, Findings: []Finding{}}, err
	}
	env := variables(t.Environment.Recipe)
	made := []any{version, base.Key, env}
	if len(t.Files) > 0 {
		made = append(made, t.Files)
	}
	return m.finish(ctx, t, base, docker.Image{Key: schemas.DigestOf(made), Env: env, Files: t.Files})
}

// Judge makes the image that an answer to a service is judged in, as Make does that which it is
// written in: the start before its build, which the judge runs once, and below httpsuite.JudgePath the
// environment of those who ask.
func (m Maker) Judge(ctx context.Context, t Task) (Image, error) {
	none := Image{ID: t.ID, Name: t.Name, Findings: []Finding{}}
	recipe := t.Environment.Recipe
	tester, err := m.Environments.Env(ctx, *recipe.Service.Tester)
	if err != nil {
		return none, fmt.Errorf("making the environment of the tester: %w", err)
	}
	recipe.Build = nil
	t.Environment.Recipe = recipe
	base, err := m.base(ctx, t)
	if err != nil {
		return none, err
	}
	parts := []docker.Part{{From: tester, Path: sandbox.EnvPath, To: httpsuite.JudgePath}}
	if python := recipe.Service.Tester.Toolchain; !slices.ContainsFunc(append(slices.Clone(recipe.Tools), recipe.Toolchain), func(c schemas.Toolchain) bool {
		return c.Name == python.Name && c.Version == python.Version
	}) {
		dir := path.Join(sandbox.ToolchainPath, python.Name+"-"+python.Version)
		parts = append(parts, docker.Part{From: tester, Path: dir, To: dir})
	}
	env := variables(recipe)
	return m.finish(ctx, t, base, docker.Image{Key: schemas.DigestOf([]any{version, base.Key, env, tester.Key, httpsuite.JudgePath}), Env: env, Parts: parts})
}

// finish makes an image of a layer, which it gives back.
func (m Maker) finish(ctx context.Context, t Task, base sandbox.Layer, i docker.Image) (Image, error) {
	out := Image{ID: t.ID, Name: t.Name, Findings: []Finding{}}
	layer, err := m.Engine.Image(ctx, base, i)
	err = errors.Join(err, m.Environments.Sandbox.Remove(context.WithoutCancel(ctx), base))
	if err != nil {
		return out, err
	}
	out.Digest = layer.ID
	if out.Findings, err = m.Lint(ctx, layer, t); err != nil {
		return out, err
	}
	if len(out.Findings) > 0 {
		return out, m.Engine.Remove(context.WithoutCancel(ctx), layer)
	}
	return out, m.Engine.Tag(ctx, layer, t.Name)
}

// variables are those that the project's tests have, so that its programs are found.
func variables(r schemas.Recipe) map[string]string {
	out := map[string]string{}
	maps.Copy(out, r.Variables)
	if len(r.Test) > 0 {
		maps.Copy(out, r.Test[0].Env)
	}
	return out
}

// base is the layer of the start as a solver gets it. A step of the build that fails is
// left out, as in the proof.
func (m Maker) base(ctx context.Context, t Task) (sandbox.Layer, error) {
	recipe := t.Environment.Recipe
	if recipe.Deployed() && !deploy.Named(recipe.Service.Image) {
		return sandbox.Layer{}, fmt.Errorf("the recipe calls its base image %q, which would take the name from another image", recipe.Service.Image)
	}
	env, err := m.Environments.Env(ctx, recipe)
	if err == nil && recipe.Deployed() { // what the Dockerfile of a solver begins with
		err = m.Engine.Tag(ctx, env, recipe.Service.Image)
	}
	if err != nil {
		return sandbox.Layer{}, err
	}
	files, err := seal.Files(t.Trees.B, t.Start.BaseDate)
	if err != nil {
		return sandbox.Layer{}, err
	}
	recipe.Build = append(slices.Clone(recipe.Build), exclude)
	for {
		layer, err := m.Environments.State(ctx, env, recipe, files)
		var failed *sandbox.BuildError
		if !errors.As(err, &failed) || failed.Result.End != sandbox.Exited {
			return layer, err
		}
		left := slices.DeleteFunc(slices.Clone(recipe.Build), func(c schemas.Command) bool { return schemas.DigestOf(c) == schemas.DigestOf(failed.Step) })
		if len(left) == len(recipe.Build) {
			return layer, fmt.Errorf("building the start: %w", err)
		}
		recipe.Build = left
	}
}

// exclude keeps what the build leaves in the tree from being taken for a solver's: clients
// take all that git sees as changed for the patch.
var exclude = schemas.Command{Argv: []string{"/bin/sh", "-c",
	`git -c core.quotePath=false ls-files --others --exclude-standard --directory | sed 's/[][*?\\ ]/\\&/g; s|^|/|' >.git/info/exclude`}}
