// Routes prints the routes that a folder declares, one a line: METHOD path handler auth body.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/routes"
)

func main() {
	status := 0
	for _, dir := range os.Args[1:] {
		if len(os.Args) > 2 {
			fmt.Printf("# %s\n", dir)
		}
		if !show(dir) {
			status = 1
		}
	}
	os.Exit(status)
}

func show(dir string) bool {
	t, err := read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	shown := false
	for _, language := range []string{"python", "go"} {
		table, err := routes.Read(t, language)
		if unread := (*routes.Unread)(nil); errors.As(err, &unread) {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", dir, language, err)
			continue
		}
		shown = true
		for _, r := range table.Routes {
			fmt.Println(r)
		}
		for _, u := range table.Unread {
			fmt.Fprintln(os.Stderr, "unread: "+u)
		}
		fmt.Fprintf(os.Stderr, "%s: %s: %d routes\n", dir, table.Framework, len(table.Routes))
	}
	return shown
}

// folder is a tree on disk.
type folder struct {
	root  string
	paths []string
}

func read(root string) (*folder, error) {
	t := &folder{root: root}
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

func (t *folder) Paths() []string { return t.paths }

func (t *folder) Has(p string) bool {
	_, found := slices.BinarySearch(t.paths, p)
	return found
}

func (t *folder) Read(p string) ([]byte, error) {
	return os.ReadFile(filepath.Join(t.root, filepath.FromSlash(p)))
}
