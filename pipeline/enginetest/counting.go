package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/benchmint/benchmint/pipeline"
)

// Counting is a store that counts what it is asked for.
type Counting struct {
	pipeline.Store
	// Ungrouped settles each result in a transaction of its own.
	Ungrouped bool

	mu    sync.Mutex
	calls map[string]int
}

// Count wraps a store.
func Count(s pipeline.Store) *Counting { return &Counting{Store: s, calls: map[string]int{}} }

// The calls that are no methods.
const (
	Lost   = "lost"   // results that were refused
	Ran    = "ran"    // settlements of steps that this process ran
	Groups = "groups" // commits in which they were settled
)

func (c *Counting) add(name string, n int) {
	c.mu.Lock()
	c.calls[name] += n
	c.mu.Unlock()
}

// Calls are the counts so far.
func (c *Counting) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for k, v := range c.calls {
		out[k] = v
	}
	return out
}

// Settle counts results, groups and refusals.
func (c *Counting) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	if c.Ungrouped && len(all) > 1 {
		var out []pipeline.Settled
		for i := range all {
			settled, err := c.Settle(ctx, all[i:i+1])
			if err != nil {
				return nil, err
			}
			out = append(out, settled...)
		}
		return out, nil
	}
	settled, err := c.Store.Settle(ctx, all)
	if err == nil {
		c.add(Ran, len(all))
		c.add(Groups, 1)
	}
	for _, s := range settled {
		if s.Lost {
			c.add(Lost, 1)
		}
	}
	return settled, err
}

// Claim counts claims that gave something.
func (c *Counting) Claim(ctx context.Context, owner string, wants []pipeline.Want) ([]pipeline.Claim, error) {
	claims, err := c.Store.Claim(ctx, owner, wants)
	c.add("claim", 1)
	if len(claims) > 0 {
		c.add("claimed", len(claims))
	}
	return claims, err
}

// ClaimSuspect counts steps from the lane of one.
func (c *Counting) ClaimSuspect(ctx context.Context, owner string, stages []string) (*pipeline.Claim, error) {
	claim, err := c.Store.ClaimSuspect(ctx, owner, stages)
	if claim != nil {
		c.add("suspects", 1)
	}
	return claim, err
}

// Tallies counts.
func (c *Counting) Tallies(ctx context.Context) ([]pipeline.Tally, error) {
	c.add("tallies", 1)
	return c.Store.Tallies(ctx)
}

// Due counts.
func (c *Counting) Due(ctx context.Context, now time.Time) (time.Time, error) {
	c.add("due", 1)
	return c.Store.Due(ctx, now)
}

// Built counts.
func (c *Counting) Built(ctx context.Context, stage, key string) (json.RawMessage, error) {
	c.add("built", 1)
	return c.Store.Built(ctx, stage, key)
}

// Held counts pages.
func (c *Counting) Held(ctx context.Context, stage, after string, n int) ([]pipeline.Made, error) {
	c.add("held", 1)
	return c.Store.Held(ctx, stage, after, n)
}

// Release counts steps given back.
func (c *Counting) Release(ctx context.Context, owner string, ids []int64) error {
	c.add("released", len(ids))
	return c.Store.Release(ctx, owner, ids)
}
