package syntax

import (
	"strconv"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// goScope is what encloses a node: the declaration, and whether it is a function's inside.
type goScope struct {
	decl     int
	function bool
}

func readGo(r *reader, root *sitter.Node) {
	s := goScope{decl: -1}
	each(root, func(child *sitter.Node) {
		if child.Type() == "package_clause" {
			r.file.Package = r.text(child.NamedChild(0))
			return
		}
		r.golang(child, s)
	})
}

func (r *reader) golangs(n *sitter.Node, s goScope) {
	each(n, func(child *sitter.Node) { r.golang(child, s) })
}

func (r *reader) golang(n *sitter.Node, s goScope) {
	if n == nil || !r.deeper() {
		return
	}
	defer r.leave()
	switch n.Type() {
	case "import_spec":
		path, err := strconv.Unquote(r.text(n.ChildByFieldName("path")))
		if err == nil {
			r.file.Imports = append(r.file.Imports, Import{Module: path, As: r.text(n.ChildByFieldName("name")), Span: span(n), Parent: -1})
		}
	case "function_declaration", "method_declaration":
		r.goFunction(n, s)
	case "type_spec", "type_alias":
		r.goType(n, s)
	case "const_spec", "var_spec":
		r.goValue(n, s)
	case "func_literal":
		r.goParams(n.ChildByFieldName("parameters"), s, Local)
		r.goParams(n.ChildByFieldName("result"), s, Local)
		r.golang(n.ChildByFieldName("body"), s)
	case "short_var_declaration", "range_clause":
		r.goLeft(n.ChildByFieldName("left"), n, s)
		r.golang(n.ChildByFieldName("right"), s)
	case "type_switch_statement":
		r.goLeft(n.ChildByFieldName("alias"), n, s)
		for i := 0; i < int(n.NamedChildCount()); i++ {
			if child := n.NamedChild(i); n.ChildByFieldName("alias") == nil || !child.Equal(n.ChildByFieldName("alias")) {
				r.golang(child, s)
			}
		}
	case "selector_expression":
		r.golang(n.ChildByFieldName("operand"), s)
		r.use(Attribute, n.ChildByFieldName("field"), r.dotted(n.ChildByFieldName("operand")))
	case "qualified_type":
		r.use(Identifier, n.ChildByFieldName("package"), "")
		r.use(Attribute, n.ChildByFieldName("name"), r.text(n.ChildByFieldName("package")))
	case "composite_literal":
		r.golang(n.ChildByFieldName("type"), s)
		r.goLiteral(n.ChildByFieldName("body"), r.dotted(n.ChildByFieldName("type")), s)
	case "identifier", "type_identifier", "package_identifier":
		r.use(Identifier, n, "")
	case "interpreted_string_literal", "raw_string_literal":
		if text, err := strconv.Unquote(r.text(n)); err == nil {
			r.quote(n, text)
		}
	case "comment", "label_name", "blank_identifier", "dot":
	default:
		r.golangs(n, s)
	}
}

// withDoc is a declaration's span with the comment directly above it.
func (r *reader) withDoc(n *sitter.Node) Span {
	s := span(n)
	for prev := n.PrevSibling(); prev != nil && prev.Type() == "comment"; prev = prev.PrevSibling() {
		p := span(prev)
		before := prev.PrevSibling()
		trailing := before != nil && span(before).EndLine == p.StartLine && before.Type() != "comment"
		if p.EndLine+1 != s.StartLine || trailing {
			break
		}
		s = from(p, s)
	}
	return s
}

func (r *reader) goFunction(n *sitter.Node, s goScope) {
	name, body := n.ChildByFieldName("name"), n.ChildByFieldName("body")
	d := Decl{Kind: Function, Name: r.text(name), Parent: -1, Span: r.withDoc(n), NameSpan: span(name), Body: span(body), Shape: r.shape(n, n, nil), Broken: n.HasError()}
	end := n.EndByte()
	if body != nil {
		end = body.StartByte()
	}
	d.Signature = oneLine(string(r.src[n.StartByte():end]))
	receiver := n.ChildByFieldName("receiver")
	if receiver != nil {
		d.Kind, d.Receiver = Method, r.goReceiver(receiver)
	}
	i := r.declare(d)
	if d.Receiver != "" {
		r.file.Decls[i].Qualified = d.Receiver + "." + d.Name
	}
	inside := goScope{decl: i, function: true}
	r.goParams(n.ChildByFieldName("type_parameters"), inside, Parameter)
	params := r.goParams(receiver, inside, Parameter)
	params = append(params, r.goParams(n.ChildByFieldName("parameters"), inside, Parameter)...)
	r.goParams(n.ChildByFieldName("result"), inside, Local)
	r.file.Decls[i].Params = params
	r.golang(body, inside)
}

// goReceiver is T of (t *T[P]).
func (r *reader) goReceiver(n *sitter.Node) string {
	text := r.text(n)
	text = strings.Trim(text, "()")
	if i := strings.IndexByte(text, '['); i >= 0 {
		text = text[:i]
	}
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '*' || c == '\t' || c == '\n' || c == '(' || c == ')' })
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// goParams declares named parameters and results and reads their types.
func (r *reader) goParams(n *sitter.Node, s goScope, kind Kind) []Param {
	if n == nil {
		return nil
	}
	if t := n.Type(); t != "parameter_list" && t != "type_parameter_list" {
		r.golang(n, s) // a single unnamed result
		return nil
	}
	var out []Param
	each(n, func(child *sitter.Node) {
		kindOf := child.ChildByFieldName("type")
		star := ""
		if child.Type() == "variadic_parameter_declaration" {
			star = "..."
		}
		names := fields(child, "name")
		for _, name := range names {
			out = append(out, Param{Name: r.text(name), Type: oneLine(r.text(kindOf)), Star: star})
			if s.decl >= 0 {
				r.declare(Decl{Kind: kind, Name: r.text(name), Parent: s.decl, Span: span(child), NameSpan: span(name)})
			}
		}
		if len(names) == 0 {
			out = append(out, Param{Type: oneLine(r.text(kindOf)), Star: star})
		}
		r.golang(kindOf, s)
	})
	return out
}

