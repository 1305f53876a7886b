// Package oldpipeline is the runner of one item after another over the plain store.
// It stands only until the commands work on the new engine, and never longer.
package oldpipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// What both engines share.
type (
	Record                               = pipeline.Record
	Stage[In, Out Record]                = pipeline.Stage[In, Out]
	Expander[In, Out Record]             = pipeline.Expander[In, Out]
	Sharer[In Record, S any, Out Record] = pipeline.Sharer[In, S, Out]
	Rejected                             = pipeline.Rejected
	Deferred                             = pipeline.Deferred
	Options                              = pipeline.Options
)

// EndOf tells the five ends apart.
func EndOf(ctx context.Context, err error) schemas.StepState {
	if err != nil && ctx.Err() != nil {
		return schemas.StepInterrupted
	}
	return pipeline.EndOf(ctx, err)
}

// Ended is what did not get through, and how many did at each stage.
type Ended struct {
	Steps  []schemas.Step // rejected, deferred and failed, in order of key
	Funnel []Count
}

// Drainer reads all that got through, in order of key, and every other end.
type Drainer[In Record] interface {
	Run(context.Context, iter.Seq2[In, error], Ended) error
}

func fingerprint(o Options, name string) schemas.Digest {
	return schemas.DigestOf(struct {
		Name, Version string
		Config        any
	}{name, o.Version, o.Config})
}

// made is one output, as bytes: generics end here.
type made struct {
	key    string
	digest schemas.Digest
	record json.RawMessage
}

type node struct {
	name        string
	fingerprint schemas.Digest
	run         func(context.Context, *run, json.RawMessage) ([]made, error)
	drain       func(context.Context, []made, Ended) error
	next        []*node
}

// Flow is a place in the plan where records of type T come by.
type Flow[T Record] struct {
	plan *Plan
	from *node // nil: the seeds
}

// Plan is the stages and what feeds what.
type Plan struct {
	first []*node
	order []*node
	drain *node
}

// Stages are the names, in the order they were added.
func (p *Plan) Stages() []string {
	var out []string
	for _, n := range p.order {
		out = append(out, n.name)
	}
	return out
}

// New begins a plan whose seeds are of type T.
func New[T Record]() Flow[T] { return Flow[T]{plan: &Plan{}} }

func add[A, B Record](f Flow[A], n *node) Flow[B] {
	f.plan.order = append(f.plan.order, n)
	if f.from == nil {
		f.plan.first = append(f.plan.first, n)
	} else {
		f.from.next = append(f.from.next, n)
	}
	return Flow[B]{plan: f.plan, from: n}
}

// Then appends a stage that makes one record from each.
func Then[A, B Record](f Flow[A], name string, s Stage[A, B], o Options) Flow[B] {
	return add[A, B](f, &node{name: name, fingerprint: fingerprint(o, name), run: func(ctx context.Context, _ *run, in json.RawMessage) ([]made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		b, err := s.Run(ctx, a)
		if err != nil {
			return nil, err
		}
		return encode([]B{b})
	}})
}

// Expand appends a stage that makes any number of records from each.
func Expand[A, B Record](f Flow[A], name string, s Expander[A, B], o Options) Flow[B] {
	return add[A, B](f, &node{name: name, fingerprint: fingerprint(o, name), run: func(ctx context.Context, _ *run, in json.RawMessage) ([]made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		bs, err := s.Run(ctx, a)
		if err != nil {
			return nil, err
		}
		return encode(bs)
	}})
}

// Share appends a stage whose dear part is built once a key. The build is a step
// of its own, named <stage>.build; its end becomes each member's.
func Share[A Record, S any, B Record](f Flow[A], name string, s Sharer[A, S, B], o Options) Flow[B] {
	fp := fingerprint(o, name)
	return add[A, B](f, &node{name: name, fingerprint: fp, run: func(ctx context.Context, r *run, in json.RawMessage) ([]made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		record, err := r.shared(ctx, name+".build", s.Key(a), fp, func() (any, error) { return s.Build(ctx, a) })
		if err != nil {
			return nil, err
		}
		var built S
		if err := json.Unmarshal(record, &built); err != nil {
			return nil, fmt.Errorf("reading what %s.build left: %w", name, err)
		}
		b, err := s.Run(ctx, a, built)
		if err != nil {
			return nil, err
		}
		return encode([]B{b})
	}})
}

// Drain ends a plan: one step that sees all that got through.
func Drain[A Record](f Flow[A], name string, d Drainer[A], o Options) *Plan {
	n := &node{name: name, fingerprint: fingerprint(o, name), drain: func(ctx context.Context, all []made, ended Ended) error {
		return d.Run(ctx, func(yield func(A, error) bool) {
			for _, m := range all {
				if !yield(decode[A](m.record)) {
					return
				}
			}
		}, ended)
	}}
	f.from.next = append(f.from.next, n)
	f.plan.order = append(f.plan.order, n)
	f.plan.drain = n
	return f.plan
}

func decode[A Record](in json.RawMessage) (A, error) {
	var a A
	if err := json.Unmarshal(in, &a); err != nil {
		return a, fmt.Errorf("reading a stored %T: %w", a, err)
	}
	return a, nil
}

func encode[B Record](bs []B) ([]made, error) {
	out := make([]made, 0, len(bs))
	for _, b := range bs {
		raw, err := schemas.Canonical(b)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", b.ID(), err)
		}
		out = append(out, made{key: b.ID(), digest: schemas.DigestBytes(raw), record: raw})
	}
	return out, nil
}
