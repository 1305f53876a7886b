package outline

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// goScope is what encloses a node: the declaration, and whether it is a function's inside.
type goScope struct {
	decl     int
	function bool
}

func readGo(r *reader, root syntax.Node) {
	s := goScope{decl: -1}
	each(root, func(child syntax.Node) {
		if child.Is("package_clause") {
			r.file.Package = child.First().Text()
			return
		}
		r.golang(child, s)
	})
}

func (r *reader) golangs(n syntax.Node, s goScope) {
	each(n, func(child syntax.Node) { r.golang(child, s) })
}

func (r *reader) golang(n syntax.Node, s goScope) {
	if !n.Is() || !r.deeper() {
		return
	}
	defer r.leave()
	switch n.Kind() {
	case "import_spec":
		path, err := strconv.Unquote(n.Child("path").Text())
		if err == nil {
			r.file.Imports = append(r.file.Imports, Import{Module: path, As: n.Child("name").Text(), Span: span(n), Parent: -1})
		}
	case "function_declaration", "method_declaration":
		r.goFunction(n)
	case "type_spec", "type_alias":
		r.goType(n, s)
	case "const_spec", "var_spec":
		r.goValue(n, s)
	case "func_literal":
		r.goParams(n.Child("parameters"), s, Local)
		r.goParams(n.Child("result"), s, Local)
		r.golang(n.Child("body"), s)
	case "short_var_declaration", "range_clause":
		r.goLeft(n.Child("left"), n, s)
		r.golang(n.Child("right"), s)
	case "type_switch_statement":
		r.goLeft(n.Child("alias"), n, s)
		each(n, func(child syntax.Node) {
			if child != n.Child("alias") {
				r.golang(child, s)
			}
		})
	case "selector_expression":
		r.golang(n.Child("operand"), s)
		r.use(Attribute, n.Child("field"), dotted(n.Child("operand")))
	case "qualified_type":
		r.use(Identifier, n.Child("package"), "")
		r.use(Attribute, n.Child("name"), n.Child("package").Text())
	case "composite_literal":
		r.golang(n.Child("type"), s)
		r.goLiteral(n.Child("body"), dotted(n.Child("type")), s)
	case "identifier", "type_identifier", "package_identifier":
		r.use(Identifier, n, "")
	case "interpreted_string_literal", "raw_string_literal":
		if text, err := strconv.Unquote(n.Text()); err == nil {
			r.quote(n, text)
		}
	case "comment", "label_name", "blank_identifier", "dot":
	default:
		r.golangs(n, s)
	}
}

// withDoc is a declaration's span with the comment directly above it.
func (r *reader) withDoc(n syntax.Node) Span {
	s := span(n)
	for prev := n.Before(); prev.Is("comment"); prev = prev.Before() {
		p := span(prev)
		line := r.src[bytes.LastIndexByte(r.src[:p.Start], '\n')+1 : p.Start]
		if trailing := len(bytes.TrimSpace(line)) > 0; trailing || p.EndLine+1 != s.StartLine {
			break
		}
		s.Start, s.StartLine = p.Start, p.StartLine
	}
	return s
}

func (r *reader) goFunction(n syntax.Node) {
	name, body := n.Child("name"), n.Child("body")
	d := Decl{Kind: Function, Name: name.Text(), Parent: -1, Span: r.withDoc(n), NameSpan: span(name), Body: span(body), Broken: n.Broken()}
	end := n.End()
	if body.Is() {
		end = body.Start()
	}
	d.Signature = oneLine(string(r.src[n.Start():end]))
	receiver := n.Child("receiver")
	if receiver.Is() {
		d.Kind, d.Receiver = Method, goReceiver(receiver)
	}
	i := r.declare(d)
	if d.Receiver != "" {
		r.file.Decls[i].Qualified = d.Receiver + "." + d.Name
	}
	inside := goScope{decl: i, function: true}
	r.goParams(n.Child("type_parameters"), inside, Parameter)
	params := r.goParams(receiver, inside, Parameter)
	params = append(params, r.goParams(n.Child("parameters"), inside, Parameter)...)
	r.goParams(n.Child("result"), inside, Local)
	r.file.Decls[i].Params = params
	r.golang(body, inside)
}

// goReceiver is T of (t *T[P]).
func goReceiver(n syntax.Node) string {
	t := n.First("parameter_declaration").Child("type")
	for t.Is("pointer_type", "parenthesized_type", "generic_type") {
		t = t.First()
	}
	return t.Text()
}

// goParams declares named parameters and results and reads their types.
func (r *reader) goParams(n syntax.Node, s goScope, kind Kind) []Param {
	if !n.Is() {
		return nil
	}
	if t := n.Kind(); t != "parameter_list" && t != "type_parameter_list" {
		r.golang(n, s) // a single unnamed result
		return nil
	}
	var out []Param
	each(n, func(child syntax.Node) {
		kindOf := child.Child("type")
		star := ""
		if child.Is("variadic_parameter_declaration") {
			star = "..."
		}
		names := fields(child, "name")
		for _, name := range names {
			out = append(out, Param{Name: name.Text(), Type: oneLine(kindOf.Text()), Star: star})
			if s.decl >= 0 {
				r.declare(Decl{Kind: kind, Name: name.Text(), Parent: s.decl, Span: span(child), NameSpan: span(name)})
			}
		}
		if len(names) == 0 {
			out = append(out, Param{Type: oneLine(kindOf.Text()), Star: star})
		}
		r.golang(kindOf, s)
	})
	return out
}

