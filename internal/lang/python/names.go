package python

import (
	"path"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// NewNames lists what the tests name and only the solution's code defines:
// functions, classes, methods, fields, variables, parameters that are passed by
// keyword, modules, and names that a module gives without defining them (Kind import,
// the Signature is the test's import). A Name without a Kind is asked of the project by
// name and has no definition that can be read.
func (Language) NewNames(base, solution lang.Tree, code, tests []string) []schemas.Name {
	n := &newNames{base: newSources(base), solution: newSources(solution), found: map[schemas.Name]schemas.Name{}, told: map[string]bool{}}
	n.index(code)
	own := (&manifest{tree: solution}).ownModules()
	for _, p := range tests {
		if path.Ext(p) == ".py" && solution.Has(p) {
			if f := n.solution.file(p); f != nil {
				n.use(p, f, own)
			}
		}
	}
	out := make([]schemas.Name, 0, len(n.found))
	for _, name := range n.found {
		out = append(out, name)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Path+a.Kind+a.Signature < b.Path+b.Kind+b.Signature
	})
	return out
}

type newNames struct {
	base, solution *sources
	defs           map[string][]definition       // of the solution's code part, by last name
	words          map[string]bool               // of the solution's code part
	found          map[schemas.Name]schemas.Name // by what it is, without its signature
	told           map[string]bool               // names whose definitions are among found
}

type definition struct {
	path string
	file *outline.File
	decl outline.Decl
}

// index reads the definitions of the code part.
func (n *newNames) index(code []string) {
	n.defs, n.words = map[string][]definition{}, map[string]bool{}
	for _, p := range code {
		if path.Ext(p) != ".py" && path.Ext(p) != ".pyi" {
			n.native(p)
			continue
		}
		f := n.solution.file(p)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			if d.Kind != outline.Local && d.Kind != outline.Parameter {
				n.defs[d.Name] = append(n.defs[d.Name], definition{p, f, d})
			}
		}
		for _, w := range wordShape.FindAllString(string(f.Source), -1) {
			n.words[w] = true
		}
	}
}

// native reads the words of an extension module's source.
func (n *newNames) native(p string) {
	if !extension[path.Ext(p)] {
		return
	}
	data, _ := n.solution.tree.Read(p) // what cannot be read has no words
	for _, w := range wordShape.FindAllString(string(data), -1) {
		n.words[w] = true
	}
}

// extension are the suffixes of sources that extension modules are made of.
var extension = map[string]bool{".c": true, ".cc": true, ".cpp": true, ".h": true, ".hpp": true, ".pyx": true, ".pxd": true, ".rs": true}

var wordShape = lazyregexp.New(`[A-Za-z_]\w*`)

// use goes through what one test file names.
func (n *newNames) use(p string, f *outline.File, own map[string]bool) {
	bound := map[string]bool{} // names that the file defines for itself
	for _, d := range f.Decls {
		bound[d.Name] = true
	}
	project := map[string]bool{}   // names that imports of the project bind
	modules := map[string]string{} // the project's modules, by what the file calls them
	for _, i := range f.Imports {
		if n.imported(p, i, own) {
			project[boundName(i)] = true
			n.callModule(modules, p, i)
		}
	}
	type question struct {
		kind     outline.UseKind
		name, of string
	}
	asked := map[question]bool{}
	for _, u := range f.Uses {
		q := question{u.Kind, u.Name, u.Of}
		if asked[q] {
			continue
		}
		asked[q] = true
		switch u.Kind {
		case outline.Identifier:
			if !bound[u.Name] {
				n.defined(u.Name)
			}
		case outline.Attribute:
			root, _, _ := strings.Cut(u.Of, ".")
			if module := modules[u.Of]; module != "" {
				n.given(module, u.Name)
			}
			if !n.defined(u.Name) && project[root] && !bound[u.Name] {
				n.undefined(u.Name)
			}
		case outline.Keyword:
			n.keyword(u, project)
		}
	}
}

// callModule notes what an import calls modules of the project.
func (n *newNames) callModule(modules map[string]string, p string, i outline.Import) {
	module := absolute(p, i.Module)
	switch {
	case i.Name == "" && i.As != "":
		modules[i.As] = module
	case i.Name == "":
		modules[module] = module
		root, _, _ := strings.Cut(module, ".")
		modules[root] = root
	case n.solution.module(module+"."+i.Name) != "":
		modules[boundName(i)] = module + "." + i.Name
	}
}

// given adds a name that a module of the solution gives and that it does not define,
// where the base's module does not give it. It reports whether it added one.
func (n *newNames) given(module, name string) bool {
	at := n.solution.module(module)
	if at == "" || isTestPath(at, n.solution.tree) || n.solution.defines(at, name) || n.solution.module(module+"."+name) != "" || n.base.binds(module, name) || !n.solution.binds(module, name) {
		return false
	}
	n.add(schemas.Name{Name: name, Kind: "import", Signature: "from " + module + " import " + name, Path: at})
	return true
}

