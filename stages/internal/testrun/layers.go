package testrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Place is a state with its layer, made when it is first asked for. B lies on the
// environment, S and G on B with only their changes written, so that build caches
// and everything unchanged are shared. Where S is the tree of B (the tests are in
// it), or its tests run beside a service that does not see them, its layer is B's.
func (b *Bench) Place(ctx context.Context, s schemas.State) (Place, error) {
	p := Place{State: s, Tree: b.Tree(s)}
	if b.Environment.Recipe.Deployed() && s != schemas.StateB {
		return b.deployed(ctx, p)
	}
	if s == schemas.StateS && (b.Start.StartTree == b.Start.BaseTree || b.Environment.Recipe.Service != nil) {
		s = schemas.StateB
	}
	if l, ok := b.layers[s]; ok {
		p.Layer = l
		return p, nil
	}
	parent, files, err := b.Env, b.SealedBase, error(nil)
	switch {
	case s == schemas.StateB:
	case b.Environment.Recipe.Service != nil:
		files, err = b.alone(p.Tree)
	default:
		base, err := b.Place(ctx, schemas.StateB)
		if err != nil {
			return p, err
		}
		parent, files = base.Layer, b.B.Changes(p.Tree, b.Start.BaseDate.Add(age))
	}
	if err != nil {
		return p, err
	}
	if p.Layer, err = b.build(ctx, s, parent, files, b.Environment.Recipe); err == nil {
		b.layers[s] = p.Layer
	}
	return p, err
}

// Instead is a tree in the place of a state's, S or G: written over B and built there, as
// that state was. What was compiled of the state itself is not in it: a C extension that the
// tree no longer builds would else be loaded as the state left it. The caller removes its
// layer when it is done; it must be done before the bench is removed.
func (b *Bench) Instead(ctx context.Context, s schemas.State, name string, t *tree.Tree) (Place, error) {
	at := Place{State: schemas.State(name), Tree: t}
	if b.Environment.Recipe.Deployed() {
		return b.deploy(ctx, at)
	}
	if b.Environment.Recipe.Service != nil {
		files, err := b.alone(t)
		if err != nil {
			return at, err
		}
		at.Layer, err = b.build(ctx, at.State, b.Env, files, b.Environment.Recipe)
		return at, err
	}
	base, err := b.Place(ctx, schemas.StateB)
	if err != nil {
		return Place{}, err
	}
	at.Layer, err = b.build(ctx, at.State, base.Layer, b.B.Changes(t, b.Start.BaseDate.Add(age)), b.Environment.Recipe)
	return at, err
}

// Near is Instead for a tree that differs little from the solution, for runs of a selection. Where
// a build leaves nothing but a cache that goes by content, the tree is written over the solution
// and no more of it built than these runs need. Where the build leaves the same with the change as
// without it, nothing is built: it would leave that for this tree, too.
func (b *Bench) Near(ctx context.Context, name string, t *tree.Tree, sel lang.Select) (Place, error) {
	recipe := b.Environment.Recipe
	if recipe.Deployed() || recipe.Service != nil {
		return b.Instead(ctx, schemas.StateG, name, t)
	}
	at := Place{State: schemas.State(name), Tree: t}
	parent, from := schemas.StateG, b.G
	narrower, ok := b.Runner.(lang.Narrower)
	if ok {
		recipe.Build, ok = narrower.Narrow(recipe, t, sel)
	}
	if !ok {
		inert, err := b.inert(ctx)
		if err != nil {
			return at, err
		}
		if !inert {
			return b.Instead(ctx, schemas.StateG, name, t)
		}
		parent, from, recipe.Build = schemas.StateB, b.B, nil
	}
	under, err := b.Place(ctx, parent)
	if err != nil {
		return at, err
	}
	at.Layer, err = b.build(ctx, at.State, under.Layer, from.Changes(t, b.Start.BaseDate.Add(age)), recipe)
	return at, err
}

// deployed is deploy for a state, which is built once.
func (b *Bench) deployed(ctx context.Context, at Place) (Place, error) {
	if l, ok := b.layers[at.State]; ok {
		at.Layer = l
		return at, nil
	}
	if why, ok := b.unbuilt[at.State]; ok {
		at.Unbuilt = why
		return at, nil
	}
	at, err := b.deploy(ctx, at)
	switch {
	case err != nil:
	case at.Unbuilt == "":
		b.layers[at.State] = at.Layer
	case at.State == schemas.StateG:
		return at, pipeline.Reject(schemas.NoBuild, "the solution does not build: %s", at.Unbuilt)
	default:
		b.unbuilt[at.State] = at.Unbuilt
	}
	return at, err
}

// deploy builds the image of a place from the Dockerfile in its tree. One that does not build is
// said in the place.
func (b *Bench) deploy(ctx context.Context, at Place) (Place, error) {
	files, err := b.alone(at.Tree)
	if err != nil {
		return at, err
	}
	at.Layer, err = b.Builder.Deploy(ctx, b.Env, b.Environment.Recipe, files)
	var failed *sandbox.BuildError
	if !errors.As(err, &failed) {
		return at, err
	}
	if err := b.recordBuild(at.State, failed); err != nil {
		return at, err
	}
	if failed.Result.End != sandbox.Exited {
		return at, OverLimit(failed.Result.End, fmt.Sprintf("building the image of state %s", at.State))
	}
	at.Unbuilt = failed.Error()
	return at, nil
}

