package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// bodies makes routes of what was composed, with what is known of their requests.
type bodies struct {
	*python
	flask, fast *lazyregexp.Regexp
	traces      map[*pyFunction]map[string]*pyTrace
	examples    *examples
}

func newBodies(p *python, all []pyResolved) *bodies {
	return &bodies{
		python: p, traces: map[*pyFunction]map[string]*pyTrace{},
		flask:    lazyregexp.New(`<(?:([a-zA-Z_][\w.]*)(?:\(((?:[^()"']|"[^"]*"|'[^']*')*)\))?:)?([a-zA-Z_]\w*)>`),
		fast:     lazyregexp.New(`\{([a-zA-Z_]\w*)(?::(\w+))?\}`),
		examples: newExamples(p, all),
	}
}

// routes are those of one declaration.
func (b *bodies) routes(r pyResolved) []Route {
	fast := r.app.kind == fastapiApp
	path, params := b.flaskPath(r.path)
	if fast {
		path, params = b.fastPath(r.path)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var out []Route
	for _, a := range b.answers(r.pyDeclared) {
		b.python.fields = 0
		route := Route{Method: a.method, Path: path, At: r.at, Params: slices.Clone(params)}
		if a.function != nil && !a.function.node.Is("lambda") {
			route.Handler = Function{a.function.module.path, a.function.name}
		}
		if fast {
			b.fastRequest(&route, r, a)
		} else {
			b.flaskRequest(&route, r, a)
		}
		b.examples.apply(&route)
		out = append(out, route)
	}
	return out
}

// flaskPath reads <int:id>.
func (b *bodies) flaskPath(rule string) (string, []Field) {
	var params []Field
	out := b.flask.ReplaceAllStringFunc(rule, func(s string) string {
		m := b.flask.FindStringSubmatch(s)
		params = append(params, flaskParam(m[1], m[2], m[3]))
		return "{" + m[3] + "}"
	})
	return out, params
}

// pathParam is a parameter with a converter that both frameworks have.
func pathParam(converter, name string) Field {
	f := Field{Name: name, Type: "string", Required: true}
	switch converter {
	case "int":
		f.Type = "integer"
	case "float":
		f.Type = "number"
	case "uuid":
		f.Format = "uuid"
	}
	return f
}

func flaskParam(converter, args, name string) Field {
	f := pathParam(converter, name)
	switch converter {
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
func (b *bodies) fastPath(rule string) (string, []Field) {
	var params []Field
	out := b.fast.ReplaceAllStringFunc(rule, func(s string) string {
		m := b.fast.FindStringSubmatch(s)
		params = append(params, pathParam(m[2], m[1]))
		return "{" + m[1] + "}"
	})
	return out, params
}

// fields are those of a part that was read, without those that are of the path.
func fieldsOf(n *sentNode) []Field {
	if n == nil {
		return nil
	}
	f := n.fieldOf()
	if len(f.Fields) == 0 && f.Items != nil {
		return []Field{{Type: "array", Required: true, Items: f.Items}}
	}
	return f.Fields
}
