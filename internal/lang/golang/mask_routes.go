package golang

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// verbs are the methods of routers that declare a handler, with the method of HTTP
// that they stand for: net/http's mux, gin, echo, chi, fiber, httprouter, gorilla.
var verbs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"Get": "GET", "Head": "HEAD", "Post": "POST", "Put": "PUT", "Patch": "PATCH", "Delete": "DELETE", "Options": "OPTIONS",
		"GET": "GET", "HEAD": "HEAD", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE", "OPTIONS": "OPTIONS",
		"Any": "", "Handle": "", "HandleFunc": "", "Handler": "", "HandlerFunc": "", "Method": "", "MethodFunc": "", "Add": "",
	}
})

// route notes a handler that a call declares: mux.HandleFunc("GET /x", h),
// r.GET("/x", middleware, h), r.Method("GET", "/x", h). It also looks ahead: what a
// group's function is given, and the method of r.HandleFunc("/x", h).Methods("GET").
// It says whether the call declares one: what is handed to it then is called when a
// request comes, and not at once.
func (r *maskReader) route(n, of syntax.Node, s *scope) bool {
	if !of.Is("selector_expression") {
		return false
	}
	name := of.Child("field").Text()
	var arguments []syntax.Node
	for a := range n.Child("arguments").Children() {
		if a.Named() && !a.Is("comment") {
			arguments = append(arguments, a)
		}
	}
	base := r.prefixOf(of.Child("operand"), s)
	switch name {
	case "Methods":
		if len(arguments) > 0 {
			r.verb, _ = literal(arguments[0])
		}
		return false
	case "Route", "Group":
		if len(arguments) > 0 && arguments[len(arguments)-1].Is("func_literal") {
			prefix, _ := literal(arguments[0])
			r.group = &local{prefix: base + prefix}
		}
		return false
	}
	method, ok := verbs()[name]
	if !ok || len(arguments) < 2 {
		return false
	}
	first, ok := literal(arguments[0])
	if !ok {
		return false
	}
	arguments = arguments[1:]
	if second, ok := literal(arguments[0]); ok && len(arguments) > 1 && verbs()[first] == first {
		method, first, arguments = first, second, arguments[1:]
	}
	if verb, rest, ok := strings.Cut(first, " "); ok && verbs()[verb] == verb {
		method, first = verb, strings.TrimSpace(rest)
	}
	if method == "" {
		method = r.verb
	}
	if first != "" && first[0] != '/' || first == "" && base == "" {
		return false // what is asked for, and no route that is declared
	}
	if h := r.handler(arguments, s); h.Path != nil {
		h.Line = n.Line()
		r.file.Routes = append(r.file.Routes, mask.Route{Method: method, Path: base + first, Handler: h, Function: -1})
	}
	return true
}

// handler is the last argument that is a function by its looks (echo has middleware
// after it), wrappers taken off: http.HandlerFunc(h), auth(h).
func (r *maskReader) handler(arguments []syntax.Node, s *scope) mask.Ref {
	if len(arguments) > 1 && slices.ContainsFunc(r.specs, func(i spec) bool { return strings.Contains(i.path, "/echo") }) {
		arguments = arguments[:1]
	}
	a := arguments[len(arguments)-1]
	ref := mask.Ref{Use: mask.Named, Class: r.class}
	switch a.Kind() {
	case "identifier":
		if !s.has(a.Text()) && !slices.Contains(predeclared, a.Text()) {
			ref.Path = []string{a.Text()}
		}
	case "selector_expression":
		ref.Path = r.pathOf(a, s)
	case "call_expression":
		var inner []syntax.Node
		for c := range a.Child("arguments").Children() {
			if c.Is("identifier", "selector_expression", "call_expression") {
				inner = append(inner, c)
			}
		}
		if len(inner) > 0 && r.depth < deepest {
			r.depth++
			ref = r.handler(inner, s)
			r.depth--
		}
		if f := a.Child("function"); ref.Path == nil && f.Is("identifier", "selector_expression") {
			ref.Path, ref.Use = r.pathOf(f, s), mask.Called
		}
	}
	if len(ref.Path) == 1 && ref.Path[0] == "?" {
		ref.Path = nil
	}
	return ref
}

// prefixOf is the prefix of a group of routes: r.Group("/api"),
// r.PathPrefix("/api").Subrouter(), or a name that holds one.
func (r *maskReader) prefixOf(n syntax.Node, s *scope) string {
	if r.chain++; r.chain > longest {
		r.chain--
		return ""
	}
	defer func() { r.chain-- }()
	switch n.Kind() {
	case "identifier":
		l, _ := s.find(n.Text())
		return l.prefix
	case "call_expression":
		of := n.Child("function")
		if !of.Is("selector_expression") {
			return ""
		}
		base := r.prefixOf(of.Child("operand"), s)
		switch of.Child("field").Text() {
		case "Group", "PathPrefix", "Route":
			prefix, _ := literal(n.Child("arguments").First())
			return base + prefix
		case "Subrouter":
			return base
		}
	}
	return ""
}

// literal is the text of a string literal.
func literal(n syntax.Node) (string, bool) {
	if !n.Is("interpreted_string_literal", "raw_string_literal") {
		return "", false
	}
	s, err := strconv.Unquote(n.Text())
	return s, err == nil
}
