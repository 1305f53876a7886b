package javascript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Dialect tells the two languages apart where it matters.
type Dialect int

// The dialects.
const (
	Untyped Dialect = iota
	Typed
)

// reader walks one tree once, in the order of the source.
type reader struct {
	dialect  Dialect
	at       string // the path of the file
	source   []byte
	file     *mask.File
	sinks    []*sink // by function
	loads    *sink
	classes  map[string]int
	protos   map[string]string // names that hold X.prototype: X
	objects  map[string]bool   // names that hold an object literal, and may get members
	exported map[string]bool   // names that others can import
	docs     map[int]bool      // where doc comments end
	prefixes map[int]string    // by class: where its handlers begin
	names    map[string]int    // how often a name was given
	taken    map[mask.Import]struct{}
	chains   map[int]chain                  // rows of assignments, by where they begin
	made     map[int]bool                   // those of them that end with an object
	plain    map[string]syntax.Node         // what the file itself declares without types to fill in
	generic  map[string]syntax.Node         // functions and classes with parameters that are types, likewise
	counted  map[string]int                 // how often it gives a name to a function, class, type or variable
	results  map[int]string                 // what functions give, by where they begin
	fields   map[int]map[string]string      // their types, of classes, by where their bodies begin
	methods  map[int]map[string]syntax.Node // of classes, by where their bodies begin; none where a name has several
	declared map[string]bool                // names that the file gives to something, anywhere
	callees  map[string]bool                // names that are called somewhere in the file
	expected []expected
	program  bool // it is run, not imported
	depth    int
}

// place is where the walk stands.
type place struct {
	function int    // the function around, -1
	class    int    // the class around, -1
	prefix   string // qualified name of what is around
	// bound says that a function met here has a name: what it is assigned to.
	bound   bool
	name    string
	typed   bool           // what it is assigned to says its type
	handed  bool           // it stands among the arguments of a call, that may call it
	lent    bool           // an object that a call gets: what it calls may read it
	tells   telling        // an object that says what properties another has
	idle    bool           // what it gives is only bound to a name, given back or dropped
	returns bool           // what is returned here is what the function around gives
	holder  string         // the name, of an argument too
	into    *mask.Argument // the call that it is an argument of, where what that gives is idle
	giving  bool           // what is returned here is bound to result: a function called on the spot makes it
	result  string
	plain   bool // functions are code of what is around them: decorators, computed names
	deep    bool // inside a declared function: its variables are its own
	level   int  // how many functions are around
	scope   *scope
	collect *sink // takes the references instead
}

// telling is what an object literal says to Object.defineProperty and its like.
type telling int8

const (
	nothing    telling = iota
	property           // get and set of the one that it is named after
	properties         // more than one, by their names
)

// unbound is the place of an expression whose functions have no name.
func (p place) unbound() place {
	p.bound, p.name, p.typed, p.handed, p.lent, p.tells = false, "", false, false, false, nothing
	return p.busy()
}

func (p place) named(name string) place {
	p.bound, p.name, p.typed, p.handed, p.lent, p.tells = true, name, false, false, false, nothing
	return p.busy()
}

// busy is the place of an expression whose value is used there and then.
func (p place) busy() place {
	p.idle, p.holder, p.into = false, "", nil
	return p
}

// held is the place of one whose value is only what holder stands for, "" for none.
func (p place) held(holder string) place {
	p.idle, p.holder, p.into = true, holder, nil
	return p
}

// Read says what a file holds.
func Read(file string, tree *syntax.Tree, dialect Dialect) *mask.File {
	r := &reader{
		dialect: dialect, at: file, source: tree.Source,
		file:  &mask.File{Modules: modules(file)},
		loads: newSink(), classes: map[string]int{}, protos: map[string]string{}, objects: map[string]bool{},
		exported: map[string]bool{}, docs: map[int]bool{}, names: map[string]int{}, taken: map[mask.Import]struct{}{}, declared: map[string]bool{}, plain: map[string]syntax.Node{}, generic: map[string]syntax.Node{}, counted: map[string]int{}, results: map[int]string{}, callees: map[string]bool{}, methods: map[int]map[string]syntax.Node{}, fields: map[int]map[string]string{}, chains: map[int]chain{}, made: map[int]bool{}, prefixes: map[int]string{},
	}
	r.survey(tree)
	r.inside(tree.Root(), place{function: -1, class: -1})
	r.finish()
	return r.file
}

