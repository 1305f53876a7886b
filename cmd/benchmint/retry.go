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
		Use: "retry [ID…]", Short: "mark failed or rejected items for the next run to try again",
		Long: "Marks items so that the next run does them once more: the IDs given, those that failed (--failed),\nthose that failed or were rejected at one stage (--stage S), or what several of these have in common.\nA stage that is done is repeated only where both an ID and --stage name it.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 && !failed && stage == "" {
				return &usageError{errors.New("retry: give IDs, --failed or --stage S")}
			}
			stage, reason, err := stageAndReason(stage)
			if err != nil {
				return err
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
			n, err := s.retry(args, failed, stage, reason)
			if err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(map[string]int{"marked": n})
			}
			t := p.out()
			switch {
			case n == 1:
				t.line("1 step marked; the next run does it once more")
			case n > 1:
				t.line("%d steps marked; the next run does them once more", n)
			case len(args) > 0 && stage == "" && !failed:
				t.line("nothing marked: what is done is repeated with --stage S (%s)", strings.Join(stages.Order, ", "))
			default:
				t.line("nothing marked: no step matches")
			}
			return t.err
		},
	}
	cmd.Flags().BoolVar(&failed, "failed", false, "only what failed")
	cmd.Flags().StringVar(&stage, "stage", "", "only at stage `S`, or for one reason as status prints it (classify/label)")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	return cmd
}

// stageAndReason reads --stage: a stage, a build of one (provision.build), or a reason of
// rejects (classify/label), which belongs to the stage that gives it.
func stageAndReason(word string) (stage string, reason schemas.Reason, err error) {
	for _, r := range schemas.Reasons {
		if string(r.Reason) == word {
			stage, _, _ = strings.Cut(word, "/")
			return stage, r.Reason, nil
		}
	}
	stage = strings.TrimSuffix(word, ".build")
	if stage != "" && !slices.Contains(stages.Order, stage) {
		var known []string
		for _, r := range schemas.Reasons {
			known = append(known, string(r.Reason))
		}
		if hint := nearest.Hint(word, known); strings.Contains(word, "/") && hint != "" {
			return "", "", unmet("--stage: unknown reason %q%s", word, hint)
		}
		return "", "", unknownStage("--stage", stage)
	}
	return stage, "", nil
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
func (s *shelf) retry(words []string, failedOnly bool, stage string, reason schemas.Reason) (n int, err error) {
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
	for _, name := range stages.Order {
		if stage != "" && name != stage && !(reason != "" && gives(name, reason)) {
			continue
		}
		steps, err := s.Steps(name)
		if err != nil {
			return n, err
		}
		for _, step := range steps {
			if len(ids) > 0 && !ids[step.Key] || reason != "" && step.Reason != reason || !wanted(step, failedOnly, stage != "" && len(ids) > 0) {
				continue
			}
			if err := s.Retry(step.Stage, step.Key); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// gives reports whether steps of a stage can end for a reason: most of a stage's own name,
// a few of the stage before it.
func gives(stage string, reason schemas.Reason) bool {
	of, _, _ := strings.Cut(string(reason), "/")
	return of == stage || !slices.Contains(stages.Order, of) || of == stages.Provision && stage == stages.Resolve
}

func wanted(s schemas.Step, failedOnly, doneToo bool) bool {
	switch s.State {
	case schemas.StepFailed, schemas.StepDeferred:
		return true
	case schemas.StepRejected:
		return !failedOnly
	}
	return s.State == schemas.StepDone && doneToo && !failedOnly
}

// lockedOr says that nothing was started where another run has the store.
func lockedOr(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return &ended{exitUsage, err}
	}
	return err
}
