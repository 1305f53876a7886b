package enginetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

var soak = flag.Int("soak", 1, "how many times as many random changes of settings, and kills")

// place is the folder of a store over several processes.
type place string

// open begins the next process, whose death is at its crash-th write, if that is not 0; s
// is nil where it has died by then.
func (p place) open(t testing.TB, crash int64) (*store.Store, func()) {
	c := &crasher{at: crash}
	s, err := store.Open(context.Background(), string(p), store.Options{Crash: c.hook})
	if errors.Is(err, store.ErrDead) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// After any changes of settings and seeds, runs that end early by --until, by a
// signal or by death, a run with the last settings comes to what a fresh one does.
// In between nothing fails, a dataset is right or refused, and --until takes nothing
// back.
func TestChangedSettings(t *testing.T) {
	t.Parallel()
	for n := range 80 * *soak {
		t.Run(fmt.Sprint(n), func(t *testing.T) { changeSettings(t, uint64(n), place(storetest.Dir(t))) })
	}
}

// changes is a history of settings, of which every one is run.
type changes struct {
	*rand.Rand
	past []enginetest.Settings
}

func (c *changes) next() enginetest.Settings {
	if len(c.past) > 0 && c.IntN(4) == 0 {
		return c.past[c.IntN(len(c.past))] // changed back
	}
	s := enginetest.Settings{Seeds: []string{"r", "s"}, Stages: map[string]enginetest.Setting{}}
	if len(c.past) > 0 {
		last := c.past[len(c.past)-1]
		s = enginetest.Settings{Seeds: last.Seeds, Stages: maps.Clone(last.Stages)}
	}
	for range 1 + c.IntN(2) {
		stage := enginetest.SettingStages[c.IntN(len(enginetest.SettingStages))]
		set := s.Stages[stage]
		switch c.IntN(4) {
		case 0:
			set.Tag++
		case 1:
			set.Version++
		default:
			set.Strict = c.IntN(4)
		}
		s.Stages[stage] = set
	}
	if c.IntN(4) == 0 {
		s.Seeds = [][]string{{"r"}, {"s"}, {"r", "s"}, {"r", "s", "t"}}[c.IntN(4)]
	}
	return s
}

// slow puts some steps off once in a phase, and takes a moment at others.
func slow(round uint64, phase int) func(stage, key string) error {
	var mu sync.Mutex
	off := map[string]bool{}
	return func(stage, key string) error {
		h := fnv.New64a()
		fmt.Fprint(h, round, phase, stage, key)
		x := h.Sum64() >> 20
		time.Sleep(time.Duration(x%4) * 200 * time.Microsecond)
		mu.Lock()
		defer mu.Unlock()
		if x/4%16 == 0 && !off[stage+key] {
			off[stage+key] = true
			return enginetest.PutOff(time.Now(), 5*time.Millisecond)
		}
		return nil
	}
}

// stopper cancels a run at the end of its nth step.
type stopper struct {
	left    atomic.Int64
	stop    context.CancelFunc
	vain    atomic.Int64 // steps whose result was dropped although nobody stopped the run
	stopped atomic.Bool
}

func (s *stopper) Begin(string, string) {}

func (s *stopper) End(step schemas.Step, _ bool) {
	// What a partial run has written is written again where a deferred step came due meanwhile.
	drain := step.Stage == enginetest.SettingStages[len(enginetest.SettingStages)-1]
	if step.State == schemas.StepInterrupted && !s.stopped.Load() && !drain {
		s.vain.Add(1)
	}
	if s.left.Add(-1) == 0 {
		s.stopped.Store(true)
		s.stop()
	}
}

// known are the settings as a run that ends early knows them: what later stages rest
// on, as the kind of a sandbox, it may not have asked for.
func known(s enginetest.Settings, until string, all bool) enginetest.Settings {
	if all || until == "" {
		return s
	}
	s.Stages = maps.Clone(s.Stages)
	for _, stage := range enginetest.SettingStages {
		if enginetest.Beside(stage, until) {
			s.Stages[stage] = enginetest.Setting{Version: -1}
		}
	}
	return s
}

func pieces(seeds []string) []pipeline.Record {
	var out []pipeline.Record
	for _, s := range seeds {
		out = append(out, enginetest.Piece{Name: s, Trail: s})
	}
	return out
}

func changeSettings(t *testing.T, round uint64, p place) {
	c := &changes{Rand: rand.New(rand.NewPCG(round, 20))}
	ends := &enginetest.Ends{}
	var told []string
	for phase := range 3 + c.IntN(5) {
		set := c.next()
		c.past = append(c.past, set)
		until := ""
		if c.IntN(5) < 3 {
			until = enginetest.SettingStages[1+c.IntN(len(enginetest.SettingStages)-1)]
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := &stopper{stop: cancel}
		crash := int64(0)
		switch c.IntN(4) {
		case 0, 1:
			stop.left.Store(int64(1 + c.IntN(60)))
		case 2:
			crash = int64(1 + c.IntN(40))
		}
		told = append(told, fmt.Sprintf("phase %d: %+v until %q, stopped after %d, dead after %d", phase, set, until, stop.left.Load(), crash))
		s, end := p.open(t, crash)
		if s == nil {
			continue // it died while it opened the store
		}
		before := settledSteps(t, s)
		plan := enginetest.SettingPlan(known(set, until, c.IntN(2) == 0), s, ends, slow(round, phase))
		o := pipeline.RunOptions{Until: until, Now: time.Now, Slots: 1 + c.IntN(4), Worker: fmt.Sprint("w", phase)}
		if c.IntN(2) == 0 {
			o.Patience, o.Partial = time.Millisecond, until == ""
		}
		sum, err := plan.Run(ctx, s, pieces(set.Seeds), stop, o)
		cancel()
		switch {
		case crash > 0 && (errors.Is(err, store.ErrDead) || errors.Is(err, errCrash)):
		case err != nil:
			t.Fatalf("%v\n%s", err, strings.Join(told, "\n"))
		default:
			if n := stop.vain.Load(); n > 0 {
				t.Fatalf("%d steps were run in vain: what they were made of was to be made again\n%s", n, strings.Join(told, "\n"))
			}
			for _, count := range sum.Stages {
				if count.Failed > 0 {
					t.Fatalf("%d failed at %s\n%s\n%s", count.Failed, count.Stage, whyFailed(s), strings.Join(told, "\n"))
				}
			}
		}
		end()
		looks(t, p, set, ends, told)
		s, end = p.open(t, 0)
		untaken(t, s, before, until, told)
		end()
	}
	set := c.past[len(c.past)-1]
	lines, tallies := finish(t, p, set, round, ends, told)
	wantLines, wantTallies := finish(t, place(storetest.Dir(t)), set, round, &enginetest.Ends{}, told)
	if diff := cmp.Diff(wantLines, lines); diff != "" {
		t.Fatalf("not what a fresh run writes (-fresh +got):\n%s\n%s", diff, strings.Join(told, "\n"))
	}
	if diff := cmp.Diff(wantTallies, tallies); diff != "" {
		t.Fatalf("not where a fresh run ends (-fresh +got):\n%s\n%s", diff, strings.Join(told, "\n"))
	}
}

func whyFailed(s pipeline.Store) string {
	all, err := s.Ended(context.Background(), "", "", 1000)
	var out []string
	for _, step := range all {
		if step.State == schemas.StepFailed {
			out = append(out, step.Stage+" "+step.Key+": "+step.Detail)
		}
	}
	return fmt.Sprint(strings.Join(out, "\n"), err)
}

// looks writes the dataset of what stands, as export does.
func looks(t *testing.T, p place, set enginetest.Settings, ends *enginetest.Ends, told []string) {
	t.Helper()
	s, end := p.open(t, 0)
	defer end()
	_, err := enginetest.SettingPlan(set, s, ends, func(string, string) error { return nil }).Redrain(t.Context(), s)
	var outdated *pipeline.OutdatedError
	if err != nil && !errors.As(err, &outdated) {
		t.Fatalf("export: %v\n%s", err, strings.Join(told, "\n"))
	}
	all, tallyErr := s.Tallies(t.Context())
	if tallyErr != nil {
		t.Fatal(tallyErr)
	}
	n := 0
	for _, x := range all {
		switch x.State {
		case schemas.StepHeld, schemas.StepRejected, schemas.StepDeferred, schemas.StepFailed:
			if x.Stage != "ready.build" {
				n += x.N
			}
		}
	}
	if got := len(ends.Lines()); err == nil && got != n {
		t.Fatalf("export wrote %d of %d ends\n%s", got, n, strings.Join(told, "\n"))
	}
}

// settledSteps is every step that is settled, "stage key".
func settledSteps(t *testing.T, s *store.Store) map[string]schemas.StepState {
	out := map[string]schemas.StepState{}
	for at, stage := range enginetest.SettingStages {
		for _, seed := range []string{"r", "s", "t"} {
			keys := []string{seed}
			if at > 1 {
				keys = []string{seed + "-0", seed + "-1", seed + "-2", seed + "-3"}
			}
			for _, key := range keys {
				step, ok, err := s.Step(stage, key)
				if err != nil {
					t.Fatal(err)
				}
				if ok && (step.State == schemas.StepDone || step.State == schemas.StepRejected) {
					out[stage+" "+key] = step.State
				}
			}
		}
	}
	return out
}

// untaken wants the results of stages behind until to stand.
func untaken(t *testing.T, s *store.Store, before map[string]schemas.StepState, until string, told []string) {
	t.Helper()
	if until == "" {
		return
	}
	after := settledSteps(t, s)
	for id, state := range before {
		stage, _, _ := strings.Cut(id, " ")
		if enginetest.Beside(stage, until) && after[id] != state {
			t.Fatalf("a run until %s took %s back: it was %s, is %q\n%s", until, id, state, after[id], strings.Join(told, "\n"))
		}
	}
}

// finish runs to the end, and once more for nothing.
func finish(t *testing.T, p place, set enginetest.Settings, round uint64, ends *enginetest.Ends, told []string) (lines, tallies []string) {
	t.Helper()
	s, end := p.open(t, 0)
	defer end()
	for again := range 2 {
		plan := enginetest.SettingPlan(set, s, ends, slow(round, 99+again))
		o := pipeline.RunOptions{Now: time.Now, Slots: 3, Patience: time.Minute, Worker: fmt.Sprint("last", again)}
		sum, err := plan.Run(t.Context(), s, pieces(set.Seeds), &stopper{}, o)
		if err != nil || sum.Code() != 0 || !sum.Drained {
			t.Fatalf("the last run: %v, %+v\n%s\n%s", err, sum, whyFailed(s), strings.Join(told, "\n"))
		}
		for _, count := range sum.Stages {
			if again == 1 && count.Executed > 0 {
				t.Fatalf("%d steps of %s were run for nothing\n%s", count.Executed, count.Stage, strings.Join(told, "\n"))
			}
		}
	}
	all, err := s.Tallies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		tallies = append(tallies, fmt.Sprint(x.Stage, " ", x.State, " ", x.Reason, " ", x.N))
	}
	slices.Sort(tallies)
	return ends.Lines(), tallies
}
