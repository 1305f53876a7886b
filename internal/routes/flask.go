package routes

import (
	"slices"
	"strings"
)

// Flask reads Flask, and the packages over it that declare routes: Flask-RESTful, Flask-RESTX,
// flask-smorest, APIFlask.
var Flask = Reader{Framework: "flask", Language: "python", read: func(s *source) ([]Route, []string) {
	return readPython(s, flaskApp, "flask")
}}

// onFlask is what a method of an application, a blueprint or an Api does.
func (p *python) onFlask(r *pyRouter, name string, c *pyCall) (pyValue, bool) {
	switch name {
	case "route":
		d := p.declaration(r, methodsOf(c), c)
		if r.kind == flaskAPI || r.kind == restNamespace {
			d.more = c.args[min(1, len(c.args)):]
		}
		return d, true
	case "get", "post", "put", "delete", "patch":
		if _, ok := c.arg(0, "rule"); ok && r.kind != flaskAPI {
			return p.declaration(r, []string{strings.ToUpper(name)}, c), true
		}
	case "add_url_rule":
		p.addURLRule(r, c)
		return pyNone{}, true
	case "add_resource":
		p.addResource(r, c)
		return pyNone{}, true
	case "resource": // @api.resource("/x")
		d := p.declaration(r, nil, c)
		d.more = c.args[min(1, len(c.args)):]
		return d, true
	case "register_blueprint", "add_namespace":
		p.registerBlueprint(r, c)
		return pyNone{}, true
	case "register_api": // flask_openapi3
		p.registerBlueprint(r, c)
		return pyNone{}, true
	case "namespace":
		return p.newNamespace(r, c), true
	case "init_app":
		if len(c.args) > 0 {
			p.attachAPI(r, c.args[0], c)
		}
		return pyNone{}, true
	case "before_request", "before_app_request":
		if len(c.args) == 1 {
			r.guards = append(r.guards, c.args[0])
		}
		return pyNone{}, true
	case "errorhandler", "app_errorhandler", "register_error_handler":
		return c, true
	}
	return nil, false
}

// attachAPI mounts an Api on an application or a blueprint.
func (p *python) attachAPI(r *pyRouter, on pyValue, c *pyCall) {
	if parent, ok := on.(*pyRouter); ok && parent != r {
		p.mount(parent, pyMounted{child: r, at: c.at()})
	}
}

// mount notes a router in another, once.
func (p *python) mount(parent *pyRouter, m pyMounted) {
	same := func(o pyMounted) bool { return o.child == m.child && o.prefix == m.prefix && o.has == m.has }
	if !p.testing && p.trace == nil && !slices.ContainsFunc(parent.children, same) && len(parent.children) < maxItems {
		parent.children = append(parent.children, m)
	}
}

// dispatcher is DispatcherMiddleware(app, {"/x": other}) of Werkzeug.
func (p *python) dispatcher(c *pyCall) pyValue {
	v, _ := c.arg(0, "app")
	parent, ok := v.(*pyRouter)
	if !ok {
		parent = &pyRouter{kind: flaskApp, at: c.at(), attrs: map[string]pyValue{}}
		p.routers = append(p.routers, parent)
	}
	others, _ := c.arg(1, "mounts")
	if d, ok := others.(*pyDictionary); ok {
		for i, k := range d.keys {
			prefix, known := p.textOf(k) // what is not known is a setting: an application lies at the root without it
			if child, ok := d.values[i].(*pyRouter); ok && child != parent && known {
				p.mount(parent, pyMounted{child: child, prefix: prefix, has: true, at: c.at()})
			}
		}
	}
	return parent
}

func (p *python) newNamespace(parent *pyRouter, c *pyCall) pyValue {
	r := &pyRouter{kind: restNamespace, at: c.at(), attrs: map[string]pyValue{}}
	p.routers = append(p.routers, r)
	p.configure(r, c)
	p.mount(parent, pyMounted{child: r, at: c.at()})
	return r
}

