package functions

import (
	"crypto/sha256"
	"hash"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// shape digests the code of a function; of a function inside it, only name and place. Two
// texts of one shape differ only in what formatters change: layout, comments, needless
// parentheses and the quotes around strings.
func shape(tree *syntax.Tree, f Function, inside []Function) [16]byte {
	s := shaper{source: tree.Source, hash: sha256.New(), at: f.Span.Start, data: f.Data, inside: inside}
	s.children(node(tree, f.Span))
	s.write(')', "")
	return [16]byte(s.hash.Sum(nil))
}

type shaper struct {
	source []byte
	hash   hash.Hash
	at     int    // everything before it was read
	tokens []byte // that are not nodes, before at
	data   mask.Range
	inside []Function // from at on
	depth  int
}

// write adds one word after its kind, so that words of different kinds, or one word and
// two, never give the same bytes.
func (s *shaper) write(kind byte, word string) {
	if len(s.tokens) > 0 {
		s.hash.Write([]byte("\x00t"))
		s.hash.Write(s.tokens)
		s.tokens = s.tokens[:0]
	}
	s.hash.Write([]byte{0, kind})
	s.hash.Write([]byte(word))
}

// maxDepth bounds recursion. Deeper nesting is hostile input, and is compared as text.
const maxDepth = 5000

func (s *shaper) children(n syntax.Node) {
	if s.depth++; s.depth < maxDepth {
		for c := range n.Children() {
			s.skip(n, c.Start())
			s.node(c)
		}
	}
	s.depth--
	s.skip(n, n.End())
}

// skip reads the tokens of a node up to a position.
func (s *shaper) skip(within syntax.Node, to int) {
	for ; s.at < to; s.at++ {
		switch c := s.source[s.at]; {
		case c <= ' ', c == ',', grouping(within):
		case c == ';' && !within.Is("for_clause", "for_statement"): // the same as a line break
		default:
			s.tokens = append(s.tokens, c)
		}
	}
}

// grouping reports whether a node only groups: its own tokens do not count.
func grouping(n syntax.Node) bool { return n.Is("parenthesized_expression") }

func (s *shaper) node(n syntax.Node) {
	at := mask.Range{Start: n.Start(), End: n.End()}
	for len(s.inside) > 0 && s.inside[0].Span.End <= at.Start {
		s.inside = s.inside[1:]
	}
	switch kind := n.Kind(); {
	case s.data.Len() > 0 && s.data.Holds(at):
		s.at = s.data.End
	case len(s.inside) > 0 && at.Start == s.inside[0].Span.Start && s.inside[0].Span.Holds(at) && !wraps(n):
		s.write('d', last(s.inside[0].Name))
		s.at = s.inside[0].Span.End
	case strings.HasSuffix(kind, "comment"), kind == "line_continuation":
		s.at = at.End
	case kind == "expression_statement" && n.First().Is("string") && wraps(n): // a docstring; its indentation does not count
		s.word(n, strings.Join(strings.Fields(n.Text()), " "))
	case kind == "string":
		s.word(n, unquoted(n.Text()))
	case isText(kind):
		s.word(n, n.Text())
	case grouping(n):
		s.children(n)
	default:
		s.write('(', kind)
		s.children(n)
		s.write(')', "")
	}
}

// wraps reports whether a node consists of a single other node.
func wraps(n syntax.Node) bool {
	first := n.First()
	return first.Is() && first.Start() == n.Start() && first.End() == n.End()
}

func (s *shaper) word(n syntax.Node, text string) {
	s.write('t', text)
	s.at = n.End()
}

// isText reports whether a node is a literal. Literals are read whole, because the text
// between escapes is not a node.
func isText(kind string) bool {
	for _, part := range []string{"string", "char", "rune", "heredoc", "regex"} {
		if strings.Contains(kind, part) {
			return kind != "concatenated_string" && kind != "chained_string"
		}
	}
	return kind == "text"
}

// unquoted gives a literal one kind of quotes if its text means the same in all of them.
func unquoted(literal string) string {
	at := strings.IndexAny(literal, "'\"")
	if at < 0 || strings.ContainsAny(literal, "\\\n") || strings.Contains(literal, "#{") {
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
