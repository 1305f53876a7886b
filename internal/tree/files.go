package tree

import (
	"bytes"
	"io/fs"
	"path"
	"sort"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// Files are what a sandbox is given to hold the tree under sandbox.TreePath. All
// carry the time at, so that runs do not differ by it.
func (t *Tree) Files(at time.Time) []sandbox.File {
	out := make([]sandbox.File, 0, len(t.entries))
	for _, e := range t.Entries() {
		out = append(out, sandboxFile(e, at))
	}
	return out
}

// Changes are the writes and deletes that turn a sandbox holding t into one
// holding to. Deletes come first, and what a rename moved is written anew.
func (t *Tree) Changes(to *Tree, at time.Time) []sandbox.File {
	var deletes, writes []sandbox.File
	for _, e := range t.Entries() {
		if _, ok := to.entries[e.Path]; !ok {
			deletes = append(deletes, sandbox.File{Path: t.deletePath(e.Path, to), Delete: true})
		}
	}
	for _, e := range to.Entries() {
		old, ok := t.entries[e.Path]
		if ok && old.Mode == e.Mode && bytes.Equal(old.Data, e.Data) {
			continue
		}
		if ok && old.Mode != e.Mode { // a symlink that becomes a file must not be written through
			deletes = append(deletes, sandbox.File{Path: path.Join(sandbox.TreePath, e.Path), Delete: true})
		}
		writes = append(writes, sandboxFile(e, at))
	}
	return append(uniqueDeletes(deletes), writes...)
}

// deletePath is the path itself, or the highest directory that no longer holds
// anything: git removes emptied directories, and a package's leftover folder
// would still be importable as a namespace.
func (t *Tree) deletePath(p string, to *Tree) string {
	gone := p
	for dir := parent(p); dir != "" && !to.hasDir(dir); dir = parent(dir) {
		gone = dir
	}
	return path.Join(sandbox.TreePath, gone)
}

func (t *Tree) hasDir(dir string) bool {
	prefix := dir + "/"
	i := sort.SearchStrings(t.paths, prefix)
	return i < len(t.paths) && len(t.paths[i]) > len(prefix) && t.paths[i][:len(prefix)] == prefix
}

func uniqueDeletes(files []sandbox.File) []sandbox.File {
	seen := map[string]bool{}
	out := files[:0]
	for _, f := range files {
		if !seen[f.Path] {
			seen[f.Path] = true
			out = append(out, f)
		}
	}
	return out
}

func sandboxFile(e Entry, at time.Time) sandbox.File {
	f := sandbox.File{Path: path.Join(sandbox.TreePath, e.Path), Data: e.Data, ModTime: at}
	switch e.Mode {
	case ModeExec:
		f.Mode = 0o755
	case ModeSymlink:
		f.Mode = fs.ModeSymlink | 0o777
	case ModeModule: // an empty directory, as a clone without submodules has it
		f.Mode, f.Data = fs.ModeDir|0o755, nil
	default:
		f.Mode = 0o644
	}
	return f
}
