package grade

import (
	"context"
	"errors"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// said reports whether a fault of the machine is known by words alone, which code of an answer may have said: in
// the log of a build, or on the way into a test session.
func said(err error) bool {
	return errors.As(err, new(*environment.MachineError)) || errors.Is(err, environment.ErrUnavailable) || errors.As(err, new(*testrun.SessionFault))
}

// witnessed runs an answer, and believes a fault that it may have said only if the task's own start has one too, built
// and run at once. Where it has none the answer is run again, since a fault may pass; an answer that says it twice
// fails. Other faults (of the sandbox, of a disk as the kernel tells it) need no witness.
func (g *Grader) witnessed(ctx context.Context, d *prepared, run func() (*testrun.Outcome, error)) (*testrun.Outcome, error) {
	outcome, fault := run()
	if !said(fault) || ctx.Err() != nil {
		return outcome, fault
	}
	pipeline.Doing(ctx, "the task's own start: is it a fault of the machine?")
	var over *pipeline.Rejected
	if err := g.tried(ctx, d, d.task.Trees.S); err != nil && !errors.As(err, &over) {
		return nil, errors.Join(fault, err)
	}
	pipeline.Doing(ctx, "the answer again")
	if outcome, fault = run(); said(fault) && ctx.Err() == nil {
		fault = pipeline.Reject(schemas.Tampered, "it says twice that the machine is at fault, and the task's own start runs on it: %v", fault)
	}
	return outcome, fault
}

// tried builds a tree and runs the suite on it.
func (g *Grader) tried(ctx context.Context, d *prepared, t *tree.Tree) error {
	bench := d.beside()
	at, err := instead(ctx, bench, t)
	if err != nil {
		return err
	}
	_, err = bench.Run(ctx, at, testrun.ScopeSuite, lang.Select{Number: 1})
	return errors.Join(err, bench.Free(ctx, at))
}
