package oldpipeline

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

// Store keeps steps. Put is atomic and durable.
type Store interface {
	Step(stage, key string) (schemas.Step, bool, error)
	Put(schemas.Step) error
}

// Observer is told what happens, as it happens.
type Observer interface {
	Begin(stage, key string)
	End(s schemas.Step, reused bool)
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
	ends     []schemas.Step
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
		if err := r.drain(ctx, p); err != nil {
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
	if s.State == schemas.StepInterrupted {
		r.stopped = true
		return nil
	}
	if s.State != schemas.StepDone {
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
func (r *run) settle(ctx context.Context, n *node, in made, parent string) (schemas.Step, error) {
	old, ok, err := r.store.Step(n.name, in.key)
	if err != nil {
		return schemas.Step{}, err
	}
	if ok && reusable(old, n.fingerprint, in.digest) {
		r.count(old, false)
		r.observer.End(old, true)
		return old, nil
	}
	r.observer.Begin(n.name, in.key)
	start := r.opts.Now()
	outs, err := guarded(func() ([]made, error) { return n.run(ctx, r, in.record) })
	s := schemas.Step{Stage: n.name, Key: in.key, Fingerprint: n.fingerprint, Input: in.digest, Parent: parent, MS: r.opts.Now().Sub(start).Milliseconds()}
	end(ctx, &s, err)
	for _, m := range outs {
		s.Outputs = append(s.Outputs, schemas.Output{Key: m.key, Digest: m.digest, Record: m.record})
	}
	if s.State == schemas.StepInterrupted {
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
func reusable(s schemas.Step, fingerprint, input schemas.Digest) bool {
	settled := s.State == schemas.StepDone || s.State == schemas.StepRejected
	return settled && !s.Again && s.Fingerprint == fingerprint && s.Input == input
}

func end(ctx context.Context, s *schemas.Step, err error) {
	s.State = EndOf(ctx, err)
	if err == nil {
		return
	}
	s.Detail = err.Error()
	var rejected *Rejected
	if s.State == schemas.StepRejected && errors.As(err, &rejected) {
		s.Reason, s.Evidence = rejected.Reason, rejected.Evidence
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

func (r *run) count(s schemas.Step, executed bool) {
	c := r.counts[s.Stage]
	switch s.State {
	case schemas.StepDone:
		c.Done++
	case schemas.StepRejected:
		c.Rejected[s.Reason]++
	case schemas.StepDeferred:
		c.Deferred++
	case schemas.StepFailed:
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
		if old.State == schemas.StepRejected {
			return nil, &Rejected{Reason: old.Reason, Detail: old.Detail, Evidence: old.Evidence}
		}
		return old.Outputs[0].Record, nil
	}
	r.observer.Begin(stage, key)
	start := r.opts.Now()
	v, buildErr := build()
	s := schemas.Step{Stage: stage, Key: key, Fingerprint: fingerprint, Input: schemas.Digest(key), MS: r.opts.Now().Sub(start).Milliseconds()}
	end(ctx, &s, buildErr)
	var rejected *Rejected
	if s.State == schemas.StepInterrupted || errors.As(buildErr, &rejected) && rejected.Own {
		return nil, buildErr
	}
	if buildErr == nil {
		raw, err := schemas.Canonical(v)
		if err != nil {
			return nil, fmt.Errorf("writing what %s made: %w", stage, err)
		}
		s.Outputs = []schemas.Output{{Key: key, Digest: schemas.DigestBytes(raw), Record: raw}}
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
func (r *run) drain(ctx context.Context, p *Plan) error {
	n := p.drain
	slices.SortFunc(r.drained, func(a, b made) int { return strings.Compare(a.key, b.key) })
	slices.SortFunc(r.ends, func(a, b schemas.Step) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Stage, b.Stage))
	})
	r.observer.Begin(n.name, "")
	start := r.opts.Now()
	if err := n.drain(ctx, r.drained, Ended{Steps: r.ends, Funnel: r.summary(p).Stages}); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	s := schemas.Step{Stage: n.name, State: schemas.StepDone, Fingerprint: n.fingerprint, MS: r.opts.Now().Sub(start).Milliseconds()}
	r.counts[n.name].Done = len(r.drained)
	r.observer.End(s, false)
	return nil
}
