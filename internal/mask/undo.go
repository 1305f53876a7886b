package mask

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// UndoFormat is the word by which the undo is known. The file is gzip of lines of JSON:
// the format, then one line per changed file.
const UndoFormat = "benchmint-mask-undo/1"

type undoHeader struct {
	Format string `json:"format"`
}

// undoFile is one file: its digests in the source and in the starter, and the edits
// that lead back.
type undoFile struct {
	Path   string     `json:"path"`
	Before string     `json:"before"`
	After  string     `json:"after"`
	Edits  []undoEdit `json:"edits"`
}

// undoEdit puts back what stood in a range of the starter's file.
type undoEdit struct {
	Range
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // in the place of Text for what is not UTF-8
}

var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is one of gzip's own
	return w
}}

// compress makes a whole member of a gzip file: members follow one another.
func compress(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, _ := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(&out)
	if _, err := w.Write(append(raw, '\n')); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func undoHead() ([]byte, error) { return compress(undoHeader{UndoFormat}) }

func undoRecord(r *Record, source []byte, edits []Edit) ([]byte, error) {
	at := newMap(source, edits)
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	u := undoFile{Path: r.Path, Before: r.Before, After: r.After}
	shift := 0
	for i, e := range edits {
		taken := source[e.Start:e.End]
		back := undoEdit{Range: Range{e.Start + shift, e.End + at.shift[i]}}
		shift = at.shift[i]
		if utf8.Valid(taken) {
			back.Text = string(taken)
		} else {
			back.Bytes = taken
		}
		u.Edits = append(u.Edits, back)
	}
	return compress(u)
}

// RefusedError names the files of a starter that are not as the mask left them.
type RefusedError struct{ Files []string }

func (e *RefusedError) Error() string {
	return "not as the mask left them: " + strings.Join(e.Files, "; ")
}

// Undo gives a starter its bytes back, in place. All files are looked at first: where one
// was edited, nothing is written (*RefusedError). It gives the number of files.
func Undo(undo, folder string) (int, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnmet, err)
	}
	defer func() { _ = root.Close() }() // files were closed one by one
	var refused RefusedError
	if _, err := eachUndo(undo, func(u *undoFile) error {
		if _, err := restored(root, u); err != nil {
			refused.Files = append(refused.Files, fmt.Sprintf("%s (%v)", u.Path, err))
		}
		return nil
	}); err != nil {
		return 0, err
	}
	if len(refused.Files) > 0 {
		return 0, &refused
	}
	return eachUndo(undo, func(u *undoFile) error {
		text, err := restored(root, u)
		if err != nil {
			return fmt.Errorf("%s: %w", u.Path, err)
		}
		return replace(root, filepath.FromSlash(u.Path), text)
	})
}

// eachUndo reads an undo line by line, so that a large one needs little memory.
func eachUndo(file string, do func(*undoFile) error) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnmet, err)
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, fmt.Errorf("%w: %s is no undo of a mask: %w", ErrUnmet, file, err)
	}
	in := json.NewDecoder(z)
	var head undoHeader
	if err := in.Decode(&head); err != nil || head.Format != UndoFormat {
		return 0, fmt.Errorf("%w: %s has the format %q, and this version reads %s", ErrUnmet, file, head.Format, UndoFormat)
	}
	for n := 0; ; n++ {
		var u undoFile
		err := in.Decode(&u)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err == nil {
			err = do(&u)
		}
		if err != nil {
			return n, fmt.Errorf("reading %s: %w", file, err)
		}
	}
}

// restored is the source of a file of the starter; an error where it was edited.
func restored(root *os.Root, u *undoFile) ([]byte, error) {
	name := filepath.FromSlash(u.Path)
	info, err := root.Lstat(name)
	if err != nil {
		return nil, errors.New(plain(err))
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file any more")
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return nil, errors.New(plain(err))
	}
	switch digest(text) {
	case u.Before:
		return text, nil // it was undone before
	case u.After:
	default:
		return nil, errors.New("it was edited")
	}
	var out bytes.Buffer
	at := 0
	for _, e := range u.Edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return nil, errors.New("the undo does not fit it")
		}
		out.Write(text[at:e.Start])
		out.WriteString(e.Text)
		out.Write(e.Bytes)
		at = e.End
	}
	out.Write(text[at:])
	if digest(out.Bytes()) != u.Before {
		return nil, errors.New("the undo does not give its source back")
	}
	return out.Bytes(), nil
}

// replace writes a file whole or not at all.
func replace(root *os.Root, name string, text []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".undo")
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return root.Rename(temp, name)
}
