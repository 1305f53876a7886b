package stages

import (
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/score"
)

// The stages of the plans that grade.
const (
	Grade   = "grade"   // a prediction: its verdict
	Score   = "score"   // all grades: the figures
	Reprove = "reprove" // a run of a published task
	Ledger  = "ledger"  // all runs: lines of the ledger
)

// NewReprove is the plan that makes runs of published tasks, in a store of its own. far is NewEval's.
func NewReprove(s *grade.Reprover, b grade.Book, c grade.ReproveConfig, tools map[string]string, far bool) *pipeline.Plan {
	settings := struct {
		Grade grade.Config
		Tools map[string]string
	}{c.Grade, tools}
	ran := pipeline.Then(pipeline.New[schemas.Rerun](), Reprove, s, pipeline.Options{
		Version: grade.ReproveVersion + "." + grade.Version, Config: settings, Needs: grading(far), Timeout: c.Timeout(), Budget: budget,
	})
	plan := pipeline.Drain(ran, Ledger, b, pipeline.Options{Version: grade.ReproveVersion, Timeout: score.Timeout})
	plan.Judge(ends.OfMachine)
	return plan
}

// grading is what a run needs; far says that it is made on another machine, and computes nothing here.
func grading(far bool) map[string]int {
	needs := map[string]int{CPU: 1, Sandbox: 1}
	if far {
		delete(needs, CPU)
	}
	return needs
}

// NewEval is the plan that grades predictions. Its store is never that of a run: each plan
// puts the stages of the other aside. far says that grades are made on other machines, and compute nothing here.
func NewEval(g *grade.Grader, c grade.Config, s *score.Scorer, tools map[string]string, far bool) *pipeline.Plan {
	settings := struct {
		Grade grade.Config
		Tools map[string]string
	}{c, tools}
	graded := pipeline.Then(pipeline.New[schemas.Prediction](), Grade, g, pipeline.Options{
		Version: grade.Version, Config: settings, Needs: grading(far), Timeout: c.Timeout(), Budget: budget,
	})
	plan := pipeline.Drain(graded, Score, s, pipeline.Options{
		Version: score.Version, Config: s.Fingerprint(), Needs: map[string]int{CPU: 1}, Timeout: score.Timeout,
	})
	plan.Judge(ends.OfMachine)
	return plan
}
