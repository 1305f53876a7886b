package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/predictions"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/grade"
	scorer "github.com/benchmint/benchmint/stages/score"
	"github.com/benchmint/benchmint/stages/validate"
)

// evalFlags are the flags of eval that are no keys of the configuration.
type evalFlags struct {
	output    string
	gold, nop bool
	strict    bool
	regrade   bool
}

func newEval(p *program) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use: "eval DATASET [PREDICTIONS]", Short: "grade patches against the tasks of a dataset",
		Long: "Grades predictions: SWE-bench's (JSON lines, a list or an object) and those of the harnesses beside it,\nRES-Q's submissions, or a folder of patches (ID.patch, MODEL/ID.patch, MODEL/SAMPLE/ID.patch), or of solved trees (folders with such names,\nwithout .patch). The tests of a task, the settings of their runner and its hooks are the task's,\nwhatever a patch does to them. A fault of this machine is never a verdict: such a prediction is\ncounted apart, and the same command grades it again.\n\n" +
			"Writes report.json (as SWE-bench's harness), results.jsonl (a line for each prediction), resq.json\nand metrics.json.",
		Example: "  benchmint eval benchmint-out predictions.jsonl\n  benchmint eval benchmint-out --gold --nop    # every gold patch must resolve, an empty change must not",
		Args:    argsOf(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.regrade && (len(args) > 1 || f.gold || f.nop) {
				return &usageError{errors.New("eval: --regrade takes no predictions: it scores those of --output again")}
			}
			if len(args) == 1 && !f.gold && !f.nop && !f.regrade {
				return &usageError{errors.New("eval: name a file or folder of predictions, or --gold, or --nop")}
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			if f.regrade {
				return p.regrade(cmd.Context(), c, f, args[0])
			}
			return p.eval(cmd.Context(), c, f, args[0], args[1:])
		},
	}
	cmd.Flags().StringVar(&f.output, "output", "benchmint-eval", "`FOLDER` of the report, with the store of the evaluation in it")
	cmd.Flags().BoolVar(&f.gold, "gold", false, "grade each task's own patch: every task must resolve")
	cmd.Flags().BoolVar(&f.nop, "nop", false, "grade a patch that adds a meaningless file: no task may resolve")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "refuse patches whose lines have moved or that must be mended")
	cmd.Flags().BoolVar(&f.regrade, "regrade", false, "score the saved results of --output again, with the dataset's lists; nothing is run")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to grade in: docker or bwrap (default: as the rows say)")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` predictions at one time")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of one run of a suite")
	return cmd
}

// evaluation is what eval grades.
type evaluation struct {
	dataset *output.Dataset
	rows    map[string]output.Row
	patches map[schemas.Digest][]byte
	given   map[string]schemas.Prediction // by ID
	bad     int                           // entries that could not be read, and unknown IDs
}

func (p *program) eval(ctx context.Context, c *config.Config, f evalFlags, dataset string, files []string) error {
	d, rows, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	p.sayFormat(dataset, d.Manifest)
	e := &evaluation{dataset: d, rows: map[string]output.Row{}, patches: map[schemas.Digest][]byte{}, given: map[string]schemas.Prediction{}}
	for _, r := range rows {
		e.rows[r.InstanceID] = r
	}
	if err := p.gather(ctx, e, f, files); err != nil {
		return err
	}
	if len(e.given) == 0 {
		return unmet("no prediction is for a task of %s", dataset)
	}
	if err := e.kind(c, rows); err != nil {
		return err
	}
	return p.grade(ctx, c, f, e)
}