// Free removes the layer of a place that Instead made.
func (b *Bench) Free(ctx context.Context, at Place) error {
	if at.Unbuilt != "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(b.forget(ctx, &at.Layer), b.Builder.Sandbox.Remove(ctx, at.Layer))
}

// alone are the files of a service's state, for a layer that lies on the environment: what the
// build of another state left in its database would be in this one. The suite is not among them.
func (b *Bench) alone(t *tree.Tree) ([]sandbox.File, error) {
	seen, err := environment.Visible(b.Environment.Recipe, t)
	if err != nil {
		return nil, fmt.Errorf("taking the suite out of a state: %w", err)
	}
	files, err := seal.Files(seen, b.Start.BaseDate)
	if err != nil {
		return nil, fmt.Errorf("sealing a state: %w", err)
	}
	return files, nil
}

// age makes changed files younger than what was compiled from their elders: a .pyc of B
// names the source's time and size, and both can be equal in S and in G. It is one for
// both, which lie side by side on B: a file that is the same in them has the same time,
// so that no test can tell the states apart by it.
const age = time.Second

// build runs the recipe's build in a new layer. In G it must hold: a gold patch
// that does not build is no solution. In B and S a step that fails is left out
// and the tests are run all the same: what does not load is said by the runner,
// test by test, and never guessed from the exit code of a build. A test counted
// as failing only because a build ended early could pass for a grader who goes on.
func (b *Bench) build(ctx context.Context, s schemas.State, parent sandbox.Layer, files []sandbox.File, recipe schemas.Recipe) (sandbox.Layer, error) {
	for {
		l, err := b.Builder.State(ctx, parent, recipe, files)
		var failed *sandbox.BuildError
		switch {
		case err == nil:
			return l, nil
		case !errors.As(err, &failed):
			return l, fmt.Errorf("making the layer of state %s: %w", s, err)
		}
		if err := b.recordBuild(s, failed); err != nil {
			return l, err
		}
		switch {
		case failed.Result.End != sandbox.Exited:
			return l, OverLimit(failed.Result.End, fmt.Sprintf("building state %s", s))
		case s == schemas.StateG:
			return l, pipeline.Reject(schemas.NoBuild, "the solution does not build: %w", err)
		}
		left := without(recipe.Build, failed.Step)
		if len(left) == len(recipe.Build) {
			return l, fmt.Errorf("making the layer of state %s: the step that failed is not in the recipe: %w", s, err)
		}
		recipe.Build = left
	}
}

func without(steps []schemas.Command, step schemas.Command) []schemas.Command {
	out := make([]schemas.Command, 0, len(steps))
	for _, s := range steps {
		if schemas.DigestOf(s) != schemas.DigestOf(step) {
			out = append(out, s)
		}
	}
	return out
}

// recordBuild keeps the log of a build that failed beside the runs.
func (b *Bench) recordBuild(s schemas.State, failed *sandbox.BuildError) error {
	log, err := b.Blobs.Put(shorten(failed.Result.Output))
	if err != nil {
		return fmt.Errorf("keeping the build log of state %s: %w", s, err)
	}
	b.Records = append(b.Records, schemas.RunRecord{
		State: s, Scope: ScopeBuild, Number: 1, End: string(failed.Result.End), ExitCode: failed.Result.ExitCode, Log: log,
	})
	return nil
}

// Hand leaves the layers of G and B to who goes on with the same start, and frees the others. The
// builder holds them until it is told to release the start (environment.Builder).
func (b *Bench) Hand(ctx context.Context) error {
	forgotten := b.forget(ctx, nil)
	var layers []sandbox.Layer
	for _, s := range []schemas.State{schemas.StateG, schemas.StateB} {
		if l, ok := b.layers[s]; ok {
			layers = append(layers, l)
			delete(b.layers, s)
		}
	}
	return errors.Join(forgotten, b.Remove(ctx), b.Builder.Hold(ctx, b.Start.ID(), layers))
}

// Remove frees the layers of the case, children first, also after an interrupt.
func (b *Bench) Remove(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	errs := []error{b.forget(ctx, nil)}
	for _, s := range []schemas.State{schemas.StateS, schemas.StateG, schemas.StateB} {
		l, ok := b.layers[s]
		if !ok {
			continue
		}
		if err := b.Builder.Sandbox.Remove(ctx, l); err != nil {
			errs = append(errs, fmt.Errorf("removing the layer of state %s: %w", s, err))
		}
	}
	return errors.Join(errs...)
}

// limits are the ends that a limit of ours gives, and what each means for an item.
var limits = map[sandbox.End]schemas.Reason{
	sandbox.TimedOut:  schemas.OverTime,
	sandbox.Memory:    schemas.OverMemory,
	sandbox.Processes: schemas.OverProcs,
	sandbox.Disk:      schemas.OverDisk,
	sandbox.Output:    schemas.OverOutput,
}

// OverLimit ends an item whose build or run passed a limit, in whatever state.
// NOTE: a start that hangs for ever is rejected for its time as well: design 5
// makes the limit decide, and a verdict that needs a run of the full time-out k
// times could not be proved again at a bearable cost.
func OverLimit(end sandbox.End, doing string) error {
	reason, ok := limits[end]
	if !ok {
		return fmt.Errorf("%s: the sandbox knows an end %q that the proof does not", doing, end)
	}
	return pipeline.Reject(reason, "%s", doing)
}
