package stages

import (
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/score"
)

// The stages of the plan that grades.
const (
	Grade = "grade" // a prediction: its verdict
	Score = "score" // all grades: the figures
)

// NewEval is the plan that grades predictions. Its store is never that of a run: each plan
// puts the stages of the other aside. far says that grades are made on other machines, and compute nothing here.
func NewEval(g *grade.Grader, c grade.Config, s *score.Scorer, tools map[string]string, far bool) *pipeline.Plan {
	needs := map[string]int{CPU: 1, Sandbox: 1}
	if far {
		delete(needs, CPU)
	}
	settings := struct {
		Grade grade.Config
		Tools map[string]string
	}{c, tools}
	graded := pipeline.Then(pipeline.New[schemas.Prediction](), Grade, g, pipeline.Options{
		Version: grade.Version, Config: settings, Needs: needs, Timeout: c.Timeout(), Budget: budget,
	})
	plan := pipeline.Drain(graded, Score, s, pipeline.Options{
		Version: score.Version, Config: s.Fingerprint(), Needs: map[string]int{CPU: 1}, Timeout: score.Timeout,
	})
	plan.Judge(ends.OfMachine)
	return plan
}
