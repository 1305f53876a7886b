package release

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Keep gets the packages of a locked recipe, in one kind of sandbox, into a folder, each by its
// digest (packages.Path).
type Keep func(ctx context.Context, sandbox string, r schemas.Recipe, dir string) (packages.Environment, error)

// keep settles which packages the version is written with: those that the datasets keep which its
// tasks are copied from, and where Keep is set those of all other tasks. What is kept once stays:
// a source distribution may ask for other packages on another day.
func (c *Candidate) keep(ctx context.Context) error {
	k := keeping{c: c, indexes: map[*output.Dataset]packages.Index{}, places: map[schemas.Digest]string{}}
	for i, t := range c.Tasks {
		c.say("packages of tasks", i+1, len(c.Tasks))
		env, err := t.carried.From.Environment(t.Row)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
		for _, r := range packages.Recipes(env.Recipe) {
			if err := k.recipe(ctx, &t, r); err != nil {
				return fmt.Errorf("keeping the packages of %s: %w", t.Row.InstanceID, err)
			}
		}
	}
	slices.SortFunc(k.index.Environments, func(a, b packages.Environment) int { return strings.Compare(string(a.Recipe), string(b.Recipe)) })
	c.kept = &output.Keeping{Index: k.index, Open: func(d schemas.Digest) (io.ReadCloser, error) { return os.Open(k.places[d]) }}
	c.kept.Index.Format = packages.Format
	return nil
}

type keeping struct {
	c       *Candidate
	index   packages.Index
	indexes map[*output.Dataset]packages.Index
	places  map[schemas.Digest]string // where a file lies
	dir     string                    // of those that were got now
}

func (k *keeping) recipe(ctx context.Context, t *Task, r schemas.Recipe) error {
	if e := k.index.Find(r); e != nil && e.Complete {
		return nil
	}
	from := t.carried.From
	x, read := k.indexes[from]
	if !read {
		var err error
		if x, err = from.Packages(); err != nil {
			return err
		}
		k.indexes[from] = x
	}
	if e := x.Find(r); e != nil && (e.Complete || k.c.Keep == nil) {
		k.add(*e, func(f packages.File) string {
			return filepath.Join(from.Dir, filepath.FromSlash(output.PackagePath(f.Digest)))
		})
		return nil
	}
	if k.c.Keep == nil || k.index.Find(r) != nil {
		return nil
	}
	if k.dir == "" {
		var err error
		if k.dir, err = os.MkdirTemp(k.c.Shelf.Dir, begun+"packages-"); err != nil {
			return err
		}
	}
	e, err := k.c.Keep(ctx, t.Row.Benchmint.Sandbox, r, k.dir)
	if err != nil {
		return err
	}
	k.add(e, func(f packages.File) string { return packages.Path(k.dir, f.Digest) })
	return nil
}

// add takes an environment in the place of one that is not complete.
func (k *keeping) add(e packages.Environment, place func(packages.File) string) {
	k.index.Environments = append(slices.DeleteFunc(k.index.Environments, func(x packages.Environment) bool { return x.Recipe == e.Recipe }), e)
	for _, f := range e.Files {
		k.places[f.Digest] = place(f)
	}
}
