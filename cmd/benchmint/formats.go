package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output/formats"
)

// formatFlags are the flags of export that write a dataset for other programs.
type formatFlags struct {
	name, to string
}

func formatNames() []string {
	var out []string
	for _, f := range formats.All() {
		out = append(out, f.Name())
	}
	return out
}

// format finds a format by its name.
func format(name string) (formats.Format, error) {
	for _, f := range formats.All() {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, &usageError{fmt.Errorf("--format %q is not one of %s%s", name, strings.Join(formatNames(), ", "), nearest.Hint(name, formatNames()))}
}

// exportAs writes a dataset in another format. Tasks that the format cannot express are no
// failure: nothing that could be done was left.
func (p *program) exportAs(cmd *cobra.Command, f formatFlags, args []string) error {
	if f.name == "" {
		return &usageError{errors.New("--to goes with --format")}
	}
	to, err := format(f.name)
	if err != nil {
		return err
	}
	if f.to == "" {
		return &usageError{errors.New("--format wants --to FOLDER")}
	}
	for _, other := range []string{"store", "replace", "verify"} {
		if cmd.Flags().Changed(other) {
			return &usageError{fmt.Errorf("--%s cannot be combined with --format", other)}
		}
	}
	if len(args) > 1 {
		return &usageError{fmt.Errorf("--format takes one dataset, not %d", len(args))}
	}
	var dataset string
	if len(args) == 1 {
		dataset = args[0]
	} else {
		c, err := p.load()
		if err != nil {
			return err
		}
		dataset = c.Output
	}
	d, _, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	r, err := formats.Export(f.to, d, to)
	if errors.Is(err, formats.ErrNotEmpty) {
		return unmet("--to %w", err)
	}
	if err != nil {
		return err
	}
	return p.printFormat(r)
}

func (p *program) printFormat(r formats.Result) error {
	for _, x := range r.Refused {
		p.say("%s: not in %s: %s", visible(x.InstanceID), r.Format, visible(x.Reason))
	}
	if p.json {
		return p.writeJSON(r)
	}
	t := p.out()
	t.line("%s  %s (%s)", r.Format, r.Folder, plural(r.Written, "task"))
	if len(r.Refused) > 0 {
		t.line("refused   %s (said above)", plural(len(r.Refused), "task"))
	}
	return t.err
}
