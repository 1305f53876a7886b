package routes

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Folder is a tree on disk, of regular files, without its history.
type Folder struct {
	root  string
	paths []string
}

// Open lists the files of a folder; their content is read when it is asked for.
func Open(root string) (*Folder, error) {
	t := &Folder{root: root}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(root, p)
			t.paths = append(t.paths, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	slices.Sort(t.paths)
	return t, err
}

// Paths are the files, sorted, with slashes.
func (t *Folder) Paths() []string { return t.paths }

// Has reports whether there is a file of a path.
func (t *Folder) Has(p string) bool {
	_, found := slices.BinarySearch(t.paths, p)
	return found
}

// Read gives a file's bytes.
func (t *Folder) Read(p string) ([]byte, error) {
	return os.ReadFile(filepath.Join(t.root, filepath.FromSlash(p)))
}
