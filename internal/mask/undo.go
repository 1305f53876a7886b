package mask

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// UndoFormat is the word by which the undo is known. The file is lines of JSON, compressed
// by gzip: the format, then one line per changed file, then their number, so that what was
// cut off is missed.
const UndoFormat = "benchmint-mask-undo/2"

type undoHeader struct {
	Format string `json:"format"`
}

type undoEnd struct {
	Files int `json:"files"`
}

// undoFile is one file: its digests in the source and in the starter, and the edits
// that lead back.
type undoFile struct {
	Path      string     `json:"path"`
	PathBytes []byte     `json:"path_bytes,omitempty"` // of one that is not UTF-8
	Before    string     `json:"before"`
	After     string     `json:"after"`
	Edits     []undoEdit `json:"edits"`
}

// undoEdit puts back what stood in a range of the starter's file.
type undoEdit struct {
	Range
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // in the place of Text for what is not UTF-8
}

// undoWriter writes an undo, each line by Encode.
type undoWriter struct {
	*json.Encoder
	zip *gzip.Writer
}

func newUndo(file io.Writer) (*undoWriter, error) {
	zip := gzip.NewWriter(file)
	w := &undoWriter{json.NewEncoder(zip), zip}
	return w, w.Encode(undoHeader{UndoFormat})
}

// close writes the last line, for so many changed files. It leaves the file open.
func (w *undoWriter) close(files int) error {
	return errors.Join(w.Encode(undoEnd{files}), w.zip.Close())
}

// readUndo gives the lines of an undo. Earlier versions left a small one uncompressed, and
// compressed each line of a large one by itself.
func readUndo(file io.Reader) (io.Reader, error) {
	in := bufio.NewReader(file)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) { // RFC 1952
		return in, nil // what it is instead shows when it is read
	}
	return gzip.NewReader(in)
}

func undoOf(r *Record, source []byte, edits []Edit) *undoFile {
	at := newMap(source, edits)
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	u := &undoFile{Path: r.Path, PathBytes: r.PathBytes, Before: r.Before, After: r.After}
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
	return u
}

// RefusedError names the files of a starter that are not as the mask left them.
type RefusedError struct{ Files []string }

func (e *RefusedError) Error() string {
	return "not as the mask left them: " + strings.Join(e.Files, "; ")
}

// notUndone is an undo that cannot be: nothing was written. It is an ErrUnmet.
type notUndone struct{ error }

func (e notUndone) Error() string { return "cannot undo: " + e.error.Error() }

func (e notUndone) Unwrap() []error { return []error{ErrUnmet, e.error} }

// Undo gives a starter its bytes back, in place. All files are looked at first: where one
// was edited, nothing is written (*RefusedError). It gives the number of files. What ends
// in between is finished by the same once more.
func Undo(ctx context.Context, undo, folder string) (int, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, notUndone{err}
	}
	defer func() { _ = root.Close() }() // files were closed one by one
	var refused RefusedError
	n := 0
	if err := eachUndo(ctx, undo, func(u *undoFile) error {
		if _, err := restored(root, u); err != nil {
			refused.Files = append(refused.Files, fmt.Sprintf("%s (%v)", u.Path, err))
		}
		return nil
	}); err != nil {
		return 0, notUndone{err}
	}
	if len(refused.Files) > 0 {
		return 0, &refused
	}
	err = eachUndo(ctx, undo, func(u *undoFile) error {
		text, err := restored(root, u)
		if err == nil {
			err = replace(root, filepath.FromSlash(u.Path), text)
		}
		if err != nil {
			return fmt.Errorf("%s: %s; %d files before it are restored, and the same once more goes on", u.Path, plain(err), n)
		}
		n++
		return nil
	})
	return n, err
}

// eachUndo reads an undo line by line, so that a large one needs little memory.
func eachUndo(ctx context.Context, file string, do func(*undoFile) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	lines, err := readUndo(f)
	if err != nil {
		return fmt.Errorf("%s is not the undo record of a mask: %w", file, err)
	}
	in := json.NewDecoder(lines)
	var head undoHeader
	if err := in.Decode(&head); err != nil {
		return fmt.Errorf("%s is not a complete undo record of a mask: %w", file, err)
	}
	if head.Format != UndoFormat {
		return fmt.Errorf("%s is not the undo record of a mask: it has the format %q, and this version reads %s", file, head.Format, UndoFormat)
	}
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var u struct {
			undoFile
			Files *int `json:"files"`
		}
		err := in.Decode(&u)
		switch u.Path = pathOf(u.Path, u.PathBytes); {
		case err != nil:
		case u.Files != nil && *u.Files == n && !in.More():
			return nil
		case u.Files != nil:
			err = fmt.Errorf("%d files are said, and %d are there", *u.Files, n)
		case u.Path == "":
			err = errors.New("no path")
		}
		if err != nil {
			return fmt.Errorf("%s is not a complete undo record of a mask, from line %d: %w", file, n+2, err)
		}
		if err := do(&u.undoFile); err != nil {
			return err
		}
	}
}

// restored is the source of a file of the starter; an error where it was edited.
func restored(root *os.Root, u *undoFile) ([]byte, error) {
	name := filepath.FromSlash(u.Path)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is not there")
	}
	if err != nil {
		return nil, errors.New(plain(err))
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no longer a regular file")
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
	// A name that is nobody else's, is not too long where that of the file may be, and is the
	// same again where a killed undo left it.
	temp := filepath.Join(filepath.Dir(name), ".mask-undo-"+digest([]byte(name))[:32])
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
