package tree

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"time"
)

// submoduleRecord marks a submodule in our archives: a directory whose PAX record
// holds the commit. Any tar program unpacks it as an empty directory.
const submoduleRecord = "BENCHMINT.submodule"

// WriteTar writes the tree as a deterministic archive: sorted, no times, no owners.
func (t *Tree) WriteTar(w io.Writer) error {
	tw := tar.NewWriter(w)
	for _, e := range t.Entries() {
		h := &tar.Header{Name: e.Path, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(e.Data)), Format: tar.FormatPAX, ModTime: time.Unix(0, 0)}
		switch e.Mode {
		case ModeExec:
			h.Mode = 0o755
		case "100664":
			h.Mode = 0o664
		case ModeSymlink:
			h.Typeflag, h.Linkname, h.Size, h.Mode = tar.TypeSymlink, string(e.Data), 0, 0o777
		case ModeModule:
			h.Typeflag, h.Size, h.Mode, h.Name = tar.TypeDir, 0, 0o755, e.Path+"/"
			h.PAXRecords = map[string]string{submoduleRecord: string(e.Data)}
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("archiving %s: %w", e.Path, err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := tw.Write(e.Data); err != nil {
				return fmt.Errorf("archiving %s: %w", e.Path, err)
			}
		}
	}
	return tw.Close()
}

// Room is what is left of the bounds on one tree while it is read.
type Room struct {
	entries int
	bytes   int64
}

// NewRoom is room for one tree.
func NewRoom() *Room { return &Room{entries: MaxEntries, bytes: MaxBytes} }

// Take takes the room of one entry of size bytes. ErrTooLarge.
func (r *Room) Take(size int64) error {
	r.entries--
	r.bytes -= max(size, 0)
	switch {
	case size > MaxFile:
		return fmt.Errorf("%w: %d bytes in one file, and %d MiB are read", ErrTooLarge, size, MaxFile>>20)
	case r.entries < 0:
		return fmt.Errorf("%w: more than %d entries", ErrTooLarge, MaxEntries)
	case r.bytes < 0:
		return fmt.Errorf("%w: more than %d MiB together", ErrTooLarge, MaxBytes>>20)
	}
	return nil
}

// read reads one file of an archive, which may hold fewer bytes than it says, or none.
func (r *Room) read(tr io.Reader, h *tar.Header) ([]byte, error) {
	if err := r.Take(h.Size); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(tr, h.Size))
}

// ReadTar reads what WriteTar wrote, of a stranger's making too. ErrUnsafe for paths that
// leave the tree, ErrTooLarge.
func ReadTar(r io.Reader) (*Tree, error) {
	var entries []Entry
	room := NewRoom()
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return New(entries)
		}
		if err != nil {
			return nil, fmt.Errorf("reading archive: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			if err := room.Take(0); err != nil {
				return nil, fmt.Errorf("reading %s: %w", h.Name, err)
			}
		}
		e := Entry{Path: h.Name, Mode: ModeFile}
		switch h.Typeflag {
		case tar.TypeReg:
			if e.Data, err = room.read(tr, h); err != nil {
				return nil, fmt.Errorf("reading %s: %w", h.Name, err)
			}
			switch {
			case h.Mode&0o100 != 0:
				e.Mode = ModeExec
			case h.Mode&0o020 != 0:
				e.Mode = "100664"
			}
		case tar.TypeSymlink:
			e.Mode, e.Data = ModeSymlink, []byte(h.Linkname)
		case tar.TypeDir:
			commit, ok := h.PAXRecords[submoduleRecord]
			if !ok {
				return nil, fmt.Errorf("%s: a directory that is not a submodule", h.Name)
			}
			e.Path, e.Mode, e.Data = h.Name[:len(h.Name)-1], ModeModule, []byte(commit)
		default:
			return nil, fmt.Errorf("%s: archive entry of type %q", h.Name, h.Typeflag)
		}
		entries = append(entries, e)
	}
}
