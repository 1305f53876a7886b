// Package tree holds one commit's tree in memory, apart from any repository, so
// that a task can be proved from a dataset alone.
//
// It never applies a filter, an attribute or a line-end rule: what git stored is
// what Read gives, to the byte.
package tree

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Git's file modes.
const (
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeSymlink = "120000"
	ModeModule  = "160000" // submodule; Data is the commit in hex
)

// ErrUnsafe is a path that would leave the tree, hide in .git, or that no file
// system takes.
var ErrUnsafe = errors.New("unsafe path")

// ErrTooLarge is an object or a tree that is larger than is read.
var ErrTooLarge = errors.New("too large to be read")

// Bounds on what is read of strangers' objects and archives, all of which is held in
// memory. GitHub takes no file that is larger than MaxFile.
const (
	MaxFile    = 100 << 20 // bytes of one file, or of any other object
	MaxBytes   = 1 << 30   // of all files of a tree together
	MaxEntries = 500_000   // of a tree, folders included
)

// Entry is one file, symlink or submodule.
type Entry struct {
	Path string
	Mode string
	Data []byte // content; target of a symlink; commit hex of a submodule
}

// Tree is an immutable set of entries.
type Tree struct {
	entries map[string]Entry
	paths   []string // without submodules, sorted
}

// New takes the entries of a tree in any order. ErrUnsafe for paths that must
// never be written; other errors for duplicates and unknown modes.
func New(entries []Entry) (*Tree, error) {
	t := &Tree{entries: make(map[string]Entry, len(entries))}
	for _, e := range entries {
		if err := checkPath(e.Path); err != nil {
			return nil, err
		}
		switch e.Mode {
		case ModeFile, ModeExec, ModeSymlink, ModeModule:
		case "100664": // written by very old gits; reads as a plain file, but its ID keeps the mode
		default:
			return nil, fmt.Errorf("%s: unknown mode %q", e.Path, e.Mode)
		}
		if _, ok := t.entries[e.Path]; ok {
			return nil, fmt.Errorf("%s: two entries", e.Path)
		}
		t.entries[e.Path] = e
		if e.Mode != ModeModule {
			t.paths = append(t.paths, e.Path)
		}
	}
	sort.Strings(t.paths)
	for p := range t.entries {
		for dir := parent(p); dir != ""; dir = parent(dir) {
			if _, ok := t.entries[dir]; ok {
				return nil, fmt.Errorf("%s: %s is a file and a directory: %w", p, dir, ErrUnsafe)
			}
		}
	}
	return t, nil
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// Paths are the files and symlinks, sorted.
func (t *Tree) Paths() []string { return t.paths }

// Has reports whether path is a file or symlink.
func (t *Tree) Has(path string) bool {
	e, ok := t.entries[path]
	return ok && e.Mode != ModeModule
}

// Read gives a file's bytes, or a symlink's target.
func (t *Tree) Read(path string) ([]byte, error) {
	e, ok := t.entries[path]
	if !ok || e.Mode == ModeModule {
		return nil, fmt.Errorf("%s: no such file in the tree", path)
	}
	return e.Data, nil
}

// Entry is one entry with its mode.
func (t *Tree) Entry(path string) (Entry, bool) {
	e, ok := t.entries[path]
	return e, ok
}

// Entries are all entries, submodules too, sorted by path.
func (t *Tree) Entries() []Entry {
	return slices.SortedFunc(maps.Values(t.entries), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}
