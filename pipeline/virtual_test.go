package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// The tests of this file run in virtual time.

// TestLongStagesAreNotCut: engine, test 17.
func TestLongStagesAreNotCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout, takes time.Duration
		want           schemas.StepState
	}{
		"no_timeout":     {0, 3 * time.Hour, schemas.StepDone},
		"within_timeout": {2 * time.Hour, 119 * time.Minute, schemas.StepDone},
		"over_timeout":   {2 * time.Hour, 121 * time.Minute, schemas.StepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, out, start := virtual(t), &sink{}, time.Now()
				plan := line(then(func(ctx context.Context, in word) (word, error) {
					select {
					case <-time.After(c.takes):
						return in, nil
					case <-ctx.Done():
						return in, ctx.Err()
					}
				}), pipeline.Options{Timeout: c.timeout}, out)
				mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 2}, "a b")
				step, _, _ := s.Step("work", "a")
				if step.State != c.want {
					t.Errorf("%s: %s", step.State, step.Detail)
				}
				if c.want == schemas.StepFailed && !strings.Contains(step.Detail, "over the time-out of 2h0m0s") {
					t.Errorf("the cause is not said: %s", step.Detail)
				}
				if took, want := time.Since(start), min(c.takes, max(c.timeout, c.takes*bool01(c.timeout == 0))); took < want || took > want+time.Second {
					t.Errorf("took %s, want %s", took, want)
				}
			})
		})
	}
}

func bool01(b bool) time.Duration {
	if b {
		return 1
	}
	return 0
}

// TestHangsArePutAside: engine, test 8: what does not end when it is told to does
// not keep others from their work.
func TestHangsArePutAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, hang := virtual(t), &sink{}, make(chan struct{})
		plan := line(then(func(_ context.Context, in word) (word, error) {
			if in.Text == "hangs" {
				<-hang
			}
			return in, nil
		}), pipeline.Options{Timeout: time.Minute}, out)
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 1}, "a hangs b c")
		close(hang)
		equal(t, "drained", []string{"a", "b", "c"}, out.got)
		if n := count(sum, "work"); n.Failed != 1 || sum.Code() != 1 {
			t.Errorf("%+v, code %d", n, sum.Code())
		}
		if step, _, _ := s.Step("work", "hangs"); !strings.Contains(step.Detail, "over the time-out of 1m0s: it did not end") {
			t.Errorf("the cause is not said: %s", step.Detail)
		}
	})
}

// load counts who holds what, as the stages themselves see it.
type load struct {
	mu      sync.Mutex
	running map[string]int // by stage
	used    map[string]int // by resource
	over    []string
	limits  map[string]int
}

func (l *load) take(stage string, needs map[string]int, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[stage] += by
	l.running[""] += by
	for name, n := range needs {
		if l.used[name] += n * by; l.used[name] > l.limits[name] {
			l.over = append(l.over, fmt.Sprintf("%d of %d %s", l.used[name], l.limits[name], name))
		}
	}
}

