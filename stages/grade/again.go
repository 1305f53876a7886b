package grade

import (
	"encoding/json"
	"fmt"

	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Again gives the grade that the kept reports of a graded prediction come to with the lists
// of a task. Nothing is run. What had no run, and what a limit ended, keeps its verdict. The
// trees and the recipe of the task must be those that it was graded with (Prediction.Ground).
func Again(saved schemas.Grade, task Task, reports Patches) (schemas.Grade, error) {
	if saved.F2P == nil || saved.P2P == nil {
		return saved, nil
	}
	var attempts []testlog.Report
	for _, r := range saved.Runs {
		if r.Scope != testrun.ScopeSuite && r.Scope != testrun.ScopeRest {
			continue
		}
		b, err := reports.Get(r.Report)
		if err != nil {
			return saved, fmt.Errorf("reading the report of %s: %w", saved.ID(), err)
		}
		var report testlog.Report
		if err := json.Unmarshal(b, &report); err != nil {
			return saved, fmt.Errorf("reading the report of %s: %w", saved.ID(), err)
		}
		attempts = append(attempts, report)
	}
	scored(&saved, testrun.Replay(attempts), task)
	return saved, nil
}
