package routes

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	braces  = lazyregexp.New(`^\{(?:([A-Za-z_]\w*)(?:\.\.\.|:([^{}]*(?:\{[^{}]*\}[^{}]*)*))?|\$)\}`)                                    // {id}, {id:int}, {id:[0-9]{3}}, {rest...}, {$}
	angles  = lazyregexp.New(`^<(?:(\w+)(?:\([^<>]*\))?:)?([A-Za-z_]\w*)>`)                                                             // <id>, <int:id>
	colons  = lazyregexp.New(`^:([A-Za-z_]\w*)(?:<(\w+)[^<>]*>)?[?+*]?`)                                                                // :id, :id<int>, :id?
	stars   = lazyregexp.New(`^[*+]([A-Za-z_]\w*)?`)                                                                                    // *, *rest
	numeric = lazyregexp.New(`^(?:int|integer|number|\^?(?:\[0-9\]|\\d)[+*]?(?:\{\d+(?:,\d*)?\})?\$?|\^?\[1-9\](?:\[0-9\]|\\d)\*\$?)$`) // of integers
)

// Template is a path of any framework with its parameters as {name}, and as {name...} where one takes all that follows.
func Template(path string) string {
	out, _ := Parameters(path)
	return out
}

// Parameters is Template, and the parameters in their order with what the path says of their types.
func Parameters(path string) (template string, params []Field) {
	var b strings.Builder
	add := func(name, rule string) {
		f := Field{Name: name}
		switch {
		case numeric.MatchString(rule):
			f.Type = "integer"
		case rule == "float":
			f.Type = "number"
		case rule == "uuid" || rule == "guid":
			f.Type, f.Format = "string", "uuid"
		}
		if name == "" {
			f.Name = "rest"
		}
		params = append(params, f)
		b.WriteString("{" + f.Name)
		if open := "..."; rule == "path" || rule == open {
			b.WriteString(open)
		}
		b.WriteString("}")
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	for i := 0; i < len(path); {
		rest := path[i:]
		switch m := braces.FindStringSubmatch(rest); {
		case m != nil && m[0] == "{$}":
			i += len(m[0])
			continue
		case m != nil && strings.HasSuffix(m[0], "...}"):
			add(m[1], "...")
			i += len(m[0])
			continue
		case m != nil:
			add(m[1], m[2])
			i += len(m[0])
			continue
		}
		if m := angles.FindStringSubmatch(rest); m != nil {
			add(m[2], m[1])
			i += len(m[0])
			continue
		}
		begins := i > 0 && (path[i-1] == '/' || path[i-1] == '.' || path[i-1] == '-')
		if m := colons.FindStringSubmatch(rest); m != nil && begins {
			add(m[1], m[2])
			i += len(m[0])
			continue
		}
		if m := stars.FindStringSubmatch(rest); m != nil && begins {
			add(m[1], "...")
			i += len(m[0])
			continue
		}
		b.WriteByte(path[i])
		i++
	}
	return b.String(), params
}