// TestResources: engine, test 10: over 10,000 random steps no limit is passed, and
// nothing is idle that has work.
func TestResources(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { resources(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func resources(t *testing.T, r *rand.Rand) {
	const slots, stages, items = 12, 5, 500 // with four seeds 10,000 steps
	limits := map[string]int{"cpu": 8, "net": 3, "box": 5}
	l := &load{running: map[string]int{}, used: map[string]int{}, limits: limits}
	s, out := virtual(t), &sink{}
	flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	needs, caps := map[string]map[string]int{}, map[string]int{}
	for i := range stages {
		name := fmt.Sprint("s", i)
		n := map[string]int{}
		for _, resource := range []string{"cpu", "net", "box"} {
			if r.IntN(2) == 0 {
				n[resource] = 1 + r.IntN(limits[resource])
			}
		}
		needs[name], caps[name] = n, slots
		o := pipeline.Options{Needs: n}
		if r.IntN(3) == 0 {
			o.Slots = 1 + r.IntN(4)
			caps[name] = o.Slots
		}
		scale := []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond}[r.IntN(3)]
		flow = pipeline.Then(flow, name, pipeline.Stage[word, word](then(func(_ context.Context, in word) (word, error) {
			l.take(name, n, 1)
			defer l.take(name, n, -1)
			time.Sleep(time.Duration(1+schemas.DigestOf(name + in.Text)[10]%16) * scale)
			return in, nil
		})), o)
	}
	plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
	var words []string
	for i := range items {
		words = append(words, fmt.Sprintf("w%04d", i))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: slots, Resources: limits}, strings.Join(words, " "))
	}()
	looks, idle := 0, 0
	for watching := true; watching; looks++ {
		select {
		case <-done:
			watching = false
		case <-time.After(777 * time.Millisecond):
			synctest.Wait() // everybody sleeps: what could start has started
			if why := l.idle(t, s, stages, slots, caps, needs); why != "" {
				idle++
				t.Errorf("idle: %s", why)
			}
		}
		if idle > 3 {
			t.Fatal("and so on")
		}
	}
	if len(l.over) > 0 || len(out.got) != items || looks < 100 {
		t.Errorf("%d times over a limit (%v), %d of %d drained, %d looks", len(l.over), l.over[:min(3, len(l.over))], len(out.got), items, looks)
	}
}

// idle names a stage that has work and everything that it needs, and does not run.
func (l *load) idle(t *testing.T, s *store.Store, stages, slots int, caps map[string]int, needs map[string]map[string]int) string {
	t.Helper()
	tallies, err := s.Tallies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	work := map[string]int{}
	for _, x := range tallies {
		if x.State == schemas.StepReady || x.State == schemas.StepRunning { // running: claimed, at least
			work[x.Stage] += x.N
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := map[string]bool{} // what a later stage waits for may be kept for it
	for i := stages - 1; i >= 0; i-- {
		name := fmt.Sprint("s", i)
		if work[name]-l.running[name] <= 0 {
			continue
		}
		fits := l.running[""] < slots && l.running[name] < caps[name]
		for resource, n := range needs[name] {
			fits = fits && l.used[resource]+n <= l.limits[resource] && !kept[resource]
		}
		if fits {
			return fmt.Sprintf("%s with %d waiting: %v of %v used, %v running", name, work[name]-l.running[name], l.used, l.limits, l.running)
		}
		for resource := range needs[name] {
			kept[resource] = true
		}
	}
	return ""
}

// TestFirstTaskComesEarly: engine, test 9.
func TestFirstTaskComesEarly(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4, 16} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, out, start, j := virtual(t), &sink{}, time.Now(), newJournal()
				slowly := func(d time.Duration) pipeline.Stage[word, word] {
					return then(func(_ context.Context, in word) (word, error) { time.Sleep(d); return in, nil })
				}
				flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(func(ctx context.Context, in word) ([]word, error) {
					time.Sleep(200 * time.Millisecond)
					return fields(ctx, in)
				})), pipeline.Options{})
				flow = pipeline.Then(flow, "link", slowly(5*time.Millisecond), pipeline.Options{})
				flow = pipeline.Share(flow, "env", pipeline.Sharer[word, built, word](share{
					key:   func(in word) string { return in.Text[:3] },
					build: func(context.Context, word) (built, error) { time.Sleep(10 * time.Second); return built{}, nil },
					run:   func(_ context.Context, in word, _ built) (word, error) { return in, nil },
				}), pipeline.Options{Needs: map[string]int{"box": 1}})
				flow = pipeline.Then(flow, "prove", slowly(20*time.Second), pipeline.Options{Needs: map[string]int{"box": 1}})
				plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
				var seeds []string
				for i := range 10 { // ten sources of 40 items, four environments each
					var words []string
					for k := range 40 {
						words = append(words, fmt.Sprintf("%c-%c-%d", 'a'+i, 'a'+k%4, k))
					}
					seeds = append(seeds, strings.Join(words, " "))
				}
				mustRun(t, t.Context(), plan, s, j, pipeline.RunOptions{Slots: slots, Resources: map[string]int{"box": 4}}, seeds...)
				whole, first := time.Since(start), j.first["prove"].Sub(start)
				if len(out.got) != 400 || first > whole/20 {
					t.Errorf("first proof after %s of %s, %d drained", first, whole, len(out.got))
				}
				least := time.Duration(400*20+40*10) * time.Second / time.Duration(min(slots, 4))
				if whole > least+least/20 {
					t.Errorf("took %s; the boxes alone need %s", whole, least)
				}
			})
		})
	}
}

