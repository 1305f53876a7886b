package stages

import (
	"time"

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
// puts the stages of the other aside.
func NewEval(g *grade.Grader, c grade.Config, s *score.Scorer, tools map[string]string) *pipeline.Plan {
	timeout := suites(2, c.Limits) // one run and a build, after the environment
	predictions := pipeline.New[schemas.Prediction]()
	graded := pipeline.Then(predictions, Grade, pipeline.Stage[schemas.Prediction, schemas.Grade](g), pipeline.Options{
		Version: grade.Version, Config: struct {
			Grade grade.Config
			Tools map[string]string
		}{c, tools}, Needs: map[string]int{CPU: 1, Sandbox: 1}, Timeout: timeout, Budget: budget,
	})
	plan := pipeline.Drain(graded, Score, pipeline.Drainer[schemas.Grade](s), pipeline.Options{Version: score.Version, Config: s.Told(), Needs: map[string]int{CPU: 1}, Timeout: time.Hour})
	plan.Judge(ends.OfMachine)
	return plan
}
