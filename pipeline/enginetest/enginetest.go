// Package enginetest is a synthetic plan by which the engine is proved, and what
// is needed to kill it: every execution is noted in a file of its own, and the
// dataset can be computed by a plain loop, so that losses and repeats are counted
// without asking the store.
//
// It never stands for a real stage: its records are made of hashes.
package enginetest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// The stages, in order.
const (
	Expand = "expand"
	Filter = "filter"
	Refine = "refine"
	Join   = "join"
	Build  = "join.build"
	Work   = "work"
	Export = "export"
)

// Stages are the names in order, the build before those that wait for it.
var Stages = []string{Expand, Filter, Refine, Build, Join, Work, Export}

// The kinds of poison: what the one bad item does at work.
const (
	PoisonExit  = "exit"  // ends the process
	PoisonPanic = "panic" // panics
	PoisonHang  = "hang"  // never comes back by itself
)

// Config is the size of the plan and what its stages do; together with Seed it
// decides every end and every byte of the dataset.
type Config struct {
	Sources int // seeds
	Fan     int // items of each source
	Keys    int // builds that the items share
	BadKeys int // of these, how many are rejected
	Bytes   int // of a record, about
	Reject  int // of 1000 items, at filter
	Defer   int // of 1000 items, once, at filter
	Fail    int // of 1000 items, each time, at work
	Seed    uint64

	// Versions of stages, beside the first; Tag is what a stage puts into its output,
	// so that a new version may make an equal output or another one.
	Versions map[string]string
	Tags     map[string]string

	Poison string
	Delay  time.Duration // of a deferred item
	Sleep  time.Duration // of one work
	Limit  time.Duration // time-out of work
}

// Spike is the plan of the design (engine, section 1) with so many items.
func Spike(items int, seed uint64) Config {
	const fan = 25
	return Config{
		Sources: max(1, items/fan), Fan: fan, Keys: 45, Bytes: 600,
		Reject: 100, Defer: 50, Fail: 1, Seed: seed, Delay: 20 * time.Millisecond,
	}
}

// Source is a seed.
type Source struct{ Name string }

// ID is its name.
func (s Source) ID() string { return s.Name }

// Item is what goes through the stages. Trail depends on all that was done to it.
type Item struct{ Name, Trail, Fill string }

// ID is its name.
func (i Item) ID() string { return i.Name }

// Token is what a shared build makes.
type Token struct{ Key, Trail string }

// fate is a number below n that depends on the seed, a purpose and a key only.
func (c Config) fate(purpose, key string, n int) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", c.Seed, purpose, key)
	x := h.Sum64()
	x ^= x >> 29 // FNV's low bits alone follow the last letters of the key
	x *= 0x9e3779b97f4a7c15
	return int((x >> 33) % uint64(n))
}

func (c Config) trail(stage, before string) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%s", stage, c.Tags[stage], before)
	return hex.EncodeToString(h.Sum(nil))
}

func (c Config) source(n int) Source { return Source{fmt.Sprintf("s%06d", n)} }

func (c Config) item(source string, n int) Item {
	name := fmt.Sprintf("%s-%05d", source, n)
	fill := max(0, c.Bytes-len(`{"Name":"","Trail":"","Fill":""}`)-len(name)-32)
	return Item{Name: name, Trail: c.trail(Expand, name), Fill: strings.Repeat("x", fill)}
}

func (c Config) rejected(key string) bool { return c.fate(Filter, key, 1000) < c.Reject }
func (c Config) deferred(key string) bool { return c.fate("defer", key, 1000) < c.Defer }
func (c Config) failed(key string) bool   { return c.fate(Work, key, 1000) < c.Fail }
func (c Config) rough(key string) bool    { return c.fate(Refine, key, 3) == 0 }
func (c Config) share(key string) string  { return fmt.Sprintf("k%04d", c.fate(Join, key, c.Keys)) }
func (c Config) bad(share string) bool    { return share < fmt.Sprintf("k%04d", c.BadKeys) }

func (c Config) token(share string) Token {
	return Token{Key: share, Trail: c.trail(Build, share)}
}

func (c Config) joined(in Item, t Token) Item {
	in.Trail = c.trail(Join, in.Trail+t.Trail)
	return in
}

// Middle is the item that Poison meets: one that gets through.
func (c Config) Middle() string {
	for n := range c.Sources * c.Fan {
		n = (n + c.Sources*c.Fan/2) % (c.Sources * c.Fan)
		key := c.item(c.source(n/c.Fan).Name, n%c.Fan).Name
		if !c.rejected(key) && !c.failed(key) && !c.bad(c.share(key)) {
			return key
		}
	}
	return ""
}

func (c Config) poisoned() string {
	if c.Poison == "" {
		return ""
	}
	return c.Middle()
}

// Seeds are the complete list of sources.
func (c Config) Seeds() []pipeline.Record {
	out := make([]pipeline.Record, c.Sources)
	for n := range out {
		out[n] = c.source(n)
	}
	return out
}

// World is what the stages of one process have beside their inputs.
type World struct {
	Log *Log
	Dir string // of the dataset
	// Die ends the process at once; nil where the poison must not.
	Die func()
	// Worked is told of each item that work is done with.
	Worked func(key string)
}

