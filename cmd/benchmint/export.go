package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// huggingFace stands for all formats that its library reads.
const huggingFace = verify.HuggingFaceName

func newExport(p *program) *cobra.Command {
	var check []string
	var f formatFlags
	cmd := &cobra.Command{
		Use: "export [SOURCE…]", Short: "write the dataset again from the store, or in another format",
		Long: "Writes the dataset of what the store holds, as the last run would have: no other stage is run, no\nsandbox is opened. A row that is in the folder leaves it only where its change was rejected, or with\n--replace. With --verify it is then opened with the programs that people open it with\n(Hugging Face datasets, got once with uv), and every row is compared.\n\n" +
			"With --format the dataset of a folder (the argument, else the configured output) is written for other\nprograms, and no store is read. A task that a format cannot express is named with the reason and counted; the\nothers are written. --verify swebench, harbor or inspect has the real client judge every task of such a\nfolder, or of a temporary one without --format: gold patches resolve, doing nothing and forging the results do\nnot. It makes the images. --verify commit0 opens such a folder with the code of Commit0's harness.",
		Example: "  benchmint export\n  benchmint export --format swebench --to swebench-out benchmint-out\n  benchmint export --verify harbor benchmint-out",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.name != "" || f.to != "" || judges(check) || slices.Contains(check, verify.Commit0Name) || cmd.Flags().Changed("split") {
				return p.exportAs(cmd, f, check, args)
			}
			formats, err := formatsOf(check)
			if err != nil {
				return err
			}
			c, err := p.load(args...)
			if err != nil {
				return err
			}
			return p.export(cmd.Context(), c, formats)
		},
	}
	p.override(cmd, "output", "output", "`FOLDER` of the dataset")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	p.override(cmd, "reviews", "reviews", reviewsUsage)
	p.set(cmd)
	cmd.Flags().BoolVar(&p.replace, "replace", false, replaceUsage)
	cmd.Flags().StringVar(&f.name, "format", "", "`FORMAT` to write a dataset in: "+strings.Join(formatNames(), ", "))
	cmd.Flags().StringVar(&f.split, "split", output.All, "`SPLIT` of libraries to write, with --format: lite (few functions to write), or all")
	cmd.Flags().StringVar(&f.to, "to", "", "`FOLDER` to write to, with --format; it must be new or empty")
	cmd.Flags().StringSliceVar(&check, "verify", nil, "`FORMAT`,… to check with the real client: "+strings.Join(knownFormats(), ", "))
	return cmd
}

func knownFormats() []string {
	return slices.Concat([]string{huggingFace}, verify.Formats, verify.Judges, []string{verify.Commit0Name})
}

// formatsOf are the formats behind the words; nil is none.
func formatsOf(words []string) ([]string, error) {
	var out []string
	for _, w := range words {
		switch {
		case w == huggingFace:
			out = append(out, verify.Formats...)
		case slices.Contains(verify.Formats, w):
			out = append(out, w)
		case slices.Contains(verify.Judges, w):
			return nil, &usageError{fmt.Errorf("--verify %s cannot be combined with %s: the one judges tasks, the other reads rows", w, strings.Join(words, ","))}
		default:
			return nil, &usageError{fmt.Errorf("--verify %q is not one of %s%s", w, strings.Join(knownFormats(), ", "), nearest.Hint(w, knownFormats()))}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Index(verify.Formats, a) - slices.Index(verify.Formats, b) })
	return slices.Compact(out), nil
}

// exportResult is the end of an export for scripts.
type exportResult struct {
	Dataset string         `json:"dataset"`
	Rows    int            `json:"rows"`
	Open    int            `json:"open"`
	Short   []string       `json:"balance_missing,omitempty"` // values of the mix that lack tasks
	Verify  *verify.Result `json:"verify,omitempty"`
}

