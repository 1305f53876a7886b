package validate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

const (
	fails  = "a finished t=failed u=passed\nend"
	passes = "a finished t=passed u=passed\nend"
)

// TestOrderOfWork counts every run.
func TestOrderOfWork(t *testing.T) {
	t.Parallel()
	suites := []string{"S suite 1", "G suite 1", "S suite 2", "G suite 2", "S suite 3", "G suite 3"}
	changed := []string{"G changed 1", "S changed 1"}
	join := func(parts ...[]string) (out []string) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	for name, tc := range map[string]struct {
		script reports
		whole  bool
		runs   int // of the configuration; 0 is 3
		want   []string
		reason schemas.Reason
	}{
		"valid": {
			script: reports{"S": fails, "G": passes}, want: join(changed, suites), reason: "valid",
		},
		"one_run_each": {
			script: reports{"S": fails, "G": passes}, runs: 1, want: join(changed, suites[:2]), reason: "valid",
		},
		"no_transition_ends_at_once": {
			script: reports{"S": passes, "G": passes}, want: changed, reason: schemas.NoF2P,
		},
		"skipped_at_start_is_no_transition": {
			script: reports{"S": "a finished t=skipped u=xfailed\nend", "G": passes}, want: changed, reason: schemas.NoF2P,
		},
		"unreached_at_start_is_no_transition": {
			script: reports{"S": "a aborted t=passed", "G": "a finished t=passed\nend"}, want: changed, reason: schemas.NoF2P,
		},
		"tampered_in_the_solution": {
			script: reports{"S": fails, "G": passes + "\ntampered"}, want: changed[:1], reason: schemas.Tampered,
		},
		"tampered_in_a_later_run": {
			script: reports{"S": fails, "S 2": fails + "\ntampered", "G": passes}, want: join(changed, suites[:3]), reason: schemas.Tampered,
		},
		"nothing_passes_in_the_solution": {
			script: reports{"G": "a finished t=failed\nend"}, want: changed[:1], reason: schemas.NoF2P,
		},
		"nothing_loads_in_the_solution": {
			script: reports{"G": "a not_loaded\nend"}, want: changed[:1], reason: schemas.GoldFails,
		},
		"the_runner_does_not_start": {
			script: reports{"G": "dead"}, want: changed[:1], reason: schemas.NoRunner,
		},
		"no_report_at_the_start_is_no_verdict": {
			script: reports{"S": "dead", "G": passes}, want: changed,
			reason: "fault: state S: the test runner was ended before it wrote its report",
		},
		"no_report_of_the_suite_is_no_verdict": {
			script: reports{"S": fails, "G changed": passes, "G": "dead"}, want: join(changed, suites[:2]),
			reason: "fault: state G: the test runner was ended before it wrote its report",
		},
		"a_session_that_does_not_start_leaves_it_to_the_base": {
			script: reports{"S": ". not_loaded\nend", "G": passes, "B": "a finished u=passed\nend"}, want: join(changed, suites, []string{"B suite 1"}), reason: "valid",
		},
		"changed_files_are_the_suite": {
			script: reports{"S": fails, "G": passes}, whole: true,
			want: []string{"G suite 1", "S suite 1", "S suite 2", "G suite 2", "S suite 3", "G suite 3"}, reason: "valid",
		},
		"no_transition_in_the_suite": {
			script: reports{"S changed": fails, "S": passes, "G": passes}, want: join(changed, suites), reason: schemas.NoF2P,
		},
		"base_once_where_the_start_does_not_load": {
			script: reports{"S": "a not_loaded\nend", "G": passes, "B": "a finished u=passed\nend"}, want: join(changed, suites, []string{"B suite 1"}), reason: "valid",
		},
		"base_once_where_the_start_is_not_reached": {
			script: reports{"S": "a aborted>t", "G": passes, "B": passes},
			want: []string{
				"G changed 1", "S changed 1", "S rest 1 -a::t", "S suite 1", "S rest 1 -a::t", "G suite 1", "S suite 2", "S rest 2 -a::t",
				"G suite 2", "S suite 3", "S rest 3 -a::t", "G suite 3", "B suite 1",
			}, reason: "valid",
		},
		"base_again_where_its_failure_would_list_a_test": {
			script: reports{"S": "a not_loaded\nend", "G": passes, "B": fails}, want: join(changed, suites, []string{"B suite 1", "B suite 2", "B suite 3"}), reason: "valid",
		},
		"no_base_for_a_file_that_is_new": {
			script: reports{"S": "a finished u=passed\nn not_loaded\nend", "G": "a finished u=passed\nn finished t=passed\nend"}, want: join(changed, suites), reason: "valid",
		},
		"no_base_for_a_test_that_fails_in_the_solution": {
			script: reports{"S": "a finished t=failed\nb not_loaded\nend", "G": "a finished t=passed\nb finished u=failed\nend"}, want: join(changed, suites), reason: "valid",
		},
		"no_base_for_a_test_that_flakes_in_the_solution": {
			script: reports{"S": "a finished t=failed\nb not_loaded\nend", "G": "a finished t=passed\nb finished u=passed\nend", "G 2": "a finished t=passed\nb finished u=failed\nend"},
			want:   join(changed, suites), reason: "valid",
		},
		"a_base_that_flakes_lists_nothing": {
			script: reports{"S": "a not_loaded\nend", "G": "a finished t=passed\nend", "B": "a finished t=failed\nend", "B 2": "a finished t=passed\nend"},
			want:   join(changed, suites, []string{"B suite 1", "B suite 2", "B suite 3"}), reason: schemas.AllFlaky,
		},
		"regression": {
			script: reports{"S": fails, "G": "a finished t=passed u=failed\nend"}, want: join(changed, suites), reason: schemas.RegressionR,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.script.script)
			b.lang.whole = tc.whole
			if tc.runs > 0 {
				b.cfg.Runs = tc.runs
			}
			proof, err := b.prove(t)
			if got := reason(err); got != tc.reason {
				t.Errorf("end is %s, want %s (%v)", got, tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, b.box.runs); diff != "" {
				t.Errorf("order of work (-want +got):\n%s", diff)
			}
			if len(proof.Runs) != len(b.box.runs) || len(b.saw) != len(b.box.runs) {
				t.Errorf("%d runs, %d recorded, %d measured", len(b.box.runs), len(proof.Runs), len(b.saw))
			}
		})
	}
}

