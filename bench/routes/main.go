// Routes prints the routes that a folder declares, one a line: METHOD path handler auth body.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
			fmt.Println(line(r))
		}
		for _, u := range table.Unread {
			fmt.Fprintln(os.Stderr, "unread: "+u)
		}
		fmt.Fprintf(os.Stderr, "%s: %s: %d routes\n", dir, table.Framework, len(table.Routes))
	}
	return shown
}

func line(r routes.Route) string {
	handler := r.Handler.Path + "::" + r.Handler.Name
	if r.Handler.Name == "" {
		handler = r.At
	}
	auth := r.Auth
	if auth == "" {
		auth = "-"
	}
	out := []string{r.Method, r.Path, handler, auth}
	if len(r.Params) > 0 {
		out = append(out, "path("+fields(r.Params)+")")
	}
	if len(r.Query) > 0 {
		out = append(out, "query("+fields(r.Query)+")")
	}
	if r.Body != nil {
		out = append(out, r.Body.Encoding+" "+r.Body.Type+"("+fields(r.Body.Fields)+")")
	}
	return strings.Join(out, " ")
}

func fields(all []routes.Field) string {
	var out []string
	for _, f := range all {
		out = append(out, field(f))
	}
	return strings.Join(out, ", ")
}

func field(f routes.Field) string {
	s := f.Name
	if !f.Required {
		s += "?"
	}
	s += ":" + f.Type
	if f.Format != "" {
		s += "/" + f.Format
	}
	if len(f.Enum) > 0 {
		s += "<" + strings.Join(f.Enum, "|") + ">"
	}
	if f.Min != nil {
		s += fmt.Sprintf(" ≥%g", *f.Min)
	}
	if f.Max != nil {
		s += fmt.Sprintf(" ≤%g", *f.Max)
	}
	if f.Pattern != "" {
		s += " ~" + f.Pattern
	}
	if f.Example != nil {
		s += fmt.Sprintf(" =%v", f.Example)
	}
	if len(f.Fields) > 0 {
		s += "{" + fields(f.Fields) + "}"
	}
	if f.Items != nil {
		s += "[" + field(*f.Items) + "]"
	}
	return s
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
