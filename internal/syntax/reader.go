package syntax

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// reader collects what one tree says.
type reader struct {
	src   []byte
	file  *File
	depth int
}

func (r *reader) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return n.Content(r.src)
}

func span(n *sitter.Node) Span {
	if n == nil {
		return Span{}
	}
	end := int(n.EndPoint().Row) + 1
	if n.EndPoint().Column == 0 && n.EndByte() > n.StartByte() {
		end-- // a node that ends with its line break
	}
	return Span{Start: int(n.StartByte()), End: int(n.EndByte()), StartLine: int(n.StartPoint().Row) + 1, EndLine: end}
}

// from is the span from the start of one to the end of another.
func from(a, b Span) Span {
	return Span{Start: a.Start, End: b.End, StartLine: a.StartLine, EndLine: b.EndLine}
}

// deeper guards recursion against hostile nesting; leave must follow where it is true.
func (r *reader) deeper() bool {
	if r.depth >= maxDepth {
		r.file.Broken = true
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// each calls visit for every named child.
func each(n *sitter.Node, visit func(child *sitter.Node)) {
	for i := 0; i < int(n.NamedChildCount()); i++ {
		visit(n.NamedChild(i))
	}
}

// fields are the children under one field name, which a node can have several of.
func fields(n *sitter.Node, name string) []*sitter.Node {
	var out []*sitter.Node
	for i := 0; i < int(n.ChildCount()); i++ {
		if n.FieldNameForChild(i) == name {
			out = append(out, n.Child(i))
		}
	}
	return out
}

// token is the first direct child that is this punctuation.
func token(n *sitter.Node, text string) *sitter.Node {
	for i := 0; i < int(n.ChildCount()); i++ {
		if child := n.Child(i); !child.IsNamed() && child.Type() == text {
			return child
		}
	}
	return nil
}

// declare adds a declaration and gives its index.
func (r *reader) declare(d Decl) int {
	d.Qualified = d.Name
	if d.Parent >= 0 {
		d.Qualified = r.file.Decls[d.Parent].Qualified + "." + d.Name
	}
	r.file.Decls = append(r.file.Decls, d)
	return len(r.file.Decls) - 1
}

func (r *reader) use(kind UseKind, n *sitter.Node, of string) {
	r.file.Uses = append(r.file.Uses, Use{Kind: kind, Name: r.text(n), Of: of, Span: span(n)})
}

// quote adds the content of a string literal; long ones are data, not names.
func (r *reader) quote(n *sitter.Node, content string) {
	const most = 200
	if content != "" && len(content) <= most && !strings.Contains(content, "\n") {
		r.file.Uses = append(r.file.Uses, Use{Kind: String, Name: content, Span: span(n)})
	}
}

// dotted is the text of a.b.c, "" for any other expression.
func (r *reader) dotted(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	text := r.text(n)
	if len(text) > 200 || strings.ContainsAny(text, " \t\r\n()[]{}\"'`,:;+-/%&|<>=!?*^~@#") {
		return ""
	}
	return text
}
