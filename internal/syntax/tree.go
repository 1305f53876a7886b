package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"sort"
	"time"
)

// The languages of which trees are made, beside Python and Go.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	TSX        Language = "tsx" // TypeScript with markup
	Java       Language = "java"
	Rust       Language = "rust"
	CSharp     Language = "csharp"
	Ruby       Language = "ruby"
	PHP        Language = "php"
)

// ErrTooSlow is given for a file whose parse takes more than a minute.
var ErrTooSlow = errors.New("the parse takes too long")

// Tree is a parsed file as plain data: no C memory, nothing to close, safe for any
// number of readers. Named nodes are all there; of the tokens those that are words
// (async, static, export …), and "*", "=>" and "?.".
type Tree struct {
	Language Language
	Source   []byte
	nodes    []node
	matches  []Match
	bridged  bool
}

// ParseTree parses one file. A syntax error is no error: see Node.Broken.
func ParseTree(l Language, source []byte) (*Tree, error) {
	return parser{language: l, limit: maxTime}.parse(source)
}

// parser parses files of one grammar.
type parser struct {
	language Language
	limit    time.Duration // of one parse
	query    *query        // nil: none
}

func (p parser) parse(source []byte) (*Tree, error) {
	l := p.language
	of := grammars[l]
	if of == nil {
		return nil, fmt.Errorf("no grammar for %q", l)
	}
	if len(source) > maxTree {
		return nil, ErrTooLarge
	}
	given := source
	if l == Ruby {
		var err error
		if given, err = heredocs(source); err != nil {
			return nil, err
		}
	}
	t, err := p.parseAs(source, given)
	bridge := bridges[l]
	if err != nil || bridge == nil || !t.Broken() {
		return t, err
	}
	for _, text := range bridge(t) {
		if bytes.Equal(text, given) {
			continue
		}
		if other, err := p.parseAs(source, text); err == nil && !other.Broken() {
			other.bridged = true
			return other, nil
		}
	}
	return t, nil
}

// parseAs gives the tree of a source by a text of the same length that the grammar can read.
func (p parser) parseAs(source, given []byte) (*Tree, error) {
	t := &Tree{Language: p.language, Source: source}
	if err := grammars[p.language]().parse(t, given, p); err != nil {
		return nil, err
	}
	return t, nil
}

// maxTree bounds a file. A parse takes some 300 bytes of memory for each byte of source, and
// what is larger was written by a program.
const maxTree = 8 << 20

// Node is one node of a tree; the zero Node is none.
type Node struct {
	tree *Tree
	i    int
}

// Root is the whole file.
func (t *Tree) Root() Node {
	if len(t.nodes) == 0 {
		return Node{}
	}
	return Node{t, 0}
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Broken reports whether there is a syntax error anywhere.
func (t *Tree) Broken() bool { return t.Root().Broken() }

// Bridged reports whether the grammar reads the source only by another text: it has what the
// grammar does not know.
func (t *Tree) Bridged() bool { return t.bridged }

// All gives every node, outer ones before what is inside them.
func (t *Tree) All() iter.Seq[Node] { return t.Root().Within() }

// From gives the nodes that begin at a byte or after it, in order.
func (t *Tree) From(offset int) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		first := sort.Search(len(t.nodes), func(i int) bool { return t.nodes[i].start >= offset })
		for i := first; i < len(t.nodes) && yield(Node{t, i}); i++ {
		}
	}
}

// At is the innermost node that holds the byte.
func (t *Tree) At(offset int) Node {
	n := t.Root()
	for {
		inner := Node{}
		for c := range n.Children() {
			if c.Start() <= offset && offset < c.End() {
				inner = c
				break
			}
		}
		if !inner.Is() {
			return n
		}
		n = inner
	}
}

// Is reports whether there is a node, and where kinds are given, whether it is of one of them.
func (n Node) Is(kinds ...string) bool {
	if n.tree == nil {
		return false
	}
	if len(kinds) == 0 {
		return true
	}
	kind := n.Kind()
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return false
}

func (n Node) c() *node { return &n.tree.nodes[n.i] }

// Index is the place in the tree's order, from 0: a key for tables.
func (n Node) Index() int { return n.i }

// Tree is the tree that the node belongs to.
func (n Node) Tree() *Tree { return n.tree }

