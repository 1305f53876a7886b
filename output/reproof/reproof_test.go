package reproof_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
)

var row = output.Row{InstanceID: "acme__w-1", FailToPass: output.List{"f1", "f2"}, PassToPass: output.List{"p1", "p2"}}

const ground = schemas.Digest("sha256:aa")

// run is one with its own patch that passes on the first day of 2026.
func run(edit func(*schemas.Reproof)) schemas.Reproof {
	r := schemas.Reproof{Task: row.InstanceID, Ground: ground, Lists: reproof.Lists(row), Date: "2026-01-01", Clock: schemas.OwnClock, State: schemas.AnsweredGold, Number: 1, End: schemas.RerunPasses}
	if edit != nil {
		edit(&r)
	}
	return r
}

func on(date string) func(*schemas.Reproof) { return func(r *schemas.Reproof) { r.Date = date } }

func fails(date string, f2p, p2p []string) schemas.Reproof {
	return run(func(r *schemas.Reproof) {
		r.Date, r.End, r.FailToPass, r.PassToPass, r.Log = date, schemas.RerunFails, f2p, p2p, "sha256:bb"
	})
}

func state(s schemas.Answered, end schemas.RerunEnd, flips ...string) schemas.Reproof {
	return run(func(r *schemas.Reproof) { r.State, r.End, r.FailToPass = s, end, flips })
}

func clocked(end schemas.RerunEnd, f2p ...string) schemas.Reproof {
	return run(func(r *schemas.Reproof) { r.Clock, r.End, r.FailToPass = "+400d", end, f2p })
}

// TestJudge holds the table of outcomes.
func TestJudge(t *testing.T) {
	lost := func(date string) schemas.Reproof {
		return run(func(r *schemas.Reproof) { r.Date, r.End, r.Detail = date, schemas.RerunNoEnvironment, "gone" })
	}
	for name, tc := range map[string]struct {
		runs   []schemas.Reproof
		state  reproof.State
		reason schemas.Withdrawal
		flaky  []string
		bound  schemas.WallClock
	}{
		"nothing_run":            {nil, reproof.Unproved, "", nil, ""},
		"only_nop":               {[]schemas.Reproof{state(schemas.AnsweredNop, schemas.RerunFails)}, reproof.Unproved, "", nil, ""},
		"passes":                 {[]schemas.Reproof{run(nil), run(on("2026-01-02")), state(schemas.AnsweredNop, schemas.RerunFails), state(schemas.AnsweredForged, schemas.RerunFails)}, reproof.Proved, "", nil, ""},
		"p2p_disagrees":          {[]schemas.Reproof{run(nil), fails("2026-01-01", nil, []string{"p2"})}, reproof.Narrowed, "", []string{"p2"}, ""},
		"p2p_fails_from_a_day":   {[]schemas.Reproof{run(nil), fails("2026-01-02", nil, []string{"p2"}), fails("2026-01-03", nil, []string{"p2"})}, reproof.Narrowed, "", []string{"p2"}, ""},
		"p2p_fails_always":       {[]schemas.Reproof{fails("2026-01-01", nil, []string{"p2"})}, reproof.Held, schemas.ForGoldFails, nil, ""},
		"f2p_disagrees":          {[]schemas.Reproof{run(nil), fails("2026-01-01", []string{"f1"}, nil)}, reproof.Held, schemas.ForFlaky, nil, ""},
		"f2p_disagrees_twice":    {[]schemas.Reproof{run(nil), fails("2026-01-01", []string{"f1"}, nil), fails("2026-01-02", []string{"f1"}, nil)}, reproof.Withdrawn, schemas.ForFlaky, nil, ""},
		"gold_fails":             {[]schemas.Reproof{fails("2026-01-01", []string{"f1"}, nil)}, reproof.Held, schemas.ForGoldFails, nil, ""},
		"gold_fails_from_a_day":  {[]schemas.Reproof{run(nil), fails("2026-01-02", []string{"f1"}, nil)}, reproof.Held, schemas.ForGoldFails, nil, ""},
		"gold_fails_twice":       {[]schemas.Reproof{run(nil), fails("2026-01-02", []string{"f1"}, nil), fails("2026-01-03", []string{"f1"}, nil)}, reproof.Withdrawn, schemas.ForGoldFails, nil, ""},
		"one_bad_day_then_two":   {[]schemas.Reproof{fails("2026-01-01", []string{"f1"}, nil), run(on("2026-01-02")), run(on("2026-01-03"))}, reproof.Proved, "", nil, ""},
		"one_bad_day_then_one":   {[]schemas.Reproof{fails("2026-01-01", []string{"f1"}, nil), run(on("2026-01-02"))}, reproof.Held, schemas.ForGoldFails, nil, ""},
		"over_time":              {[]schemas.Reproof{run(func(r *schemas.Reproof) { r.End, r.Detail = schemas.RerunFails, "TIMED OUT" })}, reproof.Held, schemas.ForGoldFails, nil, ""},
		"f2p_passes_without":     {[]schemas.Reproof{run(nil), state(schemas.AnsweredNop, schemas.RerunFails, "f2")}, reproof.Held, schemas.ForFlaky, nil, ""},
		"nop_passes":             {[]schemas.Reproof{run(nil), state(schemas.AnsweredNop, schemas.RerunPasses)}, reproof.Withdrawn, schemas.ForNopPasses, nil, ""},
		"nop_passes_gold_not":    {[]schemas.Reproof{state(schemas.AnsweredNop, schemas.RerunPasses)}, reproof.Withdrawn, schemas.ForNopPasses, nil, ""},
		"forged_passes":          {[]schemas.Reproof{run(nil), state(schemas.AnsweredForged, schemas.RerunPasses)}, reproof.Withdrawn, schemas.ForForgedPasses, nil, ""},
		"clock_marks":            {[]schemas.Reproof{run(nil), clocked(schemas.RerunFails, "f1")}, reproof.Proved, "", nil, "+400d"},
		"clock_holds":            {[]schemas.Reproof{run(nil), clocked(schemas.RerunPasses)}, reproof.Proved, "", nil, ""},
		"clock_not_shifted":      {[]schemas.Reproof{run(nil), clocked(schemas.RerunNotShifted)}, reproof.Proved, "", nil, ""},
		"the_day_has_come":       {[]schemas.Reproof{run(nil), clocked(schemas.RerunFails, "f1"), fails("2026-01-02", []string{"f1"}, nil), fails("2026-01-03", []string{"f1"}, nil)}, reproof.Withdrawn, schemas.ForClockBound, nil, "+400d"},
		"environment_lost":       {[]schemas.Reproof{run(nil), lost("2026-01-02")}, reproof.Held, schemas.ForEnvironmentLost, nil, ""},
		"environment_lost_twice": {[]schemas.Reproof{lost("2026-01-02"), lost("2026-01-03")}, reproof.Held, schemas.ForEnvironmentLost, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := reproof.Judge(row, tc.runs)
			if v.State != tc.state || v.Reason != tc.reason || v.ClockBound != tc.bound || cmp.Diff(tc.flaky, v.Flaky) != "" {
				t.Errorf("got %s %s %v %s (%s), want %s %s %v %s", v.State, v.Reason, v.Flaky, v.ClockBound, v.Text, tc.state, tc.reason, tc.flaky, tc.bound)
			}
			if (v.State == reproof.Held || v.State == reproof.Withdrawn) && v.Text == "" {
				t.Error("nothing says why")
			}
		})
	}
}

