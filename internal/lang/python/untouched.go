package python

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
)

// Untouched compares the test function with its decorators, what its class and
// module set up around it, and every fixture and helper that it may run, directly or
// through others, in files that changed or not. A name is what it is bound to:
//   - in a function its own names hide those of the module, and a name of the module is
//     what the module defines or imports, followed to where it is defined;
//   - a parameter is a fixture in tests and fixtures only. It is the nearest of that
//     name: of the class, the module, the conftest files from the test's folder up, the
//     plugins that these name. A fixture that asks for its own name gets the next one;
//   - a string is a fixture's name in usefixtures, getfixturevalue and indirect only.
//
// Types are not inferred. A member of the test's class or its bases counts where the
// runner uses it by itself, or where anything that the test may run names it after a
// dot, whatever stands before the dot. Any other class counts as a whole. Where it
// cannot be told, the answer is false.
func (Language) Untouched(base, start lang.Tree, changed []string) func(lang.Test) bool {
	c := &comparison{base: newSources(base), start: newSources(start), changed: map[string]bool{}}
	for _, p := range changed {
		c.changed[p] = true
	}
	return c.untouched
}

func (c *comparison) untouched(t lang.Test) bool {
	c.seen, c.asked, c.members = map[string]bool{}, map[string]bool{}, map[place]string{}
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
	c.test, c.class = home, place{t.Unit, outerOf(qualified)}
	c.opaque = c.class.name != "" && (hasForeignBase(c.start, c.class, 0) || hasForeignBase(c.base, c.class, 0))
	c.scopes = c.scopesOf(t.Unit)
	if !c.same(home.path, home.name) {
		return false
	}
	for _, at := range []place{home, {t.Unit, qualified}} {
		for _, outer := range outers(at.name) {
			if !c.sameOuter(place{at.path, outer}) {
				return false
			}
		}
		if !c.sameHooks(at.path) {
			return false
		}
	}
	return c.sameScopes() && c.sameMembers() && !c.namesData(home.path, home.name)
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

// outerOf is the class around a method, "" for a function.
func outerOf(qualified string) string {
	return qualified[:max(0, strings.LastIndexByte(qualified, '.'))]
}

type comparison struct {
	base, start *sources
	changed     map[string]bool

	// Of the test that is asked about:
	test   place           // where it is written
	class  place           // where it is collected; no name for a function
	scopes []string        // files that it has fixtures from, nearest first
	opaque bool            // the class has a base that cannot be read
	seen   map[string]bool // path + qualified name: compared already
	// asked are the names of attributes and fixtures in all that the test may run, and
	// members those of its classes that nothing has asked for yet.
	asked   map[string]bool
	members map[place]string
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

// sameNames compares the definitions that a definition names.
func (c *comparison) sameNames(p string, f *outline.File, d outline.Decl) bool {
	asks := asksByString(f.Text(d.Span))
	names, fixtures := map[string]bool{}, map[string]bool{}
	for _, u := range f.In(d.Span) {
		switch u.Kind {
		case outline.Identifier:
			if !hidden(f, d.Span, u) {
				names[u.Name] = true
			}
		case outline.String:
			c.asked[u.Name] = true // getattr, patch.object
			if asks {
				for _, word := range strings.FieldsFunc(u.Name, func(r rune) bool { return r == ',' || r == ' ' }) {
					fixtures[word] = true
				}
			}
		case outline.Attribute:
			c.asked[u.Name] = true
			if !c.sameAttribute(p, f, u) {
				return false
			}
		}
	}
	if isFixture(d) || c.test == (place{p, d.Qualified}) {
		for _, param := range d.Params {
			fixtures[param.Name] = true
		}
	}
	for name := range names {
		if !c.sameName(p, f, name) {
			return false
		}
	}
	for name := range fixtures {
		c.asked[name] = true
		if !c.sameFixture(p, d, name) {
			return false
		}
	}
	return true
}

// asksByString recognises code in which a string may name a fixture.
func asksByString(text string) bool {
	return strings.Contains(text, "usefixtures") || strings.Contains(text, "getfixturevalue") || strings.Contains(text, "indirect")
}

// hidden recognises a name that a function around it binds for itself.
func hidden(f *outline.File, within outline.Span, u outline.Use) bool {
	from := sort.Search(len(f.Decls), func(i int) bool { return f.Decls[i].Span.Start >= within.Start })
	for i := from; i < len(f.Decls) && f.Decls[i].Span.Start <= u.Span.Start; i++ {
		d := f.Decls[i]
		if d.Kind != outline.Function && d.Kind != outline.Method || !d.Body.Holds(u.Span) {
			continue
		}
		for j := i + 1; j < len(f.Decls) && d.Span.Holds(f.Decls[j].Span); j++ {
			if f.Decls[j].Parent == i && f.Decls[j].Name == u.Name && f.Decls[j].Kind != outline.Field {
				return true
			}
		}
	}
	return false
}

// follows recognises a file whose definitions may lead to a changed one: code of the
// project itself never names its tests.
func (c *comparison) follows(file string) bool {
	return file != "" && (c.changed[file] || isTestPath(file, c.start.tree))
}

// sameName compares what a module's name stands for: a definition, or an import.
func (c *comparison) sameName(p string, f *outline.File, name string) bool {
	if topLevel(f, name) {
		return c.same(p, name)
	}
	for _, i := range f.Imports {
		if boundName(i) != name && i.Name != "*" || i.Name == "" {
			continue // of a whole module the attributes are compared
		}
		file := c.start.moduleFrom(p, absolute(p, i.Module))
		if !c.follows(file) {
			continue
		}
		imported := i.Name
		if i.Name == "*" {
			if imported = name; !c.gives(file, name, 0) {
				continue
			}
		} else if c.start.moduleFrom(p, strings.TrimPrefix(absolute(p, i.Module)+"."+i.Name, ".")) != "" && !c.gives(file, name, 0) {
			continue // a module in a package
		}
		if !c.sameIn(file, imported) {
			return false
		}
	}
	return true
}

// gives reports whether a module has a name in one of the trees, for others to import.
func (c *comparison) gives(file, name string, hops int) bool {
	for _, s := range []*sources{c.base, c.start} {
		f := s.file(file)
		if f == nil || hops > maxHops {
			continue
		}
		if topLevel(f, name) {
			return true
		}
		for _, i := range f.Imports {
			if i.Name != "*" && boundName(i) == name || i.Name == "*" && c.gives(s.moduleFrom(file, absolute(file, i.Module)), name, hops+1) {
				return true
			}
		}
	}
	return false
}

// sameIn compares a name of a module that is followed: its definition there, or what
// it is imported from.
func (c *comparison) sameIn(file, name string) bool {
	old, now := c.base.file(file), c.start.file(file)
	if old == nil || now == nil {
		return false
	}
	if topLevel(old, name) || topLevel(now, name) {
		return c.same(file, name)
	}
	key := "import\x00" + file + "\x00" + name
	if c.seen[key] {
		return true // compared, or being compared further up
	}
	c.seen[key] = true
	if !c.gives(file, name, 0) {
		return !c.changed[file] // it is made at run time
	}
	return c.sameName(file, now, name)
}

// sameAttribute compares helpers.name where helpers is a module of test code.
func (c *comparison) sameAttribute(p string, f *outline.File, u outline.Use) bool {
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
		if file := c.start.moduleFrom(p, module); c.follows(file) && !c.sameIn(file, u.Name) {
			return false
		}
	}
	return true
}

// sameFixture compares the fixture that a test or a fixture asks for by name.
func (c *comparison) sameFixture(p string, d outline.Decl, name string) bool {
	from := 0
	if isFixture(d) && fixtureName(d) == name { // it stands before another one of its name
		for i, file := range c.scopes {
			if file == p && outerOf(d.Qualified) == "" {
				from = i + 1
			}
		}
	} else if c.class.name != "" {
		if _, ok := locate(c.start, place{c.class.path, c.class.name + "." + name}, 0); ok {
			return true // it is compared with its class
		}
	}
	for _, file := range c.scopes[from:] {
		for _, s := range []*sources{c.base, c.start} {
			if definition := fixtureIn(s.file(file), name); definition != "" {
				return c.same(file, definition)
			}
		}
		if c.gives(file, name, 0) {
			return c.sameIn(file, name)
		}
	}
	return true // of a plugin that is no file of the project
}

// fixtureIn finds the function that makes a fixture; "" where a file has none.
func fixtureIn(f *outline.File, name string) string {
	if f == nil {
		return ""
	}
	for _, i := range f.Top() {
		if d := f.Decls[i]; isFixture(d) && fixtureName(d) == name {
			return d.Name
		}
	}
	return ""
}

func isFixture(d outline.Decl) bool {
	return slices.ContainsFunc(d.Decorators, func(text string) bool {
		return strings.Contains(text, "fixture") && !strings.Contains(text, "usefixtures")
	})
}

var givenName = lazyregexp.New(`\bname\s*=\s*["'](\w+)["']`)

// fixtureName is the name that others ask for.
func fixtureName(d outline.Decl) string {
	for _, text := range d.Decorators {
		if m := givenName.FindStringSubmatch(text); m != nil && strings.Contains(text, "fixture") {
			return m[1]
		}
	}
	return d.Name
}

// scopesOf are the files that a test has fixtures from: its own, the conftest files
// above it, and the modules of the project that one of these names as plugins.
func (c *comparison) scopesOf(unit string) []string {
	out := append([]string{unit}, conftests(unit)...)
	for _, p := range out {
		for _, s := range []*sources{c.base, c.start} {
			f := s.file(p)
			if f == nil {
				continue
			}
			for _, i := range f.Find("pytest_plugins") {
				for _, u := range f.In(f.Decls[i].Span) {
					if file := s.moduleFrom(p, u.Name); u.Kind == outline.String && file != "" && !slices.Contains(out, file) {
						out = append(out, file)
					}
				}
			}
		}
	}
	return out
}

func topLevel(f *outline.File, name string) bool {
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

// sameAround compares a class without its tests: decorators, bases, what is set up,
// automatic fixtures. Its other members wait until something asks for them.
func (c *comparison) sameAround(p, class string) bool {
	old, now := c.base.file(p), c.start.file(p)
	a, b := old.Find(class), now.Find(class)
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if c.around(old, a[i]) != c.around(now, b[i]) {
			return false
		}
		d := now.Decls[b[i]]
		for _, u := range now.In(d.Span) {
			if u.Span.Start < d.Body.Start && u.Kind == outline.Identifier && !c.sameBase(p, now, u.Name) {
				return false
			}
		}
		for _, child := range now.Children(b[i]) {
			if cd := now.Decls[child]; c.setsUp(cd) && !c.sameNames(p, now, cd) {
				return false
			}
		}
		c.note(p, old, a[i])
		c.note(p, now, b[i])
	}
	return true
}

// note keeps the members of a class for sameMembers.
func (c *comparison) note(p string, f *outline.File, class int) {
	for _, i := range f.Children(class) {
		if d := f.Decls[i]; isMember(d) && !c.setsUp(d) {
			c.members[place{p, d.Qualified}] = d.Name
		}
	}
}

// sameMembers compares the members of the test's classes that anything it may run
// asks for by name: of which object is not told, so that any counts.
func (c *comparison) sameMembers() bool {
	for again := true; again; {
		again = false
		for at, name := range c.members {
			if !c.asked[name] {
				continue
			}
			delete(c.members, at)
			again = true
			if !c.same(at.path, at.name) {
				return false
			}
		}
	}
	return true
}

// isMember leaves out tests, which are compared by themselves, and what methods set
// on self, which stands in their text.
func isMember(d outline.Decl) bool {
	return !isTestName(d.Name) && !(d.Kind == outline.Field && strings.HasPrefix(d.Signature, "self."))
}

// runnerMembers are members that a test runner uses without being asked to.
var runnerMembers = strings.Fields(`setUp tearDown setUpClass tearDownClass asyncSetUp asyncTearDown setup_method teardown_method setup_class teardown_class setup teardown pytestmark run maxDiff longMessage failureException`)

// setsUp recognises a member that counts for every test of its class. Where a class has
// a base that is no file of the project, all do: nobody knows what that one calls.
func (c *comparison) setsUp(d outline.Decl) bool {
	return isMember(d) && (c.opaque || slices.Contains(runnerMembers, d.Name) || strings.HasPrefix(d.Name, "__") || automatic(d))
}

var plainBases = strings.Fields(`object TestCase IsolatedAsyncioTestCase ABC`)

// hasForeignBase recognises a class with a base, at any depth, that cannot be read.
func hasForeignBase(s *sources, class place, hops int) bool {
	home, ok := locate(s, class, 0)
	if !ok || hops > maxHops {
		return true
	}
	f := s.file(home.path)
	modules := map[string]bool{}
	for _, i := range f.Imports {
		if i.Name == "" {
			modules[boundName(i)] = true
		}
	}
	for _, i := range f.Find(home.name) {
		d := f.Decls[i]
		for _, u := range f.In(d.Span) {
			if u.Span.Start < d.NameSpan.End || u.Span.Start >= d.Body.Start || u.Kind == outline.Identifier && modules[u.Name] {
				continue
			}
			if !slices.Contains(plainBases, u.Name) && hasForeignBase(s, place{home.path, u.Name}, hops+1) {
				return true
			}
		}
	}
	return false
}

// sameBase compares what a class's head names: a base class without its tests,
// which are tests of their own here, anything else as it is.
func (c *comparison) sameBase(p string, f *outline.File, name string) bool {
	home, ok := locate(c.start, place{p, name}, 0)
	if !ok {
		return c.sameName(p, f, name)
	}
	file := c.start.file(home.path)
	for _, i := range file.Find(home.name) {
		if file.Decls[i].Kind != outline.Class {
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

// around is the text of a class without its tests and members.
func (c *comparison) around(f *outline.File, class int) string {
	d := f.Decls[class]
	end := d.Body.Start
	if end == 0 {
		end = d.Span.End
	}
	text := f.Text(outline.Span{Start: d.Span.Start, End: end})
	for _, i := range f.Children(class) {
		if c.setsUp(f.Decls[i]) {
			text += "\n" + f.Text(f.Decls[i].Span)
		}
	}
	return text
}

func isTestName(name string) bool { return strings.HasPrefix(name, "test") }

// moduleHooks are what a module sets up around its tests.
var moduleHooks = strings.Fields(`pytestmark pytest_plugins setup_module teardown_module setup_function teardown_function setUpModule tearDownModule setup teardown __test__`)

// sameScopes compares what conftest files and plugins do to every test.
func (c *comparison) sameScopes() bool {
	for _, p := range c.scopes {
		if !c.sameHooks(p) {
			return false
		}
	}
	return true
}

// sameHooks compares hooks and automatic fixtures of a file.
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
			if d := f.Decls[i]; slices.Contains(moduleHooks, d.Name) || strings.HasPrefix(d.Name, "pytest_") || automatic(d) {
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

func automatic(d outline.Decl) bool {
	for _, text := range d.Decorators {
		if strings.Contains(text, "autouse") {
			return true
		}
	}
	return false
}

// namesData reports whether the test names a changed file that is no Python.
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