// Kind is the grammar's name for the node: function_definition, "async"; ERROR for
// what could not be read.
func (n Node) Kind() string {
	if n.tree == nil {
		return ""
	}
	return n.c().kind
}

// Field is the name under which its parent has the node; "" for none.
func (n Node) Field() string {
	if n.tree == nil {
		return ""
	}
	return n.c().field
}

// Start and End are its bytes [Start, End).
func (n Node) Start() int { return n.c().start }

// End is the byte after it.
func (n Node) End() int { return n.c().end }

// Line is that of its start, from 1.
func (n Node) Line() int { return n.c().row + 1 }

// Text is its source.
func (n Node) Text() string {
	if n.tree == nil {
		return ""
	}
	return string(n.tree.Source[n.c().start:n.c().end])
}

// Named distinguishes named nodes from tokens.
func (n Node) Named() bool { return n.c().named }

// Missing is a token that the parser put in to go on.
func (n Node) Missing() bool { return n.c().missing }

// Broken reports whether a syntax error lies inside.
func (n Node) Broken() bool {
	return n.tree != nil && n.c().broken
}

// Parent is the node that it lies in; none for the root.
func (n Node) Parent() Node {
	if n.tree == nil || n.i == 0 {
		return Node{}
	}
	return Node{n.tree, n.c().parent}
}

// Before is the node before it below the same parent; none for the first.
func (n Node) Before() Node {
	up := n.Parent()
	if !up.Is() || n.i == up.i+1 {
		return Node{}
	}
	before := Node{n.tree, n.i - 1}
	for before.Parent() != up {
		before = before.Parent()
	}
	return before
}

// After is the node after it below the same parent; none for the last.
func (n Node) After() Node {
	if up := n.Parent(); up.Is() && n.c().last < up.c().last {
		return Node{n.tree, n.c().last}
	}
	return Node{}
}

// Children are the nodes directly below, tokens included.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.tree == nil {
			return
		}
		for i, last := n.i+1, n.c().last; i < last; i = n.tree.nodes[i].last {
			if !yield(Node{n.tree, i}) {
				return
			}
		}
	}
}

// Within is the node and all below it, outer ones first.
func (n Node) Within() iter.Seq[Node] {
	return n.Walk(func(Node) bool { return true })
}

// Walk is Within without what is below nodes for which down says no.
func (n Node) Walk(down func(Node) bool) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.tree == nil {
			return
		}
		for i, last := n.i, n.c().last; i < last; {
			at := Node{n.tree, i}
			if !yield(at) {
				return
			}
			if down(at) {
				i++
			} else {
				i = at.c().last
			}
		}
	}
}

// Child is the first child under a field name.
func (n Node) Child(field string) Node {
	for c := range n.Children() {
		if c.Field() == field {
			return c
		}
	}
	return Node{}
}

// First is the first child of one of the kinds; of any named kind where none is given.
func (n Node) First(kinds ...string) Node {
	for c := range n.Children() {
		if len(kinds) == 0 && c.Named() || len(kinds) > 0 && c.Is(kinds...) {
			return c
		}
	}
	return Node{}
}

// BehindError reports whether what stands before it, but for comments, could not be read: an
// error may be the beginning of what comes after it.
func (n Node) BehindError() bool {
	if n.tree == nil || !n.tree.Broken() {
		return false
	}
	for i := n.i; i > 0; {
		i--
		before := Node{n.tree, i}
		if before.Holds(n) || before.Is("comment") {
			continue
		}
		for ; before.Is() && !before.Holds(n); before = before.Parent() {
			if before.Is("ERROR") {
				return true
			}
		}
		return false
	}
	return false
}

// Has reports whether there is a child of one of the kinds.
func (n Node) Has(kinds ...string) bool { return n.First(kinds...).Is() }

// Above is the innermost ancestor of one of the kinds, the node itself left out.
func (n Node) Above(kinds ...string) Node {
	for p := n.Parent(); p.Is(); p = p.Parent() {
		if p.Is(kinds...) {
			return p
		}
	}
	return Node{}
}

// Holds reports whether other is n or lies below it.
func (n Node) Holds(other Node) bool {
	return n.tree != nil && n.tree == other.tree && n.i <= other.i && other.i < n.c().last
}
