package javascript

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// shapes are the kinds of nodes that count for the difficulty of a body.
var shapes = mask.Counter{
	"if_statement": mask.Branch | mask.Nest, "for_statement": mask.Branch | mask.Nest, "for_in_statement": mask.Branch | mask.Nest,
	"while_statement": mask.Branch | mask.Nest, "do_statement": mask.Branch | mask.Nest, "switch_statement": mask.Nest,
	"switch_case": mask.Branch, "try_statement": mask.Nest, "catch_clause": mask.Branch, "ternary_expression": mask.Branch,
	"binary_expression": mask.Logic, "call_expression": mask.Call, "new_expression": mask.Call, "comment": mask.Comment,
	"function_expression": mask.Nest, "function_declaration": mask.Nest, "arrow_function": mask.Nest, "generator_function": mask.Nest,
	"method_definition": mask.Nest,
}

// definition is what is known of a function before it is read.
type definition struct {
	name      string // qualified by the place's prefix
	full      string // or qualified already
	construct mask.Construct
	derived   bool
	public    bool
}

// function reads one definition and what is inside of it.
func (r *reader) function(n syntax.Node, d definition, p place) {
	name := d.full
	if name == "" {
		name = joined(p.prefix, d.name)
	}
	if p.plain || name == "" || p.level > maxLevel {
		r.transparent(n, p)
		return
	}
	name = r.unique(name, d.construct)
	if p.handed {
		path := strings.Split(name, ".")
		r.add(mask.Ref{Path: path, Use: mask.Handed, Class: p.class, Line: n.Line(), Into: p.into}, p)
		if p.holder != "" {
			r.bind(p.holder, mask.Ref{Path: path, Use: mask.Named, Class: -1})
		}
	}
	async, generator := n.Has("async"), n.Has("*") || n.Is("generator_function", "generator_function_declaration")
	b := r.replaced(n, asked{
		name: name, generator: generator, async: async, derived: d.derived,
		literal: isLiteral(n) || n.Parent().Is("object"), typed: p.typed && d.construct != mask.Getter || n.Child("return_type").Is() || d.construct == mask.Setter || d.construct == mask.Constructor,
	})
	f := mask.Function{
		Name: name, Construct: constructOf(d.construct, b, async, generator), Parent: p.function, Class: p.class, Line: n.Line(), Span: r.span(n),
		Body: b.Range, Strict: b.strict, Broken: b.broken || n.Broken(), Public: d.public || r.isPublic(n), Doc: r.documented(n), Literal: isLiteral(n),
	}
	if at := n.Child("name"); at.Is() {
		f.Line = at.Line()
	}
	if body := n.Child("body"); body.Is() && f.Body.Len() > 0 {
		f.Shape = shapes.Shape(body, f.Body)
	}
	i := r.declare(f)
	r.parameterFacts(n, d, p)
	in := place{function: i, class: p.class, prefix: name, deep: true, returns: true, scope: newScope(n, p.scope, true), level: p.level + 1}
	r.parameters(n, in)
	if body := n.Child("body"); body.Is("statement_block") {
		r.walk(body, in)
	} else {
		r.givenBack(body, in)
	}
	r.file.Functions[i].Takes = r.takes(n, in, d.construct == mask.Constructor)
}

func constructOf(c mask.Construct, b body, async, generator bool) mask.Construct {
	switch {
	case b.kept != "":
		return b.kept
	case generator:
		return mask.Generator
	case async:
		return mask.Async
	}
	return c
}

// parameterFacts are what parameters say of the class: decorators run when it is made,
// and a constructor's may declare fields.
func (r *reader) parameterFacts(n syntax.Node, d definition, p place) {
	for c := range n.Child("parameters").Children() {
		for decorator := range c.Children() {
			if decorator.Is("decorator") {
				r.walk(decorator, p)
			}
		}
		if d.construct == mask.Constructor && c.Has("accessibility_modifier", "readonly", "override_modifier") {
			r.typedName(joined(p.prefix, c.Child("pattern").Text()), c, p)
		}
	}
}

