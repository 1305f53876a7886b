package main

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	htmlreport "github.com/benchmint/benchmint/output/report"
	"github.com/benchmint/benchmint/output/score"
)

// reportFlags are the flags of report.
type reportFlags struct {
	evals  []string
	output string
}

func newReport(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report DATASET", Short: "write one HTML page to review a dataset and its grades",
		Long:    "Writes one HTML page that needs nothing else: an overview with plots, a table of tasks with filters,\nand each task with its statement, patches, tests, recipe, environment and verdicts. Nothing is run.",
		Example: "  benchmint report benchmint-out\n  benchmint report benchmint-out --eval benchmint-eval --output graded.html",
		Args:    argsOf(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.report(f, args[0])
		},
	}
	cmd.Flags().StringArrayVar(&f.evals, "eval", nil, "`FOLDER` that benchmint eval wrote: its grades are shown; once or more")
	cmd.Flags().StringVar(&f.output, "output", "report.html", "`FILE` of the page")
	return cmd
}

// reportResult is the end of a report for scripts.
type reportResult struct {
	Output string `json:"output"`
	Tasks  int    `json:"tasks"`
	Grades int    `json:"grades"`
	Bytes  int    `json:"bytes"`
}

// gradesIn are those of an evaluation, with its patches where its store is there.
func gradesIn(dir string) (*score.Grades, error) {
	grades, err := score.Read(dir)
	if err != nil || !store.Exists(filepath.Join(dir, "store")) {
		return grades, err
	}
	blobs, err := blob.Open(filepath.Join(dir, "store", "blobs"))
	if err != nil {
		return nil, err
	}
	grades.PatchOf = blobs.Get
	return grades, nil
}

// readDataset reads the dataset of a page.
func (p *program) readDataset(dir string) (*output.Dataset, error) {
	d, err := output.Read(dir)
	if errors.Is(err, output.ErrNoDataset) {
		return nil, unmet("%w%s", err, datasetAround(dir))
	}
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	p.sayFormat(dir, d.Manifest)
	return d, nil
}

func (p *program) report(f reportFlags, dataset string) error {
	d, err := p.readDataset(dataset)
	if err != nil {
		return err
	}
	r := reportResult{Output: filepath.Clean(f.output), Tasks: len(d.Rows)}
	var grades *score.Grades
	for _, dir := range f.evals {
		one, err := gradesIn(dir)
		if err != nil {
			return unmet("--eval %s: %w", dir, err)
		}
		if grades == nil {
			grades = one
		} else if err := grades.Add(one); err != nil {
			return unmet("--eval %s: %w", dir, err)
		}
		r.Grades = len(grades.Lines)
	}
	var page bytes.Buffer
	if err := htmlreport.Write(&page, d, grades); err != nil {
		return &ended{exitUsage, err}
	}
	if err := blob.WriteFile(f.output, page.Bytes()); err != nil {
		return unmet("--output %s: %w", f.output, err)
	}
	r.Bytes = page.Len()
	if p.json {
		return p.writeJSON(r)
	}
	t := p.out()
	t.line("report   %s (%s, %s, %s)", r.Output, plural(r.Tasks, "task"), plural(r.Grades, "grade"), plural(r.Bytes, "byte"))
	if grades != nil {
		for _, l := range grades.ToReview() {
			t.line("look at  %s by %s, sample %d: passes, and uses %s", visible(l.Instance), visible(l.Model), l.Sample, visible(usesLine(l.Uses)))
		}
	}
	return t.err
}
