package mask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// entry is one thing of the source folder.
type entry struct {
	path   string // with slashes
	mode   fs.FileMode
	size   int64
	link   string
	failed string // it could not be looked at
	unit   *unit  // of a file of a language
	whole  Whole  // why it stays as it is
	hash   string // of the source, where it was read
}

// bookkeeping are the folders and files of version control: a starter with a history
// would hold its solution.
var bookkeeping = []string{".git", ".hg", ".svn", ".bzr", "_darcs", ".jj", ".pijul", "CVS", ".fslckout", "_FOSSIL_"}

// fixture tells what has the name of a folder of CVS only: that one has an Entries.
func fixture(at, name string) bool {
	if name != "CVS" {
		return false
	}
	_, err := os.Lstat(filepath.Join(at, "Entries"))
	return err != nil
}

// walk lists the source folder, sorted, folders before what is in them. Links are
// listed and never followed.
func walk(ctx context.Context, root string) ([]*entry, error) {
	var out []*entry
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(root, at)
		if relErr != nil {
			return relErr
		}
		e := &entry{path: filepath.ToSlash(rel)}
		switch {
		case err != nil && rel == ".":
			return err
		case err != nil: // a folder that cannot be read was listed before
			out = append(out, &entry{path: e.path, failed: plain(err)})
			return nil
		case rel == ".":
			return nil
		case slices.Contains(bookkeeping, d.Name()) && !fixture(at, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			e.failed = plain(err)
			out = append(out, e)
			return nil
		}
		e.mode, e.size = info.Mode(), info.Size()
		if e.mode&fs.ModeSymlink != 0 {
			if e.link, err = os.Readlink(at); err != nil {
				e.failed = plain(err)
			}
		}
		out = append(out, e)
		return nil
	})
	slices.SortStableFunc(out, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	return out, err
}

// plain is an error without the place, which the record has.
func plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Sprintf("%s: %v", path.Op, path.Err)
	}
	return err.Error()
}

// batch is how many files are worked on before what came of them is taken: it bounds how
// much of that is held.
const batch = 256

// inOrder calls do with the numbers below n, several at a time, and take with what it gave,
// in order and one at a time.
func inOrder[T any](ctx context.Context, workers, n int, do func(int) T, take func(int, T) error) error {
	for from := 0; from < n; from += batch {
		values := make([]T, min(batch, n-from))
		var group errgroup.Group
		group.SetLimit(workers)
		for i := range values {
			group.Go(func() error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				values[i] = do(from + i)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, v := range values {
			if err := take(from+i, v); err != nil {
				return err
			}
		}
	}
	return nil
}
