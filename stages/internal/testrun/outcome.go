package testrun

import (
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// merge joins the attempts of one run. The first outcome of a test counts: what
// ran before an abort ran in native order.
type merge struct {
	report  testlog.Report
	seen    map[string]bool // tests with an outcome from an earlier attempt
	units   map[string]int  // index in report.Units
	crashed []string
}

func newMerge() *merge { return &merge{seen: map[string]bool{}, units: map[string]int{}} }

// OutcomeOf is a run that needed one attempt.
func OutcomeOf(r testlog.Report) *Outcome {
	m := newMerge()
	m.add(r, nil)
	return m.outcome()
}

// add takes one attempt and gives the tests that ended it and were not left out
// already: these count as failed.
func (m *merge) add(r testlog.Report, skipped []string) (ended []string) {
	m.report.Started = m.report.Started || r.Started
	m.report.Ended = m.report.Ended || r.Ended // the rest of a run that met every unit meets only some
	fresh := map[string]bool{}
	unproved := map[string]bool{}
	for _, u := range r.Units {
		unproved[u.Name] = u.Unproved
	}
	for _, t := range r.Tests {
		if t.Status == schemas.Passed && unproved[t.Unit] {
			continue // anything can be said before an end that a program chose itself
		}
		if ledger.Ran(t.Status) && !m.seen[t.ID] {
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
			m.report.Tests = append(m.report.Tests, testlog.Test{ID: u.Running, Unit: u.Name, Status: schemas.Failed, Message: u.Message, Trace: u.Trace})
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

func (m *merge) outcome() *Outcome {
	o := &Outcome{Report: m.report, index: m.report.Index(), crashed: m.crashed, failed: map[string]bool{}, units: map[string]testlog.Unit{}}
	for _, u := range m.report.Units {
		o.units[u.Name] = u
		o.loaded = o.loaded || u.State != testlog.NotLoaded
	}
	return o
}

// Replay is the outcome of a run whose attempts were kept, in their order.
func Replay(attempts []testlog.Report) *Outcome {
	m := newMerge()
	var skipped []string
	for _, r := range attempts {
		skipped = append(skipped, m.add(r, skipped)...)
	}
	return m.outcome()
}

// Outcome is what one run says, its attempts merged.
type Outcome struct {
	Report  testlog.Report
	index   *testlog.Index
	units   map[string]testlog.Unit
	loaded  bool            // some unit loaded
	crashed []string        // tests that ended an attempt
	failed  map[string]bool // Ancestors of those
}

// Status is what the run says of a test, present or not.
func (o *Outcome) Status(t lang.Test) schemas.Status {
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

// Why is the run's own word on a test that does not pass.
func (o *Outcome) Why(t lang.Test) string {
	return o.said(t, func(x testlog.Test) string { return x.Message }, func(u testlog.Unit) string { return u.Message })
}

// Trace is what the runner printed of the failure of a test, or of its unit, where traces were asked for.
func (o *Outcome) Trace(t lang.Test) string {
	return o.said(t, func(x testlog.Test) string { return x.Trace }, func(u testlog.Unit) string { return u.Trace })
}

func (o *Outcome) said(t lang.Test, ofTest func(testlog.Test) string, ofUnit func(testlog.Unit) string) string {
	for _, x := range o.Report.Tests {
		if x.ID == t.ID && ofTest(x) != "" {
			return ofTest(x)
		}
	}
	if o.Status(t) != schemas.NotLoaded {
		return ""
	}
	if u, ok := o.units[t.Unit]; ok {
		return ofUnit(u)
	}
	for _, u := range o.Report.Units {
		if u.State == testlog.NotLoaded && ofUnit(u) != "" {
			return ofUnit(u)
		}
	}
	return ""
}

// Parents maps each test to the one that it is a part of, by what any run says.
func Parents(runs ...*Outcome) map[string]string {
	out := map[string]string{}
	for _, o := range runs {
		for _, t := range o.Report.Tests {
			if t.Parent != "" && t.Parent != t.ID {
				out[t.ID] = t.Parent
			}
		}
	}
	return out
}

// Ancestors of a test, nearest first. A report is hostile: a ring ends the walk.
func Ancestors(parent map[string]string, id string) []string {
	var out []string
	for p, ok := parent[id]; ok && p != id && !slices.Contains(out, p); p, ok = parent[p] {
		out = append(out, p)
	}
	return out
}

// Blame counts the ancestors of a test that ended an attempt as failed: the rest
// was run without their child, and would have them pass.
func (o *Outcome) Blame(parent map[string]string) {
	for _, id := range o.crashed {
		for _, a := range Ancestors(parent, id) {
			o.failed[a] = true
		}
	}
}
