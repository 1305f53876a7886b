package reproof

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// State is what the runs of a task say of it.
type State string

// The states.
const (
	Unproved  State = "unproved"  // no run was made with its own patch
	Proved    State = "proved"    // every run did as the row says
	Narrowed  State = "narrowed"  // PASS_TO_PASS tests disagree with themselves; the task stays without them
	Held      State = "held"      // out of the data for now: its proof did not hold on one date
	Withdrawn State = "withdrawn" // out of the data: it did not hold on two dates, or an answer passes that solves nothing
)

// Verdict is a task as its runs have it.
type Verdict struct {
	State  State              `json:"state"`
	Reason schemas.Withdrawal `json:"reason,omitempty"` // of held and withdrawn
	Text   string             `json:"text,omitempty"`   // a sentence for people
	Flaky  []string           `json:"flaky,omitempty"`  // PASS_TO_PASS tests that leave the list, sorted
	// ClockBound is the clock under which the task fails; "" for none. It marks: the real clock withdraws.
	ClockBound schemas.WallClock `json:"clock_bound,omitempty"`
	Bound      []string          `json:"bound,omitempty"` // the tests that fail then, sorted
	// Dates are those on which it was run with its own patch under the system's clock, sorted.
	Dates    []string       `json:"dates"`
	Gold     int            `json:"gold"`
	Nop      int            `json:"nop"`
	Forged   int            `json:"forged"`
	Evidence schemas.Digest `json:"evidence,omitempty"` // the log of the run that decides
}

// Judge says what the runs of one row say together; runs are those of Ledger.Of.
//
// The table is design 10's: an answer that solves nothing and passes withdraws at once. PASS_TO_PASS tests that
// pass in some runs and not in others leave the list. All else that does not hold holds the task back, and
// withdraws it once that is seen on a second date; two later dates without it bring it back. A clock that is ahead
// only marks.
func Judge(row output.Row, runs []schemas.Reproof) Verdict {
	v := Verdict{State: Unproved, Dates: []string{}}
	var gold []schemas.Reproof
	for _, r := range runs {
		if r.Clock != schemas.OwnClock {
			v.shifted(r)
			continue
		}
		switch r.State {
		case schemas.AnsweredGold:
			v.Gold++
			gold = append(gold, r)
			if !slices.Contains(v.Dates, r.Date) {
				v.Dates = append(v.Dates, r.Date)
			}
		case schemas.AnsweredNop:
			v.Nop++
		case schemas.AnsweredForged:
			v.Forged++
		}
	}
	slices.Sort(v.Dates)
	if v.passes(runs) || len(gold) == 0 {
		return v
	}
	v.State = Proved
	v.disagree(row, gold)
	v.broken(runs)
	return v
}

// shifted notes a run under a clock that is ahead.
func (v *Verdict) shifted(r schemas.Reproof) {
	if r.State == schemas.AnsweredGold && r.End == schemas.RerunFails {
		if days(r.Clock) < days(v.ClockBound) || v.ClockBound == "" {
			v.ClockBound = r.Clock
		}
		v.Bound = union(v.Bound, r.FailToPass, r.PassToPass)
	}
}

func days(c schemas.WallClock) int {
	n, err := c.Days()
	if err != nil {
		return 0 // no line has such a clock
	}
	return n
}

// passes finds an answer that solves nothing and passes.
func (v *Verdict) passes(runs []schemas.Reproof) bool {
	for _, r := range runs {
		if r.Clock != schemas.OwnClock || r.State == schemas.AnsweredGold || r.End != schemas.RerunPasses {
			continue
		}
		v.State, v.Reason, v.Text, v.Evidence = Withdrawn, schemas.ForNopPasses, "a patch that does nothing passes every test of its lists ("+r.Date+")", r.Log
		if r.State == schemas.AnsweredForged {
			v.Reason, v.Text = schemas.ForForgedPasses, "a patch that only prints results and leaves passes every test of its lists ("+r.Date+")"
		}
		return true
	}
	return false
}

