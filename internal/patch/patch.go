// Package patch applies the patches of others to a tree: exactly where that works, else as
// git apply does, with lines that moved but without fuzz. Answer mends what models and their harnesses
// lose of a patch on its way.
//
// It never leaves a patch half applied, never guesses between two places, and never writes outside
// of a folder of its own.
package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/benchmint/benchmint/internal/command"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
)

// ErrConflict is a patch that git does not apply; the error says what git says.
var ErrConflict = errors.New("patch does not apply")

// Apply gives the tree after a patch, and whether every line was where the patch says.
// ErrConflict for a patch that git refuses, tree.ErrUnsafe for paths that must not be
// written, tree.ErrTooLarge; other errors are faults of this machine.
func Apply(ctx context.Context, t *tree.Tree, patch []byte) (after *tree.Tree, exact bool, err error) {
	if after, err = t.Apply(patch); err == nil {
		return after, true, nil
	}
	if errors.Is(err, tree.ErrTooLarge) {
		return nil, false, err
	}
	after, err = loosely(ctx, t, patch)
	return after, false, err
}

// loosely asks git, in a folder that holds the tree.
func loosely(ctx context.Context, t *tree.Tree, patch []byte) (after *tree.Tree, err error) {
	err = inFolder(func(dir string, root *os.Root) error {
		if err := worktree.Write(root, t); err != nil {
			return fmt.Errorf("writing the tree: %w", err)
		}
		out, err := gitrepo.Apply(ctx, dir, patch, gitMemory(t, patch))
		var exit *exec.ExitError
		switch {
		case err == nil:
			after, err = read(root, t)
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &exit) && !command.Unanswered(err):
			return fmt.Errorf("%w: %s", ErrConflict, strings.TrimSpace(string(out)))
		}
		return fmt.Errorf("git apply: %w", err)
	})
	return after, err
}

// gitMemory is the memory that git may take: it holds the patch, and the files that it changes.
func gitMemory(t *tree.Tree, patch []byte) int64 {
	const own, copies = 256 << 20, 4
	largest := len(patch)
	for _, e := range t.Entries() {
		largest = max(largest, len(e.Data))
	}
	return own + copies*int64(largest)
}

// inFolder gives a folder of this machine, which is gone afterwards.
func inFolder(do func(dir string, root *os.Root) error) (err error) {
	dir, err := os.MkdirTemp("", "benchmint-patch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(dir, root)
}

// read is the tree in the folder; submodules, which were not written, are those of before.
func read(root *os.Root, before *tree.Tree) (*tree.Tree, error) {
	paths, err := worktree.Walk(root, func(string) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("reading the tree: %w", err)
	}
	return worktree.Of(root, paths, before)
}
