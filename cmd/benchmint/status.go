package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// tally is how the items of one stage stand in the store.
type tally struct {
	Stage    string                 `json:"stage"`
	Done     int                    `json:"done"`
	Rejected map[schemas.Reason]int `json:"rejected"`
	Deferred int                    `json:"deferred"`
	Failed   int                    `json:"failed"`
	Open     int                    `json:"open"` // to be done by the next run
	MS       int64                  `json:"ms"`
	Spent    []pipeline.Spend       `json:"spent,omitempty"` // on models
}

func newStatus(p *program) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "status [URL]", Short: "print the funnel: per stage done, rejected by reason, deferred, failed, time and model costs", Args: argsOf(cobra.MaximumNArgs(1)),
		Long:    "Prints how the items of a store stand. With the URL of a run that listens (run --listen), from any machine:\nits workers as well, and what each of them does.",
		Example: "  benchmint status\n  BENCHMINT_TOKEN_FILE=token benchmint status nats://HOST:4222 --watch",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				return farStatus{p.terminal, args[0]}.print(cmd.Context(), watch)
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			s, err := openShelf(cmd.Context(), p.world, c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if watch {
				return statusPage{p.terminal, s, c}.watch(cmd.Context())
			}
			return statusPage{p.terminal, s, c}.print(cmd.Context())
		},
	}
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	cmd.Flags().BoolVar(&watch, "watch", false, "print it again every two seconds, with what runs now and the time left, until interrupted")
	return cmd
}

// statusPage is what status prints.
type statusPage struct {
	*terminal
	*shelf
	config *config.Config
}

// watch prints the funnel again and again: in place where a person reads it,
// below the last one elsewhere.
func (s statusPage) watch(ctx context.Context) error {
	view := newScreen(s.stdout)
	for {
		var page bytes.Buffer
		world, reader := *s.world, *s.terminal
		if view != nil {
			world.stdout = &page
		}
		reader.world = &world
		now := statusPage{&reader, s.shelf, s.config}
		if err := errors.Join(now.print(ctx), now.printNow(ctx)); err != nil {
			return err
		}
		if view != nil {
			if err := view.show(strings.Split(strings.TrimRight(page.String(), "\n"), "\n")); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

// printNow is what runs now and how long the rest will take, where that can be told.
func (s statusPage) printNow(ctx context.Context) error {
	if s.json {
		return nil
	}
	running, err := s.Running(ctx)
	if err != nil {
		return err
	}
	funnel, err := s.funnel(ctx)
	if err != nil {
		return err
	}
	t := s.out()
	t.line("")
	const most = 8
	for i, r := range running {
		if i == most {
			t.line("now  and %d more", len(running)-most)
			break
		}
		t.line("now  %-16s %s", r.Stage, visible(name(r.Key)))
	}
	if len(running) == 0 {
		t.line("now  nothing runs")
	}
	if left, ok := timeLeft(funnel, s.config.Proof.Parallel); ok && len(running) > 0 {
		t.line("left about %s", left.Round(time.Second))
	}
	return t.err
}

func (s statusPage) print(ctx context.Context) error {
	funnel, err := s.funnel(ctx)
	if err != nil {
		return err
	}
	spends, err := s.Spending(ctx, llm.Resource)
	if err != nil {
		return err
	}
	if s.json {
		return s.writeJSON(withSpending(funnel, spends))
	}
	t := s.out()
	t.funnel(funnel)
	return errors.Join(t.err, s.printSpending(ctx, spends))
}

// funnel prints how the items stand at each stage.
func (t *printer) funnel(funnel []tally) {
	t.line("%-16s %6s %9s %9s %7s %9s", "stage", "done", "rejected", "deferred", "failed", "time")
	for _, n := range funnel {
		rejected := 0
		for _, count := range n.Rejected {
			rejected += count
		}
		t.line("%-16s %6d %9d %9d %7d %9s", n.Stage, n.Done, rejected, n.Deferred, n.Failed, (time.Duration(n.MS) * time.Millisecond).Round(100*time.Millisecond))
		for _, reason := range slices.Sorted(maps.Keys(n.Rejected)) {
			t.line("  %-32s %d", reason, n.Rejected[reason])
		}
		if n.Open > 0 {
			t.line("  %-32s %d", "to be done", n.Open)
		}
	}
}

// funnel is how the steps of the store stand, in the order of stages: the store
// keeps count, so that a million of them are not read.
func (s *shelf) funnel(ctx context.Context) ([]tally, error) {
	tallies, err := s.Tallies(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]*tally{}
	for _, t := range tallies {
		if by[t.Stage] == nil {
			by[t.Stage] = &tally{Stage: t.Stage, Rejected: map[schemas.Reason]int{}}
		}
		by[t.Stage].add(t)
	}
	var out []tally
	for _, stage := range append(slices.Clone(stages.Order), stages.Grade, stages.Reprove) {
		for _, name := range []string{stage + ".build", stage} {
			if by[name] != nil && stage != stages.Export { // it has no items of its own
				out = append(out, *by[name])
			}
		}
	}
	return out, nil
}

func (t *tally) add(s pipeline.Tally) {
	t.MS += s.MS
	switch s.State {
	case schemas.StepDone:
		t.Done += s.N
	case schemas.StepRejected:
		t.Rejected[s.Reason] += s.N
	case schemas.StepDeferred:
		t.Deferred += s.N
	case schemas.StepFailed:
		t.Failed += s.N
	case schemas.StepReady, schemas.StepRunning, schemas.StepWaiting:
		t.Open += s.N
	}
}

// reasons is "link/no_tests 3, validate/no_f2p 1", the commonest first.
func reasons(by map[schemas.Reason]int) string {
	all := slices.SortedFunc(maps.Keys(by), func(a, b schemas.Reason) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(string(a), string(b))
	})
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = fmt.Sprintf("%s %d", r, by[r])
	}
	return strings.Join(words, ", ")
}
