package assess

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Records joins what earlier stages left.
type Records interface {
	Start(id string) (schemas.Start, error)
	Provisioned(id string) (schemas.Provisioned, error)
}

// Stage is an assessor in a run: it collects what a proof that holds rests on.
type Stage struct {
	assessor *Assessor
	records  Records
	states   environment.States
}

var _ pipeline.Stage[schemas.Proof, schemas.Adequacy] = (*Stage)(nil)

// NewStage makes the stage.
func NewStage(a *Assessor, r Records, s environment.States) *Stage {
	return &Stage{assessor: a, records: r, states: s}
}

// Depends leaves out logs and messages, which differ between equal proofs.
func (s *Stage) Depends(p schemas.Proof) any { return p.Stable() }

// Run assesses the tests of one proof. It rejects nothing. The layers that the proof left are free
// afterwards.
func (s *Stage) Run(ctx context.Context, p schemas.Proof) (out schemas.Adequacy, err error) {
	defer func() { err = errors.Join(err, s.assessor.outside.Builder.Release(ctx, p.StartID)) }()
	start, err := s.records.Start(p.StartID)
	if err != nil {
		return schemas.Adequacy{}, err
	}
	provisioned, err := s.records.Provisioned(p.StartID)
	if err != nil {
		return schemas.Adequacy{}, err
	}
	trees, err := s.states.Of(ctx, start)
	if err != nil {
		return schemas.Adequacy{}, err
	}
	env := provisioned.Environment
	env.Recipe = env.Recipe.Settled(p)
	c, err := s.assessor.outside.Prepare(ctx, start, trees, env)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		// Its proof was made in this environment: that it cannot be had again is no
		// property of the task.
		return schemas.Adequacy{}, fmt.Errorf("making the environment of a proof again: %s: %s", rejected.Reason, rejected.Detail())
	}
	if err != nil {
		return schemas.Adequacy{}, err
	}
	if start.Masked != nil {
		return s.assessor.Cover(ctx, c, p)
	}
	return s.assessor.Assess(ctx, c, p)
}