func (r *reader) parameters(n syntax.Node, p place) {
	if list := n.Child("parameters"); list.Is() {
		for c := range list.Children() {
			switch c.Kind() {
			case "required_parameter", "optional_parameter":
				r.pattern(c.Child("pattern"), p)
				r.walk(c.Child("value"), p.unbound())
			case "assignment_pattern":
				r.pattern(c.Child("left"), p)
				r.walk(c.Child("right"), p.unbound())
			case "object_pattern", "array_pattern":
				r.pattern(c, p)
			}
		}
	}
}

// literal is a function without a declaration: it has the name that it is bound to, or
// is code of what is around it.
func (r *reader) literal(n syntax.Node, p place) {
	if !p.bound || p.plain || r.astray(n) {
		r.transparent(n, p)
		return
	}
	name := p.name
	if own := n.Child("name"); own.Is() && (name == "default" || name == "" || strings.HasSuffix(name, ".return")) {
		name = strings.TrimSuffix(name, "default")
		name = joined(strings.TrimSuffix(strings.TrimSuffix(name, "return"), "."), own.Text())
		if p.name == "default" || p.name == "" {
			r.bind("default", mask.Ref{Path: []string{name}, Use: mask.Named, Class: -1})
			r.export(name)
		}
	}
	if name == "" {
		name = "default"
		r.export(name)
	}
	construct := mask.Lambda
	if p.class >= 0 && strings.HasPrefix(name, r.file.Classes[p.class].Name+".") && p.function < 0 {
		construct = mask.Method
	}
	r.function(n, definition{full: name, construct: construct, public: r.exported[name]}, p)
}

// transparent reads a function as code of what is around it. Its parameters are its
// own; outside of declared functions, its variables are taken for the module's.
func (r *reader) transparent(n syntax.Node, p place) {
	p = p.unbound()
	p.giving, p.returns = false, false
	r.spot(n, p)
}

// spot is transparent for a function that is called where it stands.
func (r *reader) spot(n syntax.Node, p place) {
	p.scope = newScope(n, p.scope, p.deep)
	r.parameters(n, p)
	body := n.Child("body")
	if body.Is("statement_block") {
		r.inside(body, p)
		return
	}
	if p.giving {
		p = p.named(p.result)
	}
	r.walk(body, p)
}

// class reads a class; a name that it is bound to goes before none at all.
func (r *reader) class(n syntax.Node, p place) {
	if p.plain || p.level > maxLevel {
		r.inside(n, p.unbound())
		return
	}
	name := r.className(n, p)
	class := mask.Class{Name: name, Parent: p.class, Span: r.span(n)}
	index := len(r.file.Classes)
	r.file.Classes = append(r.file.Classes, class)
	r.classes[name] = index
	for c := range n.Children() {
		if c.Is("decorator") {
			r.walk(c, p)
		}
	}
	r.controller(n, index)
	bases := r.heritage(n.First("class_heritage"), p)
	r.file.Classes[index].Bases = bases
	in := p.unbound()
	in.class, in.prefix, in.giving, in.level = index, name, false, p.level+1
	r.members(n.Child("body"), in, len(bases) > 0 || n.Has("class_heritage"))
}

// className prefers what others can say: the name of the variable, unless there is none.
func (r *reader) className(n syntax.Node, p place) string {
	own := n.Child("name")
	name := joined(p.prefix, own.Text())
	switch {
	case n.Is("class") && p.bound && p.name != "" && p.name != "default":
		return p.name
	case own.Is() && p.bound:
		r.bind("default", mask.Ref{Path: []string{name}, Use: mask.Named, Class: -1})
		r.export(name)
	case own.Is():
	case p.bound:
		return "default"
	default:
		return joined(p.prefix, "class")
	}
	return name
}

