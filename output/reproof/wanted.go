package reproof

import (
	"slices"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Wanted is how often a task is to be run.
type Wanted struct {
	Gold, Nop, Forged int // runs under the system's clock
	Dates             int // on so many dates at least, of which gold has a run on each
	// Clocks are those under which it is run once with its own patch; the system's is not among them.
	Clocks []schemas.WallClock
	// Since, YYYY-MM-DD, is the first date that counts; "" for all.
	Since string
}

// Fresh is for how long the runs of a published task count: a cycle of re-proof ends within it.
const Fresh = 14 * 24 * time.Hour

// Short is the re-proof of a task that is published and whose repository has no flake: at most three runs with its
// own patch and one with none, on one date.
func (w Wanted) Short(today time.Time) Wanted {
	w.Gold, w.Nop, w.Forged, w.Dates = min(w.Gold, 3), min(w.Nop, 1), 0, 1
	return w.Again(today)
}

// Again is the re-proof of a published task: what counts is not older than Fresh.
func (w Wanted) Again(today time.Time) Wanted {
	w.Dates, w.Since = 1, today.Add(-Fresh).UTC().Format(time.DateOnly)
	return w
}

// Run is one that is to be made.
type Run struct {
	State  schemas.Answered
	Clock  schemas.WallClock
	Number int
}

// Missing are the runs to be made on a date so that a task has all that is wanted, and whether more are needed on a
// later date; runs are those of Ledger.Of. Runs are spread over the dates: as many on each.
func (w Wanted) Missing(runs []schemas.Reproof, date string) (today []Run, later bool) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r schemas.Reproof) bool { return r.Date < w.Since })
	before := datesBefore(runs, date)
	left := max(w.Dates-before, 1) // dates, this one among them
	for _, s := range []struct {
		state schemas.Answered
		want  int
		least int // runs on this date: a date is one on which the task was run with its own patch
	}{{schemas.AnsweredGold, w.Gold, min(w.Gold, max(w.Dates-before, 0), 1)}, {schemas.AnsweredNop, w.Nop, 0}, {schemas.AnsweredForged, w.Forged, 0}} {
		made, earlier := madeOf(runs, s.state, date)
		share := max((s.want-earlier+left-1)/left, s.least)
		// A run that a fault of the machine ended is made under its number.
		for n, open := 1, share-len(made); open > 0; n++ {
			if !made[n] {
				today = append(today, Run{s.state, schemas.OwnClock, n})
				open--
			}
		}
		later = later || left > 1 && (s.least > 0 || max(share, len(made))+earlier < s.want)
	}
	for _, c := range w.Clocks {
		if !slices.ContainsFunc(runs, func(r schemas.Reproof) bool { return r.Clock == c && r.State == schemas.AnsweredGold }) {
			today = append(today, Run{schemas.AnsweredGold, c, 1})
		}
	}
	return today, later
}

// datesBefore counts the dates but this one on which a task was run with its own patch. Other runs are spread over
// the same dates.
func datesBefore(runs []schemas.Reproof, date string) int {
	dates := map[string]bool{}
	for _, r := range runs {
		if r.State == schemas.AnsweredGold && r.Clock == schemas.OwnClock && r.Date != date {
			dates[r.Date] = true
		}
	}
	return len(dates)
}

// madeOf are the numbers of the runs that were made on a date, and how many were made on others.
func madeOf(runs []schemas.Reproof, state schemas.Answered, date string) (numbers map[int]bool, others int) {
	numbers = map[int]bool{}
	for _, r := range runs {
		switch {
		case r.State != state || r.Clock != schemas.OwnClock:
		case r.Date == date:
			numbers[r.Number] = true
		default:
			others++
		}
	}
	return numbers, others
}
