package python

import (
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// handed is an argument: who is called may call it.
func (r *reader) handed(n syntax.Node) {
	switch n.Kind() {
	case "lambda":
		r.literal(n)
	case "attribute":
		r.attribute(n, mask.Handed)
	default:
		r.use(r.path(n), mask.Handed, n)
	}
}

// uncast is x of cast(T, x).
func (r *reader) uncast(n syntax.Node) syntax.Node {
	path, all := r.path(n.Child("function")), positional(n)
	if n.Kind() == "call" && len(all) == 2 && len(path) > 0 && path[len(path)-1] == "cast" {
		return r.uncast(all[1])
	}
	return n
}

// given is a value that goes under another name from here on.
func (r *reader) given(n syntax.Node) {
	n = r.uncast(n)
	switch n.Kind() {
	case "identifier", "attribute":
		r.handed(n)
	case "conditional_expression":
		r.either(n, r.given)
	case "boolean_operator", "parenthesized_expression", "expression_list", "tuple":
		if n.Kind() == "boolean_operator" {
			r.counts.branches++
		}
		for c := range n.Children() {
			if c.Named() {
				r.given(c)
			}
		}
	case "subscript", "call": // TABLE[k]
		r.expression(n)
		for _, one := range r.picked(r.scope, n) {
			r.emit(mask.Ref{Path: one, Use: mask.Handed, Class: r.class, Line: n.Line()})
		}
	default:
		r.expression(n)
	}
}

// returned is what a function gives.
func (r *reader) returned(n syntax.Node) {
	n = r.uncast(n)
	switch n.Kind() {
	case "identifier":
		r.use(r.path(n), mask.Returned, n)
	case "attribute":
		r.attribute(n, mask.Returned)
	case "call":
		if made := r.computed(r.scope, n); len(made) > 0 && made[len(made)-1] != "*" { // of any name: a field, most often
			r.use(made, mask.Called, n)
		}
		function, all := n.Child("function"), positional(n)
		if function.Kind() == "call" { // wraps(f)(g) is g
			if path := r.path(function.Child("function")); len(all) == 1 && len(path) > 0 && path[len(path)-1] == "wraps" {
				r.expression(function)
				r.returned(all[0])
				return
			}
		}
		if path := r.path(function); len(all) > 0 && len(path) > 0 && path[len(path)-1] == "update_wrapper" {
			r.use(path, mask.Ran, function) // it may be one of ours
			r.returned(all[0])
			for _, of := range all[1:] {
				r.expression(of)
			}
			return
		}
		if path := r.path(function); len(all) > 0 && len(path) > 0 && path[len(path)-1] == "partial" { // it runs when that is called
			r.returned(all[0])
			for _, of := range all[1:] {
				r.argument(of, argument{})
			}
			return
		}
		r.call(n, mask.Relayed)
	case "conditional_expression":
		r.either(n, r.returned)
	case "boolean_operator", "parenthesized_expression", "expression_list", "tuple":
		if n.Kind() == "boolean_operator" {
			r.counts.branches++
		}
		for c := range n.Children() {
			if c.Named() {
				r.returned(c)
			}
		}
	case "list", "set", "dictionary":
		r.argument(n, argument{})
	case "subscript": // TABLE[k]
		r.expression(n)
		for _, one := range r.picked(r.scope, n) {
			r.emit(mask.Ref{Path: one, Use: mask.Returned, Class: r.class, Line: n.Line()})
		}
	default:
		r.expression(n)
	}
}
