package syntax

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/treesitter"
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

// dialect is a grammar with the tokens of it that are written down.
type dialect struct {
	*treesitter.Grammar
	wanted []uint8 // of each symbol: is it written down though it is no named one
}

var dialects = map[Language]func() *dialect{
	Python: dialectOf(Python), Go: dialectOf(Go), JavaScript: dialectOf(JavaScript), TypeScript: dialectOf(TypeScript), TSX: dialectOf(TSX),
	Java: dialectOf(Java), Rust: dialectOf(Rust), CSharp: dialectOf(CSharp), Ruby: dialectOf(Ruby), PHP: dialectOf(PHP),
}

func dialectOf(l Language) func() *dialect {
	return sync.OnceValue(func() *dialect {
		d := &dialect{Grammar: treesitter.Of(string(l))}
		d.wanted = make([]uint8, len(d.Symbols))
		for i, name := range d.Symbols {
			if isWord(name) || name == "*" || name == "=>" || name == "?." {
				d.wanted[i] = 1
			}
		}
		return d
	})
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// ErrTooSlow is given for a file whose parse takes more than 20 s of the processor's time.
var ErrTooSlow = treesitter.ErrTooSlow

// Tree is a parsed file as plain data: no C memory, nothing to close, safe for any
// number of readers. Named nodes are all there; of the tokens those that are words
// (async, static, export …), and "*", "=>" and "?.".
type Tree struct {
	Language Language
	Source   []byte
	nodes    []treesitter.Node
	dialect  *dialect
	bridged  bool
}

// ParseTree parses one file. A syntax error is no error: see Node.Broken.
func ParseTree(l Language, source []byte) (*Tree, error) { return parseTree(l, source, whole) }

// Outline gives a ParseTree that is cheaper: what lies in nodes of other kinds than the
// given ones is not written down. A file with a syntax error has its whole tree: in an
// error may lie anything.
func Outline(l Language, kinds ...string) func(source []byte) (*Tree, error) {
	opened := sync.OnceValue(func() []uint8 {
		symbols := dialects[l]().Symbols
		table := make([]uint8, len(symbols))
		for i, name := range symbols {
			if slices.Contains(kinds, name) {
				table[i] = 1
			}
		}
		return table
	})
	return func(source []byte) (*Tree, error) {
		return parseTree(l, source, extent{nodes: true, opened: opened()})
	}
}

// Sound tells whether a file has no syntax error. It costs the parse and nothing else.
func Sound(l Language, source []byte) (bool, error) {
	t, err := parseTree(l, source, extent{})
	return err == nil && !t.Broken(), err
}

// Release gives back the memory that parses left for the next ones.
func Release() { treesitter.Release() }

// extent is how much of a tree is written down.
type extent struct {
	nodes  bool    // more than the root
	opened []uint8 // of each symbol: what lies in it, too; nil for all
}

var whole = extent{nodes: true}

func parseTree(l Language, source []byte, e extent) (*Tree, error) {
	return parseWithin(l, source, e, maxTime)
}

// parseWithin ends a parse that takes more of the processor's time.
func parseWithin(l Language, source []byte, e extent, limit time.Duration) (*Tree, error) {
	of, ok := dialects[l]
	if !ok {
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
	t, err := of().parse(l, source, given, e, limit)
	bridge := bridges[l]
	if err != nil || bridge == nil || !t.Broken() {
		return t, err
	}
	all := t
	if !e.nodes {
		if all, err = of().parse(l, source, given, whole, limit); err != nil {
			return nil, err
		}
	}
	for _, text := range bridge(all) {
		if bytes.Equal(text, given) {
			continue
		}
		if other, err := of().parse(l, source, text, e, limit); err == nil && !other.Broken() {
			other.bridged = true
			return other, nil
		}
	}
	return t, nil
}

// parse gives the tree of a source by a text of the same length that the grammar can read.
func (d *dialect) parse(l Language, source, given []byte, e extent, limit time.Duration) (*Tree, error) {
	part := treesitter.Extent{Opened: e.opened}
	if e.nodes {
		part.Wanted = d.wanted
	}
	nodes, err := d.Parse(given, part, limit)
	if err != nil {
		return nil, err
	}
	return &Tree{Language: l, Source: source, nodes: nodes, dialect: d}, nil
}

// maxTree bounds a file: generated ones of several megabytes are masked too.
const maxTree = 32 << 20

// Node is one node of a tree; the zero Node is none.
type Node struct {
	tree *Tree
	i    uint32
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

// Broken tells whether there is a syntax error anywhere.
func (t *Tree) Broken() bool { return t.Root().Broken() }

// Bridged tells whether the grammar reads the source only by another text: it has what the
// grammar does not know.
func (t *Tree) Bridged() bool { return t.bridged }

// All gives every node, outer ones before what is inside them.
func (t *Tree) All() iter.Seq[Node] { return t.Root().Within() }

// From gives the nodes that begin at a byte or after it, in order.
func (t *Tree) From(offset int) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		first := sort.Search(len(t.nodes), func(i int) bool { return int(t.nodes[i].Start) >= offset })
		for i := first; i < len(t.nodes) && yield(Node{t, uint32(i)}); i++ {
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

// Is tells whether there is a node, and where kinds are given, whether it is of one of them.
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

func (n Node) c() *treesitter.Node { return &n.tree.nodes[n.i] }

// Index is the place in the tree's order, from 0: a key for tables.
func (n Node) Index() int { return int(n.i) }

// Tree is the tree that the node belongs to.
func (n Node) Tree() *Tree { return n.tree }

// Kind is the grammar's name for the node: function_definition, "async"; ERROR for
// what could not be read.
func (n Node) Kind() string {
	if n.tree == nil {
		return ""
	}
	if s := n.c().Symbol; int(s) < len(n.tree.dialect.Symbols) {
		return n.tree.dialect.Symbols[s]
	}
	return "ERROR"
}

// Field is the name under which its parent has the node; "" for none.
func (n Node) Field() string {
	if n.tree == nil {
		return ""
	}
	return n.tree.dialect.Fields[n.c().Field]
}

// Start and End are its bytes [Start, End).
func (n Node) Start() int { return int(n.c().Start) }

// End is the byte after it.
func (n Node) End() int { return int(n.c().End) }

// Line is that of its start, from 1.
func (n Node) Line() int { return int(n.c().Row) + 1 }

// Text is its source.
func (n Node) Text() string {
	if n.tree == nil {
		return ""
	}
	return string(n.tree.Source[n.c().Start:n.c().End])
}

// Named tells named nodes from tokens.
func (n Node) Named() bool { return n.c().Flags&treesitter.Named != 0 }

// Missing is a token that the parser put in to go on.
func (n Node) Missing() bool { return n.c().Flags&treesitter.Missing != 0 }

// Broken tells whether a syntax error lies inside.
func (n Node) Broken() bool {
	return n.tree != nil && n.c().Flags&(treesitter.Broken|treesitter.Missing|treesitter.Error) != 0
}

// Parent is the node that it lies in; none for the root.
func (n Node) Parent() Node {
	if n.tree == nil || n.i == 0 {
		return Node{}
	}
	return Node{n.tree, uint32(n.c().Parent)}
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

// Children are the nodes directly below, tokens included.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.tree == nil {
			return
		}
		for i, last := n.i+1, uint32(n.c().Last); i < last; i = uint32(n.tree.nodes[i].Last) {
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
		for i, last := n.i, uint32(n.c().Last); i < last; {
			at := Node{n.tree, i}
			if !yield(at) {
				return
			}
			if down(at) {
				i++
			} else {
				i = uint32(at.c().Last)
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

// BehindError tells whether what stands before it, but for comments, could not be read: an
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

// Has tells whether there is a child of one of the kinds.
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

// Holds tells whether other is n or lies below it.
func (n Node) Holds(other Node) bool {
	return n.tree != nil && n.tree == other.tree && n.i <= other.i && other.i < uint32(n.c().Last)
}
