package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Step is one record at one stage, as it is stored.
type Step struct {
	Stage       string         `json:"stage"`
	Key         string         `json:"key"` // ID of the input
	State       State          `json:"state"`
	Fingerprint schemas.Digest `json:"fingerprint"` // of the stage that settled it
	Input       schemas.Digest `json:"input"`       // of the input record
	Outputs     []Output       `json:"outputs,omitempty"`
	Reason      schemas.Reason `json:"reason,omitempty"`
	Detail      string         `json:"detail,omitempty"` // the chain of causes
	Parent      string         `json:"parent,omitempty"` // key of the step that made the input
	// MS is the measured time in milliseconds. It is never part of a digest.
	MS int64 `json:"ms"`
	// Again asks for one more try, whatever the state (retry).
	Again bool `json:"again,omitempty"`
}

// Output is one record that a step made.
type Output struct {
	Key    string          `json:"key"`
	Digest schemas.Digest  `json:"digest"`
	Record json.RawMessage `json:"record"`
}

// Store keeps steps. Put is atomic and durable.
type Store interface {
	Step(stage, key string) (Step, bool, error)
	Put(Step) error
}

// Observer is told what happens, as it happens.
type Observer interface {
	Begin(stage, key string)
	End(s Step, reused bool)
}

// RunOptions narrow a run.
type RunOptions struct {
	// Only limits the run to these IDs; nil is all. Seeds always run.
	Only map[string]bool
	// Until names the last stage to run; "" is all of them.
	Until string
	// Now gives the time for the measured MS; never part of a record.
	Now func() time.Time
}

// Count is how items of one stage ended.
type Count struct {
	Stage    string                 `json:"stage"`
	Done     int                    `json:"done"`
	Rejected map[schemas.Reason]int `json:"rejected,omitempty"`
	Deferred int                    `json:"deferred,omitempty"`
	Failed   int                    `json:"failed,omitempty"`
	Executed int                    `json:"executed"` // not taken from the store
}

// Summary is the funnel of a run.
type Summary struct {
	Stages      []Count `json:"stages"`
	Interrupted bool    `json:"interrupted,omitempty"`
}

// Code is the exit code that the summary asks for (interface: exit codes).
func (s Summary) Code() int {
	code := 0
	for _, c := range s.Stages {
		if c.Deferred > 0 && code == 0 {
			code = 3
		}
		if c.Failed > 0 {
			code = 1
		}
	}
	if s.Interrupted {
		code = 130
	}
	return code
}

type run struct {
	store    Store
	observer Observer
	opts     RunOptions
	counts   map[string]*Count
	drained  []made
	ends     []Step
	stopped  bool
}

// Run takes the seeds through the plan, depth first, one item after another. An
// error is a fault of the store or the drain; what happens to items is in the Summary.
func (p *Plan) Run(ctx context.Context, store Store, seeds []Record, observer Observer, opts RunOptions) (Summary, error) {
	r := &run{store: store, observer: observer, opts: opts, counts: map[string]*Count{}}
	for _, n := range p.order {
		r.counts[n.name] = &Count{Stage: n.name, Rejected: map[schemas.Reason]int{}}
	}
	for _, seed := range seeds {
		raw, err := schemas.Canonical(seed)
		if err != nil {
			return Summary{}, fmt.Errorf("writing seed %s: %w", seed.ID(), err)
		}
		in := made{key: seed.ID(), digest: schemas.DigestBytes(raw), record: raw}
		for _, n := range p.first {
			if err := r.step(ctx, n, in, ""); err != nil {
				return r.summary(p), err
			}
		}
	}
	if p.drain != nil && !r.stopped && ctx.Err() == nil && r.wants(p, p.drain.name) {
		if err := r.drain(ctx, p.drain); err != nil {
			return r.summary(p), err
		}
	}
	r.stopped = r.stopped || ctx.Err() != nil
	return r.summary(p), nil
}

// wants tells whether stage lies before or at Until.
func (r *run) wants(p *Plan, stage string) bool {
	if r.opts.Until == "" {
		return true
	}
	names := p.Stages()
	return slices.Index(names, stage) <= slices.Index(names, r.opts.Until)
}

func (r *run) summary(p *Plan) Summary {
	s := Summary{Interrupted: r.stopped}
	for _, n := range p.order {
		s.Stages = append(s.Stages, *r.counts[n.name])
	}
	return s
}

