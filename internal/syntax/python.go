package syntax

import (
	"strings"
	"unicode"

	sitter "github.com/smacker/go-tree-sitter"
)

// pyScope is what encloses a node.
type pyScope struct {
	decl     int // index of the nearest enclosing declaration, -1
	class    int // index of the class whose method (at any depth) this is, -1
	function bool
}

func readPython(r *reader, root *sitter.Node) {
	r.python(root, pyScope{decl: -1, class: -1})
}

// pythons visits all named children.
func (r *reader) pythons(n *sitter.Node, s pyScope) {
	each(n, func(child *sitter.Node) { r.python(child, s) })
}

func (r *reader) python(n *sitter.Node, s pyScope) {
	if n == nil || !r.deeper() {
		return
	}
	defer r.leave()
	switch n.Type() {
	case "decorated_definition":
		r.pyDecorated(n, s)
	case "function_definition":
		r.pyFunction(n, n, nil, s)
	case "class_definition":
		r.pyClass(n, n, nil, s)
	case "import_statement", "import_from_statement", "future_import_statement":
		r.pyImport(n, s)
	case "assignment":
		r.pyAssign(n, s)
	case "type_alias_statement":
		r.pyTypeAlias(n, s)
	case "for_in_clause": // of a comprehension, which has a scope of its own
		r.pyBind(n.ChildByFieldName("left"), n, nil, pyScope{decl: s.decl, class: s.class, function: true})
		for _, right := range fields(n, "right") {
			r.python(right, s)
		}
	case "for_statement":
		r.pyBind(n.ChildByFieldName("left"), n, nil, s)
		r.python(n.ChildByFieldName("right"), s)
		r.python(n.ChildByFieldName("body"), s)
		r.python(n.ChildByFieldName("alternative"), s)
	case "as_pattern":
		r.python(n.NamedChild(0), s)
		r.pyBind(n.ChildByFieldName("alias"), n, nil, s)
	case "named_expression":
		r.pyBind(n.ChildByFieldName("name"), n, n.ChildByFieldName("value"), s)
		r.python(n.ChildByFieldName("value"), s)
	case "lambda":
		r.pyParams(n.ChildByFieldName("parameters"), s, false)
		r.python(n.ChildByFieldName("body"), s)
	case "attribute":
		r.python(n.ChildByFieldName("object"), s)
		r.use(Attribute, n.ChildByFieldName("attribute"), r.dotted(n.ChildByFieldName("object")))
	case "call":
		r.pyCall(n, s)
	case "identifier":
		r.use(Identifier, n, "")
	case "string":
		r.pyString(n, s)
	case "comment", "global_statement", "nonlocal_statement":
	default:
		r.pythons(n, s)
	}
}

func (r *reader) pyDecorated(n *sitter.Node, s pyScope) {
	var decorators []string
	each(n, func(child *sitter.Node) {
		if child.Type() == "decorator" {
			decorators = append(decorators, strings.TrimSpace(strings.TrimPrefix(r.text(child), "@")))
			r.pythons(child, s)
		}
	})
	def := n.ChildByFieldName("definition")
	switch {
	case def == nil:
	case def.Type() == "function_definition":
		r.pyFunction(def, n, decorators, s)
	case def.Type() == "class_definition":
		r.pyClass(def, n, decorators, s)
	}
}

// pyFunction reads a definition; whole has its decorators, too.
func (r *reader) pyFunction(n, whole *sitter.Node, decorators []string, s pyScope) {
	kind := Function
	if s.decl >= 0 && r.file.Decls[s.decl].Kind == Class {
		kind = Method
	}
	name, body := n.ChildByFieldName("name"), n.ChildByFieldName("body")
	i := r.declare(Decl{
		Kind: kind, Name: r.text(name), Parent: s.decl, Span: span(whole), NameSpan: span(name), Body: span(body),
		Signature: r.pyHead(n, body), Decorators: decorators, Shape: r.shape(whole, n, nil), Broken: n.HasError(),
	})
	inside := pyScope{decl: i, class: s.class, function: true}
	r.file.Decls[i].Params = r.pyParams(n.ChildByFieldName("parameters"), inside, true)
	r.python(n.ChildByFieldName("return_type"), s)
	r.python(body, inside)
}

