package syntax

/*
#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-all
#include "flat.h"
#include <stdlib.h>
const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_go(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_typescript(void);
const TSLanguage *tree_sitter_tsx(void);
const TSLanguage *tree_sitter_java(void);
const TSLanguage *tree_sitter_rust(void);
const TSLanguage *tree_sitter_c_sharp(void);
const TSLanguage *tree_sitter_ruby(void);
const TSLanguage *tree_sitter_php(void);
uint32_t ts_language_symbol_count(const TSLanguage *);
uint32_t ts_language_field_count(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, uint16_t);
const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t);
*/
import "C"

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"

	// The grammars and tree-sitter itself, as C.
	_ "github.com/smacker/go-tree-sitter/csharp"
	_ "github.com/smacker/go-tree-sitter/golang"
	_ "github.com/smacker/go-tree-sitter/java"
	_ "github.com/smacker/go-tree-sitter/javascript"
	_ "github.com/smacker/go-tree-sitter/php"
	_ "github.com/smacker/go-tree-sitter/python"
	_ "github.com/smacker/go-tree-sitter/ruby"
	_ "github.com/smacker/go-tree-sitter/rust"
	_ "github.com/smacker/go-tree-sitter/typescript/tsx"
	_ "github.com/smacker/go-tree-sitter/typescript/typescript"
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

// dialect is a grammar with its names.
type dialect struct {
	language *C.TSLanguage
	symbols  []string
	fields   []string
	wanted   []C.uint8_t // of each symbol that is no named one: is it written down
}

var dialects = map[Language]func() *dialect{
	Python:     sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_python()) }),
	Go:         sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_go()) }),
	JavaScript: sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_javascript()) }),
	TypeScript: sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_typescript()) }),
	TSX:        sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_tsx()) }),
	Java:       sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_java()) }),
	Rust:       sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_rust()) }),
	CSharp:     sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_c_sharp()) }),
	Ruby:       sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_ruby()) }),
	PHP:        sync.OnceValue(func() *dialect { return newDialect(C.tree_sitter_php()) }),
}

