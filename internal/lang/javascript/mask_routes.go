package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

var (
	verbs   = strings.Fields("get post put patch delete del head options all")
	routers = strings.Fields("app router server fastify api route routes koa hono express")
)

// route reads app.get("/x", …, handler), as express, koa's routers, fastify and hono
// have it, and app.route("/x").get(handler).
func (r *reader) route(n syntax.Node, path []string, p place) bool {
	if len(path) < 2 || p.plain || !slices.Contains(verbs, path[len(path)-1]) || n.Is("new_expression") {
		return false
	}
	fn := unwrapped(n.Child("function"))
	args := n.Child("arguments")
	place := first(args)
	chained := r.chained(fn.Child("object"))
	if chained == "" && (!isRouter(path[len(path)-2]) || !place.Is("string")) {
		return false
	}
	where := chained
	if chained == "" {
		where = r.text(place)
	} else {
		place = syntax.Node{}
	}
	handler := lastOf(args)
	if !strings.HasPrefix(where, "/") || !handler.Is() || handler == place {
		return false
	}
	if chained != "" {
		r.walk(fn.Child("object"), p.unbound()) // the verbs before this one
	} else {
		r.use(fn, mask.Called, p)
	}
	for arg := range args.Children() {
		if arg.Named() && arg != handler && arg != place {
			r.argument(arg, path, args, p.unbound())
		}
	}
	r.handled(method(path[len(path)-1]), where, handler, p)
	return true
}

// handled notes one handler, which may be wrapped in calls.
func (r *reader) handled(verb, where string, handler syntax.Node, p place) {
	before := len(r.file.Functions)
	named, ok := r.path(handler)
	at := p.named(joined(p.prefix, strings.TrimSpace(verb+" "+where)))
	if p.class >= 0 {
		at.class = -1
	}
	if ok {
		r.use(handler, mask.Named, p)
	} else {
		r.walk(handler, at)
	}
	route := mask.Route{Method: verb, Path: where, Function: -1}
	if len(r.file.Functions) > before {
		route.Function = before
		named = strings.Split(r.file.Functions[before].Name, ".")
	} else if ok {
		named = r.resolved(named, p)
	}
	if len(named) == 0 || named[0] == "?" {
		return
	}
	route.Handler = mask.Ref{Path: named, Use: mask.Named, Class: p.class}
	r.file.Routes = append(r.file.Routes, route)
}

func method(verb string) string {
	switch verb {
	case "all":
		return ""
	case "del":
		return "DELETE"
	}
	return strings.ToUpper(verb)
}

func isRouter(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(routers, name) || strings.HasSuffix(name, "router") || strings.HasSuffix(name, "app")
}

// chained is the path of app.route("/x").get(…)…, "" for any other call.
func (r *reader) chained(n syntax.Node) string {
	for n.Is("call_expression") {
		fn := n.Child("function")
		if !fn.Is("member_expression") {
			return ""
		}
		if fn.Child("property").Text() == "route" {
			return r.text(first(n.Child("arguments")))
		}
		n = fn.Child("object")
	}
	return ""
}

// text is what stands in a string.
func (r *reader) text(n syntax.Node) string {
	if !n.Is("string") {
		return ""
	}
	return strings.Trim(n.Text(), `"'`)
}

func lastOf(args syntax.Node) syntax.Node {
	last := syntax.Node{}
	for c := range args.Children() {
		if c.Named() && !c.Is("comment") {
			last = c
		}
	}
	return last
}

// decorated is what a decorator's call is given, for one of the names.
func (r *reader) decorated(n syntax.Node, names []string) (name, argument string, ok bool) {
	call := first(n)
	if !call.Is("call_expression") || !slices.Contains(names, call.Child("function").Text()) {
		return "", "", false
	}
	arg := first(call.Child("arguments"))
	if arg.Is() && !arg.Is("string") {
		return "", "", false // an object of options, a list
	}
	return call.Child("function").Text(), r.text(arg), true
}

var (
	controllers = strings.Fields("Controller RestController JsonController")
	handlers    = strings.Fields("Get Post Put Patch Delete Head Options All")
)

// controller notes the prefix of a class whose methods are handlers.
func (r *reader) controller(n syntax.Node, class int) {
	for _, around := range []syntax.Node{n, n.Parent()} {
		if around.Is("program") {
			continue
		}
		for c := range around.Children() {
			if _, prefix, ok := r.decorated(c, controllers); ok && c.Is("decorator") {
				r.prefixes[class] = prefix
			}
		}
	}
}

// handler notes the routes of a method.
func (r *reader) handler(n syntax.Node, decorators []syntax.Node, p place) {
	prefix, ok := r.prefixes[p.class]
	if !ok {
		return
	}
	for c := range n.Children() {
		if c.Is("decorator") {
			decorators = append(decorators, c)
		}
	}
	name := joined(p.prefix, r.keyName(n.Child("name")))
	for _, d := range decorators {
		verb, where, ok := r.decorated(d, handlers)
		if !ok {
			continue
		}
		for i := len(r.file.Functions) - 1; i >= 0; i-- {
			if f := r.file.Functions[i]; f.Name == name && f.Class == p.class {
				r.file.Routes = append(r.file.Routes, mask.Route{
					Method: method(strings.ToLower(verb)), Path: slashed(prefix, where), Function: i,
					Handler: mask.Ref{Path: strings.Split(name, "."), Use: mask.Named, Class: p.class},
				})
				break
			}
		}
	}
}

// slashed joins a prefix and a path, as Nest does.
func slashed(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		if part = strings.Trim(part, "/"); part != "" {
			b.WriteString("/" + part)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}