func (r *reader) pyClass(n, whole *sitter.Node, decorators []string, s pyScope) {
	name, body := n.ChildByFieldName("name"), n.ChildByFieldName("body")
	i := r.declare(Decl{
		Kind: Class, Name: r.text(name), Parent: s.decl, Span: span(whole), NameSpan: span(name), Body: span(body),
		Signature: r.pyHead(n, body), Decorators: decorators, Shape: r.shape(whole, n, body), Broken: n.HasError(),
	})
	if bases := n.ChildByFieldName("superclasses"); bases != nil {
		r.pyArguments(bases, r.text(name), s)
	}
	r.python(body, pyScope{decl: i, class: i})
}

// pyHead is the text before the body, without the colon that ends it and
// whatever comment follows that.
func (r *reader) pyHead(n, body *sitter.Node) string {
	end := n.EndByte()
	if colon := token(n, ":"); colon != nil {
		end = colon.StartByte()
	} else if body != nil {
		end = body.StartByte()
	}
	return oneLine(string(r.src[n.StartByte():end]))
}

// pyParams declares the parameters, and reads annotations and defaults.
func (r *reader) pyParams(n *sitter.Node, s pyScope, declared bool) []Param {
	if n == nil {
		return nil
	}
	var out []Param
	each(n, func(child *sitter.Node) {
		p, name := r.pyParam(child, s)
		if name == nil {
			return
		}
		kind := Parameter
		if !declared {
			kind = Local // of a lambda
		}
		if s.decl >= 0 {
			r.declare(Decl{Kind: kind, Name: p.Name, Parent: s.decl, Span: span(child), NameSpan: span(name)})
		}
		out = append(out, p)
	})
	return out
}

func (r *reader) pyParam(n *sitter.Node, s pyScope) (Param, *sitter.Node) {
	switch n.Type() {
	case "identifier":
		return Param{Name: r.text(n)}, n
	case "list_splat_pattern", "dictionary_splat_pattern":
		star := "*"
		if n.Type() == "dictionary_splat_pattern" {
			star = "**"
		}
		if name := n.NamedChild(0); name != nil {
			return Param{Name: r.text(name), Star: star}, name
		}
	case "default_parameter", "typed_default_parameter":
		name := n.ChildByFieldName("name")
		r.python(n.ChildByFieldName("type"), s)
		r.python(n.ChildByFieldName("value"), s)
		return Param{Name: r.text(name), Type: r.text(n.ChildByFieldName("type")), Default: true}, name
	case "typed_parameter":
		if first := n.NamedChild(0); first != nil {
			p, name := r.pyParam(first, s)
			p.Type = r.text(n.ChildByFieldName("type"))
			r.python(n.ChildByFieldName("type"), s)
			return p, name
		}
	}
	return Param{}, nil
}

func (r *reader) pyCall(n *sitter.Node, s pyScope) {
	function := n.ChildByFieldName("function")
	r.python(function, s)
	args := n.ChildByFieldName("arguments")
	if args == nil {
		return
	}
	if args.Type() != "argument_list" { // f(x for x in y)
		r.python(args, s)
		return
	}
	r.pyArguments(args, r.dotted(function), s)
}

func (r *reader) pyArguments(args *sitter.Node, of string, s pyScope) {
	each(args, func(child *sitter.Node) {
		if child.Type() == "keyword_argument" {
			r.use(Keyword, child.ChildByFieldName("name"), of)
			r.python(child.ChildByFieldName("value"), s)
			return
		}
		r.python(child, s)
	})
}

func (r *reader) pyAssign(n *sitter.Node, s pyScope) {
	r.pyBind(n.ChildByFieldName("left"), n, n.ChildByFieldName("right"), s)
	r.python(n.ChildByFieldName("type"), s)
	r.python(n.ChildByFieldName("right"), s)
}

