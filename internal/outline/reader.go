package outline

import (
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// reader collects what one tree says.
type reader struct {
	src   []byte
	file  *File
	depth int
}

func span(n syntax.Node) Span {
	if !n.Is() {
		return Span{}
	}
	lines := strings.Count(n.Text(), "\n")
	if strings.HasSuffix(n.Text(), "\n") {
		lines-- // a node that ends with its line break
	}
	return Span{Start: n.Start(), End: n.End(), StartLine: n.Line(), EndLine: n.Line() + lines}
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
func each(n syntax.Node, visit func(child syntax.Node)) {
	for c := range n.Children() {
		if c.Named() {
			visit(c)
		}
	}
}

// fields are the children under one field name, which a node can have several of.
func fields(n syntax.Node, name string) []syntax.Node {
	var out []syntax.Node
	for c := range n.Children() {
		if c.Field() == name {
			out = append(out, c)
		}
	}
	return out
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

func (r *reader) use(kind UseKind, n syntax.Node, of string) {
	r.file.Uses = append(r.file.Uses, Use{Kind: kind, Name: n.Text(), Of: of, Span: span(n)})
}

// quote adds the content of a string literal; long ones are data, not names.
func (r *reader) quote(n syntax.Node, content string) {
	const most = 200
	if content != "" && len(content) <= most && !strings.Contains(content, "\n") {
		r.file.Uses = append(r.file.Uses, Use{Kind: String, Name: content, Span: span(n)})
	}
}

// dotted is the text of a.b.c, "" for any other expression.
func dotted(n syntax.Node) string {
	text := n.Text()
	if len(text) > 200 || strings.ContainsAny(text, " \t\r\n()[]{}\"'`,:;+-/%&|<>=!?*^~@#") {
		return ""
	}
	return text
}
