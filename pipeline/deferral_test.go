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

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// TestDeferral: engine, test 12, in virtual time.
func TestDeferral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out := virtual(t), &sink{}
		var mu sync.Mutex
		due, late := map[string]time.Time{}, []time.Duration{}
		plan := line(then(func(_ context.Context, in word) (word, error) {
			mu.Lock()
			defer mu.Unlock()
			if until, ok := due[in.Text]; ok {
				late = append(late, time.Since(until))
				return in, nil
			}
			due[in.Text] = time.Now().Add(time.Duration(len(in.Text)) * 10 * time.Minute)
			return in, &pipeline.Deferred{Resource: "registry", Until: due[in.Text], Err: errors.New("503")}
		}), pipeline.Options{}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 4, Patience: time.Hour}, "a bb ccc dddd")
		equal(t, "drained", []string{"a", "bb", "ccc", "dddd"}, out.got)
		for _, d := range late {
			if d < 0 || d > 150*time.Millisecond {
				t.Errorf("%s late", d)
			}
		}
		if sum.Code() != 0 {
			t.Errorf("code %d", sum.Code())
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	for _, partial := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, out, start := virtual(t), &sink{}, time.Now()
			plan := line(then(func(_ context.Context, in word) (word, error) {
				if in.Text == "later" {
					return in, &pipeline.Deferred{Resource: "registry", Until: start.Add(2 * time.Hour), Err: errors.New("503")}
				}
				return in, nil
			}), pipeline.Options{}, out)
			sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Patience: time.Hour, Partial: partial}, "a later b")
			if sum.Code() != 3 || sum.Drained != partial || (out.runs > 0) != partial || count(sum, "work").Deferred != 1 {
				t.Errorf("partial %t: code %d, drained %t (%v)", partial, sum.Code(), sum.Drained, out.got)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("waited %s for what comes later than it has patience for", took)
			}
			// Two hours later the same command goes on.
			time.Sleep(3 * time.Hour)
			start = start.Add(-2 * time.Hour)
			plan = line(then(same), pipeline.Options{}, out)
			sum = mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "a later b")
			equal(t, "drained", []string{"a", "b", "later"}, out.got)
			if sum.Code() != 0 || count(sum, "work").Executed != 1 {
				t.Errorf("resumed with code %d: %+v", sum.Code(), sum.Stages)
			}
		})
	}
}

// TestPatienceIsOneForAll: what is put off again and again does not keep a run for
// ever, and what gets somewhere gives it new patience.
func TestPatienceIsOneForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, start := virtual(t), &sink{}, time.Now()
		ready := start.Add(50 * time.Second)
		plan := line(then(func(_ context.Context, in word) (word, error) {
			if in.Text == "soon" && time.Now().After(ready) {
				return in, nil
			}
			return in, &pipeline.Deferred{Resource: "registry", Until: time.Now().Add(10 * time.Second), Err: errors.New("503")}
		}), pipeline.Options{}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 2, Patience: time.Minute}, "soon never")
		if took := time.Since(start); sum.Code() != 3 || took < 100*time.Second || took > 2*time.Minute {
			t.Errorf("code %d after %s", sum.Code(), took)
		}
	})
}

// TestPastDeferral: "not before a minute ago" is no reason to ask without end.
func TestPastDeferral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, tries := virtual(t), &sink{}, 0
		plan := line(then(func(_ context.Context, in word) (word, error) {
			tries++
			return in, &pipeline.Deferred{Resource: "github", Until: time.Now().Add(-time.Minute), Err: errors.New("429")}
		}), pipeline.Options{}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Patience: 10 * time.Minute}, "a")
		if sum.Code() != 3 || tries > 11 {
			t.Errorf("code %d after %d tries", sum.Code(), tries)
		}
	})
}

// TestPausedResource: engine, test 12: a rate limit belongs to the resource, and
// ten thousand items do not run into it one after another.
func TestPausedResource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out := virtual(t), &sink{}
		var mu sync.Mutex
		var until time.Time
		asked, during := 0, 0
		plan := line(then(func(_ context.Context, in word) (word, error) {
			mu.Lock()
			asked++
			n, end := asked, until
			mu.Unlock()
			if !end.IsZero() && time.Now().Before(end) {
				mu.Lock()
				during++
				mu.Unlock()
			}
			time.Sleep(time.Second)
			if n > 100 && n <= 104 {
				mu.Lock()
				defer mu.Unlock()
				until = time.Now().Add(time.Hour)
				return in, &pipeline.Deferred{Resource: "github", Until: until, Err: errors.New("429")}
			}
			return in, nil
		}), pipeline.Options{Needs: map[string]int{"github": 1}}, out)
		var words []string
		for i := range 1000 {
			words = append(words, fmt.Sprintf("w%04d", i))
		}
		start := time.Now()
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 4, Resources: map[string]int{"github": 4}, Patience: 2 * time.Hour}, strings.Join(words, " "))
		if len(out.got) != 1000 || during > 0 || asked > 1004 || sum.Code() != 0 {
			t.Errorf("%d drained, %d started while it was paused, asked %d times, code %d", len(out.got), during, asked, sum.Code())
		}
		if took := time.Since(start); took > time.Hour+6*time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

