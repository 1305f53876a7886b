package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// ErrConflict is a patch that does not apply exactly.
var ErrConflict = errors.New("patch does not apply")

// Apply gives the tree after a git patch: text and binary, modes, symlinks,
// renames, copies. It is strict: no fuzz, no offset, no white-space repair, so
// that a proof never rests on a guess. ErrConflict, ErrUnsafe; ErrTooLarge, before anything is
// inflated, where what the patch declares makes a larger tree than is read.
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
	sizes, err := t.sizes(files)
	if err != nil {
		return nil, err
	}
	var written []Entry
	// Old sides are all read from t, so that swaps and chains of renames work.
	for i, f := range files {
		e, err := t.applyFile(f, sizes[i])
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

// sizes are the bytes that each file of a patch has after it, as far as the patch declares. Together
// with the files that it does not name they have to fit into one tree. ErrTooLarge.
func (t *Tree) sizes(files []*gitdiff.File) ([]int64, error) {
	room, gone := NewRoom(), map[string]bool{}
	out := make([]int64, len(files))
	for i, f := range files {
		out[i] = size(f, len(t.entries[f.OldName].Data))
		if err := room.Take(out[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", name(f), err)
		}
		gone[f.OldName] = gone[f.OldName] || !f.IsCopy
	}
	for p, e := range t.entries {
		if gone[p] {
			continue
		}
		if err := room.Take(int64(len(e.Data))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// size is what a file of a patch declares, where its old side has before bytes. Of a delta it is
// the larger one of the delta and its result.
func size(f *gitdiff.File, before int) int64 {
	b := f.BinaryFragment
	if b == nil {
		n := int64(before)
		for _, h := range f.TextFragments {
			for _, l := range h.Lines {
				switch l.Op {
				case gitdiff.OpAdd:
					n += int64(len(l.Line))
				case gitdiff.OpDelete:
					n -= int64(len(l.Line))
				}
			}
		}
		return max(n, 0)
	}
	if b.Method != gitdiff.BinaryPatchDelta {
		return b.Size
	}
	var head [2 * binary.MaxVarintLen64]byte // the sizes of both sides; of what cannot be read, nothing is made
	n, _ := io.ReadFull(b.Data(), head[:])
	_, first := binary.Uvarint(head[:n])
	made, _ := binary.Uvarint(head[max(first, 0):n])
	return max(b.Size, int64(min(made, math.MaxInt64))) //nolint:gosec // it fits
}

func (t *Tree) applyFile(f *gitdiff.File, size int64) (Entry, error) {
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
	buf.Grow(int(size) + bytes.MinRead) // a buffer that grows by itself takes twice as much
	if err := gitdiff.Apply(&buf, bytes.NewReader(src), f, gitdiff.WithMaxBinaryFragmentBytes(size)); err != nil {
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
