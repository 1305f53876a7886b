package grade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Linted is what linters say of a folder.
type Linted struct {
	Files    int      // of the code part that were asked about
	Tools    []string // that came to an answer
	Findings []lang.Finding
	// Tampered are the paths where the folder differs from the task in what is the task's.
	Tampered []string
	// Limit is what kept a linter from its answer.
	Limit  schemas.Reason
	Detail string
}

// Lint lints the code part of a tree that somebody works on, in the environment of a task and
// with the guard of predictions. tools gives a linter's program by its toolchain's name.
func (g *Grader) Lint(ctx context.Context, id string, read func(base *tree.Tree) (*tree.Tree, error), tools map[string][]byte) (Linted, error) {
	out := Linted{Findings: []lang.Finding{}}
	d, err := g.ready.take(ctx, id)
	if err != nil {
		return out, err
	}
	defer g.ready.give(d)
	linter, ok := d.bench.Lang.(lang.Linter)
	if !ok {
		return out, fmt.Errorf("%s: there is no linter for %s", id, d.bench.Lang.Name())
	}
	worked, err := read(d.task.Trees.B)
	if err != nil {
		return out, err
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
	return out, g.lint(ctx, d, linter, guarded, tools, &out)
}

func (g *Grader) lint(ctx context.Context, d *prepared, linter lang.Linter, t *tree.Tree, tools map[string][]byte, out *Linted) (err error) {
	files := g.code(d, t)
	out.Files = len(files)
	bench := d.bench.Beside()
	at, err := instead(ctx, bench, t)
	if err != nil {
		return limited(err, &out.Limit, &out.Detail)
	}
	defer func() {
		err = errors.Join(err, bench.Free(ctx, at))
	}()
	for _, run := range linter.Lints(bench.Environment.Recipe, t, files) {
		if err := lintOne(ctx, bench, at, linter, run, tools[run.Needs], out); err != nil {
			return fmt.Errorf("running %s: %w", run.Tool, err)
		}
	}
	out.Findings = slices.DeleteFunc(out.Findings, func(f lang.Finding) bool { return f.Path != "" && !slices.Contains(files, f.Path) })
	slices.SortStableFunc(out.Findings, func(a, b lang.Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	out.Findings = slices.Compact(out.Findings) // packages that are compiled twice, for their tests
	return nil
}

// lintOne adds what one process says.
func lintOne(ctx context.Context, b *testrun.Bench, at testrun.Place, linter lang.Linter, run lang.LintRun, tool []byte, out *Linted) error {
	inputs := run.Inputs
	if run.Needs != "" {
		inputs = append(slices.Clone(inputs), sandbox.File{Path: path.Join(sandbox.RunPath, run.Needs), Mode: 0o555, Data: tool})
	}
	asked := sandbox.Run{Layer: at.Layer, Command: run.Command, Env: b.Environment.Recipe.Variables, Inputs: inputs, Limits: b.Limits}
	res, err := b.Builder.Sandbox.Run(ctx, run.Asking(asked))
	if err != nil {
		return err
	}
	said, cut := run.Said(res)
	if cut && res.End == sandbox.Exited {
		res.End = sandbox.Output
	}
	if res.End != sandbox.Exited {
		return limited(testrun.OverLimit(res.End, run.Tool), &out.Limit, &out.Detail)
	}
	found, err := linter.Findings(run, lang.Output{Run: run.TestRun, Tree: at.Tree, Report: said, Result: res})
	if err != nil {
		return err
	}
	if !slices.Contains(out.Tools, run.Tool) {
		out.Tools = append(out.Tools, run.Tool)
	}
	out.Findings = append(out.Findings, found...)
	return nil
}

// code are the sources of a tree that the task's own tests do not own, sorted.
func (g *Grader) code(d *prepared, t *tree.Tree) []string {
	var out []string
	for _, p := range t.Paths() {
		if part, _ := g.rules.Part(p, t); part == schemas.PartCode && d.bench.Lang.Source(p) {
			out = append(out, p)
		}
	}
	return out
}
