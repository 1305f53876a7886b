package spec

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
)

// maxModules bounds the files that signatures are read of.
const maxModules = 5000

// module is one file of Python.
type module struct {
	name     string // dotted
	path     string
	file     *outline.File
	children map[int][]int
}

// api is what the signatures and docstrings of the code part say.
type api struct {
	language string // of code in the documentation that names none
	modules  []*module
	byName   map[string]*module
	byPath   map[string]*module
	byLast   map[string][]object // by the last name
	done     map[string]bool     // of the objects that the documentation describes
}

// object is one declaration.
type object struct {
	m  *module
	at int
}

func (o object) decl() *outline.Decl { return &o.m.file.Decls[o.at] }

func (o object) key() string { return o.m.name + ":" + o.decl().Qualified }

// newAPI reads the code part of a tree.
func newAPI(t *tree.Tree, l string, shipped func(string) bool) *api {
	a := &api{language: l, byName: map[string]*module{}, byPath: map[string]*module{}, byLast: map[string][]object{}, done: map[string]bool{}}
	if l != "python" {
		return a
	}
	for _, p := range t.Paths() {
		e, _ := t.Entry(p)
		if path.Ext(p) != ".py" || e.Mode == tree.ModeSymlink || !shipped(p) || len(a.modules) >= maxModules {
			continue
		}
		f, err := outline.Parse(syntax.Python, e.Data)
		if err != nil {
			continue // too large, or too deep: generated
		}
		m := &module{name: dottedName(t, p), path: p, file: f, children: map[int][]int{}}
		for i, d := range f.Decls {
			if d.Kind == outline.Local || d.Kind == outline.Parameter {
				continue
			}
			m.children[d.Parent] = append(m.children[d.Parent], i)
			a.byLast[d.Name] = append(a.byLast[d.Name], object{m, i})
		}
		a.modules = append(a.modules, m)
		a.byPath[p] = m
		if _, ok := a.byName[m.name]; !ok {
			a.byName[m.name] = m
		}
	}
	slices.SortStableFunc(a.modules, func(x, y *module) int { return strings.Compare(x.name, y.name) })
	return a
}

// documented counts the functions, methods and classes that users may name: no part of their names has an underscore before it.
func (a *api) documented() (all, documented int) {
	seen := map[string]bool{}
	for _, m := range a.modules {
		if slices.ContainsFunc(strings.Split(m.name, "."), func(part string) bool { return strings.HasPrefix(part, "_") }) {
			continue
		}
		for i, d := range m.file.Decls {
			x := object{m, i}
			callable := d.Kind == outline.Function || d.Kind == outline.Method || d.Kind == outline.Class
			if !callable || seen[x.key()] || slices.ContainsFunc(strings.Split(d.Qualified, "."), func(part string) bool { return strings.HasPrefix(part, "_") }) {
				continue
			}
			seen[x.key()] = true
			all++
			if a.done[x.key()] || x.doc() != "" {
				documented++
			}
		}
	}
	return all, documented
}

// dottedName is the name that a file is imported by: from the topmost folder that is a
// package, else from the folder that holds sources.
func dottedName(t *tree.Tree, p string) string {
	dirs := strings.Split(path.Dir(p), "/")
	if path.Dir(p) == "." {
		dirs = nil
	}
	first := 0
	for i := range dirs {
		if t.Has(strings.Join(dirs[:i+1], "/") + "/__init__.py") {
			first = i
			break
		}
		if i == len(dirs)-1 || dirs[i] == "src" || dirs[i] == "lib" {
			first = i + 1
		}
	}
	if first > len(dirs) {
		first = len(dirs)
	}
	names := slices.Clone(dirs[first:])
	if s := stem(p); s != "__init__" {
		names = append(names, s)
	}
	return strings.Join(names, ".")
}

