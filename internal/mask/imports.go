package mask

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Imports gives, for each file of a folder's code, the other files of it that its imports name, sorted.
// Tests, and what no mask reads, are left out.
func Imports(ctx context.Context, folder string, languages []Language) (map[string][]string, error) {
	folder, err := filepath.Abs(folder) // a package may be called as its folder
	if err != nil {
		return nil, err
	}
	r := &run{Options: Options{Source: folder, Profile: Strict, Languages: languages, Workers: runtime.GOMAXPROCS(0), MaxFile: maxFile}, project: newProject()}
	if r.source, err = os.OpenRoot(folder); err != nil {
		return nil, err
	}
	defer func() { _ = r.source.Close() }() // only read
	if r.entries, err = walk(ctx, folder); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	r.nameRoots()
	if err := r.project.index(ctx); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, u := range r.project.units {
		var to []string
		for _, at := range r.project.importedBy(u) {
			if at != u {
				to = append(to, at.path)
			}
		}
		slices.Sort(to)
		out[u.path] = slices.Compact(to)
	}
	return out, nil
}
