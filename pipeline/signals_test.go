package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// TestSignals: engine, test 13.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, grace, hurry time.Duration // of a step; hurry counts from the first signal
		want                time.Duration // until the run ends
		kept                bool          // what ran has its result
	}{
		"within_grace":   {10 * time.Second, 30 * time.Second, 0, 9 * time.Second, true},
		"beyond_grace":   {time.Hour, 30 * time.Second, 0, 30 * time.Second, false},
		"no_grace":       {time.Hour, 0, 0, 0, false},
		"second_signal":  {time.Hour, time.Hour, 5 * time.Second, 5 * time.Second, false},
		"deaf_to_cancel": {-1, time.Second, 0, 6 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, out, hang := virtual(t), &sink{}, make(chan struct{})
				plan := line(then(func(ctx context.Context, in word) (word, error) {
					if c.takes < 0 {
						<-hang
						return in, nil
					}
					select {
					case <-time.After(c.takes):
						return in, nil
					case <-ctx.Done():
						return in, ctx.Err()
					}
				}), pipeline.Options{}, out)
				ctx, cancel := context.WithCancel(t.Context())
				hurry := make(chan struct{})
				var signalled time.Time
				time.AfterFunc(time.Second, func() {
					signalled = time.Now()
					cancel()
					if c.hurry > 0 {
						time.AfterFunc(c.hurry, func() { close(hurry) })
					}
				})
				sum := mustRun(t, ctx, plan, s, silent{}, pipeline.RunOptions{Slots: 3, Grace: c.grace, Hurry: hurry}, "a b c d e f g h")
				if took := time.Since(signalled); sum.Code() != 130 || took < c.want || took > c.want+100*time.Millisecond {
					t.Errorf("code %d after %s, want %s", sum.Code(), took, c.want)
				}
				tallies, _ := s.Tallies(t.Context())
				done := 0
				for _, x := range tallies {
					if x.State == schemas.StepRunning || x.State == schemas.StepFailed {
						t.Errorf("%d of %s are %s", x.N, x.Stage, x.State)
					}
					if x.Stage == "work" && x.State == schemas.StepDone {
						done = x.N
					}
				}
				if c.kept != (done == 3) || !c.kept && done > 0 {
					t.Errorf("%d results kept", done)
				}
				for _, key := range []string{"a", "h"} {
					if step, _, _ := s.Step("work", key); step.State == schemas.StepReady && step.Attempts != 0 {
						t.Errorf("%s: %d attempts counted", key, step.Attempts)
					}
				}
				close(hang)
				synctest.Wait()
				sum = mustRun(t, t.Context(), line(then(same), pipeline.Options{}, out), s, silent{}, pipeline.RunOptions{Slots: 3}, "a b c d e f g h")
				equal(t, "resumed", []string{"a", "b", "c", "d", "e", "f", "g", "h"}, out.got)
				if n := count(sum, "work").Executed; n != 8-done || sum.Code() != 0 {
					t.Errorf("%d executed, %d were done, code %d", n, done, sum.Code())
				}
			})
		})
	}
}

// TestTableAtOdds: work that nobody can start is a fault that is said, not a run
// that never ends.
func TestTableAtOdds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := hoarder{virtual(t)}, time.Now()
		_, err := line(then(same), pipeline.Options{}, &sink{}).Run(t.Context(), s, records("a"), silent{}, pipeline.RunOptions{Now: time.Now})
		if err == nil || !strings.Contains(err.Error(), "1 steps are open and no step can start") || time.Since(start) > time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// hoarder gives nothing out.
type hoarder struct{ *store.Store }

func (hoarder) Claim(context.Context, string, []pipeline.Want) ([]pipeline.Claim, error) {
	return nil, nil
}
