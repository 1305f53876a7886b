package grade

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// ReproveVersion is part of the fingerprint of Reprover, with Version.
const ReproveVersion = "2"

// ReproveConfig is what a line says of where it was made, and how many runs go at one time.
type ReproveConfig struct {
	Grade    Config
	Machine  string // system, processors, memory, sandbox
	Program  string // benchmint's version
	Parallel int    // runs at one time; one that is to be alone waits for all others
}

// Timeout bounds a run: a grade, and a second one where the clock is ahead.
func (c ReproveConfig) Timeout() time.Duration { return 2 * c.Grade.Timeout() }

// Reprover runs published tasks again: with the task's own patch (gold), with one that does nothing (nop) and with
// one that only forges results (forged), under the system's clock or one that is ahead. An error is a fault of the
// machine, and no line of the ledger. What the runs of many days say together is for package output/reproof.
type Reprover struct {
	config ReproveConfig
	grader interface { // a Grader
		Under(ctx context.Context, p schemas.Prediction, shift clock.Shift) (schemas.Grade, error)
	}
	rows map[string]output.Row
	room *semaphore.Weighted
}

var _ pipeline.Stage[schemas.Rerun, schemas.Reproof] = (*Reprover)(nil)

// NewReprover makes runs of the tasks of rows, by instance ID, with a grader of them.
func NewReprover(g *Grader, rows map[string]output.Row, c ReproveConfig) *Reprover {
	c.Parallel = max(c.Parallel, 1)
	return &Reprover{config: c, grader: g, rows: rows, room: semaphore.NewWeighted(int64(c.Parallel))}
}

// Run makes one run.
func (s *Reprover) Run(ctx context.Context, r schemas.Rerun) (out schemas.Reproof, err error) {
	days, err := r.Clock.Days()
	if err != nil {
		return out, err
	}
	row := s.rows[r.Answer.Instance]
	out = schemas.Reproof{
		Task: r.Answer.Instance, Ground: r.Answer.Ground, Lists: reproof.Lists(row), Date: r.Date, Clock: r.Clock, State: r.State, Number: r.Number,
		Machine: s.config.Machine, Program: s.config.Program,
	}
	if r.Answer.Patch == "" {
		out.End, out.Detail = schemas.RerunNoForgery, ErrNoForgery.Error()
		return out, nil
	}
	err = s.beside(ctx, r, days, row, &out)
	if err != nil || r.Alone || s.config.Parallel == 1 || r.State != schemas.AnsweredGold || out.End != schemas.RerunFails {
		return out, err
	}
	// Timing tests of strangers fail beside other runs: what fails there is told by a run without any.
	r.Alone = true
	return out, s.beside(ctx, r, days, row, &out)
}

// beside makes one run as soon as there is room for it: beside others, or alone.
func (s *Reprover) beside(ctx context.Context, r schemas.Rerun, days int, row output.Row, out *schemas.Reproof) error {
	weight := int64(1)
	if r.Alone {
		pipeline.Doing(ctx, "waiting to run alone")
		weight = int64(s.config.Parallel)
	}
	if err := s.room.Acquire(ctx, weight); err != nil {
		return err
	}
	defer s.room.Release(weight)
	pipeline.Doing(ctx, "%s, run %d, clock %s", r.State, r.Number, r.Clock)
	if days > 0 {
		return s.shifted(ctx, r, days, row, out)
	}
	g, err := s.grader.Under(ctx, r.Answer, clock.Shift{})
	return rerunEnd(out, row, g, err)
}

// shifted makes one run under a clock that is ahead.
func (s *Reprover) shifted(ctx context.Context, r schemas.Rerun, days int, row output.Row, out *schemas.Reproof) error {
	shift := clock.Days(days)
	g, err := s.grader.Under(ctx, r.Answer, shift)
	if err := rerunEnd(out, row, g, err); err != nil || out.End != schemas.RerunFails {
		return err
	}
	// A test that compares times of files with now is right on every day: it passes in the second run.
	first := *out
	shift.Files = true
	g, err = s.grader.Under(ctx, r.Answer, shift)
	if err := rerunEnd(out, row, g, err); err != nil || out.End != schemas.RerunFails {
		return err
	}
	if len(first.FailToPass)+len(first.PassToPass) > 0 && len(out.FailToPass)+len(out.PassToPass) > 0 {
		out.FailToPass, out.PassToPass = both(first.FailToPass, out.FailToPass), both(first.PassToPass, out.PassToPass)
		if len(out.FailToPass)+len(out.PassToPass) == 0 {
			out.End = schemas.RerunPasses
		}
	}
	return nil
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
}

// rerunEnd reads what a grade says of the run. An environment that cannot be built any more is an end;
// every other error is a fault.
func rerunEnd(out *schemas.Reproof, row output.Row, g schemas.Grade, err error) error {
	var lost *Lost
	var not *testrun.NotShifted
	switch {
	case errors.As(err, &lost):
		out.End, out.Detail = schemas.RerunNoEnvironment, lost.Error()
		return nil
	case errors.As(err, &not):
		out.End, out.Detail = schemas.RerunNotShifted, not.Why
		return nil
	case err != nil:
		return err
	}
	for _, run := range g.Runs {
		out.Seconds += float64(run.MS) / 1000
		out.Log, out.By = run.Log, run.Clock
	}
	out.End, out.FailToPass, out.PassToPass, out.Detail = schemas.RerunFails, nil, nil, ""
	if g.Verdict == schemas.VerdictPass {
		out.End = schemas.RerunPasses
	}
	switch {
	case out.State == schemas.AnsweredGold && g.F2P != nil:
		out.FailToPass, out.PassToPass = g.F2P.Missed, g.P2P.Missed
	case out.State == schemas.AnsweredNop && g.F2P != nil:
		out.FailToPass = slices.DeleteFunc(slices.Clone([]string(row.FailToPass)), func(id string) bool { return slices.Contains(g.F2P.Missed, id) })
	case g.F2P == nil:
		out.Detail = unscored(g)
	}
	return nil
}

// unscored is why a grade has no scores.
func unscored(g schemas.Grade) string {
	text := string(g.Verdict)
	if g.Limit != "" {
		text = fmt.Sprintf("%s (%s)", text, g.Limit)
	}
	if g.Detail != "" {
		text += ": " + g.Detail
	}
	return text
}

// Book adds what runs came to to a ledger, each run once.
type Book struct{ File string }

var _ pipeline.Drainer[schemas.Reproof] = Book{}

// Run implements pipeline.Drainer.
func (b Book) Run(_ context.Context, all iter.Seq2[schemas.Reproof, error], _ pipeline.Ended) (err error) {
	w, err := b.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for r, err := range all {
		if err != nil {
			return err
		}
		if err := w.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// Bookkeeper adds runs to a ledger one by one.
type Bookkeeper struct {
	known *reproof.Ledger
	*reproof.Writer
}

// Open opens the ledger to add to; Close it.
func (b Book) Open() (*Bookkeeper, error) {
	known, err := reproof.Read(b.File)
	if err != nil {
		return nil, err
	}
	w, err := reproof.Append(b.File)
	return &Bookkeeper{known, w}, err
}

// Add adds a run that the ledger does not have.
func (k *Bookkeeper) Add(r schemas.Reproof) error {
	if !k.known.Add(r) {
		return nil
	}
	return k.Writer.Add(r)
}