// step settles one item at one stage and goes on to what follows from it.
func (r *run) step(ctx context.Context, n *node, in made, parent string) error {
	if n.drain != nil {
		r.drained = append(r.drained, in)
		return nil
	}
	if ctx.Err() != nil {
		r.stopped = true
		return nil
	}
	if parent != "" && r.opts.Only != nil && !r.opts.Only[in.key] {
		return nil
	}
	s, err := r.settle(ctx, n, in, parent)
	if err != nil {
		return err
	}
	if s.State == Interrupted {
		r.stopped = true
		return nil
	}
	if s.State != Done {
		r.ends = append(r.ends, s)
		return nil
	}
	if n.name == r.opts.Until {
		return nil
	}
	for _, out := range s.Outputs {
		for _, next := range n.next {
			if err := r.step(ctx, next, made{key: out.Key, digest: out.Digest, record: out.Record}, in.key); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle runs the item, or takes its settled result (design 5: WorkVersion).
func (r *run) settle(ctx context.Context, n *node, in made, parent string) (Step, error) {
	old, ok, err := r.store.Step(n.name, in.key)
	if err != nil {
		return Step{}, err
	}
	if ok && reusable(old, n.fingerprint, in.digest) {
		r.count(old, false)
		r.observer.End(old, true)
		return old, nil
	}
	r.observer.Begin(n.name, in.key)
	start := r.opts.Now()
	outs, err := guarded(func() ([]made, error) { return n.run(ctx, r, in.record) })
	s := Step{Stage: n.name, Key: in.key, Fingerprint: n.fingerprint, Input: in.digest, Parent: parent, MS: r.opts.Now().Sub(start).Milliseconds()}
	s.end(ctx, err)
	for _, m := range outs {
		s.Outputs = append(s.Outputs, Output{Key: m.key, Digest: m.digest, Record: m.record})
	}
	if s.State == Interrupted {
		return s, nil
	}
	if err := r.store.Put(s); err != nil {
		return s, fmt.Errorf("storing %s of %s: %w", n.name, in.key, err)
	}
	r.count(s, true)
	r.observer.End(s, false)
	return s, nil
}

// reusable: settled, not asked for again, and made of the same work on the same input.
func reusable(s Step, fingerprint, input schemas.Digest) bool {
	settled := s.State == Done || s.State == StateReject
	return settled && !s.Again && s.Fingerprint == fingerprint && s.Input == input
}

func (s *Step) end(ctx context.Context, err error) {
	s.State = EndOf(ctx, err)
	if err == nil {
		return
	}
	s.Detail = err.Error()
	var rejected *Rejected
	if s.State == StateReject && errors.As(err, &rejected) {
		s.Reason = rejected.Reason
		s.Detail = strings.TrimPrefix(s.Detail, string(rejected.Reason)+": ")
	}
}

// guarded turns a panic into Failed with its stack: one item never ends a run.
func guarded(f func() ([]made, error)) (out []made, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

func (r *run) count(s Step, executed bool) {
	c := r.counts[s.Stage]
	switch s.State {
	case Done:
		c.Done++
	case StateReject:
		c.Rejected[s.Reason]++
	case StateDefer:
		c.Deferred++
	case StateFail:
		c.Failed++
	}
	if executed {
		c.Executed++
	}
}

// shared settles the build that many members wait for.
func (r *run) shared(ctx context.Context, stage, key string, fingerprint schemas.Digest, build func() (any, error)) (json.RawMessage, error) {
	old, ok, err := r.store.Step(stage, key)
	if err != nil {
		return nil, err
	}
	if ok && reusable(old, fingerprint, schemas.Digest(key)) {
		if old.State == StateReject {
			return nil, &Rejected{Reason: old.Reason, Detail: old.Detail}
		}
		return old.Outputs[0].Record, nil
	}
	r.observer.Begin(stage, key)
	start := r.opts.Now()
	v, buildErr := build()
	s := Step{Stage: stage, Key: key, Fingerprint: fingerprint, Input: schemas.Digest(key), MS: r.opts.Now().Sub(start).Milliseconds()}
	s.end(ctx, buildErr)
	if s.State == Interrupted {
		return nil, buildErr
	}
	if buildErr == nil {
		raw, err := schemas.Canonical(v)
		if err != nil {
			return nil, fmt.Errorf("writing what %s made: %w", stage, err)
		}
		s.Outputs = []Output{{Key: key, Digest: schemas.DigestBytes(raw), Record: raw}}
	}
	if err := r.store.Put(s); err != nil {
		return nil, fmt.Errorf("storing %s of %s: %w", stage, key, err)
	}
	r.observer.End(s, false)
	if buildErr != nil {
		return nil, buildErr
	}
	return s.Outputs[0].Record, nil
}

// drain hands over everything in order of key, so that bytes do not depend on the
// order of work.
func (r *run) drain(ctx context.Context, n *node) error {
	slices.SortFunc(r.drained, func(a, b made) int { return strings.Compare(a.key, b.key) })
	slices.SortFunc(r.ends, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Stage, b.Stage))
	})
	r.observer.Begin(n.name, "")
	start := r.opts.Now()
	if err := n.drain(ctx, r.drained, r.ends); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	s := Step{Stage: n.name, State: Done, Fingerprint: n.fingerprint, MS: r.opts.Now().Sub(start).Milliseconds()}
	r.counts[n.name].Done = len(r.drained)
	r.observer.End(s, false)
	return nil
}