// TestChangedDataRunsTheSuite: no process of its own means the suite, not nothing.
func TestChangedDataRunsTheSuite(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": fails, "G": passes}.script)
	b.c.Start.Files = b.c.Start.Files[1:]
	if _, err := b.prove(t); err != nil {
		t.Fatal(err)
	}
	want := []string{"G suite 1", "S suite 1", "S suite 2", "G suite 2", "S suite 3", "G suite 3"}
	if diff := cmp.Diff(want, b.box.runs); diff != "" {
		t.Error(diff)
	}
}

// TestRegressionNamesItsTests and keeps the classes for show.
func TestRegressionNamesItsTests(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": "a finished t=failed u=passed v=passed\nend", "G": "a finished t=passed u=failed v=error\nend"}.script)
	proof, err := b.prove(t)
	var r *pipeline.Rejected
	if !errors.As(err, &r) || !strings.Contains(r.Detail(), "a::u, a::v") {
		t.Errorf("detail of %v does not name the tests", err)
	}
	if diff := cmp.Diff([]string{"a::u", "a::v"}, proof.List(schemas.Regression)); diff != "" {
		t.Error(diff)
	}
}

// TestSourcesDecide: the language is asked once about each test that B decides,
// and about every changed path of the test part.
func TestSourcesDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": "a not_loaded\nend", "G": "a finished t=passed u=passed v=passed\nend", "B": "a finished t=passed u=passed v=failed\nend"}.script)
	var asked []string
	b.lang.asked, b.lang.changed = &asked, map[string]bool{"a::u": true}
	b.c.Start.Files = append(b.c.Start.Files, schemas.PartFile{
		ChangedFile: schemas.ChangedFile{Status: "R", Path: "new", OldPath: "old"}, Part: schemas.PartTest,
	}, schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "D", Path: "gone"}, Part: schemas.PartTest},
		schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "M", Path: "both"}, Part: schemas.PartCode, TestHunks: []int{0}})
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a::t pass_to_pass B", "a::u fail_to_pass load_changed", "a::v fail_to_pass load"}
	if diff := cmp.Diff(want, verdicts(proof.Tests)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a::t test_a.toy new old gone both", "a::u test_a.toy new old gone both"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestEqualEvidenceGivesEqualBytes(t *testing.T) {
	t.Parallel()
	script := reports{
		"S": "a not_loaded\nb finished T=failed T/x=failed T/y=passed\nend", "G": "b finished T=passed T/x=passed T/y=passed\na finished u=passed t=passed\nend",
		"B": "a finished u=passed\nend",
	}
	var first []byte
	for range 5 {
		b := newBench(t, script.script)
		b.lang.names = []schemas.Name{{Name: "z", Kind: "function", Path: "code.toy"}, {Name: "y", Kind: "class", Path: "code.toy"}}
		proof, err := b.prove(t)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schemas.Canonical(proof)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(string(first), string(got)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestStableIsWithoutChance: other logs and messages, equal bytes.
func TestStableIsWithoutChance(t *testing.T) {
	t.Parallel()
	var got [2]schemas.Proof
	for i := range got {
		b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
			r, end := reports{"S": fails, "G": passes}.script(state, sel)
			for j := range r.Tests {
				if r.Tests[j].Message != "" {
					r.Tests[j].Message = fmt.Sprintf("took %d ms", i)
				}
			}
			return r, end
		})
		var err error
		if got[i], err = b.prove(t); err != nil {
			t.Fatal(err)
		}
	}
	if cmp.Equal(got[0], got[1]) {
		t.Fatal("the two runs do not differ: nothing is shown")
	}
	before := schemas.DigestOf(got[0])
	if diff := cmp.Diff(got[0].Stable(), got[1].Stable()); diff != "" {
		t.Error(diff)
	}
	if schemas.DigestOf(got[0]) != before {
		t.Error("Stable changed the proof that it was asked of")
	}
}

// TestRecordsNameTheirBlobs: what a run said can be read back.
func TestRecordsNameTheirBlobs(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": fails, "G": passes}.script)
	b.lang.modules = 2
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	r := proof.Runs[1]
	if want := (schemas.RunRecord{State: "S", Scope: "changed", Number: 1, End: "exited", Report: r.Report, Log: r.Log, MS: 2000}); r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	for d, want := range map[schemas.Digest]string{r.Log: "log of Slog of S", r.Report: `"id":"a::t"`} {
		got, err := b.blobs.Get(d)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("blob %s is %q (%v), want %q in it", d.Short(), got, err, want)
		}
	}
}

