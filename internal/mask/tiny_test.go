package mask_test

import (
	"bytes"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// tiny is a language for tests: as much of Python as they need. A string as the first
// statement of a function names its construct where the name does not tell.
type tiny struct{}

var _ mask.Language = tiny{}

func (tiny) Name() string { return "python" }

func (tiny) Semantics() mask.Semantics {
	return mask.Semantics{LocalClasses: true}
}

func (tiny) Grammar(p string) syntax.Language {
	if path.Ext(p) == ".py" {
		return syntax.Python
	}
	return ""
}

func (tiny) Exempt(p string, source []byte) mask.Whole {
	switch {
	case strings.HasPrefix(p, "tests/"):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test", Detail: "in tests/"}
	case bytes.Contains(source, []byte("# panic in exempt")):
		panic("exempt")
	}
	return mask.Whole{}
}

func (tiny) Read(p string, tree *syntax.Tree) *mask.File {
	if bytes.Contains(tree.Source, []byte("# panic")) {
		panic("a fault of the language")
	}
	module := strings.TrimSuffix(strings.ReplaceAll(strings.TrimSuffix(p, ".py"), "/", "."), ".__init__")
	r := &reader{file: &mask.File{Modules: []string{module}}}
	r.block(tree.Root(), scope{function: -1, class: -1})
	if tree.Broken() && len(r.file.Functions) == 0 {
		r.file.Faults = []int{1}
	}
	return r.file
}

type syntaxTree = syntax.Tree

type reader struct{ file *mask.File }

type scope struct {
	prefix          string
	function, class int
}

func (s scope) name(n string) string {
	if s.prefix == "" {
		return n
	}
	return s.prefix + "." + n
}

// put adds a reference to what runs: the functions around it, or the file.
func (r *reader) put(s scope, n syntax.Node, path []string, use mask.Use) {
	ref := mask.Ref{Path: path, Use: use, Class: s.class, Line: n.Line()}
	if s.function < 0 {
		r.file.Loads = append(r.file.Loads, ref)
		return
	}
	for f := s.function; f >= 0; f = r.file.Functions[f].Parent {
		r.file.Functions[f].Runs = append(r.file.Functions[f].Runs, ref)
	}
}

func (r *reader) block(n syntax.Node, s scope) {
	for c := range n.Children() {
		switch c.Kind() {
		case "function_definition":
			r.function(c, s)
		case "class_definition":
			r.class(c, s)
		case "decorated_definition":
			at := len(r.file.Functions)
			for d := range c.Children() {
				if d.Is("decorator") {
					r.expression(d.First(), s, mask.Called)
					r.route(d.First(), at)
				}
			}
			r.block(c, s)
		case "import_from_statement":
			r.imports(c)
		case "import_statement":
			r.plainImport(c)
		case "expression_statement":
			r.statement(c.First(), s)
		case "decorator", "comment":
		default:
			if s.function >= 0 || c.Is("if_statement", "return_statement", "else_clause", "block") {
				r.blockOrExpression(c, s)
			}
		}
	}
}

// route is a call of route: a decorator's, or with the name of its handler.
func (r *reader) route(n syntax.Node, function int) {
	var arguments []syntax.Node
	for a := range n.Child("arguments").Children() {
		arguments = append(arguments, a)
	}
	if n.Child("function").Text() != "route" || len(arguments) == 0 {
		return
	}
	route := mask.Route{Path: strings.Trim(arguments[0].Text(), `"`), Function: function}
	if len(arguments) > 1 {
		route.Handler, route.Function = mask.Ref{Path: dotted(arguments[1]), Class: -1}, -1
	}
	r.file.Routes = append(r.file.Routes, route)
}

func (r *reader) blockOrExpression(n syntax.Node, s scope) {
	for c := range n.Children() {
		if c.Is("block", "else_clause") {
			r.block(c, s)
			continue
		}
		r.expression(c, s, mask.Named)
	}
}

func (r *reader) statement(n syntax.Node, s scope) {
	r.route(n, -1)
	if !n.Is("assignment") {
		r.expression(n, s, mask.Named)
		return
	}
	r.expression(n.Child("right"), s, mask.Named)
	if left := n.Child("left"); left.Is("identifier") && s.function < 0 {
		value, use := n.Child("right"), mask.Named
		if value.Is("call") {
			value, use = value.Child("function"), mask.Called
		}
		if p := dotted(value); p != nil {
			r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: s.name(left.Text()), Value: mask.Ref{Path: p, Use: use, Class: s.class}})
		}
	}
}

