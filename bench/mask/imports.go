package main

import (
	"context"
	_ "embed" // imports.py
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
)

//go:embed imports.py
var imports string

// imported imports every module in both; tests and what stands aside are left out.
func (b *bench) imported(ctx context.Context, p pair) error {
	m, err := mask.ReadManifest(mask.ManifestPath(p.path("starter")))
	if err != nil {
		return err
	}
	var modules, paths []string
	for _, r := range m.Files {
		if r.Language != python.Name {
			continue
		}
		source, err := os.ReadFile(p.path(filepath.Join("source", r.Path)))
		if err != nil {
			return err
		}
		if (python.Masker{}).Exempt(r.Path, source).Kind == "" {
			paths = append(paths, r.Path)
		}
	}
	strays := python.Masker{}.Strays(paths)
	for _, p := range paths {
		if name := moduleOf(p); name != "" && !slices.Contains(strays, p) {
			modules = append(modules, name)
		}
	}
	before, err := b.importing(ctx, p, "source", modules)
	if err != nil {
		return err
	}
	after, err := b.importing(ctx, p, "starter", modules) // all of them: what one left, the next finds
	if err != nil {
		return err
	}
	modules = slices.DeleteFunc(modules, func(name string) bool { return before[name] != "" })
	failed := 0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] != "" && before[name] == "" {
			failed++
			b.table.Row("  imports no more: "+name, after[name])
		}
	}
	b.table.Row("  scripts beside the packages, not imported", fmt.Sprint(len(strays)))
	b.table.Row("  modules imported before, after", fmt.Sprintf("%d, %d", len(modules), len(modules)-failed))
	b.table.AtMost("  modules that import no more", float64(failed), 0)
	return nil
}

// moduleOf is the name by which a file is imported; "" where it has none.
func moduleOf(p string) string {
	p, ok := strings.CutSuffix(p, ".py")
	if !ok {
		return ""
	}
	parts := strings.Split(p, "/")
	if len(parts) > 1 && slices.Contains([]string{"src", "lib", "python"}, parts[0]) {
		parts = parts[1:]
	}
	if path.Base(p) == "__init__" {
		parts = parts[:len(parts)-1]
	}
	if path.Base(p) == "__main__" || slices.ContainsFunc(parts, func(s string) bool { return s == "" || strings.ContainsAny(s, ".- ") }) {
		return "" // it runs the program, or is no name
	}
	return strings.Join(parts, ".")
}

// importing gives for each module why it does not import; "" for one that does. A
// module that ends the process fails, and the others go on without it.
func (b *bench) importing(ctx context.Context, p pair, side string, modules []string) (map[string]string, error) {
	out := map[string]string{}
	for rest := modules; len(rest) > 0; {
		if err := os.Rename(p.path(side), p.path("tree")); err != nil {
			return nil, err
		}
		one, cancel := context.WithTimeout(ctx, b.limit)
		cmd := command(one, b.imports, append([]string{"-c", imports, p.path("tree")}, rest...)...)
		cmd.Dir = p.folder
		said, err := cmd.Output()
		cancel()
		if err := os.Rename(p.path("tree"), p.path(side)); err != nil {
			return nil, err
		}
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && one.Err() == nil {
			return nil, err
		}
		done := 0
		for line := range strings.Lines(string(said)) {
			if name, why, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok && done < len(rest) && name == rest[done] {
				out[name] = why
				done++
			}
		}
		if done < len(rest) {
			if err == nil {
				err = errors.New("it ends the process")
			}
			out[rest[done]] = err.Error()
			done++
		}
		rest = rest[done:]
	}
	return out, nil
}
