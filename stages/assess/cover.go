package assess

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Cover says of a library (of a service nothing) how many lines of its code part the suite of the release runs, and of a
// slice which tests count. Its hunks are skipped: reverted alone, one would leave all others.
func (a *Assessor) Cover(ctx context.Context, c testrun.Case, proof schemas.Proof) (out schemas.Adequacy, err error) {
	out = schemas.Adequacy{StartID: c.Start.ID(), Proof: schemas.DigestOf(proof.Stable()), Hunks: []schemas.HunkNotice{}}
	for _, f := range c.Start.Files {
		out.Skipped += f.Hunks
	}
	if out.Skipped > 0 {
		out.SkippedFor = map[schemas.HunkSkip]int{schemas.SkipMasked: out.Skipped}
	}
	if c.Start.Group != nil { // its tests run in another process than its code
		return out, nil
	}
	w := &work{bench: testrun.New(a.outside, c, a.config.Limits)}
	defer func() { err = errors.Join(err, w.bench.Remove(ctx)) }()
	if out.Coverage, err = w.cover(ctx, c, proof); err != nil || c.Start.Masked == nil || c.Start.Masked.Slice == nil {
		return out, err
	}
	near, known, err := w.near(ctx, c, proof)
	out.Near, out.Counted = near, counted(proof, near, known)
	return out, err
}

// counted are the tests that the score of a slice counts. Where what they run is not known they
// are those of the files (in Go: packages) with a test that fails without the slice.
func counted(proof schemas.Proof, near []string, known bool) *schemas.Counted {
	out := &schemas.Counted{Rule: schemas.CountReach, P2P: append([]string{}, near...)}
	if !known {
		out.Rule = schemas.CountUnits
		units := map[string]bool{}
		for _, t := range proof.Tests {
			units[t.Unit] = units[t.Unit] || t.Class == schemas.F2P
		}
		for _, t := range proof.Tests {
			if t.Class == schemas.P2P && units[t.Unit] {
				out.P2P = append(out.P2P, t.ID)
			}
		}
	}
	slices.Sort(out.P2P)
	return out
}

// cover is nil where the coverage is not known: the runner cannot tell, a limit ended the
// measurement, or the suite runs nothing of the tree itself (an installed copy, another process).
func (w *work) cover(ctx context.Context, c testrun.Case, proof schemas.Proof) (*schemas.Coverage, error) {
	coverer, ok := c.Runner.(lang.Coverer)
	if !ok {
		return nil, nil
	}
	var tests []lang.Test
	for _, t := range proof.Tests {
		if t.Class == schemas.F2P || t.Class == schemas.P2P {
			tests = append(tests, lang.Test{ID: t.ID, Unit: t.Unit})
		}
	}
	files := sources(c.G, c.Lang)
	runs, ok := coverer.Cover(c.Environment.Recipe, c.G, lang.Select{Number: 1}, tests, files)
	if !ok {
		return nil, nil
	}
	at, err := w.bench.Place(ctx, schemas.StateG)
	if over(err) != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var outs []lang.Output
	for i, run := range runs {
		pipeline.Doing(ctx, "what the suite runs of the code, %d of %d", i+1, len(runs))
		res, err := w.bench.Builder.Sandbox.Run(ctx, run.Asking(sandbox.Run{Layer: at.Layer, Command: run.Command, Env: c.Environment.Recipe.Variables, Inputs: run.Inputs, Limits: w.bench.Limits}))
		if err != nil {
			return nil, fmt.Errorf("measuring the coverage: %w", err)
		}
		said, cut := run.Said(res)
		if res.End != sandbox.Exited || cut {
			return nil, nil
		}
		outs = append(outs, lang.Output{Run: run, Tree: c.G, Report: said, Result: res})
	}
	return sum(coverer.Covered(c.Environment.Recipe, outs), files), nil
}

// sum adds up the files of a list.
func sum(of []lang.Coverage, files []string) *schemas.Coverage {
	wanted := map[string]bool{}
	for _, p := range files {
		wanted[p] = true
	}
	var all schemas.Coverage
	for _, f := range of {
		if wanted[f.Path] {
			all.Lines, all.Ran = all.Lines+len(f.Lines), all.Ran+len(f.Ran)
		}
	}
	if all.Ran == 0 {
		return nil
	}
	return &all
}

// sources are the files of the code part in a language.
func sources(t *tree.Tree, l lang.Language) []string {
	rules := parts.New(l)
	var out []string
	for _, p := range t.Paths() {
		if part, rule := rules.Part(p, t); parts.Ships(p, part, rule) && l.Source(p) {
			out = append(out, p)
		}
	}
	return out
}
