package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/internal/predictions"
	"github.com/benchmint/benchmint/internal/store"
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
	answered  bool
	models    string // file
	known     modelfile.Models
	listening
}

func newEval(p *program) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use: "eval DATASET [PREDICTIONS…]", Short: "grade patches against the tasks of a dataset",
		Long: "Grades predictions: SWE-bench's (JSON lines, a list or an object) and those of the harnesses beside it,\nRES-Q's submissions, or a folder of patches (ID.patch, MODEL/ID.patch, MODEL/SAMPLE/ID.patch), or of solved trees (folders with such names,\nwithout .patch). The tests of a task, the settings of their runner and its hooks are the task's,\nwhatever a patch does to them. A fault of this machine is never a verdict: such a prediction is\ncounted apart, and the same command grades it again.\n\n" +
			"Writes report.json (as SWE-bench's harness), results.jsonl (a line for each prediction), resq.json,\nmetrics.json, tables.md (the tables of FeatBench, Commit0, ABC-Bench and RES-Q) and review.csv (for people to\nsay why answers fail).",
		Example: "  benchmint eval benchmint-out predictions.jsonl\n  benchmint eval benchmint-out --gold --nop    # every gold patch must resolve, an empty change must not",
		Args:    argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.regrade && (len(args) > 1 || f.gold || f.nop) {
				return &usageError{errors.New("eval: --regrade takes no predictions: it scores those of --output again")}
			}
			if len(args) == 1 && !f.gold && !f.nop && !f.regrade {
				return &usageError{errors.New("eval: name a file or folder of predictions, or --gold, or --nop")}
			}
			if err := f.listening.check(); err != nil {
				return err
			}
			if f.models != "" {
				var err error
				if f.known, err = modelfile.Read(f.models); err != nil {
					return unmet("--models: %w", err)
				}
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			if f.regrade {
				return evaluator{p.machine(c), f}.regrade(cmd.Context(), args[0])
			}
			return evaluator{p.machine(c), f}.eval(cmd.Context(), args[0], args[1:])
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.output, "output", usualEval, "`FOLDER` of the report, with the store of the evaluation in it")
	cmd.Flags().BoolVar(&f.gold, "gold", false, "grade each task's own patch: every task must resolve")
	cmd.Flags().BoolVar(&f.nop, "nop", false, "grade a patch that adds a meaningless file: no task may resolve")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "refuse patches whose lines have moved or that must be mended")
	cmd.Flags().BoolVar(&f.regrade, "regrade", false, "score the saved results of --output again, with the dataset's lists; nothing is run")
	cmd.Flags().StringVar(&f.models, "models", "", "YAML `FILE` of what is known of models (name, cutoff, scores, source): what each resolves before and after its cut-off")
	cmd.Flags().BoolVar(&f.answered, "answered", false, "give the figures of a model over the tasks that it answers, not over all of the dataset")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to grade in: docker or bwrap (default: as the rows say)")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` predictions at one time")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of one run of a suite")
	return cmd
}

// evaluator grades predictions.
type evaluator struct {
	machine
	evalFlags
}

func (e evaluator) eval(ctx context.Context, dataset string, files []string) error {
	folder, rows, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	e.sayFormat(dataset, folder.Manifest)
	if err := e.buildFrom(folder); err != nil {
		return err
	}
	tasks := grade.NewDataset(folder, rows)
	all, bad, err := readPredictions(e.terminal, files)
	if err != nil {
		return err
	}
	own, err := tasks.Own(e.gold, e.nop)
	if err != nil {
		return err
	}
	given, err := tasks.Gather(ctx, append(all, own...), func(where, what string) { e.say("%s: %s", visible(where), visible(what)) })
	if err != nil {
		return err
	}
	if given.Bad += bad; len(given.Predictions) == 0 {
		return unmet("no prediction is for a task of %s", dataset)
	}
	if err := settleKind(e.config, rows); err != nil {
		return err
	}
	return e.grade(ctx, tasks, given)
}

// readPredictions reads files of predictions. Entries that cannot be read are said and counted.
func readPredictions(t *terminal, files []string) (all []predictions.Prediction, bad int, err error) {
	all, faults, err := predictions.Read(files...)
	if err != nil {
		return nil, 0, &ended{exitUsage, err}
	}
	for _, fault := range faults {
		t.say("%s", visible(fault.Error()))
	}
	return all, len(faults), nil
}