func boundName(i outline.Import) string {
	switch {
	case i.As != "":
		return i.As
	case i.Name != "":
		return i.Name
	}
	root, _, _ := strings.Cut(i.Module, ".")
	return root
}

// imported handles one import of a test and reports whether it is of the project.
func (n *newNames) imported(p string, i outline.Import, own map[string]bool) bool {
	module := absolute(p, i.Module)
	root, _, _ := strings.Cut(module, ".")
	if !own[root] {
		return false
	}
	now := n.solution.module(module)
	if now == "" || isTestPath(now, n.solution.tree) {
		return now != ""
	}
	if n.base.module(module) == "" {
		n.add(schemas.Name{Name: module, Kind: "module", Path: now})
	}
	if i.Name == "" || i.Name == "*" {
		return true
	}
	given := n.given(module, i.Name)
	if n.defined(i.Name) || given || n.base.binds(module, i.Name) {
		return true
	}
	if sub := n.solution.module(module + "." + i.Name); sub != "" {
		if n.base.module(module+"."+i.Name) == "" {
			n.add(schemas.Name{Name: module + "." + i.Name, Kind: "module", Path: sub})
		}
		return true
	}
	n.undefined(i.Name)
	return true
}

// defined adds the definitions of a name that base does not have, and tells
// whether the code part defines it at all.
func (n *newNames) defined(name string) bool {
	defs := n.defs[name]
	if len(defs) == 0 {
		return false
	}
	if n.told[name] || len(n.base.definitions(name)) > 0 {
		return true
	}
	n.told[name] = true
	for _, d := range defs {
		n.add(nameOf(d, d.path))
	}
	return true
}

// undefined adds a name without a Kind, if only the solution's code speaks of it.
func (n *newNames) undefined(name string) {
	if n.words[name] && !n.base.says(name) && !strings.HasPrefix(name, "__") {
		n.add(schemas.Name{Name: name})
	}
}

// keyword handles f(name=…): a parameter that f has in the solution and not at base.
func (n *newNames) keyword(u outline.Use, project map[string]bool) {
	callee := u.Of[strings.LastIndexByte(u.Of, '.')+1:]
	for _, d := range n.callables(callee) {
		if !takes(d.decl, u.Name) || n.base.takes(callee, u.Name) {
			continue
		}
		n.add(schemas.Name{Name: u.Name, Kind: string(outline.Parameter), Signature: d.decl.Signature, Path: d.path})
	}
	root, _, _ := strings.Cut(u.Of, ".")
	if project[root] && len(n.callables(callee)) == 0 && len(n.defs[u.Name]) == 0 {
		n.undefined(u.Name)
	}
}

// callables are the functions that a call of name may reach: for a class its
// __init__ and the fields of a dataclass.
func (n *newNames) callables(name string) []definition { return callables(n.defs, name) }

func callables(defs map[string][]definition, name string) []definition {
	var out []definition
	made := map[*outline.File]map[string][]outline.Decl{}
	for _, d := range defs[name] {
		if d.decl.Kind != outline.Class {
			out = append(out, d)
			continue
		}
		if made[d.file] == nil {
			made[d.file] = makersOf(d.file)
		}
		for _, m := range made[d.file][d.decl.Qualified] {
			out = append(out, definition{d.path, d.file, m})
		}
		delete(made[d.file], d.decl.Qualified) // a class that is defined twice says the same twice
	}
	return out
}

// makersOf are what calls of a file's classes reach, by class.
func makersOf(f *outline.File) map[string][]outline.Decl {
	out := map[string][]outline.Decl{}
	for _, c := range f.Decls {
		if c.Parent >= 0 && (c.Name == "__init__" || c.Name == "__new__" || c.Kind == outline.Field && !strings.HasPrefix(c.Signature, "self.")) {
			class := f.Decls[c.Parent].Qualified
			out[class] = append(out[class], c)
		}
	}
	return out
}

func takes(d outline.Decl, name string) bool {
	if d.Kind == outline.Field {
		return d.Name == name
	}
	for _, p := range d.Params {
		if p.Name == name && p.Star == "" {
			return true
		}
	}
	return false
}

// add keeps the first of several definitions of one name in one file (overloads,
// conditional ones, an attribute that is set again).
func (n *newNames) add(name schemas.Name) {
	key := name
	key.Signature = ""
	if _, ok := n.found[key]; !ok {
		n.found[key] = name
	}
}

// nameOf names methods and fields with their class.
func nameOf(d definition, at string) schemas.Name {
	name := d.decl.Name
	if d.decl.Kind == outline.Method || d.decl.Kind == outline.Field {
		name = d.decl.Qualified
	}
	return schemas.Name{Name: name, Kind: string(d.decl.Kind), Signature: d.decl.Signature, Path: at}
}

// sources is one tree's Python code, parsed when it is asked for.
type sources struct {
	tree  lang.Tree
	files map[string]*outline.File
	code  []string          // paths outside tests
	texts map[string]string // of code, extension modules included
	defs  map[string][]definition
}

func newSources(t lang.Tree) *sources {
	return &sources{tree: t, files: map[string]*outline.File{}}
}

