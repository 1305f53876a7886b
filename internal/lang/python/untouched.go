package python

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/wordset"
)

// Untouched compares the test function with its decorators, what its class and
// module set up around it, and every fixture and helper in changed files that it
// names, directly or through others. Where that cannot be told, it says false.
func (Language) Untouched(base, start lang.Tree, changed []string) func(lang.Test) bool {
	c := &comparison{base: newSources(base), start: newSources(start), changed: map[string]bool{}}
	for _, p := range changed {
		c.changed[p] = true
	}
	return c.untouched
}

func (c *comparison) untouched(t lang.Test) bool {
	c.seen = map[string]bool{}
	base, start := c.base.tree, c.start.tree
	if path.Ext(t.Unit) != ".py" {
		return !c.changed[t.Unit]
	}
	if !base.Has(t.Unit) || !start.Has(t.Unit) {
		return false
	}
	old, now := c.base.file(t.Unit), c.start.file(t.Unit)
	if old == nil || now == nil {
		return false
	}
	rest, ok := strings.CutPrefix(t.ID, t.Unit+"::")
	if !ok {
		return false
	}
	qualified := qualifiedName(rest)
	home, ok := locate(c.start, place{t.Unit, qualified}, 0)
	if was, found := locate(c.base, place{t.Unit, qualified}, 0); !ok || !found || was != home {
		return false
	}
	if !c.same(home.path, home.name) {
		return false
	}
	for _, at := range []place{home, {t.Unit, qualified}} {
		for _, outer := range outers(at.name) {
			if !c.sameOuter(place{at.path, outer}) {
				return false
			}
		}
		if !c.sameModule(at.path) {
			return false
		}
	}
	return c.sameConftests(t.Unit) && !c.namesData(home.path, home.name)
}

// sameOuter compares a class without its tests, wherever it is defined.
func (c *comparison) sameOuter(class place) bool {
	home, ok := locate(c.start, class, 0)
	return ok && c.sameAround(home.path, home.name)
}

// qualifiedName is Class.method of a node ID's tail, without parameters.
func qualifiedName(tail string) string {
	if i := strings.IndexByte(tail, '['); i >= 0 {
		tail = tail[:i]
	}
	return strings.ReplaceAll(tail, "::", ".")
}

// outers are the classes around a method, innermost first.
func outers(qualified string) []string {
	var out []string
	for {
		i := strings.LastIndexByte(qualified, '.')
		if i < 0 {
			return out
		}
		qualified = qualified[:i]
		out = append(out, qualified)
	}
}

type comparison struct {
	base, start *sources
	changed     map[string]bool
	seen        map[string]bool // path + qualified name: compared already
}

// same compares one definition in both trees, and what it names.
func (c *comparison) same(p, qualified string) bool {
	key := p + "\x00" + qualified
	if c.seen[key] {
		return true // compared, or being compared further up
	}
	c.seen[key] = true
	old, now := c.base.file(p), c.start.file(p)
	if old == nil || now == nil {
		return false
	}
	a, b := old.Find(qualified), now.Find(qualified)
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if now.Decls[b[i]].Broken || old.Text(old.Decls[a[i]].Span) != now.Text(now.Decls[b[i]].Span) {
			return false
		}
		if !c.sameNames(p, now, now.Decls[b[i]]) {
			return false
		}
	}
	return true
}

// sameNames compares the definitions that a definition names: in its own file, by
// import from changed files, and as fixtures of its parameters.
func (c *comparison) sameNames(p string, f *syntax.File, d syntax.Decl) bool {
	names := map[string]bool{}
	for _, u := range f.In(d.Span) {
		switch u.Kind {
		case syntax.Identifier, syntax.String: // strings: usefixtures("x"), getfixturevalue("x")
			names[u.Name] = true
		case syntax.Attribute:
			if !c.sameAttribute(p, f, u) {
				return false
			}
		}
	}
	for _, param := range d.Params {
		names[param.Name] = true
	}
	for name := range names {
		if !c.sameName(p, f, name) {
			return false
		}
	}
	return true
}

func (c *comparison) sameName(p string, f *syntax.File, name string) bool {
	if c.changed[p] && topLevel(f, name) {
		return c.same(p, name)
	}
	if topLevel(f, name) {
		// Unchanged itself; what it names may lie in changed files.
		return c.same(p, name)
	}
	for _, i := range f.Imports {
		if boundName(i) != name && i.Name != "*" {
			continue
		}
		file := c.start.moduleFrom(p, absolute(p, i.Module))
		if i.Name == "*" {
			if c.changed[file] {
				return false // what a star brings is not told here
			}
			continue
		}
		if c.changed[file] && i.Name != "" && !c.same(file, i.Name) {
			return false
		}
	}
	return c.sameFixture(p, name)
}

// sameAttribute compares helpers.name where helpers is a changed module.
func (c *comparison) sameAttribute(p string, f *syntax.File, u syntax.Use) bool {
	root, _, _ := strings.Cut(u.Of, ".")
	for _, i := range f.Imports {
		if root == "" || boundName(i) != root {
			continue
		}
		module := absolute(p, i.Module)
		if i.Name != "" {
			module = strings.TrimPrefix(module+"."+i.Name, ".")
		}
		if i.As == "" && i.Name == "" && u.Of != "" {
			module = u.Of
		}
		if file := c.start.moduleFrom(p, module); c.changed[file] && !c.same(file, u.Name) {
			return false
		}
	}
	return true
}