// TestMissing spreads runs over dates, and goes on where a killed process stopped.
func TestMissing(t *testing.T) {
	full := reproof.Wanted{Gold: 10, Nop: 3, Forged: 1, Dates: 2, Clocks: []schemas.WallClock{"+400d"}}
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var have []schemas.Reproof
	do := func(date string, runs []reproof.Run) {
		for _, r := range runs {
			have = append(have, run(func(x *schemas.Reproof) { x.Date, x.State, x.Clock, x.Number = date, r.State, r.Clock, r.Number }))
		}
	}
	count := func(runs []reproof.Run) string {
		n := map[string]int{}
		for _, r := range runs {
			n[string(r.State)+" "+string(r.Clock)]++
		}
		return fmt.Sprint(n)
	}
	check := func(w reproof.Wanted, date, want string, wantLater bool) []reproof.Run {
		t.Helper()
		runs, later := w.Missing(have, date)
		if got := count(runs); got != want || later != wantLater {
			t.Errorf("%s: %s, later %t; want %s, %t", date, got, later, want, wantLater)
		}
		return runs
	}
	first := check(full, "2026-03-01", "map[forged own:1 gold +400d:1 gold own:5 nop own:2]", true)
	do("2026-03-01", []reproof.Run{first[0], first[2]}) // killed, and a fault of the machine between them
	rest := check(full, "2026-03-01", "map[forged own:1 gold +400d:1 gold own:3 nop own:2]", true)
	if rest[0].Number != 2 {
		t.Errorf("run %d instead of the one that is missing", rest[0].Number)
	}
	do("2026-03-01", rest)
	check(full, "2026-03-01", "map[]", true)
	second := check(full, "2026-03-02", "map[gold own:5 nop own:1]", false)
	do("2026-03-02", second)
	check(full, "2026-03-02", "map[]", false)
	check(full, "", "map[]", false)
	check(full, "2026-06-01", "map[]", false)
	check(full.Short(day.AddDate(0, 6, 0)), "2026-09-01", "map[gold +400d:1 gold own:3 nop own:1]", false)
	check(full.Short(day), "2026-03-03", "map[]", false)
	check(reproof.Wanted{Gold: 1, Dates: 3}, "2026-03-03", "map[gold own:1]", false)
}

// TestLedger: a line counts for its lists and trees alone, once; what a killed process left is cut off.
func TestLedger(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sub", reproof.File)
	w, err := reproof.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	other := run(nil)
	other.Ground = "sha256:cc"
	for _, r := range []schemas.Reproof{run(nil), run(nil), other, fails("2026-01-02", []string{"f1"}, nil)} {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(schemas.Reproof{Task: "x"}); err == nil {
		t.Error("a line that says nothing is taken")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(whole, `{"instance_id":"acme__w-1","gro`...), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := reproof.Read(name, filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	narrower := row
	narrower.PassToPass = output.List{"p1"}
	for _, tc := range []struct {
		ground schemas.Digest
		row    output.Row
		want   int
	}{{ground, row, 2}, {"sha256:cc", row, 1}, {"sha256:dd", row, 0}, {ground, narrower, 0}} {
		if got := len(l.Of(tc.ground, tc.row)); got != tc.want {
			t.Errorf("%s: %d runs, want %d", tc.ground, got, tc.want)
		}
	}
	if w, err = reproof.Append(name); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(run(on("2026-01-03"))), w.Close()); err != nil {
		t.Fatal(err)
	}
	if l, err = reproof.Read(name); err != nil || len(l.Of(ground, row)) != 3 {
		t.Errorf("%d runs, %v", len(l.Of(ground, row)), err)
	}
	if err := os.WriteFile(name, append([]byte("{\"instance_id\": 3}\n"), whole...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := reproof.Read(name); err == nil {
		t.Error("a broken line in the middle is taken")
	}
}