// file is nil for what cannot be read or parsed.
func (s *sources) file(p string) *outline.File {
	if f, ok := s.files[p]; ok {
		return f
	}
	var f *outline.File
	if data, err := s.tree.Read(p); err == nil {
		f, err = outline.Parse(syntax.Python, data)
		if err != nil {
			f = nil
		}
	}
	s.files[p] = f
	return f
}

func (s *sources) load() {
	if s.texts != nil {
		return
	}
	s.texts, s.defs = map[string]string{}, map[string][]definition{}
	for _, p := range s.tree.Paths() {
		ext := path.Ext(p)
		if ext != ".py" && ext != ".pyi" && !extension[ext] || isTestPath(p, s.tree) {
			continue
		}
		data, err := s.tree.Read(p)
		if err != nil {
			continue
		}
		s.texts[p] = string(data)
		if !extension[ext] {
			s.code = append(s.code, p)
		}
	}
}

// says reports whether any code of the tree holds the word.
func (s *sources) says(word string) bool {
	s.load()
	for _, text := range s.texts {
		if hasWord(text, word) {
			return true
		}
	}
	return false
}

func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// definitions are all definitions of a name in the tree's code. Only files that
// hold the word are parsed.
func (s *sources) definitions(name string) []definition {
	s.load()
	if d, ok := s.defs[name]; ok {
		return d
	}
	out := []definition{}
	for _, p := range s.code {
		if !hasWord(s.texts[p], name) {
			continue
		}
		f := s.file(p)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			if d.Name == name && d.Kind != outline.Local && d.Kind != outline.Parameter {
				out = append(out, definition{p, f, d})
			}
		}
	}
	s.defs[name] = out
	return out
}

// takes reports whether some callable of this name has the parameter.
func (s *sources) takes(callee, param string) bool {
	for _, d := range callables(map[string][]definition{callee: s.definitions(callee)}, callee) {
		if takes(d.decl, param) {
			return true
		}
	}
	return false
}

// module is the file of a dotted module, "" where the tree has none.
func (s *sources) module(dotted string) string {
	rel := strings.ReplaceAll(dotted, ".", "/")
	for _, root := range []string{"", "src/", "lib/", "python/"} {
		for _, p := range []string{root + rel + ".py", root + rel + "/__init__.py", root + rel + ".pyi", root + rel + ".pyx"} {
			if s.tree.Has(p) {
				return p
			}
		}
	}
	return ""
}

// defines reports whether the file at p defines a name at its top level.
func (s *sources) defines(p, name string) bool {
	f := s.file(p)
	if f == nil {
		return false
	}
	for _, i := range f.Top() {
		if f.Decls[i].Name == name {
			return true
		}
	}
	return false
}

// binds reports whether a module of the tree gives a name: it defines or imports it. What
// a star gives of a module outside of the tree is not known; it counts as given.
func (s *sources) binds(module, name string) bool { return s.bindsAt(module, name, 8) }

func (s *sources) bindsAt(module, name string, depth int) bool {
	s.load()
	p := s.module(module)
	if p == "" {
		return false
	}
	if s.defines(p, name) {
		return true
	}
	f := s.file(p)
	if f == nil {
		return false
	}
	for _, i := range f.Imports {
		from := absolute(p, i.Module)
		switch {
		case i.Name != "*":
			if boundName(i) == name {
				return true
			}
		case depth == 0 || s.module(s.dotted(from)) == "":
			return true
		case strings.HasPrefix(name, "_") && !strings.Contains(s.texts[s.module(s.dotted(from))], `"`+name+`"`):
			// A star leaves private names out, except those of __all__.
		case s.bindsAt(s.dotted(from), name, depth-1):
			return true
		}
	}
	return false
}

// dotted cuts the folder that holds packages off a module that was made of a path.
func (s *sources) dotted(module string) string {
	for _, root := range []string{"src.", "lib.", "python."} {
		if rest, ok := strings.CutPrefix(module, root); ok && s.module(rest) != "" {
			return rest
		}
	}
	return module
}

// absolute turns a relative import of the file at p into a dotted path from the
// tree's root.
func absolute(p, module string) string {
	dots := 0
	for dots < len(module) && module[dots] == '.' {
		dots++
	}
	if dots == 0 {
		return module
	}
	dir := path.Dir(p)
	for i := 1; i < dots; i++ {
		dir = path.Dir(dir)
	}
	rel := strings.ReplaceAll(module[dots:], ".", "/")
	return strings.ReplaceAll(strings.TrimPrefix(path.Join(dir, rel), "./"), "/", ".")
}

// isTestPath reports whether Part would put a path into the test part.
func isTestPath(p string, t lang.Tree) bool {
	base := path.Base(p)
	if base == "conftest.py" {
		return true
	}
	if _, ok := testRoot(p, t); ok {
		return true
	}
	if _, ok := (Language{}).NamesTest(p, t, t); ok {
		return true
	}
	return testModule.MatchString(base) && isTest(p, t)
}
