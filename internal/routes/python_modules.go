package routes

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// Bounds of what is read. Source over them declares what was read before.
const (
	maxDepth   = 300       // of nested expressions and statements
	maxCalls   = 24        // of functions in functions
	maxRuns    = 400       // of one function
	maxBases   = 24        // of classes above a class
	maxItems   = 2_000     // of a list, rounds of a loop
	maxText    = 64 << 10  // of a string
	maxSteps   = 4_000_000 // expressions and statements of a tree
	maxHandler = 40_000    // of one handler
	maxHandled = 8_000_000 // of all of them
	maxVisits  = 50_000    // of routers in routers
	maxFields  = 2_000     // of the models of a route
	maxModules = 5_000
	maxRoutes  = 10_000
)

// python executes what a tree of Python does when it is imported, as far as it can be told
// from the source: it follows names, calls of functions and loops over lists, and keeps what
// it does not know as nothing. A condition that is not known takes both ways.
type python struct {
	tree    *source
	modules map[string]*pyModule // by path of its file or folder
	folders map[string]bool      // that hold Python files
	where   map[string]string    // of "folder module": the file or folder of a module
	routers []*pyRouter
	unread  []string
	holes   []pyHole
	noted   map[string]bool
	steps   int
	depth   int
	calls   int
	dynamic bool // modules are imported by names that are not known
	strings map[string][]string

	trace    *pyTrace              // of the handler that runs
	handled  int                   // steps of handlers
	home     *pyModule             // in which names in quotes are looked up
	open     []*pyClass            // models around the one that is read
	parsers  map[*pyCall][]*pyCall // arguments of a RequestParser
	pydantic int                   // its version, 0 before it is asked
	testing  bool
	visits   int // of routers
	fields   int // of models, of one route
	tests    []pyRequest
}

// python reads the files of a tree that are Python and part of the service.
func newPython(t *source) *python {
	p := &python{tree: t, modules: map[string]*pyModule{}, folders: map[string]bool{}, where: map[string]string{}, noted: map[string]bool{}, parsers: map[*pyCall][]*pyCall{}}
	for _, at := range t.Paths() {
		if path.Ext(at) != ".py" || aside(at) || len(p.modules) >= maxModules {
			continue
		}
		p.modules[at] = &pyModule{path: at, dir: path.Dir(at), scope: newPyScope(nil)}
		for dir := path.Dir(at); !p.folders[dir]; dir = path.Dir(dir) {
			p.folders[dir] = true
		}
	}
	return p
}

// run executes every module, then the functions that make an application and that none of
// them calls, then those that add to one.
func (p *python) run() {
	all := p.sorted()
	for _, m := range all {
		p.parse(m)
	}
	for _, m := range all {
		p.execute(m)
	}
	for _, words := range [][]string{makers, adders} {
		app := p.principal()
		for _, m := range all {
			p.runUncalled(m, words, app)
		}
	}
}

