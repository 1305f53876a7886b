package scenario

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// route is one route with what its path says.
type route struct {
	routes.Route
	group   string
	params  []string // in the order of the path
	statics []string // segments that are not parameters, without api and vN
	asked   bool     // it was asked once, and what its handler then read is known
	own     bool     // it is about who is calling: /me, /user
}

func newRoute(r routes.Route) *route {
	out := &route{Route: r, group: contract.GroupName(r.Group())}
	for s := range strings.SplitSeq(strings.Trim(r.Path, "/"), "/") {
		if name, ok := param(s); ok {
			out.params = append(out.params, name)
		} else if s != "" && s != "api" && !versionWord.MatchString(s) {
			out.statics = append(out.statics, s)
		}
	}
	if n := len(out.statics); n > 0 && len(out.params) == 0 {
		out.own = slices.ContainsFunc(out.statics, func(s string) bool { return ownWord.MatchString(s) })
	}
	return out
}

var (
	versionWord = lazyregexp.New(`^v[0-9.]+$`)
	ownWord     = lazyregexp.New(`(?i)^(me|self|user|account|profile|my|current)$`)
	// braces are parameters anywhere in a path.
	braces = lazyregexp.New(`\{([^{}]*)\}`)
)

func param(segment string) (string, bool) {
	m := braces.FindStringSubmatch(segment)
	if m == nil {
		return "", false
	}
	return m[1], true
}

func (r *route) key() string { return r.Method + " " + r.Path }

func (r *route) endpoint() schemas.Endpoint {
	e := schemas.Endpoint{Method: r.Method, Path: r.Path}
	if r.Handler.Name != "" {
		e.Handler = r.Handler.Path + "::" + r.Handler.Name
	}
	return e
}

func (r *route) last() string {
	if len(r.statics) == 0 {
		return ""
	}
	return r.statics[len(r.statics)-1]
}

func (r *route) endsInParam() bool {
	path := strings.Trim(r.Path, "/")
	_, ok := param(path[strings.LastIndex(path, "/")+1:])
	return ok
}

// nouns are what an answer of the route is about, the nearest first.
func (r *route) nouns() []string {
	n := len(r.statics)
	if n == 0 {
		return []string{""}
	}
	out := []string{noun(r.statics[n-1])}
	if n > 1 && !r.endsInParam() && !plural(r.statics[n-1]) {
		out = append(out, noun(r.statics[n-2]))
	}
	return out
}

// before is the noun of the segment in front of a parameter.
func (r *route) before(name string) string {
	last := ""
	for s := range strings.SplitSeq(strings.Trim(r.Path, "/"), "/") {
		if p, ok := param(s); ok {
			if p == name {
				return noun(last)
			}
			continue
		}
		last = s
	}
	return ""
}

// parent is the path of the collection that a path with a parameter at its end is in.
func (r *route) parent() string {
	path := strings.TrimRight(r.Path, "/")
	return path[:strings.LastIndex(path, "/")+1]
}

// plain is a name without the marks between its words, in lower case.
func plain(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "", "[]", "").Replace(s))
}

func noun(s string) string { return singular(plain(s)) }

func plural(s string) bool {
	s = strings.ToLower(s)
	return strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") && !strings.HasSuffix(s, "is") ||
		s == "people" || s == "children"
}

func singular(s string) string {
	switch {
	case s == "people":
		return "person"
	case s == "children":
		return "child"
	case !plural(s):
		return s
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return strings.TrimSuffix(s, "ies") + "y"
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "shes"):
		return strings.TrimSuffix(s, "es")
	}
	return strings.TrimSuffix(s, "s")
}

// trimmed is a path without the slash at its end.
func trimmed(path string) string { return strings.TrimRight(path, "/") }

var notID = lazyregexp.New(`[^a-z0-9]+`)

// caseID is a readable name of the route: create_article, list_articles.
func (r *route) caseID() string {
	last := r.last()
	verb := map[string]string{"GET": "get", "POST": "post", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]
	switch {
	case r.Method == "GET" && !r.endsInParam() && plural(last):
		verb = "list"
	case r.Method == "POST" && !r.endsInParam() && plural(last):
		verb = "create"
	}
	var words []string
	segments := strings.Split(strings.Trim(r.Path, "/"), "/")
	for i, s := range segments {
		if _, ok := param(s); ok || s == "" || s == "api" || versionWord.MatchString(s) {
			continue
		}
		word := strings.Trim(notID.ReplaceAllString(strings.ToLower(s), "_"), "_")
		if i < len(segments)-1 || verb == "create" {
			word = singular(word)
		}
		if word != "" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		words = []string{"root"}
	}
	id := verb + "_" + strings.Join(words, "_")
	return strings.TrimRight(id[:min(len(id), 56)], "_")
}

// unsent says why a route is left out; "" is that it is sent.
func unsent(r *route) string {
	switch r.Method {
	case "GET", "POST", "PUT", "PATCH", "DELETE":
	case "ANY", "":
		return "it answers any method"
	default:
		return "the method " + r.Method + " is not recorded"
	}
	switch path := strings.ToLower(r.Path); {
	case strings.ContainsAny(path, "*") || strings.Contains(path, "...}") || strings.Contains(path, ":path}"):
		return "its path is open at the end"
	case wsWord.MatchString(path):
		return "it is a web socket or a stream"
	case docWord.MatchString(path):
		return "the framework answers it"
	case stopWord.MatchString(path):
		return "it stops the service"
	case r.Method != "GET" && uploadWord.MatchString(path), r.Body != nil && file(r.Body.Fields, 0):
		return "it takes a file"
	}
	if r.Body != nil && r.Body.Encoding != "" && r.Body.Encoding != "json" && r.Body.Encoding != "form" {
		return "its body is " + r.Body.Encoding
	}
	return ""
}

var (
	wsWord     = lazyregexp.New(`(^|[/_-])(ws|wss|websocket|socket|socket\.io|sse|stream|eventsource)(/|$)`)
	docWord    = lazyregexp.New(`^/(docs|redoc|openapi\.json|swagger[^/]*|static|favicon\.ico|debug|apidocs|flasgger_static)(/|$)`)
	stopWord   = lazyregexp.New(`/(shutdown|quit|kill)/?$`)
	uploadWord = lazyregexp.New(`/(uploads?|upload[_-]?(file|image|photo)s?)/?$`)
)

func file(fields []routes.Field, depth int) bool {
	return depth < 8 && slices.ContainsFunc(fields, func(f routes.Field) bool {
		return f.Required && (f.Type == "file" || f.Format == "binary") || file(f.Fields, depth+1)
	})
}

// take keeps the routes that can be sent.
func (r *recorder) take(t routes.Table) {
	seen := map[string]bool{}
	for _, one := range routes.Sort(slices.Clone(t.Routes)) {
		n := newRoute(one)
		if seen[n.key()] {
			continue
		}
		seen[n.key()] = true
		if why := unsent(n); why != "" {
			r.left = append(r.left, Left{n.key(), why})
			r.unsent = append(r.unsent, n)
			continue
		}
		r.routes = append(r.routes, n)
	}
}

func (r *recorder) groups() []string {
	var out []string
	for _, one := range r.routes {
		out = append(out, one.group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *recorder) leftOf(group string) []Left {
	var out []Left
	for _, one := range r.unsent {
		if one.group == group {
			out = append(out, Left{one.key(), unsent(one)})
		}
	}
	return out
}

func (r *recorder) route(method, path string) *route {
	for _, one := range r.routes {
		if one.Method == method && trimmed(one.Path) == trimmed(path) {
			return one
		}
	}
	return nil
}
