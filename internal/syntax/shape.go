package syntax

import (
	"crypto/sha256"
	"hash"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// shape digests the code of one declaration. whole is all of it, own the definition
// in it that its decorators stand before, and without the child that is left out: the
// body of a class. Two texts of one shape differ in layout, comments, needless
// parentheses and the quotes around strings only: in what formatters change.
func (r *reader) shape(whole, own, without *sitter.Node) [16]byte {
	h := sha256.New()
	s := shaper{r: r, h: h, own: own, without: without}
	s.children(whole)
	return [16]byte(h.Sum(nil))
}

type shaper struct {
	r            *reader
	h            hash.Hash
	own, without *sitter.Node
}

// write adds one word; the kind before it keeps words of different kinds, and a
// word from two, apart.
func (s shaper) write(kind byte, word string) {
	s.h.Write([]byte{0, kind})
	s.h.Write([]byte(word))
}

func (s shaper) children(n *sitter.Node) {
	for i := 0; i < int(n.ChildCount()); i++ {
		child := n.Child(i)
		if child.Type() == ";" && n.Type() != "for_clause" { // as good as a line break
			continue
		}
		s.node(child)
	}
}

func (s shaper) node(n *sitter.Node) {
	if n.IsMissing() || s.without != nil && n.Equal(s.without) || !s.r.deeper() {
		return
	}
	defer s.r.leave()
	kind := n.Type()
	switch kind {
	case "comment", "line_continuation", ",":
		return
	// Literals whole: the text between escapes is no node.
	case "string":
		s.write('t', unquoted(s.r.text(n)))
		return
	case "interpreted_string_literal", "raw_string_literal", "rune_literal":
		s.write('t', s.r.text(n))
		return
	case "parenthesized_expression": // what they group is in the tree
		for i := 0; i < int(n.NamedChildCount()); i++ {
			s.node(n.NamedChild(i))
		}
		return
	case "expression_statement":
		if n.ChildCount() == 1 && n.Child(0).Type() == "string" { // a docstring, whose indentation says nothing
			s.write('t', strings.Join(strings.Fields(s.r.text(n)), " "))
			return
		}
	case "function_definition", "class_definition", "decorated_definition":
		if !n.Equal(s.own) {
			s.nested(n)
			return
		}
	}
	if n.ChildCount() == 0 {
		if text := strings.TrimSpace(s.r.text(n)); text != "" {
			s.write('t', text)
		}
		return
	}
	s.write('(', kind)
	s.children(n)
	s.write(')', "")
}

// nested is a definition inside, which has a shape of its own: that it stands here,
// and its name, belong to the outer one.
func (s shaper) nested(n *sitter.Node) {
	if d := n.ChildByFieldName("definition"); d != nil {
		n = d
	}
	s.write('d', s.r.text(n.ChildByFieldName("name")))
}

// unquoted is a literal that reads the same between all quotes, with one kind of
// them; others as they are written.
func unquoted(literal string) string {
	at := strings.IndexAny(literal, "'\"")
	if at < 0 || strings.ContainsAny(literal, "\\\n") {
		return literal
	}
	content := literal[at:]
	for _, quotes := range []string{`"""`, `'''`, `"`, `'`} {
		inner, ok := strings.CutPrefix(content, quotes)
		if inner, closed := strings.CutSuffix(inner, quotes); ok && closed && !strings.ContainsAny(inner, "'\"") {
			return literal[:at] + `"` + inner + `"`
		}
	}
	return literal
}
