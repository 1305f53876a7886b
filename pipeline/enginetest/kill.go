package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// Kills is what a run came to that was killed again and again.
type Kills struct {
	Kills    int      // in time: the process was at work
	Runs     int      // that came to their end
	Repeated int      // executions beyond the first, all kills together
	Most     int      // that were under way at one kill
	Wrong    []string // everything that must not be
}

func (k *Kills) wrong(format string, args ...any) {
	k.Wrong = append(k.Wrong, fmt.Sprintf(format, args...))
}

// KillRounds kills the engine at random instants until so many kills were in time,
// beginning again with an empty folder whenever a run comes to its end. Between
// two kills lie at most most.
func (e Engine) KillRounds(ctx context.Context, rounds int, most time.Duration, rng *rand.Rand) (Kills, error) {
	var k Kills
	want, expected := e.Config.Want(), e.Config.Expected()
	dir := e.Dir
	for n := 0; k.Kills < rounds; n++ {
		e.Dir = fmt.Sprintf("%s/%d", dir, n)
		if err := os.MkdirAll(e.Dir, 0o755); err != nil {
			return k, err
		}
		r := victim{Engine: e, kills: &k, want: expected}
		if err := r.run(ctx, rounds, most, rng); err != nil {
			return k, err
		}
		r.compare(want)
		if err := os.RemoveAll(e.Dir); err != nil {
			return k, err
		}
	}
	return k, nil
}

// victim is one run to its end.
type victim struct {
	Engine
	kills  *Kills
	want   map[Execution]int
	before map[Execution]bool // settled before a kill
	offset int64              // of the log at the last kill
	mine   int                // kills
}

func (v *victim) run(ctx context.Context, rounds int, most time.Duration, rng *rand.Rand) error {
	for ctx.Err() == nil {
		p, err := v.Start()
		if err != nil {
			return err
		}
		killed := false
		if v.kills.Kills < rounds {
			if killed, err = p.KillAfter(time.Duration(rng.Int64N(int64(most)))); err != nil {
				return err
			}
		}
		if !killed {
			return v.end(ctx, p)
		}
		v.kills.Kills++
		v.mine++
		if err := v.died(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// died looks at what the killed process did, and at what the store kept of it.
func (v *victim) died(ctx context.Context) error {
	began := map[Execution]int{}
	if err := v.segment(began); err != nil {
		return err
	}
	held, err := SettledIn(ctx, v.Engine)
	if err != nil {
		return err
	}
	flying := 0
	for e := range began {
		if v.want[e] > 0 && !held[e] {
			flying++
		}
	}
	v.kills.Most = max(v.kills.Most, flying)
	if flying > v.Slots {
		v.kills.wrong("%d executions were under way at kill %d, with %d slots", flying, v.mine, v.Slots)
	}
	v.lost(held)
	v.before = held
	return nil
}

// lost notes what was settled at an earlier kill and is not any more.
func (v *victim) lost(held map[Execution]bool) {
	for e := range v.before {
		if !held[e] {
			v.kills.wrong("%s %s was settled, and is no more after kill %d", e.Stage, e.Key, v.mine)
		}
	}
}

// segment is what was executed since the last kill, held against what was settled
// then, and copied where that is asked for.
func (v *victim) segment(into map[Execution]int) error {
	n, next, err := Executions(v.LogPath(), v.offset)
	if err != nil {
		return err
	}
	v.offset = next
	for e, times := range n {
		if v.before[e] {
			v.kills.wrong("%s %s was settled, and executed again after kill %d", e.Stage, e.Key, v.mine)
		}
		if into != nil {
			into[e] = times
		}
	}
	return nil
}

func (v *victim) end(ctx context.Context, p *Process) error {
	r, err := p.Wait()
	if err != nil {
		return err
	}
	v.kills.Runs++
	if code := r.Summary.Code(); code != 0 && code != 1 { // items that fail by lot
		v.kills.wrong("the run ended with %d: %+v", code, r.Summary.Stages)
	}
	if r.Lost > 0 {
		v.kills.wrong("%d results refused with nobody beside", r.Lost)
	}
	if err := v.segment(nil); err != nil {
		return err
	}
	if err := Audit(ctx, v.Engine); err != nil {
		v.kills.wrong("%v", err)
	}
	return nil
}

// compare holds a finished run against the plain loop.
func (v *victim) compare(want Dataset) {
	got, err := ReadDataset(v.DatasetPath())
	if err != nil {
		v.kills.wrong("dataset: %v", err)
	} else if got != want {
		v.kills.wrong("dataset is %+v, want %+v", got, want)
	}
	n, _, err := Executions(v.LogPath(), 0)
	if err != nil {
		v.kills.wrong("log: %v", err)
	}
	repeated := 0
	for e, times := range v.want {
		if n[e] < times {
			v.kills.wrong("%s %s was never executed", e.Stage, e.Key)
			continue
		}
		repeated += n[e] - times
	}
	v.kills.Repeated += repeated
	if repeated > v.Slots*v.mine {
		v.kills.wrong("%d executions repeated after %d kills with %d slots", repeated, v.mine, v.Slots)
	}
}

// Err is nil where nothing went wrong; long lists are cut.
func (k Kills) Err() error {
	const most = 20
	if len(k.Wrong) == 0 {
		return nil
	}
	list := k.Wrong
	if len(list) > most {
		list = append(list[:most:most], fmt.Sprintf("… and %d more", len(k.Wrong)-most))
	}
	return errors.New(strings.Join(list, "\n"))
}
