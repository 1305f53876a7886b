package routes

import (
	"regexp"
	"strings"
)

// bodies makes routes of what was composed, with what is known of their requests.
type bodies struct {
	*python
}

func newBodies(p *python, _ []pyResolved) *bodies { return &bodies{p} }

// routes are those of one declaration.
func (b *bodies) routes(r pyResolved) []Route {
	fast := r.app.kind == fastapiApp
	path, params := flaskPath(r.path)
	if fast {
		path, params = fastPath(r.path)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var out []Route
	for _, a := range b.answers(r.pyDeclared) {
		route := Route{Method: a.method, Path: path, At: r.at, Params: params}
		if a.function != nil && !a.function.node.Is("lambda") {
			route.Handler = Function{a.function.module.path, a.function.name}
		}
		out = append(out, route)
	}
	return out
}

// flaskPath reads <int:id>.
func flaskPath(rule string) (string, []Field) {
	var params []Field
	form := regexp.MustCompile(`<(?:([a-zA-Z_][\w.]*)(?:\(((?:[^()"']|"[^"]*"|'[^']*')*)\))?:)?([a-zA-Z_]\w*)>`)
	out := form.ReplaceAllStringFunc(rule, func(s string) string {
		m := form.FindStringSubmatch(s)
		params = append(params, flaskParam(m[1], m[2], m[3]))
		return "{" + m[3] + "}"
	})
	return out, params
}

func flaskParam(converter, args, name string) Field {
	f := Field{Name: name, Type: "string", Required: true}
	switch converter {
	case "int":
		f.Type = "integer"
	case "float":
		f.Type = "number"
	case "uuid":
		f.Format = "uuid"
	case "regex":
		f.Pattern = strings.Trim(args, `'"`)
	case "any":
		for s := range strings.SplitSeq(args, ",") {
			f.Enum = append(f.Enum, strings.Trim(s, ` '"`))
		}
	}
	return f
}

// fastPath reads {id} and {id:path}.
func fastPath(rule string) (string, []Field) {
	var params []Field
	form := regexp.MustCompile(`\{([a-zA-Z_]\w*)(?::(\w+))?\}`)
	out := form.ReplaceAllStringFunc(rule, func(s string) string {
		m := form.FindStringSubmatch(s)
		f := Field{Name: m[1], Type: "string", Required: true}
		switch m[2] {
		case "int":
			f.Type = "integer"
		case "float":
			f.Type = "number"
		case "uuid":
			f.Format = "uuid"
		}
		params = append(params, f)
		return "{" + m[1] + "}"
	})
	return out, params
}
