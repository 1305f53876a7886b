package mask

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// copies are the files of a masked release that hold lines of bodies, and the edits that leave out
// those of them that neither the build nor the tests need. Of the others, a proof rejects what is too
// much.
func (m *Masker) copies(ctx context.Context, release *tree.Tree, c schemas.Cut, masked []gitrepo.Edit) (found []schemas.BodyCopy, without []gitrepo.Edit, err error) {
	id, err := m.repos.Graft(ctx, c.Repo, release.ID(), masked)
	if err != nil {
		return nil, nil, fmt.Errorf("making the starter's tree: %w", err)
	}
	starter, err := m.repos.Tree(ctx, c.Repo, id)
	if err != nil {
		return nil, nil, err
	}
	patch, err := m.repos.Diff(ctx, c.Repo, id, release.ID())
	if err != nil {
		return nil, nil, fmt.Errorf("making the patch: %w", err)
	}
	bodies, err := seal.BodiesOf(starter, patch, m.rules.Shipped(starter))
	if err != nil {
		return nil, nil, err
	}
	all, err := bodies.Copies(ctx, starter)
	if err != nil {
		return nil, nil, err
	}
	for _, is := range all {
		stays := m.needed(is.Path, starter)
		found = append(found, schemas.BodyCopy{Path: schemas.RecordPath(is.Path), How: is.How, Stays: stays})
		if !stays {
			without = append(without, gitrepo.Edit{Path: is.Path})
		}
	}
	return found, without, nil
}

// needed reports whether the build or the tests may need a file: it is a source or of the tests, it
// lies below a folder of the code, or code or a manifest names it.
func (m *Masker) needed(p string, t *tree.Tree) bool {
	part, _ := m.rules.Part(p, t)
	switch ext := path.Ext(p); {
	case ext == ".pyc" || ext == ".pyo":
		return false
	case part == schemas.PartTest || parts.IsManifest(p) || part == schemas.PartCode && parts.IsSource(p):
		return true
	}
	ships := m.rules.Shipped(t)
	for _, e := range t.Entries() {
		_, source := m.rules.Source(e.Path)
		code := source && ships(e.Path)
		if dir := path.Dir(e.Path); code && part == schemas.PartCode && dir != "." && len(p) > len(dir) && p[:len(dir)+1] == dir+"/" {
			return true
		}
		if (code || parts.IsManifest(e.Path)) && bytes.Contains(e.Data, []byte(path.Base(p))) {
			return true
		}
	}
	return false
}
