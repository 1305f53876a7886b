package pipeline

import (
	"context"
	"errors"
	"fmt"
)

// OutdatedError says that settings or inputs changed after items had come to their
// ends, and that no run has come to all of them since.
type OutdatedError struct{ Items int }

func (e *OutdatedError) Error() string {
	if e.Items == 1 {
		return "1 result of the store is to be made again: settings or inputs changed after it was made"
	}
	return fmt.Sprintf("%d results of the store are to be made again: settings or inputs changed after they were made", e.Items)
}

// Redrain gives the drain what the store holds, as the last run has left it. No other
// stage is run and nothing is booked: a drain that fails leaves the store as it was.
// Results that rest on what is to be made again are an OutdatedError.
func (p *Plan) Redrain(ctx context.Context, store Store) (Summary, error) {
	if err := p.Check(); err != nil {
		return Summary{}, err
	}
	r := &run{plan: p, store: store, executed: map[string]int{}}
	n := r.last()
	if n.drain == nil {
		return Summary{}, errors.New("the plan does not end in a drain")
	}
	old, err := store.Outdated(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("looking for what is to be made again: %w", err)
	}
	if old > 0 {
		return Summary{}, &OutdatedError{old}
	}
	ended, err := r.ended(ctx)
	if err != nil {
		return Summary{}, err
	}
	if err := p.judged(n.drain(ctx, r.held(ctx, n.info.Name), ended)); err != nil {
		return Summary{}, fmt.Errorf("%s: %w", n.info.Name, err)
	}
	return r.summary(ctx)
}
