package golang

import (
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// variables reads package-level variables: what is bound to a function literal, and
// what runs when the package is loaded.
func (r *maskReader) variables(n syntax.Node) {
	functions := len(r.file.Functions)
	for spec := range n.Walk(func(n syntax.Node) bool { return !n.Is("var_spec") }) {
		if !spec.Is("var_spec") {
			continue
		}
		var names []string
		for c := range spec.Children() {
			if c.Field() == "name" && c.Is("identifier") {
				names = append(names, c.Text())
			}
		}
		r.callables(names, spec)
		r.makes(spec.Child("type"), nil)
		r.walk(spec.Child("type"), nil)
		r.holds(names, spec.Child("type"), spec.Child("value"))
		i := 0
		for v := range spec.Child("value").Children() {
			if !v.Named() || v.Is("comment") {
				continue
			}
			name := "_"
			var into *mask.Argument
			if i < len(names) {
				name, into = names[i], &mask.Argument{Path: []string{mask.Field, names[i]}}
			}
			switch {
			case v.Is("func_literal"):
				r.lambda(v, name, into)
			case v.Is("identifier", "selector_expression"):
				r.element(v, nil, into)
			default:
				r.bound(v, name)
			}
			i++
		}
	}
	for _, f := range r.file.Functions[functions:] {
		if f.Broken {
			return
		}
	}
	r.fault(n)
}

// callables notes variables that may be functions, or hold some.
func (r *maskReader) callables(names []string, spec syntax.Node) {
	t, value := spec.Child("type"), spec.Child("value").First()
	if t.Is() && !callable(t) {
		return
	}
	var of []string
	switch {
	case t.Is():
		of = r.functional(t, nil)
	case len(names) == 1 && value.Is("composite_literal"):
		of = r.functional(value.Child("type"), nil)
	case len(names) == 1 && value.Is("func_literal"):
		of = r.signature(value, nil)
	}
	for _, name := range names {
		r.file.Callable = append(r.file.Callable, mask.Callable{Name: name, Type: of})
	}
}

// holds notes the types of package-level variables.
func (r *maskReader) holds(names []string, t, values syntax.Node) {
	for i, name := range names {
		of := r.written(t, nil)
		if !t.Is() {
			of = r.valueOf(values, i, len(names))
		}
		if name != "_" && !(len(of) == 1 && of[0] == name) {
			r.bindType(name, of)
		}
	}
}

// constants notes the types of constants: one without a value repeats what is before it.
func (r *maskReader) constants(n syntax.Node) {
	var before syntax.Node
	for spec := range n.Children() {
		if !spec.Is("const_spec") {
			continue
		}
		if spec.Child("value").Is() || spec.Child("type").Is() {
			before = spec
		}
		var names []string
		for c := range spec.Children() {
			if c.Field() == "name" && c.Is("identifier") {
				names = append(names, c.Text())
			}
		}
		r.holds(names, before.Child("type"), before.Child("value"))
	}
}

// valueOf is the type of one of so many values.
func (r *maskReader) valueOf(values syntax.Node, at, all int) []string {
	var found []syntax.Node
	for v := range values.Children() {
		if v.Named() && !v.Is("comment") {
			found = append(found, v)
		}
	}
	switch {
	case len(found) == all:
		return r.typeOf(found[at], nil)
	case len(found) == 1:
		return r.several(values, nil, at)
	}
	return nil
}

// bound reads the value of a package-level variable. A function literal that is the
// value, or stands under a key of a literal that is, has a name and is a function of its
// own: it is not run by being there. Any other is code of what is around it.
func (r *maskReader) bound(n syntax.Node, name string) {
	if r.depth++; r.depth > deepest {
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	switch n.Kind() {
	case "func_literal":
		r.lambda(n, name, nil)
	case "literal_element", "parenthesized_expression":
		r.bound(n.First(), name)
	case "unary_expression":
		r.bound(n.Child("operand"), name)
	case "call_expression":
		if f := n.Child("function"); f.Is("selector_expression") && once[f.Text()] {
			r.operand(f, nil)
			for a := range n.Child("arguments").Children() {
				r.bound(a, name)
			}
			return
		}
		r.walk(n, nil)
	case "composite_literal":
		if t := typePath(n.Child("type")); t != nil {
			r.note(t, mask.Called, n)
			r.lent(t)
		}
		r.walk(n.Child("type"), nil)
		r.bound(n.Child("body"), name)
	case "literal_value":
		i := 0
		for c := range n.Children() {
			switch {
			case c.Is("keyed_element"):
				r.boundKey(c, name)
			case c.Named() && !c.Is("comment"):
				r.bound(c, name+"."+strconv.Itoa(i))
			}
			i++
		}
	default:
		r.walk(n, nil)
	}
}

// once are functions that keep what they are given for later.
var once = map[string]bool{"sync.OnceFunc": true, "sync.OnceValue": true, "sync.OnceValues": true}

func (r *maskReader) boundKey(n syntax.Node, name string) {
	var parts []syntax.Node
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			parts = append(parts, c)
		}
	}
	if len(parts) != 2 {
		r.walk(n, nil)
		return
	}
	key := parts[0].Text()
	if unquoted, err := strconv.Unquote(key); err == nil {
		key = unquoted
	}
	if !parts[0].First().Is("identifier") {
		r.walk(parts[0], nil)
	}
	switch into := r.field(n); {
	case parts[1].First().Is("func_literal"):
		r.lambda(parts[1].First(), name+"."+key, into)
	case parts[1].First().Is("identifier", "selector_expression"):
		r.element(parts[1].First(), nil, into)
	default:
		r.bound(parts[1], name+"."+key)
	}
}

// lambda notes a function literal that a name is bound to.
func (r *maskReader) lambda(n syntax.Node, name string, into *mask.Argument) {
	body := n.Child("body")
	first, _, _ := strings.Cut(name, ".")
	f := mask.Function{
		Name: name, Construct: mask.Lambda, Literal: true, Public: exported(first), Parent: -1, Class: -1, Line: n.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken(), Arguments: takes(n), Signature: r.signature(n, nil), Into: into,
	}
	switch {
	case trivial(body):
		f.Construct = mask.Trivial
	case takesTest(n):
		f.Construct = mask.Test
	}
	inside := &scope{}
	for c := range n.Children() {
		if c.Field() != "body" {
			r.walk(c, inside)
		}
	}
	r.inside(f, body, inside)
}
