package environment

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// mostHeld is how many items may have layers held for them: each is a build of its project on disk.
const mostHeld = 4

// held are leases on layers of states, for the stage that goes on with the same item.
type held struct {
	mu    sync.Mutex
	items []heldItem // the oldest first
}

type heldItem struct {
	name   string
	layers []sandbox.Layer // children first
}

// Hold takes over the leases on layers of an item, children first: who makes the same states
// finds them, until Release, Close, or until others have taken their place.
func (b *Builder) Hold(ctx context.Context, item string, layers []sandbox.Layer) error {
	err := b.Release(ctx, item)
	b.held.mu.Lock()
	b.held.items = append(b.held.items, heldItem{item, layers})
	var gone []heldItem
	if n := len(b.held.items) - mostHeld; n > 0 {
		gone = slices.Clone(b.held.items[:n])
		b.held.items = slices.Delete(b.held.items, 0, n)
	}
	b.held.mu.Unlock()
	return errors.Join(err, b.free(ctx, gone))
}

// Release gives back what is held for an item; nothing is no error.
func (b *Builder) Release(ctx context.Context, item string) error {
	return b.letGo(ctx, func(x heldItem) bool { return x.name == item })
}

// Close gives back all that is held. What a killed process held, the next one frees.
func (b *Builder) Close(ctx context.Context) error {
	return b.letGo(ctx, func(heldItem) bool { return true })
}

func (b *Builder) letGo(ctx context.Context, which func(heldItem) bool) error {
	b.held.mu.Lock()
	var gone []heldItem
	for _, x := range b.held.items {
		if which(x) {
			gone = append(gone, x)
		}
	}
	b.held.items = slices.DeleteFunc(b.held.items, which)
	b.held.mu.Unlock()
	return b.free(ctx, gone)
}

func (b *Builder) free(ctx context.Context, items []heldItem) error {
	var errs []error
	for _, x := range items {
		for _, l := range x.layers {
			errs = append(errs, b.Sandbox.Remove(context.WithoutCancel(ctx), l))
		}
	}
	return errors.Join(errs...)
}