func (p *python) registerBlueprint(parent *pyRouter, c *pyCall) {
	v, _ := c.arg(0, "blueprint", "blp", "api", "ns")
	child, ok := v.(*pyRouter)
	m := pyMounted{child: child, at: c.at()}
	m.prefix, m.has, m.unknown = p.prefixOf(c, -1, "url_prefix")
	if !ok {
		p.hole(parent, m, "what is registered is not known")
		return
	}
	if child.kind == restNamespace {
		m.prefix, m.has, m.unknown = p.prefixOf(c, 1, "path")
	}
	p.mount(parent, m)
}

func (p *python) addURLRule(r *pyRouter, c *pyCall) {
	handler, ok := c.arg(2, "view_func")
	if !ok {
		return
	}
	d := p.declaration(r, methodsOf(c), c)
	d.endpoint, _ = c.text(1, "endpoint")
	p.declare(d, handler)
}

// addResource is add_resource(Class, "/x", "/y").
func (p *python) addResource(r *pyRouter, c *pyCall) {
	if len(c.args) == 0 {
		return
	}
	for _, v := range c.args[1:] {
		path, known := p.textOf(v)
		p.declare(&pyDeclaration{router: r, path: path, unknown: !known, call: c}, c.args[0])
	}
}

// verbs are the methods that a class answers by the names of its functions.
var classVerbs = []string{"get", "post", "put", "delete", "patch"}

// answers are the methods that a handler of Flask answers, with the function of each.
func (p *python) answers(d *pyDeclared) []pyAnswer {
	v, decorators := p.unwrap(d.handler, d.decorators)
	if c, ok := v.(*pyClass); ok {
		return p.answersOfClass(c, d, decorators)
	}
	fn, _ := v.(*pyFunction)
	methods := d.methods
	if len(methods) == 0 {
		methods = []string{"GET"}
	}
	var out []pyAnswer
	for _, m := range methods {
		if m != "HEAD" && m != "OPTIONS" {
			out = append(out, pyAnswer{m, fn, decorators})
		}
	}
	return out
}

// answer is one method of a route, and the function that answers it; nil is not known.
type pyAnswer struct {
	method     string
	function   *pyFunction
	decorators []pyValue
}

func (p *python) answersOfClass(c *pyClass, d *pyDeclared, decorators []pyValue) []pyAnswer {
	for _, name := range []string{"decorators", "method_decorators"} {
		if v, _ := c.own(name); v != nil {
			decorators = append(slices.Clone(decorators), itemsOf(v)...)
		}
	}
	decorators = append(slices.Clone(decorators), c.decorators...)
	var out []pyAnswer
	for _, verb := range classVerbs {
		v, _ := c.own(verb)
		fn, ok := v.(*pyFunction)
		if method := strings.ToUpper(verb); ok && (len(d.methods) == 0 || slices.Contains(d.methods, method)) {
			out = append(out, pyAnswer{method, fn, append(slices.Clone(decorators), fn.decorators...)})
		}
	}
	if v, _ := c.own("dispatch_request"); v != nil && len(out) == 0 {
		fn, _ := v.(*pyFunction)
		methods := d.methods
		if given, _ := c.own("methods"); len(methods) == 0 && given != nil {
			methods = methodsOf(&pyCall{named: map[string]pyValue{"methods": given}})
		}
		if len(methods) == 0 {
			methods = []string{"GET"}
		}
		for _, m := range methods {
			out = append(out, pyAnswer{m, fn, decorators})
		}
	}
	return out
}

// unwrap finds the function or class behind calls that take one and give one.
func (p *python) unwrap(v pyValue, decorators []pyValue) (pyValue, []pyValue) {
	decorators = slices.Clone(decorators)
	given := v
	for range maxBases {
		switch x := v.(type) {
		case *pyFunction:
			if x.wraps == nil && pyValue(x) == given {
				return x, decorators // those below the declaration are noted with it
			}
			if x.wraps == nil {
				return x, append(decorators, x.decorators...)
			}
			v = x.wraps
		case *pyBound:
			return x.function, append(decorators, x.function.decorators...)
		case *pyCall:
			if m, ok := x.of.(*pyMember); ok && m.name == "as_view" {
				v = m.of
				continue
			}
			if len(x.args) == 0 {
				return nil, decorators
			}
			decorators = append(decorators, x.of)
			v = x.args[0]
		default:
			return v, decorators
		}
	}
	return nil, decorators
}
