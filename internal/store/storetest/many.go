package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Several handles: on PostgreSQL they are several processes, on SQLite the
// goroutines of one.
func (d *Driver) others(n int) []*Driver {
	d.T.Helper()
	out := make([]*Driver, n)
	for i := range out {
		o := *d
		o.Owner = fmt.Sprintf("w%d", i+2)
		if d.Place.Postgres {
			o.Store = nil
			o.Reopen()
			o.Begin(func(b *pipeline.BeginOptions) { b.Join = true })
		}
		out[i] = &o
	}
	return out
}

// Many workers at once: each step is run once and settled once, and nothing waits
// for ever.
func testContention(t *testing.T, place func(testing.TB) Place) {
	d := Open(t, place(t), store.Options{})
	var words, want []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("%c/%02d=%d", 'a'+i%5, i, i))
	}
	d.Seed("r="+strings.Join(words[:30], " "), "s="+strings.Join(words[30:], " "))
	var mu sync.Mutex
	ran := map[string]int{}
	var group sync.WaitGroup
	for _, w := range d.others(6) {
		group.Go(func() { w.workAlong(&mu, ran) })
	}
	group.Wait()
	for key, n := range ran {
		if n != 1 {
			t.Errorf("%s was settled %d times", key, n)
		}
	}
	if len(ran) != 2+3*60+5 {
		t.Errorf("%d steps were settled", len(ran))
	}
	d.Run()
	for _, c := range "abcde" {
		for i := range 60 {
			if rune('a'+i%5) == c {
				want = append(want, fmt.Sprintf("%c/%02d=%d", c, i, i))
			}
		}
	}
	d.Packs(want...)
	d.Sound()
}

// workAlong works as long as any stage but the drain has something open.
func (d *Driver) workAlong(mu *sync.Mutex, ran map[string]int) {
	ctx := context.Background()
	for {
		var wants []pipeline.Want
		for i := len(d.Plan) - 2; i >= 0; i-- {
			wants = append(wants, pipeline.Want{Stage: d.Plan[i].Name, N: 3})
		}
		claims, err := d.Claim(ctx, d.Owner, wants)
		if err != nil {
			d.T.Error(err)
			return
		}
		if len(claims) == 0 {
			all, err := d.Tallies(ctx)
			if err != nil {
				d.T.Error(err)
				return
			}
			open := false
			for _, x := range all {
				open = open || x.Stage != "pack" && (x.State == schemas.StepReady || x.State == schemas.StepRunning || x.State == schemas.StepWaiting)
			}
			if !open {
				return
			}
			time.Sleep(time.Millisecond)
			continue
		}
		var all []pipeline.Settlement
		for _, c := range claims {
			s := Default(c)
			s.Owner = d.Owner
			all = append(all, s)
		}
		got, err := d.Settle(ctx, all)
		if err != nil {
			d.T.Error(err)
			return
		}
		mu.Lock()
		for i, c := range claims {
			if !got[i].Lost && got[i].Err == nil {
				ran[c.Stage+"/"+c.Key]++
			}
		}
		mu.Unlock()
	}
}

// A build ends at the very instant at which members arrive (engine, 5): whichever
// comes first, nobody waits afterwards.
func testLateMembers(t *testing.T, place func(testing.TB) Place) {
	trials := 100
	if p := place(t); p.Postgres && !testing.Short() {
		trials = 1000
	}
	d := Open(t, place(t), store.Options{})
	other := d.others(1)[0]
	var words []string
	for i := range trials {
		words = append(words, fmt.Sprintf("x%04d/a=1 x%04d/b=1", i, i))
	}
	d.Seed("s=" + strings.Join(words, " "))
	d.End(Default(d.TakeOne("grow")))
	for range trials {
		pair := d.Take("note", 2)
		d.End(Default(pair[0]))
		build := d.TakeOne("make.build")
		late := Default(pair[1])
		late.Owner = d.Owner // the worker that claimed it
		var group sync.WaitGroup
		group.Go(func() { d.End(Default(build)) })
		group.Go(func() { other.End(late) })
		group.Wait()
		if got := d.Take("make", 3); len(got) != 2 {
			stuck, err := d.Stuck(context.Background())
			t.Fatalf("%d of 2 members are ready; stuck: %v %v", len(got), stuck, err)
		}
	}
	d.Sound()
}
