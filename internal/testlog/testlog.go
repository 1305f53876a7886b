// Package testlog is what one test run said: the common form that every
// language's report is read into.
//
// It never decides what a status means for a task; stages/validate does.
package testlog

import "github.com/benchmint/benchmint/schemas"

// UnitState is how far one file (pytest) or package (Go) came.
type UnitState string

// The states of a unit.
const (
	Finished  UnitState = "finished"   // loaded, and ended in order
	NotLoaded UnitState = "not_loaded" // did not compile or import
	Aborted   UnitState = "aborted"    // loaded, ended before its end: crash, panic, os.Exit, kill
	// SkippedUnit left itself out as a whole while loading (pytest.importorskip at
	// module level): its tests are neither there nor absent, they are skipped.
	SkippedUnit UnitState = "skipped"
	// Tampered said what no run of its tests can say: something wrote its report beside
	// the runner. None of its passes counts.
	Tampered UnitState = "tampered"
)

// Unit is one file or package of a run.
type Unit struct {
	Name    string    `json:"name"`
	State   UnitState `json:"state"`
	Message string    `json:"message,omitempty"` // compiler or import error, or the crash; at most 4 kB
	// Trace is what was printed of it, as Trace makes it; it is kept nowhere.
	Trace string `json:"-"`
	// Running is the test that had begun and not ended when the unit aborted.
	Running string `json:"running,omitempty"`
	// Unproved is a unit that ended before it could show that its report is the
	// runner's own: its passes count only if a later attempt of the run repeats them.
	Unproved bool `json:"unproved,omitempty"`
	// Listed are the tests known to be in the unit, run or not (pytest: collected).
	// nil where the runner did not say.
	Listed []string `json:"listed,omitempty"`
}

// Test is the outcome of one test in one run.
type Test struct {
	ID      string         `json:"id"`
	Unit    string         `json:"unit"`
	Parent  string         `json:"parent,omitempty"` // ID of the test or suite it is a part of
	Status  schemas.Status `json:"status"`
	Message string         `json:"message,omitempty"` // the failing assertion, at most 4 kB
	// Trace is all that was printed of the failure, as Trace makes it; it is kept nowhere.
	Trace string `json:"-"`
}

// Report is one run, whole. Order is the order of execution.
type Report struct {
	// Started and Ended are the session's own records. A run without its end is
	// aborted, whatever its exit code.
	Started bool `json:"started"`
	Ended   bool `json:"ended"`
	// Fault is what the machine did to a session before it began (a full disk): such
	// a report says nothing of the code.
	Fault string `json:"fault,omitempty"`
	// Tampered is why no result of the session can be believed: a canary test ended
	// otherwise than it must, or a record is missing. "" where nothing speaks against it.
	Tampered string `json:"tampered,omitempty"`
	// Unwatched is why no canary test was run, where the session had to do without.
	Unwatched string `json:"unwatched,omitempty"`
	Units     []Unit `json:"units"`
	Tests     []Test `json:"tests"`
}

// Index answers Status in constant time.
type Index struct {
	report *Report
	tests  map[string]schemas.Status
	units  map[string]*Unit
	listed map[string]bool
}

// Index builds the look-up. Of two outcomes for one ID the worst counts.
func (r *Report) Index() *Index {
	x := &Index{report: r, tests: map[string]schemas.Status{}, units: map[string]*Unit{}, listed: map[string]bool{}}
	for _, t := range r.Tests {
		if old, ok := x.tests[t.ID]; !ok || rank(t.Status) > rank(old) {
			x.tests[t.ID] = t.Status
		}
	}
	for i := range r.Units {
		u := &r.Units[i]
		x.units[u.Name] = u
		for _, id := range u.Listed {
			x.listed[id] = true
		}
	}
	return x
}

// rank orders outcomes from best to worst for Index.
func rank(s schemas.Status) int {
	switch s {
	case schemas.Passed:
		return 0
	case schemas.XPassed:
		return 1
	case schemas.Skipped:
		return 2
	case schemas.XFailed:
		return 3
	case schemas.Errored:
		return 5
	case schemas.Failed:
		return 6
	}
	return 4
}

// Status is what the run says of a test that lives in unit, present or not.
func (x *Index) Status(id, unit string) schemas.Status {
	if s, ok := x.tests[id]; ok {
		return s
	}
	u, ok := x.units[unit]
	switch {
	case ok && u.State == NotLoaded:
		return schemas.NotLoaded
	case ok && u.State == SkippedUnit:
		return schemas.Skipped
	case ok && u.State == Finished:
		return schemas.Absent
	case ok && u.Listed != nil && !x.listed[id]:
		return schemas.Absent
	case ok: // aborted or tampered
		return schemas.NotRun
	case !x.report.Ended:
		return schemas.NotRun
	}
	return schemas.Absent // the run ended in order and never met the unit: it is not there
}
