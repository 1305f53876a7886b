package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Packages are those that are kept beside a dataset.
type Packages interface {
	// Registry answers for the registries of a locked recipe; nil where not all of its packages
	// are kept. The error is of a package that is not what it was.
	Registry(r schemas.Recipe) (http.Handler, error)
}

// offline builds an env layer from kept packages; false where there are none, or where they turn
// out not to be enough: the registries are asked then, so that a fault of what is kept is never a
// verdict on what is built.
func (b *Builder) offline(ctx context.Context, build sandbox.Build, r schemas.Recipe) (layer sandbox.Layer, done bool, err error) {
	if b.Packages == nil {
		return layer, false, nil
	}
	if build.Registry, err = b.Packages.Registry(r); build.Registry == nil || err != nil {
		return layer, err != nil, err
	}
	if _, ok := b.Languages[r.Language].(lang.Keeper); !ok {
		// A cache of packages is read by builds of others, and what a dataset keeps is a stranger's:
		// this one begins empty, and goes with the build.
		own := map[string]string{}
		for name, inside := range build.Caches {
			own["kept-"+name] = inside
		}
		build.Caches, build.Fill = own, nil
	}
	build.Began = b.began(ctx, "building the environment from kept packages")
	layer, _, err = b.Sandbox.Build(ctx, build)
	if errors.As(err, new(*sandbox.BuildError)) {
		b.doing(ctx, "the kept packages do not build: asking the registries")
		return layer, false, nil
	}
	return layer, true, err
}

// Keep gets the packages that the env layer of a locked recipe is built from into a folder, each
// by its digest. What cannot be kept is said in the environment; an error is a fault of this
// machine or of a registry (ErrUnavailable).
func (b *Builder) Keep(ctx context.Context, r schemas.Recipe, source packages.Source, dir string) (packages.Environment, error) {
	out := packages.Environment{Recipe: packages.KeyOf(r), Language: r.Language, Toolchains: b.wanted(r), Files: []packages.File{}}
	if r.Deployed() {
		out.Lacks = "answers build images of their own"
		return out, nil
	}
	l, err := b.language(r)
	if err != nil {
		return out, err
	}
	if keeper, ok := l.(lang.Keeper); ok {
		out.Files, err = b.keepLayer(ctx, r, keeper, dir)
	} else {
		out.Files, err = b.keepTaken(ctx, r, source, dir)
	}
	var failed *sandbox.BuildError
	switch {
	case errors.Is(err, ErrUnavailable):
		return out, err
	case errors.As(err, &failed):
		out.Lacks = "it does not build any more: " + strings.Join(failed.Step.Argv[:min(3, len(failed.Step.Argv))], " ")
		return out, nil
	}
	if err != nil {
		return out, err
	}
	for _, t := range b.wanted(r) {
		f, ok, err := source.Wheel(ctx, t.Name, t.Version, dir)
		if err != nil {
			return out, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if ok {
			out.Files = append(out.Files, f)
		}
	}
	out.Complete = true
	return out, nil
}

// keepLayer copies packages out of the env layer.
func (b *Builder) keepLayer(ctx context.Context, r schemas.Recipe, k lang.Keeper, dir string) ([]packages.File, error) {
	layer, err := b.Env(ctx, r)
	if err != nil {
		return nil, err
	}
	out := []packages.File{}
	err = b.Sandbox.Files(ctx, layer, func(p string, info fs.FileInfo, open func() (io.ReadCloser, error)) error {
		rel, below := strings.CutPrefix(p, k.Downloads(r)+"/")
		of, ok := k.Download(rel)
		if !below || !ok || !info.Mode().IsRegular() {
			return nil
		}
		f, err := packages.Store(dir, func(w io.Writer) error {
			in, err := open()
			if err != nil {
				return err
			}
			_, err = io.Copy(w, in)
			return errors.Join(err, in.Close())
		})
		of.Digest, of.Size = f.Digest, f.Size
		out = append(out, of)
		return err
	})
	return out, err
}

// keepTaken builds the environment once more, without caches, and keeps what the build takes.
func (b *Builder) keepTaken(ctx context.Context, r schemas.Recipe, source packages.Source, dir string) ([]packages.File, error) {
	base, err := b.Base(ctx, r)
	if err != nil {
		return nil, err
	}
	step, err := b.Setup(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	recorder := packages.NewRecorder(ctx, source, dir)
	build := b.build(r, step, base, "")
	build.Registry, build.Caches, build.Fill, build.Discard = recorder, nil, nil, true
	build.Began = b.began(ctx, "keeping packages")
	_, _, err = b.Sandbox.Build(ctx, build)
	files, fault := recorder.Files()
	if err != nil && fault != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, fault)
	}
	return files, judged(err, r, true)
}
