package score

import (
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Library is what predictions for libraries come to. Each figure is a macro average: the mean
// over tasks of the mean over the samples of a task, so that a library with many tests counts
// as much as one with few. One without an answer has the score and the pass rate 0.
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

// library are the figures of libraries, nil where no task is one.
func (g answers) library() *Library {
	libraries := g.kind(schemas.KindLibrary)
	if len(libraries.tasks) == 0 {
		return nil
	}
	out := Library{
		Tasks: len(libraries.tasks), Score: libraries.mean(func(a Answer) float64 { return a.Task.LibraryScore(a.Grade) }),
		PassRate: libraries.mean(func(a Answer) float64 { return a.Task.PassRate(a.Grade) }),
	}
	for _, t := range libraries.tasks {
		out.ZeroWork += t.ZeroWork
	}
	out.ZeroWork = mean(out.ZeroWork, len(libraries.tasks))
	return &out
}

// kind are the tasks of a kind with their answers.
func (g answers) kind(k schemas.Kind) answers {
	return g.only(func(t Task) bool { return t.Kind == k })
}

func (g answers) only(keep func(Task) bool) answers {
	out := answers{of: g.of}
	for _, t := range g.tasks {
		if keep(t) {
			out.tasks = append(out.tasks, t)
		}
	}
	return out
}