func newDialect(l *C.TSLanguage) *dialect {
	d := &dialect{language: l}
	for i := range C.ts_language_symbol_count(l) {
		name := C.GoString(C.ts_language_symbol_name(l, C.uint16_t(i)))
		d.symbols = append(d.symbols, name)
		wanted := C.uint8_t(0)
		if isWord(name) || name == "*" || name == "=>" || name == "?." {
			wanted = 1
		}
		d.wanted = append(d.wanted, wanted)
	}
	d.fields = append(d.fields, "")
	for i := range C.ts_language_field_count(l) {
		d.fields = append(d.fields, C.GoString(C.ts_language_field_name_for_id(l, C.uint16_t(i+1))))
	}
	return d
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// ErrTooSlow is given for a file whose parse takes more than 20 s of the processor's time.
var ErrTooSlow = errors.New("the parse takes too long")

// Tree is a parsed file as plain data: no C memory, nothing to close, safe for any
// number of readers. Named nodes are all there; of the tokens those that are words
// (async, static, export …), and "*", "=>" and "?.".
type Tree struct {
	Language Language
	Source   []byte
	nodes    []flatNode
	dialect  *dialect
}

// flatNode is what is written down of one node.
type flatNode = C.flat_node

// ParseTree parses one file. A syntax error is no error: see Node.Broken.
func ParseTree(l Language, source []byte) (*Tree, error) { return parseTree(l, source, whole) }

// Outline gives a ParseTree that is cheaper: what lies in nodes of other kinds than the
// given ones is not written down. A file with a syntax error has its whole tree: in an
// error may lie anything.
func Outline(l Language, kinds ...string) func(source []byte) (*Tree, error) {
	opened := sync.OnceValue(func() []C.uint8_t {
		symbols := dialects[l]().symbols
		table := make([]C.uint8_t, len(symbols))
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

// extent is how much of a tree is written down.
type extent struct {
	nodes  bool        // more than the root
	opened []C.uint8_t // of each symbol: what lies in it, too; nil for all
}

var whole = extent{nodes: true}

func parseTree(l Language, source []byte, e extent) (*Tree, error) {
	return parseWithin(l, source, e, maxTime, maxTime)
}

// parseWithin ends a parse that takes more of the processor's time; the clock is looked at
// each slice.
func parseWithin(l Language, source []byte, e extent, limit, slice time.Duration) (*Tree, error) {
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
	d := of()
	memory := takeMemory()
	defer giveMemory(memory)
	var wanted *C.uint8_t
	if e.nodes {
		wanted = &d.wanted[0]
	}
	flat := C.flat_parse(memory, d.language, (*C.char)(unsafe.Pointer(unsafe.SliceData(given))), C.uint32_t(len(given)),
		C.uint64_t(limit/time.Microsecond), C.uint64_t(slice/time.Microsecond), wanted, unsafe.SliceData(e.opened))
	defer C.free(unsafe.Pointer(flat.nodes))
	switch flat.fault {
	case C.FLAT_TIME:
		return nil, ErrTooSlow
	case C.FLAT_LANGUAGE:
		return nil, errors.New("the grammar has another version than tree-sitter")
	case C.FLAT_MEMORY:
		return nil, fmt.Errorf("no memory for the tree of %d bytes", len(source))
	}
	t := &Tree{Language: l, Source: source, dialect: d}
	t.nodes = append(t.nodes, unsafe.Slice(flat.nodes, flat.count)...)
	return t, nil
}

// maxTree bounds a file: generated ones of several megabytes are masked too.
const maxTree = 32 << 20

// memories are those that no parse uses, as many as run side by side at most.
var memories struct {
	sync.Mutex
	idle []*C.arena
}

func takeMemory() *C.arena {
	memories.Lock()
	defer memories.Unlock()
	n := len(memories.idle)
	if n == 0 {
		return C.arena_new()
	}
	m := memories.idle[n-1]
	memories.idle = memories.idle[:n-1]
	return m
}

func giveMemory(m *C.arena) {
	memories.Lock()
	defer memories.Unlock()
	if len(memories.idle) < runtime.GOMAXPROCS(0) {
		memories.idle = append(memories.idle, m)
	} else {
		C.arena_delete(m)
	}
}

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

// All gives every node, outer ones before what is inside them.
func (t *Tree) All() iter.Seq[Node] { return t.Root().Within() }

// From gives the nodes that begin at a byte or after it, in order.
func (t *Tree) From(offset int) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		first := sort.Search(len(t.nodes), func(i int) bool { return int(t.nodes[i].start) >= offset })
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

func (n Node) c() *flatNode { return &n.tree.nodes[n.i] }

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
	if s := n.c().symbol; int(s) < len(n.tree.dialect.symbols) {
		return n.tree.dialect.symbols[s]
	}
	return "ERROR"
}

// Field is the name under which its parent has the node; "" for none.
func (n Node) Field() string {
	if n.tree == nil {
		return ""
	}
	return n.tree.dialect.fields[n.c().field]
}

// Start and End are its bytes [Start, End).
func (n Node) Start() int { return int(n.c().start) }

// End is the byte after it.
func (n Node) End() int { return int(n.c().end) }

// Line is that of its start, from 1.
func (n Node) Line() int { return int(n.c().row) + 1 }

// Text is its source.
func (n Node) Text() string {
	if n.tree == nil {
		return ""
	}
	return string(n.tree.Source[n.c().start:n.c().end])
}

// Named tells named nodes from tokens.
func (n Node) Named() bool { return n.c().flags&C.FLAT_NAMED != 0 }

// Missing is a token that the parser put in to go on.
func (n Node) Missing() bool { return n.c().flags&C.FLAT_MISSING != 0 }

// Broken tells whether a syntax error lies inside.
func (n Node) Broken() bool {
	return n.tree != nil && n.c().flags&(C.FLAT_BROKEN|C.FLAT_MISSING|C.FLAT_ERROR) != 0
}

// Parent is the node that it lies in; none for the root.
func (n Node) Parent() Node {
	if n.tree == nil || n.i == 0 {
		return Node{}
	}
	return Node{n.tree, uint32(n.c().parent)}
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
		for i, last := n.i+1, uint32(n.c().last); i < last; i = uint32(n.tree.nodes[i].last) {
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
		for i, last := n.i, uint32(n.c().last); i < last; {
			at := Node{n.tree, i}
			if !yield(at) {
				return
			}
			if down(at) {
				i++
			} else {
				i = uint32(at.c().last)
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
	return n.tree != nil && n.tree == other.tree && n.i <= other.i && other.i < uint32(n.c().last)
}
