package pipeline_test

import (
	"context"
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
	for slots, items := range map[int]int{1: 200, 4: 400, 16: 1000} {
		synctest.Test(t, func(t *testing.T) {
			s, out, start, j := virtual(t), &sink{}, time.Now(), newJournal()
			flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
			const stages = 6
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
