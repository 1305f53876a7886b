package validate

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// Scopes of a RunRecord.
const (
	scopeBuild   = "build" // only builds that failed
	scopeChanged = "changed"
	scopeSuite   = "suite"
	scopeRest    = "rest" // what was left after an abort
)

// maxRest is how often the rest of an aborted run is run again (design 8).
const maxRest = 3

// endAborted is a run without its end, or with a unit without its end.
const endAborted = "aborted"

// run is one run of a state: all its processes, and after an abort the rest
// without the test that ended it.
func (p *prover) run(ctx context.Context, s schemas.State, scope string, sel lang.Select) (*outcome, error) {
	m := merge{seen: map[string]bool{}, units: map[string]int{}}
	for rest := 0; ; rest++ {
		report, err := p.attempt(ctx, s, scope, sel)
		if err != nil {
			return nil, err
		}
		ended := m.add(report, sel.Skip)
		if len(ended) == 0 || rest == maxRest {
			return m.outcome(), nil
		}
		sel.Skip = append(slices.Clone(sel.Skip), ended...)
		sel.Units = m.left()
		scope = scopeRest
	}
}

// attempt runs every process of one selection once, each on a fresh copy of the
// state, and keeps what they said.
func (p *prover) attempt(ctx context.Context, s schemas.State, scope string, sel lang.Select) (testlog.Report, error) {
	layer, err := p.layer(ctx, s)
	if err != nil {
		return testlog.Report{}, err
	}
	doing := fmt.Sprintf("state %s, %s, run %d", s, scope, sel.Number)
	var outs []lang.Output
	m := Measured{StartID: p.proof.StartID}
	for _, tr := range p.c.Lang.Runs(p.c.Environment.Recipe, p.c.tree(s), sel) {
		out, err := p.process(ctx, layer, tr)
		if err != nil {
			return testlog.Report{}, fmt.Errorf("%s: %w", doing, err)
		}
		m.Wall += out.Result.Wall
		m.Overhead += out.Result.Overhead
		outs = append(outs, out)
		if out.Result.End != sandbox.Exited {
			break // the item ends here
		}
	}
	report := p.c.Lang.Parse(p.c.Environment.Recipe, outs)
	rec, err := p.record(report, outs)
	if err != nil {
		return report, fmt.Errorf("%s: %w", doing, err)
	}
	rec.State, rec.Scope, rec.Number = s, scope, sel.Number
	p.proof.Runs = append(p.proof.Runs, rec)
	if m.Run = rec; p.Observe != nil {
		p.Observe(m)
	}
	if last := len(outs) - 1; last >= 0 && outs[last].Result.End != sandbox.Exited {
		return report, overLimit(outs[last].Result.End, doing+running(report))
	}
	return report, nil
}

func (p *prover) process(ctx context.Context, layer sandbox.Layer, tr lang.TestRun) (lang.Output, error) {
	run := sandbox.Run{Layer: layer, Command: tr.Command, Env: p.c.Environment.Recipe.Variables, Inputs: tr.Inputs, Limits: p.Limits}
	if tr.Report != "" {
		run.Collect = []string{tr.Report}
	}
	res, err := p.Sandbox.Run(ctx, run)
	if err != nil {
		return lang.Output{}, fmt.Errorf("running the tests: %w", err)
	}
	out := lang.Output{Run: tr, Report: res.Files[tr.Report], Result: res}
	if tr.Report == "" {
		out.Report = res.Output
	}
	if res.Cut[tr.Report] && res.End == sandbox.Exited {
		// A report that was cut says nothing of what came after: the same as too much output.
		out.Result.End = sandbox.Output
	}
	return out, nil
}

