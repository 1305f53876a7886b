package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Record is a plain value with a readable ID.
type Record interface{ ID() string }

// Stage turns one record into one.
type Stage[In, Out Record] interface {
	Run(context.Context, In) (Out, error)
}

// Expander turns one record into many.
type Expander[In, Out Record] interface {
	Run(context.Context, In) ([]Out, error)
}

// Sharer needs something dear that many records have in common: Key names it (a
// pure function of the record), Build makes it once, Run is each record's own part.
type Sharer[In Record, S any, Out Record] interface {
	Key(In) string
	Build(context.Context, In) (S, error)
	Run(context.Context, In, S) (Out, error)
}

// Drainer reads all that got through, in order of key, and every other end. It
// may be asked again for the same: it writes whole or not at all.
type Drainer[In Record] interface {
	Run(context.Context, iter.Seq2[In, error], Ended) error
}

// Depender is what a stage value may be as well: its results depend on these
// fields of its input only, and a redo that changes others does not reach it.
// Without it they depend on the whole record.
type Depender[In Record] interface {
	Depends(In) any
}

// Ended is what did not get through, and how many did at each stage.
type Ended struct {
	Steps  iter.Seq2[schemas.Step, error] // rejected, deferred and failed, by key, then by stage
	Funnel []Count
	Open   int // deferred steps that a partial drain goes without
}

// Options are what a stage's results depend on apart from their inputs (Version,
// Config, Reads), and what it takes to run it.
type Options struct {
	Version string
	Config  any // digested; no times, no paths
	// Needs are the resources that one step holds while it runs; all are taken at
	// once. A name without a limit in RunOptions can still be paused.
	Needs map[string]int
	// Slots is how many steps of the stage run at once; 0 is as many as there are.
	Slots int
	// Timeout ends one step as Failed; 0 means none.
	Timeout time.Duration
	Budget  Budget
	// Reads are earlier stages whose output under the same key is used as well.
	Reads []string
}

func (o Options) fingerprint(name string) schemas.Digest {
	return schemas.DigestOf(struct {
		Name, Version string
		Config        any
	}{name, o.Version, o.Config})
}

// buildSuffix makes the name of a build's stage.
const buildSuffix = ".build"

// node is one stage as runner and store see it: bytes in, bytes out.
type node struct {
	info    StageInfo
	options Options
	// run makes the outputs; built is what the step's build made.
	run func(ctx context.Context, in, built json.RawMessage) ([]Made, error)
	// drain is run's counterpart at the last stage.
	drain func(context.Context, iter.Seq2[Made, error], Ended) error
	// enter says what a record is to this stage: what it depends on, what build it needs.
	enter func(*Made) error
	next  []way
	build *node // of a stage that shares
}

// way leads from a stage to one that takes its records, or those of them for which all
// conditions hold.
type way struct {
	to    *node
	where conditions
}

// conditions are those of Where, on a record as it is stored.
type conditions []func(json.RawMessage) (bool, error)

