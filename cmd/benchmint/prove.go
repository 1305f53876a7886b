package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
)

func newProve(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prove DATASET [ID…]", Short: "prove tasks again from an exported dataset alone, once",
		Long: "Proves rows again from the dataset's folder alone: with the task's own patch every listed test passes, and\nwith a patch that does nothing, or only forges results, it does not. Base tree and patches are from the\nrow, the recipe with its lock from the task's folder. No source repository is read; the store is a fresh\none, and nothing is kept. benchmint reprove does it for a whole dataset, on several days.",
		Args: argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			return reprover{machine: p.machine(c)}.once(cmd.Context(), args[0], args[1:])
		},
	}
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to prove in: docker or bwrap (default: as the row says)")
	p.override(cmd, "runs", "proof.runs", "`N` runs with the task's own patch")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` runs at one time")
	return cmd
}

// once works in a folder that is gone afterwards: nothing that an earlier run left can stand in
// for a proof.
func (r reprover) once(ctx context.Context, dataset string, ids []string) (err error) {
	fresh, err := os.MkdirTemp("", "benchmint-prove-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(fresh)) }()
	c := *r.config
	c.Wait = 0 // nobody sits before a registry that is silent: "later" is the answer
	r.machine = machine{r.terminal, &c}
	r.folder, r.ledger = fresh, filepath.Join(fresh, reproof.File)
	r.wanted = reproof.Wanted{Gold: r.config.Proof.Runs, Nop: 1, Forged: 1, Dates: 1}
	return r.prove(ctx, dataset, ids)
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
