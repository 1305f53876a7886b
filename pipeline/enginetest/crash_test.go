package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
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

// small is a plan of a dozen items in which every end occurs.
func small(t *testing.T) enginetest.Config {
	t.Helper()
	c := enginetest.Config{
		Sources: 3, Fan: 4, Keys: 3, BadKeys: 1, Bytes: 200,
		Reject: 150, Defer: 100, Fail: 100, Delay: time.Millisecond,
	}
	for c.Seed = range 10_000 {
		if d := c.Want(); d.Rows >= 4 && d.Rejected >= 3 && d.Failed >= 1 && c.Deferrals() >= 1 && c.BadMembers() >= 2 {
			return c
		}
	}
	t.Fatal("no seed gives every end")
	return c
}

// phase is one run on a store that earlier runs left.
type phase struct {
	name     string
	config   enginetest.Config
	expected map[enginetest.Execution]int // what it has to execute, failed steps aside
}

// phases are a first run, and one for each way in which a store changes later.
func phases(c enginetest.Config) []phase {
	all := c.Expected()
	of := func(c enginetest.Config, stages ...string) map[enginetest.Execution]int {
		out := map[enginetest.Execution]int{}
		for e, n := range c.Expected() {
			for _, stage := range stages {
				if e.Stage == stage {
					out[e] = n
				}
			}
		}
		return out
	}
	version := func(c enginetest.Config, stage, v string) enginetest.Config {
		c.Versions = maps.Clone(c.Versions)
		if c.Versions == nil {
			c.Versions = map[string]string{}
		}
		c.Versions[stage] = v
		return c
	}
	equal := version(c, enginetest.Filter, ".1")
	other := version(c, enginetest.Filter, ".2")
	other.Tags = map[string]string{enginetest.Filter: "other"}
	fewer := version(other, enginetest.Expand, ".1")
	fewer.Sources, fewer.Fan = c.Sources-1, c.Fan-1
	back := version(other, enginetest.Expand, ".2")
	return []phase{
		{"first", c, all},
		{"again", c, nil},
		{"equal_output", equal, of(c, enginetest.Filter)},
		{"other_output", other, of(c, enginetest.Filter, enginetest.Refine, enginetest.Join, enginetest.Work)},
		{"fewer_outputs", fewer, of(fewer, enginetest.Expand)},
		{"back", back, of(back, enginetest.Expand)},
	}
}

var errCrash = errors.New("the process dies here")

// crasher lets the process die at the nth point; 0 never.
type crasher struct {
	at     int64
	passed atomic.Int64
	point  atomic.Value
}

func (c *crasher) hook(point string) error {
	n := c.passed.Add(1)
	if n == c.at {
		c.point.Store(point)
		return errCrash
	}
	return nil
}

func (c *crasher) died() bool { return c.point.Load() != nil }

// here runs a plan in this process.
func here(ctx context.Context, e enginetest.Engine, worker string, hook func(string) error) (s pipeline.Summary, err error) {
	log, err := enginetest.OpenLog(e.LogPath())
	if err != nil {
		return s, err
	}
	defer log.Close()
	db, err := store.Open(ctx, e.StorePath(), store.Options{Crash: hook})
	if err != nil {
		return s, err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	plan := e.Config.Plan(enginetest.World{Log: log, Dir: e.DatasetPath()})
	return plan.Run(ctx, db, e.Config.Seeds(), quiet{}, pipeline.RunOptions{
		Slots: e.Slots, Now: time.Now, Patience: time.Minute, Worker: worker,
	})
}

type quiet struct{}

func (quiet) Begin(string, string)   {}
func (quiet) End(schemas.Step, bool) {}

// Every commit of every kind of run: the process dies before and after each, and
// the next one ends with the same dataset, repeating at most what was in flight.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d_slots", slots), func(t *testing.T) {
			t.Parallel()
			base := storetest.Dir(t)
			for _, p := range phases(small(t)) {
				after := storetest.Dir(t)
				copyDir(t, base, after)
				points := undisturbed(t, p, enginetest.Engine{Dir: after, Slots: slots})
				t.Logf("%s: %d points", p.name, points)
				if err := p.crashes(t.Context(), storetest.Dir(t), base, points, slots); err != nil {
					t.Fatalf("%s: %v", p.name, err)
				}
				base = after
			}
		})
	}
}

// undisturbed takes a phase to its end and counts its points.
func undisturbed(t *testing.T, p phase, e enginetest.Engine) int64 {
	t.Helper()
	e.Config = p.config
	_, from, err := enginetest.Executions(e.LogPath(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var c crasher
	if _, err := here(t.Context(), e, "w", c.hook); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	repeated, err := p.check(t.Context(), e, from)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	if repeated != 0 {
		t.Fatalf("%s: %d executions without need", p.name, repeated)
	}
	return c.passed.Load()
}

// crashes dies at each point, a few at a time, until one of them is wrong.
func (p phase) crashes(ctx context.Context, dir, base string, points int64, slots int) error {
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	var wait sync.WaitGroup
	room := make(chan bool, 4)
	for n := range points {
		room <- true
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-room }()
			mine := filepath.Join(dir, strconv.FormatInt(n, 10))
			err := os.CopyFS(mine, os.DirFS(base))
			if err == nil {
				err = p.crash(ctx, enginetest.Engine{Dir: mine, Slots: slots}, n+1)
			}
			if err := errors.Join(err, os.RemoveAll(mine)); err != nil {
				enough(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// crash dies at one point, runs again, and looks at what is left.
func (p phase) crash(ctx context.Context, e enginetest.Engine, at int64) error {
	e.Config = p.config
	// What is left to nobody would be waited for.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, from, err := enginetest.Executions(e.LogPath(), 0)
	if err != nil {
		return err
	}
	c := crasher{at: at}
	_, err = here(ctx, e, "w", c.hook)
	if c.died() != (err != nil) {
		return fmt.Errorf("point %d %v: died %t, but the run ended with %w", at, c.point.Load(), c.died(), err)
	}
	if c.died() {
		if _, err := here(ctx, e, "another", nil); err != nil {
			return fmt.Errorf("after point %d %v: %w", at, c.point.Load(), err)
		}
	}
	repeated, err := p.check(ctx, e, from)
	if err == nil && repeated > e.Slots {
		err = fmt.Errorf("%d executions repeated with %d slots", repeated, e.Slots)
	}
	if err != nil {
		return fmt.Errorf("after point %d %v: %w", at, c.point.Load(), err)
	}
	return nil
}

// check holds a finished phase against what it had to do, and counts executions
// beyond that.
func (p phase) check(ctx context.Context, e enginetest.Engine, from int64) (repeated int, err error) {
	got, err := enginetest.ReadDataset(e.DatasetPath())
	if err != nil {
		return 0, err
	}
	if diff := cmp.Diff(p.config.Want(), got); diff != "" {
		return 0, fmt.Errorf("dataset (-want +got):\n%s", diff)
	}
	n, _, err := enginetest.Executions(e.LogPath(), from)
	if err != nil {
		return 0, err
	}
	for x, times := range p.expected {
		if n[x] < times {
			return 0, fmt.Errorf("%s %s: executed %d times of %d", x.Stage, x.Key, n[x], times)
		}
	}
	for x, times := range n {
		if !p.config.Fails(x) {
			repeated += times - p.expected[x]
		}
	}
	return repeated, enginetest.Audit(ctx, e)
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
