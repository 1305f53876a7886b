package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Provide puts v beside the step that ctx belongs to: which prompt, model and
// tools made its result, at what usage. It is never digested, so that another
// prompt with the same answer redoes nothing below. Several calls make a list, in their order.
func Provide(ctx context.Context, v any) {
	if b, ok := ctx.Value(besideKey{}).(*beside); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.provenance = append(b.provenance, v)
	}
}

// Charge adds to the cost of the step that ctx belongs to, in the currency of the
// configuration.
func Charge(ctx context.Context, cost float64) {
	if b, ok := ctx.Value(besideKey{}).(*beside); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.cost += cost
	}
}

// Doer is the stage and the key of the step that ctx belongs to; "" and "" outside of one.
func Doer(ctx context.Context) (stage, key string) {
	if b, ok := ctx.Value(besideKey{}).(*beside); ok {
		return b.stage, b.key
	}
	return "", ""
}

// Item names what the step that ctx belongs to is for: its key, and of a build the member
// that it is made with; "" outside of a step.
func Item(ctx context.Context) string {
	b, ok := ctx.Value(besideKey{}).(*beside)
	switch {
	case !ok:
		return ""
	case b.member != "":
		return b.member
	}
	return b.key
}

// Doing tells an observer how far the step that ctx belongs to is ("hunk 3 of 14"). It
// decides nothing and is kept nowhere. What may take more than a few seconds is told.
func Doing(ctx context.Context, form string, args ...any) {
	b, ok := ctx.Value(besideKey{}).(*beside)
	if !ok || b.doing == nil {
		return
	}
	text := fmt.Sprintf(form, args...)
	if b.member != "" {
		text = "for " + b.member + ": " + text
	}
	b.doing(text)
}

type besideKey struct{}

// beside is what a step says of itself apart from its result.
type beside struct {
	stage, key string
	member     string // of a build: the one that it is made with

	mu         sync.Mutex
	provenance []any
	cost       float64
	doing      func(text string) // nil where nobody asks
	settled    func()            // called when the step is settled; nil is nobody
}

func (b *beside) into(s *Settlement) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Cost = b.cost
	if len(b.provenance) == 0 {
		return nil
	}
	var v any = b.provenance
	if len(b.provenance) == 1 {
		v = b.provenance[0]
	}
	raw, err := schemas.Canonical(v)
	if err != nil {
		return fmt.Errorf("writing the provenance: %w", err)
	}
	s.Provenance = raw
	return nil
}

const (
	// leave is how long a step may take to end after it was told to.
	leave = 5 * time.Second
	// pause is how long a deferred step waits where neither it nor the budget says.
	pause = time.Minute
	// restPart is the part of a step's wait for which its resource is paused.
	restPart = 4
)

// result is a step that is over, on its way to the store.
type result struct {
	lane       *lane
	claim      Claim
	settlement Settlement
	// resource is to be paused until then: a rate limit belongs to the resource.
	resource string
	until    time.Time

	suspect     bool
	interrupted bool
	halted      *Halted // what interrupted it, where that was the machine
	died        bool    // its worker went silent: it counts as a crash
	done        func()  // to be called when it is settled; nil is nobody
	settled     Settled
	err         error // of the store
	cause       error // of an end that is not done, with its types
}

// execute runs one step to its end.
func (r *run) execute(ctx context.Context, l *lane, c Claim) result {
	n, start := l.node, r.opts.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !r.opts.away(n.info.Name) { // whose clock runs where the step does
		ctx, cancel = n.bounded(ctx)
		defer cancel()
	}
	b := &beside{stage: n.info.Name, key: c.Key}
	if o, ok := r.observer.(interface{ Doing(stage, key, text string) }); ok {
		b.doing = func(text string) { o.Doing(n.info.Name, c.Key, text) }
	}
	outs, err := perform(context.WithValue(ctx, besideKey{}, b), func(ctx context.Context) ([]Made, error) { return r.call(ctx, n, c) })
	res := result{lane: l, claim: c, settlement: Settlement{ID: c.ID, Owner: r.owner, Attempt: c.Attempt, Outputs: outs}}
	if besideErr := b.into(&res.settlement); err == nil {
		err = besideErr
	}
	b.mu.Lock()
	res.done = b.settled
	b.mu.Unlock()
	r.end(ctx, &res, err)
	res.settlement.MS = r.opts.Now().Sub(start).Milliseconds()
	return res
}

// bounded is ctx with the time-out of a stage.
func (n *node) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.options.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, n.options.Timeout, &timeoutError{n.options.Timeout})
}