func (p *python) sorted() []*pyModule {
	var paths []string
	for at, m := range p.modules {
		if m.path != "" {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	out := make([]*pyModule, len(paths))
	for i, at := range paths {
		out[i] = p.modules[at]
	}
	return out
}

var (
	makers = []string{"Flask(", "FastAPI(", "APIFlask(", "OpenAPI("}
	adders = []string{"register_blueprint(", "include_router(", "add_url_rule(", "add_resource(", "add_api_route(", ".route(", "register_api(", "add_namespace(", ".init_app(", "(app)", "(app,"}
)

// runUncalled calls functions of a module whose text has one of some words, and that nothing
// has called: a server calls a factory by its name, and a plugin is given the application.
func (p *python) runUncalled(m *pyModule, words []string, app *pyRouter) {
	if m.tree == nil {
		return
	}
	for n := range m.tree.Root().Children() {
		def := n
		if n.Is("decorated_definition") {
			def = n.Child("definition")
		}
		if !def.Is("function_definition") {
			continue
		}
		f, ok := m.scope.vars[def.Child("name").Text()].(*pyFunction)
		if !ok || f.ran > 0 || f.node != def || p.isHandler(f) {
			continue
		}
		text := def.Text()
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			continue
		}
		c := &pyCall{of: f, named: map[string]pyValue{}, module: m, line: def.Line()}
		for _, param := range pyParameters(def) {
			if app != nil && param.star == "" && !param.value.Is() && slices.Contains([]string{"app", "application", "flask_app", "server", "api", "fastapi_app", "router"}, param.name) {
				c.named[param.name] = app
			}
		}
		p.runFunction(f, nil, c)
	}
}

// parse reads the file of a module. What cannot be read declares nothing.
func (p *python) parse(m *pyModule) { m.tree = p.tree.pyFile(m.path).syntax() }

// execute runs the body of a module, once; the packages around it run before it.
func (p *python) execute(m *pyModule) {
	if m.begun {
		return
	}
	m.begun = true
	if m.path == "" {
		return
	}
	if init := path.Join(m.dir, "__init__.py"); init != m.path && p.modules[init] != nil {
		p.execute(p.modules[init])
	}
	if m.tree == nil {
		return
	}
	m.scope.set("__name__", dotted(m))
	p.block(m.tree.Root(), &pyFrame{scope: m.scope, module: m})
}

// dotted is the name of a module from the root of the tree.
func dotted(m *pyModule) string {
	name := strings.TrimSuffix(strings.TrimSuffix(m.path, ".py"), "/__init__")
	return strings.ReplaceAll(name, "/", ".")
}

// find is the module of a dotted name that a file of a folder imports; nil where it is none
// of the tree. dots are those before it.
func (p *python) find(dir, name string, dots int) *pyModule {
	if dots > 0 {
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		return p.below(dir, name)
	}
	key := dir + " " + name
	if at, ok := p.where[key]; ok {
		return p.modules[at]
	}
	m := p.search(dir, name)
	p.where[key] = ""
	if m != nil {
		p.where[key] = m.key()
	}
	return m
}

func (m *pyModule) key() string {
	if m.path != "" {
		return m.path
	}
	return m.dir
}

// search looks in the folders above that are no packages, then in those that are, then in any.
func (p *python) search(dir, name string) *pyModule {
	first, _, _ := strings.Cut(name, ".")
	if pyForeign[first] {
		return nil
	}
	var outer, inner []string
	for d := dir; ; d = path.Dir(d) {
		if p.modules[path.Join(d, "__init__.py")] == nil {
			outer = append(outer, d, path.Join(d, "src"))
		} else {
			inner = append(inner, d)
		}
		if d == "." || d == "/" {
			break
		}
	}
	for _, d := range append(outer, inner...) {
		if m := p.below(d, name); m != nil {
			return m
		}
	}
	if pyStandard[first] {
		return nil
	}
	var folders []string
	for d := range p.folders {
		folders = append(folders, d)
	}
	slices.Sort(folders)
	for _, d := range folders {
		if m := p.below(d, name); m != nil && m.path != "" {
			return m
		}
	}
	return nil
}

// foreign are packages that a folder of the same name does not stand for.
var pyForeign = map[string]bool{"flask": true, "fastapi": true, "pydantic": true, "starlette": true, "marshmallow": true, "typing": true, "sqlmodel": true, "sqlalchemy": true}

// standard are modules of Python that trees have modules of the same name of.
var pyStandard = map[string]bool{
	"abc": true, "ast": true, "asyncio": true, "base64": true, "calendar": true, "collections": true, "config": false, "contextlib": true, "copy": true, "csv": true,
	"dataclasses": true, "datetime": true, "decimal": true, "email": true, "enum": true, "functools": true, "hashlib": true, "html": true, "http": true,
	"importlib": true, "inspect": true, "io": true, "itertools": true, "json": true, "logging": true, "math": true, "os": true, "pathlib": true, "queue": true,
	"random": true, "re": true, "secrets": true, "signal": true, "string": true, "sys": true, "tempfile": true, "threading": true, "time": true, "token": true,
	"traceback": true, "types": true, "typing": true, "urllib": true, "uuid": true, "warnings": true,
}

// below is the module of a dotted name below a folder.
func (p *python) below(dir, name string) *pyModule {
	at := dir
	if name != "" {
		at = path.Join(dir, strings.ReplaceAll(name, ".", "/"))
	}
	if name != "" {
		if m := p.file(at + ".py"); m != nil {
			return m
		}
	}
	if m := p.file(path.Join(at, "__init__.py")); m != nil {
		return m
	}
	if !p.folders[at] || name == "" && dir == "." {
		return nil
	}
	if p.modules[at] == nil {
		p.modules[at] = &pyModule{dir: at, scope: newPyScope(nil)}
	}
	return p.modules[at]
}

// file is the module of a file; one that is aside is read where something imports it.
func (p *python) file(at string) *pyModule {
	if m := p.modules[at]; m != nil {
		return m
	}
	if !p.tree.Has(at) || isForeign(at) || len(p.modules) >= maxModules {
		return nil
	}
	m := &pyModule{path: at, dir: path.Dir(at), scope: newPyScope(nil)}
	p.modules[at] = m
	p.parse(m)
	return m
}

// isForeign reports whether a path is of packages that an environment holds.
func isForeign(at string) bool {
	for s := range strings.SplitSeq(at, "/") {
		switch s {
		case "node_modules", "site-packages", "venv", ".venv", "virtualenv":
			return true
		}
	}
	return false
}

// inModule is a name of a module: what it has, or a module inside of it.
func (p *python) inModule(m *pyModule, name string) (pyValue, bool) {
	p.execute(m)
	if v, ok := m.scope.vars[name]; ok {
		return p.force(v), true
	}
	if m.path == "" || path.Base(m.path) == "__init__.py" {
		if sub := p.below(m.dir, name); sub != nil {
			p.execute(sub)
			return sub, true
		}
	}
	return nil, false
}

// force gives what a name that was imported early stands for now.
func (p *python) force(v pyValue) pyValue {
	for range maxBases {
		l, ok := v.(*pyLater)
		if !ok {
			return v
		}
		found, ok := l.module.scope.vars[l.name]
		if !ok {
			return nil
		}
		v = found
	}
	return nil
}

// importName binds what "import a.b" or "from a import b" binds.
func (p *python) importStatement(n syntax.Node, f *pyFrame) {
	for c := range n.Children() {
		if c.Field() != "name" {
			continue
		}
		name, as := c.Text(), ""
		if c.Is("aliased_import") {
			name, as = c.Child("name").Text(), c.Child("alias").Text()
		}
		m := p.imported(f.module, name, 0)
		switch first, _, _ := strings.Cut(name, "."); {
		case as != "" && m != nil:
			f.scope.set(as, m)
		case as != "":
			f.scope.set(as, &pyExternal{name})
		default:
			if top := p.find(f.module.dir, first, 0); top != nil {
				p.execute(top)
				f.scope.set(first, top)
			} else {
				f.scope.set(first, &pyExternal{first})
			}
		}
	}
}

// imported finds and executes a module; nil where it is none of the tree.
func (p *python) imported(from *pyModule, name string, dots int) *pyModule {
	m := p.find(from.dir, name, dots)
	if m == nil {
		return nil
	}
	if dots == 0 { // its packages run first, and those without a file are there
		parts := strings.Split(name, ".")
		for i := 1; i < len(parts); i++ {
			if outer := p.find(from.dir, strings.Join(parts[:i], "."), 0); outer != nil {
				p.execute(outer)
			}
		}
	}
	p.execute(m)
	return m
}

func (p *python) fromStatement(n syntax.Node, f *pyFrame) {
	of := n.Child("module_name")
	name, dots := of.Text(), 0
	if of.Is("relative_import") {
		name = strings.TrimLeft(name, ". \t")
		dots = strings.Count(of.First("import_prefix").Text(), ".")
	}
	m := p.imported(f.module, name, dots)
	if n.Has("wildcard_import") {
		if m != nil {
			for _, k := range sortedNames(m.scope.vars) {
				if !strings.HasPrefix(k, "_") {
					f.scope.set(k, m.scope.vars[k])
				}
			}
		}
		return
	}
	for c := range n.Children() {
		if c.Field() != "name" {
			continue
		}
		what, as := c.Text(), c.Text()
		if c.Is("aliased_import") {
			what, as = c.Child("name").Text(), c.Child("alias").Text()
		}
		if m == nil {
			f.scope.set(as, &pyExternal{name + "." + what})
			continue
		}
		v, ok := p.inModule(m, what)
		if !ok {
			v = &pyLater{m, what}
		}
		f.scope.set(as, v)
	}
}

func sortedNames(vars map[string]pyValue) []string {
	out := make([]string, 0, len(vars))
	for k := range vars {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
