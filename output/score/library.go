package score

import (
	"maps"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Library is what predictions for libraries come to. Each figure is a macro average: the mean
// over tasks of the mean over the samples of a task, so that a library with many tests counts
// as much as one with few.
type Library struct {
	Tasks    int     `json:"tasks"`
	Score    float64 `json:"score"`     // LibraryScore, 0 to 1
	PassRate float64 `json:"pass_rate"` // share of the tests that count which pass, 0 to 1
	ZeroWork float64 `json:"zero_work"` // the same with nothing done, 0 to 1
}

// PassRate is the share of the tests that count which pass (Commit0's pass rate), 0 to 1: those of
// both lists, of a slice those of FAIL_TO_PASS and of its own. 0 where nothing was run.
func (t Task) PassRate(g schemas.Grade) float64 {
	passed, want := 0, 0
	for _, s := range []*schemas.Score{g.F2P, t.counts(g.P2P)} {
		if s != nil {
			passed, want = passed+s.Passed, want+s.Want
		}
	}
	return mean(float64(passed), want)
}

// counts is the score of the tests of PASS_TO_PASS that count.
func (t Task) counts(all *schemas.Score) *schemas.Score {
	if t.Counted == nil || all == nil {
		return all
	}
	out := schemas.Score{Want: len(t.Counted.P2P)}
	for _, id := range t.Counted.P2P {
		if !slices.Contains(all.Missed, id) {
			out.Passed++
		}
	}
	return &out
}

// LibraryScore is the pass rate less the zero-work score, 0 to 1: what an answer does beyond
// nothing. One that does no better, or does not apply, scores 0; the solution scores 1 less the
// zero-work score.
func (t Task) LibraryScore(g schemas.Grade) float64 {
	return max(0, t.PassRate(g)-t.ZeroWork)
}

// libraryOf are the figures of the answers for libraries, nil where there is none.
func libraryOf(answers []Answer) *Library {
	tasks := map[string][]Answer{}
	for _, a := range answers {
		if a.Task.Kind == schemas.KindLibrary {
			tasks[a.Task.Instance] = append(tasks[a.Task.Instance], a)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	out := Library{Tasks: len(tasks)}
	for _, id := range slices.Sorted(maps.Keys(tasks)) { // sums of floats depend on the order
		var score, rate float64
		for _, a := range tasks[id] {
			score += a.Task.LibraryScore(a.Grade)
			rate += a.Task.PassRate(a.Grade)
		}
		out.Score += mean(score, len(tasks[id]))
		out.PassRate += mean(rate, len(tasks[id]))
		out.ZeroWork += tasks[id][0].Task.ZeroWork
	}
	out.Score, out.PassRate, out.ZeroWork = mean(out.Score, len(tasks)), mean(out.PassRate, len(tasks)), mean(out.ZeroWork, len(tasks))
	return &out
}
