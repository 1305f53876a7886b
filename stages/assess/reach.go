package assess

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/reach"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// longestReach bounds the measurement of one task: what takes longer is not worth it.
const longestReach = 10 * time.Minute

// near are the PASS_TO_PASS tests that run a function which the change adds or modifies, or which
// a slice is without, in the proof's order. known is false where nobody can tell: no function is
// changed, the runner cannot tell, a limit ended the measurement, or it sees no FAIL_TO_PASS test
// reach the change (it runs in another process, or in an installed copy).
func (w *work) near(ctx context.Context, c testrun.Case, proof schemas.Proof) (near []string, known bool, err error) {
	reacher, ok := c.Runner.(lang.Reacher)
	changed := slices.Concat(c.Start.Functions.Added, c.Start.Functions.Modified)
	if !ok || c.Lang.Masker() == nil || len(changed) == 0 {
		return nil, false, nil
	}
	ids := map[schemas.Class][]string{}
	var tests []lang.Test
	for _, t := range proof.Tests {
		if t.Class == schemas.F2P || t.Class == schemas.P2P {
			ids[t.Class] = append(ids[t.Class], t.ID)
			tests = append(tests, lang.Test{ID: t.ID, Unit: t.Unit})
		}
	}
	runs, ok := reacher.Reach(c.Environment.Recipe, c.G, tests, filesOf(c.G, changed))
	if !ok || len(ids[schemas.P2P]) == 0 {
		return nil, ok, nil
	}
	at, err := w.bench.Place(ctx, schemas.StateG)
	if over(err) != nil {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	pipeline.Doing(ctx, "what the tests reach")
	limits := w.bench.Limits.Filled()
	limits.Timeout = min(limits.Timeout, longestReach)
	var outs []lang.Output
	for _, run := range runs {
		res, err := w.bench.Builder.Sandbox.Run(ctx, run.Asking(sandbox.Run{Layer: at.Layer, Command: run.Command, Env: c.Environment.Recipe.Variables, Inputs: run.Inputs, Limits: limits}))
		if err != nil {
			return nil, false, fmt.Errorf("measuring what the tests reach: %w", err)
		}
		said, cut := run.Said(res)
		if res.End != sandbox.Exited || cut {
			return nil, false, nil
		}
		outs = append(outs, lang.Output{Run: run, Tree: c.G, Report: said, Result: res})
	}
	source := func(path string) mask.Language {
		if !c.Lang.Source(path) {
			return nil
		}
		return c.Lang.Masker()
	}
	m := reach.Of(c.G, reacher.Reached(c.Environment.Recipe, outs), source)
	if len(m.Tests(ids[schemas.F2P], changed, above)) == 0 {
		return nil, false, nil
	}
	return m.Tests(ids[schemas.P2P], changed, above), true, nil
}

// filesOf are the files of functions; nil where one is not in the tree under its name.
func filesOf(t *tree.Tree, functions []string) []string {
	var out []string
	for _, f := range functions {
		path, _, _ := strings.Cut(f, "::")
		if !t.Has(path) {
			return nil
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// above is the test that a subtest is a part of.
func above(id string) string {
	unit, name, _ := strings.Cut(id, "::")
	name, _, _ = strings.Cut(name, "/")
	return unit + "::" + name
}
