package worktree

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/internal/tree"
)

// Make writes a tree into a folder that it makes: fs.ErrExist where there is one.
func Make(dir string, t *tree.Tree) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return Write(root, t)
}

// Write writes a tree into an empty folder, without submodules. Links are written as links, and
// nothing is written through them: a tree has no path below a link.
func Write(root *os.Root, t *tree.Tree) error {
	for _, e := range t.Entries() {
		if e.Mode == tree.ModeModule {
			continue
		}
		name := filepath.FromSlash(e.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		var err error
		switch e.Mode {
		case tree.ModeSymlink:
			err = root.Symlink(string(e.Data), name)
		case tree.ModeExec:
			err = root.WriteFile(name, e.Data, 0o755)
		default:
			err = root.WriteFile(name, e.Data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