// TestRestingResource: a resource that fails a step without saying until when rests for
// a while, and not for as long as the step is put off: its trouble may be its own.
func TestRestingResource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, start := virtual(t), &sink{}, time.Now()
		var tries []time.Duration
		var next time.Duration
		plan := line(then(func(_ context.Context, in word) (word, error) {
			if in.Text == "a" {
				tries = append(tries, time.Since(start))
				return in, &pipeline.Deferred{Resource: "registry", Err: errors.New("503")}
			}
			if next == 0 {
				next = time.Since(start)
			}
			return in, nil
		}), pipeline.Options{Needs: map[string]int{"registry": 1}, Budget: pipeline.Budget{Tries: 3, Wait: time.Minute}}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 1, Resources: map[string]int{"registry": 1}, Patience: 10 * time.Minute}, "a b c d")
		if next < 4*time.Second || next > 7*time.Second {
			t.Errorf("the next step began after %s, want about 5s", next)
		}
		// No deferral is without end: the last one is a fault, which the next run tries again.
		if len(tries) > 4 || len(tries) < 3 || tries[1] < 20*time.Second || sum.Code() != 1 {
			t.Errorf("tried at %v, code %d", tries, sum.Code())
		}
	})
}

// TestOthersGoOnMeanwhile: a pause concerns those who need the resource, also where
// they come later and would go first.
func TestOthersGoOnMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, j, start := virtual(t), newJournal(), time.Now()
		var last time.Time
		flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
		flow = pipeline.Then(flow, "first", pipeline.Stage[word, word](then(func(_ context.Context, in word) (word, error) {
			time.Sleep(time.Second)
			last = time.Now()
			return in, nil
		})), pipeline.Options{})
		flow = pipeline.Then(flow, "second", pipeline.Stage[word, word](then(func(_ context.Context, in word) (word, error) {
			if time.Since(start) < time.Hour {
				return in, &pipeline.Deferred{Resource: "github", Until: start.Add(time.Hour), Err: errors.New("429")}
			}
			return in, nil
		})), pipeline.Options{Needs: map[string]int{"github": 1}})
		plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain((&sink{}).drain)), pipeline.Options{})
		sum := mustRun(t, t.Context(), plan, s, j, pipeline.RunOptions{Patience: 2 * time.Hour}, "a b c d e f g h")
		if took := last.Sub(start); took > 10*time.Second || sum.Code() != 0 {
			t.Errorf("the first stage took %s, code %d", took, sum.Code())
		}
		if n := len(j.ends["second"]); n != 8+1 {
			t.Errorf("%d ends where one ran into the limit", n)
		}
	})
}

func TestBudgetIsSpent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, tries := virtual(t), &sink{}, 0
		plan := line(then(func(_ context.Context, in word) (word, error) {
			tries++
			return in, &pipeline.Deferred{Resource: "registry", Err: fmt.Errorf("503, the %d. time", tries)}
		}), pipeline.Options{Budget: pipeline.Budget{Tries: 3, Wait: time.Hour}}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Patience: time.Hour}, "a")
		step, _, _ := s.Step("work", "a")
		if tries != 3 && tries != 4 || step.State != schemas.StepFailed || !strings.Contains(step.Detail, fmt.Sprintf("%d. time", tries)) || sum.Code() != 1 {
			t.Errorf("%d tries, %s: %s, code %d", tries, step.State, step.Detail, sum.Code())
		}
	})
}

// TestHourIsWaitedFor: a limit that says when it ends is waited for, however long that is:
// the budget bounds what nobody has said the end of.
func TestHourIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := virtual(t), time.Now()
		plan := line(then(func(_ context.Context, in word) (word, error) {
			if time.Since(start) < time.Hour {
				return in, &pipeline.Deferred{Resource: "github", Until: start.Add(time.Hour), Err: errors.New("429")}
			}
			return in, nil
		}), pipeline.Options{Budget: pipeline.Budget{Tries: 3, Wait: time.Minute}}, &sink{})
		if sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "a"); sum.Code() != 3 {
			t.Errorf("code %d where nobody waits", sum.Code())
		}
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Patience: 2 * time.Hour}, "a")
		if step, _, _ := s.Step("work", "a"); step.State != schemas.StepDone || sum.Code() != 0 {
			t.Errorf("%s: %s, code %d", step.State, step.Detail, sum.Code())
		}
	})
}
