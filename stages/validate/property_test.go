package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// anyReport is a run of a few tests in two units, in any state of disorder.
func anyReport(t *rapid.T) testlog.Report {
	r := testlog.Report{Started: true, Ended: rapid.Bool().Draw(t, "ended")}
	for _, unit := range []string{"a", "b"} {
		state := rapid.SampledFrom([]testlog.UnitState{
			testlog.Finished, testlog.Finished, testlog.Finished, testlog.NotLoaded, testlog.Aborted, testlog.SkippedUnit, "missing",
		}).Draw(t, "state")
		if state == "missing" {
			continue
		}
		r.Units = append(r.Units, testlog.Unit{Name: unit, State: state})
		if state == testlog.NotLoaded || state == testlog.SkippedUnit {
			continue
		}
		for _, name := range []string{"T", "T/x", "T/x/1", "T/y", "U"} {
			s := rapid.SampledFrom([]schemas.Status{
				schemas.Passed, schemas.Passed, schemas.Passed, schemas.Failed, schemas.Failed, schemas.Errored, schemas.Skipped, schemas.XFailed, "",
			}).Draw(t, "status")
			if s == "" {
				continue
			}
			x := testlog.Test{ID: unit + "::" + name, Unit: unit, Status: s}
			if i := len(name) - 2; i > 0 {
				x.Parent = unit + "::" + name[:i]
			}
			r.Tests = append(r.Tests, x)
		}
	}
	return r
}

// anyReports are the runs of one state; often the same one several times, since
// three runs that agree by chance are rare.
func anyReports(t *rapid.T, n int) []testlog.Report {
	first := anyReport(t)
	out := []testlog.Report{first}
	for len(out) < n {
		if rapid.IntRange(0, 3).Draw(t, "another") == 0 {
			out = append(out, anyReport(t))
		} else {
			out = append(out, first)
		}
	}
	return out
}

type runsOf map[schemas.State][]testlog.Report

func anyRuns(t *rapid.T) runsOf {
	return runsOf{
		schemas.StateS: anyReports(t, 3), schemas.StateG: anyReports(t, 3),
		schemas.StateB: anyReports(t, rapid.IntRange(1, 3).Draw(t, "base runs")),
	}
}

func (r runsOf) classify(changed bool) []schemas.TestVerdict {
	e := evidence{
		runs: map[schemas.State][]*testrun.Outcome{}, untouched: func(lang.Test) bool { return !changed }, newUnit: func(string) bool { return false },
	}
	for s, reports := range r {
		for _, report := range reports {
			e.runs[s] = append(e.runs[s], testrun.OutcomeOf(report))
		}
	}
	return classify(e)
}

func TestListsHoldOnlyWhatIsProved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tests := anyRuns(t).classify(rapid.Bool().Draw(t, "changed"))
		seen := map[string]bool{}
		for _, v := range tests {
			if seen[v.ID] {
				t.Fatalf("%s stands twice", v.ID)
			}
			seen[v.ID] = true
			if !isListed(v.Class) {
				if v.Cause != "" || v.Baseline != "" || v.Why != "" {
					t.Fatalf("%+v is in no list and has a cause", v)
				}
				continue
			}
			if !all(v.G, schemas.Passed) {
				t.Fatalf("%+v is listed and does not pass in every run of G", v)
			}
			if _, ok := ledger.Agreed(v.S); !ok {
				t.Fatalf("%+v is listed and disagrees with itself", v)
			}
			if (v.Class == schemas.F2P) != (v.Cause != "") {
				t.Fatalf("%+v: a cause belongs to FAIL_TO_PASS alone", v)
			}
			passes := slices.Contains(v.S, schemas.Passed)
			if v.Class == schemas.F2P && passes || v.Class == schemas.P2P && !passes && v.Baseline != schemas.StateB {
				t.Fatalf("%+v: the start says otherwise", v)
			}
		}
		if !slices.IsSortedFunc(tests, func(a, b schemas.TestVerdict) int { return strings.Compare(a.ID, b.ID) }) {
			t.Fatal("not in order of ID")
		}
	})
}

// TestFamilies: no listed test has a listed or a quarantined descendant.
func TestFamilies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runs := anyRuns(t)
		var outs []*testrun.Outcome
		for _, reports := range runs {
			for _, r := range reports {
				outs = append(outs, testrun.OutcomeOf(r))
			}
		}
		parent := testrun.Parents(outs...)
		class := map[string]schemas.Class{}
		tests := runs.classify(false)
		for _, v := range tests {
			class[v.ID] = v.Class
		}
		for _, v := range tests {
			for _, a := range testrun.Ancestors(parent, v.ID) {
				if isListed(class[a]) && (isListed(v.Class) || v.Class == schemas.Quarantined) {
					t.Fatalf("%s is %s over %s, which is %s", a, class[a], v.ID, v.Class)
				}
			}
		}
	})
}

func TestOrderDecidesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runs := anyRuns(t)
		other := runsOf{}
		for s, reports := range runs {
			reports = rapid.Permutation(reports).Draw(t, "runs")
			for i, r := range reports {
				if len(r.Tests) > 1 {
					r.Tests = rapid.Permutation(r.Tests).Draw(t, "tests")
				}
				if len(r.Units) > 1 {
					r.Units = rapid.Permutation(r.Units).Draw(t, "units")
				}
				reports[i] = r
			}
			other[s] = reports
		}
		if diff := cmp.Diff(verdicts(runs.classify(false)), verdicts(other.classify(false))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDisagreementDominates: make any single test of any run say something else.
func TestDisagreementDominates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := "a finished t=passed u=passed v=passed\nend"
		runs := runsOf{
			schemas.StateS: {parse("a finished t=failed u=passed v=failed\nend"), parse("a finished t=failed u=passed v=failed\nend")},
			schemas.StateG: {parse(text), parse(text)},
		}
		state := rapid.SampledFrom([]schemas.State{schemas.StateS, schemas.StateG}).Draw(t, "state")
		n, i := rapid.IntRange(0, 1).Draw(t, "run"), rapid.IntRange(0, 2).Draw(t, "test")
		x := &runs[state][n].Tests[i]
		x.Status = rapid.SampledFrom([]schemas.Status{schemas.Skipped, schemas.XFailed, schemas.XPassed}).Draw(t, "status")
		for _, v := range runs.classify(false) {
			if (v.ID == x.ID) != (v.Class == schemas.Quarantined) {
				t.Fatalf("%s is %s after %s disagreed with itself", v.ID, v.Class, x.ID)
			}
		}
	})
}
