// Package score writes what all grades of an evaluation come to.
//
// It never grades, and never leaves a prediction out: one without a verdict is written with
// the fault that kept it from one.
package score

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "4"

// Timeout bounds the writing of all files.
const Timeout = time.Hour

// Config is where the files go and what they are about.
type Config struct {
	Program string // the version that computes; an older one with the same results has written the same figures
	Dataset string // its name
	Dir     string
	Tasks   map[string]score.Task // of the whole dataset, by instance ID
	// Predictions are all that were given, by ID: of a step that did not get through only
	// its key is known.
	Predictions map[string]schemas.Prediction
	// Faults are of tasks that a harness got no answer for.
	Faults []score.Fault
	// Answered has the figures over the tasks that a model answers, not over all.
	Answered bool
	Known    modelfile.Models // what is known of models; nil for nothing
	Reviews  score.Reviews    // of people
}

// Fingerprint is what the files depend on beside the grades; where they are kept is not part of it.
func (c Config) Fingerprint() any {
	return struct {
		Dataset     string
		Tasks       map[string]score.Task
		Predictions map[string]schemas.Prediction
		Faults      []score.Fault `json:",omitempty"`
		Answered    bool
		Known       modelfile.Models
		Reviews     score.Reviews
	}{c.Dataset, c.Tasks, c.Predictions, c.Faults, c.Answered, c.Known, c.Reviews}
}

// Scorer is the stage.
type Scorer struct{ Config }

var _ pipeline.Drainer[schemas.Grade] = (*Scorer)(nil)

// New writes as c says.
func New(c Config) *Scorer { return &Scorer{c} }

// Run writes the files of the evaluation.
func (s *Scorer) Run(_ context.Context, done iter.Seq2[schemas.Grade, error], ended pipeline.Ended) error {
	e := score.Evaluation{Program: s.Program, Dataset: s.Dataset, Tasks: s.Tasks, Answered: s.Answered, Known: s.Known, Reviews: s.Reviews, Faults: slices.Clone(s.Faults)}
	for g, err := range done {
		if err != nil {
			return err
		}
		// A grade is used again for the same patch: what else is said of the prediction is
		// what was given now.
		if p, ok := s.Predictions[g.ID()]; ok {
			g.Prediction = p
		}
		e.Answers = append(e.Answers, score.Answer{Task: s.Tasks[g.Prediction.Instance], Grade: g})
	}
	for step, err := range ended.Steps {
		if err != nil {
			return err
		}
		p, ok := s.Predictions[step.Key]
		if !ok {
			return fmt.Errorf("%s is not one of the predictions", step.Key)
		}
		e.Faults = append(e.Faults, score.Fault{Prediction: p, Deferred: step.State == schemas.StepDeferred, Why: step.Detail})
	}
	return e.Write(s.Dir)
}