// perform runs a step in a goroutine of its own, which is left behind where it
// does not end when it is told to: others need its place.
func perform(ctx context.Context, step func(context.Context) ([]Made, error)) ([]Made, error) {
	type output struct {
		made []Made
		err  error
	}
	over := make(chan output, 1)
	go func() {
		made, err := guarded(func() ([]Made, error) { return step(ctx) })
		over <- output{made, err}
	}()
	select {
	case out := <-over:
		return out.made, out.err
	case <-ctx.Done():
	}
	late := time.NewTimer(leave)
	defer late.Stop()
	select {
	case out := <-over:
		return out.made, out.err
	case <-late.C:
		return nil, fmt.Errorf("it did not end within %s of being told to", leave)
	}
}

func (r *run) call(ctx context.Context, n *node, c Claim) ([]Made, error) {
	if c.Lost != nil {
		return nil, fmt.Errorf("reading its record: %w", c.Lost)
	}
	if n.drain != nil {
		ended, err := r.ended(ctx)
		if err != nil {
			return nil, err
		}
		return nil, n.drain(ctx, r.held(ctx, n.info.Name), ended)
	}
	var built json.RawMessage
	if n.build != nil {
		var err error
		if built, err = r.store.Built(ctx, n.build.info.Name, c.Share); err != nil {
			return nil, fmt.Errorf("reading what %s left: %w", n.build.info.Name, err)
		}
	}
	var outs []Made
	var err error
	if r.opts.away(n.info.Name) {
		outs, err = r.far(ctx, n, c, built)
	} else {
		outs, err = n.run(ctx, c.Record, built)
	}
	if err != nil || len(n.next) == 0 { // a build's output goes to its members
		return outs, err
	}
	return n.send(outs)
}

// send addresses records to the stages that take them.
func (n *node) send(outs []Made) ([]Made, error) {
	sent := make([]Made, 0, len(outs))
	for _, m := range outs {
		taken := false
		for _, way := range n.next {
			holds, err := way.where.holds(m.Record)
			if err != nil {
				return nil, err
			}
			if !holds {
				continue
			}
			to := m
			to.To = way.to.info.Name
			if err := way.to.enter(&to); err != nil {
				return nil, err
			}
			sent, taken = append(sent, to), true
		}
		if !taken {
			return nil, fmt.Errorf("no stage behind %s takes %s", n.info.Name, m.Key)
		}
	}
	return sent, nil
}

// guarded turns a panic into Failed with its stack: one item never ends a run.
func guarded[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// end books what err means for the step.
func (r *run) end(ctx context.Context, res *result, err error) {
	s := &res.settlement
	err = r.plan.judged(err)
	if s.State = EndOf(ctx, err); s.State == schemas.StepFailed && r.isTold() {
		s.State = schemas.StepInterrupted // a key press ends child processes as well as us
	}
	if err == nil {
		return
	}
	s.Outputs, s.Detail, res.cause = nil, err.Error(), err
	var rejected *Rejected
	var deferred *Deferred
	switch {
	case s.State == schemas.StepInterrupted:
		res.interrupted = true
		if ctx.Err() == nil {
			errors.As(err, &res.halted)
			res.died = errors.Is(err, ErrDied)
		}
	case s.State == schemas.StepRejected && errors.As(err, &rejected):
		s.Reason, s.Evidence = rejected.Reason, rejected.Evidence
		s.Detail = strings.TrimPrefix(s.Detail, string(rejected.Reason)+": ")
	case s.State == schemas.StepDeferred && errors.As(err, &deferred):
		res.resource, res.until = deferred.Resource, deferred.Until
		// A time that has passed says nothing: the step would be asked without a pause.
		now := r.opts.Now()
		if s.Said = deferred.Until.After(now); !s.Said {
			put := wait(res.lane.node.options.Budget, res.claim.Key)
			// The resource rests for a part of that: long enough that what is down is not
			// asked by every item in turn, and so short that the trouble of one item does
			// not hold up all others.
			res.until = now.Add(put / restPart)
			deferred = &Deferred{Until: now.Add(put)}
		}
		s.NotBefore = deferred.Until
	case ctx.Err() != nil:
		s.Detail = late(ctx, err)
	}
}

// late is what is said of a step that its time-out ended.
func late(ctx context.Context, err error) string {
	return fmt.Sprintf("%v: %v", context.Cause(ctx), err)
}

func (r *run) isTold() bool {
	select {
	case <-r.told:
		return true
	default:
		return false
	}
}

// wait is how long a step is put off that does not say so itself: its part of the
// budget, and up to a tenth more by its key, so that not all come back at once.
func wait(b Budget, key string) time.Duration {
	d := pause
	if b.Tries > 0 && b.Wait > 0 {
		d = b.Wait / time.Duration(b.Tries)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return d + d/10*time.Duration(h.Sum32()%100)/100
}
