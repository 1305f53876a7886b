package grade

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/internal/testrun/testruntest"
)

// TestAgain: kept reports, those of the rest after an abort too, come to the verdict of their
// run, with lists that are the same or others.
func TestAgain(t *testing.T) {
	t.Parallel()
	kept := &blobs{all: map[schemas.Digest][]byte{}}
	put := func(scope, report string) schemas.RunRecord {
		b, err := schemas.Canonical(testruntest.Parse(report))
		if err != nil {
			t.Fatal(err)
		}
		d, err := kept.Put(b)
		if err != nil {
			t.Fatal(err)
		}
		return schemas.RunRecord{Scope: scope, Report: d}
	}
	runs := []schemas.RunRecord{
		{Scope: testrun.ScopeBuild, Report: "sha256:none"}, // of a build that failed: it has no report
		put(testrun.ScopeSuite, "a aborted>crash u=passed v=failed"), put(testrun.ScopeRest, "a finished v=passed w=passed crash=passed\nend"),
	}
	tests := func(names ...string) (out []lang.Test) {
		for _, n := range names {
			out = append(out, lang.Test{ID: "a::" + n, Unit: "a"})
		}
		return out
	}
	for name, tc := range map[string]struct {
		f2p, p2p []lang.Test
		verdict  schemas.Verdict
		missed   []string
	}{
		"passes":        {tests("u"), tests("w"), schemas.VerdictPass, nil},
		"first_outcome": {tests("u"), tests("v", "w"), schemas.VerdictFail, []string{"a::v"}},
		"crashed":       {tests("u", "crash"), tests("w"), schemas.VerdictFail, []string{"a::crash"}},
		"absent":        {tests("u", "x"), nil, schemas.VerdictFail, []string{"a::x"}},
	} {
		saved := schemas.Grade{Verdict: schemas.VerdictFail, F2P: &schemas.Score{}, P2P: &schemas.Score{}, Runs: runs}
		got, err := Again(saved, Task{FailToPass: tc.f2p, PassToPass: tc.p2p}, kept)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != tc.verdict {
			t.Errorf("%s: %s, want %s", name, got.Verdict, tc.verdict)
		}
		if d := cmp.Diff(tc.missed, append(got.F2P.Missed, got.P2P.Missed...)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	over := schemas.Grade{Verdict: schemas.VerdictTimeout, Limit: schemas.OverTime, Runs: runs}
	if got, err := Again(over, Task{FailToPass: tests("u")}, kept); err != nil || got.Verdict != schemas.VerdictTimeout {
		t.Errorf("what a limit ended: %s, %v", got.Verdict, err)
	}
}