func (r *reader) goType(n *sitter.Node, s goScope) {
	name, def := n.ChildByFieldName("name"), n.ChildByFieldName("type")
	kind := Type
	if s.function {
		kind = Local
	}
	d := Decl{Kind: kind, Name: r.text(name), Parent: s.decl, Span: r.specSpan(n), NameSpan: span(name), Alias: n.Type() == "type_alias", Broken: n.HasError()}
	d.Signature = "type " + oneLine(r.text(n))
	if def != nil && (def.Type() == "struct_type" || def.Type() == "interface_type") {
		d.Body = span(def)
		head := string(r.src[n.StartByte():def.StartByte()])
		d.Signature = "type " + oneLine(head+" "+strings.TrimSuffix(def.Type(), "_type"))
		d.Shape = r.shape(n, n, def)
	} else {
		d.Shape = r.shape(n, n, nil)
	}
	i := r.declare(d)
	inside := goScope{decl: i, function: s.function}
	r.goParams(n.ChildByFieldName("type_parameters"), inside, Parameter)
	switch {
	case def == nil:
	case def.Type() == "struct_type":
		each(def, func(list *sitter.Node) {
			each(list, func(field *sitter.Node) { r.goField(field, inside) })
		})
	case def.Type() == "interface_type":
		each(def, func(elem *sitter.Node) { r.goElem(elem, inside) })
	default:
		r.golang(def, inside)
	}
}

// specSpan is a spec's span: the whole declaration with its comment where the
// spec stands alone in it, else the spec with the comment above it.
func (r *reader) specSpan(n *sitter.Node) Span {
	parent := n.Parent()
	if parent != nil && strings.HasSuffix(parent.Type(), "_declaration") && token(parent, "(") == nil {
		return r.withDoc(parent)
	}
	return r.withDoc(n)
}

