package java

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// scope is the variables of one method, by the type that they are declared with; nil
// for a type that has no plain name.
type scope struct {
	outer *scope
	types map[string][]string
	plain map[string]bool // whether the type has no arguments
}

func newScope(outer *scope) *scope { return &scope{outer, map[string][]string{}, map[string]bool{}} }

// declare takes a parameter, or a local variable with its type beside it.
func (s *scope) declare(n syntax.Node) {
	name, of := n.Child("name"), n.Child("type")
	if n.Is("spread_parameter") || n.Child("dimensions").Is() {
		name, of = n.First("variable_declarator").Child("name"), syntax.Node{} // an array
	}
	if name.Is() {
		s.types[name.Text()], s.plain[name.Text()] = typeName(of), of.Is("type_identifier")
	}
}

// typeName is the plain name of a class, without its arguments; nil for var, arrays and
// what is no class.
func typeName(n syntax.Node) []string {
	switch n.Kind() {
	case "annotated_type":
		for c := range n.Children() {
			if c.Named() && !c.Is("marker_annotation", "annotation") {
				return typeName(c)
			}
		}
	case "generic_type":
		return typeName(n.First("type_identifier", "scoped_type_identifier"))
	case "type_identifier":
		if text := n.Text(); text != "var" {
			return []string{text}
		}
	case "scoped_type_identifier":
		var parts []string
		for c := range n.Children() {
			switch c.Kind() {
			case "type_identifier", "scoped_type_identifier", "generic_type":
				parts = append(parts, typeName(c)...)
			}
		}
		return parts
	}
	return nil
}

// platform are classes that need no import, of which no method is the project's.
var platform = strings.Fields(`String StringBuilder StringBuffer CharSequence Object Class System Math
	Integer Long Short Byte Character Boolean Double Float Number
	Thread Runtime Iterable Runnable Throwable Exception RuntimeException
	IllegalArgumentException IllegalStateException UnsupportedOperationException NullPointerException ThreadLocal
	Enum Void Error AssertionError IndexOutOfBoundsException Comparable`)

// note takes a reference where it runs.
func (r *reader) note(ref mask.Ref, p place) {
	if len(ref.Path) == 0 || ref.Path[0] == "" || len(ref.Path) == 1 && (ref.Path[0] == "?" || ref.Path[0] == "this") {
		return
	}
	if head := ref.Path[0]; r.foreign[head] || slices.Contains(platform, head) {
		return
	}
	switch {
	case p.collect != nil:
		*p.collect = append(*p.collect, ref)
	case p.function < 0:
		r.loads = append(r.loads, ref)
	default:
		ref.Line = 0
		r.file.Functions[p.function].Runs = append(r.file.Functions[p.function].Runs, ref)
	}
}

// path is what a receiver is: names, or "?" for what has none.
func (r *reader) path(n syntax.Node, p place) []string {
	switch n.Kind() {
	case "identifier":
		for s := p.scope; s != nil; s = s.outer {
			if of, ok := s.types[n.Text()]; ok {
				if of == nil {
					return []string{"?"}
				}
				return of
			}
		}
		return []string{n.Text()}
	case "this", "super":
		return []string{n.Kind()}
	case "string_literal", "class_literal", "character_literal":
		return []string{"String"}
	case "object_creation_expression":
		if of := typeName(n.Child("type")); of != nil {
			return of
		}
	case "cast_expression":
		if of := typeName(n.Child("type")); of != nil {
			return of
		}
	case "parenthesized_expression":
		return r.path(n.First(), p)
	case "assignment_expression":
		return r.path(n.Child("left"), p)
	case "method_invocation":
		// What an object of the platform gives is the platform's, where no type is an argument.
		if object := n.Child("object"); r.plain(object, p) {
			return []string{"String"}
		}
		return r.given(n, p)
	case "field_access":
		if outer := r.path(n.Child("object"), p); len(outer) < 16 {
			return append(append([]string{}, outer...), n.Child("field").Text())
		}
	case "type_identifier", "generic_type", "scoped_type_identifier":
		if of := typeName(n); of != nil {
			return of
		}
	}
	return []string{"?"}
}