func (p *program) export(ctx context.Context, c *config.Config, formats []string) error {
	if err := p.reviews.read(c.Reviews); err != nil {
		return err
	}
	if err := p.redrain(ctx, c); err != nil {
		return err
	}
	if err := p.reviews.sayUnused(p.terminal, c); err != nil {
		return err
	}
	m, err := output.ReadManifest(c.Output)
	if err != nil {
		return err
	}
	r := exportResult{Dataset: filepath.Clean(c.Output), Rows: m.Counts.Tasks, Open: m.Counts.Open, Short: m.Balance.Missing()}
	if len(formats) > 0 {
		if err := p.useCache(ctx); err != nil {
			return &ended{exitUsage, err}
		}
		r.Verify = &verify.Result{}
		for _, s := range m.Splits {
			seen, err := verify.HuggingFace(ctx, c.Output, s.Name, formats, p.machine(c).clients())
			if errors.Is(err, verify.ErrNoClient) {
				return &ended{exitUsage, err}
			}
			if err != nil {
				return err
			}
			r.Verify.Client, r.Verify.Rows, r.Verify.Formats = seen.Client, r.Verify.Rows+seen.Rows, append(r.Verify.Formats, seen.Formats...)
		}
	}
	if err := r.print(p.terminal); err != nil {
		return err
	}
	switch {
	case r.Verify != nil && !r.Verify.Equal():
		return &ended{code: exitFailed}
	case r.Open > 0:
		return &ended{code: exitDeferred}
	}
	return nil
}

// redrain writes the dataset.
func (p *program) redrain(ctx context.Context, c *config.Config) (err error) {
	s, err := openShelf(ctx, p.world, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := places(c, ""); err != nil {
		return err
	}
	if err := s.Lock(); err != nil {
		return lockedOr(err)
	}
	if err := s.SameBlobs(); err != nil {
		return &ended{exitUsage, err}
	}
	// The store's own sources, not those of the configuration: what it holds came from them.
	in := *c
	if in.AsOf, err = asOf(s.Store); err != nil { // it stands in the manifest
		return err
	}
	said := in
	if in.Sources, err = noted(s.config.Store); err != nil {
		return err
	}
	if c = &in; len(said.Sources) > 0 {
		c = &said
	}
	finder := p.finder(&in)
	finder.Again = true // rows of sources that are gone are carried on, as refresh does it
	repos, err := finder.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repos.Close()) }()
	if _, _, err := repos.Leaving(ctx); err != nil {
		return err
	}
	kind, err := s.Fix("sandbox", "") // what the run was begun with: it stands in the manifest
	if err != nil {
		return err
	}
	plan, err := p.plan(ctx, c, s.Store, repos, &workshop{kind: kind, builder: idleBuilder(c)})
	if err != nil {
		return &ended{exitUsage, err}
	}
	_, err = plan.Redrain(ctx, s)
	if errors.Is(err, gitrepo.ErrRemote) {
		return &ended{exitDeferred, err}
	}
	var outdated *pipeline.OutdatedError
	if errors.As(err, &outdated) {
		return &ended{exitDeferred, fmt.Errorf("dataset not written: %w; benchmint run makes them and writes it", err)}
	}
	return err
}

// noted are the sources of a store as its runs noted them.
func noted(place string) ([]config.Source, error) {
	notes, err := sources.ReadNotes(place)
	if err != nil {
		return nil, err
	}
	var out []config.Source
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		out = append(out, config.Source{Git: notes[name], Name: name})
	}
	if len(out) == 0 {
		return nil, unmet("the store at %s does not say where its sources lie; benchmint export SOURCE…", place)
	}
	return out, nil
}

func (r exportResult) print(to *terminal) error {
	if to.json {
		return to.writeJSON(r)
	}
	t := to.out()
	t.line("dataset  %s (%s)", r.Dataset, plural(r.Rows, "row"))
	t.line("check    %s", t.in(green, "holds"))
	for _, x := range r.Short {
		t.line("balance  %s", visible(x))
	}
	if r.Open > 0 {
		t.line("open     %s: benchmint run goes on with them", plural(r.Open, "item"))
	}
	if r.Verify != nil {
		printVerified(t, *r.Verify)
	}
	return t.err
}

func printVerified(t *printer, r verify.Result) {
	if len(r.Formats) == 0 {
		t.line("verify   no rows: there is nothing that a client could open")
		return
	}
	for _, f := range r.Formats {
		if f.Difference == "" {
			t.line("verify   %s: %s, %s (%s)", f.Format, plural(f.Rows, "row"), t.in(green, "equal"), r.Client)
			continue
		}
		t.line("verify   %s: %s (%s)", f.Format, t.in(red, "differs"), r.Client)
		t.block(f.Difference)
	}
}

var _ pipeline.Store = (*shelf)(nil)

// replaceUsage is the help of --replace.
const replaceUsage = "remove rows of the existing dataset even if no verdict rejects them"
