package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	Again    int                    `json:"again"` // asked for once more by retry
	MS       int64                  `json:"ms"`
}

func newStatus(p *program) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "status", Short: "the funnel: per stage done, rejected by reason, deferred, failed, time", Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			s, err := openShelf(c)
			if err != nil {
				return err
			}
			for {
				if err := p.printStatus(s); err != nil || !watch {
					return err
				}
				select {
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				case <-time.After(2 * time.Second):
				}
			}
		},
	}
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	cmd.Flags().BoolVar(&watch, "watch", false, "print it again every two seconds, until interrupted")
	return cmd
}

func (p *program) printStatus(s *shelf) error {
	funnel, err := s.funnel()
	if err != nil {
		return err
	}
	if p.json {
		return p.writeJSON(funnel)
	}
	t := p.out()
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
		if n.Again > 0 {
			t.line("  %-32s %d", "asked for once more", n.Again)
		}
	}
	return t.err
}

// funnel counts the steps of the store, in the order of stages.
func (s *shelf) funnel() ([]tally, error) {
	var out []tally
	for _, stage := range stages.Order {
		for _, name := range []string{stage + ".build", stage} {
			steps, err := s.Steps(name)
			if err != nil {
				return nil, err
			}
			if len(steps) > 0 {
				out = append(out, count(name, steps))
			}
		}
	}
	return out, nil
}

func count(stage string, steps []schemas.Step) tally {
	t := tally{Stage: stage, Rejected: map[schemas.Reason]int{}}
	for _, s := range steps {
		t.MS += s.MS
		if s.Again {
			t.Again++
		}
		switch s.State {
		case schemas.StepDone:
			t.Done++
		case schemas.StepRejected:
			t.Rejected[s.Reason]++
		case schemas.StepDeferred:
			t.Deferred++
		case schemas.StepFailed:
			t.Failed++
		}
	}
	return t
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