// Plan is expand, filter, refine (one of three items), join (with its shared build), work
// and export.
func (c Config) Plan(w World) *pipeline.Plan {
	p := stages{c, w, c.poisoned()}
	o := func(stage string) pipeline.Options {
		return pipeline.Options{Version: "1" + c.Versions[stage], Config: struct{ Tag string }{c.Tags[stage]}}
	}
	kept, work := o(Filter), o(Work)
	// What is put off to a time that has passed when it is booked waits a second.
	kept.Budget = pipeline.Budget{Tries: 20, Wait: 20 * time.Second}
	work.Timeout = c.Limit
	items := pipeline.Expand(pipeline.New[Source](), Expand, pipeline.Expander[Source, Item](expand{p}), o(Expand))
	filtered := pipeline.Then(items, Filter, pipeline.Stage[Item, Item](filter{p}), kept)
	rough := pipeline.Where(filtered, func(i Item) bool { return c.rough(i.Name) })
	fine := pipeline.Where(filtered, func(i Item) bool { return !c.rough(i.Name) })
	refined := pipeline.Then(rough, Refine, pipeline.Stage[Item, Item](refine{p}), o(Refine))
	joined := pipeline.Share(pipeline.Merge(refined, fine), Join, pipeline.Sharer[Item, Token, Item](join{p}), o(Join))
	worked := pipeline.Then(joined, Work, pipeline.Stage[Item, Item](worker{p}), work)
	return pipeline.Drain(worked, Export, pipeline.Drainer[Item](export{p}), o(Export))
}

type stages struct {
	c      Config
	w      World
	poison string
}

type expand struct{ stages }

func (s expand) Run(_ context.Context, in Source) ([]Item, error) {
	if err := s.w.Log.Began(Expand, in.Name); err != nil {
		return nil, err
	}
	out := make([]Item, s.c.Fan)
	for n := range out {
		out[n] = s.c.item(in.Name, n)
	}
	return out, nil
}

type filter struct{ stages }

func (s filter) Run(_ context.Context, in Item) (Item, error) {
	if s.c.deferred(in.Name) {
		first, err := s.w.Log.First(in.Name)
		if err != nil {
			return Item{}, err
		}
		if first {
			return Item{}, &pipeline.Deferred{Until: time.Now().Add(s.c.Delay), Err: errors.New("not now")}
		}
	}
	if err := s.w.Log.Began(Filter, in.Name); err != nil {
		return Item{}, err
	}
	if s.c.rejected(in.Name) {
		return Item{}, pipeline.Reject(schemas.NoCode, "by lot")
	}
	in.Trail = s.c.trail(Filter, in.Trail)
	return in, nil
}

type refine struct{ stages }

func (s refine) Run(_ context.Context, in Item) (Item, error) {
	if err := s.w.Log.Began(Refine, in.Name); err != nil {
		return Item{}, err
	}
	in.Trail = s.c.trail(Refine, in.Trail)
	return in, nil
}

type join struct{ stages }

func (s join) Key(in Item) string { return s.c.share(in.Name) }

func (s join) Build(_ context.Context, in Item) (Token, error) {
	share := s.c.share(in.Name)
	if err := s.w.Log.Began(Build, share); err != nil {
		return Token{}, err
	}
	if s.c.bad(share) {
		return Token{}, pipeline.Reject(schemas.NoBuild, "by number")
	}
	return s.c.token(share), nil
}

func (s join) Run(_ context.Context, in Item, t Token) (Item, error) {
	if err := s.w.Log.Began(Join, in.Name); err != nil {
		return Item{}, err
	}
	return s.c.joined(in, t), nil
}

type worker struct{ stages }

func (s worker) Run(ctx context.Context, in Item) (Item, error) {
	if err := s.w.Log.Began(Work, in.Name); err != nil {
		return Item{}, err
	}
	if in.Name == s.poison {
		if err := s.swallow(ctx); err != nil {
			return Item{}, err
		}
	}
	if s.c.Sleep > 0 {
		select {
		case <-time.After(s.c.Sleep):
		case <-ctx.Done():
			return Item{}, context.Cause(ctx)
		}
	}
	if s.c.failed(in.Name) {
		return Item{}, errors.New("by lot")
	}
	in.Trail = s.c.trail(Work, in.Trail)
	if s.w.Worked != nil {
		s.w.Worked(in.Name)
	}
	return in, nil
}

func (s worker) swallow(ctx context.Context) error {
	switch {
	case s.c.Poison == PoisonExit && s.w.Die != nil:
		s.w.Die()
	case s.c.Poison == PoisonPanic:
		panic("poison")
	case s.c.Poison == PoisonHang:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

// Deferrals counts the items that are put off once.
func (c Config) Deferrals() int { return c.count(c.deferred) }

// BadMembers counts the items that wait for a build that is rejected.
func (c Config) BadMembers() int {
	return c.count(func(key string) bool { return !c.rejected(key) && c.bad(c.share(key)) })
}

func (c Config) count(which func(key string) bool) int {
	n := 0
	for s := range c.Sources {
		for i := range c.Fan {
			if which(c.item(c.source(s).Name, i).Name) {
				n++
			}
		}
	}
	return n
}

// Fails reports whether an execution fails each time: every run repeats it.
func (c Config) Fails(e Execution) bool {
	return e.Stage == Work && (c.failed(e.Key) || e.Key == c.poisoned())
}