// disagree finds the PASS_TO_PASS tests that pass in some runs and not in others.
func (v *Verdict) disagree(row output.Row, gold []schemas.Reproof) {
	missed, seen := map[string]int{}, 0
	for _, r := range gold {
		if !told(r) {
			continue
		}
		seen++
		for _, id := range r.PassToPass {
			missed[id]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missed)) {
		if missed[id] < seen && slices.Contains(row.PassToPass, id) {
			v.Flaky = append(v.Flaky, id)
		}
	}
	if len(v.Flaky) > 0 {
		v.State = Narrowed
		v.Text = fmt.Sprintf("%d PASS_TO_PASS tests pass in some of %d runs and not in others: %s", len(v.Flaky), seen, Few(v.Flaky))
	}
}

// told reports whether a run says something of single tests.
func told(r schemas.Reproof) bool {
	return r.End == schemas.RerunPasses || r.End == schemas.RerunFails && len(r.FailToPass)+len(r.PassToPass) > 0
}

// broken holds a task whose proof does not hold, and withdraws it after a second date.
func (v *Verdict) broken(runs []schemas.Reproof) {
	var dates []string
	var last schemas.Reproof
	every, lost := true, true // all runs on those dates fail; all that fail have no environment
	for _, r := range runs {
		if v.holds(r) {
			continue
		}
		if !slices.Contains(dates, r.Date) {
			dates = append(dates, r.Date)
		}
		lost = lost && r.End == schemas.RerunNoEnvironment
		last = r
	}
	if len(dates) == 0 {
		return
	}
	for _, r := range runs {
		if r.State == schemas.AnsweredGold && r.Clock == schemas.OwnClock && slices.Contains(dates, r.Date) && v.holds(r) {
			every = false
		}
	}
	after := slices.DeleteFunc(slices.Clone(v.Dates), func(d string) bool { return d <= last.Date })
	if len(dates) == 1 && len(after) >= 2 {
		return
	}
	v.State, v.Reason, v.Evidence = Held, schemas.ForFlaky, last.Log
	switch {
	case lost:
		v.Reason = schemas.ForEnvironmentLost
	case last.State == schemas.AnsweredGold && every:
		v.Reason = schemas.ForGoldFails
	}
	if v.Reason == schemas.ForGoldFails && v.ClockBound != "" && subset(slices.Concat(last.FailToPass, last.PassToPass), v.Bound) {
		v.Reason = schemas.ForClockBound
	}
	if len(dates) > 1 && !lost {
		v.State = Withdrawn
	}
	v.Text = fmt.Sprintf("%s on %s: %s", does[v.Reason], strings.Join(dates, " and "), Trouble(last))
}

// does is what a task does, in a sentence.
var does = map[schemas.Withdrawal]string{
	schemas.ForFlaky:           "its tests disagree with themselves",
	schemas.ForGoldFails:       "its own patch fails",
	schemas.ForClockBound:      "its own patch fails, as under a clock that was ahead,",
	schemas.ForEnvironmentLost: "its environment cannot be built",
}

// holds reports whether a run under the system's clock is as the row says, but for flaky PASS_TO_PASS tests.
func (v *Verdict) holds(r schemas.Reproof) bool {
	switch {
	case r.Clock != schemas.OwnClock || r.State == schemas.AnsweredForged:
		return true
	case r.State == schemas.AnsweredNop:
		return r.End != schemas.RerunFails || len(r.FailToPass) == 0
	case r.End == schemas.RerunPasses:
		return true
	}
	return told(r) && len(r.FailToPass) == 0 && subset(r.PassToPass, v.Flaky)
}

// Trouble is what a run did otherwise than the row says, in words.
func Trouble(r schemas.Reproof) string {
	switch {
	case r.State != schemas.AnsweredGold && r.End == schemas.RerunPasses:
		return "every listed test passes without the solution"
	case r.State == schemas.AnsweredNop:
		return "without the solution pass " + Few(r.FailToPass)
	case len(r.FailToPass)+len(r.PassToPass) > 0:
		return "with the solution fail " + Few(slices.Concat(r.FailToPass, r.PassToPass))
	}
	line, _, _ := strings.Cut(r.Detail, "\n")
	return line
}

// Few are at most three of some tests, and how many more there are.
func Few(ids []string) string {
	const most = 3
	text := strings.Join(ids[:min(most, len(ids))], ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func subset(a, of []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(of, x) })
}

func union(lists ...[]string) []string {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}
