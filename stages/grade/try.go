package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Tried is what the tests of a task say of a folder.
type Tried struct {
	Tests []TriedTest // of those that were wanted, in the order of the task's lists
	// Tampered are the paths where the folder differs from the task in what is the task's.
	Tampered []string
	// Limit is what ended the run, or why its results cannot be believed; the tests have no
	// status then.
	Limit  schemas.Reason
	Detail string
	Runs   []schemas.RunRecord
	// Coverage is what was measured, where it was asked for.
	Coverage Covered
	// Tree is what the tests ran on.
	Tree *tree.Tree
}

// TriedTest is one test.
type TriedTest struct {
	Test   lang.Test
	List   schemas.Class // F2P or P2P
	Status schemas.Status
	Why    string // the runner's own word on a test that does not pass
	// Trace is what the runner printed of its failure, as testlog.Trace makes it. That of a file or package that did
	// not load is its first test's.
	Trace string
}

// Passes reports whether every wanted test passes.
func (t Tried) Passes() bool {
	return t.Limit == "" && !slices.ContainsFunc(t.Tests, func(x TriedTest) bool { return x.Status != schemas.Passed })
}

// Try runs the tests of a task that wanted chooses on a tree that somebody works on, with the
// guard of predictions. read gives that tree; it is told the base. Nothing is stored but logs.
func (g *Grader) Try(ctx context.Context, id string, read func(base *tree.Tree) (*tree.Tree, error), wanted func(lang.Test) bool) (Tried, error) {
	return g.attempt(ctx, id, read, wanted, false)
}

// TryCovered is Try that runs the tests once more, to see which lines of the code they run.
func (g *Grader) TryCovered(ctx context.Context, id string, read func(base *tree.Tree) (*tree.Tree, error), wanted func(lang.Test) bool) (Tried, error) {
	return g.attempt(ctx, id, read, wanted, true)
}

func (g *Grader) attempt(ctx context.Context, id string, read func(base *tree.Tree) (*tree.Tree, error), wanted func(lang.Test) bool, cover bool) (Tried, error) {
	var out Tried
	d, err := g.ready.take(ctx, id)
	if err != nil {
		return out, err
	}
	defer g.ready.give(d)
	worked, err := read(d.task.Trees.B)
	if err != nil {
		return out, err
	}
	for _, list := range []struct {
		class schemas.Class
		tests []lang.Test
	}{{schemas.F2P, d.task.FailToPass}, {schemas.P2P, d.task.PassToPass}} {
		for _, t := range list.tests {
			if wanted(t) {
				out.Tests = append(out.Tests, TriedTest{Test: t, List: list.class})
			}
		}
	}
	guarded, tampered, err := guard{g.rules, d.bench.Lang, d.start.loads}.put(ctx, worked, d.task.Trees)
	out.Tampered = tampered
	if errors.Is(err, patch.ErrConflict) || errors.Is(err, tree.ErrUnsafe) {
		out.Limit, out.Detail = schemas.Tampered, err.Error()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Tree = guarded
	whole := len(out.Tests) == len(d.task.FailToPass)+len(d.task.PassToPass)
	return out, g.try(ctx, d, guarded, selection(out.Tests, guarded, whole), &out, cover)
}

// selection is the part of the suite that has the tests.
func selection(tests []TriedTest, in *tree.Tree, whole bool) lang.Select {
	sel := lang.Select{Number: 1, Traces: true}
	if whole {
		return sel
	}
	for _, t := range tests {
		if slices.Contains(sel.Units, t.Test.Unit) {
			continue
		}
		sel.Units = append(sel.Units, t.Test.Unit)
		if in.Has(t.Test.Unit) {
			sel.Paths = append(sel.Paths, t.Test.Unit)
		}
	}
	return sel
}

func (g *Grader) try(ctx context.Context, d *prepared, t *tree.Tree, sel lang.Select, out *Tried, cover bool) (err error) {
	try := func() (*testrun.Outcome, error) { return g.tryOnce(ctx, d, t, sel, out, cover) }
	_, err = g.witnessed(ctx, d, try)
	if err == nil && slices.ContainsFunc(out.Tests, func(t TriedTest) bool { return t.Status != schemas.Passed }) {
		var again bool
		if again, err = g.learn(ctx, d); again {
			_, err = g.witnessed(ctx, d, try)
		}
	}
	if err = limited(err, &out.Limit, &out.Detail); err != nil {
		return fmt.Errorf("running the tests: %w", err)
	}
	return nil
}

func (g *Grader) tryOnce(ctx context.Context, d *prepared, t *tree.Tree, sel lang.Select, out *Tried, cover bool) (o *testrun.Outcome, err error) {
	bench := d.beside()
	defer func() { out.Runs = bench.Records }()
	at, err := instead(ctx, bench, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bench.Free(ctx, at)) }()
	if err = g.unchanged(ctx, d, bench, at); err != nil {
		return nil, err
	}
	if o, err = bench.Run(ctx, at, testrun.ScopeSuite, sel); err != nil {
		return nil, err
	}
	tell(out.Tests, o)
	if cover {
		out.Coverage, err = g.cover(ctx, d, bench, at, sel, out.Tests)
	}
	return o, err
}

// tell puts what a run says of tests into them.
func tell(tests []TriedTest, o *testrun.Outcome) {
	told := map[string]bool{} // units that did not load
	for i := range tests {
		x := &tests[i]
		x.Status, x.Why, x.Trace = o.Status(x.Test), o.Why(x.Test), o.Trace(x.Test)
		if x.Status == schemas.NotLoaded {
			if told[x.Test.Unit] {
				x.Trace = ""
			}
			told[x.Test.Unit] = true
		}
	}
}

// limited notes a limit of ours, or results that cannot be believed, which is no error.
func limited(err error, limit *schemas.Reason, detail *string) error {
	var over *pipeline.Rejected
	if errors.As(err, &over) {
		*limit, *detail = over.Reason, over.Detail()
		return nil
	}
	return err
}
