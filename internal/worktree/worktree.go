// Package worktree reads a folder that somebody works in as a tree, and writes one.
//
// It never follows a link out of the folder, and never reads what git is told to ignore there.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/tree"
)

// left are folders that no project has in its tree: what git, interpreters and package
// managers keep beside it.
var left = map[string]bool{".git": true, "__pycache__": true, ".venv": true, "venv": true, ".tox": true, "node_modules": true, ".pytest_cache": true}

// Read is the tree in a folder: the files that git knows there or would add, and without a
// repository all but the folders that tools keep. Submodules, which a folder may lack, are
// those of base. tree.ErrTooLarge, tree.ErrUnsafe.
func Read(ctx context.Context, dir string, base *tree.Tree) (*tree.Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var paths []string
	if _, err := root.Lstat(".git"); err == nil {
		paths, err = gitrepo.Files(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("listing the files of %s: %w", dir, err)
		}
	} else if paths, err = Walk(root, func(name string) bool { return left[name] }); err != nil {
		return nil, err
	}
	return Of(root, paths, base)
}

// Walk lists all that is not a folder, but for what lies in folders that skip names.
func Walk(root *os.Root, skip func(name string) bool) ([]string, error) {
	var paths []string
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && skip(path.Base(p)):
			return fs.SkipDir
		case !d.IsDir():
			paths = append(paths, p)
		}
		return nil
	})
	return paths, err
}

// Of is the tree of the given paths, with the submodules of base. A path that is gone is not
// in it.
func Of(root *os.Root, paths []string, base *tree.Tree) (*tree.Tree, error) {
	var entries []tree.Entry
	modules := map[string]bool{}
	for _, e := range base.Entries() {
		if e.Mode == tree.ModeModule {
			entries = append(entries, e)
			modules[e.Path] = true
		}
	}
	room := tree.NewRoom()
	for _, p := range paths {
		if modules[p] {
			continue
		}
		e, err := entry(root, p, room)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the tree: %w", err)
		}
		entries = append(entries, e)
	}
	return tree.New(entries)
}

func entry(root *os.Root, p string, room *tree.Room) (tree.Entry, error) {
	e := tree.Entry{Path: p, Mode: tree.ModeFile}
	info, err := root.Lstat(p)
	if err != nil {
		return e, err
	}
	if err := room.Take(info.Size()); err != nil {
		return e, fmt.Errorf("%s: %w", p, err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(p)
		e.Mode, e.Data = tree.ModeSymlink, []byte(target)
		return e, err
	case !info.Mode().IsRegular():
		return e, fmt.Errorf("%s is not a file", p)
	case info.Mode().Perm()&0o100 != 0:
		e.Mode = tree.ModeExec
	}
	e.Data, err = root.ReadFile(p)
	return e, err
}
