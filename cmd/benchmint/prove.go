package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	wall "github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/validate"
)

// proved is what proving one row again gave.
type proved struct {
	ID      string `json:"instance_id"`
	Same    bool   `json:"same"`
	Sandbox string `json:"sandbox"`
	// By list: in the row and not now, and the other way round.
	Missing map[string][]string `json:"missing,omitempty"`
	Extra   map[string][]string `json:"extra,omitempty"`
	End     schemas.StepState   `json:"end"`
	Reason  schemas.Reason      `json:"reason,omitempty"`
	Detail  string              `json:"detail,omitempty"`
}

func newProve(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prove DATASET [ID…]", Short: "prove tasks again from an exported dataset alone",
		Long: "Proves rows again from the dataset's folder alone: base tree and patches from the row, the recipe\nwith its lock from the task's folder. No source repository is read; the store is a fresh one.",
		Args: argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			d, rows, err := readRows(args[0], args[1:])
			if err != nil {
				return err
			}
			p.sayFormat(args[0], d.Manifest)
			if err := p.buildFrom(d); err != nil {
				return err
			}
			return prover{p.machine(c), d, rows}.prove(cmd.Context())
		},
	}
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to prove in: docker or bwrap (default: as the row says)")
	p.override(cmd, "runs", "proof.runs", "`N` whole suites in each state")
	return cmd
}

// readRows reads a dataset and picks the rows that are asked for; none is all.
func readRows(dir string, ids []string) (*output.Dataset, []output.Row, error) {
	d, err := output.Read(dir)
	if err != nil {
		return nil, nil, &ended{exitUsage, err}
	}
	var rows []output.Row
	for _, id := range ids {
		row, err := d.Row(id)
		if err != nil {
			return nil, nil, &ended{exitUsage, err}
		}
		rows = append(rows, row)
	}
	if len(ids) == 0 {
		for _, r := range d.Rows {
			rows = append(rows, r.Row)
		}
	}
	if len(rows) == 0 {
		return nil, nil, unmet("%s holds no tasks", dir)
	}
	return d, rows, nil
}

// prover proves rows again.
type prover struct {
	machine
	dataset *output.Dataset
	rows    []output.Row
}

// prove works in a store of its own that is gone afterwards: nothing that an
// earlier run left can stand in for a proof.
func (p prover) prove(ctx context.Context) (err error) {
	fresh, err := os.MkdirTemp("", "benchmint-prove-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(fresh)) }()
	results := []proved{}
	for _, kind := range kindsOf(p.config, p.rows) {
		done, err := p.proveIn(ctx, kind, filepath.Join(fresh, kind))
		results = append(results, done...)
		if err != nil {
			return err
		}
	}
	return p.sumUp(ctx, results, len(p.rows))
}

// kindsOf are the sandboxes that the rows are proved in: the one asked for, else
// each row's own.
func kindsOf(c *config.Config, rows []output.Row) []string {
	if c.Sandbox.Kind != "" {
		return []string{c.Sandbox.Kind}
	}
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, r.Benchmint.Sandbox)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func rowsOf(c *config.Config, kind string, rows []output.Row) []output.Row {
	if c.Sandbox.Kind != "" {
		return rows
	}
	var out []output.Row
	for _, r := range rows {
		if r.Benchmint.Sandbox == kind {
			out = append(out, r)
		}
	}
	return out
}

func languagesOf(rows []output.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Benchmint.Language)
	}
	return out
}

func (p prover) proveIn(ctx context.Context, kind, dir string) (done []proved, err error) {
	s, err := store.Open(ctx, dir, store.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rows, in := rowsOf(p.config, kind, p.rows), *p.config
	in.Sandbox.Kind = kind
	w, err := machine{p.terminal, &in}.openWorkshop(ctx, s, asksFor("there are rows", languagesOf(rows)...))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	v, err := validate.New(validate.Outside{Builder: w.builder, Blobs: s.Blobs}, validate.Config{Runs: p.config.Proof.Runs, Limits: p.config.Sandbox.Limits()})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if ctx.Err() != nil {
			return done, nil
		}
		p.say("proving %s in %s", row.InstanceID, kind)
		result := proveRow(ctx, v, w.kind, p.dataset, row)
		if result.End == schemas.StepInterrupted {
			return done, nil
		}
		done = append(done, result)
		if err := result.print(p.terminal); err != nil {
			return done, err
		}
	}
	return done, nil
}

