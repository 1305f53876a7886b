package look

import (
	"net/http"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// Answering is the function of the tree that answers a route.
type Answering struct {
	Function routes.Function // Name "" of one without a name
	At       string          // as routes.Route.At
}

// netHTTP is the framework whose patterns take what is below them.
const netHTTP = "net/http"

// Table is what the routes of a report propose, sorted. answering says which function of the tree is behind a route.
// Documentation, static files and what a framework answers itself (HEAD, OPTIONS) are left out. A route of any method
// has the method "".
func (r Report) Table(answering func(Fact) Answering) routes.Table {
	var t routes.Table
	count := map[string]int{}
	for _, f := range r.Routes {
		switch f.Method = strings.ToUpper(f.Method); f.Method {
		case http.MethodHead, http.MethodOptions, http.MethodConnect, http.MethodTrace, "WS", "WEBSOCKET":
			continue
		case "ANY", "*", "ALL":
			f.Method = ""
		}
		if f.Doc || f.Path == "" || strings.Contains(f.Func, "benchmint") {
			continue
		}
		path, params := routes.Parameters(f.Path)
		if f.Framework == netHTTP && len(path) > 1 && strings.HasSuffix(path, "/") && !strings.HasSuffix(f.Path, "{$}") {
			path += "{id}" // it takes what is below it, and what that is its code says
			params = append(params, Field{Name: "id"})
		}
		a := answering(f)
		one := routes.Route{Method: f.Method, Path: path, Params: params, Handler: a.Function, At: a.At}
		for _, b := range f.Takes {
			Take(&one, b)
		}
		t.Routes = append(t.Routes, one)
		count[f.Framework]++
	}
	for name, n := range count {
		if n > count[t.Framework] || n == count[t.Framework] && name < t.Framework {
			t.Framework = name
		}
	}
	t.Routes = routes.Sort(t.Routes)
	return t
}

// Behind names the functions behind routes of which none is known yet, and behind those that share one without a name, which
// stands in front of what answers. It is the function that the fewest other paths were answered with, the outermost of these.
func Behind(t *routes.Table, answering func(Fact) Answering) {
	paths := map[routes.Function]map[string]bool{}
	took := func(f routes.Function, path string) {
		if paths[f] == nil {
			paths[f] = map[string]bool{}
		}
		paths[f][path] = true
	}
	running := make([][]routes.Function, len(t.Routes))
	for i, r := range t.Routes {
		for _, s := range slices.Backward(r.Stack) {
			if f := answering(Fact{Func: s.Func, File: s.File, Line: s.Line}).Function; f.Name != "" {
				running[i] = append(running[i], f)
				took(f, r.Path)
			}
		}
	}
	declared := map[routes.Function]map[string]bool{}
	for _, r := range t.Routes {
		if declared[r.Handler] == nil {
			declared[r.Handler] = map[string]bool{}
		}
		declared[r.Handler][r.Path] = true
	}
	for i := range t.Routes {
		r := &t.Routes[i]
		shared := strings.Contains(r.Handler.Name, schemas.LineDivider) && len(declared[r.Handler]) > 1
		if len(running[i]) == 0 || r.Handler.Name != "" && !shared {
			continue
		}
		r.Handler = slices.MinFunc(running[i], func(a, b routes.Function) int { return len(paths[a]) - len(paths[b]) })
	}
}

// Take adds to a route what it is sent, by a fact of a body or key: of a body its fields, and of a key its name. It reports
// whether that is news.
func Take(r *routes.Route, f Fact) bool {
	fields := f.Fields
	if f.Fact == "key" || len(fields) == 0 && f.Name != "" {
		fields = []Field{nested(f.Name, 0)}
	}
	switch f.In {
	case "json", "form":
		news := takeBody(r, f, fields)
		r.Query = slices.DeleteFunc(r.Query, inBody(r))
		return news
	case "query":
		return merge(&r.Query, slices.DeleteFunc(slices.Clone(fields), inBody(r)))
	case "path", "uri":
		for i, p := range r.Params {
			for _, x := range fields {
				if x.Name == p.Name {
					r.Params[i] = x
				}
			}
		}
	case "header":
		for _, x := range fields {
			if strings.EqualFold(x.Name, "Authorization") && r.Auth == "" {
				r.Auth = "optional"
				return true
			}
		}
	}
	return false
}

// inBody reports whether the body of a route has a field: what a handler looks for in both, in the query first (webargs before
// version 6), is sent in the body alone, where it may be an object.
func inBody(r *routes.Route) func(Field) bool {
	return func(f Field) bool {
		return r.Body != nil && r.Method != http.MethodDelete && slices.ContainsFunc(r.Body.Fields, func(x Field) bool { return x.Name == f.Name })
	}
}

// nested is the field that a key names: user.email is one in an object, tags[].name one of the objects of a list.
func nested(key string, depth int) Field {
	name, rest, deeper := strings.Cut(key, ".")
	list, isList := strings.CutSuffix(name, "[]")
	f := Field{Name: list}
	if !deeper || depth >= maxDepth {
		if isList {
			f.Type = "array"
		}
		return f
	}
	inner := []Field{nested(rest, depth+1)}
	if isList {
		f.Type, f.Items = "array", &Field{Type: "object", Fields: inner}
	} else {
		f.Type, f.Fields = "object", inner
	}
	return f
}

// takeBody takes a body with fields before one of keys, and the first of each.
func takeBody(r *routes.Route, f Fact, fields []Field) bool {
	if r.Method == http.MethodGet {
		return false
	}
	switch {
	case r.Body == nil:
		r.Body = &routes.Body{Encoding: f.In, Type: f.Type, Fields: slices.Clone(fields)}
		return true
	case r.Body.Encoding != f.In:
		if len(r.Body.Fields) > 0 || len(fields) == 0 {
			return false
		}
		r.Body = &routes.Body{Encoding: f.In, Type: f.Type, Fields: slices.Clone(fields)}
		return true
	case f.Fact == "key" || len(r.Body.Fields) == 0:
		if r.Body.Type == "" {
			r.Body.Type = f.Type
		}
		return merge(&r.Body.Fields, fields)
	}
	return false
}

// merge adds the fields whose names are new, and to an object those that are new in it.
func merge(to *[]Field, more []Field) bool {
	news := false
	for _, f := range more {
		i := slices.IndexFunc(*to, func(have Field) bool { return have.Name == f.Name })
		switch {
		case f.Name == "" || i < 0 && len(*to) >= maxFields:
		case i < 0:
			*to, news = append(*to, f), true
		case len(f.Fields) > 0:
			have := &(*to)[i]
			have.Fields = slices.Clone(have.Fields)
			if have.Type == "" {
				have.Type = f.Type
			}
			news = merge(&have.Fields, f.Fields) || news
		case f.Items != nil && (*to)[i].Items == nil:
			(*to)[i].Type, (*to)[i].Items, news = f.Type, f.Items, true
		}
	}
	return news
}
