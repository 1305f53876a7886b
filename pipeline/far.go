package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Far does steps on other machines. The step table stays the truth about all of them: what a
// worker says of a step is settled here, like the end of a step that ran here.
//
// Its implementation never gives a task to a second worker by itself: a worker that dies over
// a step is ErrDied, and the lane of suspects gives the step out again, alone.
type Far interface {
	// Takes reports whether the steps of a stage go to other machines.
	Takes(stage string) bool
	// Do comes back when a step has ended there. A run that went on after a kill asks for the
	// same task again, and gets the report of the worker that did it meanwhile. Errors: ErrDied,
	// ErrBack, and faults of this machine.
	Do(ctx context.Context, t Task) (Report, error)
}

// ErrDied means that the worker went silent while it did the step: it counts as a crash.
var ErrDied = errors.New("the worker that had it went silent")

// ErrBack means that the worker gave the step back in good order, as if it had not been taken.
var ErrBack = errors.New("the worker gave it back")

// Task is one step on its way to another machine: all that its stage is given.
type Task struct {
	// ID is of all that the step is made of, and of the attempt: a step that was put off, given
	// out again or is made anew is another task; one of a coordinator that was killed is the same.
	ID     schemas.Digest  `json:"id"`
	Stage  string          `json:"stage"`
	Key    string          `json:"key"`
	Record json.RawMessage `json:"record"`
	Built  json.RawMessage `json:"built,omitempty"` // what the step's build made
	// Fingerprint is that of the stage; a machine with another one refuses the task.
	Fingerprint schemas.Digest `json:"fingerprint"`
}

// Report is what came of a task.
type Report struct {
	State      schemas.StepState `json:"state"`
	Outputs    []Made            `json:"outputs,omitempty"`
	Reason     schemas.Reason    `json:"reason,omitempty"`
	Resource   string            `json:"resource,omitempty"`
	Until      time.Time         `json:"until,omitzero"`
	Detail     string            `json:"detail,omitempty"`
	Evidence   schemas.Digest    `json:"evidence,omitempty"`
	Cost       float64           `json:"cost,omitempty"`
	Provenance []json.RawMessage `json:"provenance,omitempty"`
	// All says of an interrupted step that every step would meet the fault of that machine.
	All bool `json:"all,omitempty"`
	// Settled is called when the step table has the end; nil is nobody.
	Settled func() `json:"-"`
}

// away reports whether the steps of a stage are done elsewhere.
func (o RunOptions) away(stage string) bool { return o.Far != nil && o.Far.Takes(stage) }

// far has a step done elsewhere.
func (r *run) far(ctx context.Context, n *node, c Claim, built json.RawMessage) ([]Made, error) {
	t := Task{Stage: n.info.Name, Key: c.Key, Record: c.Record, Built: built, Fingerprint: n.info.Fingerprint}
	t.ID = schemas.DigestOf(struct {
		Task    Task
		Attempt int
	}{t, c.Attempt})
	rep, err := r.opts.Far.Do(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, p := range rep.Provenance {
		Provide(ctx, p)
	}
	Charge(ctx, rep.Cost)
	if b, ok := ctx.Value(besideKey{}).(*beside); ok {
		b.mu.Lock()
		b.settled = rep.Settled
		b.mu.Unlock()
	}
	return rep.Outputs, rep.end()
}

// end is the error that a step ends with here, as it ended there, word by word.
func (r Report) end() error {
	end := &reported{text: r.Detail}
	switch r.State {
	case schemas.StepDone:
		return nil
	case schemas.StepRejected:
		end.is = &Rejected{Reason: r.Reason, Evidence: r.Evidence}
	case schemas.StepDeferred:
		end.is = &Deferred{Resource: r.Resource, Until: r.Until}
	case schemas.StepInterrupted:
		end.is = &Halted{All: r.All, Err: errors.New(r.Detail)}
	}
	return end
}

// reported is an error of another machine.
type reported struct {
	text string
	is   error // its end; nil is a fault
}

func (r *reported) Error() string { return r.text }
func (r *reported) Unwrap() error { return r.is }

// Perform does a task on this machine, for a run that is elsewhere; doing hears how far it is.
// An error means that there is no report: the machine cannot do it, or ctx ended.
func (p *Plan) Perform(ctx context.Context, t Task, doing func(text string)) (Report, error) {
	n := p.node(t.Stage)
	if n == nil || n.info.Fingerprint != t.Fingerprint {
		return Report{}, fmt.Errorf("stage %s differs: %w", t.Stage, ErrOther)
	}
	stop := ctx
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	b := &beside{stage: n.info.Name, key: t.Key, doing: doing}
	outs, err := perform(context.WithValue(ctx, besideKey{}, b), func(ctx context.Context) ([]Made, error) {
		return n.run(ctx, t.Record, t.Built)
	})
	if stop.Err() != nil {
		return Report{}, context.Cause(stop)
	}
	rep := Report{Outputs: outs}
	b.mu.Lock()
	defer b.mu.Unlock()
	rep.Cost = b.cost
	for _, v := range b.provenance {
		raw, fault := schemas.Canonical(v)
		if fault != nil {
			return Report{}, fmt.Errorf("writing the provenance: %w", fault)
		}
		rep.Provenance = append(rep.Provenance, raw)
	}
	rep.tell(ctx, p.judged(err))
	return rep, nil
}

// ErrOther means that a worker's plan is not the run's.
var ErrOther = errors.New("this worker has another version or another configuration than the run")

// tell puts an end into a report.
func (r *Report) tell(ctx context.Context, err error) {
	if r.State = EndOf(ctx, err); err == nil {
		return
	}
	r.Outputs, r.Detail = nil, err.Error()
	var rejected *Rejected
	var deferred *Deferred
	var halted *Halted
	switch {
	case r.State == schemas.StepRejected && errors.As(err, &rejected):
		r.Reason, r.Evidence = rejected.Reason, rejected.Evidence
	case r.State == schemas.StepDeferred && errors.As(err, &deferred):
		r.Resource, r.Until = deferred.Resource, deferred.Until
	case r.State == schemas.StepInterrupted && errors.As(err, &halted):
		r.All = halted.All
	case ctx.Err() != nil:
		r.Detail = late(ctx, err)
	}
}

func (p *Plan) node(stage string) *node {
	for _, n := range p.nodes() {
		if n.info.Name == stage {
			return n
		}
	}
	return nil
}

// Holding are the stages whose steps hold a resource, with their fingerprints.
func (p *Plan) Holding(resource string) map[string]schemas.Digest {
	out := map[string]schemas.Digest{}
	for _, n := range p.nodes() {
		if n.options.Needs[resource] > 0 {
			out[n.info.Name] = n.info.Fingerprint
		}
	}
	return out
}
