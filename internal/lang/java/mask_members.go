package java

import (
	"bytes"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// maxLevel and maxDepth bound what nobody writes.
const (
	maxLevel = 64
	maxDepth = 100_000
)

func isFunction(n syntax.Node) bool {
	return n.Is("method_declaration", "constructor_declaration", "compact_constructor_declaration")
}

func (r *reader) inChildren(n syntax.Node, p place) {
	for c := range n.Children() {
		if c.Named() {
			r.walk(c, p)
		}
	}
}

// walk reads whatever comes.
func (r *reader) walk(n syntax.Node, p place) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	switch n.Kind() {
	case "package_declaration", "import_declaration", "line_comment", "block_comment", "type_arguments", "type_parameters",
		"superclass", "super_interfaces", "extends_interfaces", "permits", "throws", "marker_annotation", "annotation":
	case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
		r.class(n, n.Child("name").Text(), p)
	case "method_declaration":
		r.method(n, p)
	case "annotation_type_element_declaration":
		r.declare(n, mask.Function{Name: n.Child("name").Text(), Construct: mask.Bodiless}, p)
	case "constructor_declaration", "compact_constructor_declaration":
		r.constructor(n, p)
	case "static_initializer":
		r.initializer(n, p)
	case "field_declaration", "constant_declaration":
		r.field(n, p)
	case "enum_constant":
		r.constant(n, p)
	case "class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body":
		r.members(n, p)
	case "local_variable_declaration":
		r.local(n, p)
	default:
		r.expression(n, p)
	}
}

// class reads a type with members.
func (r *reader) class(n syntax.Node, name string, p place) {
	if p.level > maxLevel {
		r.inChildren(n.Child("body"), p)
		return
	}
	c := mask.Class{Name: p.prefix + name, Parent: p.class, Span: mask.Range{Start: n.Start(), End: n.End()}}
	for child := range n.Children() {
		switch child.Kind() {
		case "superclass":
			c.Bases = append(c.Bases, r.bases(child, p)...)
		case "super_interfaces", "extends_interfaces":
			c.Bases = append(c.Bases, r.bases(child.First("type_list"), p)...)
		}
	}
	r.file.Classes = append(r.file.Classes, c)
	in := place{function: p.function, class: len(r.file.Classes) - 1, prefix: c.Name + ".", scope: p.scope, collect: p.collect, level: p.level + 1}
	r.routes[in.class] = r.prefixOf(n)
	for parameter := range n.Child("parameters").Children() { // a record's
		r.bindType(in.prefix+parameter.Child("name").Text(), parameter.Child("type"), in)
	}
	first := len(r.file.Functions)
	r.walk(n.Child("body"), in)
	r.construct(in.class, first)
}

// construct gives what all objects run to the constructors of their class.
func (r *reader) construct(class, first int) {
	found := false
	for i := first; i < len(r.file.Functions); i++ {
		if f := &r.file.Functions[i]; f.Class == class && strings.HasSuffix(f.Name, ".<init>") && f.Construct == mask.Constructor {
			f.Runs = append(f.Runs, r.objects[class]...)
			found = true
		}
	}
	if found {
		delete(r.objects, class)
	}
}

func (r *reader) bases(n syntax.Node, p place) []mask.Ref {
	var out []mask.Ref
	for c := range n.Children() {
		if path := typeName(c); path != nil {
			out = append(out, mask.Ref{Path: path, Use: mask.Inherited, Class: p.class, Line: c.Line()})
		}
	}
	return out
}

// members reads a body: blocks in it run when an object is made.
func (r *reader) members(n syntax.Node, p place) {
	for c := range n.Children() {
		if c.Is("block") {
			r.initializer(c, p)
		} else if c.Named() {
			r.walk(c, p)
		}
	}
}

