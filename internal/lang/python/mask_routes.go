package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// verbs are methods of routers named after what they answer (FastAPI, Flask 2, aiohttp, Sanic). The arguments may name
// others.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD", "options": "OPTIONS",
	"route": "GET", "api_route": "GET", "websocket": "GET",
}

// routeDecorators notes @app.route("/x", methods=["GET"]) and its kind.
func (r *reader) routeDecorators(whole syntax.Node, function int) {
	for d := range whole.Children() {
		call := d.First("call")
		of := call.Child("function")
		if d.Kind() != "decorator" || of.Kind() != "attribute" {
			continue
		}
		verb, ok := verbs[of.Child("attribute").Text()]
		p, text := routePath(call)
		if ok && text && (p == "" || p[0] == '/') {
			handler := mask.Ref{Path: strings.Split(r.file.Functions[function].Name, "."), Use: mask.Named, Class: -1}
			r.route(call, verb, mask.Route{Path: r.prefix(of) + p, Handler: handler, Function: function})
		}
	}
}

// route notes one handler, once for each method.
func (r *reader) route(call syntax.Node, verb string, of mask.Route) {
	var methods []string
	for c := range keyword(call, "methods").Children() {
		if s, ok := stringOf(c); ok {
			methods = append(methods, s)
		}
	}
	if len(methods) == 0 {
		methods = []string{verb}
	}
	for _, m := range methods {
		of.Method = strings.ToUpper(m)
		r.file.Routes = append(r.file.Routes, of)
	}
}

// prefix is that of the blueprint or router, made by this file, of which something is called.
func (r *reader) prefix(of syntax.Node) string {
	router := of.Child("object")
	for s := range r.tree.Root().Children() {
		a := s.First("assignment")
		call := a.Child("right")
		if router.Kind() == "identifier" && a.Child("left").Text() == router.Text() {
			if p, ok := keywordString(call, "prefix", "url_prefix"); ok {
				return p
			}
		}
	}
	return ""
}

// routeCall notes app.add_url_rule("/x", view_func=f) and its kind.
func (r *reader) routeCall(call syntax.Node, class int) {
	of := call.Child("function")
	if !slices.Contains([]string{"add_url_rule", "add_api_route", "add_route", "add_get", "add_post"}, of.Child("attribute").Text()) {
		return
	}
	p, ok := routePath(call)
	handler := keyword(call, "view_func")
	if all := positional(call); !handler.Is() && len(all) > 1 {
		handler = all[len(all)-1]
	}
	if ok {
		r.routeTo(call, handler, mask.Route{Path: r.prefix(of) + p}, class)
	}
}

// routeTable notes urlpatterns = [path("x/", view), …] and Route("/x", f).
func (r *reader) routeTable(left, right syntax.Node, class int) {
	if !slices.Contains([]string{"urlpatterns", "routes"}, left.Text()) {
		return
	}
	for call := range right.Within() {
		if call.Kind() != "call" || !slices.Contains([]string{"path", "re_path", "url", "Route"}, call.Child("function").Text()) {
			continue
		}
		p, ok := routePath(call)
		if all := positional(call); ok && len(all) > 1 {
			r.routeTo(call, all[1], mask.Route{Path: p}, class)
		}
	}
}

// routeTo notes a handler by its name: that of the class for View.as_view().
func (r *reader) routeTo(call, handler syntax.Node, to mask.Route, class int) {
	path := pathOf(handler)
	if handler.Kind() == "call" {
		path = pathOf(handler.Child("function"))
		if len(path) == 0 || path[len(path)-1] != "as_view" {
			return
		}
		path = path[:len(path)-1]
	}
	if len(path) > 0 && path[0] != "?" {
		to.Function, to.Handler = -1, mask.Ref{Path: path, Use: mask.Named, Class: class}
		r.route(call, "", to)
	}
}

// routePath is the first argument, or the one of a name.
func routePath(call syntax.Node) (string, bool) {
	if all := positional(call); len(all) > 0 {
		return stringOf(all[0])
	}
	return keywordString(call, "path", "rule", "route")
}

func keywordString(call syntax.Node, names ...string) (string, bool) {
	for _, name := range names {
		if p, ok := stringOf(keyword(call, name)); ok {
			return p, true
		}
	}
	return "", false
}

func positional(call syntax.Node) []syntax.Node {
	return slices.DeleteFunc(statements(call.Child("arguments")), func(c syntax.Node) bool { return c.Kind() == "keyword_argument" })
}

// keyword is the value of one argument.
func keyword(call syntax.Node, name string) syntax.Node {
	for c := range call.Child("arguments").Children() {
		if c.Kind() == "keyword_argument" && c.Child("name").Text() == name {
			return c.Child("value")
		}
	}
	return syntax.Node{}
}

// stringOf is the text of a plain literal.
func stringOf(n syntax.Node) (string, bool) {
	if n.Kind() != "string" || !constantString(n) || n.Has("interpolation") {
		return "", false
	}
	return n.First("string_content").Text(), true
}