// survey finds what has to be known beforehand, wherever it stands.
func (r *reader) survey(tree *syntax.Tree) {
	for n := range tree.All() {
		switch n.Kind() {
		case "comment":
			if bytes.HasPrefix(r.source[n.Start():n.End()], []byte("/**")) {
				r.docs[n.End()] = true
			}
			if r.dialect == Typed {
				r.expecting(mask.Range{Start: n.Start(), End: n.End()})
			}
		case "identifier", "type_identifier":
			if names := n.Field() == "name" || n.Field() == "alias" || n.Field() == "pattern"; names || n.Parent().Is("import_clause", "namespace_import", "import_require_clause", "formal_parameters") {
				if !n.Parent().Is("generic_type", "type_query", "interface_declaration") {
					r.declared[n.Text()] = true
				}
			}
		case "function_declaration", "function_signature", "class_declaration", "abstract_class_declaration", "type_alias_declaration", "variable_declarator", "type_parameter":
			r.notePlain(n)
		case "call_expression":
			if fn := calledItself(n.Child("function")); fn.Is("identifier") {
				r.callees[fn.Text()] = true
			}
		case "new_expression":
			r.callees[n.Child("constructor").Text()] = true
		case "hash_bang_line":
			r.program = true
		}
	}
	if tree.Broken() {
		r.faults(tree)
	}
}

// faults are syntax errors outside functions.
func (r *reader) faults(tree *syntax.Tree) {
	for n := range tree.Root().Walk(func(n syntax.Node) bool { return !isFunction(n) && n.Broken() }) {
		if (n.Kind() == "ERROR" || n.Missing()) && !slices.Contains(r.file.Faults, n.Line()) {
			r.file.Faults = append(r.file.Faults, n.Line())
		}
	}
}

// finish settles what could not be known before the end.
func (r *reader) finish() {
	for i := range r.file.Functions {
		f := &r.file.Functions[i]
		f.Runs = r.sinks[i].refs
		head, _, _ := strings.Cut(f.Name, ".")
		f.Public = f.Public && f.Parent < 0 && (r.exported[head] || r.exported[f.Name])
	}
	r.file.Program = len(r.exported) == 0
	if len(r.expected) > 0 {
		bodies := make([]mask.Range, len(r.file.Functions))
		for i, f := range r.file.Functions {
			bodies[i] = f.Body
		}
		r.file.Repair = unexpect(r.expected, bodies)
	}
	switch {
	case Declares(r.at): // the compiler alone reads it
		for i := range r.file.Classes {
			r.file.Classes[i].Late = true
		}
	case !r.program || !r.file.Program:
		r.file.Loads = r.loads.refs
	}
}

func isFunction(n syntax.Node) bool {
	return n.Is() && n.Named() && n.Is("function_declaration", "generator_function_declaration", "function_expression", "generator_function", "arrow_function", "method_definition")
}

func isLiteral(n syntax.Node) bool {
	return n.Is() && n.Named() && n.Is("function_expression", "generator_function", "arrow_function")
}

func (r *reader) inside(n syntax.Node, p place) {
	for c := range n.Children() {
		if c.Named() {
			r.walk(c, p)
		}
	}
}

// Nobody writes what nests deeper; what is further in counts as code of what is around
// it, and is not read where it would take more stack than there is.
const (
	maxLevel = 64
	maxDepth = 100_000
)

