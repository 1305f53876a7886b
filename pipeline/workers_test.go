package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// TestNoBeatNoWork: engine, section 10: a process that cannot say that it lives
// stops before others take its steps, and settles nothing any more.
func TestNoBeatNoWork(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, out, start := virtual(t), &sink{}, time.Now()
			cut := make(chan struct{})
			plan := line(then(func(ctx context.Context, in word) (word, error) {
				<-ctx.Done()
				close(cut)
				return in, nil // as if it had got through
			}), pipeline.Options{}, out)
			lost := &noBeat{Store: s, hangs: hangs, from: start.Add(time.Minute)}
			_, err := plan.Run(t.Context(), lost, records("a"), silent{}, pipeline.RunOptions{Now: time.Now})
			<-cut
			if err == nil || !strings.Contains(err.Error(), "no sign of life") || time.Since(start) > time.Minute+15*time.Second {
				t.Errorf("ended after %s with %v", time.Since(start), err)
			}
			if step, _, _ := s.Step("work", "a"); step.State != schemas.StepRunning {
				t.Errorf("its result was settled as %s", step.State)
			}
		})
	}
}

// TestNothingIsBookedWithoutBeat: what waited for its turn to be settled when the
// worker was given up is not settled either.
func TestNothingIsBookedWithoutBeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, start := virtual(t), &sink{}, time.Now()
		slow := &noBeat{Store: s, from: start.Add(time.Second), takes: time.Minute}
		plan := line(then(func(_ context.Context, in word) (word, error) {
			if in.Text == "b" {
				time.Sleep(time.Second) // it comes while the other is being settled
			}
			return in, nil
		}), pipeline.Options{}, out)
		_, err := plan.Run(t.Context(), slow, records("a b"), silent{}, pipeline.RunOptions{Now: time.Now, Slots: 2})
		if step, _, _ := s.Step("work", "b"); err == nil || step.State != schemas.StepRunning {
			t.Errorf("%v; settled as %s", err, step.State)
		}
	})
}

// TestFrozen: a call that failed because the process stood still says nothing of the
// database: the worker goes on once it runs again.
func TestFrozen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, start := virtual(t), &sink{}, time.Now()
		plan := line(then(func(_ context.Context, in word) (word, error) {
			time.Sleep(10 * time.Minute)
			return in, nil
		}), pipeline.Options{}, out)
		frozen := &noBeat{Store: s, from: start.Add(time.Minute), frozen: 3 * time.Minute}
		if _, err := plan.Run(t.Context(), frozen, records("a"), silent{}, pipeline.RunOptions{Now: time.Now}); err != nil {
			t.Error(err)
		}
	})
}

// noBeat is a store whose beats fail from a time on, or hang until they are given up.
type noBeat struct {
	*store.Store
	from  time.Time
	hangs bool
	takes time.Duration // of the settling of work
	// frozen is how long the process stands still in the first call from then on; the next
	// get through.
	frozen time.Duration
}

func (n *noBeat) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	if len(all) > 0 && len(all[0].Outputs) == 1 {
		time.Sleep(n.takes)
	}
	return n.Store.Settle(ctx, all)
}

func (n *noBeat) Beat(ctx context.Context, worker string, silent time.Duration) (int, error) {
	switch {
	case time.Now().Before(n.from):
		return n.Store.Beat(ctx, worker, silent)
	case n.hangs:
		<-ctx.Done()
		return 0, ctx.Err()
	case n.frozen > 0:
		time.Sleep(n.frozen)
		n.from, n.frozen = time.Now().Add(time.Hour), 0
		return 0, ctx.Err()
	}
	return 0, errors.New("no route to the database")
}

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

// TestWorkersJoin: several take part in one run: each step is done once, nothing is
// drained early, and a plan that is another one is refused.
func TestWorkersJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, j := virtual(t), &sink{}, newJournal()
		var words []string
		for i := range 60 {
			words = append(words, fmt.Sprintf("w%02d", i))
		}
		plan := func(version string) *pipeline.Plan {
			return line(then(func(_ context.Context, in word) (word, error) {
				time.Sleep(time.Second)
				return in, nil
			}), pipeline.Options{Version: version}, out)
		}
		// The store is at this plan, and has no seeds yet.
		if err := s.Begin(t.Context(), pipeline.BeginOptions{Worker: pipeline.Worker{ID: "w0"}, Stages: plan("1").Infos()}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var helpers sync.WaitGroup
		for i := range 3 {
			helpers.Go(func() {
				sum := mustRun(t, t.Context(), plan("1"), s, j, pipeline.RunOptions{Slots: 2, Join: true, Worker: pipeline.Worker{ID: fmt.Sprint("w", i+1)}})
				if sum.Code() != 0 || !sum.Drained {
					t.Errorf("code %d, drained %t", sum.Code(), sum.Drained)
				}
			})
		}
		time.Sleep(5 * time.Second)
		if out.runs > 0 {
			t.Error("drained before there was anything")
		}
		mustRun(t, t.Context(), plan("1"), s, j, pipeline.RunOptions{Slots: 2, Worker: pipeline.Worker{ID: "w0"}}, strings.Join(words, " "))
		helpers.Wait()
		equal(t, "drained", words, out.got)
		for key, n := range j.began {
			if n != 1 {
				t.Errorf("%s was begun %d times", key, n)
			}
		}
		if took := time.Since(start); took > 20*time.Second { // 60 s of work for eight, and 5 s before it
			t.Errorf("took %s", took)
		}
		_, err := plan("2").Run(t.Context(), s, nil, j, pipeline.RunOptions{Now: time.Now, Join: true})
		if err == nil {
			t.Error("a worker with another plan took part")
		}
	})
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
