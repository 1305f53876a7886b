// Package routes has the words for what a web service answers: a route is one method of one path, with the function that
// answers and what it is sent; a table is all routes of a service. A service tells its table itself (package look).
//
// What is read here without running anything (Gate) is a rough guess: which framework a tree is written with, and how many
// routes it declares in which groups. It decides whether a service is built and started, and nothing else. The package never runs
// anything.
package routes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// Table is what a service answers.
type Table struct {
	Framework string // the one with the most routes (Frameworks)
	Routes    []Route
}

// Route is one method of one path.
type Route struct {
	Method string // upper case; "" is any, before the service was asked
	// Path is whole, with every prefix, and parameters as {name}: /api/articles/{slug}. A
	// trailing slash is part of it.
	Path string
	// Handler is the function that answers: path of its file, and Class.method, function, or setup:12 for one without a name
	// that stands in line 12 of setup. Name is "" where it is not known.
	Handler Function
	At      string // "path:line" of the declaration
	// Stack are the functions that were running when it answered, the innermost first.
	Stack []Frame
	// Params are the parameters of the path, with what is known of their types.
	Params []Field
	Query  []Field
	// Body is what the handler reads of a request; nil where it reads none, or nothing is known.
	Body *Body
	// Auth says that code in front of the handler, or in it, asks who is calling: required,
	// optional or "" (not seen).
	Auth string
}

// Takes is what a route is sent, as a task keeps it.
func (r Route) Takes() *schemas.Takes {
	t := &schemas.Takes{Params: list(r.Params), Query: list(r.Query), Auth: r.Auth}
	if r.Body != nil {
		t.Body, t.Encoding = list(r.Body.Fields), r.Body.Encoding
		if t.Body == nil {
			t.Body = json.RawMessage("[]")
		}
	}
	if t.Params == nil && t.Query == nil && t.Body == nil && t.Auth == "" {
		return nil
	}
	return t
}

func list(fields []Field) json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil // an example of a service's that JSON has no form for
	}
	return raw
}

// Of is the route of an endpoint of a task.
func Of(e schemas.Endpoint) Route {
	r := Route{Method: e.Method, Path: e.Path}
	t := e.Takes
	if t == nil {
		return r
	}
	read := func(raw json.RawMessage) (out []Field) {
		if json.Unmarshal(raw, &out) != nil {
			return nil
		}
		return out
	}
	r.Params, r.Query, r.Auth = read(t.Params), read(t.Query), t.Auth
	if t.Body != nil {
		r.Body = &Body{Encoding: t.Encoding, Fields: read(t.Body)}
	}
	return r
}

// Function is a function of the tree.
type Function struct{ Path, Name string }

// Frame is a function that was running: its name as the language has it, and the absolute path and line where it begins.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Body is the form of a request's body.
type Body struct {
	Encoding string // json, form
	Fields   []Field
	// Type is the name that the code has for it (a struct, a model), "" where there is none.
	Type string
}

// Field is one member of an object, or one parameter.
type Field struct {
	Name     string   `json:"name"`             // as it is sent
	Type     string   `json:"type,omitempty"`   // string, integer, number, boolean, array, object; "" is not known
	Format   string   `json:"format,omitempty"` // email, uuid, date-time, date, uri, password; "" is none
	Required bool     `json:"required,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	// Min and Max bound a number, or the length of a string or list; nil is no bound.
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Pattern string   `json:"pattern,omitempty"`
	Example any      `json:"example,omitempty"` // a value that the code gives
	Fields  []Field  `json:"fields,omitempty"`  // of an object
	Items   *Field   `json:"items,omitempty"`   // of a list
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