// gather collects the predictions. What cannot be read or has no task is said, and the
// others go on.
func (p *program) gather(ctx context.Context, e *evaluation, f evalFlags, files []string) error {
	var all []predictions.Prediction
	for _, name := range files {
		read, faults, err := predictions.Read(name)
		if err != nil {
			return &ended{exitUsage, err}
		}
		for _, fault := range faults {
			p.say("%s", visible(fault.Error()))
		}
		e.bad += len(faults)
		all = append(all, read...)
	}
	known := slices.Sorted(mapKeys(e.rows))
	for _, id := range known {
		if f.gold {
			gold, err := e.rows[id].GoldPatch()
			if err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			all = append(all, predictions.Prediction{Instance: id, Model: "gold", Patch: gold, Where: "--gold"})
		}
		if f.nop {
			all = append(all, predictions.Prediction{Instance: id, Model: "nop", Patch: []byte(nopPatch), Where: "--nop"})
		}
	}
	for _, x := range predictions.Matched(all, known) {
		row, ok := e.rows[x.Instance]
		if !ok {
			e.bad++
			p.say("%s: %s is not a task of the dataset%s", visible(x.Where), visible(x.Instance), nearest.Hint(x.Instance, known))
			continue
		}
		for _, said := range x.Said {
			p.say("%s: %s", visible(x.Where), visible(said))
		}
		if x.Tree != "" {
			var err error
			if x.Patch, err = e.patchOf(ctx, row, x.Tree); ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				e.bad++
				p.say("%s: %s", visible(x.Where), visible(err.Error()))
				continue
			}
		}
		ground, task, err := e.digests(row)
		if err != nil {
			return fmt.Errorf("%s: %w", x.Instance, err)
		}
		given := schemas.Prediction{
			Instance: x.Instance, Model: x.Model, Sample: x.Sample, Patch: schemas.DigestBytes(x.Patch), Task: task, Ground: ground, Tokens: x.Tokens, Cost: x.Cost, Read: x.Said,
		}
		if _, twice := e.given[given.ID()]; twice {
			e.bad++
			p.say("%s: %s is given more than once", visible(x.Where), visible(given.ID()))
			continue
		}
		e.given[given.ID()], e.patches[given.Patch] = given, x.Patch
	}
	return nil
}

