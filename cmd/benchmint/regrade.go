package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
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
	tasks := grade.NewDataset(d, rows)
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
		if err := tasks.Regrade(step, s.Blobs, &out); err != nil {
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
	return p.sumUpEval(f, 0, pipeline.Summary{Drained: true, Stages: []pipeline.Count{{Failed: len(out.Faults)}}})
}
