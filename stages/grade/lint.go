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
	// Settings are whose settings the linters ran with: nil for those of the folder.
	Settings *Settings
	// Limit is what kept a linter from its answer.
	Limit  schemas.Reason
	Detail string
}

// Settings are those that are the same for each task of a language.
type Settings struct {
	Language string         `json:"language"`
	Digest   schemas.Digest `json:"digest"` // of the files, by their names
}

// Linting is how a tree is linted.
type Linting struct {
	Programs map[string][]byte // of the linters, by their toolchains' names
	Standard bool              // by settings that are the same for each task of the language
}

// Lint lints the code part of a tree that somebody works on, in the environment of a task and
// with the guard of predictions. By standard settings, findings that a comment suppresses are there too.
func (g *Grader) Lint(ctx context.Context, id string, read func(base *tree.Tree) (*tree.Tree, error), how Linting) (Linted, error) {
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
	if how.Standard {
		out.Settings = &Settings{d.bench.Lang.Name(), schemas.DigestOf(linter.Standard())}
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
	files := g.code(d, guarded)
	out.Files = len(files)
	settings := []lang.LintSettings{lang.OwnSettings}
	if how.Standard {
		settings = []lang.LintSettings{lang.Standard, lang.Unsuppressed}
	}
	for _, by := range settings {
		if err := g.lint(ctx, d, linter, guarded, files, by, how.Programs, &out); err != nil || out.Limit != "" {
			return out, err
		}
	}
	out.Findings = slices.DeleteFunc(out.Findings, func(f lang.Finding) bool { return f.Path != "" && !slices.Contains(files, f.Path) })
	slices.SortStableFunc(out.Findings, func(a, b lang.Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	out.Findings = slices.Compact(out.Findings) // packages that are compiled twice, for their tests
	return out, nil
}

// lint adds what linters find by some settings. What they find by Unsuppressed alone is suppressed.
func (g *Grader) lint(ctx context.Context, d *prepared, linter lang.Linter, t *tree.Tree, files []string, by lang.LintSettings, programs map[string][]byte, out *Linted) (err error) {
	bench := d.bench.Beside()
	if t, err = lintedTree(linter, t, by); err != nil {
		return err
	}
	at, err := instead(ctx, bench, t)
	if err != nil {
		return limited(err, &out.Limit, &out.Detail)
	}
	defer func() {
		err = errors.Join(err, bench.Free(ctx, at))
	}()
	seen := slices.Clone(out.Findings)
	for _, run := range linter.Lints(bench.Environment.Recipe, files, by) {
		found, err := lintOne(ctx, bench, at, linter, run, programs[run.Needs], out)
		if err != nil {
			return fmt.Errorf("running %s: %w", run.Tool, err)
		}
		for _, f := range found {
			if !slices.Contains(seen, f) {
				f.Suppressed = by == lang.Unsuppressed
				out.Findings = append(out.Findings, f)
			}
		}
	}
	return nil
}

// lintedTree is what linters get of a tree.
func lintedTree(linter lang.Linter, t *tree.Tree, by lang.LintSettings) (*tree.Tree, error) {
	if by == lang.OwnSettings {
		return t, nil
	}
	all := t.Entries()
	for i, e := range all {
		if e.Mode != tree.ModeSymlink && e.Mode != tree.ModeModule {
			all[i].Data = linter.ByStandard(e.Path, e.Data, by)
		}
	}
	return tree.New(all)
}

// lintOne gives what one process says, and notes in out how it ended.
func lintOne(ctx context.Context, b *testrun.Bench, at testrun.Place, linter lang.Linter, run lang.LintRun, tool []byte, out *Linted) ([]lang.Finding, error) {
	inputs := run.Inputs
	if run.Needs != "" {
		inputs = append(slices.Clone(inputs), sandbox.File{Path: path.Join(sandbox.RunPath, run.Needs), Mode: 0o555, Data: tool})
	}
	asked := sandbox.Run{Layer: at.Layer, Command: run.Command, Env: b.Environment.Recipe.Variables, Inputs: inputs, Limits: b.Limits}
	res, err := b.Builder.Sandbox.Run(ctx, run.Asking(asked))
	if err != nil {
		return nil, err
	}
	said, cut := run.Said(res)
	if cut && res.End == sandbox.Exited {
		res.End = sandbox.Output
	}
	if res.End != sandbox.Exited {
		return nil, limited(testrun.OverLimit(res.End, run.Tool), &out.Limit, &out.Detail)
	}
	found, err := linter.Findings(run, lang.Output{Run: run.TestRun, Tree: at.Tree, Report: said, Result: res})
	if err == nil && !slices.Contains(out.Tools, run.Tool) {
		out.Tools = append(out.Tools, run.Tool)
	}
	return found, err
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
