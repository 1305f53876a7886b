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
	PassRate float64 `json:"pass_rate"` // share of the listed tests that pass, 0 to 1
	ZeroWork float64 `json:"zero_work"` // share of the listed tests that pass with nothing done, 0 to 1
}

// PassRate is the share of the tests of both lists that pass (Commit0's pass rate), 0 to 1; 0
// where nothing was run.
func PassRate(g schemas.Grade) float64 {
	passed, want := 0, 0
	for _, s := range []*schemas.Score{g.F2P, g.P2P} {
		if s != nil {
			passed, want = passed+s.Passed, want+s.Want
		}
	}
	return mean(float64(passed), want)
}

// LibraryScore is the pass rate less the zero-work score, 0 to 1: what an answer does beyond
// nothing. One that does no better, or does not apply, scores 0; the solution scores 1 less the
// zero-work score.
func LibraryScore(g schemas.Grade, zeroWork float64) float64 {
	return max(0, PassRate(g)-zeroWork)
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
			score += LibraryScore(a.Grade, a.Task.ZeroWork)
			rate += PassRate(a.Grade)
		}
		out.Score += mean(score, len(tasks[id]))
		out.PassRate += mean(rate, len(tasks[id]))
		out.ZeroWork += tasks[id][0].Task.ZeroWork
	}
	out.Score, out.PassRate, out.ZeroWork = mean(out.Score, len(tasks)), mean(out.PassRate, len(tasks)), mean(out.ZeroWork, len(tasks))
	return &out
}
