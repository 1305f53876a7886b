package java

import (
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// prefix is where the handlers of a class begin.
type prefix struct{ path string }

// verbs are the annotations of Spring and of JAX-RS that say a method.
var verbs = map[string]string{
	"GetMapping": "GET", "PostMapping": "POST", "PutMapping": "PUT", "PatchMapping": "PATCH", "DeleteMapping": "DELETE",
	"GET": "GET", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE", "HEAD": "HEAD", "OPTIONS": "OPTIONS",
}

// prefixOf reads @RequestMapping and @Path of a class.
func (r *reader) prefixOf(n syntax.Node) prefix {
	for a := range n.First("modifiers").Children() {
		if name := a.Child("name").Text(); name == "RequestMapping" || name == "Path" {
			return prefix{argument(a, "value", "path")}
		}
	}
	return prefix{}
}

// handlers notes the routes of a method.
func (r *reader) handlers(n syntax.Node, function int, p place) {
	verb, where, found := "", "", false
	for a := range n.First("modifiers").Children() {
		if !a.Is("annotation", "marker_annotation") {
			continue
		}
		name := a.Child("name").Text()
		if v, ok := verbs[name]; ok {
			verb, found = v, true
			if text := argument(a, "value", "path"); text != "" {
				where = text
			}
		}
		switch name {
		case "RequestMapping":
			found, where = true, argument(a, "value", "path")
			if m := argument(a, "method"); m != "" {
				verb = m[strings.LastIndexByte(m, '.')+1:]
			}
		case "Path":
			where = argument(a, "value")
		}
	}
	if !found || p.class < 0 {
		return
	}
	name := r.file.Functions[function].Name
	r.file.Routes = append(r.file.Routes, mask.Route{
		Method: verb, Path: slashed(r.routes[p.class].path, where), Function: function,
		Handler: mask.Ref{Path: strings.Split(name, "."), Use: mask.Named, Class: p.class},
	})
}

// argument is the value of an annotation's element: the only one, or one of the names.
func argument(a syntax.Node, names ...string) string {
	for c := range a.Child("arguments").Children() {
		value := c
		if c.Is("element_value_pair") {
			ok := false
			for _, name := range names {
				ok = ok || c.Child("key").Text() == name
			}
			if !ok {
				continue
			}
			value = c.Child("value")
		} else if len(names) > 0 && names[0] != "value" {
			continue
		}
		if value.Is("element_value_array_initializer") {
			value = value.First()
		}
		if value.Is("string_literal", "field_access", "identifier") {
			return strings.Trim(value.Text(), `"`)
		}
	}
	return ""
}

// slashed joins paths as the frameworks do.
func slashed(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		if part = strings.Trim(part, "/"); part != "" {
			b.WriteString("/" + part)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}
