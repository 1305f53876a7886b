package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/release"
)

func newDecontaminate(p *program) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "decontaminate DATASET --against FILE|FOLDER…", Short: "find tasks that stand in published datasets already", Args: argsOf(cobra.ExactArgs(1)),
		Long: "Holds each task of a dataset against those of others: SWE-bench and what has its columns, SWE-rebench,\nMulti-SWE-bench, SWE-smith, R2E-Gym, Commit0, Harbor, and our own datasets and releases. A set is a file\n(.jsonl, .json, .csv, .parquet, .gz) or a folder. Nothing of the dataset is changed; release takes tasks out.\n\n" +
			"Exit codes: 0 no task would be taken out; 1 one would, or a row of a set could not be read; 2 bad input.",
		Example: "  benchmint decontaminate benchmint-out --against swe-bench-verified.parquet --against theirs/\n  benchmint decontaminate benchmint-out --against lite.jsonl --alias acme/widgets=acme/widget",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			if len(c.Decontamination.Against) == 0 {
				return unmet("there is nothing to compare with: --against FILE, or decontamination.against in the configuration")
			}
			if file == "" {
				file = besideDataset(args[0])
			}
			return p.decontaminate(cmd.Context(), args[0], file, c.Decontamination.Against, c.Decontamination.Options())
		},
	}
	p.override(cmd, "against", "decontamination.against", "`FILE`,… or folders of published tasks")
	p.override(cmd, "alias", "decontamination.aliases", "`OLD=NEW`,…: names that repositories had before")
	p.override(cmd, "remove", "decontamination.remove", "`SHARE` of added lines or of the statement from which on a task is taken out")
	p.override(cmd, "label", "decontamination.label", "`SHARE` from which on a task is named")
	cmd.Flags().StringVar(&file, "write", "", "`FILE` of the hits (default: "+output.DecontaminationFile+" beside the dataset's folder)")
	return cmd
}

// readPublished reads what no change of a run may be.
func (p *program) readPublished(ctx context.Context, c *config.Config) (err error) {
	if p.published, err = contamination.Open(ctx, c.Decontamination.Against, c.Decontamination.Options()); err != nil {
		return unmet("decontamination.against: %w", err)
	}
	return nil
}

func besideDataset(dataset string) string {
	if abs, err := filepath.Abs(dataset); err == nil {
		dataset = abs
	}
	return filepath.Join(filepath.Dir(dataset), output.DecontaminationFile)
}

// decontaminated is the result for scripts.
type decontaminated struct {
	Tasks int                 `json:"tasks"`
	Sets  []contamination.Set `json:"sets"`
	Hits  []contamination.Hit `json:"hits"`
	// Removed and Labelled are instance IDs; one that is removed is not among those that are labelled.
	Removed  []string `json:"removed"`
	Labelled []string `json:"labelled"`
}

func (p *program) decontaminate(ctx context.Context, dataset, file string, against []string, o contamination.Options) error {
	ours, own, err := contamination.Load(ctx, dataset)
	if err != nil {
		return &ended{exitUsage, err}
	}
	if len(own.Bad) > 0 {
		return unmet("%s: %s", dataset, strings.Join(own.Bad, "\n"))
	}
	d := decontaminated{Tasks: len(ours), Sets: []contamination.Set{}, Hits: []contamination.Hit{}, Removed: []string{}, Labelled: []string{}}
	x := contamination.New(ours, o)
	for _, place := range against {
		set, hits, err := x.Against(ctx, place)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			return &ended{exitUsage, err}
		}
		d.Sets, d.Hits = append(d.Sets, set), append(d.Hits, hits...)
	}
	d.Removed, d.Labelled = contamination.Actions(d.Hits)
	lines, err := contamination.Encode(d.Hits)
	if err != nil {
		return err
	}
	if err := blob.WriteFile(file, lines); err != nil {
		return err
	}
	if p.json {
		err = p.writeJSON(d)
	} else {
		err = p.sayDecontaminated(d, file)
	}
	bad := slices.ContainsFunc(d.Sets, func(s contamination.Set) bool { return len(s.Bad) > 0 })
	if err == nil && (bad || len(d.Removed) > 0) {
		return &ended{code: exitFailed}
	}
	return err
}

func (p *program) sayDecontaminated(d decontaminated, file string) error {
	t := p.out()
	const most = 20
	for _, s := range d.Sets {
		t.line("set      %s: %s of %s, sha256 %s", visible(s.Name), plural(s.Rows, "row"), strings.Join(s.Families, ", "), s.SHA256[:12])
		if s.Itself > 0 {
			t.line("         %s of it are tasks of this dataset, as it published them", plural(s.Itself, "row"))
		}
		if len(s.Skipped) > 0 {
			t.line("         not read: %s", visible(strings.Join(s.Skipped, ", ")))
		}
		for _, b := range s.Bad[:min(most, len(s.Bad))] {
			t.line("bad      %s", visible(b))
		}
		if more := len(s.Bad) - most; more > 0 {
			t.line("bad      and %d more", more)
		}
	}
	for _, h := range d.Hits {
		t.line("%-8s %s  %s  %s %s  %.2f", h.Action, visible(h.InstanceID), h.Key, visible(h.Set.Name), visible(h.Known), h.Score)
		for _, e := range h.Evidence {
			t.line("           %s", visible(e))
		}
	}
	t.line("tasks    %d: %d would be removed, %d labelled", d.Tasks, len(d.Removed), len(d.Labelled))
	t.line("hits     %s", fmt.Sprintf("%d in %s", len(d.Hits), file))
	return t.err
}

// publishedOf are the hits of a task: those of the last decontaminate, and those of the newest version of the shelf.
func publishedOf(c *config.Config, id string) (out []contamination.Hit, err error) {
	files := []string{besideDataset(c.Output)}
	if s, err := release.Read(c.Releases); err == nil {
		if last, ok := s.Latest(); ok {
			files = append(files, filepath.Join(s.Path(last.Version), output.DecontaminationFile))
		}
	}
	for _, f := range files {
		hits, err := contamination.Decode(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, h := range hits {
			if h.InstanceID == id && !slices.ContainsFunc(out, func(o contamination.Hit) bool { return o.Set == h.Set && o.Known == h.Known && o.Key == h.Key }) {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// published are the tasks of other datasets that a task is.
func (t *printer) published(hits []contamination.Hit) {
	if len(hits) > 0 {
		t.line("\nIt stands in published datasets")
	}
	for _, h := range hits {
		t.line("  %s by %s: %s of %s (%.2f)", h.Action, h.Key, visible(h.Known), visible(h.Set.Name), h.Score)
		for _, e := range h.Evidence {
			t.line("    %s", visible(e))
		}
	}
}
