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
	// Dates of gold are those that the others are spread over as well.
	var before []string
	for _, r := range runs {
		if r.State == schemas.AnsweredGold && r.Clock == schemas.OwnClock && r.Date != date && !slices.Contains(before, r.Date) {
			before = append(before, r.Date)
		}
	}
	left := max(w.Dates-len(before), 1) // dates, this one among them
	for _, s := range []struct {
		state schemas.Answered
		want  int
	}{{schemas.AnsweredGold, w.Gold}, {schemas.AnsweredNop, w.Nop}, {schemas.AnsweredForged, w.Forged}} {
		made, earlier := map[int]bool{}, 0
		for _, r := range runs {
			switch {
			case r.State != s.state || r.Clock != schemas.OwnClock:
			case r.Date == date:
				made[r.Number] = true
			default:
				earlier++
			}
		}
		share := (s.want - earlier + left - 1) / left
		if s.state == schemas.AnsweredGold && s.want > 0 && len(before) < w.Dates {
			share = max(share, 1) // a date is one on which the task was run
		}
		now := len(made)
		for n, open := 1, share-now; open > 0; n++ {
			if !made[n] { // a run that a fault of the machine ended is made under its number
				today = append(today, Run{s.state, schemas.OwnClock, n})
				open--
			}
		}
		later = later || left > 1 && (s.state == schemas.AnsweredGold && s.want > 0 || max(share, now)+earlier < s.want)
	}
	for _, c := range w.Clocks {
		if !slices.ContainsFunc(runs, func(r schemas.Reproof) bool { return r.Clock == c && r.State == schemas.AnsweredGold }) {
			today = append(today, Run{schemas.AnsweredGold, c, 1})
		}
	}
	return today, later
}