// settleKind settles the sandbox: the one asked for, else that of the rows.
func settleKind(c *config.Config, rows []output.Row) error {
	kinds := kindsOf(c, rows)
	if len(kinds) > 1 {
		return unmet("the rows were proved in %s: choose one with --sandbox", strings.Join(kinds, " and "))
	}
	c.Sandbox.Kind = kinds[0]
	return nil
}

// noHour says nothing of GitHub, which an evaluation asks nothing.
func noHour(string) string { return "" }

// grade takes the predictions through the plan.
func (e evaluator) grade(ctx context.Context, tasks *grade.Dataset, given *grade.Gathered) (err error) {
	e.config.Store, e.config.Output = filepath.Join(e.output, "store"), e.output
	if err := store.Fit(e.config.Store); err != nil {
		return unmet("--output %s: %w", e.output, err)
	}
	s, err := store.Open(ctx, e.config.Store, store.Options{Now: e.now})
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return lockedOr(err)
	}
	w, err := e.openWorkshop(ctx, s, asksFor("there are rows", languagesOf(slices.Collect(maps.Values(tasks.Rows)))...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	reviews, err := score.ReadReviews(e.output)
	if err != nil {
		return &ended{exitUsage, err}
	}
	var seeds []pipeline.Record
	for _, id := range slices.Sorted(maps.Keys(given.Predictions)) {
		one := given.Predictions[id]
		if _, err := s.Blobs.Put(given.Patches[one.Patch]); err != nil {
			return err
		}
		seeds = append(seeds, one)
	}
	settings := e.settings()
	grader := grade.New(validate.Outside{Builder: w.builder, Blobs: s.Blobs, Observe: e.observe}, tasks, s.Blobs, settings)
	defer func() { err = errors.Join(err, grader.Close(context.WithoutCancel(ctx))) }()
	plan := stages.NewEval(grader, settings, scorer.New(scorer.Config{Program: ownVersion(), Dataset: tasks.Folder.Manifest.Name, Dir: e.output, Tasks: tasks.Scored(), Predictions: given.Predictions, Faults: given.Faults, Answered: e.answered, Known: e.known, Reviews: reviews}), evalTools(w), e.address != "")
	options := e.runOptions(e.config, runFlags{})
	options.Slots, options.Partial, options.Redrain = max(e.config.Proof.Parallel, runtime.NumCPU()), true, true
	var workers *post
	if e.address != "" {
		if workers, err = e.listenFor(ctx, e.listening, evalInvitation{Strict: e.strict}, s, w, tasks, plan); err != nil {
			return err
		}
		workers.spread(&options)
	}
	live := pipeline.NewLive(&graded{e.terminal}, e.now)
	end := e.shown(live, (&shelf{Store: s}).funnel, sandboxes(options), noHour)
	summary, err := plan.Run(ctx, s, seeds, live, options)
	workers.close(err == nil && !summary.Interrupted)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	return e.sumUp(given.Bad, summary)
}

// settings are what grades depend on.
func (e evaluator) settings() grade.Config {
	return grade.Config{Limits: e.config.Sandbox.Limits(), Strict: e.strict}
}

// evalTools are those whose version decides grades.
func evalTools(w *workshop) map[string]string { return map[string]string{"sandbox": w.kind} }

// graded prints each verdict for a person.
type graded struct{ *terminal }

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
	if len(g.Uses) > 0 {
		line += "; uses: " + visible(usesLine(g.Uses))
	}
	if len(g.Mended) > 0 {
		line += "; mended: " + strings.Join(g.Mended, ", ")
	}
	if len(g.Left) > 0 && g.Verdict != schemas.VerdictEmpty {
		line += "; left out: " + visible(strings.Join(g.Left, ", "))
	}
	return line
}

// usesLine names what an answer uses, each once.
func usesLine(uses []schemas.Use) string {
	var all []string
	for _, u := range uses {
		if !slices.Contains(all, u.What) {
			all = append(all, u.What)
		}
	}
	return strings.Join(all, ", ")
}
