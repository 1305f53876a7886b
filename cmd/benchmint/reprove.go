package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/release"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/validate"
)

func newReprove(p *program) *cobra.Command {
	r := reprover{}
	var clocks []string
	cmd := &cobra.Command{
		Use: "reprove DATASET [ID…]", Short: "prove published tasks again, on several days and under another clock",
		Long: "Runs each task with its own patch (gold), with one that does nothing (nop) and with one that only forges\nresults (forged), from the dataset's folder alone. Runs are spread over the dates that a release asks for,\nand each is a line of a ledger beside the dataset, to which later calls add: what is there is not run again.\n" +
			"A task that is published has at most three gold runs and one nop in two weeks, unless a test of its repository\nis known to disagree with itself: such a task has all of them, and runs alone.\n\n" +
			"The next release reads the ledger. A fault of this machine is no line: the same command makes that run again.",
		Example: "  benchmint reprove benchmint-out         # today, and again tomorrow\n  benchmint reprove releases/2026.07 -j 2",
		Args:    argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.listening.check(); err != nil {
				return err
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			r := r
			r.machine = p.machine(c)
			return r.all(cmd.Context(), args[0], args[1:], clocks)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringSliceVar(&clocks, "clock", []string{string(schemas.OwnClock), "+400d"}, "`CLOCK`,… that the runs go by: own, or days ahead")
	cmd.Flags().StringVar(&r.ledger, "ledger", "", "`FILE` that the runs are added to (default: "+reproof.File+" beside the dataset's folder)")
	cmd.Flags().StringVar(&r.folder, "output", "benchmint-reproof", "`FOLDER` of the store of the runs, with their logs")
	p.override(cmd, "gold", "release.gold", "`N` runs with the task's own patch, over all dates")
	p.override(cmd, "nop", "release.nop", "`N` runs with a patch that does nothing")
	p.override(cmd, "forged", "release.forged", "`N` runs with a patch that only forges results")
	p.override(cmd, "dates", "release.dates", "`N` dates that the runs of a new task are spread over")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to prove in: docker or bwrap (default: as the rows say)")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` runs at one time")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of one run of a suite")
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf, which says what is published")
	return cmd
}

// reprover proves rows again.
type reprover struct {
	machine
	listening
	ledger string
	folder string // of the stores, one for each kind of sandbox
	wanted reproof.Wanted
}

// all proves a dataset again as a plan that goes on where it stopped.
func (r reprover) all(ctx context.Context, dataset string, ids, clocks []string) error {
	if r.ledger == "" {
		r.ledger = reproof.Beside(dataset)
	}
	r.wanted = wantedOf(r.config)
	own := false
	for _, c := range clocks {
		clock := schemas.WallClock(c)
		if _, err := clock.Days(); err != nil {
			return unmet("--clock: %w", err)
		}
		if clock == schemas.OwnClock {
			own = true
		} else {
			r.wanted.Clocks = append(r.wanted.Clocks, clock)
		}
	}
	if !own {
		r.wanted.Gold, r.wanted.Nop, r.wanted.Forged = 0, 0, 0
	}
	return r.prove(ctx, dataset, ids)
}

// wantedOf is what a configuration asks for of a new task.
func wantedOf(c *config.Config) reproof.Wanted {
	return reproof.Wanted{Gold: c.Release.Gold, Nop: c.Release.Nop, Forged: c.Release.Forged, Dates: c.Release.Dates}
}

// due is a row, what the ledger has of it and what is wanted.
type due struct {
	row          output.Row
	ground, task schemas.Digest // without and with its lists
	runs         []schemas.Reproof
	verdict      reproof.Verdict
	wanted       reproof.Wanted
	alone        bool
}

// missing are the runs to be made on a date, and whether more are wanted later. A withdrawn task has none.
func (d due) missing(date string) (runs []reproof.Run, later bool) {
	if d.verdict.State == reproof.Withdrawn {
		return nil, false
	}
	return d.wanted.Missing(d.runs, date)
}

func (r reprover) prove(ctx context.Context, dataset string, ids []string) error {
	d, rows, err := readRows(dataset, ids)
	if err != nil {
		return err
	}
	r.sayFormat(dataset, d.Manifest)
	if err := r.buildFrom(d); err != nil {
		return err
	}
	code := exitOK
	for _, kind := range kindsOf(r.config, rows) {
		ended, err := r.proveIn(ctx, kind, d, rowsOf(r.config, kind, rows))
		if err != nil {
			return err
		}
		code = worse(code, ended)
	}
	return r.sumUp(d, rows, code)
}

// worse is the exit code of two parts: an interrupt before a fault, and a fault before "later".
func worse(a, b int) int {
	for _, c := range []int{exitInterrupted, exitFailed, exitDeferred} {
		if a == c || b == c {
			return c
		}
	}
	return exitOK
}

// proveIn makes the runs of rows in one kind of sandbox, and gives the exit code of the plan.
func (r reprover) proveIn(ctx context.Context, kind string, d *output.Dataset, rows []output.Row) (code int, err error) {
	c := *r.config
	c.Store, c.Sandbox.Kind = filepath.Join(r.folder, kind), kind
	r.machine = machine{r.terminal, &c}
	if err := store.Fit(c.Store); err != nil {
		return 0, unmet("--output %s: %w", r.folder, err)
	}
	s, err := store.Open(ctx, c.Store, store.Options{Now: r.now})
	if err != nil {
		return 0, &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return 0, lockedOr(err)
	}
	if err := r.bookLeft(ctx, s); err != nil {
		return 0, err
	}
	w, err := r.openWorkshop(ctx, s, asksFor("there are rows", languagesOf(rows)...))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	tasks := grade.NewDataset(d, rows)
	seeds, err := r.seeds(ctx, s, tasks)
	if err != nil || len(seeds) == 0 {
		return exitOK, err
	}
	g, stage, settings := r.reproving(validate.Outside{Builder: w.builder, Blobs: s.Blobs, Observe: r.observe}, tasks, s.Blobs, kind)
	defer func() { err = errors.Join(err, g.Close(context.WithoutCancel(ctx))) }()
	plan := stages.NewReprove(stage, grade.Book{File: r.ledger}, settings, evalTools(w), r.address != "")
	options := r.runOptions(&c, runFlags{})
	options.Slots, options.Partial, options.Redrain = max(c.Proof.Parallel, runtime.NumCPU()), true, true
	var workers *post
	if r.address != "" {
		if workers, err = r.listenFor(ctx, r.listening, evalInvitation{Reprove: true}, s, w, tasks, plan); err != nil {
			return 0, err
		}
		workers.spread(&options)
	}
	book, err := grade.Book{File: r.ledger}.Open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	live := pipeline.NewLive(&rerun{r.terminal, book}, r.now)
	end := r.shown(live, (&shelf{Store: s}).funnel, sandboxes(options), noHour)
	summary, err := plan.Run(ctx, s, seeds, live, options)
	workers.close(err == nil && !summary.Interrupted)
	if err = errors.Join(err, end()); err != nil {
		return 0, err
	}
	return summary.Code(), nil
}

// reproving is the stage that makes runs of tasks.
func (m machine) reproving(o validate.Outside, tasks *grade.Dataset, patches grade.Patches, kind string) (*grade.Grader, *grade.Reprover, grade.ReproveConfig) {
	graded := grade.Config{Limits: m.config.Sandbox.Limits(), Keep: true}
	c := grade.ReproveConfig{Grade: graded, Machine: machineClass(kind), Program: ownVersion(), Parallel: m.config.Proof.Parallel}
	g := grade.New(o, tasks, patches, graded)
	return g, grade.NewReprover(g, tasks.Rows, c), c
}

// machineClass is what of a machine may matter to a suite: never its name.
func machineClass(kind string) string {
	var info unix.Sysinfo_t
	memory := ""
	if unix.Sysinfo(&info) == nil {
		memory = fmt.Sprintf(", %d GB", (uint64(info.Totalram)*uint64(info.Unit)+1<<29)>>30)
	}
	return fmt.Sprintf("%s/%s, %d processors%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), memory, kind)
}

// bookLeft adds to the ledger what a process that was killed had made.
func (r reprover) bookLeft(ctx context.Context, s *store.Store) error {
	return grade.Book{File: r.ledger}.Run(ctx, func(yield func(schemas.Reproof, error) bool) {
		for step, err := range s.Each(stages.Reprove) {
			var made schemas.Reproof
			out, ok := step.Output()
			if err == nil && (!ok || step.State != schemas.StepDone) {
				continue
			}
			if err == nil {
				err = json.Unmarshal(out.Record, &made)
			}
			if !yield(made, err) {
				return
			}
		}
	}, pipeline.Ended{})
}

// today is the date by the system's clock.
func (r reprover) today() string { return r.now().UTC().Format(time.DateOnly) }

// seeds are the runs to be made today.
func (r reprover) seeds(ctx context.Context, s *store.Store, tasks *grade.Dataset) ([]pipeline.Record, error) {
	all, err := r.due(tasks)
	if err != nil {
		return nil, err
	}
	var out []pipeline.Record
	for _, t := range all {
		patches := map[schemas.Answered]schemas.Digest{}
		runs, _ := t.missing(r.today())
		for _, run := range runs {
			if _, there := patches[run.State]; !there {
				patch, err := answer(ctx, tasks.Folder, t.row, run.State)
				if err == nil {
					patches[run.State], err = s.Blobs.Put(patch)
				}
				if err != nil && !errors.Is(err, grade.ErrNoForgery) { // such a run has no patch
					return nil, fmt.Errorf("%s: %w", t.row.InstanceID, err)
				}
			}
			out = append(out, schemas.Rerun{
				Answer: schemas.Prediction{Instance: t.row.InstanceID, Model: string(run.State), Patch: patches[run.State], Task: t.task, Ground: t.ground},
				State:  run.State, Clock: run.Clock, Date: r.today(), Number: run.Number, Alone: t.alone,
			})
		}
	}
	return out, nil
}

// answer is the patch of a state.
func answer(ctx context.Context, d *output.Dataset, row output.Row, state schemas.Answered) ([]byte, error) {
	switch state {
	case schemas.AnsweredGold:
		return row.GoldPatch()
	case schemas.AnsweredForged:
		return grade.Forgery(ctx, d, row)
	}
	return []byte(grade.NopPatch), nil
}

// due are the rows with what the ledger has of each and what is wanted.
func (r reprover) due(tasks *grade.Dataset) ([]due, error) {
	l, err := reproof.Read(r.ledger, filepath.Join(tasks.Folder.Dir, reproof.File))
	if err != nil {
		return nil, unmet("%w", err)
	}
	published := map[string]bool{}
	for _, dir := range []string{r.config.Releases, r.config.Hidden.Folder} {
		if s, err := release.Read(dir); err == nil {
			some, err := s.Tasks()
			if err != nil {
				return nil, err
			}
			maps.Copy(published, some)
		}
	}
	var out []due
	flaky := map[string]bool{}
	for _, f := range tasks.Folder.Flakes {
		flaky[f.Repo] = true
	}
	for _, id := range tasks.IDs() {
		t := due{row: tasks.Rows[id]}
		if t.ground, t.task, err = tasks.Folder.Digests(t.row); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		t.runs = l.Of(t.ground, t.row)
		if t.verdict = reproof.Judge(t.row, t.runs); len(t.verdict.Flaky) > 0 || t.verdict.Reason == schemas.ForFlaky {
			flaky[t.row.Repo] = true
		}
		out = append(out, t)
	}
	now := r.now()
	for i := range out {
		t := &out[i]
		t.alone, t.wanted = flaky[t.row.Repo], r.wanted
		switch known := t.row.Benchmint.Release != nil || published[t.row.InstanceID]; {
		case t.verdict.State == reproof.Held: // it needs another date, whatever was run
			t.wanted = r.wanted.Short(now)
			t.wanted.Since = r.today()
		case known && t.alone:
			t.wanted = r.wanted.Again(now)
		case known:
			t.wanted = r.wanted.Short(now)
		}
	}
	return out, nil
}

// rerun prints each run for a person, and adds it to the ledger as soon as the store has it: what was run stays said
// whenever the process is killed.
type rerun struct {
	*terminal
	book *grade.Bookkeeper
}

// Begin implements pipeline.Observer.
func (o *rerun) Begin(stage, key string) {
	if o.verbose {
		o.say("  %s  %s …", key, stage)
	}
}

// End implements pipeline.Observer.
func (o *rerun) End(s schemas.Step, _ bool) {
	if s.Stage != stages.Reprove || s.State == schemas.StepInterrupted {
		return
	}
	var made schemas.Reproof
	if out, ok := s.Output(); s.State == schemas.StepDone && ok && json.Unmarshal(out.Record, &made) == nil {
		if err := o.book.Add(made); err != nil { // the plan's last step adds it again, and fails if that cannot be
			o.say("%s: adding to the ledger: %s", s.Key, visible(err.Error()))
		}
		if asTold := (made.State == schemas.AnsweredGold) == (made.End == schemas.RerunPasses); o.verbose && asTold {
			o.say("%s  %s", s.Key, made.End)
		} else if !asTold {
			o.say("%s  %s: %s", s.Key, made.End, visible(reproof.Trouble(made)))
		}
		return
	}
	o.say("%s  %s: %s", s.Key, s.State, visible(tail(s.Detail, 1)))
}

// reprovedTask is a task as the ledger has it, for scripts.
type reprovedTask struct {
	ID string `json:"instance_id"`
	reproof.Verdict
	Wanted int  `json:"wanted"` // runs that are missing today: a fault of the machine, or an interrupt
	Later  bool `json:"later"`  // runs are wanted on another date
}

// sumUp says what the ledger has of each row now, and gives the exit code.
func (r reprover) sumUp(d *output.Dataset, rows []output.Row, code int) error {
	tasks := grade.NewDataset(d, rows)
	all, err := r.due(tasks)
	if err != nil {
		return err
	}
	results := []reprovedTask{}
	proved, later := 0, 0
	for _, t := range all {
		open, again := t.missing(r.today())
		one := reprovedTask{t.row.InstanceID, t.verdict, len(open), again}
		switch {
		case one.State == reproof.Proved:
			proved++
		case one.State != reproof.Unproved:
			code = worse(code, exitFailed)
		}
		if one.Later {
			later++
		}
		results = append(results, one)
	}
	if r.json {
		err = r.writeJSON(results)
	} else {
		err = r.printReproved(results, proved, later)
	}
	if err != nil {
		return err
	}
	if code != exitOK {
		return &ended{code: code}
	}
	return nil
}

var reprovedColours = map[reproof.State]string{reproof.Proved: green, reproof.Narrowed: red, reproof.Held: red, reproof.Withdrawn: red}

func (r reprover) printReproved(all []reprovedTask, proved, later int) error {
	t := r.out()
	for _, x := range all {
		line := fmt.Sprintf("gold %d, nop %d, forged %d", x.Gold, x.Nop, x.Forged)
		if len(x.Dates) > 1 {
			line += fmt.Sprintf(", on %d dates", len(x.Dates))
		}
		if x.Text != "" {
			line = x.Text
		}
		state := fmt.Sprintf("%-9s", x.State)
		if colour := reprovedColours[x.State]; colour != "" {
			state = t.in(colour, state)
		}
		t.line("%s  %s  %s", state, x.ID, visible(line))
		if x.ClockBound != "" {
			t.line("    %s is clock-bound: under %s fail %s", x.ID, x.ClockBound, visible(reproof.Few(x.Bound)))
		}
	}
	t.line("%d of %d proved", proved, len(all))
	if later > 0 {
		t.line("again    %s: run again from %s on", plural(later, "task"), r.now().UTC().AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return t.err
}