// sameFixture compares a fixture that a parameter names in the conftest files above.
func (c *comparison) sameFixture(p, name string) bool {
	for _, conftest := range conftests(p) {
		if conftest == p || !c.start.tree.Has(conftest) && !c.base.tree.Has(conftest) {
			continue
		}
		now, old := c.start.file(conftest), c.base.file(conftest)
		if now != nil && topLevel(now, name) || old != nil && topLevel(old, name) {
			if (now == nil || old == nil) && c.changed[conftest] {
				return false
			}
			return c.same(conftest, name)
		}
	}
	return true
}

func topLevel(f *syntax.File, name string) bool {
	for _, i := range f.Top() {
		if f.Decls[i].Name == name {
			return true
		}
	}
	return false
}

// conftests are the conftest files for a test file, nearest first.
func conftests(p string) []string {
	var out []string
	for d := path.Dir(p); ; d = path.Dir(d) {
		out = append(out, path.Join(d, "conftest.py"))
		if d == "." || d == "/" {
			return out
		}
	}
}

// sameAround compares a class without its tests: decorators, bases, attributes,
// set-up methods, fixtures.
func (c *comparison) sameAround(p, class string) bool {
	old, now := c.base.file(p), c.start.file(p)
	a, b := old.Find(class), now.Find(class)
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if around(old, a[i]) != around(now, b[i]) {
			return false
		}
		d := now.Decls[b[i]]
		for _, u := range now.In(d.Span) {
			if u.Span.Start < d.Body.Start && u.Kind == syntax.Identifier && !c.sameBase(p, now, u.Name) {
				return false
			}
		}
		for _, child := range now.Children(b[i]) {
			if cd := now.Decls[child]; !isTestName(cd.Name) && !c.sameNames(p, now, cd) {
				return false
			}
		}
	}
	return true
}

// sameBase compares what a class's head names: a base class without its tests,
// which are tests of their own here, anything else as it is.
func (c *comparison) sameBase(p string, f *syntax.File, name string) bool {
	home, ok := locate(c.start, place{p, name}, 0)
	if !ok {
		return c.sameName(p, f, name)
	}
	file := c.start.file(home.path)
	for _, i := range file.Find(home.name) {
		if file.Decls[i].Kind != syntax.Class {
			return c.sameName(p, f, name)
		}
	}
	key := "around\x00" + home.path + "\x00" + home.name
	if c.seen[key] {
		return true // compared, or being compared further up
	}
	c.seen[key] = true
	return c.sameAround(home.path, home.name)
}

// around is the text of a class outside its test methods.
func around(f *syntax.File, class int) string {
	d := f.Decls[class]
	end := d.Body.Start
	if end == 0 {
		end = d.Span.End
	}
	text := f.Text(syntax.Span{Start: d.Span.Start, End: end})
	for _, i := range f.Children(class) {
		if !isTestName(f.Decls[i].Name) {
			text += "\n" + f.Text(f.Decls[i].Span)
		}
	}
	return text
}

func isTestName(name string) bool { return strings.HasPrefix(name, "test") }

// moduleHooks are what a module sets up around its tests.
var moduleHooks = wordset.New(`pytestmark pytest_plugins setup_module teardown_module setup_function teardown_function setUpModule tearDownModule setup teardown __test__`)

// sameModule compares hooks and automatic fixtures of the test's own file.
func (c *comparison) sameModule(p string) bool {
	return !c.changed[p] || c.sameHooks(p)
}

// sameConftests compares what conftest files do to every test.
func (c *comparison) sameConftests(p string) bool {
	for _, conftest := range conftests(p) {
		if c.changed[conftest] && !c.sameHooks(conftest) {
			return false
		}
	}
	return true
}

func (c *comparison) sameHooks(p string) bool {
	names := map[string]bool{}
	for _, s := range []*sources{c.base, c.start} {
		if !s.tree.Has(p) {
			continue
		}
		f := s.file(p)
		if f == nil {
			return false
		}
		for _, i := range f.Top() {
			if d := f.Decls[i]; moduleHooks.Has(d.Name) || strings.HasPrefix(d.Name, "pytest_") || automatic(d) {
				names[d.Name] = true
			}
		}
	}
	for name := range names {
		if !c.base.tree.Has(p) || !c.start.tree.Has(p) || !c.same(p, name) {
			return false
		}
	}
	return true
}

func automatic(d syntax.Decl) bool {
	for _, text := range d.Decorators {
		if strings.Contains(text, "autouse") {
			return true
		}
	}
	return false
}

// namesData tells whether the test names a changed file that is no Python.
func (c *comparison) namesData(p, qualified string) bool {
	f := c.start.file(p)
	for _, i := range f.Find(qualified) {
		text := f.Text(f.Decls[i].Span)
		for file := range c.changed {
			stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
			if path.Ext(file) != ".py" && len(stem) > 3 && strings.Contains(text, stem) {
				return true
			}
		}
	}
	return false
}
