package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// verbs are methods of routers named after what they answer (FastAPI, Flask 2, aiohttp,
// Sanic). The arguments may name others.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD", "options": "OPTIONS",
	"route": "GET", "api_route": "GET", "websocket": "GET",
}

// routeDecorators notes @app.route("/x", methods=["GET"]) and its kind.
func (r *reader) routeDecorators(whole syntax.Node, function int) {
	if whole.Kind() != "decorated_definition" {
		return
	}
	for d := range whole.Children() {
		call := d.First("call")
		of := call.Child("function")
		if d.Kind() != "decorator" || of.Kind() != "attribute" {
			continue
		}
		verb, ok := verbs[r.word(of.Child("attribute"))]
		p, text := r.routePath(call, "path", "rule")
		if !ok || !text || p != "" && p[0] != '/' {
			continue
		}
		f := r.file.Functions[function]
		r.route(call, verb, r.prefix(of.Child("object"))+p, mask.Ref{Path: strings.Split(f.Name, "."), Use: mask.Named, Class: -1}, function)
	}
}

// route notes one handler, once for each method.
func (r *reader) route(call syntax.Node, verb, p string, handler mask.Ref, function int) {
	methods := r.keywordStrings(call, "methods")
	if len(methods) == 0 {
		methods = []string{verb}
	}
	for _, m := range methods {
		r.file.Routes = append(r.file.Routes, mask.Route{Method: strings.ToUpper(m), Path: p, Handler: handler, Function: function})
	}
}

// prefix is that of a blueprint or router that this file makes.
func (r *reader) prefix(router syntax.Node) string {
	if router.Kind() != "identifier" {
		return ""
	}
	for s := range r.tree.Root().Children() {
		a := s.First("assignment")
		if call := a.Child("right"); call.Kind() == "call" && a.Child("left").Text() == router.Text() {
			for _, key := range []string{"prefix", "url_prefix"} {
				if p, ok := stringOf(keyword(call, key)); ok {
					return p
				}
			}
		}
	}
	return ""
}

// routeCall notes app.add_url_rule("/x", view_func=f) and its kind.
func (r *reader) routeCall(n syntax.Node) {
	call := n.First("call")
	of := call.Child("function")
	if of.Kind() != "attribute" || !slices.Contains([]string{"add_url_rule", "add_api_route", "add_route", "add_get", "add_post"}, r.word(of.Child("attribute"))) {
		return
	}
	p, ok := r.routePath(call, "rule", "path")
	handler := keyword(call, "view_func")
	if all := positional(call); !handler.Is() && len(all) > 1 {
		handler = all[len(all)-1]
	}
	if ok && handler.Is() {
		r.routeTo(call, r.prefix(of.Child("object"))+p, handler)
	}
}

// routeTable notes urlpatterns = [path("x/", view), …] and Route("/x", f).
func (r *reader) routeTable(left, right syntax.Node) {
	if !slices.Contains([]string{"urlpatterns", "routes"}, left.Text()) {
		return
	}
	for call := range right.Within() {
		if call.Kind() != "call" || !slices.Contains([]string{"path", "re_path", "url", "Route"}, call.Child("function").Text()) {
			continue
		}
		p, ok := r.routePath(call, "route", "path")
		if all := positional(call); ok && len(all) > 1 {
			r.routeTo(call, p, all[1])
		}
	}
}

// routeTo notes a handler by its name: that of the class for View.as_view().
func (r *reader) routeTo(call syntax.Node, p string, handler syntax.Node) {
	if handler.Kind() == "call" {
		handler = handler.Child("function")
		if handler.Kind() != "attribute" || handler.Child("attribute").Text() != "as_view" {
			return
		}
		handler = handler.Child("object")
	}
	path := r.path(handler)
	if len(path) == 0 || path[0] == "?" {
		return
	}
	if path = r.resolve(path); len(path) > 0 {
		r.route(call, "", p, mask.Ref{Path: path, Use: mask.Named, Class: r.class}, -1)
	}
}

// routePath is the first argument, or the one of a name.
func (r *reader) routePath(call syntax.Node, names ...string) (string, bool) {
	if all := positional(call); len(all) > 0 {
		return stringOf(all[0])
	}
	for _, name := range names {
		if p, ok := stringOf(keyword(call, name)); ok {
			return p, true
		}
	}
	return "", false
}

func positional(call syntax.Node) []syntax.Node {
	var out []syntax.Node
	for c := range call.Child("arguments").Children() {
		if c.Named() && !c.Is("keyword_argument", "comment") {
			out = append(out, c)
		}
	}
	return out
}

func keyword(call syntax.Node, name string) syntax.Node {
	return keywordOf(call.Child("arguments"), name)
}

// keywordOf is the value of one argument.
func keywordOf(arguments syntax.Node, name string) syntax.Node {
	for c := range arguments.Children() {
		if c.Kind() == "keyword_argument" && c.Child("name").Text() == name {
			return c.Child("value")
		}
	}
	return syntax.Node{}
}

func (r *reader) keywordStrings(call syntax.Node, name string) []string {
	var out []string
	for c := range keyword(call, name).Children() {
		if s, ok := stringOf(c); ok {
			out = append(out, s)
		}
	}
	return out
}

// stringOf is the text of a plain literal.
func stringOf(n syntax.Node) (string, bool) {
	if n.Kind() != "string" || !constantString(n) || n.Has("interpolation") {
		return "", false
	}
	content := n.First("string_content")
	return content.Text(), true
}
