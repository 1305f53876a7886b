package environment

import (
	"context"
	"fmt"
	"io"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Shared keeps env layers for several machines, so that one of them builds each.
type Shared interface {
	// Get has the content of a layer read; false where nobody has brought it.
	Get(ctx context.Context, key schemas.Digest, read func(io.Reader) error) (bool, error)
	// Put keeps what write writes, unless another machine was first.
	Put(ctx context.Context, key schemas.Digest, write func(io.Writer) error) error
}

// porter is the sandbox, where its layers are shared.
func (b *Builder) porter() (sandbox.Porter, bool) {
	p, ok := b.Sandbox.(sandbox.Porter)
	return p, ok && b.Shared != nil
}

// shared is an env layer that is here, or that another machine made.
func (b *Builder) shared(ctx context.Context, key schemas.Digest, base sandbox.Layer) (layer sandbox.Layer, ok bool, err error) {
	p, shares := b.porter()
	if !shares {
		return layer, false, nil
	}
	if layer, ok, err = p.Find(ctx, key); ok || err != nil {
		return layer, ok, err
	}
	b.doing(ctx, "getting the environment, if another machine has made it")
	ok, err = b.Shared.Get(ctx, key, func(r io.Reader) (err error) {
		layer, err = p.Unpack(ctx, key, base, r)
		return err
	})
	if err != nil {
		err = fmt.Errorf("getting an environment that another machine made: %w", err)
	}
	return layer, ok, err
}

// share brings an env layer that was made here to the others.
func (b *Builder) share(ctx context.Context, layer sandbox.Layer) error {
	p, shares := b.porter()
	if !shares {
		return nil
	}
	b.doing(ctx, "bringing the environment to the other machines")
	if err := b.Shared.Put(ctx, layer.Key, func(w io.Writer) error { return p.Pack(ctx, layer, w) }); err != nil {
		return fmt.Errorf("bringing an environment to the other machines: %w", err)
	}
	return nil
}