// find is what a dotted name means: from the module at hand, from the top, through what
// packages import from their parts, else the only object of that name.
func (a *api) find(name, at, class string) (object, *module, bool) {
	for _, full := range []string{at + "." + class + "." + name, at + "." + name, name} {
		full = strings.ReplaceAll(strings.Trim(full, "."), "..", ".")
		if o, m, ok := a.resolve(full, 0); ok {
			return o, m, true
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	var found []object
	for _, o := range a.byLast[last] {
		if q := o.m.name + "." + o.decl().Qualified; q == name || strings.HasSuffix(q, "."+name) {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return object{}, nil, false
	}
	return found[len(found)-1], nil, len(found) == 1 || slices.IndexFunc(found, func(o object) bool { return o.key() != found[0].key() }) < 0
}

func (a *api) resolve(full string, hops int) (object, *module, bool) {
	const most = 6
	if m, ok := a.byName[full]; ok {
		return object{}, m, true
	}
	names := strings.Split(full, ".")
	for n := len(names) - 1; n > 0 && n < 32; n-- {
		m, ok := a.byName[strings.Join(names[:n], ".")]
		if !ok {
			continue
		}
		rest := strings.Join(names[n:], ".")
		if all := m.file.Find(rest); len(all) > 0 {
			return object{m, all[len(all)-1]}, nil, true // the last one of overloads has the body
		}
		if hops >= most {
			return object{}, nil, false
		}
		for _, i := range m.file.Imports {
			shown := i.Name
			if i.As != "" {
				shown = i.As
			}
			if shown != names[n] && i.Name != "*" {
				continue
			}
			from := m.absolute(i.Module)
			target := from + "." + strings.Join(append([]string{i.Name}, names[n+1:]...), ".")
			if i.Name == "*" {
				target = from + "." + rest
			}
			if o, found, ok := a.resolve(strings.Trim(target, "."), hops+1); ok {
				return o, found, true
			}
		}
	}
	return object{}, nil, false
}

// absolute is the module that a relative import names.
func (m *module) absolute(name string) string {
	dots := len(name) - len(strings.TrimLeft(name, "."))
	if dots == 0 {
		return name
	}
	names := strings.Split(m.name, ".")
	if path.Base(m.path) == "__init__.py" {
		dots--
	}
	names = names[:max(len(names)-dots, 0)]
	return strings.Trim(strings.Join(append(names, strings.TrimLeft(name, ".")), "."), ".")
}

// covered remembers that the documentation describes an object.
func (b *book) covered(module, class, name string) {
	if o, _, ok := b.api.find(name, module, class); ok && o.m != nil {
		b.api.done[o.key()] = true
	}
}

// source are the lines of an object in a file.
func (a *api) source(name, qualified string) ([]string, bool) {
	m, ok := a.byPath[name]
	if !ok {
		return nil, false
	}
	found := m.file.Find(qualified)
	if len(found) == 0 {
		return nil, false
	}
	o := object{m, found[0]}
	lines := linesOf(m.file.Text(o.decl().Span))
	return append(lines[:1], atMost(lines[1:], o.column())...), true
}

// column is how far the first line of an object is indented.
func (o object) column() int {
	src := o.m.file.Source[:o.decl().Span.Start]
	return len(src) - (bytes.LastIndexByte(src, '\n') + 1)
}

var headEnd = lazyregexp.New(`(?s):\s*(?:#[^\n]*\s*)*$`)

// head is a declaration as it is written, without its body.
func (o object) head() []string {
	d, src := o.decl(), o.m.file.Source
	start := d.Span.Start
	end := d.Span.End
	if d.Body.End > 0 {
		end = d.Body.Start
	}
	text := string(src[start:end])
	if d.Body.End > 0 {
		text = headEnd.ReplaceAllString(text, "")
	}
	const most = 4000
	if len(text) > most {
		text = d.Signature
	}
	lines := linesOf(strings.TrimSpace(text))
	return append(lines[:1], atMost(lines[1:], o.column())...)
}

var stringStart = lazyregexp.New(`^(?i:[ru]{0,2})("""|'''|"|')`)

// docstring is the text of the string that a body begins with.
func docstring(src string) string {
	for { // comments before it
		src = strings.TrimLeft(src, " \t\r\n\f")
		if !strings.HasPrefix(src, "#") {
			break
		}
		_, rest, ok := strings.Cut(src, "\n")
		if !ok {
			return ""
		}
		src = rest
	}
	m := stringStart.FindStringSubmatch(src)
	if m == nil {
		return ""
	}
	raw := strings.ContainsAny(strings.TrimSuffix(m[0], m[1]), "rR")
	text := src[len(m[0]):]
	end := -1
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if strings.HasPrefix(text[i:], m[1]) {
			end = i
			break
		} else if text[i] == '\n' && len(m[1]) == 1 {
			break
		}
	}
	if end < 0 {
		return ""
	}
	text = text[:end]
	if !raw {
		text = strings.NewReplacer("\\\n", "", `\\`, `\`, `\n`, "\n", `\"`, `"`, `\'`, `'`, `\t`, "    ").Replace(text)
	}
	return text
}

// doc is the docstring of an object, or the comment or string that documents a value.
func (o object) doc() string {
	d, src := o.decl(), o.m.file.Source
	if d.Body.End > 0 {
		return docstring(string(src[d.Body.Start:d.Body.End]))
	}
	var lines []string
	before := string(src[:d.Span.Start])
	before = before[:strings.LastIndexByte(before, '\n')+1]
	for range 50 {
		before = strings.TrimSuffix(before, "\n")
		at := strings.LastIndexByte(before, '\n') + 1
		text, ok := strings.CutPrefix(strings.TrimSpace(before[at:]), "#:")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
		before = before[:at]
	}
	if len(lines) > 0 {
		slices.Reverse(lines)
		return strings.Join(lines, "\n")
	}
	after := string(src[d.Span.End:min(len(src), d.Span.End+maxLine)])
	if line, _, _ := strings.Cut(after, "\n"); strings.HasPrefix(strings.TrimSpace(line), "#:") {
		return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#:"))
	}
	if rest := strings.TrimLeft(after, " "); strings.HasPrefix(rest, "\n") && !strings.HasPrefix(rest, "\n\n") {
		if trimmed := strings.TrimSpace(rest); strings.HasPrefix(trimmed, `"""`) || strings.HasPrefix(trimmed, `r"""`) || strings.HasPrefix(trimmed, `'''`) {
			return docstring(trimmed)
		}
	}
	return ""
}
