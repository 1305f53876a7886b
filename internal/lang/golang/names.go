package golang

import (
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// parses remembers parsed files by their content. A proof asks about every test
// of a package, and each time the same files are read.
type parses struct {
	mu    sync.Mutex
	files map[string]*syntax.File
}

// maxParses bounds what is remembered: enough for the test files of a change.
const maxParses = 256

// parsed reads one Go file; nil where it is missing, too large or unreadable.
func (g Language) parsed(t lang.Tree, p string) *syntax.File {
	if t == nil || !strings.HasSuffix(p, ".go") || !t.Has(p) {
		return nil
	}
	data, err := t.Read(p)
	if err != nil {
		return nil
	}
	if g.parses == nil {
		f, _ := syntax.Parse(syntax.Go, data) // nil with an error
		return f
	}
	g.parses.mu.Lock()
	defer g.parses.mu.Unlock()
	f, ok := g.parses.files[string(data)]
	if !ok {
		f, _ = syntax.Parse(syntax.Go, data) // nil with an error, and again nil the next time
		if len(g.parses.files) >= maxParses {
			clear(g.parses.files)
		}
		g.parses.files[string(data)] = f
	}
	return f
}

// Untouched compares a test's function, and every declaration in changed files
// that it leads to by name. A subtest stands with its whole function; a method of
// a test suite with itself and the suite's own helpers.
func (g Language) Untouched(base, start lang.Tree, changed []string, t lang.Test) bool {
	_, name, ok := strings.Cut(t.ID, idSeparator)
	if !ok {
		return false
	}
	before, found := g.reach(base, changed, t.Unit, name)
	after, foundAfter := g.reach(start, changed, t.Unit, name)
	if !found || !foundAfter || len(before) != len(after) {
		return false
	}
	for key, texts := range before {
		if !slices.Equal(texts, after[key]) {
			return false
		}
	}
	return true
}

// place is one declaration of a file.
type place struct {
	file *syntax.File
	decl int
}

func (p place) text() string { return p.file.Text(p.file.Decls[p.decl].Span) }

// reach is the texts of all declarations that a test leads to within changed
// files, by qualified name. Packages are not told apart: a name more that is
// compared can only make a test count as touched.
func (g Language) reach(t lang.Tree, changed []string, unit, name string) (map[string][]string, bool) {
	dir, ok := layoutOf(t).dir(unit)
	if !ok {
		return nil, false
	}
	levels := strings.Split(name, "/")
	names := map[string][]place{}   // top-level declarations of changed files
	methods := map[string][]place{} // by receiver
	for _, p := range changed {
		f := g.parsed(t, p)
		if f == nil {
			continue
		}
		for _, i := range f.Top() {
			if d := f.Decls[i]; d.Receiver != "" {
				methods[d.Receiver] = append(methods[d.Receiver], place{f, i})
			} else {
				names[d.Name] = append(names[d.Name], place{f, i})
			}
		}
	}
	queue := g.testFunction(t, dir, levels[0])
	if len(queue) == 0 {
		return nil, false
	}
	// Every test of a package runs after these, whether it names them or not.
	queue = append(append(queue, inPackage(names["TestMain"], t, dir, changed)...), inPackage(names["init"], t, dir, changed)...)
	out, seen := map[string][]string{}, map[string]bool{}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		d := p.file.Decls[p.decl]
		key := d.Qualified + "\x00" + p.text()
		if seen[key] {
			continue
		}
		seen[key] = true
		out[d.Qualified] = append(out[d.Qualified], p.text())
		for _, u := range p.file.In(d.Span) {
			if u.Kind == syntax.Identifier || u.Kind == syntax.Attribute {
				queue = append(queue, names[u.Name]...)
			}
		}
		if d.Kind == syntax.Type {
			for _, m := range methods[d.Name] {
				if n := m.file.Decls[m.decl].Name; !strings.HasPrefix(n, "Test") || len(levels) < 2 || n == levels[1] {
					queue = append(queue, m)
				}
			}
		}
	}
	for _, texts := range out {
		sort.Strings(texts)
	}
	return out, true
}

// inPackage keeps the places that are in changed files of one folder.
func inPackage(places []place, t lang.Tree, dir string, changed []string) []place {
	sources := map[string]bool{}
	for _, p := range changed {
		if dirOf(p) == dir && strings.HasSuffix(p, ".go") {
			if data, err := t.Read(p); err == nil {
				sources[string(data)] = true
			}
		}
	}
	var out []place
	for _, p := range places {
		if sources[string(p.file.Source)] {
			out = append(out, p)
		}
	}
	return out
}

