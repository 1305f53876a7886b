package gitrepo

import (
	"context"
	"fmt"
	"sync"

	"github.com/benchmint/benchmint/internal/tree"
)

// Bounds of what is listed, for hostile trees: folders may nest without end, and one that
// holds the same folder twice, again and again, has more paths than any machine can list.
// git has no such bound: it collects all paths before it prints the first.
const (
	maxDepth  = 200
	maxListed = 128 << 20 // bytes of paths, with rowSize for each
	rowSize   = 64
)

// extent is how much there is to list. No count is too large for its type.
type extent struct{ paths, bytes float64 }

func (e extent) over() bool { return e.bytes+e.paths*rowSize > maxListed }

// under is the extent one folder further up.
func (e extent) under(name string) extent {
	return extent{e.paths, e.bytes + e.paths*float64(len(name)+1)}
}

func (e extent) plus(o extent) extent { return extent{e.paths + o.paths, e.bytes + o.bytes} }

// listable reports whether the paths that differ between two trees can be listed: all
// paths of one where the other is EmptyTree. tree.ErrTooLarge for too many, tree.ErrUnsafe for
// folders that nest too deep; ErrMissing.
func (r *Repo) listable(ctx context.Context, from, to string) error {
	m := measure{trees: &r.trees, known: map[[2]string]extent{}}
	e, err := m.between(ctx, from, to, 0)
	if err != nil {
		return err
	}
	if e.over() {
		return fmt.Errorf("it has %.3g paths of %.3g bytes: %w", e.paths, e.bytes, tree.ErrTooLarge)
	}
	return nil
}

// measure looks at each pair of tree objects once.
type measure struct {
	trees *treeCache
	known map[[2]string]extent
}

func (m *measure) between(ctx context.Context, from, to string, depth int) (extent, error) {
	pair := [2]string{from, to}
	if e, ok := m.known[pair]; ok || from == to {
		return e, nil
	}
	if depth > maxDepth {
		return extent{}, fmt.Errorf("folders nest deeper than %d: %w", maxDepth, tree.ErrUnsafe)
	}
	old, err := m.trees.rows(ctx, from)
	if err != nil {
		return extent{}, err
	}
	now, err := m.trees.rows(ctx, to)
	if err != nil {
		return extent{}, err
	}
	before := make(map[string]treeRow, len(old))
	for _, row := range old {
		before[row.name] = row
	}
	var sum extent
	add := func(name, from, to string) error {
		e, err := m.between(ctx, from, to, depth+1)
		sum = sum.plus(e.under(name))
		return err
	}
	for _, row := range now {
		was := before[row.name]
		delete(before, row.name)
		if row == was {
			continue
		}
		switch {
		case row.folder() && was.folder():
			err = add(row.name, was.id, row.id)
		case row.folder():
			err = add(row.name, EmptyTree, row.id)
		case was.folder():
			err = add(row.name, was.id, EmptyTree)
		}
		if !row.folder() {
			sum = sum.plus(extent{1, float64(len(row.name))})
		}
		if err != nil {
			return sum, err
		}
	}
	for name, was := range before {
		sum = sum.plus(extent{1, float64(len(name))})
		if was.folder() {
			if err := add(name, was.id, EmptyTree); err != nil {
				return sum, err
			}
		}
	}
	m.known[pair] = sum
	return sum, nil
}

func (t treeRow) folder() bool { return t.mode == modeTree || t.mode == paddedTree }

// keepRows bounds the lines of tree objects that are remembered: neighbouring trees share
// nearly all of them.
const keepRows = 200_000

// treeCache reads tree objects, each once for as long as it is remembered.
type treeCache struct {
	mu   sync.Mutex
	read func(ctx context.Context, id string) ([]treeRow, error)
	kept map[string][]treeRow
	n    int
}

// rows must not be changed. ErrMissing.
func (c *treeCache) rows(ctx context.Context, id string) ([]treeRow, error) {
	c.mu.Lock()
	rows, ok := c.kept[id]
	c.mu.Unlock()
	if ok {
		return rows, nil
	}
	rows, err := c.read(ctx, id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || c.n+len(rows) > keepRows {
		c.kept, c.n = map[string][]treeRow{}, 0
	}
	c.kept[id] = rows
	c.n += len(rows) + 1
	return rows, nil
}
