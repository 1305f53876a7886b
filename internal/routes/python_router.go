package routes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// The kinds of what routes are declared on.
const (
	flaskApp       = "flask"
	flaskBlueprint = "blueprint"
	flaskAPI       = "restful"   // Api of Flask-RESTful, and of what came of it
	restNamespace  = "namespace" // of Flask-RESTX
	fastapiApp     = "fastapi"
	fastRouter     = "router"
	madeRouter     = "made" // a router that a package makes
	defaultsKey    = "defaults"
)

// router is what routes are declared on.
type pyRouter struct {
	kind     string
	name     string
	prefix   string
	has      bool // a prefix is given
	unknown  bool // it is, and cannot be read
	at       string
	made     *pyCall
	class    *pyClass
	attrs    map[string]pyValue
	routes   []*pyDeclared
	children []pyMounted
	guards   []pyValue // dependencies, and functions before a request
	mounted  bool
}

// mounted is a router in another.
type pyMounted struct {
	child   *pyRouter
	prefix  string
	has     bool
	unknown bool
	guards  []pyValue
	at      string
	replace bool // the prefix takes the place of that of the child
}

// declared is one declaration.
type pyDeclared struct {
	methods    []string // nil: as the handler says
	path       string
	unknown    bool
	handler    pyValue
	decorators []pyValue // that stand below the route
	options    *pyCall
	at         string
	endpoint   string
}

// declaration is a decorator that declares: app.get("/x").
type pyDeclaration struct {
	router  *pyRouter
	methods []string
	path    string
	unknown bool
	call    *pyCall
	// endpoint is the name that is given by place, more are further paths.
	endpoint string
	more     []pyValue
}

// kindOf is what an external class makes.
func kindOf(v pyValue) string {
	e, ok := v.(*pyExternal)
	if !ok {
		return ""
	}
	top, _, _ := strings.Cut(e.name, ".")
	name := lastName(e.name)
	switch {
	case strings.HasPrefix(top, "flask") || top == "apiflask":
		switch {
		case name == "Flask" || name == "APIFlask" || name == "OpenAPI" && top == "flask_openapi3":
			return flaskApp
		case name == "Blueprint" || name == "APIBlueprint":
			return flaskBlueprint
		case name == "Api" && top != "flask_smorest" || name == "RestApi":
			return flaskAPI
		case name == "Api":
			return flaskAPI
		case name == "Namespace" && strings.HasPrefix(top, "flask_rest"):
			return restNamespace
		}
	case strings.HasPrefix(top, "fastapi"):
		switch name {
		case "FastAPI":
			return fastapiApp
		case "APIRouter", "InferringRouter", "VersionedAPIRouter":
			return fastRouter
		}
	}
	return ""
}

// routerOf makes the router that a call of one of some externals gives; nil for any other.
func (p *python) routerOf(of []pyValue, c *pyCall) *pyRouter {
	for _, v := range of {
		kind := kindOf(v)
		if kind == "" {
			continue
		}
		r := &pyRouter{kind: kind, at: c.at(), made: c, attrs: map[string]pyValue{}}
		p.routers = append(p.routers, r)
		p.configure(r, c)
		return r
	}
	return nil
}

// configure reads what the constructor of a router is given.
func (p *python) configure(r *pyRouter, c *pyCall) {
	r.made = c
	switch r.kind {
	case flaskBlueprint:
		r.name, _ = c.text(0, "name")
		p.setPrefix(r, c, 5, "url_prefix")
	case flaskAPI:
		p.setPrefix(r, c, -1, "prefix")
		if v, ok := c.arg(0, "app", "blueprint"); ok {
			p.attachAPI(r, v, c)
		}
	case restNamespace:
		r.name, _ = c.text(0, "name")
		r.prefix, r.has = "/"+r.name, true
		p.setPrefix(r, c, 2, "path")
		p.addGuards(r, c, "decorators")
	case fastapiApp, fastRouter:
		p.setPrefix(r, c, -1, "prefix")
		p.addGuards(r, c, "dependencies")
		if v, ok := c.named["routes"]; ok {
			p.routesOf(r, v)
		}
	}
}

