package assess

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// hunk is one place of the gold patch.
type hunk struct {
	path  string
	index int              // in the file's diff without context lines
	skip  schemas.HunkSkip // why it cannot be tried; "" where it can
	edit  *edit            // nil: the whole file
	old   *tree.Entry      // what stood there before, of a whole file; nil: nothing
}

// edit is a hunk without context lines: added lines of the solution from line at
// on (from 0), and what stood there before.
type edit struct {
	at, added int
	removed   []byte
}

// without is the solution with the hunk reverted.
func (h hunk) without(solution *tree.Tree) (*tree.Tree, error) {
	entries := solution.Entries()
	i := slices.IndexFunc(entries, func(e tree.Entry) bool { return e.Path == h.path })
	switch {
	case h.edit != nil && i >= 0:
		lines := bytes.SplitAfter(entries[i].Data, []byte{'\n'})
		if h.edit.at+h.edit.added > len(lines) {
			return nil, fmt.Errorf("%s: the patch has more lines than the solution", h.path)
		}
		entries[i].Data = slices.Concat(bytes.Join(lines[:h.edit.at], nil), h.edit.removed, bytes.Join(lines[h.edit.at+h.edit.added:], nil))
	case h.edit != nil:
		return nil, fmt.Errorf("%s: the patch changes it, the solution has no such file", h.path)
	case h.old != nil:
		entries = append(entries, *h.old)
	case i >= 0:
		entries = slices.Delete(entries, i, i+1)
	}
	return tree.New(entries)
}

// half reports whether the file parses in the solution and not without the hunk: the edit
// is half of one whose other half is further down (a bracket, a name of a block). That
// tests do not load without it says nothing of what they check. Files that the parser does
// not read are whole.
func (h hunk) half(solution *tree.Tree) bool {
	l, known := map[string]syntax.Language{".py": syntax.Python, ".pyi": syntax.Python, ".go": syntax.Go}[path.Ext(h.path)]
	now, ok := solution.Entry(h.path)
	if !known || !ok {
		return false
	}
	without, err := h.without(solution)
	if err != nil {
		return false // the run says what is wrong with the patch
	}
	before, _ := without.Entry(h.path)
	return !broken(l, now.Data) && broken(l, before.Data)
}

// broken reports whether a file has a syntax error; one that is too large has none.
func broken(l syntax.Language, source []byte) bool {
	t, err := syntax.ParseTree(l, source)
	return err == nil && t.Broken()
}

// hunksOf are the hunks of the code part, in the patch's order, be it source code in any
// language or data that ships. A file that is new or gone is one hunk, and so is one that
// is no text, or of which only the mode changes.
func hunksOf(c testrun.Case) ([]hunk, error) {
	files, _, err := gitdiff.Parse(bytes.NewReader(c.Patch))
	if err != nil {
		return nil, fmt.Errorf("parsing the gold patch: %w", err)
	}
	code := codePaths(c.Start)
	var out []hunk
	for _, f := range files {
		name := f.NewName
		if f.IsDelete {
			name = f.OldName
		}
		if !code[name] {
			continue
		}
		switch why := untriable(f, name, c); {
		case why != "":
			// git writes a file that becomes a link as one that goes and one that comes.
			if n := len(out); n == 0 || out[n-1].path != name {
				out = append(out, hunk{path: name, skip: why})
			}
		case f.IsNew:
			out = append(out, hunk{path: name})
		case f.IsDelete:
			old, ok := c.S.Entry(name)
			if !ok {
				return nil, fmt.Errorf("%s: the patch deletes it, the start has no such file", name)
			}
			out = append(out, hunk{path: name, old: &old})
		default:
			for i, e := range edits(f.TextFragments) {
				h := hunk{path: name, index: i, edit: &e}
				if h.half(c.G) {
					h.skip = schemas.SkipSyntax
				}
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// codePaths are the paths of the code part of a change, those before renames included: a patch
// holds a rename as what goes and what comes.
func codePaths(s schemas.Start) map[string]bool {
	code := map[string]bool{}
	for _, f := range s.Files {
		if f.Part != schemas.PartCode {
			continue
		}
		code[f.Path] = true
		if f.OldPath != "" {
			code[f.OldPath] = true
		}
	}
	return code
}

// untriable is why a file of the patch cannot be taken back by hunks, or why that would
// say nothing; "" for none.
func untriable(f *gitdiff.File, name string, c testrun.Case) schemas.HunkSkip {
	before, _ := c.S.Entry(name)
	now, _ := c.G.Entry(name)
	switch {
	case before.Mode == tree.ModeSymlink || now.Mode == tree.ModeSymlink:
		return schemas.SkipLink
	case parts.IsManifest(name):
		return schemas.SkipManifest
	case f.IsBinary || f.BinaryFragment != nil:
		return schemas.SkipBinary
	case len(f.TextFragments) == 0 && !f.IsNew && !f.IsDelete:
		return schemas.SkipMode
	}
	return ""
}

// edits parts hunks at their context lines, which gives those of a diff without any.
func edits(fragments []*gitdiff.TextFragment) []edit {
	var out []edit
	for _, f := range fragments {
		at := int(f.NewPosition) - 1
		if f.NewLines == 0 {
			at++ // without lines, the position is that of the line before
		}
		open := false
		for _, l := range f.Lines {
			if l.Op == gitdiff.OpContext {
				open = false
				at++
				continue
			}
			if !open {
				out = append(out, edit{at: at})
				open = true
			}
			e := &out[len(out)-1]
			if l.Op == gitdiff.OpAdd {
				e.added++
				at++
			} else {
				e.removed = append(e.removed, l.Line...)
			}
		}
	}
	return out
}
