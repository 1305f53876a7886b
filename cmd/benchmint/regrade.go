package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/internal/predictions"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/grade"
)

// regrade writes the report of an evaluation anew from what its runs said, with the lists of
// a dataset. A prediction for other trees or another recipe than those it was graded with
// has no verdict then.
func (e evaluator) regrade(ctx context.Context, dataset string) (err error) {
	d, rows, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	e.sayFormat(dataset, d.Manifest)
	tasks := grade.NewDataset(d, rows)
	e.config.Store, e.config.Output = filepath.Join(e.output, "store"), e.output
	if !store.Exists(e.config.Store) {
		return unmet("--output %s holds no evaluation", e.output)
	}
	s, err := store.Open(ctx, e.config.Store, store.Options{Now: e.now})
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return lockedOr(err)
	}
	reviews, err := score.ReadReviews(e.output)
	if err != nil {
		return &ended{exitUsage, err}
	}
	out := score.Evaluation{Program: ownVersion(), Dataset: d.Manifest.Name, Tasks: tasks.Scored(), Answered: e.answered, Known: e.known, Reviews: reviews}
	for step, err := range s.Each(stages.Grade) {
		if err != nil {
			return err
		}
		if err := tasks.Regrade(step, s.Blobs, &out); err != nil {
			return err
		}
	}
	if was, err := score.Read(e.output); err == nil { // what a harness got no answer for is in no step
		for _, l := range was.Lines {
			if strings.HasPrefix(l.Fault, predictions.NoAnswer) {
				out.Faults = append(out.Faults, score.Fault{Prediction: schemas.Prediction{Instance: l.Instance, Model: l.Model, Sample: l.Sample}, Why: l.Fault})
			}
		}
	}
	if len(out.Answers)+len(out.Faults) == 0 {
		return unmet("--output %s holds no grades", e.output)
	}
	if err := out.Write(e.output); err != nil {
		return err
	}
	return e.sumUp(0, pipeline.Summary{Drained: true, Stages: []pipeline.Count{{Failed: len(out.Faults)}}})
}