func (p *python) addGuards(r *pyRouter, c *pyCall, name string) {
	if v, ok := c.named[name]; ok {
		r.guards = append(r.guards, itemsOf(v)...)
	}
}

// setPrefix reads a prefix that an argument gives.
func (p *python) setPrefix(r *pyRouter, c *pyCall, n int, name string) {
	if prefix, has, unknown := p.prefixOf(c, n, name); has {
		r.prefix, r.has, r.unknown = prefix, true, unknown
	}
}

func (p *python) prefixOf(c *pyCall, n int, name string) (prefix string, has, unknown bool) {
	v, ok := c.arg(n, name)
	if _, empty := v.(pyNone); !ok || empty {
		return "", false, false
	}
	s, known := p.textOf(v)
	return s, true, !known
}

func (p *python) ofRouter(r *pyRouter, name string) pyValue {
	if v, ok := r.attrs[name]; ok {
		return p.force(v)
	}
	if r.class != nil {
		if v, _ := r.class.own(name); v != nil {
			if fn, ok := p.force(v).(*pyFunction); ok {
				return &pyBound{fn, r}
			}
			return v
		}
	}
	switch name {
	case "prefix", "url_prefix":
		if r.has && !r.unknown {
			return r.prefix
		}
	case "name":
		if r.name != "" {
			return r.name
		}
	case "router":
		if r.kind == fastapiApp {
			return r
		}
	case "wsgi_app":
		return r
	}
	return &pyMember{r, name}
}

// onRouter is what a method of a router does; false where it is none that declares.
func (p *python) onRouter(r *pyRouter, name string, c *pyCall) (pyValue, bool) {
	if name == "__init__" {
		p.configure(r, c)
		return pyNone{}, true
	}
	switch r.kind {
	case fastapiApp, fastRouter:
		return p.onFastAPI(r, name, c)
	case madeRouter:
		return nil, false
	}
	return p.onFlask(r, name, c)
}

// declare notes that a decorator declares a handler.
func (p *python) declare(d *pyDeclaration, handler pyValue) {
	if len(d.router.routes) >= maxRoutes || p.testing || p.trace != nil {
		return
	}
	r := &pyDeclared{methods: d.methods, path: d.path, unknown: d.unknown, handler: handler, options: d.call, at: d.call.at()}
	switch x := handler.(type) {
	case *pyFunction:
		r.decorators = slices.Clone(x.decorators)
	case *pyClass:
		r.decorators = slices.Clone(x.decorators)
	}
	r.endpoint = d.endpoint
	if s, ok := d.call.text(-1, "endpoint", "name"); ok {
		r.endpoint = s
	}
	d.router.routes = append(d.router.routes, r)
	for _, v := range d.more {
		other := *r
		path, known := p.textOf(v)
		other.path, other.unknown = path, !known
		d.router.routes = append(d.router.routes, &other)
	}
}

// declaration gives the decorator of a call app.get("/x").
func (p *python) declaration(r *pyRouter, methods []string, c *pyCall) *pyDeclaration {
	v, _ := c.arg(0, "path", "rule")
	path, known := p.textOf(v)
	return &pyDeclaration{router: r, methods: methods, path: path, unknown: !known, call: c}
}

