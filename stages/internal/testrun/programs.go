package testrun

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// compiled is a run whose programs are there.
type compiled struct {
	recipe.TestRun // its canaries are in the programs
	of             sandbox.Layer
	layer          sandbox.Layer
	made           []byte
	programs       []recipe.TestRun
	built          sandbox.Result
}

// compile builds the programs of a run, or finds those of an equal one in the same place.
func (b *Bench) compile(ctx context.Context, at Place, tr recipe.TestRun, c lang.Compiler, step recipe.Step) (*compiled, error) {
	key := schemas.DigestOf(struct {
		Layer string
		Step  recipe.Step
		Made  []byte // what a run is told beside its canaries
	}{at.Layer.ID, step, c.Told(tr)})
	if found, ok := b.compiled[key]; ok {
		again := *found
		again.built = sandbox.Result{End: sandbox.Exited, ExitCode: found.built.ExitCode}
		return &again, nil
	}
	out := &compiled{TestRun: tr, of: at.Layer}
	var err error
	out.layer, out.built, err = b.Builder.Sandbox.Build(ctx, sandbox.Build{
		Key: schemas.DigestBytes([]byte(rand.Text())), Parent: at.Layer, Files: step.Files, Steps: step.Commands, Env: b.Environment.Recipe.Variables,
		Inputs: tr.Inputs, Collect: step.Collect, Lease: true, Limits: b.Limits.Filled(),
	})
	var failed *sandbox.BuildError
	if errors.As(err, &failed) && failed.Result.End != sandbox.Exited {
		out.built = failed.Result
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compiling the tests: %w", err)
	}
	out.made = out.built.Files[step.Collect[0]]
	if out.programs, out.built.ExitCode, err = c.Programs(b.Environment.Recipe, tr, out.made); err != nil {
		return nil, errors.Join(fmt.Errorf("compiling the tests: %w", err), b.Builder.Sandbox.Remove(ctx, out.layer))
	}
	if b.compiled != nil {
		b.compiled[key] = out
	}
	return out, nil
}

// forget removes the programs that lie on a layer; on any where it is nil.
func (b *Bench) forget(ctx context.Context, on *sandbox.Layer) error {
	var errs []error
	for key, c := range b.compiled {
		if on == nil || c.of.ID == on.ID {
			errs = append(errs, b.Builder.Sandbox.Remove(ctx, c.layer))
			delete(b.compiled, key)
		}
	}
	return errors.Join(errs...)
}

// programs compiles the programs of a run, runs each by itself, and gives what the run's command would have said. All
// of them together have the limits of one process.
func (b *Bench) programs(ctx context.Context, at Place, tr recipe.TestRun, c lang.Compiler, step recipe.Step) (out lang.Output, err error) {
	out = lang.Output{Run: tr, Tree: at.Tree, Result: sandbox.Result{End: sandbox.Exited}}
	limits := b.Limits.Filled()
	spent := func(res sandbox.Result) {
		out.Result.Output = append(out.Result.Output, res.Output...)
		out.Result.Wall += res.Wall
		out.Result.Overhead += res.Overhead
		limits.Timeout, limits.Output = max(limits.Timeout-res.Wall, 1), max(limits.Output-int64(len(res.Output)), 1)
		if out.Result.End = res.End; out.Result.ExitCode == 0 {
			out.Result.ExitCode = res.ExitCode
		}
	}
	made, err := b.compile(ctx, at, tr, c, step)
	if err != nil {
		return out, err
	}
	out.Run = made.TestRun
	if spent(made.built); made.built.End != sandbox.Exited {
		return out, nil
	}
	if b.compiled == nil {
		defer func() { err = errors.Join(err, b.Builder.Sandbox.Remove(ctx, made.layer)) }()
	}
	var said []sandbox.Result
	for _, program := range made.programs {
		res, err := b.test(ctx, at, made.layer, program, limits)
		if err != nil {
			return out, fmt.Errorf("running the tests: %w", err)
		}
		spent(res)
		if said = append(said, res); res.End != sandbox.Exited {
			break
		}
	}
	end, report, err := b.converted(ctx, c, made.made, said)
	out.Report = report
	if err == nil && out.Result.End == sandbox.Exited { // but what it says may pass a limit as records
		out.Result.End = end
	}
	return out, err
}

// converted is what the command of a run would have said, and how its making ended.
func (b *Bench) converted(ctx context.Context, c lang.Compiler, made []byte, said []sandbox.Result) (sandbox.End, []byte, error) {
	conversion, err := c.Convert(b.Environment.Recipe, made, said)
	if err != nil {
		return "", nil, fmt.Errorf("reading the tests' output: %w", err)
	}
	layer, err := b.Builder.Above(ctx, b.Env, b.Environment.Recipe, c.Converter(b.Environment.Recipe))
	if err != nil {
		return "", nil, err
	}
	limits := b.Limits.Filled()
	limits.Output *= 4 // each line of a program becomes a record
	res, err := b.Builder.Test(ctx, layer, b.Environment.Recipe, conversion, limits)
	if err == nil && res.End == sandbox.Exited && res.ExitCode != 0 {
		err = fmt.Errorf("exit code %d: %.500s", res.ExitCode, res.Output)
	}
	if err != nil {
		return "", nil, fmt.Errorf("reading the tests' output: %w", err)
	}
	return res.End, res.Output, nil
}
