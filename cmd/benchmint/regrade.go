package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/grade"
)

// regrade writes the report of an evaluation anew from what its runs said, with the lists of
// a dataset. A prediction for other trees or another recipe than those it was graded with
// has no verdict then.
func (p *program) regrade(ctx context.Context, c *config.Config, f evalFlags, dataset string) (err error) {
	d, rows, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	p.sayFormat(dataset, d.Manifest)
	e := &evaluation{dataset: d, rows: map[string]output.Row{}}
	for _, r := range rows {
		e.rows[r.InstanceID] = r
	}
	c.Store, c.Output = filepath.Join(f.output, "store"), f.output
	if !store.Exists(c.Store) {
		return unmet("--output %s holds no evaluation", f.output)
	}
	s, err := store.Open(ctx, c.Store, store.Options{Now: p.now})
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return lockedOr(err)
	}
	out := score.Evaluation{Dataset: d.Manifest.Name, Tasks: len(rows)}
	for step, err := range s.Each(stages.Grade) {
		if err != nil {
			return err
		}
		if err := e.again(step, s.Blobs, &out); err != nil {
			return err
		}
	}
	if len(out.Answers)+len(out.Faults) == 0 {
		return unmet("--output %s holds no grades", f.output)
	}
	ids := make([]string, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.InstanceID)
	}
	if err := out.Write(f.output, ids); err != nil {
		return err
	}
	return p.sumUpEval(f, e, pipeline.Summary{Drained: true, Stages: []pipeline.Count{{Failed: len(out.Faults)}}})
}

// again adds what becomes of one graded prediction.
func (e *evaluation) again(step schemas.Step, reports grade.Patches, out *score.Evaluation) error {
	made, ok := step.Output()
	if !ok || step.State != schemas.StepDone {
		return nil // without a verdict, it has no run to be scored; eval grades it
	}
	var saved schemas.Grade
	if err := json.Unmarshal(made.Record, &saved); err != nil {
		return fmt.Errorf("reading the grade of %s: %w", step.Key, err)
	}
	row, ok := e.rows[saved.Prediction.Instance]
	if !ok {
		out.Faults = append(out.Faults, score.Fault{Prediction: saved.Prediction, Why: "it is not a task of the dataset any more"})
		return nil
	}
	ground, digest, err := e.digests(row)
	if err != nil {
		return err
	}
	if saved.Prediction.Ground != ground && saved.Prediction.Task != digest {
		out.Faults = append(out.Faults, score.Fault{Prediction: saved.Prediction, Why: "the task has other trees or another recipe than it was graded with: benchmint eval grades it again"})
		return nil
	}
	if saved.Verdict == schemas.VerdictPatch && saved.Rules != grade.Version {
		out.Faults = append(out.Faults, score.Fault{Prediction: saved.Prediction, Why: "its patch was refused by another version, whose rules were others: benchmint eval grades it again"})
		return nil
	}
	proof, err := e.dataset.Proof(row.InstanceID)
	if err != nil {
		return err
	}
	task := grade.Task{FailToPass: testsOf(row.FailToPass, proof), PassToPass: testsOf(row.PassToPass, proof)}
	again, err := grade.Again(saved, task, reports)
	if err != nil {
		return err
	}
	out.Answers = append(out.Answers, score.Answer{Task: score.TaskOf(row), Grade: again})
	return nil
}