// methodsOf are those that an argument lists.
func methodsOf(c *pyCall, otherwise ...string) []string {
	v, ok := c.named["methods"]
	if !ok {
		return otherwise
	}
	var out []string
	for _, i := range itemsOf(v) {
		switch m := i.(type) {
		case string:
			out = append(out, strings.ToUpper(m))
		case *pyInstance, *pyExternal, *pyMember: // HTTPMethod.GET
			out = append(out, strings.ToUpper(lastName(memberName(m))))
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return out
}

func memberName(v pyValue) string {
	if i, ok := v.(*pyInstance); ok {
		s, _ := i.attrs["name"].(string)
		return s
	}
	return nameOf(v)
}

// note says once that a declaration could not be resolved.
func (p *python) note(at, why string) {
	line := at + ": " + why
	if !p.noted[line] && len(p.unread) < maxItems {
		p.noted[line] = true
		p.unread = append(p.unread, line)
	}
}

// noteGiven notes routers that are given to what is not known: a package may mount them.
func (p *python) noteGiven(m *pyMember, c *pyCall) {
	if m.name != "init_app" || len(c.args) == 0 {
		return
	}
	if r, ok := m.of.(*pyRouter); ok && r.kind == flaskAPI {
		p.attachAPI(r, c.args[0], c)
	}
}

// noteHook notes a function that a decorator runs before each request.
func (p *python) noteHook(d pyValue, fn *pyFunction) {
	m, ok := d.(*pyMember)
	if !ok {
		return
	}
	if r, ok := m.of.(*pyRouter); ok && slices.Contains([]string{"before_request", "before_app_request"}, m.name) {
		r.guards = append(r.guards, fn)
	}
}

// isHandler reports whether a function answers a route.
func (p *python) isHandler(fn *pyFunction) bool {
	for _, r := range p.routers {
		for _, d := range r.routes {
			if d.handler == pyValue(fn) {
				return true
			}
		}
	}
	return false
}

// resolved is one route with the routers around it.
type pyResolved struct {
	*pyDeclared
	on     *pyRouter
	path   string
	guards []pyValue
	app    *pyRouter
	names  []string // of the blueprints around it
}

// router is the kind of what the route is declared on.
func (r pyResolved) router() string { return r.on.kind }

// compose gives the routes of an application, with every prefix.
func (p *python) compose(app *pyRouter) []pyResolved {
	p.visits = max(0, p.visits-maxVisits/100) // each application has some left
	w := &pyWalk{python: p, app: app, open: map[*pyRouter]bool{}}
	w.visit(app, "", false, nil, nil)
	return w.out
}

type pyWalk struct {
	*python
	app  *pyRouter
	out  []pyResolved
	open map[*pyRouter]bool // cycles end here
}

func (w *pyWalk) visit(r *pyRouter, prefix string, unknown bool, guards []pyValue, names []string) {
	if w.visits++; w.open[r] || len(w.open) > maxBases || len(w.out) >= maxRoutes || w.visits > maxVisits {
		return
	}
	w.open[r] = true
	defer delete(w.open, r)
	r.mounted = true
	guards = append(slices.Clone(guards), r.guards...)
	if r.name != "" {
		names = append(slices.Clone(names), r.name)
	}
	for _, d := range r.routes {
		if d.unknown || unknown {
			w.note(d.at, "the path is not known")
			continue
		}
		w.out = append(w.out, pyResolved{d, r, joinedPath(r.kind, prefix, d.path), guards, w.app, names})
	}
	for _, m := range r.children {
		inner := append(slices.Clone(guards), m.guards...)
		switch r.kind {
		case fastapiApp, fastRouter:
			w.visit(m.child, prefix+m.prefix, unknown || m.unknown, inner, names)
		default:
			at, lost := childPrefix(prefix, m)
			w.visit(m.child, at, unknown || lost, inner, names)
		}
	}
}

// joined is the path of a route below a prefix.
func joinedPath(kind, prefix, path string) string {
	switch {
	case kind == fastapiApp || kind == fastRouter:
		return prefix + path
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return strings.TrimRight(prefix, "/") + "/" + strings.TrimLeft(path, "/")
}

// childPrefix is where a blueprint in another one lies.
func childPrefix(prefix string, m pyMounted) (at string, unknown bool) {
	own, has, lost := m.child.prefix, m.child.has, m.child.unknown
	if m.child.kind == flaskAPI && !m.replace {
		return strings.TrimRight(prefix, "/") + own, lost
	}
	if m.has {
		own, has, lost = m.prefix, true, m.unknown
	}
	switch {
	case !has:
		return prefix, false
	case own == "":
		return prefix, lost
	}
	if prefix == "" {
		return own, lost
	}
	return strings.TrimRight(prefix, "/") + "/" + strings.TrimLeft(own, "/"), lost
}

// principal is the application with the most routes; nil where there is none.
func (p *python) principal() *pyRouter {
	var best *pyRouter
	most := -1
	for _, r := range p.routers {
		if r.kind != flaskApp && r.kind != fastapiApp || p.isMounted(r) {
			continue
		}
		if n := len(p.compose(r)); n > most {
			best, most = r, n
		}
	}
	return best
}

func (p *python) isMounted(r *pyRouter) bool {
	for _, other := range p.routers {
		if slices.ContainsFunc(other.children, func(m pyMounted) bool { return m.child == r }) {
			return true
		}
	}
	return false
}

// readPython gives the routes of the applications of one framework.
func readPython(s *source, app, word string) ([]Route, []string) {
	p := newPython(s)
	p.only(word)
	if len(p.modules) == 0 {
		return nil, nil
	}
	p.run()
	p.keep(app)
	best := p.principal()
	if best == nil || best.kind != app {
		return nil, p.unread
	}
	p.visits = 0
	for _, r := range p.routers {
		r.mounted = false
	}
	p.compose(best)
	p.orphans(best)
	p.unread, p.noted = nil, map[string]bool{}
	found := p.compose(best)
	reader := newBodies(p, found)
	var out []Route
	for _, r := range found {
		out = append(out, reader.routes(r)...)
	}
	for _, h := range p.holes {
		p.note(h.at, h.why)
	}
	for _, r := range p.routers {
		if !r.mounted && len(r.routes) > 0 {
			p.note(r.at, fmt.Sprintf("%d routes of another application, or of none", len(r.routes)))
		}
	}
	slices.Sort(p.unread)
	return Sort(out), p.unread
}

// only leaves trees that import nothing of a framework unread.
func (p *python) only(word string) {
	form := lazyregexp.New(`(?m)^[ \t]*(?:from|import)[ \t]+\w*` + word)
	for _, m := range p.sorted() {
		if form.Match(p.tree.pyFile(m.path).text) {
			return
		}
	}
	p.modules = nil
}

// keep leaves out the applications of other frameworks.
func (p *python) keep(app string) {
	p.routers = slices.DeleteFunc(p.routers, func(r *pyRouter) bool {
		return r.kind != app && (r.kind == flaskApp || r.kind == fastapiApp)
	})
}

// orphans mounts routers that nothing mounts by name, where what is mounted is not known in
// places: in the one such place, or below the application under their own prefixes.
func (p *python) orphans(app *pyRouter) {
	if !p.dynamic {
		return
	}
	parent, at := app, pyMounted{}
	if len(p.holes) == 1 {
		parent, at = p.holes[0].parent, p.holes[0].pyMounted
	}
	for _, r := range p.routers {
		fits := r.kind == flaskBlueprint && app.kind == flaskApp || r.kind == fastRouter && app.kind == fastapiApp
		if !fits || r.mounted || len(r.routes) == 0 || p.isMounted(r) || r == parent {
			continue
		}
		at.child = r
		p.mount(parent, at)
	}
}

// pyHole is a place where a router is mounted that is not known.
type pyHole struct {
	pyMounted
	parent *pyRouter
	why    string
}

// hole notes a place where what is mounted is not known.
func (p *python) hole(parent *pyRouter, m pyMounted, why string) {
	if p.trace != nil || p.testing {
		return
	}
	p.dynamic = true
	if !slices.ContainsFunc(p.holes, func(h pyHole) bool { return h.at == m.at }) && len(p.holes) < maxItems {
		p.holes = append(p.holes, pyHole{m, parent, why})
	}
}
