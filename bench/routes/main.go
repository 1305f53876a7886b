// Routes prints the routes that folders declare, one a line: METHOD path handler auth body; with
// -json as the program has them. It never runs what it reads.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/routes"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	status := 0
	for _, dir := range flag.Args() {
		if flag.NArg() > 1 && !*asJSON {
			fmt.Printf("# %s\n", dir)
		}
		if !show(dir, *asJSON) {
			status = 1
		}
	}
	os.Exit(status)
}

func show(dir string, asJSON bool) bool {
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
			if !asJSON {
				fmt.Println(r)
			} else if line, err := json.Marshal(r); err == nil {
				fmt.Println(string(line))
			}
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
