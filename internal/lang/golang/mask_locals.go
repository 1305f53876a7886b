package golang

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// scope is a block with the names that it declares; nil is the package.
type scope struct {
	up    *scope
	names map[string]local
}

// local is a name within a function.
type local struct {
	of       []string // its type, where it is plain
	function bool     // it is one, that takes so many arguments
	takes    int
	prefix   string // of a group of routes

	signature []string // the type of what is called by the name, see functional
	typed     bool     // its type is written
}

func (s *scope) find(name string) (local, bool) {
	for ; s != nil; s = s.up {
		if l, ok := s.names[name]; ok {
			return l, true
		}
	}
	return local{}, false
}

func (s *scope) has(name string) bool {
	_, ok := s.find(name)
	return ok
}

func (s *scope) declare(name string, l local) {
	if s == nil || name == "_" {
		return
	}
	if s.names == nil {
		s.names = map[string]local{}
	}
	s.names[name] = l
}

// parameters declares parameters, results and type parameters.
func (r *maskReader) parameters(n syntax.Node, s *scope) {
	group := r.group
	r.group = nil
	for p := range n.Children() {
		t := p.Child("type")
		r.walk(t, s)
		for name := range p.Children() {
			if name.Field() != "name" || !name.Is("identifier") {
				continue
			}
			l := local{of: r.written(t, s), signature: r.functional(t, s)}
			if p.Is("variadic_parameter_declaration") {
				l.of = r.holding(mask.Each, t, s)
			}
			if t.Is("function_type") && p.Is("parameter_declaration") {
				l.function, l.takes = true, takes(t)
			}
			if group != nil {
				l.prefix, group = group.prefix, nil
			}
			if n.Is("type_parameter_list") {
				l = local{}
			}
			s.declare(name.Text(), l)
		}
	}
}

// assign reads a, b := x, y and its kin: the right side before the names are known.
func (r *maskReader) assign(n syntax.Node, s *scope) {
	left, right := n.Child("left"), n.Child("right")
	if n.Is("assignment_statement") {
		r.put(left, right, s)
		return
	}
	r.walk(right, s)
	if n.Is("range_clause") {
		r.ranges(n, s)
	}
	if !left.Is() {
		return
	}
	if !n.Is("short_var_declaration") && !strings.Contains(string(r.source[left.End():right.Start()]), ":=") {
		r.walk(left, s)
		return
	}
	if n.Is("short_var_declaration") {
		r.bind(slices.Collect(left.Children()), right, local{}, s)
		return
	}
	if n.Is("range_clause") {
		r.loops(left, right, s)
		return
	}
	i := 0
	for name := range left.Children() {
		if name.Is("identifier") {
			l := local{}
			if i == 0 {
				l.of = r.typeOf(right, s)
			}
			s.declare(name.Text(), l)
			i++
		}
	}
}

// loops declares the names of a range clause: the second one is of what is gone through,
// or the first, if that is a channel.
func (r *maskReader) loops(left, right syntax.Node, s *scope) {
	of := r.further(r.typeOf(right, s), mask.Each)
	i := 0
	for name := range left.Children() {
		if name.Is("identifier") {
			l := local{}
			if i == 1 {
				l.of = of
			}
			s.declare(name.Text(), l)
			i++
		}
	}
}

// several is the type of one of the values that a single expression gives.
func (r *maskReader) several(values syntax.Node, s *scope, at int) []string {
	for v := range values.Children() {
		if v.Is("call_expression") {
			return r.outcome(v, s, at)
		}
	}
	return alien // the second one reports whether there is a first
}

func declareAll(names syntax.Node, s *scope) {
	for name := range names.Children() {
		s.declare(name.Text(), local{})
	}
}

// bind declares names with the type that is written, or those of their values.
func (r *maskReader) bind(names []syntax.Node, values syntax.Node, typed local, s *scope) {
	var all []local
	for v := range values.Children() {
		if v.Named() && !v.Is("comment") {
			l := local{of: r.typeOf(v, s), prefix: r.prefixOf(v, s)}
			if v.Is("func_literal") {
				l.function, l.takes, l.signature = true, takes(v), r.signature(v, s)
			}
			all = append(all, l)
		}
	}
	i := 0
	for _, name := range names {
		if !name.Is("identifier") {
			continue
		}
		l := typed
		switch {
		case typed.typed:
		case i < len(all):
			l = all[i]
		case len(all) == 1:
			l.of = r.several(values, s, i)
		}
		s.declare(name.Text(), l)
		i++
	}
}

func (r *maskReader) localVariable(n syntax.Node, s *scope) {
	var names []syntax.Node
	for c := range n.Children() {
		if c.Field() == "name" {
			names = append(names, c)
		} else {
			r.makes(c, s)
			r.walk(c, s)
		}
	}
	t := n.Child("type")
	typed := local{of: r.written(t, s), signature: r.functional(t, s), typed: t.Is()}
	r.bind(names, n.Child("value"), typed, s)
}
