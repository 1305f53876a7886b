package patch

import (
	"context"
	"fmt"
	"os"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
)

// Between is the patch that turns one tree into another, in git's format; nil where they are
// equal. Submodules are those of both trees, or it is an error.
func Between(ctx context.Context, before, after *tree.Tree) (patch []byte, err error) {
	if before.ID() == after.ID() {
		return nil, nil
	}
	err = inFolder(func(dir string, root *os.Root) error {
		for _, side := range []struct {
			name string
			t, o *tree.Tree
		}{{"a", before, after}, {"b", after, before}} {
			if err := root.Mkdir(side.name, 0o755); err != nil {
				return err
			}
			if err := different(root, side.name, side.t, side.o); err != nil {
				return fmt.Errorf("writing the tree: %w", err)
			}
		}
		if patch, err = gitrepo.Compare(ctx, dir); err != nil {
			return fmt.Errorf("comparing the trees: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	made, err := before.Apply(patch)
	if err != nil {
		return nil, fmt.Errorf("comparing the trees: %w", err)
	}
	if made.ID() != after.ID() {
		return nil, fmt.Errorf("comparing the trees: the patch between them makes tree %s, not %s", made.ID(), after.ID())
	}
	return patch, nil
}

// different writes the entries of t that o has otherwise or not at all into a folder.
func different(root *os.Root, name string, t, o *tree.Tree) error {
	folder, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	var entries []tree.Entry
	for _, e := range t.Entries() {
		if was, ok := o.Entry(e.Path); !ok || was.Mode != e.Mode || string(was.Data) != string(e.Data) {
			entries = append(entries, e)
		}
	}
	part, err := tree.New(entries)
	if err != nil {
		return err
	}
	return worktree.Write(folder, part)
}
