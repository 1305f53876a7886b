package main

import (
	"errors"
	"path/filepath"

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
			if err := printLint(p.terminal, args[0], findings); err != nil {
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

func printLint(t *terminal, dir string, findings []output.Finding) error {
	if t.json {
		return t.writeJSON(append([]output.Finding{}, findings...))
	}
	o := t.out()
	for _, f := range findings {
		o.line("%s", visible(f.String()))
	}
	if len(findings) == 0 {
		o.line("%s: %s", dir, o.in(green, "holds"))
	} else {
		o.line("%s: %s", dir, o.in(red, plural(len(findings), "finding")))
	}
	return o.err
}
