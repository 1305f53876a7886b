package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	got := runs("bench__steps-1  proved: 1 FAIL_TO_PASS\n  bench__steps-1  S suite #2: exited, 3.21 s, 0.08 s around it\n  bench__steps-1  B suite #1: exited, 1.00 s, 0.10 s around it\n")
	want := map[string][]one{"bench__steps-1": {{"S", "suite", 3.21, 0.08}, {"B", "suite", 1, 0.1}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(one{})); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	suites := func(targeted float64, base ...one) []one {
		list := append([]one{{"G", "changed", targeted, 0.1}, {"S", "changed", targeted, 0.1}}, base...)
		for range 3 {
			list = append(list, one{"S", "suite", 3, 0.1}, one{"G", "suite", 3, 0.1})
		}
		return list
	}
	based := suites(0.5, one{"B", "suite", 3, 0.1})
	none := []one{{"G", "changed", 0.5, 0.1}, {"S", "changed", 0.5, 0.1}}
	for _, c := range []struct {
		name   string
		all    map[string][]one
		missed bool
	}{
		{"all_kept", map[string][]one{"valid": suites(0.5), "based": based, "none": none}, false},
		{"too_many_runs", map[string][]one{"valid": append(suites(0.5), suites(0.5)...), "based": based, "none": none}, true},
		{"suites_without_f2p", map[string][]one{"valid": suites(0.5), "based": based, "none": {{"G", "changed", 2, 0.1}}}, true},
		{"nothing_measured", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var r report
			r.proofs(c.all)
			r.around(c.all, 0.3)
			if r.missed != c.missed {
				t.Errorf("missed is %t, want %t:\n%v", r.missed, c.missed, r.lines)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, history())
	if got := gitrepotest.Git(t, dir, "rev-list", "--count", "HEAD"); got != "21" {
		t.Errorf("%s commits, want a first one and 20 changes", got)
	}
}
