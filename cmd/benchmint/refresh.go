package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

func newRefresh(p *program) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "refresh [SOURCE…]", Short: "add what is new since the last run to the dataset",
		Long:    "Searches are asked again; what they found before stays. The window of each source keeps its first\nday, so that newer changes push no row out of the dataset. What is settled is not done again, and\nnothing is fetched twice. Tasks that are there are not proved again: a release copies them as published.\nA source that is gone or rewritten keeps its rows: the closing lines name it.\n\nWithout a SOURCE: those of the configuration, or else of the store.",
		Example: "  benchmint refresh\n  benchmint refresh -c benchmint.yaml\n  benchmint refresh --as-of 2026-01-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := p.load(args...)
			if err != nil {
				return err
			}
			if p.starts, err = began(cmd.Context(), p.world, c); err != nil {
				return err
			}
			if len(c.Sources) == 0 {
				if c.Sources, err = p.github.known(c); err != nil {
					return err
				}
			}
			p.refreshing = true
			return p.run(cmd.Context(), c, f)
		},
	}
	p.running(cmd, &f)
	return cmd
}

// began is the day of the oldest change that was taken of each source, by ID; where there was none,
// the first day of its window, "" for a window without one.
func began(ctx context.Context, w *world, c *config.Config) (days map[string]string, err error) {
	s, err := openShelf(ctx, w, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	days = map[string]string{}
	for step, err := range both(s.Each(stages.Harvest), s.Each(stages.Pair)) {
		if err != nil {
			return nil, err
		}
		for _, out := range step.Outputs {
			var change schemas.Change
			if err := json.Unmarshal(out.Record, &change); err != nil {
				return nil, fmt.Errorf("reading change %s: %w", out.Key, err)
			}
			if day := change.CommittedAt.UTC().Format(time.DateOnly); days[step.Key] == "" || day < days[step.Key] {
				days[step.Key] = day
			}
		}
		if days[step.Key] == "" { // nothing was in its window yet
			var crawled schemas.Crawled
			if err := json.Unmarshal(step.Record, &crawled); err != nil {
				return nil, fmt.Errorf("reading source %s: %w", step.Key, err)
			}
			days[step.Key] = crawled.Source.Since
		}
	}
	return days, nil
}

// both is one sequence after the other.
func both[K, V any](all ...iter.Seq2[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, seq := range all {
			for k, v := range seq {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

// known are the sources of the store, those on GitHub as such where it can be asked.
func (h *hub) known(c *config.Config) ([]config.Source, error) {
	all, err := noted(c.Store)
	if err != nil {
		return nil, err
	}
	for i, src := range all {
		name, ok := strings.CutPrefix(src.Git, h.server())
		if name = strings.TrimSuffix(name, ".git"); ok && sources.OwnerName.MatchString(name) && h.lookup(githubToken) != "" {
			all[i].GitHub = name
		}
	}
	return all, nil
}