// TestFirstTaskOfQuickStages: engine, test 9, where claims are taken ahead of time.
func TestFirstTaskOfQuickStages(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			s, out, start, j := virtual(t), &sink{}, time.Now(), newJournal()
			flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
			const stages, items = 6, 1000
			for i := range stages {
				flow = pipeline.Then(flow, fmt.Sprint("s", i), pipeline.Stage[word, word](then(func(_ context.Context, in word) (word, error) {
					time.Sleep(time.Millisecond)
					return in, nil
				})), pipeline.Options{})
			}
			plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
			var words []string
			for i := range items {
				words = append(words, fmt.Sprintf("w%04d", i))
			}
			mustRun(t, t.Context(), plan, s, j, pipeline.RunOptions{Slots: slots}, strings.Join(words, " "))
			whole, first := time.Since(start), j.first["s5"].Sub(start)
			if len(out.got) != items || first > whole/20 {
				t.Errorf("%d slots: first end after %s of %s, %d drained", slots, first, whole, len(out.got))
			}
			// In order of depth, what is begun is ended: no more than a few rows of slots.
			most := 0
			for _, n := range j.behind {
				most = max(most, n)
			}
			if most > 3*slots+3 {
				t.Errorf("%d slots: %d items between the first stage and the last", slots, most)
			}
		})
	}
}

// TestMuchHasItsTurn: a stage that needs all of a resource does not wait until those
// that need little of it are through.
func TestMuchHasItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, out, start, j := virtual(t), &sink{}, time.Now(), newJournal()
		takes := func(d time.Duration) pipeline.Stage[word, word] {
			return then(func(_ context.Context, in word) (word, error) {
				time.Sleep(d + time.Duration(schemas.DigestOf(in.Text)[10]%7)*time.Millisecond) // never all at once
				return in, nil
			})
		}
		flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
		flow = pipeline.Then(flow, "little", takes(time.Second), pipeline.Options{Needs: map[string]int{"cpu": 1}})
		flow = pipeline.Then(flow, "much", takes(time.Second), pipeline.Options{Needs: map[string]int{"cpu": 4}})
		plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
		var words []string
		for i := range 200 {
			words = append(words, fmt.Sprintf("w%03d", i))
		}
		mustRun(t, t.Context(), plan, s, j, pipeline.RunOptions{Slots: 4, Resources: map[string]int{"cpu": 4}}, strings.Join(words, " "))
		whole, first := time.Since(start), j.first["much"].Sub(start)
		if len(out.got) != 200 || first > whole/20 {
			t.Errorf("first end after %s of %s, %d drained", first, whole, len(out.got))
		}
	})
}

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

// noBeat is a store whose beats fail from a time on, or hang until they are given up.
type noBeat struct {
	*store.Store
	from  time.Time
	hangs bool
	takes time.Duration // of the settling of work
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
		if err == nil || !strings.Contains(err.Error(), "1 steps are open and none can start") || time.Since(start) > time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// hoarder gives nothing out.
type hoarder struct{ *store.Store }

func (hoarder) Claim(context.Context, string, []pipeline.Want) ([]pipeline.Claim, error) {
	return nil, nil
}
