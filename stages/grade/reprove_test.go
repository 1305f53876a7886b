package grade

import (
	"context"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// fails is a grader whose verdicts come from a list.
type fails struct {
	verdicts []schemas.Verdict
	room     *semaphore.Weighted
	alone    []bool // of each grade, whether nothing else had room
}

func (f *fails) Under(_ context.Context, p schemas.Prediction, _ clock.Shift) (schemas.Grade, error) {
	free := f.room.TryAcquire(1)
	if free {
		f.room.Release(1)
	}
	f.alone = append(f.alone, !free)
	return schemas.Grade{Prediction: p, Verdict: f.verdicts[len(f.alone)-1]}, nil
}

// TestReproveAlone: a run with the task's own patch that fails beside others is told by one without any.
func TestReproveAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state    schemas.Answered
		parallel int
		verdicts []schemas.Verdict
		end      schemas.RerunEnd
		alone    []bool
	}{
		"passes_alone":    {schemas.AnsweredGold, 2, []schemas.Verdict{schemas.VerdictFail, schemas.VerdictPass}, schemas.RerunPasses, []bool{false, true}},
		"fails_alone_too": {schemas.AnsweredGold, 2, []schemas.Verdict{schemas.VerdictFail, schemas.VerdictFail}, schemas.RerunFails, []bool{false, true}},
		"passes":          {schemas.AnsweredGold, 2, []schemas.Verdict{schemas.VerdictPass}, schemas.RerunPasses, []bool{false}},
		"was_alone":       {schemas.AnsweredGold, 1, []schemas.Verdict{schemas.VerdictFail}, schemas.RerunFails, []bool{true}},
		"nothing_is_done": {schemas.AnsweredNop, 2, []schemas.Verdict{schemas.VerdictFail}, schemas.RerunFails, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewReprover(nil, map[string]output.Row{"a": {}}, ReproveConfig{Parallel: c.parallel})
			of := &fails{verdicts: c.verdicts, room: s.room}
			s.grader = of
			got, err := s.Run(t.Context(), schemas.Rerun{Answer: schemas.Prediction{Instance: "a", Patch: "sha256:x"}, State: c.state, Clock: schemas.OwnClock, Number: 1})
			if err != nil || got.End != c.end || len(of.alone) != len(c.alone) {
				t.Fatalf("%s after %d runs (%v), want %s after %d", got.End, len(of.alone), err, c.end, len(c.alone))
			}
			for i, alone := range c.alone {
				if of.alone[i] != alone {
					t.Errorf("run %d alone: %t", i+1, of.alone[i])
				}
			}
		})
	}
}
