// Package routes reads from source code which endpoints a web service has, who answers them
// and what they are sent. One file a framework composes prefixes across files as the framework
// itself does; frameworks that are known and not read are named.
//
// It never runs code, and never takes a document (OpenAPI) for what the code says.
package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

// Table is what a tree declares.
type Table struct {
	Framework string // flask, fastapi, gin, chi, net/http; the one with the most routes
	Routes    []Route
	// Unread are places of declarations that could not be resolved ("path:line: why").
	Unread []string
}

// Route is one method of one path.
type Route struct {
	Method string // upper case
	// Path is whole, with every prefix, and parameters as {name}: /api/articles/{slug}. A
	// trailing slash is part of it.
	Path string
	// Handler is the function that answers: path of its file and Class.method or function. Name
	// is "" for a function without one, of which At is the place.
	Handler Function
	// Made says that Handler is called where the route is declared, and gives the function that
	// answers: without its body the service does not start.
	Made bool
	At   string // "path:line" of the declaration
	// Params are the parameters of the path, with what is known of their types.
	Params []Field
	Query  []Field
	// Body is what the handler reads of a request; nil where it reads none, or nothing is known.
	Body *Body
	// Auth says that code in front of the handler, or in it, asks who is calling: required,
	// optional or "" (not seen).
	Auth string
}

// Function is a function of the tree.
type Function struct{ Path, Name string }

// Body is the form of a request's body.
type Body struct {
	Encoding string // json, form
	Fields   []Field
	// Type is the name that the code has for it (a struct, a model), "" where there is none.
	Type string
}

// Field is one member of an object, or one parameter.
type Field struct {
	Name     string // as it is sent
	Type     string // string, integer, number, boolean, array, object; "" is not known
	Format   string // email, uuid, date-time, date, uri, password; "" is none
	Required bool
	Enum     []string
	// Min and Max bound a number, or the length of a string or list; nil is no bound.
	Min, Max *float64
	Pattern  string
	Example  any     // a value that the code or its tests give
	Fields   []Field // of an object
	Items    *Field  // of a list
}

// Group is the first segment of a path after api and vN, "" for none: what the endpoints of
// one task have in common.
func (r Route) Group() string {
	for _, s := range strings.Split(strings.Trim(r.Path, "/"), "/") {
		if s == "api" || version(s) {
			continue
		}
		if strings.HasPrefix(s, "{") {
			return ""
		}
		return s
	}
	return ""
}

func version(s string) bool {
	digits, ok := strings.CutPrefix(s, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// Reader reads one framework.
type Reader struct {
	Framework string
	Language  string // of its code: python, go
	read      func(s *source) (routes []Route, unread []string)
}

// Read gives the routes of a tree, sorted, and what it could not resolve. It never fails on
// hostile source: what cannot be parsed declares nothing.
func (r Reader) Read(t lang.Tree) (routes []Route, unread []string) { return r.read(newSource(t)) }

// Unsupported is a framework that is known and not read.
type Unsupported struct {
	Framework string
	Language  string
	// Imports are the packages that tell it, as the language imports them.
	Imports []string
}

// Sort orders routes by path, then method, each once.
func Sort(all []Route) []Route {
	slices.SortStableFunc(all, func(a, b Route) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Method, b.Method)
	})
	return slices.CompactFunc(all, func(a, b Route) bool { return a.Path == b.Path && a.Method == b.Method })
}
