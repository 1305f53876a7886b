package csharp

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// longest is how many links of a chain (a.b.c) are told apart; what is longer comes from
// generators.
const longest = 16

// compact is a name's text without blanks.
func compact(n syntax.Node) string { return strings.Join(strings.Fields(n.Text()), "") }

// typeName is a type as a path, without what it is generic in; nil for what is built in,
// an array or a tuple.
func typeName(n syntax.Node) []string {
	switch n.Kind() {
	case "nullable_type":
		return typeName(n.Child("type"))
	case "identifier", "generic_name", "qualified_name", "alias_qualified_name":
	default:
		return nil
	}
	var plain strings.Builder
	depth := 0
	for _, c := range compact(n) {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case depth == 0:
			plain.WriteRune(c)
		}
	}
	name := plain.String()
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	if name == "" || name == "var" || name == "dynamic" {
		return nil
	}
	return strings.Split(name, ".")
}

// using is using X, using static X.C, or using B = X.C.
func (r *reader) using(n syntax.Node) {
	alias := n.Child("name").Text()
	var of []string
	for c := range n.Children() {
		if c.Field() != "name" && c.Named() && of == nil {
			of = typeName(c)
		}
	}
	switch {
	case of == nil:
	case alias == "": // of a class, its members
		r.File.Imports = append(r.File.Imports, mask.Import{Module: strings.Join(of, "."), Name: "*"})
	case len(of) == 1:
		r.File.Imports = append(r.File.Imports, mask.Import{Module: of[0], Local: alias})
	default:
		last := len(of) - 1
		r.File.Imports = append(r.File.Imports, mask.Import{Module: strings.Join(of[:last], "."), Name: of[last], Local: alias})
	}
}

// add writes down a use, to the constructors where it stands in an initialiser of theirs.
func (r *reader) add(n syntax.Node, use mask.Use, path ...string) {
	if r.Function() < 0 && r.Class() >= 0 && r.fresh.Holds(n) {
		ref := mask.Ref{Path: path, Use: use, Class: r.Class(), Line: n.Line()}
		r.initial[r.Class()] = append(r.initial[r.Class()], ref)
		return
	}
	r.Use(n, use, path...)
}

// path is what an expression is: names from the left, "?" for what is no name.
func (r *reader) path(n syntax.Node) []string {
	var names []string
	for range longest {
		switch n.Kind() {
		case "member_access_expression":
			names = append(names, bare(n.Child("name")))
			n = n.Child("expression")
			continue
		case "conditional_access_expression":
			condition, bound := n.Child("condition"), n.First("member_binding_expression")
			if bound.Is() {
				names = append(names, bare(bound.Child("name")))
				n = condition
				continue
			}
		case "parenthesized_expression", "postfix_unary_expression": // x!
			if inner := n.First(); inner.Is() {
				n = inner
				continue
			}
		}
		break
	}
	head := r.head(n)
	if head == nil {
		if len(names) == 0 {
			return []string{"?"}
		}
		return []string{"?", names[0]}
	}
	slices.Reverse(names)
	return append(slices.Clone(head), names...)
}

// bare is a name without what it is generic in.
func bare(n syntax.Node) string {
	if n.Is("generic_name") {
		n = n.First("identifier")
	}
	return n.Text()
}

func (r *reader) head(n syntax.Node) []string {
	switch n.Kind() {
	case "this", "base":
		return []string{n.Kind()}
	case "this_expression", "base_expression":
		return []string{strings.TrimSuffix(n.Kind(), "_expression")}
	case "identifier":
		if of, ok := r.locals[r.Function()][n.Text()]; ok {
			return of
		}
		return []string{n.Text()}
	case "generic_name", "qualified_name", "alias_qualified_name":
		return typeName(n)
	case "object_creation_expression", "cast_expression":
		return typeName(n.Child("type"))
	case "as_expression":
		return typeName(n.Child("right"))
	}
	return nil
}

// name writes down what a node calls, names or declares.
func (r *reader) name(n syntax.Node) {
	switch n.Kind() {
	case "invocation_expression":
		r.call(n)
	case "object_creation_expression":
		if of := typeName(n.Child("type")); of != nil {
			r.add(n, mask.Called, of...)
			r.assigned(n, of)
		}
	case "implicit_object_creation_expression":
		if of := typeName(declaredType(n)); of != nil {
			r.add(n, mask.Called, of...)
			r.assigned(n, of)
		}
	case "constructor_initializer":
		word := "this"
		if n.Has("base") {
			word = "base"
		}
		r.add(n, mask.Called, word)
	case "element_access_expression":
		if of := r.path(n.Child("expression")); of[0] != "?" {
			r.add(n, mask.Called, append(of, "this[]")...)
		}
	case "member_access_expression", "conditional_access_expression":
		// One that is called is the call's; one within another is that one's.
		if n.Field() != "function" && !n.Parent().Is("member_access_expression") {
			if of := r.path(n); of[0] != "?" || len(of) > 1 {
				r.add(n, use(n), of...)
			}
		}
	case "parameter", "catch_declaration":
		r.variable(n.Child("name").Text(), n.Child("type"))
	case "implicit_parameter", "discard":
		r.variable(n.Text(), syntax.Node{})
	case "variable_declarator":
		r.declared(n)
	case "identifier":
		r.identifier(n)
	}
}

