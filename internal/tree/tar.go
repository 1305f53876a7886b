package tree

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// submoduleRecord marks a submodule in our archives: a directory whose PAX record
// holds the commit. Any tar program unpacks it as an empty directory.
const submoduleRecord = "BENCHMINT.submodule"

// sharedRecord marks an archive of several trees, in a global PAX header at its start. Each tree is
// a folder that is named by its object ID; any tar program unpacks them all.
const sharedRecord = "BENCHMINT.trees"

// WriteTar writes the tree as a deterministic archive: sorted, no times, no owners.
func (t *Tree) WriteTar(w io.Writer) error {
	tw := tar.NewWriter(w)
	for _, e := range t.Entries() {
		if err := e.write(tw, e.Path); err != nil {
			return err
		}
	}
	return tw.Close()
}

// WriteTars writes several trees as one deterministic archive. A file that several have is written
// once, and what looks alike stands side by side.
func WriteTars(w io.Writer, trees []*Tree) error {
	type member struct {
		Entry
		name string
	}
	var all []member
	for _, t := range trees {
		id := t.ID()
		for _, e := range t.Entries() {
			all = append(all, member{e, id + "/" + e.Path})
		}
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.name, b.name)) })
	tw := tar.NewWriter(w)
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "trees", PAXRecords: map[string]string{sharedRecord: "1"}, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("archiving: %w", err)
	}
	type content struct{ mode, data string }
	first, last := map[content]string{}, ""
	for _, m := range all {
		if m.name == last {
			continue // one tree, given twice
		}
		last = m.name
		c := content{m.Mode, string(m.Data)}
		to, there := first[c]
		if h := m.header(m.name); there && h.Typeflag == tar.TypeReg && h.Size > 0 {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, to, 0
			if err := tw.WriteHeader(h); err != nil {
				return fmt.Errorf("archiving %s: %w", m.name, err)
			}
			continue
		}
		first[c] = m.name
		if err := m.write(tw, m.name); err != nil {
			return err
		}
	}
	return tw.Close()
}

func (e Entry) header(name string) *tar.Header {
	h := &tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(e.Data)), Format: tar.FormatPAX, ModTime: time.Unix(0, 0)}
	switch e.Mode {
	case ModeExec:
		h.Mode = 0o755
	case "100664":
		h.Mode = 0o664
	case ModeSymlink:
		h.Typeflag, h.Linkname, h.Size, h.Mode = tar.TypeSymlink, string(e.Data), 0, 0o777
	case ModeModule:
		h.Typeflag, h.Size, h.Mode, h.Name = tar.TypeDir, 0, 0o755, name+"/"
		h.PAXRecords = map[string]string{submoduleRecord: string(e.Data)}
	}
	return h
}

func (e Entry) write(tw *tar.Writer, name string) error {
	h := e.header(name)
	if err := tw.WriteHeader(h); err != nil {
		return fmt.Errorf("archiving %s: %w", name, err)
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	if _, err := tw.Write(e.Data); err != nil {
		return fmt.Errorf("archiving %s: %w", name, err)
	}
	return nil
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

// ReadTar reads what WriteTar wrote, of a stranger's making too; of what WriteTars wrote, the tree
// with an object ID. ErrUnsafe for paths that leave the tree, ErrTooLarge.
func ReadTar(r io.Reader, id string) (*Tree, error) {
	var entries []Entry
	room, shared := NewRoom(), false
	contents := map[string]Entry{} // of shared, which later entries may link to
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return New(entries)
		}
		if err != nil {
			return nil, fmt.Errorf("reading archive: %w", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader && h.PAXRecords[sharedRecord] != "" {
			shared = true
			continue
		}
		e, err := entryOf(tr, h, room, contents)
		if err != nil {
			return nil, err
		}
		if shared {
			contents[h.Name] = e
			var in bool
			if e.Path, in = strings.CutPrefix(e.Path, id+"/"); !in {
				continue
			}
		}
		entries = append(entries, e)
	}
}

func entryOf(tr io.Reader, h *tar.Header, room *Room, contents map[string]Entry) (e Entry, err error) {
	if h.Typeflag != tar.TypeReg {
		if err := room.Take(0); err != nil {
			return e, fmt.Errorf("reading %s: %w", h.Name, err)
		}
	}
	e = Entry{Path: h.Name, Mode: ModeFile}
	switch h.Typeflag {
	case tar.TypeReg:
		if e.Data, err = room.read(tr, h); err != nil {
			return e, fmt.Errorf("reading %s: %w", h.Name, err)
		}
		switch {
		case h.Mode&0o100 != 0:
			e.Mode = ModeExec
		case h.Mode&0o020 != 0:
			e.Mode = "100664"
		}
	case tar.TypeLink:
		to, ok := contents[h.Linkname]
		if !ok {
			return e, fmt.Errorf("%s: it links to %q, which is not before it", h.Name, h.Linkname)
		}
		e.Mode, e.Data = to.Mode, to.Data
	case tar.TypeSymlink:
		e.Mode, e.Data = ModeSymlink, []byte(h.Linkname)
	case tar.TypeDir:
		commit, ok := h.PAXRecords[submoduleRecord]
		if !ok {
			return e, fmt.Errorf("%s: a directory that is not a submodule", h.Name)
		}
		e.Path, e.Mode, e.Data = strings.TrimSuffix(h.Name, "/"), ModeModule, []byte(commit)
	default:
		return e, fmt.Errorf("%s: archive entry of type %q", h.Name, h.Typeflag)
	}
	return e, nil
}
