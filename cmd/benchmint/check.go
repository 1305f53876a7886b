package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/output"
)

func newCheck(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "check DATASET", Short: "lint a dataset without running anything", Args: argsOf(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			findings, err := output.Check(args[0])
			if errors.Is(err, output.ErrNoDataset) {
				return unmet("%w%s", err, datasetAround(args[0]))
			}
			if err != nil {
				return err
			}
			if m, err := output.ReadManifest(args[0]); err == nil {
				p.sayFormat(args[0], m)
			}
			if err := p.printLint(args[0], findings); err != nil {
				return err
			}
			if len(findings) > 0 {
				return &ended{code: exitFailed}
			}
			return nil
		},
	}
}

// datasetAround is the dataset that a file belongs to, as a hint.
func datasetAround(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := output.ReadManifest(dir); err == nil {
			return "; did you mean " + dir + "?"
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// sayFormat tells what a dataset of an earlier version lacks.
func (p *program) sayFormat(dir string, m output.Manifest) {
	if lacks := m.Lacks(); len(lacks) > 0 {
		p.say("%s has the format %s: its rows have no %s", dir, m.Format, strings.Join(lacks, " and no "))
	}
}

func (p *program) printLint(dir string, findings []output.Finding) error {
	if p.json {
		return p.writeJSON(append([]output.Finding{}, findings...))
	}
	t := p.out()
	for _, f := range findings {
		t.line("%s", visible(f.String()))
	}
	if len(findings) == 0 {
		t.line("%s: %s", dir, t.in(green, "holds"))
	} else {
		t.line("%s: %s", dir, t.in(red, plural(len(findings), "finding")))
	}
	return t.err
}
