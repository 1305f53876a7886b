package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// question is what the dispatcher wants of the store, apart from settling.
type question struct {
	back     []int64
	died     []int64  // whose workers went silent
	suspects []string // stages whose suspects there is room for
	wants    []Want
	look     bool
}

type answer struct {
	question
	claims    []Claim
	suspect   *Claim
	next      time.Time
	tallies   []Tally
	resources []Resource
	err       error
}

// clerk asks the store, so that the dispatcher never waits for it.
func (r *run) clerk(ctx context.Context, asks <-chan question, answers chan<- answer) {
	for q := range asks {
		a := answer{question: q}
		a.err = r.answer(ctx, &a)
		answers <- a
	}
}

func (r *run) answer(ctx context.Context, a *answer) (err error) {
	if len(a.back) > 0 {
		if err = r.store.Release(ctx, r.owner, a.back); err != nil {
			return fmt.Errorf("giving steps back: %w", err)
		}
	}
	if len(a.died) > 0 {
		if err = r.store.Died(ctx, r.owner, a.died); err != nil {
			return fmt.Errorf("booking steps whose worker died: %w", err)
		}
	}
	if a.look {
		if a.next, err = r.store.Due(ctx, r.opts.Now()); err != nil {
			return fmt.Errorf("looking for what is due: %w", err)
		}
		if a.resources, err = r.store.Resources(ctx); err != nil {
			return fmt.Errorf("reading the resources: %w", err)
		}
		if a.tallies, err = r.store.Tallies(ctx); err != nil {
			return fmt.Errorf("reading the tallies: %w", err)
		}
	}
	if len(a.suspects) > 0 {
		if a.suspect, err = r.store.ClaimSuspect(ctx, r.owner, a.suspects); err != nil {
			return fmt.Errorf("claiming a suspect: %w", err)
		}
	}
	if len(a.wants) > 0 {
		if a.claims, err = r.store.Claim(ctx, r.owner, a.wants); err != nil {
			return fmt.Errorf("claiming steps: %w", err)
		}
	}
	return nil
}

// ask sends the clerk what is wanted now, if it is free and anything is.
func (d *dispatcher) ask() {
	if d.asking {
		return
	}
	var q question
	if d.failed() {
		return // what we hold goes back at the end, if at all
	}
	q.back, d.undone = d.undone, nil
	q.died, d.died = d.died, nil
	if !d.stopping && !d.over {
		q.look, q.suspects, q.wants = d.look, d.wantSuspect(), d.wants()
		if d.look {
			d.look, d.fresh, d.tried = false, true, false
		}
	}
	if len(q.back)+len(q.died)+len(q.suspects)+len(q.wants) == 0 && !q.look {
		return
	}
	d.asking = true
	d.asks <- q
}

// wants is how many steps of each stage there is room for, the last stage first:
// those that could start, and some ahead of time where they are quick.
func (d *dispatcher) wants() []Want {
	var out []Want
	free := d.opts.Slots - d.running - d.unsaved
	ahead := d.opts.Slots - d.queued
	held := map[string]bool{}
	for i := len(d.lanes) - 1; i >= 0; i-- {
		l := d.lanes[i]
		if len(l.queue) > 0 && l.passed >= d.opts.Slots {
			for name := range l.node.options.Needs {
				held[name] = true
			}
		}
		if l.maybe == 0 || d.isPaused(l) || !d.within(l.node.info.Name) || l.node.info.Drain && !d.drain {
			continue
		}
		now := 0
		if len(l.queue) == 0 {
			now = min(l.maybe, free, d.fit(l, held))
		}
		more := 0
		// One is always known of, so that a stage that needs much has its turn.
		if wish := l.cap - len(l.queue); !l.isSlow() || len(l.queue)+now == 0 && len(l.node.options.Needs) > 0 && !d.leadsDeeper(l) {
			if l.isSlow() {
				wish = 1
			}
			more = max(0, min(l.maybe-now, wish, ahead))
		}
		if now+more > 0 {
			out = append(out, Want{Stage: l.node.info.Name, N: now + more})
			free -= now
			ahead -= more
		}
	}
	return out
}

// wantSuspect names the stages whose suspects may run now: one at a time.
func (d *dispatcher) wantSuspect() []string {
	if !d.suspects || d.suspecting || d.queued >= d.opts.Slots {
		return nil
	}
	var out []string
	for i := len(d.lanes) - 1; i >= 0; i-- {
		l := d.lanes[i]
		if !d.isPaused(l) && d.within(l.node.info.Name) && (!l.node.info.Drain || d.drain) {
			out = append(out, l.node.info.Name)
		}
	}
	d.suspects = false // until something says otherwise
	return out
}

// hears takes what the clerk brings.
func (d *dispatcher) hears(a answer) {
	d.asking = false
	if a.err != nil {
		d.fail(fmt.Errorf("%w: %w", errStore, a.err))
		return
	}
	if a.look {
		d.sees(a)
	}
	got := map[string]int{}
	for _, c := range a.claims {
		got[c.Stage]++
		d.take(c, false)
	}
	if a.suspect != nil {
		d.suspecting = true
		d.take(*a.suspect, true)
	}
	for _, w := range a.wants {
		l := d.lane(w.Stage)
		if got[w.Stage] < w.N {
			l.maybe = 0 // the next look may say otherwise
		} else if l.maybe < plenty {
			l.maybe = max(0, l.maybe-got[w.Stage])
		}
	}
	if len(a.wants) > 0 && !a.look && len(a.claims) == 0 && a.suspect == nil {
		d.tried = true
	}
	if d.stopping {
		for _, l := range d.lanes {
			d.giveBack(l, len(l.queue))
		}
	}
}

func (d *dispatcher) lane(stage string) *lane {
	for _, l := range d.lanes {
		if l.node.info.Name == stage {
			return l
		}
	}
	return nil
}

func (d *dispatcher) take(c Claim, suspect bool) {
	l := d.lane(c.Stage)
	d.queued++
	d.stuck, d.fresh, d.tried = 0, false, false
	if !suspect {
		l.queue = append(l.queue, c)
		return
	}
	l.suspect[c.ID] = true
	l.queue = append([]Claim{c}, l.queue...)
}

// sees draws the outlook from the tallies.
func (d *dispatcher) sees(a answer) {
	d.next = a.next
	for _, res := range a.resources {
		if res.PausedUntil.After(d.paused[res.Name]) && res.PausedUntil.After(d.opts.Now()) {
			d.paused[res.Name] = res.PausedUntil
		}
	}
	d.ahead = outlook{}
	d.suspects = true
	ready := map[string]int{}
	for _, t := range a.tallies {
		l := d.lane(t.Stage)
		if l == nil || !d.within(t.Stage) {
			continue
		}
		switch {
		case l.node.info.Drain:
			d.ahead.drain = d.ahead.drain || t.State == schemas.StepReady && t.N > 0
			if t.State == schemas.StepRunning {
				d.ahead.running += t.N
			}
		case t.State == schemas.StepReady:
			ready[t.Stage] += t.N
			if d.isPaused(l) {
				d.ahead.blocked += t.N
			} else {
				d.ahead.ready += t.N
			}
		case t.State == schemas.StepRunning:
			d.ahead.running += t.N
		case t.State == schemas.StepWaiting:
			d.ahead.waiting += t.N
		case t.State == schemas.StepDeferred:
			d.ahead.deferred += t.N
		}
	}
	for _, l := range d.lanes {
		if !l.node.info.Drain {
			l.maybe = max(l.maybe, ready[l.node.info.Name])
		}
	}
}
