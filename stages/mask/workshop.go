package mask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Workshop loads releases in the sandbox of a builder. It provisions for itself, as a survey does; the layers that it makes
// are those of the task's own environment.
type Workshop struct {
	Builder  *environment.Builder
	Projects environment.Projects
}

var _ Loader = Workshop{}

// Timeout bounds a mask that loads: an environment, and each starter.
func Timeout(l sandbox.Limits) time.Duration {
	command := l.Filled().Timeout
	return ends.Timeout + environment.Attempts*2*command + 2*(rounds+1)*2*command
}

// bench is one environment.
type bench struct {
	Workshop
	recipe   schemas.Recipe
	observer lang.Observer
	date     time.Time
}

// Open implements Loader: it guesses a recipe, and repairs it until the release builds.
func (w Workshop) Open(ctx context.Context, c schemas.Cut, language string, t *tree.Tree) (Loading, error) {
	observer, ok := w.Builder.Languages[language].(lang.Observer)
	if !ok {
		return nil, fmt.Errorf("nobody can see what runs when code in %s is loaded", language)
	}
	pipeline.Doing(ctx, "reading how the project is built")
	project, err := w.Projects.At(ctx, c.Repo, c.Release.Commit, language, t, c.Release.Date)
	if err != nil {
		return nil, ends.Of(err, schemas.NoToolchain)
	}
	r, err := w.Builder.Guess(ctx, project, language, "")
	if err != nil {
		return nil, ends.Of(err, schemas.Unresolvable)
	}
	b := bench{Workshop: w, observer: observer, date: c.Release.Date}
	var loop environment.Loop
	for {
		if r.Lock == "" {
			if r, err = w.Builder.Lock(ctx, project, r); err != nil {
				return nil, ends.For(ends.Of(err, schemas.Unresolvable), r)
			}
		}
		b.recipe = r
		layer, err := b.state(ctx, t)
		if err == nil {
			return b, b.remove(ctx, layer)
		}
		rejected, failed := (*pipeline.Rejected)(nil), (*sandbox.BuildError)(nil)
		if !errors.As(err, &rejected) || !errors.As(err, &failed) {
			return nil, err
		}
		repaired, ok, fault := loop.Repair(ctx, w.Builder, project, r, failed.Result.Output)
		if fault != nil {
			return nil, fault
		}
		if !ok {
			return nil, ends.For(pipeline.Reject(rejected.Reason, "%s: %w", loop.History(r), rejected.Err), r)
		}
		r = repaired
	}
}

// state is the layer of a tree.
func (b bench) state(ctx context.Context, t *tree.Tree) (sandbox.Layer, error) {
	env, err := b.Builder.Env(ctx, b.recipe)
	if err != nil {
		return sandbox.Layer{}, ends.Of(err, schemas.NoBuild)
	}
	files, err := seal.Files(t, b.date)
	if err != nil {
		return sandbox.Layer{}, fmt.Errorf("sealing the tree: %w", err)
	}
	layer, err := b.Builder.State(ctx, env, b.recipe, files)
	return layer, ends.Of(err, schemas.NoBuild)
}

func (b bench) remove(ctx context.Context, l sandbox.Layer) error {
	return b.Builder.Sandbox.Remove(context.WithoutCancel(ctx), l)
}

// Load implements Loading. A build that fails since a body is missing says so as a module does.
func (b bench) Load(ctx context.Context, t *tree.Tree) (load mask.Load, err error) {
	layer, err := b.state(ctx, t)
	if failed := (*sandbox.BuildError)(nil); errors.As(err, &failed) && errors.As(err, new(*pipeline.Rejected)) {
		if at := bytes.LastIndex(failed.Result.Output, []byte("masked: ")); at >= 0 {
			line, _, _ := bytes.Cut(failed.Result.Output[at:], []byte("\n"))
			return mask.Load{Failed: []mask.NotLoaded{{Unit: "the build", Message: string(line)}}}, nil
		}
	}
	if err != nil {
		return load, err
	}
	defer func() { err = errors.Join(err, b.remove(ctx, layer)) }()
	var outs []lang.Output
	for _, run := range b.observer.Observe(b.recipe, t) {
		res, err := b.Builder.Test(ctx, layer, b.recipe, run, b.Builder.Limits)
		if err != nil {
			return load, fmt.Errorf("loading the code: %w", err)
		}
		if res.End != sandbox.Exited {
			return load, pipeline.Reject(schemas.MaskFailed, "loading the code went over a limit: %s", res.End)
		}
		said, _ := run.Said(res)
		outs = append(outs, lang.Output{Run: run, Tree: t, Report: said, Result: res})
	}
	return b.observer.Observed(outs), nil
}
