// Package treesitter parses a whole text with a grammar of github.com/smacker/go-tree-sitter
// and gives its tree as plain data. The parser is tree-sitter's own generalized LR, taken
// from its runtime as that module has it (MIT, see LICENSE) and cut down to one parse of one
// text that is in memory: its trees are the same, node by node, in about half of the time. It
// never edits trees, asks queries, or parses parts of a text.
package treesitter

/*
#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-all
#include "flat.h"
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
*/
import "C"

import (
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"

	// The grammars, as C.
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

// Grammar is that of one language, with its names.
type Grammar struct {
	Symbols []string // the kinds of nodes, by Node.Symbol
	Fields  []string // the names under which nodes have children, by Node.Field; "" is none

	language *C.TSLanguage
}

// grammars are made at their first use: each has hundreds of names.
var grammars = map[string]func() *Grammar{
	"python":     sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_python()) }),
	"go":         sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_go()) }),
	"javascript": sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_javascript()) }),
	"typescript": sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_typescript()) }),
	"tsx":        sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_tsx()) }),
	"java":       sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_java()) }),
	"rust":       sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_rust()) }),
	"csharp":     sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_c_sharp()) }),
	"ruby":       sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_ruby()) }),
	"php":        sync.OnceValue(func() *Grammar { return newGrammar(C.tree_sitter_php()) }),
}

func newGrammar(l *C.TSLanguage) *Grammar {
	g := &Grammar{language: l, Fields: []string{""}}
	for i := range C.flat_symbols(l) {
		g.Symbols = append(g.Symbols, C.GoString(C.flat_symbol(l, i)))
	}
	for i := range C.flat_fields(l) {
		g.Fields = append(g.Fields, C.GoString(C.flat_field(l, i+1)))
	}
	return g
}

// Of gives the grammar of a language by its name, with "tsx" for TypeScript with markup;
// nil where there is none.
func Of(language string) *Grammar {
	if make := grammars[language]; make != nil {
		return make()
	}
	return nil
}

// Node is one node of a tree.
type Node struct {
	Start, End uint32 // bytes [Start, End)
	Row        uint32 // of Start, from 0
	Last       uint32 // index after the last node below this one
	Parent     uint32 // index; of the root 0
	Symbol     uint16
	Field      uint16
	Flags      Flags
}

// Flags of a node.
type Flags uint32

// What flags tell.
const (
	Named   Flags = C.FLAT_NAMED
	Error   Flags = C.FLAT_ERROR   // what could not be read
	Missing Flags = C.FLAT_MISSING // a token that the parser put in to go on
	Broken  Flags = C.FLAT_BROKEN  // holds a syntax error
	Extra   Flags = C.FLAT_EXTRA   // may stand anywhere, as comments do
)

// Node is read where C wrote it.
var _ = [1]struct{}{}[unsafe.Sizeof(Node{})-C.sizeof_flat_node]

// Extent is how much of a tree is written down. Lists have an entry for each symbol of the
// grammar, not 0 for yes.
type Extent struct {
	Wanted []uint8 // tokens that are written down beside named nodes; nil: nothing but the root is
	Opened []uint8 // nodes whose children are, in a tree without a syntax error; nil for all
}

// ErrGivenUp is given for a text of which the grammar's own scanner loses its state: one is
// known, a Ruby heredoc whose word has more than 255 bytes.
var ErrGivenUp = errors.New("the grammar's scanner gives up")

// ErrTooSlow is given for a parse that takes more of the processor's time than it may.
var ErrTooSlow = errors.New("the parse takes too long")

// Parse gives the nodes of a text in preorder: the first child of node i is i+1, and its
// next sibling its Last. A syntax error is no error. The text has less than 4 GB.
func (g *Grammar) Parse(source []byte, extent Extent, limit time.Duration) ([]Node, error) {
	memory := takeMemory()
	defer giveMemory(memory)
	flat := C.flat_parse(memory, g.language, (*C.char)(unsafe.Pointer(unsafe.SliceData(source))), C.uint32_t(len(source)),
		C.uint64_t(limit/time.Microsecond), (*C.uint8_t)(unsafe.SliceData(extent.Wanted)), (*C.uint8_t)(unsafe.SliceData(extent.Opened)))
	defer C.arena_clear(memory)
	switch flat.fault {
	case C.FLAT_TIME:
		return nil, ErrTooSlow
	case C.FLAT_SCANNER:
		return nil, ErrGivenUp
	case C.FLAT_LANGUAGE:
		return nil, errors.New("the grammar has another version than the parser")
	}
	return append([]Node(nil), unsafe.Slice((*Node)(unsafe.Pointer(flat.nodes)), flat.count)...), nil
}

// memories are those that no parse uses, as many as run side by side at most.
var memories struct {
	sync.Mutex
	idle []*C.arena
}

func takeMemory() *C.arena {
	if m := idleMemory(); m != nil {
		return m
	}
	return C.arena_new() // others need not wait for its pages
}

func idleMemory() *C.arena {
	memories.Lock()
	defer memories.Unlock()
	n := len(memories.idle)
	if n == 0 {
		return nil
	}
	m := memories.idle[n-1]
	memories.idle = memories.idle[:n-1]
	return m
}

// Release gives the memory back that no parse uses. The next parses take new memory.
func Release() {
	memories.Lock()
	defer memories.Unlock()
	for _, m := range memories.idle {
		C.arena_delete(m)
	}
	memories.idle = nil
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