func (r *reader) goField(n *sitter.Node, s goScope) {
	if n.Type() != "field_declaration" {
		return
	}
	kind := n.ChildByFieldName("type")
	names := fields(n, "name")
	for _, name := range names {
		r.declare(Decl{Kind: Field, Name: r.text(name), Parent: s.decl, Span: r.withDoc(n), NameSpan: span(name),
			Signature: oneLine(r.text(name) + " " + r.text(kind)), Broken: n.HasError()})
	}
	if len(names) == 0 && kind != nil { // embedded: named by its type
		text := r.text(kind)
		if i := strings.IndexByte(text, '['); i >= 0 {
			text = text[:i]
		}
		text = strings.TrimLeft(text[strings.LastIndexByte(text, '.')+1:], "*")
		r.declare(Decl{Kind: Field, Name: text, Parent: s.decl, Span: r.withDoc(n), NameSpan: span(kind), Signature: oneLine(r.text(n))})
	}
	r.golang(kind, s)
}

// goElem is one element of an interface: a method, or types.
func (r *reader) goElem(n *sitter.Node, s goScope) {
	if n.Type() != "method_spec" && n.Type() != "method_elem" {
		r.golang(n, s)
		return
	}
	name := n.ChildByFieldName("name")
	r.declare(Decl{Kind: Method, Name: r.text(name), Parent: s.decl, Span: r.withDoc(n), NameSpan: span(name), Signature: oneLine(r.text(n))})
	outside := goScope{decl: -1}
	r.goParams(n.ChildByFieldName("parameters"), outside, Parameter)
	r.goParams(n.ChildByFieldName("result"), outside, Parameter)
}

func (r *reader) goValue(n *sitter.Node, s goScope) {
	kind := Variable
	if n.Type() == "const_spec" {
		kind = Constant
	}
	if s.function {
		kind = Local
	}
	value := n.ChildByFieldName("value")
	names := fields(n, "name")
	for _, name := range names {
		if name.Type() != "identifier" {
			continue // the commas between names carry the field too
		}
		d := Decl{Kind: kind, Name: r.text(name), Parent: s.decl, Span: r.specSpan(n), NameSpan: span(name),
			Value: span(value), Signature: oneLine(strings.TrimSuffix(n.Type(), "_spec") + " " + r.text(n)), Broken: n.HasError()}
		if kind == Variable && len(names) == 1 && value != nil && value.NamedChildCount() == 1 && value.NamedChild(0).Type() == "func_literal" {
			d.Literal, d.Body, d.Shape = true, span(value.NamedChild(0).ChildByFieldName("body")), r.shape(n, n, nil)
		}
		r.declare(d)
	}
	r.golang(n.ChildByFieldName("type"), s)
	r.golang(value, s)
}

// goLeft declares the names on the left of := and range.
func (r *reader) goLeft(n, whole *sitter.Node, s goScope) {
	if n == nil {
		return
	}
	assigns := whole.Type() == "range_clause" && !strings.Contains(r.text(whole), ":=")
	each(n, func(child *sitter.Node) {
		if child.Type() == "identifier" && !assigns {
			r.declare(Decl{Kind: Local, Name: r.text(child), Parent: s.decl, Span: span(child), NameSpan: span(child)})
			return
		}
		r.golang(child, s)
	})
}

// goLiteral reads a composite literal's body: keys that are names are fields, as
// far as syntax can tell.
func (r *reader) goLiteral(n *sitter.Node, of string, s goScope) {
	if n == nil || !r.deeper() {
		return
	}
	defer r.leave()
	each(n, func(child *sitter.Node) {
		switch child.Type() {
		case "keyed_element":
			key := child.NamedChild(0)
			if name := loneName(key); name != nil {
				r.use(Keyword, name, of)
			} else {
				r.goElement(key, s)
			}
			for i := 1; i < int(child.NamedChildCount()); i++ {
				r.goElement(child.NamedChild(i), s)
			}
		default:
			r.goElement(child, s)
		}
	})
}

// goElement is one element; a literal without a type is read like its parent.
func (r *reader) goElement(n *sitter.Node, s goScope) {
	switch {
	case n == nil:
	case n.Type() == "literal_value":
		r.goLiteral(n, "", s)
	case n.Type() == "literal_element":
		each(n, func(child *sitter.Node) { r.goElement(child, s) })
	default:
		r.golang(n, s)
	}
}

// loneName is the identifier that a key consists of.
func loneName(n *sitter.Node) *sitter.Node {
	for n != nil && n.Type() == "literal_element" && n.NamedChildCount() == 1 {
		n = n.NamedChild(0)
	}
	if n != nil && (n.Type() == "identifier" || n.Type() == "field_identifier") {
		return n
	}
	return nil
}