func (r *reader) function(n syntax.Node, s scope) {
	name, body := n.Child("name").Text(), n.Child("body")
	f := mask.Function{
		Name: s.name(name), Construct: mask.Plain, Parent: s.function, Class: -1, Line: n.Line(), Broken: n.Broken(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Body: mask.Range{Start: body.Start(), End: body.End()},
		Strict: `raise NotImplementedError("masked: ` + s.name(name) + `")`,
	}
	f.Shape.Lines = strings.Count(body.Text(), "\n") + 1
	if s.class >= 0 && strings.HasPrefix(s.prefix, r.file.Classes[s.class].Name) && s.prefix == r.file.Classes[s.class].Name {
		f.Class, f.Construct = s.class, mask.Method
	}
	switch {
	case name == "__init__", name == "__new__":
		f.Construct = mask.Constructor
	case name == "inherited", name == "hook":
		f.Construct = mask.Hook
	case strings.HasPrefix(name, "__"):
		f.Construct = mask.Special
	case body.Text() == "pass":
		f.Construct = mask.Trivial
	case n.Parent().Is("decorated_definition") && strings.HasPrefix(n.Parent().Text(), "@property"):
		f.Construct = mask.Getter
	}
	r.file.Functions = append(r.file.Functions, f)
	at := len(r.file.Functions) - 1
	r.block(body, scope{s.name(name), at, s.class})
}

func (r *reader) class(n syntax.Node, s scope) {
	c := mask.Class{Name: s.name(n.Child("name").Text()), Parent: s.class, Span: mask.Range{Start: n.Start(), End: n.End()}}
	for b := range n.Child("superclasses").Children() {
		if p := dotted(b); p != nil {
			c.Bases = append(c.Bases, mask.Ref{Path: p, Use: mask.Inherited, Class: s.class})
		}
	}
	r.file.Classes = append(r.file.Classes, c)
	r.block(n.Child("body"), scope{c.Name, s.function, len(r.file.Classes) - 1})
}

func (r *reader) imports(n syntax.Node) {
	module := n.Child("module_name").Text()
	for c := range n.Children() {
		switch {
		case c.Is("wildcard_import"):
			r.file.Imports = append(r.file.Imports, mask.Import{Module: module, Name: "*"})
		case c.Field() != "name":
		case c.Is("aliased_import"):
			r.file.Imports = append(r.file.Imports, mask.Import{Module: module, Name: c.Child("name").Text(), Local: c.Child("alias").Text()})
		default:
			r.file.Imports = append(r.file.Imports, mask.Import{Module: module, Name: c.Text(), Local: c.Text()})
		}
	}
}

func (r *reader) plainImport(n syntax.Node) {
	for c := range n.Children() {
		if c.Is("aliased_import") {
			r.file.Imports = append(r.file.Imports, mask.Import{Module: c.Child("name").Text(), Local: c.Child("alias").Text()})
			continue
		}
		head, _, _ := strings.Cut(c.Text(), ".")
		r.file.Imports = append(r.file.Imports, mask.Import{Module: c.Text(), Local: head})
	}
}

func (r *reader) expression(n syntax.Node, s scope, use mask.Use) {
	switch n.Kind() {
	case "identifier", "attribute":
		if p := dotted(n); p != nil {
			r.put(s, n, p, use)
		}
		for inner := n.Child("object"); inner.Is(); inner = inner.Child("object") {
			if inner.Is("call") {
				r.expression(inner, s, mask.Named)
			}
		}
	case "call":
		r.expression(n.Child("function"), s, mask.Called)
		for a := range n.Child("arguments").Children() {
			r.expression(a, s, mask.Handed)
		}
	case "":
	default:
		for c := range n.Children() {
			if c.Named() {
				r.expression(c, s, mask.Named)
			}
		}
	}
}

// dotted is the name that an expression is; of a call's attribute "?" and the name.
func dotted(n syntax.Node) []string {
	switch n.Kind() {
	case "identifier":
		return []string{n.Text()}
	case "attribute":
		of, name := n.Child("object"), n.Child("attribute").Text()
		if of.Is("call") && of.Child("function").Text() == "super" {
			return []string{"super", name}
		}
		if head := dotted(of); head != nil {
			return append(head, name)
		}
		return []string{"?", name}
	}
	return nil
}
