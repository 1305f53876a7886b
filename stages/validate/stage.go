package validate

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Records joins what earlier stages left.
type Records interface {
	Start(id string) (schemas.Start, error)
	Origin(id string) (schemas.Origin, error)
}

// Sources are what a Stage collects a proof's material from.
type Sources struct {
	Records Records
	States  environment.States
	History environment.History
}

// Stage is a validator in a run.
type Stage struct {
	validator *Validator
	sources   Sources
}

var _ pipeline.Stage[schemas.Provisioned, schemas.Proof] = (*Stage)(nil)

// NewStage makes the stage.
func NewStage(v *Validator, s Sources) *Stage { return &Stage{validator: v, sources: s} }

// Run proves one start. A reject keeps the proof, as far as it came, as its evidence.
func (s *Stage) Run(ctx context.Context, in schemas.Provisioned) (schemas.Proof, error) {
	m, err := s.material(ctx, in)
	if err != nil {
		return schemas.Proof{}, err
	}
	proof, err := s.validator.Prove(ctx, m)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		b, encodeErr := schemas.Canonical(proof)
		if encodeErr != nil {
			return proof, errors.Join(err, encodeErr)
		}
		if rejected.Evidence, encodeErr = s.validator.Blobs.Put(b); encodeErr != nil {
			return proof, fmt.Errorf("keeping the evidence of %w: %w", err, encodeErr)
		}
	}
	return proof, err
}

func (s *Stage) material(ctx context.Context, in schemas.Provisioned) (Material, error) {
	start, err := s.sources.Records.Start(in.StartID)
	if err != nil {
		return Material{}, err
	}
	origin, err := s.sources.Records.Origin(in.StartID)
	if err != nil {
		return Material{}, err
	}
	version, err := s.sources.History.Describe(ctx, start.Repo, start.Base)
	if err != nil {
		return Material{}, fmt.Errorf("describing the base: %w", err)
	}
	m := Material{Start: start, Environment: in.Environment, Version: version.Tag}
	if c := origin.Change; c != nil {
		m.Statement = prose.Plain(c.Subject, c.Body)
	}
	m.Trees, err = s.sources.States.Of(ctx, start)
	return m, err
}
