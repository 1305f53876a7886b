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
	aside := map[int]bool{}
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
	lone := r.project.lone()
	for _, u := range r.project.units {
		if _, placed := u.language.(Placed); !placed && !u.outside && (beside(above(u.family, u.path)) || (u.program || lone(u)) && r.project.outsider(u) || found[u.family] && !loadable(u.family, u.path)) {
			aside[u.index] = true
		}
	}
	r.project.load(aside)
	for u := range aside {
		r.project.units[u].outside = true
	}
	return nil
}

// lone tells a file that nothing can import and nothing does: one of a package without an
// entry, which is there for what it runs.
func (p *project) lone() func(*unit) bool {
	if len(p.closed) == 0 {
		return func(*unit) bool { return false }
	}
	taken := map[int]bool{}
	for _, u := range p.units {
		for _, at := range p.importedBy(u) {
			taken[at] = taken[at] || at != u.index
		}
	}
	return func(u *unit) bool {
		for dir := path.Dir(u.path); !taken[u.index] && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if p.closed[moduleKey{u.family, dir}] {
				return true
			}
		}
		return false
	}
}

// outsider tells a file that takes what it needs from a package of the tree by the name
// that others know it by.
func (p *project) outsider(u *unit) bool {
	return slices.ContainsFunc(u.imports, func(im imported) bool {
		module := p.words.texts[im.module]
		return slices.ContainsFunc(p.anchors, func(a anchor) bool {
			rest, ok := strings.CutPrefix(module, a.prefix)
			return ok && a.family == u.family && (rest == "" || rest[0] == '/') && len(p.findModule(u, module)) > 0
		})
	})
}

// strays are the units that stand where nothing is imported from.
func (r *run) strays(l Placed) map[int]bool {
	at := map[string]int{}
	var paths []string
	for _, u := range r.project.units {
		if u.language.Name() == l.Name() && !u.outside {
			at[u.path] = u.index
			paths = append(paths, u.path)
		}
	}
	out := map[int]bool{}
	for _, p := range l.Strays(paths) {
		out[at[p]] = true
	}
	return out
}

// namedByTests takes out what a test imports. Tests are not read otherwise.
func (r *run) namedByTests(ctx context.Context, l Placed, strays map[int]bool) error {
	if len(strays) == 0 {
		return nil
	}
	of := map[string][]int{}
	for u := range strays {
		for _, name := range r.project.units[u].modules {
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
func (p *project) load(aside map[int]bool) {
	var loaded []*unit
	for _, u := range p.units {
		if !aside[u.index] && !u.outside {
			loaded = append(loaded, u)
		}
	}
	for len(aside) > 0 && len(loaded) > 0 {
		u := loaded[0]
		loaded = loaded[1:]
		for _, at := range p.importedBy(u) {
			if aside[at] {
				delete(aside, at)
				loaded = append(loaded, p.units[at])
			}
		}
	}
}

// declaring are the units that declare what an import names.
func (p *project) declaring(u *unit, im imported) []int {
	if p.words.texts[im.name] == "*" {
		return nil
	}
	var out []int
	for _, t := range p.importOf(u, im, 0) {
		switch t.kind {
		case isFunction:
			out = append(out, p.of(t.id).unit.index)
		case isClass:
			for _, part := range p.groups[t.id].parts {
				out = append(out, p.classes[part].unit.index)
			}
		}
	}
	return out
}

// importedBy are the units that a unit's imports name.
func (p *project) importedBy(u *unit) []int {
	var out []int
	for _, im := range u.imports {
		module, name := p.words.texts[im.module], p.words.texts[im.name]
		if u.means.SharedModules && (name != "*" || module == `\` || u.means.OwnStars) {
			out = append(out, p.declaring(u, im)...)
			continue
		}
		found := p.findModule(u, module)
		if name != "" && name != "*" {
			found = append(found, p.findModule(u, join(module, ".", name))...)
		}
		for _, t := range found {
			if t.kind == isModule {
				out = append(out, p.modules[t.id].units...)
			}
		}
	}
	return out
}
