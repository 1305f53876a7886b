package golang

import (
	"path"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// sources reads the files of one question, each once: the same ones are asked for
// with every name.
type sources map[string]*outline.File // by content

// parsed reads one Go file; nil where it is missing, too large or unreadable.
func (s sources) parsed(t lang.Tree, p string) *outline.File {
	if t == nil || !strings.HasSuffix(p, ".go") || !t.Has(p) {
		return nil
	}
	data, err := t.Read(p)
	if err != nil {
		return nil
	}
	f, ok := s[string(data)]
	if !ok {
		f, _ = outline.Parse(syntax.Go, data) // nil with an error, and again nil the next time
		s[string(data)] = f
	}
	return f
}

// used is what test files name, and the packages that they import.
type used struct {
	plain     map[string]bool            // names that no function binds for itself
	selected  map[string]bool            // after a dot, or as a key of a literal
	qualified map[string]map[string]bool // import path → names after its package's name
	imports   map[string]bool
}

// NewNames lists what the tests use and only the solution's code defines:
// functions, methods, types, fields, constants and variables that are new, and
// functions whose signature is.
func (Language) NewNames(base, solution lang.Tree, code, tests []string) []schemas.Name {
	s := sources{}
	l := layoutOf(solution)
	u := s.usesOf(solution, tests)
	before := map[string]map[string]string{} // folder → qualified name → signature
	var out []schemas.Name
	seen := map[string]bool{}
	for _, p := range code {
		f := s.parsed(solution, p)
		if f == nil || strings.HasSuffix(p, "_test.go") {
			continue
		}
		dir := dirOf(p)
		if before[dir] == nil {
			before[dir] = s.definitions(base, dir)
		}
		for i, d := range f.Decls {
			if !defines(f, i) || !u.uses(d, l, dir) {
				continue
			}
			signature, existed := before[dir][d.Qualified]
			if existed && (signature == d.Signature || d.Kind != outline.Function && d.Kind != outline.Method) {
				continue
			}
			n := schemas.Name{Name: d.Qualified, Kind: string(d.Kind), Signature: d.Signature, Path: p}
			if !seen[n.Path+n.Name] {
				seen[n.Path+n.Name] = true
				out = append(out, n)
			}
		}
	}
	out = append(out, s.newPackages(base, l, u)...)
	out = append(out, s.unfound(base, solution, l, u, code)...)
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Path+"\x00"+out[i].Name < out[j].Path+"\x00"+out[j].Name
	})
	return out
}

// defines recognises declarations that other files can name: top-level ones, and the
// fields and methods of top-level types.
func defines(f *outline.File, i int) bool {
	d := f.Decls[i]
	switch {
	case d.Kind == outline.Local || d.Kind == outline.Parameter || d.Name == "_" || d.Name == "init":
		return false
	case d.Parent < 0:
		return true
	}
	parent := f.Decls[d.Parent]
	return parent.Parent < 0 && parent.Kind == outline.Type
}

// definitions are the qualified names that a folder's package defines, with their
// signatures, tests left out.
func (s sources) definitions(t lang.Tree, dir string) map[string]string {
	out := map[string]string{}
	if t == nil {
		return out
	}
	for _, p := range t.Paths() {
		if dirOf(p) != dir || strings.HasSuffix(p, "_test.go") {
			continue
		}
		f := s.parsed(t, p)
		if f == nil {
			continue
		}
		for i, d := range f.Decls {
			if defines(f, i) {
				out[d.Qualified] = d.Signature
			}
		}
	}
	return out
}

// usesOf reads the test files.
func (s sources) usesOf(t lang.Tree, tests []string) used {
	u := used{map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
	for _, p := range tests {
		f := s.parsed(t, p)
		if f == nil {
			continue
		}
		packages := map[string]string{} // name in this file → import path
		for _, i := range f.Imports {
			u.imports[i.Module] = true
			name := i.As
			if name == "" {
				name = path.Base(i.Module)
			}
			packages[name] = i.Module
		}
		u.add(f, packages)
	}
	return u
}

func (u used) add(f *outline.File, packages map[string]string) {
	bound := map[int]map[string]bool{}
	top := f.Top() // in the order of their beginnings
	reach := make([]int, len(top))
	for k, i := range top {
		bound[i] = f.Bound(i)
		reach[k] = max(f.Decls[i].Span.End, reach[max(k-1, 0)]) // the furthest end up to here
	}
	for _, use := range f.Uses {
		after := sort.Search(len(top), func(k int) bool { return f.Decls[top[k]].Span.Start > use.Span.Start })
		local := func(name string) bool {
			for k := after - 1; k >= 0 && reach[k] >= use.Span.End; k-- {
				if f.Decls[top[k]].Span.Holds(use.Span) && bound[top[k]][name] {
					return true
				}
			}
			return false
		}
		switch use.Kind {
		case outline.Identifier:
			if !local(use.Name) {
				u.plain[use.Name] = true
			}
		case outline.Attribute:
			u.selected[use.Name] = true
			// A variable may hide the package that it is named after.
			if imp, ok := packages[use.Of]; ok && !local(use.Of) {
				if u.qualified[imp] == nil {
					u.qualified[imp] = map[string]bool{}
				}
				u.qualified[imp][use.Name] = true
			}
		case outline.Keyword:
			u.selected[use.Name] = true
		}
	}
}

// uses reports whether the tests may mean this declaration: a bare name of their
// own package, pkg.Name of an imported one, or any selector for what belongs to a type.
func (u used) uses(d outline.Decl, l layout, dir string) bool {
	imp, _ := l.importPath(dir)
	if d.Parent >= 0 || d.Receiver != "" {
		return u.selected[d.Name]
	}
	if u.qualified[imp][d.Name] || u.plain[d.Name] {
		return true
	}
	// The package's name may differ from its path's end (go-yaml is yaml).
	return u.imports[imp] && u.selected[d.Name]
}

// newPackages are imported packages of the project that base does not have.
func (s sources) newPackages(base lang.Tree, l layout, u used) []schemas.Name {
	var out []schemas.Name
	for imp := range u.imports {
		dir, ok := l.dir(imp)
		if ok && len(s.definitions(base, dir)) == 0 {
			out = append(out, schemas.Name{Name: imp, Kind: "module", Path: dir})
		}
	}
	return out
}

// unfound are names that tests take from a package of the project that changed,
// and that no file of it declares: they are made at build time.
func (s sources) unfound(base, solution lang.Tree, l layout, u used, code []string) []schemas.Name {
	changed := map[string]bool{}
	for _, p := range code {
		changed[dirOf(p)] = true
	}
	var out []schemas.Name
	for imp, names := range u.qualified {
		dir, ok := l.dir(imp)
		if !ok || !changed[dir] {
			continue
		}
		now, before := s.definitions(solution, dir), s.definitions(base, dir)
		for name := range names {
			_, is := now[name]
			_, was := before[name]
			if !is && !was && !s.declaredByTests(solution, dir, name) {
				out = append(out, schemas.Name{Name: name, Path: dir})
			}
		}
	}
	return out
}

// declaredByTests covers export_test.go: names that a package's own test files
// open for its external tests.
func (s sources) declaredByTests(t lang.Tree, dir, name string) bool {
	for _, p := range t.Paths() {
		if dirOf(p) != dir || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		if f := s.parsed(t, p); f != nil && len(f.Find(name)) > 0 {
			return true
		}
	}
	return false
}
