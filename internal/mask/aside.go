package mask

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// besides are the folders, and the names of files, of programs that show, prepare or
// explain what a project is, and of what tests are fed. Each is run by hand and by
// itself, as a main is: with what it runs masked it fails, and nothing else does.
var besides = map[string]bool{
	"example": true, "examples": true, "sample": true, "samples": true, "demo": true, "demos": true, "snippets": true, "fixtures": true,
	"docs": true, "doc": true, "site": true, "website": true, "scripts": true,
}

// timed are the words for programs that time it: the first or the last of a name.
var timed = lazyregexp.New(`(?i)^(bench(es|marks?)?|perf(ormance)?)([^a-z]|$)|(^|[^a-z])(bench(es|marks?)?|perf(ormance)?)$|[a-z]Benchmarks?$`)

// loadPath are the folders from which the names of a language's projects are found, by
// family: what is looked up by its name lies below one of them. Where a tree has one, a
// file elsewhere runs when it is named, as a program.
var loadPath = map[string][]string{
	"ruby": {"lib", "app", "config"},
	"php":  {"src", "lib", "app", "config", "bootstrap", "routes", "database", "includes"},
}

// programs are the folders of what is run from a shell, wherever they stand.
var programs = []string{"bin", "exe"}

// loadable tells by the path of a file whether its name may be found.
func loadable(family, p string) bool {
	found := false
	for part := range strings.SplitSeq(path.Dir(p), "/") {
		if slices.Contains(programs, part) {
			return false
		}
		found = found || slices.Contains(loadPath[family], part)
	}
	return found
}

// above is a path as far as the first folder that names are found below, or the whole of it:
// in there a file is called as what it defines is.
func above(family, p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if slices.Contains(loadPath[family], part) {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return p
}

// beside tells by the path of a file whether it is such a program.
func beside(p string) bool {
	stem, _, _ := strings.Cut(path.Base(p), ".")
	return slices.ContainsFunc(append(strings.Split(path.Dir(p), "/"), stem), func(part string) bool {
		part = strings.Trim(part, "_")
		return besides[strings.ToLower(part)] || timed.MatchString(part)
	})
}

// setAside finds the files that nothing loads, such programs among them: they run when
// they are run, and what they run is not kept for them. A language that is Placed tells
// them by where they stand; its programs may be modules of the project.
func (r *run) setAside(ctx context.Context) error {
	aside := map[*unit]bool{}
	for _, l := range r.Languages {
		if placed, ok := l.(Placed); ok {
			strays := r.strays(placed)
			if err := r.namedByTests(ctx, placed, strays); err != nil {
				return err
			}
			maps.Copy(aside, strays)
		}
	}
	found := map[string]bool{} // families that have a folder to load from
	for _, u := range r.project.units {
		found[u.family] = found[u.family] || !u.outside && loadable(u.family, u.path)
	}
	for _, u := range r.project.units {
		if _, placed := u.language.(Placed); !placed && !u.outside && (beside(above(u.family, u.path)) || found[u.family] && !loadable(u.family, u.path)) {
			aside[u] = true
		}
	}
	r.project.load(aside)
	for u := range aside {
		u.outside = true
	}
	return nil
}

// strays are the units that stand where nothing is imported from.
func (r *run) strays(l Placed) map[*unit]bool {
	at := map[string]*unit{}
	var paths []string
	for _, u := range r.project.units {
		if u.language.Name() == l.Name() && !u.outside {
			at[u.path] = u
			paths = append(paths, u.path)
		}
	}
	out := map[*unit]bool{}
	for _, p := range l.Strays(paths) {
		out[at[p]] = true
	}
	return out
}

// namedByTests takes out what a test imports. Tests are not read otherwise.
func (r *run) namedByTests(ctx context.Context, l Placed, strays map[*unit]bool) error {
	if len(strays) == 0 {
		return nil
	}
	of := map[string][]*unit{}
	for u := range strays {
		for _, name := range u.modules {
			of[name] = append(of[name], u)
		}
	}
	for _, e := range r.entries {
		if e.unit == nil || e.whole.Kind != ForTests || e.unit.language.Name() != l.Name() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		source, err := r.source.ReadFile(filepath.FromSlash(e.path))
		if err != nil {
			return err
		}
		for _, name := range l.ImportedBy(source) {
			for _, u := range of[name] {
				delete(strays, u)
			}
		}
	}
	return nil
}

// load takes out what is imported by what is loaded, and what that imports.
func (p *project) load(aside map[*unit]bool) {
	var loaded []*unit
	for _, u := range p.units {
		if !aside[u] && !u.outside {
			loaded = append(loaded, u)
		}
	}
	for len(aside) > 0 && len(loaded) > 0 {
		u := loaded[0]
		loaded = loaded[1:]
		for _, at := range p.importedBy(u) {
			if aside[at] {
				delete(aside, at)
				loaded = append(loaded, at)
			}
		}
	}
}
