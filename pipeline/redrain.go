package pipeline

import (
	"context"
	"errors"
	"fmt"
)

// Redrain gives the drain what the store holds, as the last run has left it. No other
// stage is run and nothing is booked: a drain that fails leaves the store as it was.
func (p *Plan) Redrain(ctx context.Context, store Store) (Summary, error) {
	if err := p.Check(); err != nil {
		return Summary{}, err
	}
	r := &run{plan: p, store: store, executed: map[string]int{}}
	n := r.last()
	if n.drain == nil {
		return Summary{}, errors.New("the plan does not end in a drain")
	}
	ended, err := r.ended(ctx)
	if err != nil {
		return Summary{}, err
	}
	if err := n.drain(ctx, r.held(ctx, n.info.Name), ended); err != nil {
		return Summary{}, fmt.Errorf("%s: %w", n.info.Name, err)
	}
	return r.summary(ctx)
}
