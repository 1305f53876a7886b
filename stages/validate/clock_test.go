package validate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// TestClock is what a suite says with the clock ahead, with the times of files ahead as well, and
// what becomes of its tests.
func TestClock(t *testing.T) {
	t.Parallel()
	const (
		start = "a finished old=passed new=failed cert=passed day[2026-11-27]=passed day[2027-11-27]=passed\nend"
		gold  = "a finished old=passed new=passed cert=passed day[2026-11-27]=passed day[2027-11-27]=passed\nend"
		lists = "cert pass_to_pass, day[2026-11-27] pass_to_pass, day[2027-11-27] pass_to_pass, new fail_to_pass, old pass_to_pass"
	)
	for name, tc := range map[string]struct {
		ahead, files string // what the runs report; "" is not run
		gold         string
		unshifted    bool
		exit         int
		end          sandbox.End
		want         string
		held         schemas.Clock
		reason       schemas.Reason
	}{
		"all_pass": {ahead: gold, want: lists, held: schemas.Clock{Ahead: 34585980, By: "toy"}},
		"passes_until_a_day": {
			ahead: strings.Replace(gold, "cert=passed", "cert=failed", 1), files: strings.Replace(gold, "cert=passed", "cert=failed", 1),
			want: "cert clock failed, day[2026-11-27] pass_to_pass, day[2027-11-27] pass_to_pass, new fail_to_pass, old pass_to_pass", held: schemas.Clock{Ahead: 34585980, By: "toy"},
		},
		"skipped_after_a_day": {
			ahead: strings.Replace(gold, "cert=passed", "cert=skipped", 1), files: strings.Replace(gold, "cert=passed", "cert=skipped", 1),
			want: "cert clock skipped, day[2026-11-27] pass_to_pass, day[2027-11-27] pass_to_pass, new fail_to_pass, old pass_to_pass", held: schemas.Clock{Ahead: 34585980, By: "toy"},
		},
		// It compares times of files with now, or it is a flake.
		"passes_with_the_times_of_files": {ahead: strings.Replace(gold, "cert=passed", "cert=failed", 1), files: gold, want: lists, held: schemas.Clock{Ahead: 34585980, By: "toy"}},
		// The second of two names is there on the later day, and moves all the same.
		"named_after_a_day": {
			ahead: strings.NewReplacer("day[2026", "day[2028").Replace(gold), files: strings.NewReplacer("day[2026", "day[2028").Replace(gold),
			want: "cert pass_to_pass, day[#-#-#] clock absent, new fail_to_pass, old pass_to_pass", held: schemas.Clock{Ahead: 34585980, By: "toy"},
		},
		"nothing_left": {
			ahead: strings.Replace(gold, "new=passed", "new=failed", 1), files: strings.Replace(gold, "new=passed", "new=error", 1),
			want:   "cert pass_to_pass, day[2026-11-27] pass_to_pass, day[2027-11-27] pass_to_pass, new clock error, old pass_to_pass",
			reason: schemas.AllBound, held: schemas.Clock{Ahead: 34585980, By: "toy"},
		},
		"not_loaded_at_all": {ahead: "a not_loaded\nend", want: lists, held: schemas.Clock{Not: "no test loads with the clock ahead"}},
		"no_clock":          {unshifted: true, want: lists, held: schemas.Clock{Not: "the toy has no clock"}},
		"wrong_clock":       {ahead: "dead", exit: 97, want: lists, held: schemas.Clock{Not: "a program that tried the shifted clock did not see it, or waited too long; see the log of the run"}},
		"over_a_limit":      {ahead: gold, end: sandbox.TimedOut, want: lists, held: schemas.Clock{Not: "the run was ended: validate/time"}},
		"tampered":          {ahead: gold + "\ntampered", want: lists, held: schemas.Clock{Not: "the run was ended: validate/tampered"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
				end := sandbox.Exited
				if strings.HasPrefix(state, "G ") && tc.end != "" {
					end = tc.end
				}
				return parse(map[string]string{"S": start, "B": start, "G": gold, "G ahead": tc.ahead, "G files": tc.files}[state]), end
			})
			b.lang.shifts, b.box.exit = !tc.unshifted, map[string]int{"G ahead": tc.exit}
			proof, err := b.prove(t)
			want := schemas.Reason("valid")
			if tc.reason != "" {
				want = tc.reason
			}
			if got := reason(err); got != want {
				t.Errorf("%s: %v", got, err)
			}
			var got []string
			for _, v := range proof.Tests {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", strings.TrimPrefix(v.ID, "a::"), v.Class, v.Clock)))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("tests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&tc.held, proof.Clock); diff != "" {
				t.Errorf("clock (-want +got):\n%s", diff)
			}
			var runs []string
			for _, r := range proof.Runs {
				if r.Scope == "clock" {
					runs = append(runs, r.Clock)
				}
			}
			var made []string
			if !tc.unshifted {
				made = append(made, "toy")
			}
			if tc.files != "" {
				made = append(made, "toy+files")
			}
			if diff := cmp.Diff(made, runs); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if proof.ClockMS() != int64(1000*len(made)) {
				t.Errorf("%d ms", proof.ClockMS())
			}
		})
	}
}

// A fault of the machine in a run with the clock ahead is none of the clock's.
func TestClockOnABrokenMachine(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": "a finished t=failed\nend", "G": "a finished t=passed\nend"}.script)
	b.lang.shifts = true
	broken := errors.New("disk gone")
	script := b.box.script
	b.box.script = func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		if state == "G" && sel.Number == 3 {
			b.box.fault["run"] = broken // from the next run on
		}
		return script(state, sel)
	}
	if _, err := b.prove(t); !errors.Is(err, broken) || !slices.Contains(b.box.runs, "G ahead suite 1") {
		t.Errorf("%v, %v", err, b.box.runs)
	}
}