// heritage is run when the class is made, and names its bases.
func (r *reader) heritage(n syntax.Node, p place) []mask.Ref {
	if extends := n.First("extends_clause"); extends.Is() {
		n = extends
	} else if n.First("implements_clause").Is() {
		return nil
	}
	var bases []mask.Ref
	for c := range n.Children() {
		if !c.Named() || c.Is("type_arguments", "comment", "implements_clause") {
			continue
		}
		value := unwrapped(c)
		if path, ok := r.path(value); ok {
			bases = append(bases, mask.Ref{Path: path, Use: mask.Inherited, Class: p.class, Line: value.Line()})
			r.use(value, mask.Inherited, p)
			continue
		}
		// A mixin: what it is given is inherited from, too.
		for arg := range value.Child("arguments").Children() {
			if path, ok := r.path(arg); ok && arg.Named() {
				bases = append(bases, mask.Ref{Path: path, Use: mask.Inherited, Class: p.class, Line: value.Line()})
			}
		}
		r.walk(value, p.unbound())
	}
	return bases
}

// members reads the body of a class.
func (r *reader) members(n syntax.Node, p place, derived bool) {
	own, before := newSink(), len(r.file.Functions)
	var decorators []syntax.Node
	for c := range n.Children() {
		switch c.Kind() {
		case "method_definition":
			r.method(c, p, derived)
			r.handler(c, decorators, p)
		case "method_signature":
			construct := mask.Overload
			if c.Has("?") || n.Parent().Parent().Is("ambient_declaration") {
				construct = mask.Bodiless
			}
			r.signature(c, construct, p)
		case "abstract_method_signature":
			r.signature(c, mask.Abstract, p)
		case "field_definition", "public_field_definition":
			r.field(c, p, own)
		case "class_static_block":
			r.static(c, p)
		case "decorator":
			r.walk(c, p)
			decorators = append(decorators, c)
			continue
		case "comment":
			continue
		}
		decorators = nil
	}
	constructor := -1
	for i, f := range r.file.Functions[before:] {
		if f.Class == p.class && f.Name == joined(p.prefix, "constructor") && f.Construct != mask.Overload {
			constructor = before + i
		}
	}
	if constructor < 0 {
		r.file.Classes[p.class].Makes = own.refs
		return
	}
	for _, ref := range own.refs {
		r.sinks[constructor].add(ref)
	}
}

// method is a member with a body, of a class or of an object literal.
func (r *reader) method(n syntax.Node, p place, derived bool) {
	for c := range n.Children() {
		if c.Is("decorator") {
			r.walk(c, p)
		}
	}
	key := n.Child("name")
	if key.Is("computed_property_name") {
		r.walk(key, p)
	}
	d := definition{name: r.keyName(key), construct: mask.Method}
	switch {
	case n.Has("get"):
		d.construct = mask.Getter
	case n.Has("set"):
		d.construct = mask.Setter
	case d.name == "constructor" && p.class >= 0 && n.Parent().Is("class_body") && !n.Has("static"):
		d.construct, d.derived = mask.Constructor, derived
	}
	if d.name == "" { // computed: nobody can call it by a name
		d.name = "[computed]"
	}
	r.function(n, d, p)
}

// field is a class's variable. A static one is set when the class is made, another when
// an object is.
func (r *reader) field(n syntax.Node, p place, own *sink) {
	for c := range n.Children() {
		if c.Is("decorator") {
			r.walk(c, p)
		}
	}
	key := n.Child("name")
	if !key.Is() {
		key = n.Child("property")
	}
	if key.Is("computed_property_name") {
		r.walk(key, p)
	}
	name, value := r.keyName(key), n.Child("value")
	static := n.Has("static")
	if name != "" {
		r.typedName(joined(p.prefix, name), n, p)
	}
	if !value.Is() {
		return
	}
	at := p.named(joined(p.prefix, name))
	at.bound = name != ""
	at.typed = n.Child("type").Is()
	if name != "" {
		at = at.held(at.name)
		if ref, ok := r.ownCall(value, p); ok {
			r.bind(at.name, ref)
		}
	}
	if !static && at.collect == nil {
		at.collect = own
	}
	r.walk(value, at)
}

