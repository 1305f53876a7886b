package routes

import (
	"slices"
	"strings"
)

// FastAPI reads FastAPI.
var FastAPI = Reader{Framework: "fastapi", Language: "python", read: func(s *source) ([]Route, []string) {
	return readPython(s, fastapiApp, "fastapi")
}}

// onFastAPI is what a method of an application or a router does.
func (p *python) onFastAPI(r *pyRouter, name string, c *pyCall) (pyValue, bool) {
	switch name {
	case "get", "post", "put", "delete", "patch", "head", "options", "trace":
		return p.fastDeclaration(r, []string{strings.ToUpper(name)}, c), true
	case "api_route", "route":
		return p.fastDeclaration(r, methodsOf(c, "GET"), c), true
	case "add_api_route", "add_route":
		if handler, ok := c.arg(1, "endpoint", "route"); ok {
			p.declare(p.fastDeclaration(r, methodsOf(c, "GET"), c), handler)
		}
		return pyNone{}, true
	case "include_router":
		p.includeRouter(r, c)
		return pyNone{}, true
	case "mount":
		p.mountApp(r, c)
		return pyNone{}, true
	}
	return nil, false
}

// fastDeclaration joins the prefix of a router at once, as FastAPI does.
func (p *python) fastDeclaration(r *pyRouter, methods []string, c *pyCall) *pyDeclaration {
	d := p.declaration(r, methods, c)
	if r.kind == fastRouter && r.has {
		d.path, d.unknown = r.prefix+d.path, d.unknown || r.unknown
	}
	return d
}

func (p *python) includeRouter(parent *pyRouter, c *pyCall) {
	v, _ := c.arg(0, "router")
	child := p.routerLike(v)
	m := pyMounted{child: child, at: c.at()}
	m.prefix, _, m.unknown = p.prefixOf(c, 1, "prefix")
	if parent.kind == fastRouter && parent.has {
		m.prefix, m.unknown = parent.prefix+m.prefix, m.unknown || parent.unknown
	}
	if deps, ok := c.named["dependencies"]; ok {
		m.guards = itemsOf(deps)
	}
	if child == nil {
		p.hole(parent, m, "the router that is included is not known")
		return
	}
	p.mount(parent, m)
}

// routerLike is a router, also one that a package makes.
func (p *python) routerLike(v pyValue) *pyRouter {
	switch x := v.(type) {
	case *pyRouter:
		return x
	case *pyModule: // include_router(items) with a module that has one
		r, _ := x.scope.vars["router"].(*pyRouter)
		return r
	case *pyCall:
		return p.usersRouter(x)
	}
	return nil
}

// mountApp is app.mount("/x", other).
func (p *python) mountApp(parent *pyRouter, c *pyCall) {
	v, _ := c.arg(1, "app")
	child, ok := v.(*pyRouter)
	if !ok || child == parent {
		return
	}
	m := pyMounted{child: child, at: c.at()}
	m.prefix, _, m.unknown = p.prefixOf(c, 0, "path")
	m.prefix = strings.TrimRight(m.prefix, "/")
	p.mount(parent, m)
}

// routesOf are those of a list: [APIRoute("/x", f)].
func (p *python) routesOf(r *pyRouter, v pyValue) {
	for _, i := range itemsOf(v) {
		c, ok := i.(*pyCall)
		if !ok || !slices.Contains([]string{"APIRoute", "Route"}, lastName(nameOf(c.of))) {
			continue
		}
		if handler, ok := c.arg(1, "endpoint"); ok {
			p.declare(p.declaration(r, methodsOf(c, "GET"), c), handler)
		}
	}
}

// usersRoutes are those of the routers of fastapi-users.
var usersRoutes = map[string][][2]string{
	"get_auth_router":           {{"POST", "/login"}, {"POST", "/logout"}},
	"get_register_router":       {{"POST", "/register"}},
	"get_reset_password_router": {{"POST", "/forgot-password"}, {"POST", "/reset-password"}},
	"get_verify_router":         {{"POST", "/request-verify-token"}, {"POST", "/verify"}},
	"get_users_router":          {{"GET", "/me"}, {"PATCH", "/me"}, {"GET", "/{id}"}, {"PATCH", "/{id}"}, {"DELETE", "/{id}"}},
}

// usersRouter is a router that fastapi-users makes.
func (p *python) usersRouter(c *pyCall) *pyRouter {
	rows, ok := usersRoutes[lastName(nameOf(c.of))]
	if !ok {
		return nil
	}
	r := &pyRouter{kind: madeRouter, at: c.at(), made: c, attrs: map[string]pyValue{}}
	p.routers = append(p.routers, r)
	for _, row := range rows {
		r.routes = append(r.routes, &pyDeclared{methods: []string{row[0]}, path: row[1], options: c, at: c.at()})
	}
	return r
}
