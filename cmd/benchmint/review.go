package main

import (
	"bytes"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	htmlreport "github.com/benchmint/benchmint/output/report"
)

func newReview(p *program) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "review DATASET", Short: "write the page on which people accept or refuse the tasks of a dataset",
		Long:    "Writes the page of benchmint report with a form in each task: accept it, or refuse it with a code and a note.\nThe page needs no server and no network. It saves the file that the key reviews and --reviews read.",
		Example: "  benchmint review benchmint-out\n  benchmint export --reviews reviews-ana.csv,reviews-ben.csv",
		Args:    argsOf(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return p.review(args[0], to) },
	}
	cmd.Flags().StringVar(&to, "output", "review.html", "`FILE` of the page")
	return cmd
}

// reviewResult is the end of a review for scripts.
type reviewResult struct {
	Output string `json:"output"`
	Tasks  int    `json:"tasks"`
	Bytes  int    `json:"bytes"`
}

func (p *program) review(dataset, to string) error {
	d, err := p.readDataset(dataset)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := htmlreport.WriteForm(&page, d); err != nil {
		return &ended{exitUsage, err}
	}
	if err := blob.WriteFile(to, page.Bytes()); err != nil {
		return unmet("--output %s: %w", to, err)
	}
	r := reviewResult{filepath.Clean(to), len(d.Rows), page.Len()}
	if p.json {
		return p.writeJSON(r)
	}
	t := p.out()
	t.line("review   %s (%s, %s)", r.Output, plural(r.Tasks, "task"), plural(r.Bytes, "byte"))
	t.line("next     open it in a browser; then benchmint export --reviews FILE")
	return t.err
}
