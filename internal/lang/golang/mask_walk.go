package golang

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// maskReader reads one file.
type maskReader struct {
	file      *mask.File
	source    []byte
	pkg       string
	declared  map[string]bool // names at package level, of this file
	classes   map[string]int  // by name, index in file.Classes
	functions map[string]bool // their names, and those of methods
	specs     []spec          // imports, in order
	uses      map[string]*use // by the name before the dot
	returns   []returnedText  // of functions that return a literal
	free      map[string]*use // exported names that this file declares nowhere: of its package, or of dot imports
	owner     int             // function whose body is read, -1
	class     int             // of the method that is read, -1
	value     int             // function literal that is read, of the file's values, -1
	seen      map[string]bool // what the owner runs already
	key       []byte
	depth     int
	chain     int      // how far what stands before the dots is followed
	asks      []string // methods that the call which is read calls on what it is given
	group     *local   // of the next literal's first parameter: a group of routes
	verb      string   // of the routes below: r.HandleFunc(…).Methods(verb)
}

// deepest bounds the nesting that is followed; no person writes such code.
const deepest = 5000

// longest bounds the chains of calls and selectors whose type is looked for.
const longest = 50

// walk reads code: which names it uses, and of which packages.
func (r *maskReader) walk(n syntax.Node, s *scope) {
	if !n.Is() || r.depth > deepest {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	switch n.Kind() {
	case "import_declaration", "comment", "package_identifier", "field_identifier", "label_name":
	case "type_identifier":
		if text := n.Text(); !s.has(text) {
			r.unbound(text)
		}
	case "identifier":
		r.name(n, s)
	case "qualified_type":
		r.member(n.Child("package"), n.Child("name"), s)
	case "selector_expression":
		r.note(r.pathOf(n, s), mask.Named, n)
		r.operand(n, s)
	case "call_expression", "type_conversion_expression":
		r.call(n, s)
	case "composite_literal":
		if t := typePath(n.Child("type")); t != nil && !s.has(t[0]) {
			r.note(t, mask.Called, n)
			r.lent(t)
		}
		r.children(n, s)
	case "keyed_element":
		r.keyed(n, s)
	case "func_literal":
		r.literal(n, s, nil)
	case "block", "if_statement", "for_statement", "expression_switch_statement", "type_switch_statement",
		"select_statement", "expression_case", "default_case", "type_case", "communication_case", "function_type", "method_elem":
		inner := &scope{up: s}
		switch {
		case n.Is("type_switch_statement"):
			declareAll(n.Child("alias"), inner)
		case n.Is("type_case"):
			r.narrow(n, inner)
		}
		r.children(n, inner)
	case "parameter_list", "type_parameter_list":
		r.parameters(n, s)
	case "assignment_statement", "short_var_declaration", "range_clause", "receive_statement":
		r.assign(n, s)
	case "var_spec", "const_spec":
		r.localVariable(n, s)
	case "type_spec", "type_alias":
		s.declare(n.Child("name").Text(), local{})
		r.children(n, &scope{up: s})
	default:
		r.children(n, s)
	}
}

// narrow declares the name of a type switch for a case of one type.
func (r *maskReader) narrow(n syntax.Node, s *scope) {
	var types []syntax.Node
	for c := range n.Children() {
		if c.Field() == "type" && c.Named() {
			types = append(types, c)
		}
	}
	alias := n.Parent().Child("alias").First("identifier")
	if alias.Is() && len(types) == 1 {
		s.declare(alias.Text(), local{of: r.written(types[0], s.up), signature: r.functional(types[0], s.up), typed: true})
	}
}

func (r *maskReader) children(n syntax.Node, s *scope) {
	for c := range n.Children() {
		r.walk(c, s)
	}
}

// name is an identifier that stands alone.
func (r *maskReader) name(n syntax.Node, s *scope) {
	text := n.Text()
	if s.has(text) || slices.Contains(predeclared, text) {
		return
	}
	r.note([]string{text}, mask.Named, n)
	r.unbound(text)
}

// unbound is a name of this package, or of one that is imported with a dot.
func (r *maskReader) unbound(name string) {
	if exported(name) && !r.declared[name] {
		r.used(r.free, name)
	}
}

// member is a name of a package: p.Name.
func (r *maskReader) member(operand, field syntax.Node, s *scope) {
	name := operand.Text()
	if !s.has(name) && (exported(field.Text()) || name == "C") {
		r.used(r.uses, name)
	}
}

// operand reads what stands before the dot.
func (r *maskReader) operand(n syntax.Node, s *scope) {
	operand := n.Child("operand")
	if !operand.Is("identifier") {
		r.walk(operand, s)
		return
	}
	r.member(operand, n.Child("field"), s)
	if !s.has(operand.Text()) {
		r.unbound(operand.Text())
	}
}

func (r *maskReader) call(n syntax.Node, s *scope) {
	of := n.Child("function")
	if n.Is("type_conversion_expression") { // F[T](x)
		of = n.Child("type")
		r.walk(of, s)
		r.note(typePath(of), mask.Called, n)
		r.handed(n.Child("operand"), s, r.gets(typePath(of)))
		return
	}
	for of.Is("index_expression", "parenthesized_expression", "type_instantiation_expression") && of.First().Is() {
		if of.Is("index_expression") {
			r.walk(of.Child("index"), s)
		}
		of = of.First()
	}
	if p := r.pathOf(of, s); of.Is("identifier", "selector_expression") && !(len(p) == 1 && (p[0] == "?" || slices.Contains(predeclared, p[0]))) {
		r.note(p, mask.Called, n)
	}
	if of.Is("unary_expression") && of.Child("operator").Text() == "*" { // (*T)(x) is a T, too
		if t := of.Child("operand"); t.Is("identifier", "selector_expression") {
			r.note(r.pathOf(t, s), mask.Called, n)
		}
	}
	r.dynamic(n, of, s)
	verb := r.verb
	declares := r.route(n, of, s)
	switch {
	case of.Is("func_literal"):
		r.children(of, &scope{up: s})
	case of.Is("identifier"):
		if !s.has(of.Text()) {
			r.unbound(of.Text())
		}
	case of.Is("selector_expression"):
		r.operand(of, s)
	default:
		r.walk(of, s)
	}
	r.verb = verb
	r.walk(n.Child("type_arguments"), s)
	arguments := n.Child("arguments")
	if declares || of.Is("identifier") && slices.Contains(predeclared, of.Text()) {
		r.makes(arguments.First(), s)
		r.children(arguments, s)
		return
	}
	into := r.gets(r.pathOf(of, s))
	r.asks = nil
	if into == others {
		r.asks = asked[r.imported(of.Child("operand"), s)]
	}
	asks := r.asks
	for a := range arguments.Children() {
		if a.Is("identifier") {
			r.passes(a, of, s)
		}
		r.asks = asks
		r.handed(a, s, into)
	}
}

// handed is an argument. A function that is given to a call may be called there; a
// method that is taken from a value too.
func (r *maskReader) handed(n syntax.Node, s *scope, into *mask.Argument) {
	switch {
	case n.Is("identifier"):
		switch l, ok := s.find(n.Text()); {
		case l.of != nil:
			r.object(l.of, n)
		case !ok && !slices.Contains(predeclared, n.Text()):
			r.hand([]string{n.Text()}, n, into)
			r.object([]string{n.Text()}, n)
			r.unbound(n.Text())
		}
	case n.Is("selector_expression"):
		r.hand(r.pathOf(n, s), n, into)
		r.operand(n, s)
	case n.Is("func_literal"):
		r.literal(n, s, into)
	default:
		if t := r.typeOf(n, s); t != nil {
			r.object(t, n)
		}
		r.walk(n, s)
	}
}

// object is an argument that is an object of a type, or holds one.
func (r *maskReader) object(of []string, n syntax.Node) {
	for _, name := range r.asks {
		r.note(append(slices.Clip(of), name), mask.Called, n)
	}
}

// asked are the methods that packages of the standard library call on what they are given.
var asked = map[string][]string{
	"sort": {"Len", "Less", "Swap"}, "container/heap": {"Len", "Less", "Swap", "Push", "Pop"}, "flag": {"String", "Set"},
	"fmt": {"String", "Error", "Format", "GoString"}, "encoding/json": {"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"},
}

// makes notes a type of which there is an object without a literal: a variable's, or one
// that the language's own functions make.
func (r *maskReader) makes(of syntax.Node, s *scope) {
	if t := typePath(of); t != nil && !s.has(t[0]) && !of.Is("pointer_type") {
		r.note(t, mask.Called, of)
	}
}

// keyed is one element of a literal. A key that is a lone name is a field's as a rule,
// and never a package.
func (r *maskReader) keyed(n syntax.Node, s *scope) {
	first := true
	for c := range n.Children() {
		if !c.Named() || c.Is("comment") {
			continue
		}
		switch {
		case !first:
			r.element(c.First(), s, r.field(n))
		case !c.First().Is("identifier"):
			r.walk(c, s)
		}
		first = false
	}
}

// put reads a = x, b.c = y: a function is there for who calls it by the name of the
// variable or field.
func (r *maskReader) put(left, right syntax.Node, s *scope) {
	var names []syntax.Node
	for c := range left.Children() {
		if c.Named() && !c.Is("comment") {
			names = append(names, c)
		}
	}
	i := 0
	for v := range right.Children() {
		if !v.Named() || v.Is("comment") {
			continue
		}
		var into *mask.Argument
		if i < len(names) {
			into = r.slot(names[i], s)
		}
		r.element(v, s, into)
		i++
	}
	for _, name := range names {
		switch {
		case name.Is("selector_expression"): // which is not read
			r.operand(name, s)
		case name.Is("identifier"):
			if !s.has(name.Text()) {
				r.unbound(name.Text())
			}
		default:
			r.walk(name, s)
		}
	}
}

// slot is the name under which what is assigned may be called, nil for a local's.
func (r *maskReader) slot(n syntax.Node, s *scope) *mask.Argument {
	switch {
	case n.Is("selector_expression"):
		n = n.Child("field")
	case !n.Is("identifier") || n.Text() == "_" || s.has(n.Text()):
		return nil
	}
	return &mask.Argument{Path: []string{mask.Field, n.Text()}}
}

// element is a value in a literal, under the name of a field where it has one.
func (r *maskReader) element(n syntax.Node, s *scope, into *mask.Argument) {
	switch {
	case n.Is("func_literal"):
		r.literal(n, s, into)
	case n.Is("identifier") && !s.has(n.Text()) && !slices.Contains(predeclared, n.Text()):
		r.add(mask.Ref{Path: []string{n.Text()}, Use: mask.Named, Class: r.class, Line: n.Line(), Into: into})
		r.unbound(n.Text())
	case n.Is("selector_expression"):
		r.add(mask.Ref{Path: r.pathOf(n, s), Use: mask.Named, Class: r.class, Line: n.Line(), Into: into})
		r.operand(n, s)
	default:
		r.walk(n, s)
	}
}

// field is where an element of a literal is put, nil where its key is none of a struct: of
// a map, or a constant.
func (r *maskReader) field(n syntax.Node) *mask.Argument {
	key := n.First("literal_element").First()
	of := n.Parent().Parent().Child("type")
	if !key.Is("identifier") || r.declared[key.Text()] || lenders[strings.Join(typePath(of), ".")] != "" || of.Is("map_type", "slice_type", "array_type", "implicit_length_array_type") {
		return nil
	}
	return &mask.Argument{Path: []string{mask.Field, key.Text()}}
}

// pathOf is the dotted name of what is called or named, locals told by their types:
// x.Close of a local x of type *File is File.Close.
func (r *maskReader) pathOf(n syntax.Node, s *scope) []string {
	if r.chain++; r.chain > longest {
		r.chain--
		return []string{"?"}
	}
	defer func() { r.chain-- }()
	switch n.Kind() {
	case "identifier":
		l, ok := s.find(n.Text())
		if !ok {
			return []string{n.Text()}
		}
		if l.of != nil {
			return l.of
		}
	case "selector_expression":
		field := n.Child("field").Text()
		p := r.pathOf(n.Child("operand"), s)
		if len(p) > 12 || isAlien(p) && slices.Contains(lent, field) {
			p = []string{"?"}
		}
		if isAlien(p) {
			return p
		}
		return append(slices.Clip(p), field)
	case "parenthesized_expression":
		return r.pathOf(n.First(), s)
	case "unary_expression":
		return r.pathOf(n.Child("operand"), s)
	default:
		if t := r.typeOf(n, s); t != nil {
			return t
		}
	}
	return []string{"?"}
}

// note adds what the owner runs, or what runs at load, once each.
func (r *maskReader) note(p []string, use mask.Use, n syntax.Node) {
	r.add(mask.Ref{Path: p, Use: use, Class: r.class, Line: n.Line()})
}

// hand is note for an argument of a call.
func (r *maskReader) hand(p []string, n syntax.Node, into *mask.Argument) {
	if into == others { // which runs what it gets
		into = nil
	}
	r.add(mask.Ref{Path: p, Use: mask.Handed, Class: r.class, Line: n.Line(), Into: into})
}

func (r *maskReader) add(ref mask.Ref) {
	p := ref.Path
	if len(p) == 0 || p[0] == "" || len(p) == 1 && p[0] == "?" || isAlien(p) {
		return
	}
	r.key = append(r.key[:0], ref.Use...)
	for _, word := range p {
		r.key = append(append(r.key, '.'), word...)
	}
	if ref.Into != nil {
		r.key = append(r.key, ' ')
		for _, word := range ref.Into.Path {
			r.key = append(append(r.key, '.'), word...)
		}
	}
	if r.seen[string(r.key)] {
		return
	}
	r.seen[string(r.key)] = true
	if r.value >= 0 {
		v := &r.file.Values[r.value]
		v.Runs = append(v.Runs, ref)
		return
	}
	if r.owner < 0 {
		r.file.Loads = append(r.file.Loads, ref)
		return
	}
	f := &r.file.Functions[r.owner]
	f.Runs = append(f.Runs, ref)
}