func (c conditions) holds(record json.RawMessage) (bool, error) {
	for _, keep := range c {
		if ok, err := keep(record); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// outlet is a stage that a flow comes from, and which of its records.
type outlet struct {
	node  *node // nil: the seeds
	where conditions
}

// Flow is a place in the plan where records of type T come by.
type Flow[T Record] struct {
	plan *Plan
	from []outlet
}

// Plan is the stages in order, each behind those that lead to it, the last one a drain.
type Plan struct {
	order []*node // without builds
	errs  []error
	judge func(error) error // nil leaves every error as it is
}

// Judge has f say what the errors of all stages are that no stage gives an end: faults of
// the machine.
func (p *Plan) Judge(f func(error) error) { p.judge = f }

func (p *Plan) judged(err error) error {
	if err == nil || p.judge == nil {
		return err
	}
	return p.judge(err)
}

// Stages are the names, in the order they were added.
func (p *Plan) Stages() []string {
	var out []string
	for _, n := range p.order {
		out = append(out, n.info.Name)
	}
	return out
}

// Infos is what a store has to know of the plan: its stages in order, each build
// before the stage that shares it.
func (p *Plan) Infos() []StageInfo {
	var out []StageInfo
	for _, n := range p.nodes() {
		info := n.info
		for _, way := range n.next {
			info.Next = append(info.Next, way.to.info.Name)
		}
		out = append(out, info)
	}
	return out
}

func (p *Plan) nodes() []*node {
	var out []*node
	for _, n := range p.order {
		if n.build != nil {
			out = append(out, n.build)
		}
		out = append(out, n)
	}
	return out
}

// Check says what the types cannot: names that come twice, a stage whose records nobody
// takes, a stage that reads what does not lead to it.
func (p *Plan) Check() error {
	errs := slices.Clone(p.errs)
	if len(p.order) == 0 || !p.order[len(p.order)-1].info.Drain {
		errs = append(errs, errors.New("the plan does not end in a drain"))
	}
	seen := map[string]bool{}
	for _, n := range p.nodes() {
		name := n.info.Name
		leads := p.leadsTo(name)
		for _, r := range n.info.Reads {
			if r == name || !leads[r] {
				errs = append(errs, fmt.Errorf("stage %s reads %s, which does not lead to it", name, r))
			}
		}
		if len(n.next) == 0 && n.info.Of == "" && !n.info.Drain {
			errs = append(errs, fmt.Errorf("no stage takes what stage %s makes", name))
		}
		if seen[name] || name == "" {
			errs = append(errs, fmt.Errorf("stage %q: the name is taken or empty", name))
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// leadsTo are the names of a stage, of those that lead to it, and of their builds.
func (p *Plan) leadsTo(stage string) map[string]bool {
	leads := map[string]bool{}
	for _, n := range slices.Backward(p.order) { // a stage stands behind those that lead to it
		name := n.info.Name
		if name == stage || slices.ContainsFunc(n.next, func(w way) bool { return leads[w.to.info.Name] }) {
			leads[name] = true
			if n.build != nil {
				leads[n.build.info.Name] = true
			}
		}
	}
	return leads
}

// New begins a plan whose seeds are of type T.
func New[T Record]() Flow[T] { return Flow[T]{plan: &Plan{}, from: []outlet{{}}} }

// Where is the part of a flow for which keep holds. Several stages may take one flow: a
// record goes to each whose Where holds, and a step with a record that goes to none is
// Failed, so that nothing is lost between branches.
//
// keep is a pure function of the record. Where it changes, so must the Version of the
// stages that the flow comes from: what they made is not sent anew otherwise.
func Where[A Record](f Flow[A], keep func(A) bool) Flow[A] {
	out := Flow[A]{plan: f.plan}
	for _, o := range f.from {
		if o.node == nil {
			f.plan.errs = append(f.plan.errs, errors.New("one stage takes all seeds; they have no Where"))
		}
		o.where = append(slices.Clip(o.where), func(record json.RawMessage) (bool, error) {
			a, err := decode[A](record)
			return err == nil && keep(a), err
		})
		out.from = append(out.from, o)
	}
	return out
}

// Merge is where branches meet: one stage takes the records of all of them. Where two
// make one key, the step that makes it second is Failed.
func Merge[A Record](first Flow[A], more ...Flow[A]) Flow[A] {
	out := Flow[A]{plan: first.plan, from: slices.Clone(first.from)}
	for _, f := range more {
		if f.plan != out.plan {
			out.plan.errs = append(out.plan.errs, errors.New("branches of two plans cannot meet"))
		}
		out.from = append(out.from, f.from...)
	}
	return out
}

// add appends n, which takes records of type A; s is the stage's value.
func add[A, B Record](f Flow[A], n *node, s any) Flow[B] {
	f.plan.append(f.from, n)
	share := n.enter
	n.enter = func(m *Made) error {
		m.Digest = m.Whole
		if d, ok := s.(Depender[A]); ok {
			a, err := decode[A](m.Record)
			if err != nil {
				return err
			}
			raw, err := schemas.Canonical(d.Depends(a))
			if err != nil {
				return fmt.Errorf("writing what %s depends on: %w", n.info.Name, err)
			}
			m.Digest = schemas.DigestBytes(raw)
		}
		if share != nil {
			return share(m)
		}
		return nil
	}
	return Flow[B]{plan: f.plan, from: []outlet{{node: n}}}
}

func (p *Plan) append(from []outlet, n *node) {
	for _, o := range from {
		switch {
		case o.node == nil && len(p.order) > 0:
			p.errs = append(p.errs, fmt.Errorf("stages %s and %s both take the seeds", p.order[0].info.Name, n.info.Name))
		case o.node == nil:
		case slices.ContainsFunc(o.node.next, func(w way) bool { return w.to == n }):
			p.errs = append(p.errs, fmt.Errorf("stage %s takes what %s makes twice", n.info.Name, o.node.info.Name))
		default:
			o.node.next = append(o.node.next, way{n, o.where})
		}
	}
	p.order = append(p.order, n)
}

func newNode(name string, o Options) *node {
	return &node{options: o, info: StageInfo{Name: name, Fingerprint: o.fingerprint(name), Reads: o.Reads, Budget: o.Budget}}
}

// Then appends a stage that makes one record from each.
func Then[A, B Record](f Flow[A], name string, s Stage[A, B], o Options) Flow[B] {
	n := newNode(name, o)
	n.run = func(ctx context.Context, in, _ json.RawMessage) ([]Made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		b, err := s.Run(ctx, a)
		if err != nil {
			return nil, err
		}
		return encode([]B{b})
	}
	return add[A, B](f, n, s)
}

// Expand appends a stage that makes any number of records from each.
func Expand[A, B Record](f Flow[A], name string, s Expander[A, B], o Options) Flow[B] {
	n := newNode(name, o)
	n.run = func(ctx context.Context, in, _ json.RawMessage) ([]Made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		bs, err := s.Run(ctx, a)
		if err != nil {
			return nil, err
		}
		return encode(bs)
	}
	return add[A, B](f, n, s)
}

// Share appends a stage whose dear part is built once a key. The build is a step
// of its own, named <stage>.build; its end becomes each member's. Options hold for
// both: a build needs what its members need.
func Share[A Record, S any, B Record](f Flow[A], name string, s Sharer[A, S, B], o Options) Flow[B] {
	n := newNode(name, o)
	n.run = func(ctx context.Context, in, built json.RawMessage) ([]Made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		var made S
		if err := json.Unmarshal(built, &made); err != nil {
			return nil, fmt.Errorf("reading what %s left: %w", name+buildSuffix, err)
		}
		b, err := s.Run(ctx, a, made)
		if err != nil {
			return nil, err
		}
		return encode([]B{b})
	}
	n.enter = func(m *Made) error {
		a, err := decode[A](m.Record)
		if err != nil {
			return err
		}
		if m.Share = s.Key(a); m.Share == "" {
			return fmt.Errorf("%s names no build for %s", name, m.Key)
		}
		return nil
	}
	n.build = newNode(name+buildSuffix, o)
	n.build.run = func(ctx context.Context, in, _ json.RawMessage) ([]Made, error) {
		a, err := decode[A](in)
		if err != nil {
			return nil, err
		}
		if b, ok := ctx.Value(besideKey{}).(*beside); ok {
			b.member = a.ID()
		}
		made, err := s.Build(ctx, a)
		if err != nil {
			return nil, err
		}
		raw, err := schemas.Canonical(made)
		if err != nil {
			return nil, fmt.Errorf("writing what %s made: %w", name+buildSuffix, err)
		}
		return []Made{{Key: s.Key(a), Digest: schemas.DigestBytes(raw), Whole: schemas.DigestBytes(raw), Record: raw}}, nil
	}
	n.info.Build, n.build.info.Of, n.build.info.Reads = n.build.info.Name, name, nil
	return add[A, B](f, n, s)
}

// Drain ends a plan: one step that sees all that got through.
func Drain[A Record](f Flow[A], name string, d Drainer[A], o Options) *Plan {
	n := newNode(name, o)
	n.info.Drain = true
	n.drain = func(ctx context.Context, held iter.Seq2[Made, error], ended Ended) error {
		return d.Run(ctx, func(yield func(A, error) bool) {
			for m, err := range held {
				var a A
				if err == nil {
					a, err = decode[A](m.Record)
				}
				if !yield(a, err) || err != nil {
					return
				}
			}
		}, ended)
	}
	add[A, A](f, n, d)
	return f.plan
}

func decode[A Record](in json.RawMessage) (A, error) {
	var a A
	if err := json.Unmarshal(in, &a); err != nil {
		return a, fmt.Errorf("reading a stored %T: %w", a, err)
	}
	return a, nil
}

func encode[B Record](bs []B) ([]Made, error) {
	out := make([]Made, 0, len(bs))
	for _, b := range bs {
		m, err := madeOf(b)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func madeOf(b Record) (Made, error) {
	raw, err := schemas.Canonical(b)
	if err != nil {
		return Made{}, fmt.Errorf("writing %s: %w", b.ID(), err)
	}
	return Made{Key: b.ID(), Whole: schemas.DigestBytes(raw), Record: raw}, nil
}
