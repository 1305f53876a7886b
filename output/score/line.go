package score

import (
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Line is one prediction in results.jsonl.
type Line struct {
	Instance string          `json:"instance_id"`
	Model    string          `json:"model_name_or_path"`
	Sample   int             `json:"sample"`
	Patch    schemas.Digest  `json:"patch,omitempty"` // blob of the evaluation's store
	Resolved bool            `json:"resolved"`
	Verdict  schemas.Verdict `json:"verdict"` // "" where there is none: fault says why
	Limit    schemas.Reason  `json:"limit,omitempty"`
	Applied  string          `json:"applied,omitempty"`
	Detail   string          `json:"detail,omitempty"`
	// Read is what there is to say of how the prediction was read, Mended what its patch was graded without, and Left
	// the files that it names without their content.
	Read   []string          `json:"read,omitempty"`
	Mended []string          `json:"mended,omitempty"`
	Left   []string          `json:"left_out,omitempty"`
	F2P    *schemas.Score    `json:"FAIL_TO_PASS,omitempty"`
	P2P    *schemas.Score    `json:"PASS_TO_PASS,omitempty"`
	Why    map[string]string `json:"why,omitempty"` // as Grade.Why
	// Class is what went wrong, and Cause what that means for the lists; "" where the prediction is resolved.
	Class    schemas.ErrorClass `json:"class,omitempty"`
	Cause    Cause              `json:"cause,omitempty"`
	Review   *Review            `json:"review,omitempty"` // of a person
	Tampered []string           `json:"tampered,omitempty"`
	Files    []string           `json:"files,omitempty"`
	Overlaps []schemas.Overlap  `json:"overlaps,omitempty"`
	Uses     []schemas.Use      `json:"uses,omitempty"`
	Tokens   int64              `json:"total_tokens,omitempty"`
	Input    int64              `json:"input_tokens,omitempty"`
	Output   int64              `json:"output_tokens,omitempty"`
	Turns    int64              `json:"turns,omitempty"`
	Cost     float64            `json:"cost,omitempty"`
	// LibraryScore is that of a library, nil for other kinds.
	LibraryScore *float64 `json:"library_score,omitempty"`
	// Service is how far a service came, nil for other kinds and where nothing was run.
	Service  *schemas.Served `json:"service,omitempty"`
	Fault    string          `json:"fault,omitempty"` // of the harness; not a verdict
	Deferred bool            `json:"deferred,omitempty"`
}

// Lines are all predictions, by instance, model and sample.
func (e Evaluation) Lines() []Line {
	out := []Line{}
	for _, a := range e.Answers {
		g := a.Grade
		l := Line{
			Instance: g.Prediction.Instance, Model: g.Prediction.Model, Sample: g.Prediction.Sample, Patch: g.Prediction.Patch, Resolved: g.Verdict == schemas.VerdictPass,
			Verdict: g.Verdict, Limit: g.Limit, Applied: g.Applied, Detail: g.Detail, F2P: g.F2P, P2P: g.P2P, Why: g.Why, Class: g.Class, Cause: CauseOf(g), Tampered: g.Tampered, Files: g.Files,
			Read: g.Prediction.Read, Mended: g.Mended, Left: g.Left, Tokens: g.Prediction.Tokens, Input: g.Prediction.InputTokens, Output: g.Prediction.OutputTokens, Turns: g.Prediction.Turns, Cost: g.Prediction.Cost, Service: g.Service, Overlaps: g.Overlaps, Uses: g.Uses,
		}
		if r, ok := e.Reviews[g.ID()]; ok && !l.Resolved {
			l.Review, l.Cause = &r, Answer{Grade: g, Review: r}.cause()
		}
		if a.Task.Kind == schemas.KindLibrary {
			s := a.Task.LibraryScore(g)
			l.LibraryScore = &s
		}
		out = append(out, l)
	}
	for _, f := range e.Faults {
		out = append(out, Line{Instance: f.Prediction.Instance, Model: f.Prediction.Model, Sample: f.Prediction.Sample, Read: f.Prediction.Read, Fault: f.Why, Deferred: f.Deferred})
	}
	slices.SortFunc(out, func(a, b Line) int {
		return slices.Compare([]string{a.Instance, a.Model, fmt.Sprintf("%09d", a.Sample)}, []string{b.Instance, b.Model, fmt.Sprintf("%09d", b.Sample)})
	})
	return out
}