// declare writes a definition down; name is not yet qualified.
func (r *reader) declare(n syntax.Node, f mask.Function, p place) int {
	f.Name, f.Parent, f.Class = p.prefix+f.Name, p.function, p.class
	f.Span = mask.Range{Start: n.Start(), End: n.End()}
	f.Broken = f.Broken || n.Broken()
	f.Doc = r.docs[len(bytes.TrimRight(r.source[:n.Start()], " \t\r\n"))]
	if f.Line = n.Line(); n.Child("name").Is() {
		f.Line = n.Child("name").Line()
	}
	modifiers := n.First("modifiers")
	f.Public = modifiers.Has("public") || n.Parent().Is("interface_body", "annotation_type_body") && !modifiers.Has("private")
	r.file.Functions = append(r.file.Functions, f)
	return len(r.file.Functions) - 1
}

func (r *reader) method(n syntax.Node, p place) {
	name := n.Child("name").Text()
	construct := mask.Method
	modifiers := n.First("modifiers")
	switch {
	case modifiers.Has("native"):
		construct = mask.Bodiless
	case !n.Child("body").Is():
		construct = mask.Abstract
	case name == "main" && modifiers.Has("static") && strings.Contains(n.Child("parameters").Text(), "String"):
		construct = mask.Main
	case name == "finalize" && !n.Child("parameters").First().Is():
		construct = mask.Destructor
	}
	r.function(n, name, construct, p)
}

// constructor keeps a call of another one, which has to come first.
func (r *reader) constructor(n syntax.Node, p place) { r.function(n, "<init>", mask.Constructor, p) }

// unwritten is what a body says that waits to be written, or never will be.
var unwritten = lazyregexp.New(`(?i)not[ _-]?(yet[ _-])?(implemented|supported)|unimplemented|UnsupportedOperation|must (be )?(implement|overrid)`)

func (r *reader) function(n syntax.Node, name string, c mask.Construct, p place) {
	if p.level > maxLevel {
		r.inChildren(n, p)
		return
	}
	f := mask.Function{Name: name, Construct: c, Result: r.written(n)}
	body := n.Child("body")
	if body.Is() {
		r.replace(&f, n, body, p)
	}
	i := r.declare(n, f, p)
	r.handlers(n, i, p)
	in := place{function: i, class: p.class, prefix: p.prefix + name + ".", level: p.level + 1, scope: newScope(p.scope)}
	for parameter := range n.Child("parameters").Children() {
		in.scope.declare(parameter)
	}
	r.inChildren(body, in)
}

// replace says what stands in the place of a body.
func (r *reader) replace(f *mask.Function, n, body syntax.Node, p place) {
	if body.End()-body.Start() < 2 || r.source[body.Start()] != '{' || r.source[body.End()-1] != '}' {
		f.Broken = true
		return
	}
	block := mask.Range{Start: body.Start(), End: body.End()}
	var rest []syntax.Node
	for c := range body.Children() {
		switch {
		case !c.Named() || c.Is("line_comment", "block_comment"):
		case c.Is("explicit_constructor_invocation"):
			block.Start = c.End() - 1
			rest = nil
		default:
			rest = append(rest, c)
		}
	}
	statement := "throw new " + r.failure + "(" + quoted("masked: "+p.prefix+f.Name) + ");"
	if n.Is("compact_constructor_declaration") {
		// The fields are set after it: the compiler has to believe that it ends.
		statement = "if (true) { " + statement + " }"
	}
	if len(rest) == 0 || len(rest) == 1 && rest[0].Is("throw_statement") && unwritten.MatchString(rest[0].Text()) {
		if f.Construct != mask.Main && f.Construct != mask.Destructor {
			f.Construct = mask.Trivial
		}
		return
	}
	f.Body, f.Strict = mask.Braced(r.source, block, statement)
	if block.Start != body.Start() && f.Body.Start == block.Start+1 && !strings.HasPrefix(f.Strict, "\n") {
		f.Strict = " " + f.Strict
	}
	f.Shape = shapes.Shape(body, f.Body)
}