// record keeps the report and the log of one attempt.
func (p *prover) record(report testlog.Report, outs []lang.Output) (schemas.RunRecord, error) {
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
		rec.End = endAborted
	}
	canonical, err := schemas.Canonical(report)
	if err != nil {
		return rec, fmt.Errorf("encoding the report: %w", err)
	}
	if rec.Report, err = p.Blobs.Put(canonical); err != nil {
		return rec, fmt.Errorf("keeping the report: %w", err)
	}
	if rec.Log, err = p.Blobs.Put(shorten(log)); err != nil {
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

// merge joins the attempts of one run. The first outcome of a test counts: what
// ran before an abort ran in native order.
type merge struct {
	report  testlog.Report
	seen    map[string]bool // tests with an outcome from an earlier attempt
	units   map[string]int  // index in report.Units
	crashed []string
}

// add takes one attempt and gives the tests that ended it and were not left out
// already: these count as failed.
func (m *merge) add(r testlog.Report, skipped []string) (ended []string) {
	m.report.Started = m.report.Started || r.Started
	m.report.Ended = m.report.Ended || r.Ended // the rest of a run that met every unit meets only some
	fresh := map[string]bool{}
	for _, t := range r.Tests {
		if outcomes[t.Status] && !m.seen[t.ID] {
			m.report.Tests = append(m.report.Tests, t)
			fresh[t.ID] = true
		}
	}
	for _, u := range r.Units {
		m.unit(u)
		if u.Running == "" || slices.Contains(skipped, u.Running) {
			continue
		}
		ended = append(ended, u.Running)
		if u.State != testlog.Aborted {
			continue // the file itself ended the run while it loaded: it has no test to blame
		}
		if !m.seen[u.Running] { // beside an outcome of its own the worse one counts
			m.report.Tests = append(m.report.Tests, testlog.Test{ID: u.Running, Unit: u.Name, Status: schemas.Failed, Message: u.Message})
			fresh[u.Running] = true
		}
	}
	for id := range fresh {
		m.seen[id] = true
	}
	m.crashed = append(m.crashed, ended...)
	return ended
}

// unit keeps how a unit ended once it did.
func (m *merge) unit(u testlog.Unit) {
	i, ok := m.units[u.Name]
	if !ok {
		m.units[u.Name] = len(m.report.Units)
		m.report.Units = append(m.report.Units, u)
		return
	}
	if m.report.Units[i].State == testlog.Aborted {
		m.report.Units[i] = u
	}
}

// left are the units to run again; nil where units that nobody named can be left.
func (m *merge) left() []string {
	var out []string
	for _, u := range m.report.Units {
		if u.State == testlog.Aborted {
			out = append(out, u.Name)
		}
		if !m.report.Ended && u.Listed == nil {
			return nil
		}
	}
	return out
}

func (m *merge) outcome() *outcome {
	o := &outcome{report: m.report, index: m.report.Index(), crashed: m.crashed, failed: map[string]bool{}, units: map[string]testlog.Unit{}}
	for _, u := range m.report.Units {
		o.units[u.Name] = u
		o.loaded = o.loaded || u.State != testlog.NotLoaded
	}
	return o
}

// outcomes are the statuses that a runner gives to a test that it ran.
var outcomes = map[schemas.Status]bool{
	schemas.Passed: true, schemas.Failed: true, schemas.Errored: true,
	schemas.Skipped: true, schemas.XFailed: true, schemas.XPassed: true,
}

// outcome is what one run says, its attempts merged.
type outcome struct {
	report  testlog.Report
	index   *testlog.Index
	units   map[string]testlog.Unit
	loaded  bool            // some unit loaded
	crashed []string        // tests that ended an attempt
	failed  map[string]bool // ancestors of those
}

// status is what the run says of a test, present or not.
func (o *outcome) status(t lang.Test) schemas.Status {
	if o.failed[t.ID] {
		return schemas.Failed
	}
	s := o.index.Status(t.ID, t.Unit)
	_, known := o.units[t.Unit]
	if (s == schemas.NotRun || s == schemas.Absent) && !known && !o.loaded && len(o.units) > 0 {
		// A file that all others need (a root conftest) did not load and ended the
		// run before it met this one: not loaded, rather than not there.
		return schemas.NotLoaded
	}
	return s
}

// why is the run's own word on a test that does not pass.
func (o *outcome) why(t lang.Test) string {
	for _, x := range o.report.Tests {
		if x.ID == t.ID && x.Message != "" {
			return x.Message
		}
	}
	if o.status(t) != schemas.NotLoaded {
		return ""
	}
	if u, ok := o.units[t.Unit]; ok {
		return u.Message
	}
	for _, u := range o.report.Units {
		if u.State == testlog.NotLoaded && u.Message != "" {
			return u.Message
		}
	}
	return ""
}