// ownCall is what a field holds that is set by a call, of a method of the class too.
func (r *reader) ownCall(value syntax.Node, p place) (mask.Ref, bool) {
	if value = unwrapped(value); !value.Is("call_expression") {
		return mask.Ref{}, false
	}
	if path, ok := r.path(value.Child("function")); ok && path[0] == "this" {
		return mask.Ref{Path: path, Use: mask.Called, Class: p.class}, true
	}
	return r.valueRef(value, p)
}

// static is a block that runs when the class is made.
func (r *reader) static(n syntax.Node, p place) {
	if p.plain {
		r.inside(n, p)
		return
	}
	i := r.declare(mask.Function{
		Name: joined(p.prefix, "static"), Construct: mask.Hook, Parent: p.function, Class: p.class,
		Line: n.Line(), Span: r.span(n), Broken: n.Broken(),
	})
	if b := n.Child("body"); b.Is() {
		r.file.Functions[i].Body = mask.Range{Start: b.Start() + 1, End: max(b.Start()+1, b.End()-1)}
		r.file.Functions[i].Shape = shapes.Shape(b, r.file.Functions[i].Body)
		r.inside(b, place{function: i, class: p.class, prefix: joined(p.prefix, "static"), deep: true, scope: newScope(n, p.scope, true), level: p.level + 1})
	}
	for _, ref := range r.sinks[i].refs {
		r.add(ref, p)
	}
}

// object is a literal. Its methods have names where it has one.
func (r *reader) object(n syntax.Node, p place) {
	if !p.bound || p.plain {
		p.plain = p.plain || p.function >= 0
		r.unnamedObject(n, p)
		return
	}
	in := p.unbound()
	in.prefix = p.name
	typed := p.typed
	if in.prefix != "" && p.tells == nothing && hasMembers(n) {
		in.class = r.classOf(in.prefix, n)
	}
	for c := range n.Children() {
		if p.tells == property && r.accessor(c, in) {
			continue
		}
		switch c.Kind() {
		case "method_definition":
			if p.lent && c.Has("get") {
				r.transparent(c, in)
				continue
			}
			at := in
			at.typed = typed
			r.method(c, at, false)
			r.exportMember(p, r.keyName(c.Child("name")))
		case "pair":
			r.exportMember(p, r.keyName(c.Child("key")))
			if one := unwrapped(c.Child("value")); p.lent && givesName(one) {
				r.transparent(one, in)
				continue
			} else if p.tells == properties && one.Is("object") {
				at := in.named(joined(in.prefix, r.keyName(c.Child("key"))))
				at.tells = property
				r.object(one, at)
				continue
			}
			r.pair(c, in, typed)
		case "shorthand_property_identifier":
			r.walk(c, in)
			r.exportMember(p, c.Text())
			r.objectBinding(in.prefix, c.Text(), c, p)
		default:
			if c.Named() {
				r.walk(c, in)
			}
		}
	}
}

// exportMember is for the object that a CommonJS module is.
func (r *reader) exportMember(p place, name string) {
	if p.name == "" && name != "" {
		r.export(name)
	}
}

// accessor reads the get or set of a property, which has the property's name.
func (r *reader) accessor(n syntax.Node, p place) bool {
	key, fn := n.Child("name"), n
	if n.Is("pair") {
		key, fn = n.Child("key"), unwrapped(n.Child("value"))
	}
	construct := map[string]mask.Construct{"get": mask.Getter, "set": mask.Setter}[key.Text()]
	if construct == "" || !n.Is("method_definition") && !isLiteral(fn) {
		return false
	}
	r.function(fn, definition{full: p.prefix, construct: construct, public: true}, p)
	return true
}

