package validate

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// evidence is all that the table of design 8 looks at.
type evidence struct {
	runs      map[schemas.State][]*testrun.Outcome
	untouched func(lang.Test) bool
	newUnit   func(unit string) bool // certainly absent in B
	same      bool                   // B and S are one tree: what S says, B says
	lists     *lists                 // nil: every test may be listed
}

// statuses are what the runs of a state say of a test, in order.
func (e evidence) statuses(s schemas.State, t lang.Test) []schemas.Status {
	out := make([]schemas.Status, 0, len(e.runs[s]))
	for _, o := range e.runs[s] {
		out = append(out, o.Status(t))
	}
	return out
}

// base is what B says of a test; "" where it was not asked.
func (e evidence) base(t lang.Test) (status schemas.Status, agree bool) {
	if e.same {
		return ledger.Agreed(e.statuses(schemas.StateS, t))
	}
	if len(e.runs[schemas.StateB]) == 0 {
		if e.newUnit(t.Unit) {
			return schemas.Absent, true
		}
		return "", true
	}
	return ledger.Agreed(e.statuses(schemas.StateB, t))
}

// tests are all tests with an outcome in S or G, by ID.
func (e evidence) tests() []lang.Test {
	all := map[string]lang.Test{}
	for _, s := range []schemas.State{schemas.StateS, schemas.StateG} {
		for _, o := range e.runs[s] {
			for _, t := range o.Report.Tests {
				all[t.ID] = lang.Test{ID: t.ID, Unit: t.Unit}
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b lang.Test) int { return strings.Compare(a.ID, b.ID) })
}

// needsBase reports whether some test that passes in G did not load or was not
// reached in S, and B is not known without a run.
func (e evidence) needsBase() bool {
	return slices.ContainsFunc(e.tests(), func(t lang.Test) bool {
		v := e.verdict(t)
		s, ok := ledger.Agreed(v.S)
		return ok && (s == schemas.NotLoaded || s == schemas.NotRun) && v.Class != schemas.Quarantined &&
			v.Class != schemas.UnstableID && all(v.G, schemas.Passed) && v.B == ""
	})
}

// classify is the table of design 8, row by row, and then the rule on parents.
// Equal evidence gives equal verdicts, in order of ID.
func classify(e evidence) []schemas.TestVerdict {
	// In a fixed order: of two parents that hostile reports name the last one counts.
	runs := slices.Concat(e.runs[schemas.StateB], e.runs[schemas.StateS], e.runs[schemas.StateG])
	parent := testrun.Parents(runs...)
	for _, o := range runs {
		o.Blame(parent)
	}
	tests := e.tests()
	out := make([]schemas.TestVerdict, 0, len(tests))
	for _, t := range tests {
		v := e.verdict(t)
		if v.Class == schemas.F2P {
			v.Why = brief(e.why(t))
		}
		if e.lists != nil {
			if c := e.lists.class(v, e.parentPassed(testrun.Ancestors(parent, t.ID), t.Unit)); c != "" {
				v.Class, v.Cause, v.Baseline = c, "", ""
			}
		}
		out = append(out, v)
	}
	settleParents(out, parent)
	return out
}

// verdict is one test by itself.
func (e evidence) verdict(t lang.Test) schemas.TestVerdict {
	v := schemas.TestVerdict{ID: t.ID, Unit: t.Unit, S: e.statuses(schemas.StateS, t), G: e.statuses(schemas.StateG, t)}
	var baseAgrees bool
	v.B, baseAgrees = e.base(t)
	s, sAgrees := ledger.Agreed(v.S)
	g, gAgrees := ledger.Agreed(v.G)
	switch {
	case ledger.Unstable(v.S) || ledger.Unstable(v.G):
		v.Class = schemas.UnstableID
	case !sAgrees || !gAgrees:
		v.Class = schemas.Quarantined
	case !all(v.G, schemas.Passed):
		v.Class = withoutPass(v, g)
	case (s == schemas.NotLoaded || s == schemas.NotRun) && !baseAgrees:
		v.Class = schemas.Quarantined // B decides here, and B cannot be trusted
	default:
		e.table(&v, s, t)
	}
	return v
}

// withoutPass is a test that does not pass in every run of G: it is never listed.
func withoutPass(v schemas.TestVerdict, g schemas.Status) schemas.Class {
	passedBefore := all(v.S, schemas.Passed)
	switch {
	case passedBefore && all(v.G, schemas.Failed, schemas.Errored):
		return schemas.Regression
	case passedBefore && all(v.G, schemas.Absent):
		return schemas.Vanished
	case g == schemas.Passed: // passed where it was reached, but not reached each time
		return schemas.Unproved
	}
	return schemas.Failing
}

// table is the rows for a test that passed in all G runs; s is what all S runs say.
func (e evidence) table(v *schemas.TestVerdict, s schemas.Status, t lang.Test) {
	switch s {
	case schemas.Failed:
		v.Class, v.Cause = schemas.F2P, schemas.CauseFails
	case schemas.Absent:
		v.Class, v.Cause = schemas.F2P, schemas.CauseNew
	case schemas.Skipped, schemas.XFailed, schemas.XPassed:
		v.Class = schemas.SkipToPass
	case schemas.Passed:
		v.Class = schemas.P2P
	case schemas.NotLoaded:
		e.notLoaded(v, t)
	default: // not_run
		v.Class = schemas.Unproved
		if v.B == schemas.Passed && e.untouched(t) {
			v.Class, v.Baseline = schemas.P2P, schemas.StateB
		}
	}
}

func (e evidence) notLoaded(v *schemas.TestVerdict, t lang.Test) {
	if e.same { // its file is the same in G, where it loads and the test passes
		v.Class, v.Cause = schemas.F2P, schemas.CauseLoad
		return
	}
	switch v.B {
	case schemas.Passed:
		if e.untouched(t) {
			v.Class, v.Baseline = schemas.P2P, schemas.StateB
			return
		}
		v.Class, v.Cause = schemas.F2P, schemas.CauseLoadChanged
	case schemas.Failed, schemas.Errored:
		v.Class, v.Cause = schemas.F2P, schemas.CauseLoad
	case schemas.Absent:
		v.Class, v.Cause = schemas.F2P, schemas.CauseLoadNew
	default: // skipped, xfailed, not loaded or not reached in B: no row of the table
		v.Class = schemas.Unproved
	}
}

func all(runs []schemas.Status, want ...schemas.Status) bool {
	for _, s := range runs {
		if !slices.Contains(want, s) {
			return false
		}
	}
	return len(runs) > 0
}

func (e evidence) why(t lang.Test) string {
	for _, o := range e.runs[schemas.StateS] {
		if w := o.Why(t); w != "" {
			return w
		}
	}
	return ""
}

// settleParents: a parent is quarantined with a quarantined child, and listed
// only if no child of it is, at any depth.
func settleParents(tests []schemas.TestVerdict, parent map[string]string) {
	flaky, listed := map[string]bool{}, map[string]bool{}
	for _, t := range tests {
		for _, a := range testrun.Ancestors(parent, t.ID) {
			flaky[a] = flaky[a] || t.Class == schemas.Quarantined
			listed[a] = listed[a] || isListed(t.Class)
		}
	}
	for i := range tests {
		t := &tests[i]
		switch {
		case flaky[t.ID] && t.Class != schemas.UnstableID:
			t.Class, t.Cause, t.Baseline, t.Why = schemas.Quarantined, "", "", ""
		case listed[t.ID] && isListed(t.Class):
			t.Class, t.Cause, t.Baseline, t.Why = schemas.Parent, "", "", ""
		}
	}
}

func isListed(c schemas.Class) bool { return c == schemas.F2P || c == schemas.P2P }

// judge rejects what the classes rule out.
func judge(tests []schemas.TestVerdict, e evidence) error {
	proof := schemas.Proof{Tests: tests}
	if broken := proof.List(schemas.Regression); len(broken) > 0 {
		return pipeline.Reject(schemas.RegressionR, "%d tests: %s", len(broken), strings.Join(broken, ", "))
	}
	if len(proof.List(schemas.F2P)) > 0 {
		return nil
	}
	if flaky := flakes(tests); len(flaky) > 0 {
		return pipeline.Reject(schemas.AllFlaky, "%d tests: %s", len(flaky), strings.Join(flaky, ", "))
	}
	if taken := slices.Sorted(slices.Values(append(proof.List(schemas.SolutionFile), proof.List(schemas.SolutionName)...))); len(taken) > 0 {
		return pipeline.Reject(schemas.SolutionTests, "%d tests: %s", len(taken), strings.Join(taken, ", "))
	}
	return pipeline.Reject(schemas.NoF2P, "the whole suite has no test that fails at the start and passes in the solution (%d runs each)", len(e.runs[schemas.StateG]))
}

// flakes are the tests that were seen to fail or be missing at the start and to
// pass in the solution, had they only agreed with themselves.
func flakes(tests []schemas.TestVerdict) []string {
	var out []string
	for _, t := range tests {
		if (t.Class == schemas.Quarantined || t.Class == schemas.UnstableID) && slices.Contains(t.G, schemas.Passed) &&
			!all(t.S, schemas.Passed) {
			out = append(out, t.ID)
		}
	}
	return out
}

// maxWhy bounds Why in bytes: the assertion, not the log.
const maxWhy = 1000

// address is where an object happened to lie; it would differ from run to run.
var address = lazyregexp.New(`0x[0-9a-fA-F]{6,}`)

// brief cuts a message to what fits in a record.
func brief(s string) string {
	s = address.ReplaceAllString(strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD"), "0x…")
	if len(s) <= maxWhy {
		return s
	}
	cut := maxWhy
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
