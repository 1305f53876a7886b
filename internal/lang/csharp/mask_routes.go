package csharp

import (
	"iter"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// routes are read from attributes of controllers, and from calls of minimal APIs. A
// handler that is a lambda is code of what is around it, and no route of ours.
type routes struct {
	classes  map[int]string    // what stands before the routes of a class's methods
	prefixes map[string]string // of variables that hold a group
}

// verbs are the attributes of controllers and the methods of minimal APIs.
var verbs = map[string]string{
	"HttpGet": "GET", "HttpPost": "POST", "HttpPut": "PUT", "HttpPatch": "PATCH", "HttpDelete": "DELETE",
	"HttpHead": "HEAD", "HttpOptions": "OPTIONS", "Route": "",
	"MapGet": "GET", "MapPost": "POST", "MapPut": "PUT", "MapPatch": "PATCH", "MapDelete": "DELETE", "Map": "",
}

// attribute is one with its first plain text.
type attribute struct{ name, text string }

func attributes(n syntax.Node) iter.Seq[attribute] {
	return func(yield func(attribute) bool) {
		for list := range n.Children() {
			if !list.Is("attribute_list") {
				continue
			}
			for a := range list.Children() {
				if !a.Is("attribute") {
					continue
				}
				name := compact(a.Child("name"))
				name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "Attribute")
				if !yield(attribute{name, literal(a.First("attribute_argument_list").First("attribute_argument").First())}) {
					return
				}
			}
		}
	}
}

// literal is the text of a string without anything to fill in.
func literal(n syntax.Node) string {
	switch {
	case n.Is("string_literal") && !n.Has("escape_sequence"):
		return n.First("string_literal_content", "string_content").Text()
	case n.Is("verbatim_string_literal") && len(n.Text()) > 3:
		return n.Text()[2 : len(n.Text())-1]
	}
	return ""
}

func (o *routes) class(n syntax.Node, class int) {
	for a := range attributes(n) {
		if a.name == "Route" || a.name == "RoutePrefix" {
			if o.classes == nil {
				o.classes = map[int]string{}
			}
			o.classes[class] = a.text
		}
	}
}

// The names that templates are filled in with:
// https://learn.microsoft.com/aspnet/core/mvc/controllers/routing, token replacement.
var (
	controllerToken = lazyregexp.New(`(?i)\[controller\]`)
	actionToken     = lazyregexp.New(`(?i)\[action\]`)
)

func (o *routes) function(r *reader, n syntax.Node, index int) {
	f := r.File.Functions[index]
	if !n.Is("method_declaration") || f.Class < 0 {
		return
	}
	var own []mask.Route
	template := ""
	for a := range attributes(n) {
		method, ok := verbs[a.name]
		switch {
		case !ok:
		case a.name == "Route":
			template = a.text
		default:
			own = append(own, mask.Route{Method: method, Path: a.text})
		}
	}
	if len(own) == 0 && template != "" {
		own = append(own, mask.Route{})
	}
	class := r.File.Classes[f.Class].Name
	controller := strings.TrimSuffix(class[strings.LastIndexByte(class, '.')+1:], "Controller")
	for _, route := range own {
		if route.Path == "" {
			route.Path = template
		}
		route.Path = under(o.classes[f.Class], route.Path)
		route.Path = controllerToken.ReplaceAllString(route.Path, controller)
		route.Path = actionToken.ReplaceAllString(route.Path, f.Name[strings.LastIndexByte(f.Name, '.')+1:])
		route.Function = index
		route.Handler = mask.Ref{Path: strings.Split(f.Name, "."), Use: mask.Named, Class: f.Class, Line: f.Line}
		r.File.Routes = append(r.File.Routes, route)
	}
}

// under joins a prefix and a template; one that begins with a slash is whole.
func under(prefix, path string) string {
	if whole := strings.TrimPrefix(path, "~"); strings.HasPrefix(whole, "/") && !strings.HasPrefix(prefix, "/") {
		return whole
	}
	switch {
	case prefix == "":
		return path
	case strings.Trim(path, "/") == "":
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(path, "/")
}

// call reads app.MapGet("/x", Handler) and its group.
func (o *routes) call(r *reader, n syntax.Node, name string) {
	var args []syntax.Node
	for a := range n.Child("arguments").Children() {
		if a.Is("argument") {
			args = append(args, a.First())
		}
	}
	if name == "MapGroup" && len(args) > 0 && n.Parent().Is("variable_declarator") {
		if o.prefixes == nil {
			o.prefixes = map[string]string{}
		}
		o.prefixes[n.Parent().Child("name").Text()] = group(o.prefix(n), literal(args[0]))
	}
	method, ok := verbs[name]
	if !ok || !strings.HasPrefix(name, "Map") || len(args) < 2 || !args[1].Is("identifier", "member_access_expression") {
		return
	}
	if !args[0].Is("string_literal", "verbatim_string_literal") {
		return
	}
	r.File.Routes = append(r.File.Routes, mask.Route{
		Method: method, Path: group(o.prefix(n), literal(args[0])), Function: -1,
		Handler: mask.Ref{Path: r.path(args[1]), Use: mask.Named, Class: r.Class(), Line: n.Line()},
	})
}

// prefix is what groups put before the routes of a call's receiver.
func (o *routes) prefix(n syntax.Node) string {
	prefix := ""
	of := n.Child("function").Child("expression")
	for range longest {
		if !of.Is("invocation_expression") {
			break
		}
		if bare(of.Child("function").Child("name")) == "MapGroup" {
			prefix = group(literal(of.Child("arguments").First("argument").First()), prefix)
		}
		of = of.Child("function").Child("expression")
	}
	return group(o.prefixes[of.Text()], prefix)
}

// group joins what minimal APIs join: all of it, with one slash between.
func group(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(path, "/")
}
