package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Covered is how much of the code tests run.
type Covered struct {
	Files []lang.Coverage // of the code part, by path
	// Unknown is why nothing is known; "" where something is.
	Unknown string
	// Missing are the processes of tests that left no count, of Processes: what they ran is not in Files.
	Missing, Processes int
}

// cover runs tests in a place, and gives the lines of its code that they run.
func (g *Grader) cover(ctx context.Context, d *prepared, b *testrun.Bench, at testrun.Place, sel lang.Select, tests []TriedTest) (Covered, error) {
	coverer, ok := b.Runner.(lang.Coverer)
	if !ok {
		return Covered{Unknown: "lines cannot be watched in tests of this kind"}, nil
	}
	var wanted []lang.Test
	for _, t := range tests {
		wanted = append(wanted, t.Test)
	}
	files := g.code(d, at.Tree)
	runs, ok := coverer.Cover(b.Environment.Recipe, at.Tree, sel, wanted, files)
	if !ok {
		return Covered{Unknown: "no test runs code of the folder"}, nil
	}
	var outs []lang.Output
	for _, run := range runs {
		asked := sandbox.Run{Layer: at.Layer, Command: run.Command, Env: b.Environment.Recipe.Variables, Inputs: run.Inputs, Limits: b.Limits}
		res, err := b.Builder.Sandbox.Run(ctx, run.Asking(asked))
		if err != nil {
			return Covered{}, fmt.Errorf("measuring the coverage: %w", err)
		}
		said, cut := run.Said(res)
		if cut && res.End == sandbox.Exited {
			res.End = sandbox.Output
		}
		if res.End != sandbox.Exited {
			var over *pipeline.Rejected
			if err := testrun.OverLimit(res.End, "measuring it"); !errors.As(err, &over) {
				return Covered{}, err
			}
			return Covered{Unknown: fmt.Sprintf("%s: %s", over.Detail(), over.Reason)}, nil
		}
		outs = append(outs, lang.Output{Run: run, Tree: at.Tree, Report: said, Result: res})
	}
	all := coverer.Covered(b.Environment.Recipe, outs)
	all = slices.DeleteFunc(all, func(c lang.Coverage) bool { return !slices.Contains(files, c.Path) })
	return known(all, outs), nil
}

// known tells what was not measured from what is not covered: tests that load their code run lines of it.
func known(files []lang.Coverage, outs []lang.Output) Covered {
	out := Covered{Files: files, Processes: len(outs)}
	for _, o := range outs {
		if len(o.Report) == 0 {
			out.Missing++
		}
	}
	switch {
	case out.Missing == out.Processes || len(files) == 0:
		out = Covered{Unknown: "no test came to its end"}
	case !slices.ContainsFunc(files, func(c lang.Coverage) bool { return len(c.Ran) > 0 }):
		out = Covered{Unknown: "no line of the code ran where lines are watched"}
	}
	return out
}
