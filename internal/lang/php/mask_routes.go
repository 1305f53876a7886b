package php

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// routes are read from attributes (Symfony's) and from calls (Laravel's, Slim's,
// league/route's). A handler that is a closure is code of what is around it, and no
// route of ours.
type routes struct {
	classes map[int][]mask.Route // of the attributes of a class, by class
	groups  []group
}

// group is a call with a prefix for what is declared inside of it.
type group struct {
	node   syntax.Node
	prefix string
}

// verbs are the methods of routers, and the word that stands for each in HTTP.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE",
	"options": "OPTIONS", "head": "HEAD", "any": "",
}

// resource is what Laravel makes of Route::resource:
// https://laravel.com/docs/controllers#resource-controllers.
var resource = []struct{ method, path, action string }{
	{"GET", "", "index"}, {"GET", "/create", "create"}, {"POST", "", "store"},
	{"GET", "/{id}", "show"}, {"GET", "/{id}/edit", "edit"},
	{"PUT", "/{id}", "update"}, {"DELETE", "/{id}", "destroy"},
}

// class keeps the routes that stand before a class: the prefix of its methods'.
func (o *routes) class(attributes syntax.Node, class int) {
	if o.classes == nil {
		o.classes = map[int][]mask.Route{}
	}
	o.classes[class] = append(o.classes[class], attributeRoutes(attributes)...)
}

// function gives the routes of the attributes before a method.
func (o *routes) function(r *reader, n syntax.Node, index int) {
	f := r.File.Functions[index]
	prefixes := o.classes[f.Class]
	own := attributeRoutes(n.Child("attributes"))
	if len(own) == 0 && f.Class >= 0 && strings.HasSuffix(f.Name, ".__invoke") {
		own, prefixes = prefixes, nil
	}
	prefix := ""
	if len(prefixes) > 0 {
		prefix = prefixes[0].Path
	}
	for _, route := range own {
		route.Path = under(prefix, route.Path)
		route.Function = index
		route.Handler = mask.Ref{Path: strings.Split(f.Name, "."), Use: mask.Named, Class: f.Class}
		r.File.Routes = append(r.File.Routes, route)
	}
}

// attributeRoutes are those of #[Route('/x', methods: ['GET'])] and #[Get('/x')].
func attributeRoutes(attributes syntax.Node) []mask.Route {
	var found []mask.Route
	for a := range attributes.Within() {
		if !a.Is("attribute") {
			continue
		}
		_, name := split(a.First("name", "qualified_name").Text())
		method, verb := verbs[strings.ToLower(name)]
		if name != "Route" && !verb {
			continue
		}
		var methods []string
		path, position := "", 0
		for arg := range a.Child("parameters").Children() {
			switch arg.Child("name").Text() {
			case "":
				if position == 0 {
					path = literal(arg.First("string", "encapsed_string"))
				}
				position++
			case "path":
				path = literal(arg.First("string", "encapsed_string"))
			case "methods":
				methods = literals(arg)
			}
		}
		if len(methods) == 0 {
			methods = []string{method}
		}
		for _, m := range methods {
			found = append(found, mask.Route{Method: strings.ToUpper(m), Path: path, Function: -1})
		}
	}
	return found
}

