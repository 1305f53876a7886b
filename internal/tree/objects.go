package tree

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Objects takes git's objects. The storages of go-git are such: in memory, or the
// folder of a repository.
type Objects interface {
	SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error)
}

// WriteBlob writes a file's content, and gives its ID.
func WriteBlob(to Objects, data []byte) (plumbing.Hash, error) {
	if to == (hashes{}) { // an object would be a copy of the data
		return plumbing.ComputeHash(plumbing.BlobObject, data), nil
	}
	var o plumbing.MemoryObject
	o.SetType(plumbing.BlobObject)
	if _, err := o.Write(data); err != nil {
		return plumbing.ZeroHash, err
	}
	return to.SetEncodedObject(&o)
}

// WriteFolder writes the tree object of one folder, and gives its ID. It sorts rows.
func WriteFolder(to Objects, rows []object.TreeEntry) (plumbing.Hash, error) {
	sort.Sort(object.TreeEntrySorter(rows))
	return Encode(to, &object.Tree{Entries: rows})
}

// Encode writes a tree, a commit or a tag, and gives its ID.
func Encode(to Objects, o object.Object) (plumbing.Hash, error) {
	var encoded plumbing.MemoryObject
	if err := o.Encode(&encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return to.SetEncodedObject(&encoded)
}

// Write writes entries, all their folders and blobs, and gives the ID of the root. Paths
// are taken as they are: only New refuses unsafe ones.
func Write(to Objects, entries []Entry) (plumbing.Hash, error) {
	below := map[string][]Entry{}
	var rows []object.TreeEntry
	for _, e := range entries {
		name, rest, ok := strings.Cut(e.Path, "/")
		if ok {
			below[name] = append(below[name], Entry{Path: rest, Mode: e.Mode, Data: e.Data})
			continue
		}
		row, err := writeFile(to, e)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		rows = append(rows, row)
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		id, err := Write(to, below[name])
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("in %s: %w", name, err)
		}
		rows = append(rows, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id})
	}
	return WriteFolder(to, rows)
}

func writeFile(to Objects, e Entry) (row object.TreeEntry, err error) {
	row.Name = e.Path
	if row.Mode, err = FileMode(e.Mode); err != nil {
		return row, fmt.Errorf("%s: %w", e.Path, err)
	}
	if e.Mode != ModeModule {
		row.Hash, err = WriteBlob(to, e.Data)
		return row, err
	}
	if !plumbing.IsHash(string(e.Data)) {
		return row, fmt.Errorf("submodule %s: %q is not a commit", e.Path, e.Data)
	}
	row.Hash = plumbing.NewHash(string(e.Data))
	return row, nil
}

// FileMode reads a mode as git writes it, in octal. It keeps modes that only very old
// gits wrote: the ID of a tree depends on them.
func FileMode(mode string) (filemode.FileMode, error) {
	const octal, bits = 8, 32
	m, err := strconv.ParseUint(mode, octal, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a file mode: %w", mode, err)
	}
	return filemode.FileMode(m), nil
}

// hashes is Objects that keeps nothing: for IDs alone.
type hashes struct{}

func (hashes) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) { return o.Hash(), nil }

// ID is the tree's object ID as git computes it; "" where a submodule has no commit,
// of which git can write no tree.
func (t *Tree) ID() string {
	id, err := Write(hashes{}, slices.Collect(maps.Values(t.entries)))
	if err != nil {
		return ""
	}
	return id.String()
}

// BlobID is the object ID of content as git computes it.
func BlobID(data []byte) string { return plumbing.ComputeHash(plumbing.BlobObject, data).String() }
