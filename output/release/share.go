package release

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// sharedBytes and sharedEntries bound the trees of one archive, as they are before they share
// anything: whoever reads one tree unpacks its neighbours.
const (
	sharedBytes   = 256 << 20
	sharedEntries = 100_000
)

// share puts the base trees of new tasks into archives by repository. A published archive stays as
// it is, but for a purge: then the trees that stay are packed again without the others.
func (c *Candidate) share() error {
	if c.secret {
		return nil // each is packed alone: one that becomes public takes no other with it
	}
	groups := map[string][]*Task{}
	for i := range c.Tasks {
		t := &c.Tasks[i]
		switch {
		case t.New:
			groups["new "+t.Row.Repo] = append(groups["new "+t.Row.Repo], t)
		case c.spoilt(t):
			key := string(t.Row.Benchmint.BaseArchive)
			groups[key] = append(groups[key], t)
		}
	}
	for n, key := range slices.Sorted(maps.Keys(groups)) {
		c.say("repositories packed", n+1, len(groups))
		if err := c.shareAll(groups[key]); err != nil {
			return err
		}
	}
	return nil
}

// spoilt reports whether the archive of a published task holds a tree that goes.
func (c *Candidate) spoilt(t *Task) bool {
	if len(c.purged) == 0 {
		return false
	}
	archive, stays := t.Row.Benchmint.BaseArchive, map[string]bool{}
	for _, x := range c.Tasks {
		stays[x.Row.Benchmint.Trees.Base] = true
	}
	return slices.ContainsFunc(t.carried.From.Rows, func(r output.Located) bool {
		return slices.Contains(c.purged, r.InstanceID) && r.Benchmint.BaseArchive == archive && !stays[r.Benchmint.Trees.Base]
	})
}

// shareAll packs trees, in order of task, into as few archives as the bounds allow.
func (c *Candidate) shareAll(tasks []*Task) error {
	var group []*Task
	trees, bytes, entries := map[string]*tree.Tree{}, 0, 0
	flush := func() error {
		err := c.pack(group, trees)
		group, trees, bytes, entries = nil, map[string]*tree.Tree{}, 0, 0
		return err
	}
	for _, t := range tasks {
		base, err := t.carried.From.Base(t.Row)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
		size, all := 0, base.Entries()
		for _, e := range all {
			size += len(e.Data)
		}
		if len(group) > 0 && (bytes+size > sharedBytes || entries+len(all) > sharedEntries) {
			if err := flush(); err != nil {
				return err
			}
		}
		group, trees[base.ID()] = append(group, t), base
		bytes, entries = bytes+size, entries+len(all)
	}
	return flush()
}

// pack writes one archive. What is one tree is packed alone, as a dataset has it.
func (c *Candidate) pack(tasks []*Task, trees map[string]*tree.Tree) error {
	if len(trees) < 2 && !slices.ContainsFunc(tasks, c.spoilt) {
		return nil
	}
	var all []*tree.Tree
	for _, id := range slices.Sorted(maps.Keys(trees)) {
		all = append(all, trees[id])
	}
	packed, err := output.Archives(all)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(c.Shelf.Dir, begun+"trees-")
	if err != nil {
		return err
	}
	_, err = file.Write(packed)
	if err := file.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	digest := schemas.DigestBytes(packed)
	for _, t := range tasks {
		if err := t.packedIn(digest, file.Name()); err != nil {
			return fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
	}
	return nil
}

// packedIn moves a task's base tree to another archive.
func (t *Task) packedIn(archive schemas.Digest, file string) (err error) {
	row, x := t.Row, &t.carried
	from, folder := output.BlobPath(row.Benchmint.BaseArchive), row.Benchmint.Trees.Base
	x.Archive, x.Open = archive, func() (io.ReadCloser, error) { return os.Open(file) }
	row.Benchmint.BaseArchive = archive
	edit := x.Edit
	x.Edit = func(name string, b []byte) ([]byte, error) {
		if edit != nil {
			if b, err = edit(name, b); err != nil {
				return nil, err
			}
		}
		if name != output.DockerfileFile {
			return b, nil
		}
		return recipe.Shared(b, from, output.BlobPath(archive), folder)
	}
	x.Line, err = row.Encoded()
	return err
}