// testFunction finds a test by name among all test files of a folder.
func (g Language) testFunction(t lang.Tree, dir, name string) []place {
	var out []place
	for _, p := range t.Paths() {
		if dirOf(p) != dir || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		f := g.parsed(t, p)
		if f == nil {
			continue
		}
		for _, i := range f.Find(name) {
			if f.Decls[i].Kind == syntax.Function {
				out = append(out, place{f, i})
			}
		}
	}
	return out
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
func (g Language) NewNames(base, solution lang.Tree, code, tests []string) []schemas.Name {
	l := layoutOf(solution)
	u := g.usesOf(solution, tests)
	before := map[string]map[string]string{} // folder → qualified name → signature
	var out []schemas.Name
	seen := map[string]bool{}
	for _, p := range code {
		f := g.parsed(solution, p)
		if f == nil || strings.HasSuffix(p, "_test.go") {
			continue
		}
		dir := dirOf(p)
		if before[dir] == nil {
			before[dir] = g.definitions(base, dir)
		}
		for i, d := range f.Decls {
			if !defines(f, i) || !u.uses(d, l, dir) {
				continue
			}
			signature, existed := before[dir][d.Qualified]
			if existed && (signature == d.Signature || d.Kind != syntax.Function && d.Kind != syntax.Method) {
				continue
			}
			n := schemas.Name{Name: d.Qualified, Kind: string(d.Kind), Signature: d.Signature, Path: p}
			if !seen[n.Path+n.Name] {
				seen[n.Path+n.Name] = true
				out = append(out, n)
			}
		}
	}
	out = append(out, g.newPackages(base, l, u)...)
	out = append(out, g.unfound(base, solution, l, u, code)...)
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Path+"\x00"+out[i].Name < out[j].Path+"\x00"+out[j].Name
	})
	return out
}

// defines tells declarations that other files can name: top-level ones, and the
// fields and methods of top-level types.
func defines(f *syntax.File, i int) bool {
	d := f.Decls[i]
	switch {
	case d.Kind == syntax.Local || d.Kind == syntax.Parameter || d.Name == "_" || d.Name == "init":
		return false
	case d.Parent < 0:
		return true
	}
	parent := f.Decls[d.Parent]
	return parent.Parent < 0 && parent.Kind == syntax.Type
}

// definitions are the qualified names that a folder's package defines, with their
// signatures, tests left out.
func (g Language) definitions(t lang.Tree, dir string) map[string]string {
	out := map[string]string{}
	if t == nil {
		return out
	}
	for _, p := range t.Paths() {
		if dirOf(p) != dir || strings.HasSuffix(p, "_test.go") {
			continue
		}
		f := g.parsed(t, p)
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
func (g Language) usesOf(t lang.Tree, tests []string) used {
	u := used{map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
	for _, p := range tests {
		f := g.parsed(t, p)
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

func (u used) add(f *syntax.File, packages map[string]string) {
	bound := map[int]map[string]bool{}
	top := f.Top()
	for _, i := range top {
		bound[i] = f.Bound(i)
	}
	for _, use := range f.Uses {
		local := func(name string) bool {
			return slices.ContainsFunc(top, func(i int) bool { return f.Decls[i].Span.Holds(use.Span) && bound[i][name] })
		}
		switch use.Kind {
		case syntax.Identifier:
			if !local(use.Name) {
				u.plain[use.Name] = true
			}
		case syntax.Attribute:
			u.selected[use.Name] = true
			// A variable may hide the package that it is named after.
			if imp, ok := packages[use.Of]; ok && !local(use.Of) {
				if u.qualified[imp] == nil {
					u.qualified[imp] = map[string]bool{}
				}
				u.qualified[imp][use.Name] = true
			}
		case syntax.Keyword:
			u.selected[use.Name] = true
		}
	}
}

// uses tells whether the tests may mean this declaration: a bare name of their
// own package, pkg.Name of an imported one, or any selector for what belongs to a type.
func (u used) uses(d syntax.Decl, l layout, dir string) bool {
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
func (g Language) newPackages(base lang.Tree, l layout, u used) []schemas.Name {
	var out []schemas.Name
	for imp := range u.imports {
		dir, ok := l.dir(imp)
		if ok && len(g.definitions(base, dir)) == 0 {
			out = append(out, schemas.Name{Name: imp, Kind: "module", Path: dir})
		}
	}
	return out
}

// unfound are names that tests take from a package of the project that changed,
// and that no file of it declares: they are made at build time.
func (g Language) unfound(base, solution lang.Tree, l layout, u used, code []string) []schemas.Name {
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
		now, before := g.definitions(solution, dir), g.definitions(base, dir)
		for name := range names {
			_, is := now[name]
			_, was := before[name]
			if !is && !was && !g.declaredByTests(solution, dir, name) {
				out = append(out, schemas.Name{Name: name, Path: dir})
			}
		}
	}
	return out
}

// declaredByTests covers export_test.go: names that a package's own test files
// open for its external tests.
func (g Language) declaredByTests(t lang.Tree, dir, name string) bool {
	for _, p := range t.Paths() {
		if dirOf(p) != dir || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		if f := g.parsed(t, p); f != nil && len(f.Find(name)) > 0 {
			return true
		}
	}
	return false
}
