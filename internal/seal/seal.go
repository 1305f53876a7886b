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

	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

// GitDir is where the neutral history lies.
const GitDir = sandbox.TreePath + "/.git"

const (
	author  = "benchmint"
	address = "benchmint@localhost"
	message = "Start of the task\n"
	branch  = "main"
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
	stamp := stampOf(date)
	objects := memory.NewStorage()
	head, err := commit(objects, t, stamp)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	p, err := pack(objects)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	index, err := indexOf(t, stamp)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	name := "objects/pack/pack-" + p.sum.String()
	meta := []struct {
		path string
		mode fs.FileMode
		data []byte
	}{
		{"HEAD", 0o644, []byte("ref: refs/heads/" + branch + "\n")},
		{"config", 0o644, []byte(config)},
		{"info/attributes", 0o644, []byte(attributes)},
		{name + ".idx", 0o444, p.index},
		{name + ".pack", 0o444, p.data},
		{"refs/heads/" + branch, 0o644, []byte(head.String() + "\n")},
		{"index", 0o644, index},
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

// stampOf is the time of the commit: git has none before 1970.
func stampOf(date time.Time) time.Time {
	date = date.UTC().Truncate(time.Second)
	if date.Unix() < 0 {
		return time.Unix(0, 0).UTC()
	}
	return date
}

// Head is the ID of the one commit that Files writes.
func Head(t *tree.Tree, date time.Time) (string, error) {
	head, err := commit(memory.NewStorage(), t, stampOf(date))
	if err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	return head.String(), nil
}