// initializer is a block that runs when the class is loaded, or when an object is made.
func (r *reader) initializer(n syntax.Node, p place) {
	static := n.Is("static_initializer")
	name := "<init block>"
	if static {
		name = "<static>"
	}
	i := r.declare(n, mask.Function{Name: name, Construct: mask.Hook}, p)
	block := n
	if static {
		block = n.First("block")
	}
	if block.Is() {
		r.file.Functions[i].Body = mask.Range{Start: block.Start() + 1, End: max(block.Start()+1, block.End()-1)}
		r.file.Functions[i].Shape = shapes.Shape(block, r.file.Functions[i].Body)
	}
	in := place{function: i, class: p.class, prefix: p.prefix + name + ".", level: p.level + 1, scope: newScope(p.scope)}
	r.inChildren(block, in)
	for _, ref := range r.file.Functions[i].Runs {
		if static {
			r.note(ref, p)
		} else {
			r.objects[p.class] = append(r.objects[p.class], ref)
		}
	}
}

// field is a variable of a class. A static one is set when the class is initialised.
func (r *reader) field(n syntax.Node, p place) {
	static := n.First("modifiers").Has("static") || n.Is("constant_declaration") || n.Parent().Is("interface_body")
	var refs []mask.Ref
	at := p
	if !static {
		at.collect = &refs
	}
	for c := range n.Children() {
		if !c.Is("variable_declarator") {
			continue
		}
		name := c.Child("name").Text()
		r.bindType(p.prefix+name, n.Child("type"), p)
		value := c.Child("value")
		switch {
		case value.Is("lambda_expression"): // runs when it is called
			unused := []mask.Ref{}
			later := at
			later.collect = &unused
			r.walk(value, later)
		case value.Is("object_creation_expression") && value.Has("class_body"):
			r.make(value, at)
			r.anonymous(value, name, p)
		default:
			r.walk(value, at)
		}
	}
	r.objects[p.class] = append(r.objects[p.class], refs...)
}

// anonymous reads the body of new X() { … }, under the name that it is bound to.
func (r *reader) anonymous(n syntax.Node, name string, p place) {
	if p.level > maxLevel {
		r.inChildren(n.First("class_body"), p)
		return
	}
	of := typeName(n.Child("type"))
	c := mask.Class{Name: p.prefix + name, Parent: p.class, Span: mask.Range{Start: n.Start(), End: n.End()}}
	if of != nil {
		c.Bases = []mask.Ref{{Path: of, Use: mask.Inherited, Class: p.class, Line: n.Line()}}
	}
	r.file.Classes = append(r.file.Classes, c)
	if p.function >= 0 { // it may be made under no other name
		r.note(mask.Ref{Path: strings.Split(c.Name, "."), Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	}
	r.walk(n.First("class_body"), place{function: p.function, class: len(r.file.Classes) - 1, prefix: c.Name + ".", scope: p.scope, level: p.level + 1})
}

// constant is an object that is made when its enum is initialised.
func (r *reader) constant(n syntax.Node, p place) {
	name := n.Child("name").Text()
	enum := strings.Split(strings.TrimSuffix(p.prefix, "."), ".")
	r.note(mask.Ref{Path: enum, Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: p.prefix + name, Value: mask.Ref{Path: enum, Use: mask.Called, Class: p.class}})
	in := p
	in.inside = true
	r.inChildren(n.Child("arguments"), in)
	if body := n.Child("body"); body.Is() {
		c := mask.Class{Name: p.prefix + name, Parent: p.class, Span: mask.Range{Start: n.Start(), End: n.End()}}
		c.Bases = []mask.Ref{{Path: enum, Use: mask.Inherited, Class: p.class, Line: n.Line()}}
		r.file.Classes = append(r.file.Classes, c)
		r.note(mask.Ref{Path: strings.Split(c.Name, "."), Use: mask.Called, Class: p.class, Line: n.Line()}, p)
		r.walk(body, place{function: p.function, class: len(r.file.Classes) - 1, prefix: c.Name + ".", scope: p.scope, level: p.level})
	}
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range strings.ToValidUTF8(s, "?") {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
