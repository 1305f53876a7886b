package testrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Scopes of a RunRecord.
const (
	ScopeBuild   = "build" // only builds that failed
	ScopeChanged = "changed"
	ScopeSuite   = "suite"
	ScopeTried   = "tried" // the suite by a command that does not run what the change tests: no evidence
	ScopeRest    = "rest"  // what was left after an abort
	ScopeClock   = "clock" // the suite with the clock ahead, and what was left of it after an abort
)

// maxRest is how often the rest of an aborted run is run again (design 8).
const maxRest = 3

// EndAborted is a run without its end, or with a unit without its end.
const EndAborted = "aborted"

// Run is one run in a place: all its processes, and after an abort the rest
// without the test that ended it.
func (b *Bench) Run(ctx context.Context, at Place, scope string, sel lang.Select) (*Outcome, error) {
	m := newMerge()
	for rest := 0; ; rest++ {
		report, err := b.attempt(ctx, at, scope, sel)
		if err != nil {
			return nil, err
		}
		ended := m.add(report, sel.Skip)
		if len(ended) == 0 || rest == maxRest {
			return m.outcome(), nil
		}
		sel.Skip = append(slices.Clone(sel.Skip), ended...)
		sel.Units = m.left()
		if at.Clock.Ahead == 0 {
			scope = ScopeRest
		}
	}
}

// attempt runs every process of one selection once, each on a fresh copy of the
// place, and keeps what they said.
func (b *Bench) attempt(ctx context.Context, at Place, scope string, sel lang.Select) (testlog.Report, error) {
	doing := fmt.Sprintf("state %s, %s, run %d", at.State, scope, sel.Number)
	var outs []lang.Output
	m := Measured{StartID: b.Start.ID()}
	runs := b.Runner.Runs(b.Environment.Recipe, at.Tree, sel)
	by, err := b.shift(at.Clock, runs)
	if err != nil {
		return testlog.Report{}, err
	}
	for _, tr := range runs {
		out, err := b.process(ctx, at, tr)
		if err != nil {
			return testlog.Report{}, fmt.Errorf("%s: %w", doing, err)
		}
		m.Wall += out.Result.Wall
		m.Overhead += out.Result.Overhead
		outs = append(outs, out)
		if why := httpsuite.Ended(out); why != "" && at.Unbuilt == "" {
			at.Unbuilt = why
		}
		if out.Result.End != sandbox.Exited {
			break // the item ends here
		}
	}
	report := b.Runner.Parse(b.Environment.Recipe, outs)
	if !sel.Traces {
		report = report.Untraced()
	}
	rec, err := b.record(report, outs)
	if err != nil {
		return report, fmt.Errorf("%s: %w", doing, err)
	}
	if report.Fault != "" {
		return report, &SessionFault{doing, report.Fault}
	}
	rec.State, rec.Scope, rec.Number, rec.MS, rec.Clock = at.State, scope, sel.Number, m.Wall.Milliseconds(), by
	b.Records = append(b.Records, rec)
	if m.Run = rec; b.Observe != nil {
		b.Observe(m)
	}
	if why := clock.Fault(rec.ExitCode); at.Clock.Ahead != 0 && why != "" {
		return report, &NotShifted{why}
	}
	if last := len(outs) - 1; last >= 0 && outs[last].Result.End != sandbox.Exited {
		return report, OverLimit(outs[last].Result.End, doing+running(report))
	}
	if report.Tampered != "" {
		return report, pipeline.Reject(schemas.Tampered, "%s: %s", doing, report.Tampered)
	}
	return report, nil
}

// SessionFault is a test session that did not begin, for a fault of this machine as it says.
type SessionFault struct{ doing, said string }

func (e *SessionFault) Error() string {
	return e.doing + ": the test session did not begin, for a fault of this machine: " + e.said
}

func (b *Bench) process(ctx context.Context, at Place, tr recipe.TestRun) (lang.Output, error) {
	if at.Unbuilt != "" {
		return httpsuite.NotServed(tr, at.Tree, at.Unbuilt), nil
	}
	if c, ok := b.Runner.(lang.Compiler); ok && at.Clock.Ahead == 0 && tr.Serves == nil {
		if step, ok := c.Compile(b.Environment.Recipe, tr); ok {
			return b.programs(ctx, at, tr, c, step)
		}
	}
	res, err := b.test(ctx, at, at.Layer, tr, b.Limits)
	if err != nil {
		return lang.Output{}, fmt.Errorf("running the tests: %w", err)
	}
	said, cut := tr.Said(res)
	out := lang.Output{Run: tr, Tree: at.Tree, Report: said, Result: res}
	if cut && res.End == sandbox.Exited {
		// A report that was cut says nothing of what came after: the same as too much output.
		out.Result.End = sandbox.Output
	}
	return out, nil
}

// record keeps the report and the log of one attempt.
func (b *Bench) record(report testlog.Report, outs []lang.Output) (schemas.RunRecord, error) {
	rec := schemas.RunRecord{End: string(sandbox.Exited)}
	var log []byte
	for _, o := range outs {
		log = append(log, o.Result.Output...)
		if rec.ExitCode == 0 {
			rec.ExitCode = o.Result.ExitCode
		}
		if o.Result.End != sandbox.Exited {
			rec.End = string(o.Result.End)
		}
	}
	if rec.End == string(sandbox.Exited) && aborted(report) {
		rec.End = EndAborted
	}
	canonical, err := schemas.Canonical(report)
	if err != nil {
		return rec, fmt.Errorf("encoding the report: %w", err)
	}
	if rec.Report, err = b.Blobs.Put(canonical); err != nil {
		return rec, fmt.Errorf("keeping the report: %w", err)
	}
	if rec.Log, err = b.Blobs.Put(shorten(log)); err != nil {
		return rec, fmt.Errorf("keeping the log: %w", err)
	}
	return rec, nil
}

// A log is kept for people: its head, and its tail where the trouble mostly is.
// Seven runs of a talkative suite would else fill the store with what the reports
// already say.
const (
	logHead = 1 << 20
	logTail = 3 << 20
)

func shorten(log []byte) []byte {
	if len(log) <= logHead+logTail {
		return log
	}
	note := fmt.Appendf(nil, "\n[%d bytes left out]\n", len(log)-logHead-logTail)
	return slices.Concat(log[:logHead], note, log[len(log)-logTail:])
}

func aborted(r testlog.Report) bool {
	return !r.Ended || slices.ContainsFunc(r.Units, func(u testlog.Unit) bool { return u.State == testlog.Aborted })
}

// running names the test that a run was in, for messages.
func running(r testlog.Report) string {
	for _, u := range r.Units {
		if u.Running != "" {
			return ", in " + u.Running
		}
	}
	return ""
}