// use is how an expression is used where it stands.
func use(n syntax.Node) mask.Use {
	if n.Parent().Is("argument") {
		return mask.Handed
	}
	return mask.Named
}

func (r *reader) call(n syntax.Node) {
	function := n.Child("function")
	if function.Text() == "nameof" {
		r.Skip(n)
		return
	}
	of := r.path(function)
	if function.Is("identifier", "generic_name") {
		of = []string{bare(function)}
		if _, ok := r.locals[r.Function()][of[0]]; ok {
			return // a delegate's: who made it named what it calls
		}
	}
	if of[0] != "?" || len(of) > 1 {
		r.add(n, mask.Called, of...)
	}
	r.routes.call(r, n, of[len(of)-1])
}

// assigned are the properties that are set behind new C(…).
func (r *reader) assigned(n syntax.Node, of []string) {
	for c := range n.Child("initializer").Children() {
		if left := c.Child("left"); c.Is("assignment_expression") && left.Is("identifier") {
			r.add(c, mask.Named, append(slices.Clone(of), left.Text())...)
		}
	}
}

// declaredType is the type of what new() is assigned to.
func declaredType(n syntax.Node) syntax.Node {
	switch parent := n.Parent(); parent.Kind() {
	case "variable_declarator":
		return parent.Parent().Child("type")
	case "property_declaration":
		return parent.Child("type")
	case "equals_value_clause":
		return parent.Parent().Parent().Child("type")
	}
	return syntax.Node{}
}

// variable is one of the function around, with its type where that is a plain one.
func (r *reader) variable(name string, of syntax.Node) {
	if name == "" {
		return
	}
	at := r.Function()
	if at < 0 && r.Class() >= 0 {
		return // of a lambda in an initialiser, of a delegate
	}
	if r.locals[at] == nil {
		r.locals[at] = map[string][]string{}
	}
	r.locals[at][name] = typeName(of)
}

// declared is a variable, or a field.
func (r *reader) declared(n syntax.Node) {
	name, declaration := n.Child("name").Text(), n.Parent()
	of := declaration.Child("type")
	for made := range n.Children() {
		if made.Is("object_creation_expression") && typeName(of) == nil {
			of = made.Child("type")
		}
	}
	switch declaration.Parent().Kind() {
	case "field_declaration", "event_field_declaration":
		r.bind(name, of)
	default:
		r.variable(name, of)
	}
}

// bind says what a field or a property of the class around holds.
func (r *reader) bind(name string, of syntax.Node) {
	if path := typeName(of); path != nil && r.Class() >= 0 && name != "" {
		r.File.Bindings = append(r.File.Bindings, mask.Binding{
			Name:  r.File.Classes[r.Class()].Name + "." + name,
			Value: mask.Ref{Path: path, Use: mask.Named, Class: r.Class(), Line: of.Line()},
		})
	}
}

// Where an identifier is no expression: by the field under which its parent has it, and
// by its parent.
var (
	noValue = map[string]bool{"name": true, "type": true, "returns": true, "function": true, "qualifier": true, "alias": true}
	noPlace = strings.Fields(`member_access_expression qualified_name generic_name type_argument_list
		base_list type_parameter_constraints_clause type_parameter_constraint
		explicit_interface_specifier member_binding_expression conditional_access_expression
		alias_qualified_name namespace_declaration attribute name_colon
		nullable_type array_type typeof_expression goto_statement labeled_statement
		preproc_if preproc_elif ERROR`)
)

// identifier is a name that is read or assigned to: a property's accessors run then.
func (r *reader) identifier(n syntax.Node) {
	parent := n.Parent()
	if parent.Is("foreach_statement", "declaration_expression", "declaration_pattern", "var_pattern", "parenthesized_variable_designation", "tuple_pattern") && n.Field() != "right" {
		if n.Field() != "type" {
			r.variable(n.Text(), parent.Child("type"))
		}
		return
	}
	if n.Missing() || noValue[n.Field()] || slices.Contains(noPlace, parent.Kind()) {
		return
	}
	if parent.Is("assignment_expression") && n.Field() == "left" && parent.Parent().Is("initializer_expression") {
		return // of what is made
	}
	if _, ok := r.locals[r.Function()][n.Text()]; !ok && n.Text() != "value" { // what a setter gets
		r.add(n, use(n), n.Text())
	}
}
