package score

import (
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// SWEBench is the report of SWE-bench's harness, schema version 2, for one model. An
// instance with several samples is resolved where one of them is.
type SWEBench struct {
	Total         int      `json:"total_instances"`
	Submitted     int      `json:"submitted_instances"`
	Completed     int      `json:"completed_instances"`
	Resolved      int      `json:"resolved_instances"`
	Unresolved    int      `json:"unresolved_instances"`
	Empty         int      `json:"empty_patch_instances"`
	Errors        int      `json:"error_instances"`
	CompletedIDs  []string `json:"completed_ids"`
	IncompleteIDs []string `json:"incomplete_ids"`
	EmptyIDs      []string `json:"empty_patch_ids"`
	SubmittedIDs  []string `json:"submitted_ids"`
	ResolvedIDs   []string `json:"resolved_ids"`
	UnresolvedIDs []string `json:"unresolved_ids"`
	ErrorIDs      []string `json:"error_ids"`
	SchemaVersion int      `json:"schema_version"`
	Library       *Library `json:"library,omitempty"` // ours: what the predictions for libraries score
}

// better orders what is known of an instance from its samples.
var better = []string{"error", "empty", "unresolved", "resolved"}

// SWEBenchOf is the report of one model. As in that harness a patch that does not apply is an
// error, and so is a prediction that could not be graded; instances are those of the dataset.
func (e Evaluation) SWEBenchOf(m Model) SWEBench {
	model, instances := m.Model, sortedKeys(e.Tasks)
	state := map[string]string{}
	note := func(id, s string) {
		if slices.Index(better, s) >= slices.Index(better, state[id]) {
			state[id] = s
		}
	}
	for _, a := range e.Answers {
		if a.Grade.Prediction.Model != model {
			continue
		}
		s := "unresolved"
		switch a.Grade.Verdict {
		case schemas.VerdictPass:
			s = "resolved"
		case schemas.VerdictEmpty:
			s = "empty"
		case schemas.VerdictPatch, schemas.VerdictTimeout:
			s = "error"
		}
		note(a.Grade.Prediction.Instance, s)
	}
	for _, f := range e.Faults {
		if f.Prediction.Model == model {
			note(f.Prediction.Instance, "error")
		}
	}
	r := SWEBench{
		SchemaVersion: 2, Total: len(instances), CompletedIDs: []string{}, IncompleteIDs: []string{}, EmptyIDs: []string{}, SubmittedIDs: []string{},
		ResolvedIDs: []string{}, UnresolvedIDs: []string{}, ErrorIDs: []string{},
		Library: m.Metrics.Library,
	}
	for _, id := range sortedKeys(state) {
		r.SubmittedIDs = append(r.SubmittedIDs, id)
		switch state[id] {
		case "resolved":
			r.ResolvedIDs, r.CompletedIDs = append(r.ResolvedIDs, id), append(r.CompletedIDs, id)
		case "unresolved":
			r.UnresolvedIDs, r.CompletedIDs = append(r.UnresolvedIDs, id), append(r.CompletedIDs, id)
		case "empty":
			r.EmptyIDs = append(r.EmptyIDs, id)
		default:
			r.ErrorIDs = append(r.ErrorIDs, id)
		}
	}
	for _, id := range instances {
		if state[id] == "" {
			r.IncompleteIDs = append(r.IncompleteIDs, id)
		}
	}
	slices.Sort(r.IncompleteIDs)
	r.Submitted, r.Completed, r.Resolved, r.Unresolved = len(r.SubmittedIDs), len(r.CompletedIDs), len(r.ResolvedIDs), len(r.UnresolvedIDs)
	r.Empty, r.Errors = len(r.EmptyIDs), len(r.ErrorIDs)
	return r
}