// patchOf is the patch that turns the base of a task into a folder that somebody solved it in.
func (e *evaluation) patchOf(ctx context.Context, row output.Row, folder string) ([]byte, error) {
	base, _, _, err := e.dataset.States(row)
	if err != nil {
		return nil, err
	}
	solved, err := worktree.Read(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	return patch.Between(ctx, base, solved)
}

// nopPatch changes nothing that a test could notice.
const nopPatch = "diff --git a/benchmint-nop.txt b/benchmint-nop.txt\nnew file mode 100644\n--- /dev/null\n+++ b/benchmint-nop.txt\n@@ -0,0 +1 @@\n+This patch does nothing.\n"

// digests are those of a task without its lists, and of all of it that can decide a verdict.
func (e *evaluation) digests(row output.Row) (ground, task schemas.Digest, err error) {
	env, err := e.dataset.Environment(row)
	if err != nil {
		return "", "", err
	}
	type all struct {
		Trees      output.Trees
		Recipe     schemas.Recipe
		F2P, P2P   []string
		Encoding   string
		Start      schemas.Digest
		SealedBase string
	}
	x := all{row.Benchmint.Trees, env.Recipe, row.FailToPass, row.PassToPass, row.Benchmint.PatchEncoding, row.Benchmint.Identity, row.BaseCommit}
	task = schemas.DigestOf(x)
	x.F2P, x.P2P = nil, nil
	return schemas.DigestOf(x), task, nil
}

// kind settles the sandbox: the one asked for, else that of the rows.
func (e *evaluation) kind(c *config.Config, rows []output.Row) error {
	kinds := kindsOf(c, rows)
	if len(kinds) > 1 {
		return unmet("the rows were proved in %s: choose one with --sandbox", strings.Join(kinds, " and "))
	}
	c.Sandbox.Kind = kinds[0]
	return nil
}

// Task implements grade.Tasks.
func (e *evaluation) Task(_ context.Context, id string) (grade.Task, error) {
	row := e.rows[id]
	m, err := material(e.dataset, row, row.Benchmint.Sandbox)
	if err != nil {
		return grade.Task{}, err
	}
	proof, err := e.dataset.Proof(id)
	if err != nil {
		return grade.Task{}, err
	}
	t := grade.Task{Start: m.Start, Environment: m.Environment, Trees: m.Trees}
	t.FailToPass, t.PassToPass = testsOf(row.FailToPass, proof), testsOf(row.PassToPass, proof)
	return t, nil
}

// testsOf are the tests of a list with their units, which a proof names.
func testsOf(ids []string, proof schemas.Proof) []lang.Test {
	unit := map[string]string{}
	for _, t := range proof.Tests {
		unit[t.ID] = t.Unit
	}
	out := make([]lang.Test, 0, len(ids))
	for _, id := range ids {
		out = append(out, lang.Test{ID: id, Unit: unit[id]})
	}
	return out
}

// figures is what the metrics need to know of each task.
func (e *evaluation) figures() map[string]score.Task {
	out := map[string]score.Task{}
	for id, r := range e.rows {
		out[id] = score.TaskOf(r)
	}
	return out
}

// grade takes the predictions through the plan.
func (p *program) grade(ctx context.Context, c *config.Config, f evalFlags, e *evaluation) (err error) {
	c.Store, c.Output = filepath.Join(f.output, "store"), f.output
	if err := store.Fit(c.Store); err != nil {
		return unmet("--output %s: %w", f.output, err)
	}
	s, err := store.Open(ctx, c.Store, store.Options{Now: p.now})
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return lockedOr(err)
	}
	rows := make([]output.Row, 0, len(e.rows))
	for _, r := range e.rows {
		rows = append(rows, r)
	}
	w, err := p.openWorkshop(ctx, c, s, asksFor("there are rows", languagesOf(rows)...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var seeds []pipeline.Record
	for _, id := range slices.Sorted(mapKeys(e.given)) {
		given := e.given[id]
		if _, err := s.Blobs.Put(e.patches[given.Patch]); err != nil {
			return err
		}
		seeds = append(seeds, given)
	}
	config := grade.Config{Limits: c.Sandbox.Limits(), Strict: f.strict}
	grader := grade.New(validate.Outside{Builder: w.builder, Blobs: s.Blobs, Observe: p.observe}, e, s.Blobs, config)
	defer func() { err = errors.Join(err, grader.Close(context.WithoutCancel(ctx))) }()
	plan := stages.NewEval(grader, config, scorer.New(scorer.Config{Dataset: e.dataset.Manifest.Name, Dir: f.output, Tasks: e.figures(), Predictions: e.given}), map[string]string{"sandbox": w.kind})
	options := p.runOptions(c, runFlags{})
	options.Slots, options.Partial, options.Redrain = max(c.Proof.Parallel, runtime.NumCPU()), true, true
	live := pipeline.NewLive(&graded{p}, p.now)
	end := p.shown(live, (&shelf{Store: s}).funnel, c.Proof.Parallel)
	summary, err := plan.Run(ctx, s, seeds, live, options)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	return p.sumUpEval(f, e, summary)
}

// graded tells a person each verdict.
type graded struct{ *program }

// Begin implements pipeline.Observer.
func (g *graded) Begin(stage, key string) {
	if g.verbose {
		g.say("  %s  %s …", key, stage)
	}
}

// End implements pipeline.Observer.
func (g *graded) End(s schemas.Step, _ bool) {
	if s.Stage != stages.Grade {
		return
	}
	out, ok := s.Output()
	switch {
	case s.State == schemas.StepDone && ok:
		var made schemas.Grade
		if json.Unmarshal(out.Record, &made) == nil {
			g.say("%s  %s", s.Key, gradeLine(made))
		}
	case s.State == schemas.StepInterrupted:
	default:
		g.say("%s  %s: %s", s.Key, s.State, visible(tail(s.Detail, 1)))
	}
}

func gradeLine(g schemas.Grade) string {
	line := string(g.Verdict)
	if g.Limit != "" {
		line += " (" + string(g.Limit) + ")"
	}
	if g.Verdict == schemas.VerdictPatch || g.Verdict == schemas.VerdictEmpty && g.Detail != "" {
		first, _, _ := strings.Cut(g.Detail, "\n")
		line += ": " + visible(first)
	}
	if g.F2P != nil {
		line += fmt.Sprintf(": %d of %d FAIL_TO_PASS, %d of %d PASS_TO_PASS", g.F2P.Passed, g.F2P.Want, g.P2P.Passed, g.P2P.Want)
	}
	if len(g.Tampered) > 0 {
		line += fmt.Sprintf("; put back: %s", strings.Join(g.Tampered, ", "))
	}
	if len(g.Mended) > 0 {
		line += "; mended: " + strings.Join(g.Mended, ", ")
	}
	if len(g.Left) > 0 && g.Verdict != schemas.VerdictEmpty {
		line += "; left out: " + visible(strings.Join(g.Left, ", "))
	}
	return line
}

// evalResult is the end of an evaluation for scripts.
type evalResult struct {
	Output string        `json:"output"`
	Models []score.Model `json:"models"`
	// Unread counts entries that could not be read or have no task in the dataset.
	Unread int `json:"unread,omitempty"`
}

// sumUpEval prints the table of models, and gives the exit code.
func (p *program) sumUpEval(f evalFlags, e *evaluation, summary pipeline.Summary) error {
	r := evalResult{Output: f.output, Unread: e.bad, Models: []score.Model{}}
	if b, err := os.ReadFile(filepath.Join(f.output, score.MetricsFile)); err == nil && summary.Drained {
		if err := json.Unmarshal(b, &r.Models); err != nil {
			return err
		}
	}
	if p.json {
		if err := p.writeJSON(r); err != nil {
			return err
		}
	} else if err := p.printEval(r, summary); err != nil {
		return err
	}
	code := summary.Code()
	if code == exitOK && e.bad > 0 {
		code = exitFailed
	}
	if code != exitOK {
		return &ended{code: code}
	}
	return nil
}

func (p *program) printEval(r evalResult, summary pipeline.Summary) error {
	t := p.out()
	if len(r.Models) > 0 {
		t.line("%-24s %12s %15s %8s %6s %6s %7s", "model", "resolved", "95 %", "applied", "FV", "RT", "faults")
	}
	for _, m := range r.Models {
		x := m.Metrics
		t.line("%-24s %4d of %4d %6.1f–%5.1f %% %6.1f %% %4.0f %% %4.0f %% %7d", visible(m.Model), x.Resolved.Part, x.Resolved.Whole,
			100*x.Resolved.Low, 100*x.Resolved.High, 100*x.Applied.Rate, 100*x.FV.Rate, 100*x.RT.Rate, m.Faults)
	}
	for _, m := range r.Models {
		if s := m.Metrics.Service; s != nil {
			t.line("service  %s: S1 %.1f %% (%d of %d start), S2 %.1f %% of these%s", visible(m.Model), 100*s.S1, s.Starts, s.Predictions, 100*s.S2, errorsOf(s))
		}
		if l := m.Metrics.Library; l != nil {
			t.line("library  %s: score %.1f %% (pass rate %.1f %%, with nothing done %.1f %%; means over %s)", visible(m.Model), 100*l.Score, 100*l.PassRate, 100*l.ZeroWork, plural(l.Tasks, "task"))
		}
	}
	for _, m := range r.Models {
		if x := m.Metrics; x.Mended+x.LeftOut > 0 {
			t.line("mended   %s: %s; %s with files left out (mended and left_out in %s)", visible(m.Model), plural(x.Mended, "prediction"), plural(x.LeftOut, "prediction"), score.ResultsFile)
		}
	}
	if r.Unread > 0 {
		t.line("unread   %s (said above)", plural(r.Unread, "prediction"))
	}
	if summary.Drained {
		t.line("report   %s (%s, %s)", r.Output, score.ReportFile, score.ResultsFile)
	} else {
		t.line("report   not written: the same command goes on")
	}
	return t.err
}

// errorsOf counts what went wrong, by class.
func errorsOf(s *score.Service) string {
	var parts []string
	for _, c := range schemas.ErrorClasses {
		if n := s.Errors[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c, n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}
