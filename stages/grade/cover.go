package grade

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// cover runs tests in a place, and gives the lines of its code that they run; nil where that is
// not known.
func (g *Grader) cover(ctx context.Context, d *prepared, b *testrun.Bench, at testrun.Place, sel lang.Select, tests []TriedTest) ([]lang.Coverage, error) {
	coverer, ok := b.Runner.(lang.Coverer)
	if !ok {
		return nil, nil
	}
	var wanted []lang.Test
	for _, t := range tests {
		wanted = append(wanted, t.Test)
	}
	files := g.code(d, at.Tree)
	runs, ok := coverer.Cover(b.Environment.Recipe, at.Tree, sel, wanted, files)
	if !ok {
		return nil, nil
	}
	var outs []lang.Output
	for _, run := range runs {
		asked := sandbox.Run{Layer: at.Layer, Command: run.Command, Env: b.Environment.Recipe.Variables, Inputs: run.Inputs, Limits: b.Limits}
		res, err := b.Builder.Sandbox.Run(ctx, run.Asking(asked))
		if err != nil {
			return nil, fmt.Errorf("measuring the coverage: %w", err)
		}
		said, cut := run.Said(res)
		if cut && res.End == sandbox.Exited {
			res.End = sandbox.Output
		}
		if res.End != sandbox.Exited {
			return nil, testrun.OverLimit(res.End, "measuring the coverage")
		}
		outs = append(outs, lang.Output{Run: run, Tree: at.Tree, Report: said, Result: res})
	}
	all := coverer.Covered(b.Environment.Recipe, outs)
	return slices.DeleteFunc(all, func(c lang.Coverage) bool { return !slices.Contains(files, c.Path) }), nil
}
