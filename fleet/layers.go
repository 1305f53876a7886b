package fleet

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Layers are the environments of a fleet, as a worker has them. It implements environment.Shared. Each is a tar that
// is compressed with zstd, by its own digest; which digest is an environment's, the coordinator says.
type Layers struct {
	client *Client
	store  *blob.Store // whose Remote is the depot; nothing stays in it
}

// Layers goes through a store whose Remote is the depot of layers.
func (c *Client) Layers(through *blob.Store) *Layers { return &Layers{c, through} }

// Get implements environment.Shared.
func (l *Layers) Get(ctx context.Context, key schemas.Digest, read func(io.Reader) error) (bool, error) {
	content, err := l.client.Layer(ctx, string(key))
	if err != nil || content == "" {
		return false, err
	}
	f, err := l.store.Open(content)
	if err != nil {
		return false, fault(err)
	}
	defer f.Close()
	in, err := zstd.NewReader(f)
	if err != nil {
		return false, fault(err)
	}
	defer in.Close()
	return true, fault(errors.Join(read(in), os.Remove(f.Name())))
}

// Put implements environment.Shared.
func (l *Layers) Put(ctx context.Context, key schemas.Digest, write func(io.Writer) error) (err error) {
	if content, err := l.client.Layer(ctx, string(key)); err != nil || content != "" {
		return err
	}
	dir, remove, err := l.store.Folder()
	if err != nil {
		return fault(err)
	}
	defer func() { err = errors.Join(err, fault(remove())) }()
	file := filepath.Join(dir, "layer.tar.zst")
	if err := compressed(file, write); err != nil {
		return fault(err)
	}
	content, err := l.store.PutFile(file)
	if err != nil {
		return fault(err)
	}
	if f, err := l.store.Open(content); err == nil { // it is in the depot now
		_ = os.Remove(f.Name())
		_ = f.Close()
	}
	_, err = l.client.Made(ctx, string(key), content)
	return err
}

func compressed(file string, write func(io.Writer) error) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}

// fault is an error that says nothing of the item that it happened to.
func fault(err error) error {
	if err == nil {
		return nil
	}
	return &pipeline.Halted{All: errors.Is(err, ErrSilent), Err: err}
}
