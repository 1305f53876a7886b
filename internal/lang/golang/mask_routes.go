package golang

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/mask"
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

// longest bounds the chains of calls that are followed; no person writes such code.
const longest = 50

// routeReader looks for the handlers that calls declare.
type routeReader struct {
	*maskReader
	prefixes map[any]string           // of groups of routes, by the objects of their names
	methods  map[*ast.CallExpr]string // what r.HandleFunc("/x", h).Methods("GET") says of the call before it
	echo     bool
}

// routes notes the handlers that the file declares.
func (r *maskReader) routes() {
	w := routeReader{
		maskReader: r, prefixes: map[any]string{}, methods: map[*ast.CallExpr]string{},
		echo: slices.ContainsFunc(r.specs, func(i spec) bool { return strings.Contains(i.path, "/echo") }),
	}
	ast.Inspect(r.code.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if name, ok := x.(*ast.Ident); ok && name.Obj != nil && len(n.Lhs) == len(n.Rhs) {
					w.prefixes[name.Obj] = w.prefix(n.Rhs[i], longest)
				}
			}
		case *ast.CallExpr:
			if of, ok := n.Fun.(*ast.SelectorExpr); ok {
				w.around(n, of)
				w.declares(n, of)
			}
		}
		return true
	})
}

// around notes what a call says of a group of routes: r.Route("/x", func(r chi.Router) {…}), r.HandleFunc("/x", h).Methods("GET").
func (w *routeReader) around(n *ast.CallExpr, of *ast.SelectorExpr) {
	if len(n.Args) == 0 {
		return
	}
	first, _ := stringOf(n.Args[0])
	switch f, made := n.Args[len(n.Args)-1].(*ast.FuncLit); {
	case of.Sel.Name == "Methods":
		for inner, ok := of.X.(*ast.CallExpr); ok; inner, ok = receiver(inner).(*ast.CallExpr) {
			w.methods[inner] = first
		}
	case made && (of.Sel.Name == "Route" || of.Sel.Name == "Group") && f.Type.Params.NumFields() > 0:
		for _, name := range f.Type.Params.List[0].Names {
			w.prefixes[name.Obj] = w.prefix(of.X, longest) + first
		}
	}
}

// declares reads mux.HandleFunc("GET /x", h), r.GET("/x", middleware, h), r.Method("GET", "/x", h).
func (w *routeReader) declares(n *ast.CallExpr, of *ast.SelectorExpr) {
	method, ok := verbs()[of.Sel.Name]
	if !ok || len(n.Args) < 2 {
		return
	}
	first, ok := stringOf(n.Args[0])
	if !ok {
		return
	}
	arguments := n.Args[1:]
	if second, ok := stringOf(arguments[0]); ok && len(arguments) > 1 && verbs()[first] == first {
		method, first, arguments = first, second, arguments[1:]
	}
	if verb, rest, ok := strings.Cut(first, " "); ok && verbs()[verb] == verb {
		method, first = verb, strings.TrimSpace(rest)
	}
	base := w.prefix(of.X, longest)
	if first+base == "" || first != "" && first[0] != '/' {
		return // what is asked for, and no route that is declared
	}
	if h := w.handler(arguments, longest); h.Path != nil {
		h.Line = w.code.line(n)
		w.file.Routes = append(w.file.Routes, mask.Route{Method: cmp.Or(method, w.methods[n]), Path: base + first, Handler: h, Function: -1})
	}
}

// handler is the last argument that is a function by its looks (echo has middleware
// after it), wrappers taken off: http.HandlerFunc(h), auth(h).
func (w *routeReader) handler(arguments []ast.Expr, deep int) mask.Ref {
	at := len(arguments) - 1
	if w.echo {
		at = 0
	}
	ref := mask.Ref{Use: mask.Named, Class: -1}
	switch a := arguments[at].(type) {
	case *ast.Ident:
		if types.Universe.Lookup(a.Name) == nil {
			ref.Path = w.called(a)
		}
	case *ast.SelectorExpr:
		ref.Path = w.words(a)
	case *ast.CallExpr:
		var inner []ast.Expr
		for _, c := range a.Args {
			switch c.(type) {
			case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr:
				inner = append(inner, c)
			}
		}
		if len(inner) > 0 && deep > 0 {
			ref = w.handler(inner, deep-1)
		}
		if ref.Path == nil {
			ref.Path, ref.Use = w.called(a.Fun), mask.Called
		}
	}
	return ref
}

// prefix is that of a group of routes: r.Group("/api"),
// r.PathPrefix("/api").Subrouter(), or a name that holds one.
func (w *routeReader) prefix(of ast.Expr, deep int) string {
	if x, ok := of.(*ast.Ident); ok && x.Obj != nil {
		return w.prefixes[x.Obj]
	}
	c, ok := of.(*ast.CallExpr)
	if !ok || receiver(c) == nil || deep == 0 {
		return ""
	}
	base, name := w.prefix(receiver(c), deep-1), c.Fun.(*ast.SelectorExpr).Sel.Name
	switch {
	case name == "Subrouter":
		return base
	case (name == "Group" || name == "PathPrefix" || name == "Route") && len(c.Args) > 0:
		prefix, _ := stringOf(c.Args[0])
		return base + prefix
	}
	return ""
}

// receiver is what stands before the dot of a call, nil for none.
func receiver(c *ast.CallExpr) ast.Expr {
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		return s.X
	}
	return nil
}