func proveRow(ctx context.Context, v *validate.Validator, kind string, d *output.Dataset, row output.Row) proved {
	out := proved{ID: row.InstanceID, Sandbox: kind}
	task, err := grade.TaskOf(d, row, kind)
	var proof schemas.Proof
	if err == nil {
		proof, err = v.Prove(ctx, validate.Material{Start: task.Start, Trees: task.Trees, Environment: task.Environment, Statement: row.ProblemStatement, Version: row.Release()})
	}
	out.End = pipeline.EndOf(ctx, err)
	if err != nil {
		out.Detail = err.Error()
		var rejected *pipeline.Rejected
		if errors.As(err, &rejected) {
			out.Reason = rejected.Reason
		}
		return out
	}
	out.compare(row, proof)
	return out
}

// compare holds the two lists of a row against a new proof.
func (o *proved) compare(row output.Row, proof schemas.Proof) {
	o.Missing, o.Extra = map[string][]string{}, map[string][]string{}
	for _, l := range []struct {
		name string
		row  []string
		now  []string
	}{
		{"FAIL_TO_PASS", row.FailToPass, proof.List(schemas.F2P)},
		{"PASS_TO_PASS", row.PassToPass, proof.List(schemas.P2P)},
	} {
		if gone := without(l.row, l.now); len(gone) > 0 {
			o.Missing[l.name] = gone
		}
		// A test that the row quarantines may agree with itself this time: no news.
		// The statement of the row may give a name or a file that the change's own text did not.
		unstable := slices.Concat(row.Benchmint.Quarantined, row.Benchmint.UnstableIDs, row.Benchmint.SolutionFile, row.Benchmint.SolutionName)
		came := without(without(l.now, l.row), unstable)
		if c := row.Benchmint.Clock; c != nil {
			// Nor one that left the row's lists for the clock, where this machine shifts none.
			came = slices.DeleteFunc(came, func(id string) bool {
				_, exact := c.Tests[id]
				_, dated := c.Tests[wall.Undated(id)]
				return proof.Clock != nil && proof.Clock.Not != "" && (exact || dated)
			})
		}
		if len(came) > 0 {
			o.Extra[l.name] = came
		}
	}
	o.Same = len(o.Missing)+len(o.Extra) == 0
}

// without is a less b, sorted.
func without(a, b []string) []string {
	in := map[string]bool{}
	for _, x := range b {
		in[x] = true
	}
	var out []string
	for _, x := range a {
		if !in[x] {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

func (o proved) print(to *terminal) error {
	if to.json {
		return nil // all at once, at the end
	}
	t := to.out()
	switch {
	case o.Same:
		t.line("%s  %s", t.in(green, "same     "), o.ID)
	case o.End != schemas.StepDone:
		t.line("%s  %s  %s", t.in(red, fmt.Sprintf("%-9s", o.End)), o.ID, o.Reason)
		t.block(tail(o.Detail, 20))
	default:
		t.line("%s  %s", t.in(red, "different"), o.ID)
	}
	for _, list := range []string{"FAIL_TO_PASS", "PASS_TO_PASS"} {
		for _, name := range o.Missing[list] {
			t.line("    - %s %s", list, visible(name))
		}
		for _, name := range o.Extra[list] {
			t.line("    + %s %s", list, visible(name))
		}
	}
	return t.err
}

// sumUp ends with how many held. A row that is not the same is a check that did
// not hold; a registry that did not answer is "later".
func (p prover) sumUp(ctx context.Context, results []proved, rows int) error {
	same, deferred := 0, 0
	for _, r := range results {
		switch {
		case r.Same:
			same++
		case r.End == schemas.StepDeferred:
			deferred++
		}
	}
	if p.json {
		if err := p.writeJSON(results); err != nil {
			return err
		}
	} else if err := printSum(p.terminal, same, rows); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &ended{code: exitInterrupted}
	case same == rows:
		return nil
	case same+deferred == rows:
		return &ended{code: exitDeferred}
	}
	return &ended{code: exitFailed}
}

func printSum(to *terminal, same, rows int) error {
	t := to.out()
	t.line("%d of %d the same", same, rows)
	return t.err
}