// literals are all plain texts below a node.
func literals(n syntax.Node) []string {
	var all []string
	for s := range n.Within() {
		if text := literal(s); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// call reads Route::get('/x', [C::class, 'm']) and its likes.
func (o *routes) call(r *reader, n syntax.Node) {
	name := strings.ToLower(n.Child("name").Text())
	if !router(n) {
		return
	}
	args := arguments(n)
	if name == "group" {
		o.groups = append(o.groups, group{n, groupPrefix(n, args)})
		return
	}
	if len(args) < 2 {
		return
	}
	switch method, ok := verbs[name]; {
	case ok:
		o.add(r, n, []string{method}, args[0], args[1])
	case (name == "match" || name == "map") && len(args) > 2:
		o.add(r, n, literals(args[0]), args[1], args[2])
	case name == "resource" || name == "apiresource":
		o.resource(r, n, name, args)
	}
}

// router reports whether what is called is a router, by its name: get('/x', …) is a
// method of caches and clients too.
func router(n syntax.Node) bool {
	for range longest {
		switch {
		case n.Child("scope").Is():
			_, class := split(n.Child("scope").Text())
			return class == "Route"
		case n.Child("object").Is():
			n = n.Child("object")
		default:
			switch strings.ToLower(n.Text()) {
			case "$app", "$router", "$route", "$routes", "$group", "$r":
				return true
			}
			return false
		}
	}
	return false
}

func arguments(n syntax.Node) []syntax.Node {
	var all []syntax.Node
	for a := range n.Child("arguments").Children() {
		if a.Is("argument") {
			all = append(all, a)
		}
	}
	return all
}

// groupPrefix is that of ->group('/x', …), Route::prefix('x')->group(…) and
// Route::group(['prefix' => 'x'], …).
func groupPrefix(n syntax.Node, args []syntax.Node) string {
	prefix := ""
	for range longest {
		if n = n.Child("object"); !n.Is() {
			break
		}
		if of := arguments(n); n.Child("name").Text() == "prefix" && len(of) > 0 {
			prefix = under(literal(of[0].First()), prefix)
		}
	}
	if n.Is() && len(args) > 0 {
		return under(literal(args[0].First()), prefix)
	}
	if len(args) == 0 {
		return prefix
	}
	if text := literal(args[0].First()); text != "" {
		return under(prefix, text)
	}
	for e := range args[0].First("array_creation_expression").Children() {
		key := e.First()
		if literal(key) != "prefix" {
			continue
		}
		for value := range e.Children() {
			if text := literal(value); text != "" && value != key {
				return under(prefix, text)
			}
		}
	}
	return prefix
}

func (o *routes) add(r *reader, n syntax.Node, methods []string, path, handler syntax.Node) {
	of := r.handler(handler.First())
	if of == nil || !path.First().Is("string", "encapsed_string") {
		return
	}
	for _, m := range methods {
		r.File.Routes = append(r.File.Routes, mask.Route{
			Method: strings.ToUpper(m), Path: o.whole(n, literal(path.First())), Function: -1,
			Handler: mask.Ref{Path: of, Use: mask.Named, Class: r.Class()},
		})
	}
}

func (o *routes) resource(r *reader, n syntax.Node, name string, args []syntax.Node) {
	class := r.handler(args[1].First())
	if class == nil || class[len(class)-1] != "__invoke" {
		return
	}
	for _, one := range resource {
		if name == "apiresource" && (one.action == "create" || one.action == "edit") {
			continue
		}
		of := slices.Clone(class)
		of[len(of)-1] = one.action
		r.File.Routes = append(r.File.Routes, mask.Route{
			Method: one.method, Path: o.whole(n, literal(args[0].First())+one.path), Function: -1,
			Handler: mask.Ref{Path: of, Use: mask.Named, Class: r.Class()},
		})
	}
}

// whole is a path with the prefixes of the groups around.
func (o *routes) whole(n syntax.Node, path string) string {
	for len(o.groups) > 0 && !o.groups[len(o.groups)-1].node.Holds(n) {
		o.groups = o.groups[:len(o.groups)-1]
	}
	for _, g := range slices.Backward(o.groups) {
		path = under(g.prefix, path)
	}
	// Laravel's prefix of the route itself: Route::prefix('x')->get(…).
	for of, left := n.Child("object"), longest; of.Is() && left > 0; of, left = of.Child("object"), left-1 {
		if args := arguments(of); of.Child("name").Text() == "prefix" && len(args) > 0 {
			path = under(literal(args[0].First()), path)
		}
	}
	return path
}

// under joins a prefix and a path with one slash; without a prefix the path is as it is
// written.
func under(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case strings.Trim(path, "/") == "":
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(path, "/")
}

// handler reads [C::class, 'm'], C::class, 'C@m', 'C::m' and 'C:m'.
func (r *reader) handler(n syntax.Node) []string {
	switch n.Kind() {
	case "array_creation_expression":
		return r.callable(n)
	case "class_constant_access_expression":
		scope, name := pairOf(n)
		if class := r.head(scope); class != nil && strings.EqualFold(name.Text(), "class") {
			return append(slices.Clone(class), "__invoke")
		}
	case "binary_expression": // C::class . ':m'
		class, method := r.handler(n.Child("left")), strings.TrimLeft(literal(n.Child("right")), ":@")
		if n.Child("left").Is("class_constant_access_expression") && class != nil && isName.MatchString(method) {
			class[len(class)-1] = method
			return class
		}
	case "string", "encapsed_string":
		text := literal(n)
		for _, sign := range []string{"@", "::", ":"} {
			if class, method, ok := strings.Cut(text, sign); ok && isName.MatchString(class) && isName.MatchString(method) {
				return append(slices.Clone(r.word(class)), method)
			}
		}
	}
	return nil
}
