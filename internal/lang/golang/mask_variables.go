package golang

import (
	"go/ast"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// deepest bounds the nesting that is followed; no person writes such code.
const deepest = 5000

// variables reads package-level variables: what is bound to a function literal.
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
		for i, v := range plain(spec.Child("value")) {
			r.bound(v, append(names, "_")[min(i, len(names))], 0)
		}
	}
	for _, f := range r.file.Functions[functions:] {
		if f.Broken {
			return
		}
	}
	r.fault(n)
}

// plain are the children that have a name, without comments.
func plain(n syntax.Node) []syntax.Node {
	var out []syntax.Node
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			out = append(out, c)
		}
	}
	return out
}

// bound reads the value of a package-level variable. A function literal that is the
// value, or stands under a key of a literal that is, has a name and is a function of its
// own: it is not run by being there. Any other is code of what is around it.
func (r *maskReader) bound(n syntax.Node, name string, deep int) {
	if deep > deepest {
		return
	}
	switch n.Kind() {
	case "func_literal":
		r.lambda(n, name)
	case "literal_element", "parenthesized_expression":
		r.bound(n.First(), name, deep+1)
	case "unary_expression":
		r.bound(n.Child("operand"), name, deep+1)
	case "call_expression":
		if once[n.Child("function").Text()] {
			for a := range n.Child("arguments").Children() {
				r.bound(a, name, deep+1)
			}
		}
	case "composite_literal":
		r.bound(n.Child("body"), name, deep+1)
	case "literal_value":
		i := 0
		for c := range n.Children() {
			if parts := plain(c); c.Is("keyed_element") && len(parts) == 2 {
				key := parts[0].Text()
				if unquoted, err := strconv.Unquote(key); err == nil {
					key = unquoted
				}
				r.bound(parts[1], name+"."+key, deep+1)
			} else if !c.Is("keyed_element", "comment") && c.Named() {
				r.bound(c, name+"."+strconv.Itoa(i), deep+1)
			}
			i++
		}
	}
}

// once are functions that keep what they are given for later.
var once = map[string]bool{"sync.OnceFunc": true, "sync.OnceValue": true, "sync.OnceValues": true}

// lambda notes a function literal that a name is bound to.
func (r *maskReader) lambda(n syntax.Node, name string) {
	body := n.Child("body")
	first, _, _ := strings.Cut(name, ".")
	f := mask.Function{
		Name: name, Construct: mask.Lambda, Literal: true, Public: ast.IsExported(first), Parent: -1, Class: -1, Line: n.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken(),
	}
	switch {
	case trivial(body):
		f.Construct = mask.Trivial
	case takesTest(n):
		f.Construct = mask.Test
	}
	r.add(f, n, body)
}
