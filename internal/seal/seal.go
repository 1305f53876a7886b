// Package seal makes what a solver gets: a tree whose history is one neutral
// commit; and it proves, by searching every byte of every layer, that the
// solution, its tests and later releases of the project are not in there.
//
// It never reads a source repository: sealed trees are made from entries alone,
// so nothing of a history can come along.
package seal

import (
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

// GitDir is where the neutral history lies.
const GitDir = sandbox.TreePath + "/.git"

const (
	author  = "benchmint <benchmint@localhost>"
	message = "Start of the task\n"
	branch  = "main"
	// maxPack keeps pack offsets in the 31 bits of the plain index table.
	maxPack = 1 << 31
)

// config leaves out what the sandbox cannot keep: inode and change times differ
// with every copy of a layer, so only size and second count as "unchanged".
const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\ttrustctime = false\n\tcheckStat = minimal\n"

// attributes outrank those of the tree: what git stored is what is checked out,
// and what `git status` compares, to the byte.
const attributes = "* -text -filter -ident -working-tree-encoding\n"

// Files is the tree with a .git of exactly one commit (design 7): no reflog, no
// remote, no tag, no hook. Equal trees and dates give equal bytes. Submodules
// are empty directories, as in a clone without them.
func Files(t *tree.Tree, date time.Time) ([]sandbox.File, error) {
	date = date.UTC().Truncate(time.Second)
	var p pack
	root, err := p.addTree(t)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	if p.size > maxPack {
		return nil, fmt.Errorf("sealing: the tree has %d bytes, more than %d", p.size, int64(maxPack))
	}
	when := fmt.Sprintf("%d +0000", max(date.Unix(), 0)) // git has no time before 1970
	commit := p.add(objCommit, fmt.Appendf(nil, "tree %x\nauthor %s %s\ncommitter %s %s\n\n%s", root, author, when, author, when, message))
	data, idx, name := p.encode()
	meta := []struct {
		path string
		mode fs.FileMode
		data []byte
	}{
		{"HEAD", 0o644, []byte("ref: refs/heads/" + branch + "\n")},
		{"config", 0o644, []byte(config)},
		{"info/attributes", 0o644, []byte(attributes)},
		{"objects/pack/pack-" + name + ".idx", 0o444, idx},
		{"objects/pack/pack-" + name + ".pack", 0o444, data},
		{"refs/heads/" + branch, 0o644, fmt.Appendf(nil, "%x\n", commit)},
		{"index", 0o644, index(t, date)},
	}
	files := t.Files(date)
	for _, m := range meta {
		files = append(files, sandbox.File{Path: path.Join(GitDir, m.path), Mode: m.mode, Data: m.data, ModTime: date})
	}
	// One second younger than its entries: else git takes each of them for racy and
	// reads the whole tree at every `git status`.
	files[len(files)-1].ModTime = date.Add(time.Second)
	return files, nil
}