// walk reads whatever comes.
func (r *reader) walk(n syntax.Node, p place) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	switch n.Kind() {
	case "comment", "type_annotation", "type_arguments", "type_parameters", "interface_declaration", "type_alias_declaration",
		"implements_clause", "statement_identifier", "property_identifier", "predefined_type", "jsx_closing_element", "asserts_annotation", "type_predicate_annotation":
	case "import_statement":
		r.imports(n)
	case "import_alias":
		r.alias(n)
	case "export_statement":
		r.exports(n, p)
	case "ambient_declaration":
		r.ambient(n, p)
	case "internal_module", "module":
		r.namespace(n, p)
	case "function_declaration", "generator_function_declaration":
		r.function(n, definition{name: n.Child("name").Text(), construct: mask.Plain}, p)
	case "function_signature":
		r.signature(n, mask.Overload, p)
	case "function_expression", "generator_function", "arrow_function":
		r.literal(n, p)
	case "class_declaration", "abstract_class_declaration", "class":
		r.class(n, p)
	case "object":
		r.object(n, p)
	case "variable_declarator":
		r.declarator(n, p)
	case "assignment_expression":
		r.assignment(n, p)
	case "augmented_assignment_expression":
		p = p.unbound()
		r.inside(n, p)
	case "call_expression", "new_expression":
		r.call(n, p)
	case "identifier", "this", "super", "member_expression", "subscript_expression":
		r.use(n, mask.Named, p)
	case "shorthand_property_identifier":
		r.add(mask.Ref{Path: []string{n.Text()}, Use: mask.Named, Class: p.class, Line: n.Line()}, p)
	case "decorator":
		p.plain = true
		r.decorator(n, p)
	case "computed_property_name":
		p.plain = true
		r.inside(n, p.unbound())
	case "return_statement":
		r.returned(n, p)
	case "if_statement":
		r.condition(n, p)
	case "enum_declaration":
		r.inside(n.Child("body"), p.unbound())
	case "enum_assignment":
		r.walk(n.Child("value"), p.unbound())
	case "catch_clause":
		r.inside(n.Child("body"), p.unbound())
	case "jsx_opening_element", "jsx_self_closing_element":
		r.markup(n, p)
	case "expression_statement":
		r.inside(n, p.unbound().held(""))
	case "ternary_expression", "binary_expression", "await_expression", "sequence_expression":
		if !p.idle || p.holder != "" { // which of them the name holds is not followed
			p = p.busy()
		}
		r.inside(n, p)
	case "parenthesized_expression", "non_null_expression":
		r.inside(n, p)
	case "as_expression", "satisfies_expression", "type_assertion": // what gives never is like no type with overloads
		p.typed = false
		r.walk(unwrapped(n), p)
	case "arguments", "template_substitution", "spread_element", "array":
		r.inside(n, p.unbound())
	default:
		r.inside(n, p.unbound())
	}
}

// unwrapped is an expression without parentheses and words about its type.
func unwrapped(n syntax.Node) syntax.Node {
	for n.Is() && n.Named() {
		inner := syntax.Node{}
		switch n.Kind() {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			inner = first(n)
		case "sequence_expression":
			if n.Parent().Is("parenthesized_expression") { // (0, a.b)(…)
				inner = lastOf(n)
			}
		case "type_assertion":
			for c := range n.Children() {
				if c.Named() && !c.Is("comment") {
					inner = c
				}
			}
		}
		if !inner.Is() {
			return n
		}
		n = inner
	}
	return n
}

// first is the first child that is no comment.
func first(n syntax.Node) syntax.Node {
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			return c
		}
	}
	return syntax.Node{}
}

// declarator is a name and its value.
func (r *reader) declarator(n syntax.Node, p place) {
	name, value := n.Child("name"), n.Child("value")
	if !value.Is() {
		r.typedName(joined(p.prefix, name.Text()), n, p)
		return
	}
	if !name.Is("identifier") {
		r.pattern(name, p)
		if !r.required(name, value, p) {
			r.destructured(name, value, p)
		}
		return
	}
	if r.required(name, value, p) {
		return
	}
	text := name.Text()
	if r.callees[text] {
		r.element(unwrapped(value), p)
	}
	at := p.named(joined(p.prefix, text))
	at.typed = n.Child("type").Is()
	if !p.deep {
		at = at.held(at.name)
		if of, ok := prototypeOf(value); ok {
			r.protos[text] = of
		}
		r.objects[at.name] = r.makesObject(value)
	}
	r.binding(text, n, p)
	r.walk(value, at)
}

// destructured are names for parts of a value. Of what a call gives, each may be any.
func (r *reader) destructured(pattern, value syntax.Node, p place) {
	at := p.unbound()
	if ref, ok := r.valueRef(value, p); ok && ref.Use == mask.Called && !p.deep {
		for n := range pattern.Walk(func(n syntax.Node) bool { return n.Field() != "right" }) {
			if n.Is("identifier", "shorthand_property_identifier_pattern") && n.Field() != "right" {
				name := joined(p.prefix, n.Text())
				if at.holder == "" {
					at = at.held(name)
					r.bind(name, ref)
				} else {
					r.bind(name, mask.Ref{Path: []string{at.holder}, Use: mask.Named, Class: -1})
				}
			}
		}
	}
	r.walk(value, at)
}

// pattern is what a destructuring runs: defaults and computed names.
func (r *reader) pattern(n syntax.Node, p place) {
	for c := range n.Walk(func(c syntax.Node) bool {
		return !c.Is("assignment_pattern", "object_assignment_pattern", "computed_property_name")
	}) {
		switch c.Kind() {
		case "assignment_pattern", "object_assignment_pattern":
			r.pattern(c.Child("left"), p)
			r.walk(c.Child("right"), p.unbound())
		case "computed_property_name":
			r.walk(c, p)
		}
	}
}

