package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/schemas"
)

// group is how many results are settled in one transaction at most.
const group = 64

// committer settles results, all that wait together: the price of one durable
// write is shared by them. It ends with its channel.
func (r *run) committer(ctx context.Context, results <-chan result, booked chan<- []result) {
	for first := range results {
		batch := []result{first}
	gather:
		for len(batch) < group {
			select {
			case next, ok := <-results:
				if !ok {
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		if r.dead.Load() {
			for i := range batch {
				batch[i].settled.Lost = true
			}
		} else if err := r.settle(ctx, batch); err != nil {
			batch[0].err = fmt.Errorf("%w: %w", errStore, err)
		}
		booked <- batch
	}
}

// errStore marks a fault of the store, which ends the run.
var errStore error = &Halted{All: true, Err: errors.New("the store cannot be used")}

// settle books a batch. Where that fails it goes one by one, so that only the
// guilty step fails; an error is the store's.
func (r *run) settle(ctx context.Context, batch []result) error {
	all := make([]Settlement, len(batch))
	for i, res := range batch {
		all[i] = res.settlement
		if res.resource != "" && !res.until.IsZero() {
			if err := r.store.Pause(ctx, res.resource, res.until); err != nil {
				return err
			}
		}
	}
	settled, err := r.store.Settle(ctx, all)
	if err == nil {
		for i := range batch {
			batch[i].settled = settled[i]
		}
		return nil
	}
	for i := range batch {
		if err := r.settleOne(ctx, &batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// settleOne books one result; one that the store cannot take is Failed for it, unless the
// machine is why.
func (r *run) settleOne(ctx context.Context, res *result) error {
	settled, err := r.store.Settle(ctx, []Settlement{res.settlement})
	if errors.As(r.plan.judged(err), new(*Halted)) {
		return err
	}
	if err != nil {
		old := res.settlement
		res.settlement = Settlement{ID: old.ID, Owner: old.Owner, Attempt: old.Attempt, State: schemas.StepFailed, Detail: "storing the result: " + err.Error(), MS: old.MS, Cost: old.Cost}
		if settled, err = r.store.Settle(ctx, []Settlement{res.settlement}); err != nil {
			return err
		}
	}
	res.settled = settled[0]
	return nil
}