// hasMembers tells an object of which a member may be called by its name.
func hasMembers(n syntax.Node) bool {
	for c := range n.Children() {
		value := unwrapped(c.Child("value"))
		if c.Is("method_definition", "shorthand_property_identifier") || c.Is("pair") && (isLiteral(value) || value.Is("identifier", "member_expression", "call_expression", "new_expression")) {
			return true
		}
	}
	return false
}

// unnamedObject has no name to give to its methods.
func (r *reader) unnamedObject(n syntax.Node, p place) {
	for c := range n.Children() {
		switch c.Kind() {
		case "method_definition":
			r.walk(c.Child("name"), p.unbound())
			r.transparent(c, p.unbound())
		case "pair":
			r.walk(c.Child("key"), p.unbound())
			r.walk(c.Child("value"), p.unbound())
		default:
			if c.Named() {
				r.walk(c, p.unbound())
			}
		}
	}
}

func (r *reader) pair(n syntax.Node, p place, typed bool) {
	key, value := n.Child("key"), n.Child("value")
	if key.Is("computed_property_name") {
		r.walk(key, p)
	}
	name := r.keyName(key)
	if name == "" {
		r.walk(value, p.unbound())
		return
	}
	r.objectBinding(p.prefix, name, value, p)
	at := p.named(joined(p.prefix, name))
	if !p.deep {
		at = at.held(at.name)
	}
	at.typed = typed
	r.walk(value, at)
}

// classOf is the index of a class by name; an object or function with methods is one.
func (r *reader) classOf(name string, n syntax.Node) int {
	if i, ok := r.classes[name]; ok {
		return i
	}
	i := len(r.file.Classes)
	r.file.Classes = append(r.file.Classes, mask.Class{Name: name, Parent: -1, Span: r.span(n)})
	r.classes[name] = i
	return i
}

// keyName is the name of a member, "" for one that is computed.
func (r *reader) keyName(n syntax.Node) string {
	switch {
	case n.Is("string"):
		return strings.Trim(n.Text(), `"'`)
	case n.Is("computed_property_name"):
		// [Symbol.iterator] is a name to everybody.
		if inner := first(n); inner.Is("member_expression", "identifier", "string") {
			return "[" + oneLine(inner.Text()) + "]"
		}
		return ""
	}
	return oneLine(n.Text())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), "") }

// unique tells apart functions that the source calls alike: arguments of one call,
// branches. A getter and its setter, overloads and what they are of share a name.
func (r *reader) unique(name string, c mask.Construct) string {
	if c != mask.Lambda {
		return name
	}
	r.names[name]++
	if times := r.names[name]; times > 1 {
		return name + "#" + strconv.Itoa(times)
	}
	return name
}

// whole is the definition with what belongs to it: export, const, the assignment.
func whole(n syntax.Node) syntax.Node {
	for {
		p := n.Parent()
		switch {
		case p.Is("export_statement", "ambient_declaration", "lexical_declaration", "variable_declaration", "variable_declarator", "expression_statement",
			"assignment_expression", "pair", "parenthesized_expression", "as_expression", "satisfies_expression"):
			n = p
		default:
			return n
		}
	}
}

func (r *reader) span(n syntax.Node) mask.Range {
	if n.Parent().Is("export_statement") {
		n = n.Parent()
	}
	return mask.Range{Start: n.Start(), End: n.End()}
}

// documented looks for a doc comment that ends before the definition.
func (r *reader) documented(n syntax.Node) bool {
	at := whole(n).Start()
	before := bytes.TrimRight(r.source[:at], " \t\r\n")
	return r.docs[len(before)]
}

// isPublic is said of the definition alone; whether others can import what it is a
// member of is settled in the end.
func (r *reader) isPublic(n syntax.Node) bool {
	if strings.HasPrefix(n.Child("name").Text(), "#") {
		return false
	}
	if m := n.First("accessibility_modifier"); m.Is() && m.Text() != "public" {
		return false
	}
	return true
}
