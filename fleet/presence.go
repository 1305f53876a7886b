package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// workers are those that the coordinator has heard of.
type workers struct {
	lease time.Duration
	now   func() time.Time

	mu     sync.Mutex
	all    map[string]Beat // by name
	slots  int             // that were said last
	limits chan map[string]int
}

// beats takes note of a beat.
func (w *workers) beats(b Beat) {
	b.Seen = w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[b.Worker] = b; b.Leaves && len(b.Doing) == 0 {
		delete(w.all, b.Worker)
	}
	w.tell()
}

// tell says how many slots there are, where that has changed.
func (w *workers) tell() {
	n := 0
	for _, b := range w.all {
		if !b.Leaves {
			n += b.Slots
		}
	}
	if n == w.slots {
		return
	}
	w.slots = n
	select {
	case <-w.limits: // nobody has read it yet
	default:
	}
	w.limits <- map[string]int{Slots: n}
}

// watch leaves out who is silent, and tells of it.
func (w *workers) watch(ctx context.Context, silent func(worker string)) {
	const looks = 10 // in a lease
	tick := time.NewTicker(w.lease / looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var gone []string
		w.mu.Lock()
		maps.DeleteFunc(w.all, func(name string, b Beat) bool {
			is := w.now().Sub(b.Seen) > w.lease
			if is {
				gone = append(gone, name)
			}
			return is
		})
		w.tell()
		w.mu.Unlock()
		for _, name := range gone {
			silent(name)
		}
	}
}

// beatsInLease is how often a worker says within a lease that it lives.
const beatsInLease = 3

// Slots names what a step of a worker holds in pipeline.RunOptions.Resources.
const Slots = "sandbox"

// Limits is pipeline.RunOptions.Limits: the slots of all living workers together.
func (c *Coordinator) Limits() <-chan map[string]int { return c.fleet.limits }

// Slots are those of all living workers together.
func (c *Coordinator) Slots() int {
	c.fleet.mu.Lock()
	defer c.fleet.mu.Unlock()
	return c.fleet.slots
}

// Workers are those that live, by name.
func (c *Coordinator) Workers() []Beat {
	c.fleet.mu.Lock()
	defer c.fleet.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.fleet.all), func(a, b Beat) int { return cmp.Compare(a.Worker, b.Worker) })
}
