package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

func newRetry(p *program) *cobra.Command {
	var failed bool
	var stage string
	cmd := &cobra.Command{
		Use: "retry [ID…]", Short: "failed or rejected items once more, by the next run",
		Long: "Marks items so that the next run does them once more: the IDs given, else all that were\nrejected or failed; --failed leaves the rejected ones out, --stage S the other stages.\nA stage that is done is repeated only where both an ID and --stage name it.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !failed && stage == "" {
				return &usageError{errors.New("retry: give IDs, --failed or --stage S")}
			}
			if stage != "" && !slices.Contains(stages.Order, stage) {
				return unknownStage("--stage", stage)
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			s, err := openShelf(c)
			if err != nil {
				return err
			}
			n, err := s.retry(args, failed, stage)
			if err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(map[string]int{"marked": n})
			}
			t := p.out()
			t.line("%s marked; the next run does them once more", plural(n, "step"))
			return t.err
		},
	}
	cmd.Flags().BoolVar(&failed, "failed", false, "only what failed")
	cmd.Flags().StringVar(&stage, "stage", "", "only at stage `S`")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	return cmd
}

func unknownStage(flag, stage string) error {
	hint := nearest.Hint(stage, stages.Order)
	if hint == "" {
		hint = " (known: " + strings.Join(stages.Order, ", ") + ")"
	}
	return unmet("%s: unknown stage %q%s", flag, stage, hint)
}

// retry marks steps, under the lock: a run that settles the same step at the same
// moment would lose the mark.
func (s *shelf) retry(words []string, failedOnly bool, stage string) (n int, err error) {
	ids := map[string]bool{}
	for _, w := range words {
		id, err := s.find(w)
		if err != nil {
			return 0, err
		}
		ids[id] = true
	}
	if err := s.Lock(); err != nil {
		return 0, lockedOr(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, name := range stages.Order {
		if stage != "" && name != stage {
			continue
		}
		steps, err := s.Steps(name)
		if err != nil {
			return n, err
		}
		for _, step := range steps {
			if len(ids) > 0 && !ids[step.Key] || !wanted(step, failedOnly, stage != "" && len(ids) > 0) {
				continue
			}
			if err := s.mark(step); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func wanted(s schemas.Step, failedOnly, doneToo bool) bool {
	switch s.State {
	case schemas.StepFailed, schemas.StepDeferred:
		return true
	case schemas.StepRejected:
		return !failedOnly
	}
	return doneToo && !failedOnly
}

// mark asks for a step once more, and for the shared build that it rests on.
func (s *shelf) mark(step schemas.Step) error {
	step.Again = true
	if err := s.Put(step); err != nil {
		return err
	}
	if step.Stage != stages.Provision {
		return nil
	}
	i, err := s.item(step.Key)
	if err != nil || i.known == nil {
		return err
	}
	build, ok, err := s.Step(stages.Provision+".build", string(i.known.Key))
	if err != nil || !ok || build.State == schemas.StepDone {
		return err
	}
	build.Again = true
	return s.Put(build)
}

// lockedOr says that nothing was started where another run has the store.
func lockedOr(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return &ended{exitUsage, err}
	}
	return err
}
