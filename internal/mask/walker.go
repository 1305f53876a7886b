package mask

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// Walker keeps account of what is around each match while a tree is read in order. It
// is a list and no recursion: how deep hostile source nests must not matter.
type Walker struct {
	File *File
	// Comment is the last one that was passed; Documented goes by it.
	Comment syntax.Node
	scopes  []scope
	left    syntax.Node // what Skip left out
	full    bool        // names that are given to it are qualified already
}

// scope is a class or a function that is open.
type scope struct {
	node            syntax.Node
	function, class int
	member          bool // what is declared next is a member of the class
	prefix          string
}

// newWalker begins with an empty file.
func newWalker(tree *syntax.Tree) *Walker {
	return &Walker{File: &File{}, scopes: []scope{{node: tree.Root(), function: -1, class: -1}}}
}

// Skip leaves out what is below a node: it neither runs nor declares.
func (w *Walker) Skip(n syntax.Node) { w.left = n }

// step goes on to a later node, and leaves the scopes that ended. It reports whether the node counts.
func (w *Walker) step(n syntax.Node) bool {
	for len(w.scopes) > 1 && !w.top().node.Holds(n) {
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
	return !w.left.Holds(n)
}

func (w *Walker) top() *scope { return &w.scopes[len(w.scopes)-1] }

// Function is the index of the innermost function around, -1 for none.
func (w *Walker) Function() int { return w.top().function }

// Class is the index of the innermost class around, -1 for none.
func (w *Walker) Class() int { return w.top().class }

// Member reports whether what is declared here is a member of Class.
func (w *Walker) Member() bool { return w.top().member }

// Deep reports whether definitions nest so deep that nobody wrote them: what is declared
// further in counts as code of what is around it.
func (w *Walker) Deep() bool { return len(w.scopes) > 64 }

// Qualified is a name with those of what is around it.
func (w *Walker) Qualified(name string) string { return w.top().prefix + name }

func (w *Walker) named(name string) string {
	if w.full {
		return name
	}
	return w.Qualified(name)
}

// AddFunction writes down a definition and enters it. Its name is not yet qualified, unless Reader.Full. What the node does
// not tell (Line, Body, Strict) is the caller's; a Span that the caller gives, and Broken, stay.
func (w *Walker) AddFunction(n syntax.Node, f Function) int {
	at := w.top()
	f.Parent, f.Class = at.function, -1
	if at.member {
		f.Class = at.class
	}
	f.Name = w.named(f.Name)
	if f.Span.Len() == 0 {
		f.Span = Range{n.Start(), n.End()}
	}
	f.Broken = f.Broken || n.Broken()
	w.File.Functions = append(w.File.Functions, f)
	index := len(w.File.Functions) - 1
	w.scopes = append(w.scopes, scope{n, index, at.class, false, f.Name + "."})
	return index
}

// AddClass writes down a class and enters it. Name is not yet qualified.
func (w *Walker) AddClass(n syntax.Node, c Class) int {
	at := w.top()
	c.Parent, c.Name = at.class, w.named(c.Name)
	if c.Span.Len() == 0 {
		c.Span = Range{n.Start(), n.End()}
	}
	w.File.Classes = append(w.File.Classes, c)
	index := len(w.File.Classes) - 1
	w.scopes = append(w.scopes, scope{n, at.function, index, true, c.Name + "."})
	return index
}

// Enter goes into a block of a class that is written down already; of class -1 into what has no more than a name. Name is
// not yet qualified.
func (w *Walker) Enter(n syntax.Node, class int, name string) {
	at := w.top()
	w.scopes = append(w.scopes, scope{n, at.function, class, class >= 0, at.prefix + name + "."})
}

// Documented reports whether the last comment stands right before the node and begins
// with one of the marks.
func (w *Walker) Documented(n syntax.Node, marks ...string) bool {
	if !w.Comment.Is() || w.Comment.End() > n.Start() {
		return false
	}
	between := n.Tree().Source[w.Comment.End():n.Start()]
	if len(bytes.Trim(between, blank)) > 0 || bytes.Count(between, []byte("\n")) > 1 {
		return false
	}
	text := w.Comment.Text()
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// blank is white space in source; a no-break space may be part of a name.
const blank = " \t\r\n\v\f"

// Braced gives what to replace of a block in braces, and the text for it, so that the
// statement stands as a statement would: on its own line where the block has lines, in
// one line where it has one. What is inside must not begin or end elsewhere.
func Braced(source []byte, block Range, statement string) (Range, string) {
	inner := Range{block.Start + 1, block.End - 1}
	text := source[inner.Start:inner.End]
	trimmed := bytes.Trim(text, blank)
	if len(trimmed) == 0 {
		return inner, " " + statement + " "
	}
	first := bytes.Index(text, trimmed)
	body := Range{inner.Start + first, inner.Start + first + len(trimmed)}
	comment := bytes.HasPrefix(trimmed, []byte("//")) || bytes.HasPrefix(trimmed, []byte("/*")) || bytes.HasPrefix(trimmed, []byte("#"))
	head, rest, more := bytes.Cut(text, []byte("\n"))
	if !comment || !more || len(bytes.Trim(head, blank)) == 0 {
		return body, statement
	}
	// "{ // why": the comment is part of the body, the brace keeps its line.
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if code := bytes.TrimLeft(line, " \t"); len(bytes.Trim(code, blank)) > 0 {
			return Range{inner.Start, body.End}, "\n" + string(line[:len(line)-len(code)]) + statement
		}
		rest = after
	}
	return body, statement
}