func (r *reader) goType(n syntax.Node, s goScope) {
	name, def := n.Child("name"), n.Child("type")
	kind := Type
	if s.function {
		kind = Local
	}
	d := Decl{Kind: kind, Name: name.Text(), Parent: s.decl, Span: r.specSpan(n), NameSpan: span(name), Broken: n.Broken()}
	d.Signature = "type " + oneLine(n.Text())
	if def.Is("struct_type", "interface_type") {
		d.Body = span(def)
		head := string(r.src[n.Start():def.Start()])
		d.Signature = "type " + oneLine(head+" "+strings.TrimSuffix(def.Kind(), "_type"))
	}
	i := r.declare(d)
	inside := goScope{decl: i, function: s.function}
	r.goParams(n.Child("type_parameters"), inside, Parameter)
	switch def.Kind() {
	case "struct_type":
		each(def, func(list syntax.Node) {
			each(list, func(field syntax.Node) { r.goField(field, inside) })
		})
	case "interface_type":
		each(def, func(elem syntax.Node) { r.goElem(elem, inside) })
	default:
		r.golang(def, inside)
	}
}

// specSpan is a spec's span: the whole declaration with its comment where the
// spec stands alone in it, else the spec with the comment above it.
func (r *reader) specSpan(n syntax.Node) Span {
	if parent := n.Parent(); strings.HasSuffix(parent.Kind(), "_declaration") && parent.End() == n.End() {
		n = parent
	}
	return r.withDoc(n)
}

func (r *reader) goField(n syntax.Node, s goScope) {
	if !n.Is("field_declaration") {
		return
	}
	kind := n.Child("type")
	names := fields(n, "name")
	for _, name := range names {
		r.declare(Decl{Kind: Field, Name: name.Text(), Parent: s.decl, Span: r.withDoc(n), NameSpan: span(name),
			Signature: oneLine(name.Text() + " " + kind.Text()), Broken: n.Broken()})
	}
	if len(names) == 0 && kind.Is() { // embedded: named by its type
		text := kind.Text()
		if i := strings.IndexByte(text, '['); i >= 0 {
			text = text[:i]
		}
		text = strings.TrimLeft(text[strings.LastIndexByte(text, '.')+1:], "*")
		r.declare(Decl{Kind: Field, Name: text, Parent: s.decl, Span: r.withDoc(n), NameSpan: span(kind), Signature: oneLine(n.Text())})
	}
	r.golang(kind, s)
}

// goElem is one element of an interface: a method, or types.
func (r *reader) goElem(n syntax.Node, s goScope) {
	if !n.Is("method_spec", "method_elem") {
		r.golang(n, s)
		return
	}
	name := n.Child("name")
	r.declare(Decl{Kind: Method, Name: name.Text(), Parent: s.decl, Span: r.withDoc(n), NameSpan: span(name), Signature: oneLine(n.Text())})
	outside := goScope{decl: -1}
	r.goParams(n.Child("parameters"), outside, Parameter)
	r.goParams(n.Child("result"), outside, Parameter)
}

func (r *reader) goValue(n syntax.Node, s goScope) {
	kind := Variable
	if n.Is("const_spec") {
		kind = Constant
	}
	if s.function {
		kind = Local
	}
	value := n.Child("value")
	names := fields(n, "name")
	for _, name := range names {
		if !name.Is("identifier") {
			continue // the commas between names carry the field too
		}
		r.declare(Decl{Kind: kind, Name: name.Text(), Parent: s.decl, Span: r.specSpan(n), NameSpan: span(name),
			Value: span(value), Signature: oneLine(strings.TrimSuffix(n.Kind(), "_spec") + " " + n.Text()), Broken: n.Broken()})
	}
	r.golang(n.Child("type"), s)
	r.golang(value, s)
}

// goLeft declares the names on the left of := and range.
func (r *reader) goLeft(n, whole syntax.Node, s goScope) {
	if !n.Is() {
		return
	}
	assigns := whole.Is("range_clause") && !strings.Contains(whole.Text(), ":=")
	each(n, func(child syntax.Node) {
		if child.Is("identifier") && !assigns {
			r.declare(Decl{Kind: Local, Name: child.Text(), Parent: s.decl, Span: span(child), NameSpan: span(child)})
			return
		}
		r.golang(child, s)
	})
}

// goLiteral reads a composite literal's body: keys that are names are fields, as
// far as syntax can tell.
func (r *reader) goLiteral(n syntax.Node, of string, s goScope) {
	if !n.Is() || !r.deeper() {
		return
	}
	defer r.leave()
	each(n, func(child syntax.Node) {
		switch child.Kind() {
		case "keyed_element":
			key := child.First()
			if name := loneName(key); name.Is() {
				r.use(Keyword, name, of)
			} else {
				r.goElement(key, s)
			}
			each(child, func(value syntax.Node) {
				if value != key {
					r.goElement(value, s)
				}
			})
		default:
			r.goElement(child, s)
		}
	})
}

// goElement is one element; a literal without a type is read like its parent.
func (r *reader) goElement(n syntax.Node, s goScope) {
	switch n.Kind() {
	case "literal_value":
		r.goLiteral(n, "", s)
	case "literal_element":
		each(n, func(child syntax.Node) { r.goElement(child, s) })
	default:
		r.golang(n, s)
	}
}

// loneName is the identifier that a key consists of.
func loneName(n syntax.Node) syntax.Node {
	for n.Is("literal_element") {
		n = n.First()
	}
	if n.Is("identifier", "field_identifier") {
		return n
	}
	return syntax.Node{}
}
