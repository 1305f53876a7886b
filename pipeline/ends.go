// Package pipeline runs stages over stored records, many steps at one time: what
// starts when, the last stage first; what an error means for an item; what is told
// to the step table, which is the truth about every step and the queue of those
// that may start (Store). A process may die at any point: what was settled stands.
//
// A step runs, and its result is taken, only while nothing that it is made of is to
// be made again: the steps above it, up to the seed, are settled. A stage may so join
// what any of them made. A result that is to be made again is never read as one, and
// never lost: equal work makes it stand again.
//
// A run that ends early (RunOptions.Until) leaves the stages behind that alone. What
// they settled stands, in status too; what has another input now is left out of a
// dataset (OutdatedError), and made again by the run that comes to its stage.
//
// It never knows of git, models or containers, and imports schemas only; it never
// decides by the order in which steps happen to end.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Rejected is the end of an item for a property of its own (design 5).
type Rejected struct {
	Reason schemas.Reason
	Err    error // what was found, with its chain of causes; may be nil
	// Evidence is the blob of what was found out before the reject: a proof as far
	// as it came.
	Evidence schemas.Digest
}

func (r *Rejected) Error() string {
	if r.Err == nil {
		return string(r.Reason)
	}
	return fmt.Sprintf("%s: %v", r.Reason, r.Err)
}

// Detail is what was found, without the reason.
func (r *Rejected) Detail() string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Error()
}

func (r *Rejected) Unwrap() error { return r.Err }

// Reject ends an item for a reason of the table.
func Reject(reason schemas.Reason, format string, args ...any) *Rejected {
	return &Rejected{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Deferred is "not now": quota, rate limit, a registry's 5xx or time-out.
type Deferred struct {
	Resource string    // registry, github, model
	Until    time.Time // zero: as the budget says
	Err      error
}

func (d *Deferred) Error() string { return fmt.Sprintf("deferred for %s: %v", d.Resource, d.Err) }
func (d *Deferred) Unwrap() error { return d.Err }

// Halted is no end of an item but a fault of this machine, which says nothing of the item:
// a full disk, a store or a blob that is away. The step is as it was before, and the run
// ends without writing a dataset.
type Halted struct {
	// All says that every item would meet the fault: the run ends at once. Otherwise the
	// others go on, and the run ends when nothing else is left to do.
	All bool
	Err error
}

func (h *Halted) Error() string { return h.Err.Error() }
func (h *Halted) Unwrap() error { return h.Err }

// EndOf distinguishes the five ends; it is the one place that does. What was cut off
// is Interrupted, except by its own time-out: that is Failed, whatever it said of it. So is
// what met a fault of the machine, whatever else the chain holds: it is no verdict.
func EndOf(ctx context.Context, err error) schemas.StepState {
	var rejected *Rejected
	var deferred *Deferred
	var late *timeoutError
	var halted *Halted
	switch {
	case err == nil:
		return schemas.StepDone
	case errors.As(context.Cause(ctx), &late):
		return schemas.StepFailed
	case ctx.Err() != nil, errors.As(err, &halted), errors.Is(err, ErrDied), errors.Is(err, ErrBack):
		return schemas.StepInterrupted
	case errors.As(err, &rejected):
		return schemas.StepRejected
	case errors.As(err, &deferred):
		return schemas.StepDeferred
	}
	return schemas.StepFailed
}

// errStop is the cause with which running steps are cut off at the end of a run.
var errStop = errors.New("the run was interrupted")

// timeoutError is the cause of a step that took longer than its stage allows.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("over the time-out of %s", e.limit) }