func TestFaultsAreNoVerdict(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"run", "build", "remove"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, reports{"S": fails, "G": passes}.script)
			fault := errors.New("the daemon is gone")
			b.box.fault[at] = fault
			_, err := b.prove(t)
			if !errors.Is(err, fault) || pipeline.EndOf(t.Context(), err) != schemas.StepFailed {
				t.Errorf("got %v (%s), want the fault", err, pipeline.EndOf(t.Context(), err))
			}
		})
	}
}

// TestRejectStaysAReject, whatever the removal of its layers says.
func TestRejectStaysAReject(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": passes, "G": passes}.script)
	b.box.fault["remove"] = errors.New("the daemon is gone")
	if _, err := b.prove(t); reason(err) != schemas.NoF2P {
		t.Errorf("got %v", err)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	fault := errors.New("cannot read")
	for name, tc := range map[string]struct {
		scan schemas.Scan
		err  error
		want schemas.Reason
	}{
		"clean": {scan: schemas.Scan{Scanner: "1", Count: 2}, want: "valid"},
		"leak":  {scan: schemas.Scan{Hits: []schemas.Hit{{Needle: "x", Place: "/testbed/b", Kind: "solution_line"}}}, want: schemas.Leaked},
		"fault": {err: fault, want: "fault: searching what a solver gets: cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, reports{"S": fails, "G": passes}.script)
			b.c.scan = func(_ context.Context, l sandbox.Layer) (schemas.Scan, error) {
				if l.ID != "B" || len(b.box.removed) > 0 {
					t.Errorf("searched %s after removal of %v, want B as a solver gets it", l.ID, b.box.removed)
				}
				return tc.scan, tc.err
			}
			proof, err := b.prove(t)
			if got := reason(err); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.scan, proof.Leaks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := New(Outside{}, Config{}); err == nil || !strings.Contains(err.Error(), "proof.runs") {
		t.Errorf("got %v, want the key", err)
	}
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

// TestLimitKeepsWhatWasSeen: a flake that showed before run 3 passed a limit is
// one that the ledger has to know.
func TestLimitKeepsWhatWasSeen(t *testing.T) {
	t.Parallel()
	script := reports{"S": "a finished t=failed u=passed\nend", "S 2": "a finished t=failed u=failed\nend", "G": passes}
	b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		report, end := script.script(state, sel)
		if sel.Number == 3 {
			end = sandbox.TimedOut
		}
		return report, end
	})
	proof, err := b.prove(t)
	if got := reason(err); got != schemas.OverTime {
		t.Fatalf("end is %s", got)
	}
	if diff := cmp.Diff([]string{"a::t fail_to_pass fails", "a::u quarantined"}, verdicts(proof.Tests)); diff != "" {
		t.Error(diff)
	}
}

// TestLoads: a starter of a library needs a test that loads; that some do not, or that none does
// where nothing was masked, ends nothing.
func TestLoads(t *testing.T) {
	t.Parallel()
	const none, some, parent = "a not_loaded\nb not_loaded\nend", "a not_loaded\nb finished v=failed\nend", "a not_loaded\nb finished v=passed\nend"
	const whole = "a finished t=passed u=passed\nb finished v=passed\nend"
	for name, tc := range map[string]struct {
		s      string
		masked bool
		want   schemas.Reason
	}{
		"none":                   {none, true, schemas.StarterDead},
		"one_fails_by_itself":    {some, true, "valid"},
		"one_passes":             {parent, true, "valid"},
		"none_of_another_kind":   {none, false, "valid"},
		"all_fail_by_themselves": {"a finished t=failed u=failed\nb finished v=failed\nend", true, "valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := reports{"S": tc.s, "G": whole, "B": "a finished t=failed u=failed\nb finished v=failed\nend"}
			if tc.masked { // S is B
				script["B"] = tc.s
			}
			b := newBench(t, script.script)
			if tc.masked {
				b.c.Trees.B, b.c.Start.BaseTree, b.c.SealedBase = b.c.Trees.S, b.c.Start.StartTree, b.c.Trees.S.Files(baseDate)
				b.c.Start.Masked, b.c.Start.Files = &schemas.Masked{}, b.c.Start.Files[1:]
			}
			_, err := b.prove(t)
			if got := reason(err); got != tc.want {
				t.Errorf("end is %s, want %s (%v)", got, tc.want, err)
			}
			if tc.want == schemas.StarterDead && !strings.Contains(err.Error(), "3 tests that pass in the release do not load") {
				t.Error(err)
			}
		})
	}
}
