package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/formats"
)

// formatFlags are the flags of export that write a dataset for other programs.
type formatFlags struct {
	name, to string
	split    string // of output.Splits
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

// judges reports whether every word names a client that judges tasks, and there is one.
func judges(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(verify.Judges, w) })
}

// exportAs writes a dataset in another format. Tasks that the format cannot express are no
// failure: nothing that could be done was left.
func (p *program) exportAs(cmd *cobra.Command, f formatFlags, check, args []string) error {
	if f.name == "" && f.to != "" {
		return &usageError{errors.New("--to goes with --format")}
	}
	if err := checkable(f, check); err != nil {
		return err
	}
	clients := check
	if f.name != "" && len(check) == 0 {
		clients = []string{f.name}
	}
	var to []written
	for _, client := range clients {
		one, err := format(verify.FormatOf(client))
		if err != nil {
			return err
		}
		if client == verify.InspectName {
			one = formats.Inspect{}
		}
		to = append(to, written{one, client})
	}
	if f.name != "" && f.to == "" {
		return &usageError{errors.New("--format wants --to FOLDER")}
	}
	for _, other := range []string{"store", "replace"} {
		if cmd.Flags().Changed(other) {
			return &usageError{fmt.Errorf("--%s cannot be combined with --format", other)}
		}
	}
	if len(args) > 1 {
		return &usageError{fmt.Errorf("--format takes one dataset, not %d", len(args))}
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	dataset := c.Output
	if len(args) == 1 {
		dataset = args[0]
	}
	d, rows, err := readRows(dataset, nil)
	if err != nil {
		return err
	}
	d = d.Only(f.split)
	if rows = slices.DeleteFunc(rows, func(r output.Row) bool { return !r.In(f.split) }); len(d.Rows) == 0 && f.split != output.All {
		return unmet("no task of %s is in the split %s: a library with at most %d functions to write", dataset, f.split, output.LiteFunctions)
	}
	if len(check) == 0 {
		r, err := exported(f.to, d, to[0].Format)
		if err != nil {
			return err
		}
		return printFormat(p.terminal, r)
	}
	return p.machine(c).exportChecked(cmd.Context(), f, to, d, rows)
}

// written is a format for the client that is to open it.
type written struct {
	formats.Format
	client string
}

// checkable: what is written is opened by a client that reads it, and a split is one of those
// that there are.
func checkable(f formatFlags, check []string) error {
	switch {
	case !slices.Contains(output.Splits(), f.split):
		return &usageError{fmt.Errorf("--split %q is not one of %s%s", f.split, strings.Join(output.Splits(), ", "), nearest.Hint(f.split, output.Splits()))}
	case len(check) > 1 && slices.Contains(check, verify.Commit0Name):
		return &usageError{fmt.Errorf("--verify %s cannot be combined with others: %s", verify.Commit0Name, strings.Join(check, ","))}
	case f.name == "" && len(check) == 0:
		return &usageError{errors.New("--split goes with --format")}
	case f.name == "":
		return nil
	}
	if _, err := format(f.name); err != nil || len(check) == 0 {
		return err
	}
	switch {
	case f.name == (formats.RESQ{}).Name():
		return &usageError{errors.New("--verify: the client of RES-Q is in no package registry")}
	case len(check) > 1 || verify.FormatOf(check[0]) != f.name:
		return &usageError{fmt.Errorf("--verify %s does not go with --format %s: want --verify %[2]s", strings.Join(check, ","), f.name)}
	}
	return nil
}

func exported(to string, d *output.Dataset, f formats.Format) (formats.Result, error) {
	r, err := formats.Export(to, d, f)
	if errors.Is(err, formats.ErrNotEmpty) {
		return r, unmet("--to %w", err)
	}
	return r, err
}

func printFormat(to *terminal, r formats.Result) error {
	for _, task := range r.Refused {
		to.say("%s: not in %s: %s", visible(task.InstanceID), r.Format, visible(task.Reason))
	}
	if to.json {
		return to.writeJSON(r)
	}
	t := to.out()
	t.line("%s  %s (%s)", r.Format, r.Folder, plural(r.Written, "task"))
	if len(r.Refused) > 0 {
		t.line("refused   %s (said above)", plural(len(r.Refused), "task"))
	}
	return t.err
}
