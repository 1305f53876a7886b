package golang

import (
	"slices"
	"strconv"

	"github.com/benchmint/benchmint/internal/syntax"
)

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

// once are functions that keep what they are given for later.
var once = map[string]bool{"sync.OnceFunc": true, "sync.OnceValue": true, "sync.OnceValues": true}

// holder is the name of what holds a function literal: a package variable that is it, with the keys of a literal that has it:
// table.add, list.0. It is not run by being there. Any other literal is code of what is around it.
func holder(n syntax.Node) (name string, ok bool) {
	for ; ; n = n.Parent() {
		switch up := n.Parent(); up.Kind() {
		case "literal_element", "parenthesized_expression", "unary_expression":
		case "composite_literal":
			if n.Field() != "body" {
				return "", false
			}
		case "argument_list":
			if !once[up.Parent().Child("function").Text()] {
				return "", false
			}
			n = up
		case "keyed_element":
			parts := plain(up)
			if len(parts) != 2 || parts[1] != n {
				return "", false
			}
			name, n = "."+keyOf(parts[0])+name, up
		case "literal_value":
			if !n.Is("keyed_element") {
				name = "." + strconv.Itoa(slices.Index(plain(up), n)) + name
			}
		case "expression_list":
			spec := up.Parent()
			if up.Field() != "value" || !spec.Is("var_spec") {
				return "", false
			}
			return variable(spec, slices.Index(plain(up), n)) + name, true
		default:
			return "", false
		}
	}
}

// keyOf is a key as it is written, a string without its quotes.
func keyOf(n syntax.Node) string {
	if text, err := strconv.Unquote(n.Text()); err == nil {
		return text
	}
	return n.Text()
}

// variable is the i-th name of a declaration.
func variable(spec syntax.Node, i int) string {
	for c := range spec.Children() {
		if c.Field() == "name" && c.Is("identifier") {
			if i == 0 {
				return c.Text()
			}
			i--
		}
	}
	return "_"
}
