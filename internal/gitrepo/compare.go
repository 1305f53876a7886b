package gitrepo

import (
	"context"
	"errors"
	"os/exec"
)

// Compare is the patch that turns the files of the folder dir/a into those of dir/b, binary
// content included, without renames. Both folders are there; nothing around them is read.
func Compare(ctx context.Context, dir string) ([]byte, error) {
	patch, err := output(inside(ctx, dir, "diff", "--no-index", "--no-prefix", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
		"--no-textconv", "--no-color", "--diff-algorithm=myers", "--indent-heuristic", "a", "b"))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // they differ
		return patch, nil
	}
	return patch, err
}