func (r *reader) pyTypeAlias(n *sitter.Node, s pyScope) {
	left := n.ChildByFieldName("left")
	if left == nil {
		left = n.NamedChild(0)
	}
	if name := firstOf(left, "identifier"); name != nil {
		kind := Type
		if s.function {
			kind = Local
		}
		r.declare(Decl{Kind: kind, Name: r.text(name), Parent: s.decl, Span: span(n), NameSpan: span(name), Signature: oneLine(r.text(n)), Alias: true})
	}
	for i := 1; i < int(n.NamedChildCount()); i++ {
		r.python(n.NamedChild(i), s)
	}
}

// firstOf is the first node of a type at or below n, depth first.
func firstOf(n *sitter.Node, kind string) *sitter.Node {
	for n != nil && n.Type() != kind {
		n = n.NamedChild(0)
	}
	return n
}

// pyBind declares the names that an assignment's left side binds.
func (r *reader) pyBind(target, whole, value *sitter.Node, s pyScope) {
	if target == nil || !r.deeper() {
		return
	}
	defer r.leave()
	switch target.Type() {
	case "identifier":
		d := Decl{
			Kind: pyKind(r.text(target), r.file, s), Name: r.text(target), Parent: s.decl, Span: span(whole),
			NameSpan: span(target), Value: span(value), Signature: oneLine(r.text(whole)), Broken: whole.HasError(),
		}
		if !s.function && whole.Type() == "assignment" && target.Equal(whole.ChildByFieldName("left")) && value != nil && value.Type() == "lambda" {
			d.Literal, d.Body, d.Shape = true, span(value.ChildByFieldName("body")), r.shape(whole, whole, nil)
		}
		r.declare(d)
	case "attribute":
		object := r.text(target.ChildByFieldName("object"))
		if name := target.ChildByFieldName("attribute"); s.function && s.class >= 0 && (object == "self" || object == "cls") {
			r.declare(Decl{Kind: Field, Name: r.text(name), Parent: s.class, Span: span(whole), NameSpan: span(name),
				Value: span(value), Signature: oneLine(r.text(whole)), Broken: whole.HasError()})
		}
		r.python(target, s)
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target", "tuple", "list", "expression_list":
		each(target, func(child *sitter.Node) { r.pyBind(child, whole, value, s) })
	default:
		r.python(target, s)
	}
}

// pyKind is what an assigned name is, by where it stands and how it is written.
func pyKind(name string, f *File, s pyScope) Kind {
	switch {
	case s.function:
		return Local
	case s.decl >= 0:
		return Field
	case strings.IndexFunc(name, unicode.IsLower) < 0:
		return Constant
	}
	return Variable
}

func (r *reader) pyImport(n *sitter.Node, s pyScope) {
	module := r.text(n.ChildByFieldName("module_name"))
	if n.Type() == "future_import_statement" {
		module = "__future__"
	}
	for _, name := range fields(n, "name") {
		i := Import{Module: module, Span: span(n), Parent: s.decl}
		text := r.text(name)
		if name.Type() == "aliased_import" {
			text, i.As = r.text(name.ChildByFieldName("name")), r.text(name.ChildByFieldName("alias"))
		}
		if n.Type() == "import_statement" {
			i.Module = text
		} else {
			i.Name = text
		}
		r.file.Imports = append(r.file.Imports, i)
	}
	each(n, func(child *sitter.Node) {
		if child.Type() == "wildcard_import" {
			r.file.Imports = append(r.file.Imports, Import{Module: module, Name: "*", Span: span(n), Parent: s.decl})
		}
	})
}

// pyString adds the content of a literal; an f-string's expressions are read.
func (r *reader) pyString(n *sitter.Node, s pyScope) {
	var content strings.Builder
	each(n, func(child *sitter.Node) {
		switch child.Type() {
		case "string_content":
			content.WriteString(r.text(child))
		case "interpolation":
			r.python(child, s)
		}
	})
	r.quote(n, content.String())
}
