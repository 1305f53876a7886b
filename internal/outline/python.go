package outline

import (
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/syntax"
)

// pyScope is what encloses a node.
type pyScope struct {
	decl     int // index of the nearest enclosing declaration, -1
	class    int // index of the class whose method (at any depth) this is, -1
	function bool
}

func readPython(r *reader, root syntax.Node) {
	r.python(root, pyScope{decl: -1, class: -1})
}

// pythons visits all named children.
func (r *reader) pythons(n syntax.Node, s pyScope) {
	each(n, func(child syntax.Node) { r.python(child, s) })
}

func (r *reader) python(n syntax.Node, s pyScope) {
	if !n.Is() || !r.deeper() {
		return
	}
	defer r.leave()
	switch n.Kind() {
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
		r.pyBind(n.Child("left"), n, syntax.Node{}, pyScope{decl: s.decl, class: s.class, function: true})
		for _, right := range fields(n, "right") {
			r.python(right, s)
		}
	case "for_statement":
		r.pyBind(n.Child("left"), n, syntax.Node{}, s)
		r.python(n.Child("right"), s)
		r.python(n.Child("body"), s)
		r.python(n.Child("alternative"), s)
	case "as_pattern":
		r.python(n.First(), s)
		r.pyBind(n.Child("alias"), n, syntax.Node{}, s)
	case "named_expression":
		r.pyBind(n.Child("name"), n, n.Child("value"), s)
		r.python(n.Child("value"), s)
	case "lambda":
		r.pyParams(n.Child("parameters"), s, false)
		r.python(n.Child("body"), s)
	case "attribute":
		r.python(n.Child("object"), s)
		r.use(Attribute, n.Child("attribute"), dotted(n.Child("object")))
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

func (r *reader) pyDecorated(n syntax.Node, s pyScope) {
	var decorators []string
	each(n, func(child syntax.Node) {
		if child.Is("decorator") {
			decorators = append(decorators, strings.TrimSpace(strings.TrimPrefix(child.Text(), "@")))
			r.pythons(child, s)
		}
	})
	switch def := n.Child("definition"); def.Kind() {
	case "function_definition":
		r.pyFunction(def, n, decorators, s)
	case "class_definition":
		r.pyClass(def, n, decorators, s)
	}
}

// pyFunction reads a definition; whole has its decorators, too.
func (r *reader) pyFunction(n, whole syntax.Node, decorators []string, s pyScope) {
	kind := Function
	if s.decl >= 0 && r.file.Decls[s.decl].Kind == Class {
		kind = Method
	}
	name, body := n.Child("name"), n.Child("body")
	i := r.declare(Decl{
		Kind: kind, Name: name.Text(), Parent: s.decl, Span: span(whole), NameSpan: span(name), Body: span(body),
		Signature: r.pyHead(n, body), Decorators: decorators, Broken: n.Broken(),
	})
	inside := pyScope{decl: i, class: s.class, function: true}
	r.file.Decls[i].Params = r.pyParams(n.Child("parameters"), inside, true)
	r.python(n.Child("return_type"), s)
	r.python(body, inside)
}

func (r *reader) pyClass(n, whole syntax.Node, decorators []string, s pyScope) {
	name, body := n.Child("name"), n.Child("body")
	i := r.declare(Decl{
		Kind: Class, Name: name.Text(), Parent: s.decl, Span: span(whole), NameSpan: span(name), Body: span(body),
		Signature: r.pyHead(n, body), Decorators: decorators, Broken: n.Broken(),
	})
	if bases := n.Child("superclasses"); bases.Is() {
		r.pyArguments(bases, name.Text(), s)
	}
	r.python(body, pyScope{decl: i, class: i})
}

// pyHead is the text before the body, without the colon that ends it and
// whatever comment follows that.
func (r *reader) pyHead(n, body syntax.Node) string {
	end := n.Start()
	for c := range n.Children() {
		if c != body && !c.Is("comment") {
			end = c.End()
		}
	}
	return oneLine(string(r.src[n.Start():end]))
}

// pyParams declares the parameters, and reads annotations and defaults.
func (r *reader) pyParams(n syntax.Node, s pyScope, declared bool) []Param {
	if !n.Is() {
		return nil
	}
	var out []Param
	each(n, func(child syntax.Node) {
		p, name := r.pyParam(child, s)
		if !name.Is() {
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

func (r *reader) pyParam(n syntax.Node, s pyScope) (Param, syntax.Node) {
	switch n.Kind() {
	case "identifier":
		return Param{Name: n.Text()}, n
	case "list_splat_pattern", "dictionary_splat_pattern":
		star := "*"
		if n.Is("dictionary_splat_pattern") {
			star = "**"
		}
		if name := n.First(); name.Is() {
			return Param{Name: name.Text(), Star: star}, name
		}
	case "default_parameter", "typed_default_parameter":
		name := n.Child("name")
		r.python(n.Child("type"), s)
		r.python(n.Child("value"), s)
		return Param{Name: name.Text(), Type: n.Child("type").Text(), Default: true}, name
	case "typed_parameter":
		if first := n.First(); first.Is() {
			p, name := r.pyParam(first, s)
			p.Type = n.Child("type").Text()
			r.python(n.Child("type"), s)
			return p, name
		}
	}
	return Param{}, syntax.Node{}
}

func (r *reader) pyCall(n syntax.Node, s pyScope) {
	function := n.Child("function")
	r.python(function, s)
	args := n.Child("arguments")
	if !args.Is() {
		return
	}
	if !args.Is("argument_list") { // f(x for x in y)
		r.python(args, s)
		return
	}
	r.pyArguments(args, dotted(function), s)
}

func (r *reader) pyArguments(args syntax.Node, of string, s pyScope) {
	each(args, func(child syntax.Node) {
		if child.Is("keyword_argument") {
			r.use(Keyword, child.Child("name"), of)
			r.python(child.Child("value"), s)
			return
		}
		r.python(child, s)
	})
}

func (r *reader) pyAssign(n syntax.Node, s pyScope) {
	r.pyBind(n.Child("left"), n, n.Child("right"), s)
	r.python(n.Child("type"), s)
	r.python(n.Child("right"), s)
}

func (r *reader) pyTypeAlias(n syntax.Node, s pyScope) {
	left := n.Child("left")
	if !left.Is() {
		left = n.First()
	}
	if name := firstOf(left, "identifier"); name.Is() {
		kind := Type
		if s.function {
			kind = Local
		}
		r.declare(Decl{Kind: kind, Name: name.Text(), Parent: s.decl, Span: span(n), NameSpan: span(name), Signature: oneLine(n.Text())})
	}
	each(n, func(child syntax.Node) {
		if child != n.First() {
			r.python(child, s)
		}
	})
}

// firstOf is the first node of a type at or below n, depth first.
func firstOf(n syntax.Node, kind string) syntax.Node {
	for n.Is() && !n.Is(kind) {
		n = n.First()
	}
	return n
}

// pyBind declares the names that an assignment's left side binds.
func (r *reader) pyBind(target, whole, value syntax.Node, s pyScope) {
	if !target.Is() || !r.deeper() {
		return
	}
	defer r.leave()
	switch target.Kind() {
	case "identifier":
		r.declare(Decl{
			Kind: pyKind(target.Text(), s), Name: target.Text(), Parent: s.decl, Span: span(whole),
			NameSpan: span(target), Value: span(value), Signature: oneLine(whole.Text()), Broken: whole.Broken(),
		})
	case "attribute":
		object := target.Child("object").Text()
		if name := target.Child("attribute"); s.function && s.class >= 0 && (object == "self" || object == "cls") {
			r.declare(Decl{Kind: Field, Name: name.Text(), Parent: s.class, Span: span(whole), NameSpan: span(name),
				Value: span(value), Signature: oneLine(whole.Text()), Broken: whole.Broken()})
		}
		r.python(target, s)
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target", "tuple", "list", "expression_list":
		each(target, func(child syntax.Node) { r.pyBind(child, whole, value, s) })
	default:
		r.python(target, s)
	}
}

// pyKind is what an assigned name is, by where it stands and how it is written.
func pyKind(name string, s pyScope) Kind {
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

func (r *reader) pyImport(n syntax.Node, s pyScope) {
	module := n.Child("module_name").Text()
	if n.Is("future_import_statement") {
		module = "__future__"
	}
	for _, name := range fields(n, "name") {
		i := Import{Module: module, Span: span(n), Parent: s.decl}
		text := name.Text()
		if name.Is("aliased_import") {
			text, i.As = name.Child("name").Text(), name.Child("alias").Text()
		}
		if n.Is("import_statement") {
			i.Module = text
		} else {
			i.Name = text
		}
		r.file.Imports = append(r.file.Imports, i)
	}
	each(n, func(child syntax.Node) {
		if child.Is("wildcard_import") {
			r.file.Imports = append(r.file.Imports, Import{Module: module, Name: "*", Span: span(n), Parent: s.decl})
		}
	})
}

// pyString adds the content of a literal; an f-string's expressions are read.
func (r *reader) pyString(n syntax.Node, s pyScope) {
	var content strings.Builder
	each(n, func(child syntax.Node) {
		switch child.Kind() {
		case "string_content":
			content.WriteString(child.Text())
		case "interpolation":
			r.python(child, s)
		}
	})
	r.quote(n, content.String())
}
