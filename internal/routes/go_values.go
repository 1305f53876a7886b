package routes

import (
	"go/ast"
	"go/token"
	"slices"
)

// Values of the interpreter are nil (not known), string, int64, bool, and these.
type (
	// router is a place of a router: what is declared there gets its prefix and middlewares.
	router struct {
		kind    goRouting
		bucket  *bucket
		prefix  string
		unknown bool // the prefix is not a constant
		mws     []any
		strip   *string // what http.StripPrefix takes off before it
	}
	// object is a value of a struct type of the tree.
	object struct {
		typ    typeRef
		fields map[string]any
		plain  bool // a literal, whose fields are zero where it names none
	}
	// function is a function of the tree, perhaps of a receiver, or a literal.
	function struct {
		fn    *goFunc
		recv  any
		lit   *ast.FuncLit
		scope *scope // of a literal
		file  *goFile
		args  map[string]typeRef // of an instantiation
	}
	// made is what a function of the tree returns, where that is a function: a handler, a
	// middleware.
	made struct {
		by   *function
		args []any
		lit  *function // what it returns, where that is a literal
	}
	// wrapped is a handler or router behind middlewares.
	wrapped struct {
		inner any
		mws   []any
	}
	// list is a slice, array or map whose members are known.
	list struct {
		typ         typeRef
		keys, items []any
	}
	// external is a name of another package, or what its call gives.
	external struct {
		path, name string
		args       []any
		called     bool
	}
	// typed is a value of which only the type is known.
	typed struct{ typ typeRef }
	// several are the results of a call.
	several []any
)

// bucket holds what is declared on one router.
type bucket struct {
	kind    goRouting
	routes  []declared
	mounts  []mount
	phase   int   // of the run that made it
	outside []any // middlewares around the whole router
}

type declared struct {
	method, path string // method "" is any
	handler      any
	mws          []any
	at           string
	subtree      bool // a pattern of ServeMux that ends in a slash: all paths below it
}

type mount struct {
	prefix string
	mws    []any
	sub    *router
}

// goRouting is how one framework declares routes.
type goRouting interface {
	// framework is its name in a Table.
	framework() string
	// isRouter reports whether a type is one of its routers.
	isRouter(n named) bool
	// makes reports whether a function of a package makes a router.
	makes(path, name string) bool
	// call does what a method of a router does, and gives its result.
	call(c *routerCall) any
	// join puts the path of a declaration behind a prefix.
	join(prefix, path string) string
}

// routerCall is a call of a router's method.
type routerCall struct {
	in     *interpreter
	r      *router
	method string
	args   []any
	exprs  []ast.Expr
	pos    token.Pos
}

// arg is an argument, or nil.
func (c *routerCall) arg(i int) any {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// text is a constant argument.
func (c *routerCall) text(i int) (string, bool) {
	s, ok := c.arg(i).(string)
	return s, ok
}

// rest are the arguments from i on, slices spread.
func (c *routerCall) rest(i int) []any {
	var out []any
	for ; i < len(c.args); i++ {
		if l, ok := c.args[i].(*list); ok {
			out = append(out, l.items...)
			continue
		}
		out = append(out, c.args[i])
	}
	return out
}

// declare adds a route and reports whether it did. A path that is not known goes to what could
// not be read.
func (c *routerCall) declare(method string, path any, handler any, mws []any) bool {
	at := c.in.place(c)
	p, ok := path.(string)
	if !ok || c.r.unknown {
		c.in.unreadable(c.r.kind, at, "the path is not a constant")
		return false
	}
	c.in.count++
	if c.in.count > goRoutes {
		return false
	}
	c.r.bucket.routes = append(c.r.bucket.routes, declared{
		method: method, path: c.r.kind.join(c.r.prefix, p), handler: handler,
		mws: slices.Concat(c.r.mws, mws), at: at,
	})
	return true
}

// child is the router below a path of this one, which has its middlewares from here on.
func (c *routerCall) child(path any, mws []any) *router {
	out := &router{kind: c.r.kind, bucket: c.r.bucket, unknown: c.r.unknown, mws: slices.Concat(c.r.mws, mws)}
	p, ok := path.(string)
	if ok {
		out.prefix = c.r.kind.join(c.r.prefix, p)
	} else {
		out.prefix, out.unknown = c.r.prefix, true
	}
	return out
}

// mount puts another router below a path.
func (c *routerCall) mount(prefix string, sub *router, mws []any) {
	c.in.count++
	if c.in.count > goRoutes {
		return
	}
	c.r.bucket.mounts = append(c.r.bucket.mounts, mount{prefix: prefix, sub: sub, mws: slices.Concat(c.r.mws, mws)})
}

// handlerType says what a type is to a router: a handler, a middleware or "".
func handlerType(t typeRef) string {
	n := t.name()
	switch {
	case n.external("net/http", "Handler", "HandlerFunc"), n.external("github.com/gin-gonic/gin", "HandlerFunc"):
		return "handler"
	}
	sig, ok := t.asFunction()
	if !ok {
		f := t.final().name()
		if f.external("net/http", "Handler", "HandlerFunc") || f.external("github.com/gin-gonic/gin", "HandlerFunc") {
			return "handler"
		}
		return ""
	}
	return shape(sig)
}

// shape is what a function is to a router by its signature.
func shape(sig signature) string {
	params, _, _ := sig.parameters()
	switch {
	case len(params) == 1 && params[0].name().external("github.com/gin-gonic/gin", "Context"):
		return "handler"
	case len(params) >= 2 && params[0].name().external("net/http", "ResponseWriter") && params[1].name().external("net/http", "Request"):
		return "handler"
	case len(params) == 1 && len(sig.results()) == 1:
		if handlerType(params[0]) == "handler" && handlerType(sig.results()[0]) == "handler" {
			return "middleware"
		}
	}
	return ""
}

// wraps is the parameter of a function that is given what it returns: next of a middleware, be it
// of a type of the tree's own; -1 where there is none.
func wraps(sig signature) int {
	results := sig.results()
	if len(results) == 0 {
		return -1
	}
	params, _, _ := sig.parameters()
	of := results[0].name()
	for i, p := range params {
		if _, isFunc := p.asFunction(); !isFunc {
			continue
		}
		n := p.name()
		if n.typ != nil && n.typ == of.typ || handlerType(results[0]) == "handler" && handlerType(p) != "middleware" {
			return i
		}
	}
	return -1
}

// signature is that of a function value.
func (f *function) signature() signature {
	if f.lit != nil {
		return signature{typ: f.lit.Type, file: f.file, sc: f.scope}
	}
	s := f.fn.signature()
	s.args = f.args
	return s
}

// shapeOf is what a value is to a router.
func shapeOf(v any) string {
	switch v := v.(type) {
	case *function:
		return shape(v.signature())
	case *made:
		if r := v.by.signature().results(); len(r) > 0 {
			return handlerType(r[0])
		}
	case *wrapped:
		if _, ok := v.inner.(*router); ok {
			return "router"
		}
		return "handler"
	case *router:
		return "router"
	case *object:
		if fn, _ := v.typ.method("ServeHTTP", 0); fn != nil {
			return "handler"
		}
	case *typed:
		return handlerType(v.typ)
	}
	return ""
}

// asRouter is the router that a value is, with the middlewares in front of it.
func asRouter(v any) (*router, []any) {
	var mws []any
	for range 16 {
		switch x := v.(type) {
		case *router:
			return x, mws
		case *wrapped:
			v, mws = x.inner, append(slices.Clone(x.mws), mws...)
		default:
			return nil, nil
		}
	}
	return nil, nil
}
