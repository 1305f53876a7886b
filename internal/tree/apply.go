package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// ErrConflict is a patch that does not apply exactly.
var ErrConflict = errors.New("patch does not apply")

// Apply gives the tree after a git patch: text and binary, modes, symlinks,
// renames, copies. It is strict: no fuzz, no offset, no white-space repair, so
// that a proof never rests on a guess. ErrConflict, ErrUnsafe.
func (t *Tree) Apply(patch []byte) (*Tree, error) {
	if len(bytes.TrimSpace(patch)) == 0 {
		return t, nil
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return nil, fmt.Errorf("parsing patch: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("parsing patch: no file in %d bytes: %w", len(patch), ErrConflict)
	}
	next := make(map[string]Entry, len(t.entries)+len(files))
	for p, e := range t.entries {
		next[p] = e
	}
	var written []Entry
	// Old sides are all read from t, so that swaps and chains of renames work.
	for _, f := range files {
		e, err := t.applyFile(f)
		if err != nil {
			return nil, err
		}
		if f.OldName != "" && !f.IsCopy {
			delete(next, f.OldName)
		}
		if !f.IsDelete {
			written = append(written, e)
		}
	}
	for _, e := range written {
		if _, ok := next[e.Path]; ok {
			return nil, fmt.Errorf("%s: already there: %w", e.Path, ErrConflict)
		}
		next[e.Path] = e
	}
	out := make([]Entry, 0, len(next))
	for _, e := range next {
		out = append(out, e)
	}
	return New(out)
}

func (t *Tree) applyFile(f *gitdiff.File) (Entry, error) {
	var old Entry
	if !f.IsNew {
		var ok bool
		if old, ok = t.entries[f.OldName]; !ok {
			return Entry{}, fmt.Errorf("%s: not in the tree: %w", f.OldName, ErrConflict)
		}
	}
	mode := old.Mode
	if f.IsNew || f.NewMode != 0 {
		mode = gitMode(f.NewMode)
	}
	e := Entry{Path: f.NewName, Mode: mode}
	src := old.Data
	for _, h := range f.TextFragments {
		// Nothing says that its place is the right one: git refuses it as well.
		if h.OldLines == 0 && len(src) > 0 {
			return Entry{}, fmt.Errorf("%s: lines are added without any context: %w", name(f), ErrConflict)
		}
	}
	if old.Mode == ModeModule || mode == ModeModule {
		return applyModule(f, old, e)
	}
	var buf bytes.Buffer
	if err := gitdiff.Apply(&buf, bytes.NewReader(src), f); err != nil {
		return Entry{}, fmt.Errorf("%s: %w: %w", name(f), ErrConflict, err)
	}
	e.Data = buf.Bytes()
	if f.IsDelete && len(e.Data) > 0 {
		return Entry{}, fmt.Errorf("%s: deleted with %d bytes left: %w", f.OldName, len(e.Data), ErrConflict)
	}
	return e, nil
}

// applyModule reads git's text form of a submodule: "Subproject commit <hex>\n".
func applyModule(f *gitdiff.File, old, e Entry) (Entry, error) {
	const prefix = "Subproject commit "
	var src []byte
	if old.Mode == ModeModule {
		src = []byte(prefix + string(old.Data) + "\n")
	} else {
		src = old.Data
	}
	var buf bytes.Buffer
	if err := gitdiff.Apply(&buf, bytes.NewReader(src), f); err != nil {
		return Entry{}, fmt.Errorf("%s: %w: %w", name(f), ErrConflict, err)
	}
	e.Data = buf.Bytes()
	if e.Mode == ModeModule && !f.IsDelete {
		e.Data = bytes.TrimSpace(bytes.TrimPrefix(e.Data, []byte(prefix)))
	}
	return e, nil
}

func name(f *gitdiff.File) string {
	if f.NewName != "" {
		return f.NewName
	}
	return f.OldName
}

// gitMode turns go-gitdiff's mode (git's octal number kept as it is) into git's string.
func gitMode(m fs.FileMode) string {
	if m == 0 {
		return ModeFile
	}
	return fmt.Sprintf("%06o", uint32(m))
}
