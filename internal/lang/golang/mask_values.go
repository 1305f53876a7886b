package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// literal is a function literal that is not called where it stands: what is in it runs
// when something is called that it may be. into is the call that gets it, if one does.
func (r *maskReader) literal(n syntax.Node, s *scope, into *mask.Argument) {
	within, seen := r.value, r.seen
	r.file.Values = append(r.file.Values, mask.Value{Function: r.owner, Within: within, Takes: takes(n), Signature: r.signature(n, s), Into: into})
	r.value, r.seen = len(r.file.Values)-1, map[string]bool{}
	r.children(n, &scope{up: s})
	r.value, r.seen = within, seen
}

// others is a call of what is not of the tree, or not known.
var others = &mask.Argument{Path: []string{"?"}}

// gets is the call that gets an argument, by what is called.
func (r *maskReader) gets(p []string) *mask.Argument {
	if len(p) == 0 || p[0] == "?" || isAlien(p) || r.standard(p[0]) {
		return others
	}
	return &mask.Argument{Path: p}
}

// lent notes that a method of the standard library's runs a function that an object of its
// type was made with.
func (r *maskReader) lent(t []string) {
	if method := lenders[strings.Join(t, ".")]; method != "" {
		r.file.Callable = append(r.file.Callable, mask.Callable{Name: method})
	}
}

var lenders = map[string]string{"sync.Pool": "Get"}

// takes is the number of arguments of a function, -1 where it varies.
func takes(n syntax.Node) int {
	all := 0
	for p := range n.Child("parameters").Children() {
		if p.Is("variadic_parameter_declaration") {
			return -1
		}
		if !p.Is("parameter_declaration") {
			continue
		}
		all += held(p)
	}
	return all
}

// held is how many parameters, or results, one declaration is: one where it has no name.
func held(declaration syntax.Node) int {
	names := 0
	for c := range declaration.Children() {
		if c.Field() == "name" {
			names++
		}
	}
	return max(1, names)
}

// dynamic notes a call of what is no function or method of its own name. The number of
// arguments varies where one call gives them all.
func (r *maskReader) dynamic(n, of syntax.Node, s *scope) {
	var name, called []string
	switch of.Kind() {
	case "identifier":
		text := of.Text()
		function := r.functions[text]
		_, class := r.classes[text]
		l, ok := s.find(text)
		switch called = l.signature; {
		case ok:
		case function || class || slices.Contains(predeclared, text):
			return
		default: // a variable, or a function of another file
			name = []string{mask.Field, text}
		}
	case "selector_expression":
		p := r.pathOf(of, s)
		if r.functions[strings.Join(p, ".")] || isAlien(p) || r.standard(p[0]) {
			return
		}
		name = []string{of.Child("field").Text()}
		if x := of.Child("operand"); x.Is("identifier") && !s.has(x.Text()) && !r.declared[x.Text()] { // of a package
			name = []string{x.Text(), name[0]}
		}
	case "call_expression":
	case "type_assertion_expression":
		called = r.functional(of.Child("type"), s)
	default:
		return
	}
	given := 0
	var only syntax.Node
	for a := range n.Child("arguments").Children() {
		switch {
		case a.Is("variadic_argument"):
			r.dials(-1, n, called, name...)
			return
		case a.Named() && !a.Is("comment"):
			given++
			only = a
		}
	}
	r.dials(given, n, called, name...)
	if given == 1 && only.Is("call_expression") { // it may give two
		r.dials(2, n, called, name...)
	}
}

// dials notes a call with a number of arguments, of what has a type where that is known.
func (r *maskReader) dials(arguments int, n syntax.Node, of []string, name ...string) {
	ref := mask.Ref{Path: append([]string{mask.Dynamic(arguments)}, name...), Use: mask.Called, Class: r.class, Line: n.Line()}
	if of != nil {
		ref.Into = &mask.Argument{Path: of}
	}
	r.add(ref)
}

// passes notes a function of which only the local name is known among arguments: who is
// no function of this package may call it.
func (r *maskReader) passes(a, of syntax.Node, s *scope) {
	if l, ok := s.find(a.Text()); ok && l.function && !of.Is("identifier") {
		r.dials(l.takes, a, l.signature)
	}
}

// ranges notes a loop over what may be a function: a call of the loop's own body.
func (r *maskReader) ranges(n syntax.Node, s *scope) {
	of := n.Child("right")
	switch of.Kind() {
	case "identifier":
		if l, ok := s.find(of.Text()); !ok || !l.function && !slices.ContainsFunc(l.signature, sequence) {
			return
		}
	case "call_expression":
		f := of.Child("function")
		if x := f.Child("operand"); x.Is("identifier") && !s.has(x.Text()) && r.standard(x.Text()) {
			return
		}
		if slices.Contains(predeclared, f.Text()) {
			return
		}
	default:
		return
	}
	r.dials(1, of, nil)
}

func sequence(name string) bool { return strings.HasPrefix(name, "Seq") }

// standard tells a package of the standard library: its path has no host.
func (r *maskReader) standard(name string) bool {
	return slices.ContainsFunc(r.specs, func(s spec) bool {
		first, _, _ := strings.Cut(s.path, "/")
		return !strings.Contains(first, ".") && (s.name == name || s.name == "" && path.Base(s.path) == name)
	})
}

// imported is the path of the package that an identifier stands for, "" for none.
func (r *maskReader) imported(n syntax.Node, s *scope) string {
	if !n.Is("identifier", "package_identifier") || s.has(n.Text()) {
		return ""
	}
	for _, i := range r.specs {
		if i.name == n.Text() || i.name == "" && path.Base(i.path) == n.Text() {
			return i.path
		}
	}
	return ""
}

// callable tells a field that may hold a function.
func callable(t syntax.Node) bool {
	return t.Is("function_type", "type_identifier", "qualified_type", "generic_type") && !slices.Contains(predeclared, t.Text())
}