// given is what a call gives, as the method says that is called.
func (r *reader) given(n syntax.Node, p place) []string {
	path := []string{n.Child("name").Text()}
	if object := n.Child("object"); object.Is() {
		of := r.path(object, p)
		if of[0] == "super" || slices.Contains(platform, of[0]) || r.foreign[of[0]] || len(of) > 16 {
			return []string{"?"}
		}
		path = append(append([]string{}, of...), path...)
	}
	return append(path, mask.Outcome)
}

// written is the type of what a method gives; nil where it may be of any class. What is
// no object, or one of a class of the platform that has no heirs, has no method of ours.
func (r *reader) written(n syntax.Node) []string {
	t := n.Child("type")
	of := typeName(t)
	switch {
	case t.Is("void_type", "integral_type", "floating_point_type", "boolean_type"), len(of) == 1 && closed[of[0]]:
		return []string{mask.Element}
	case of == nil || r.foreign[of[0]] || parameter(n, of[0]):
		return nil
	}
	return of
}

// parameter tells a type that is one of those that a method, or a class around it, takes.
func parameter(n syntax.Node, name string) bool {
	for ; n.Is(); n = n.Above("class_declaration", "interface_declaration", "record_declaration", "method_declaration") {
		for p := range n.First("type_parameters").Children() {
			if p.First("type_identifier").Text() == name {
				return true
			}
		}
	}
	return false
}

// closed are classes of the platform from which nothing inherits.
var closed = map[string]bool{
	"String": true, "StringBuilder": true, "StringBuffer": true, "Class": true, "Integer": true, "Long": true, "Short": true, "Byte": true,
	"Character": true, "Boolean": true, "Double": true, "Float": true, "Void": true,
}

// plain tells of what is asked for something whether it is an object of a class of the
// platform that is declared without arguments.
func (r *reader) plain(n syntax.Node, p place) bool {
	switch n.Kind() {
	case "method_invocation":
		return r.plain(n.Child("object"), p)
	case "identifier":
		for s := p.scope; s != nil; s = s.outer {
			if of, ok := s.types[n.Text()]; ok {
				return s.plain[n.Text()] && len(of) == 1 && (slices.Contains(platform, of[0]) || r.foreign[of[0]])
			}
		}
		for c := p.class; c >= 0; c = r.file.Classes[c].Parent {
			if plain, known := r.simple[r.file.Classes[c].Name+"."+n.Text()]; known {
				return plain
			}
		}
	}
	return false
}

// expression reads what may call something.
func (r *reader) expression(n syntax.Node, p place) {
	switch n.Kind() {
	case "method_invocation":
		r.invocation(n, p)
	case "object_creation_expression":
		r.make(n, p)
		if body := n.First("class_body"); body.Is() {
			r.unnamed(body, p)
		}
	case "explicit_constructor_invocation":
		r.explicit(n, p)
	case "method_reference":
		r.reference(n, p)
	case "lambda_expression":
		r.lambda(n, p)
	case "catch_clause":
		in := p
		in.scope = newScope(p.scope)
		if caught := n.First("catch_formal_parameter"); caught.Is() {
			in.scope.types[caught.Child("name").Text()] = typeName(caught.First("catch_type").First())
		}
		r.inChildren(n, in)
	case "enhanced_for_statement", "resource":
		if p.scope != nil {
			p.scope.declare(n)
		}
		r.inChildren(n, p)
	case "type_pattern", "instanceof_expression":
		r.pattern(n, p)
		r.inChildren(n, p)
	case "block", "switch_block_statement_group":
		in := p
		in.scope = newScope(p.scope)
		r.inChildren(n, in)
	default:
		r.inChildren(n, p)
	}
}

func (r *reader) pattern(n syntax.Node, p place) {
	if p.scope == nil {
		return
	}
	name, of := n.Child("name"), n.Child("right")
	if n.Is("type_pattern") {
		of = n.First("type_identifier", "generic_type", "scoped_type_identifier")
		name = n.First("identifier")
	}
	if name.Is() {
		p.scope.types[name.Text()] = typeName(of)
	}
}

