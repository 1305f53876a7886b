package link

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// work is one change on its way to a start.
type work struct {
	languages map[string]lang.Language
	rules     parts.Rules
	config    Config
	any       bool // config.ModifiesOnly does not hold
	suite     bool // a suite may be written
	base      *tree.Tree
	solution  *tree.Tree
	files     []file
	language  string
	sizes     schemas.Sizes
	edits     schemas.FunctionEdits
}

// file is one row of the change, its part and its hunks.
type file struct {
	schemas.PartFile
	hunks []lang.Hunk
	split []byte // content in S where some hunks belong to the test part
}

// work reads what the decisions need. Paths come from the objects again and not
// from the record, which cannot hold every path byte for byte.
func (l *Linker) work(ctx context.Context, c schemas.Change) (*work, error) {
	rows, err := l.repos.Files(ctx, c.Repo, c.BaseTree, c.Tree)
	if err != nil {
		return nil, fmt.Errorf("listing the changed files: %w", err)
	}
	w := &work{languages: l.languages, rules: l.rules, config: l.config}
	if w.base, err = l.repos.Tree(ctx, c.Repo, c.BaseTree); err != nil {
		return nil, err
	}
	if w.solution, err = l.repos.Tree(ctx, c.Repo, c.Tree); err != nil {
		return nil, err
	}
	patch, err := l.repos.Hunks(ctx, c.Repo, c.BaseTree, c.Tree)
	if err != nil {
		return nil, fmt.Errorf("reading the hunks: %w", err)
	}
	hunks, err := hunksOf(patch, rows)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		w.files = append(w.files, file{PartFile: schemas.PartFile{ChangedFile: row}, hunks: hunks[i]})
	}
	return w, nil
}

// parts gives every file its part, and splits renames between the parts.
func (w *work) parts() {
	var files []file
	for _, f := range w.files {
		switch {
		case f.Status == "D":
			f.Part, f.Rule = w.rules.Part(f.Path, w.base)
		case f.Status == "R":
			before, rule := w.rules.Part(f.OldPath, w.base)
			f.Part, f.Rule = w.rules.PartBy(f.Path, w.base, w.solution)
			if (before == schemas.PartTest) != (f.Part == schemas.PartTest) {
				gone, come := w.halves(f)
				gone.Part, gone.Rule = before, rule
				files = append(files, gone)
				f = come
			}
		default:
			f.Part, f.Rule = w.rules.PartBy(f.Path, w.base, w.solution)
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	w.files = files
}

// halves are a rename as what it takes away and what it brings.
func (w *work) halves(f file) (gone, come file) {
	const none = "000000"
	noBlob := string(bytes.Repeat([]byte{'0'}, len(f.NewBlob)))
	gone, come = f, f
	gone.Status, gone.Path, gone.OldPath, gone.NewMode, gone.NewBlob = "D", f.OldPath, "", none, noBlob
	come.Status, come.OldPath, come.OldMode, come.OldBlob = "A", "", none, noBlob
	gone.Added, gone.Removed, gone.hunks = 0, lines(w.base, gone.Path), nil
	come.Added, come.Removed, come.hunks = lines(w.solution, come.Path), 0, nil
	if gone.Removed > 0 {
		gone.hunks = []lang.Hunk{{OldStart: 1, OldLines: gone.Removed}}
	}
	if come.Added > 0 {
		come.hunks = []lang.Hunk{{NewStart: 1, NewLines: come.Added}}
	}
	if f.Added < 0 { // binary
		gone.Removed, come.Added, gone.hunks, come.hunks = -1, -1, nil, nil
		gone.Added, come.Removed = -1, -1
	}
	return gone, come
}

func lines(t *tree.Tree, path string) int {
	e, _ := t.Entry(path)
	n := bytes.Count(e.Data, []byte{'\n'})
	if len(e.Data) > 0 && e.Data[len(e.Data)-1] != '\n' {
		n++
	}
	return n
}

// manifests splits those that serve both parts.
func (w *work) manifests() error {
	for i := range w.files {
		if err := w.splitManifest(&w.files[i]); err != nil {
			return err
		}
	}
	return nil
}

// splitManifest gives the test part the hunks of a manifest that are its own.
func (w *work) splitManifest(f *file) error {
	if f.Part == schemas.PartTest || f.Status != "M" && f.Status != "R" || len(f.hunks) == 0 {
		return nil
	}
	old, _ := w.base.Entry(cmp.Or(f.OldPath, f.Path))
	now, _ := w.solution.Entry(f.Path)
	test, mixed, ok := w.rules.ManifestIn(f.Path, old.Data, now.Data, f.hunks, w.solution)
	if !ok {
		return nil
	}
	if mixed {
		return pipeline.Reject(schemas.MixedManifest, "%s", f.Path)
	}
	if len(test) != len(f.hunks) {
		return fmt.Errorf("splitting %s: %d answers for %d hunks", f.Path, len(test), len(f.hunks))
	}
	for i, t := range test {
		if t {
			f.TestHunks = append(f.TestHunks, i)
		}
	}
	switch {
	case len(f.TestHunks) == 0:
		return nil
	case len(f.TestHunks) == len(test) && f.Status == "M" && f.OldMode == f.NewMode:
		f.Part, f.Rule, f.TestHunks = schemas.PartTest, "manifest:test hunks only", nil
	default:
		f.split = takeHunks(old.Data, now.Data, f.hunks, test)
	}
	return nil
}

// testEdits are the writes and removals that turn B into S.
func (w *work) testEdits() []gitrepo.Edit {
	var edits []gitrepo.Edit
	for _, f := range w.files {
		old := cmp.Or(f.OldPath, f.Path)
		switch {
		case f.split != nil:
			edits = append(edits, gitrepo.Edit{Path: old, Mode: f.OldMode, Data: f.split})
		case f.Part != schemas.PartTest:
		case f.Status == "D":
			edits = append(edits, gitrepo.Edit{Path: f.Path})
		default:
			if old != f.Path {
				edits = append(edits, gitrepo.Edit{Path: old})
			}
			edits = append(edits, gitrepo.Edit{Path: f.Path, Mode: f.NewMode, ID: f.NewBlob})
		}
	}
	// Removals first: a swap of names removes a path that it also writes.
	slices.SortStableFunc(edits, func(a, b gitrepo.Edit) int {
		return cmp.Compare(min(len(a.Mode), 1), min(len(b.Mode), 1))
	})
	return edits
}

// partFiles are the rows as the record holds them.
func (w *work) partFiles() []schemas.PartFile {
	out := make([]schemas.PartFile, 0, len(w.files))
	for _, f := range w.files {
		f.Hunks = len(f.hunks)
		f.Path, f.OldPath = schemas.RecordPath(f.Path), schemas.RecordPath(f.OldPath)
		out = append(out, f.PartFile)
	}
	return out
}
