package mask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// heavyFirst are the numbers below n, each few of them by weight.
func heavyFirst(n, few int, weight func(int) int64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for some := range slices.Chunk(order, few) {
		slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	}
	return order
}

// inOrder does n things, several at a time, and takes what they gave in their order;
// no more than a few results wait to be taken. Of a few at a time the heavy ones begin
// first, so that none is left to one worker at the end. Only one take runs at a time, on
// whichever worker has what comes next.
func inOrder[T any](ctx context.Context, workers, n int, weight func(int) int64, do func(int) T, take func(int, T) error) error {
	few := workers * 16
	l := &line[T]{order: heavyFirst(n, few, weight), room: 2 * few, take: take, early: map[int]T{}}
	l.moved.L = &l.Mutex
	work := func() {
		stretch(0)
		for i, ok := l.begin(ctx); ok; i, ok = l.begin(ctx) {
			l.end(i, do(i))
		}
	}
	var others sync.WaitGroup
	for range min(workers, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if l.fault == nil && l.next < n {
		return context.Cause(ctx)
	}
	return l.fault
}

// stretch makes the stack of a goroutine as large at once as reading and writing code needs
// it. By itself it grows from 2 kB by doubling, and is gone through frame by frame each time:
// of a mask of a small project that was three hundredths.
//
//go:noinline
func stretch(at int) byte {
	var room [24 << 10]byte
	return room[at]
}

// line is what stands between workers and what takes their results in order.
type line[T any] struct {
	sync.Mutex
	order []int // in which things begin
	begun int   // of them
	room  int   // that many begin before the first of them is taken
	take  func(int, T) error
	early map[int]T
	next  int // is taken next
	fault error
	moved sync.Cond
}

// begin gives the number of what is done next.
func (l *line[T]) begin(ctx context.Context) (i int, ok bool) {
	l.Lock()
	defer l.Unlock()
	for l.fault == nil && l.begun < len(l.order) && l.begun-l.next >= l.room {
		l.moved.Wait() // what comes next has begun on another worker
	}
	if l.fault != nil || l.begun == len(l.order) || ctx.Err() != nil {
		return 0, false
	}
	l.begun++
	return l.order[l.begun-1], true
}

// end puts a result into the line, and takes what can be taken. While one worker takes what
// comes next, that is in the line no more, and others have nothing to take.
func (l *line[T]) end(i int, value T) {
	l.Lock()
	defer l.Unlock()
	l.early[i] = value
	for value, ok := l.early[l.next]; ok; value, ok = l.early[l.next] {
		delete(l.early, l.next)
		l.Unlock()
		err := l.take(l.next, value)
		l.Lock()
		if err != nil {
			l.fault = err // what comes next is never in the line again
			break
		}
		l.next++
	}
	l.moved.Broadcast()
}