func (r *reader) invocation(n syntax.Node, p place) {
	object := n.Child("object")
	path := []string{n.Child("name").Text()}
	if object.Is() {
		receiver := r.path(object, p)
		if receiver[0] == "?" {
			receiver = receiver[:1]
		}
		path = append(append([]string{}, receiver...), path...)
		if !object.Is("identifier", "this", "super") {
			in := p
			in.inside = false
			r.walk(object, in)
		}
	}
	// What prints an object of no known class comes late, as Python's __str__ does.
	if path[len(path)-1] != "toString" || path[0] != "?" && !slices.Contains(path, mask.Outcome) {
		r.note(mask.Ref{Path: path, Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	}
	for _, s := range r.statics {
		if !object.Is() && (s.name == "" || s.name == path[0]) {
			r.note(mask.Ref{Path: []string{s.class, path[0]}, Use: mask.Called, Class: p.class, Line: n.Line()}, p)
		}
	}
	in := p
	in.inside = true
	r.inChildren(n.Child("arguments"), in)
}

// make is new X(…).
func (r *reader) make(n syntax.Node, p place) {
	if of := typeName(n.Child("type")); of != nil {
		r.note(mask.Ref{Path: of, Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	}
	in := p
	in.inside = true
	r.inChildren(n.Child("arguments"), in)
}

// unnamed is the body of an anonymous class: its methods are its own, and code of what
// is around it where that is a method.
func (r *reader) unnamed(body syntax.Node, p place) {
	created := body.Parent()
	r.anonymous(created, "new "+strings.Join(typeName(created.Child("type")), "."), p)
}

// explicit is this(…) and super(…).
func (r *reader) explicit(n syntax.Node, p place) {
	path := []string{"super"}
	if n.Child("constructor").Is("this") && p.class >= 0 {
		path = strings.Split(r.file.Classes[p.class].Name, ".")
	}
	r.note(mask.Ref{Path: path, Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	in := p
	in.inside = true
	r.inChildren(n.Child("arguments"), in)
}

// reference is X::m. Among the arguments of a call it may be called.
func (r *reader) reference(n syntax.Node, p place) {
	use := mask.Named
	if p.inside {
		use = mask.Handed
	}
	first := n.First()
	path := r.path(first, p)
	if path[0] == "?" && !first.Is("identifier") {
		r.walk(first, p)
	}
	last := ""
	for c := range n.Children() {
		if c != first && c.Is("identifier") {
			last = c.Text()
		}
	}
	if last != "" {
		path = append(append([]string{}, path...), last)
	}
	r.note(mask.Ref{Path: path, Use: use, Class: p.class, Line: n.Line()}, p)
}

func (r *reader) lambda(n syntax.Node, p place) {
	in := p
	in.scope, in.inside = newScope(p.scope), false
	parameters := n.Child("parameters")
	if parameters.Is("identifier") {
		in.scope.types[parameters.Text()] = nil
	}
	for c := range parameters.Children() {
		if c.Is("identifier") {
			in.scope.types[c.Text()] = nil
		}
		in.scope.declare(c)
	}
	r.walk(n.Child("body"), in)
}

// local is a variable of a method.
func (r *reader) local(n syntax.Node, p place) {
	of := typeName(n.Child("type"))
	for c := range n.Children() {
		if !c.Is("variable_declarator") {
			continue
		}
		value := c.Child("value")
		if p.scope != nil {
			holds := of
			switch {
			case value.Is("object_creation_expression"):
				holds = typeName(value.Child("type"))
			case n.Child("type").Text() == "var":
				holds = r.path(value, p)
			}
			if c.Child("dimensions").Is() {
				holds = nil
			}
			p.scope.types[c.Child("name").Text()] = holds
			p.scope.plain[c.Child("name").Text()] = of != nil && n.Child("type").Is("type_identifier")
		}
		in := p
		in.inside = false
		r.walk(value, in)
	}
}

// bindType says of which class a field is.
func (r *reader) bindType(name string, of syntax.Node, p place) {
	path := typeName(of)
	alien := path == nil || slices.Contains(platform, path[0]) || r.foreign[path[0]]
	r.simple[name] = alien && of.Is("type_identifier")
	if r.fields[name] = alien; !alien {
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: path, Use: mask.Called, Class: p.class}})
	}
}