// assignment names functions as a declaration does: exports.f =, X.prototype.f =, f =.
func (r *reader) assignment(n syntax.Node, p place) {
	left, right := n.Child("left"), n.Child("right")
	if left.Is("object_pattern", "array_pattern") {
		r.pattern(left, p)
		r.walk(right, p.unbound())
		return
	}
	target := r.target(left, p)
	if target.name == "" && !target.exports {
		r.walk(left, p.unbound())
		r.walk(right, p.unbound())
		return
	}
	r.assigned(target, n, p)
	at := p.named(target.name)
	if target.class >= 0 {
		at.class = target.class
	}
	if p.bound && target.exports && p.name != "" {
		at.name = p.name // var app = module.exports = …: its own name says more
	}
	if !p.deep {
		at = at.held(target.name)
		r.objects[target.name] = r.makesObject(right)
		if target.exports && target.name == "" {
			at.holder = "default"
		}
	}
	r.walk(right, at)
}

// returned is bound where the function is called on the spot to make a module, and
// inside a function that makes others.
func (r *reader) returned(n syntax.Node, p place) {
	if value := first(n); value.Is() {
		r.givenBack(value, p)
	}
}

func (r *reader) givenBack(value syntax.Node, p place) {
	at := p.unbound()
	switch one := unwrapped(value); {
	case p.giving:
		at = p.named(p.result)
	case p.deep && !p.plain && (isLiteral(one) || one.Is("object", "class") || passes(one)):
		at = p.named(joined(p.prefix, "return"))
	}
	at.idle = p.returns
	r.walk(value, at)
}

// passes tells a call that gives what it is given: Object.assign(…), Object.freeze(…).
func passes(n syntax.Node) bool {
	fn := unwrapped(n.Child("function"))
	return n.Is("call_expression") && fn.Is("member_expression") && fn.Child("object").Text() == "Object" && slices.Contains(callsLater, fn.Child("property").Text())
}

// isProgram is how a file asks whether it is the program.
var isProgram = lazyregexp.New(`require\.main\b|\bimport\.meta\.main\b|\bprocess\.argv\[1\]`)

// condition leaves out what runs only when the file is the program.
func (r *reader) condition(n syntax.Node, p place) {
	p = p.unbound()
	condition := n.Child("condition")
	if p.function < 0 && condition.Is() && isProgram.Match(r.source[condition.Start():condition.End()]) {
		skipped := p
		skipped.collect = newSink()
		r.walk(n.Child("consequence"), skipped)
		r.walk(n.Child("alternative"), p)
		return
	}
	r.inside(n, p)
}

// namespace is TypeScript's: its members are reached through its name.
func (r *reader) namespace(n syntax.Node, p place) {
	name := n.Child("name")
	if name.Is("string") { // declare module "x"
		return
	}
	p = p.unbound()
	for part := range strings.SplitSeq(oneLine(name.Text()), ".") {
		p.prefix = joined(p.prefix, part)
		r.classOf(p.prefix, n)
	}
	if n.Parent().Parent().Is("export_statement") || n.Parent().Is("export_statement") {
		r.export(p.prefix)
	}
	r.inside(n.Child("body"), p)
}

// ambient declares what is defined elsewhere.
func (r *reader) ambient(n syntax.Node, p place) {
	for c := range n.Walk(func(c syntax.Node) bool { return !c.Is("interface_declaration", "object_type", "statement_block") }) {
		switch c.Kind() {
		case "function_signature", "method_signature", "abstract_method_signature":
			at := p
			at.prefix = joined(p.prefix, c.Above("class_declaration", "abstract_class_declaration", "program").Child("name").Text())
			r.signature(c, mask.Bodiless, at)
		}
	}
}

// signature is a declaration without a body.
func (r *reader) signature(n syntax.Node, c mask.Construct, p place) {
	name := r.keyName(n.Child("name"))
	if name == "" || p.plain {
		return
	}
	r.declare(mask.Function{
		Name: joined(p.prefix, name), Construct: c, Parent: p.function, Class: p.class, Line: n.Child("name").Line(),
		Span: r.span(n), Broken: n.Broken(), Public: r.isPublic(n), Doc: r.documented(n),
	})
}

func (r *reader) declare(f mask.Function) int {
	r.file.Functions = append(r.file.Functions, f)
	r.sinks = append(r.sinks, newSink())
	return len(r.file.Functions) - 1
}
