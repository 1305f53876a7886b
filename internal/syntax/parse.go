package syntax

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/golang"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// grammar is one of tree-sitter's, with its names.
type grammar struct {
	language *sitter.Language
	kinds    []kind            // by symbol
	fields   map[string]string // each name to itself: nodes share one copy
}

// kind is what a grammar says of a symbol.
type kind struct {
	name  string
	named bool
	kept  bool // in trees: it is named, or a token that is asked for
}

// grammars are read at their first use: each has hundreds of names.
var grammars = map[Language]func() *grammar{
	Python: grammarOf(python.GetLanguage), Go: grammarOf(golang.GetLanguage), JavaScript: grammarOf(javascript.GetLanguage),
	TypeScript: grammarOf(typescript.GetLanguage), TSX: grammarOf(tsx.GetLanguage), Java: grammarOf(java.GetLanguage),
	Rust: grammarOf(rust.GetLanguage), CSharp: grammarOf(csharp.GetLanguage), Ruby: grammarOf(ruby.GetLanguage), PHP: grammarOf(php.GetLanguage),
}

func grammarOf(get func() *sitter.Language) func() *grammar {
	return sync.OnceValue(func() *grammar {
		g := &grammar{language: get(), fields: map[string]string{}}
		for i := range g.language.SymbolCount() {
			name := g.language.SymbolName(sitter.Symbol(i))
			named := g.language.SymbolType(sitter.Symbol(i)) == sitter.SymbolTypeRegular
			g.kinds = append(g.kinds, kind{name, named, named || isWord(name) || name == "*" || name == "=>" || name == "?."})
		}
		for i := 1; ; i++ {
			name := g.language.FieldName(i)
			if name == "" {
				return g
			}
			g.fields[name] = name
		}
	})
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// node is one node of a tree.
type node struct {
	kind       string
	field      string // under which its parent has it; "" for none
	start, end int    // bytes [start, end)
	row        int    // of start, from 0
	last       int    // index after the last node below this one
	parent     int    // index; of the root 0
	named      bool
	missing    bool // a token that the parser put in to go on
	broken     bool // holds a syntax error, or is one
}

// errorKind is the kind of what could not be read.
const errorKind = "ERROR"

// parse writes the nodes of a text down in preorder: the first child of node i is i+1, and its
// next sibling its last. A parse that takes longer than the limit is ErrTooSlow.
func (g *grammar) parse(t *Tree, text []byte, how parser) error {
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(g.language)
	p.SetOperationLimit(int(how.limit.Microseconds()))
	tree, err := p.ParseCtx(context.Background(), nil, text)
	switch {
	case errors.Is(err, sitter.ErrOperationLimit):
		return ErrTooSlow
	case err != nil:
		return fmt.Errorf("parsing: %w", err)
	}
	defer tree.Close()
	root := tree.RootNode()
	w := walker{grammar: g, text: text, broken: root.HasError(), cursor: sitter.NewTreeCursor(root)}
	defer w.cursor.Close()
	w.walk()
	t.nodes = w.nodes
	switch {
	case how.query == nil:
		return nil
	case w.deepest > maxNest:
		return ErrTooDeep
	}
	how.query.match(root, text, t)
	return nil
}

// walker writes a tree of C down, in a loop: hostile nesting costs memory and no stack.
type walker struct {
	*grammar
	text    []byte
	broken  bool // there may be errors
	cursor  *sitter.TreeCursor
	nodes   []node
	open    []int // indexes of the nodes around the cursor; -1 for one that is not kept
	deepest int   // the most of them
	at      int   // byte up to which rows are counted
	row     int
}

func (w *walker) walk() {
	for {
		w.open = append(w.open, w.add())
		w.deepest = max(w.deepest, len(w.open))
		if w.cursor.GoToFirstChild() {
			continue
		}
		for {
			if i := w.open[len(w.open)-1]; i >= 0 {
				w.nodes[i].last = len(w.nodes)
			}
			w.open = w.open[:len(w.open)-1]
			if len(w.open) == 0 {
				return
			}
			if w.cursor.GoToNextSibling() {
				break
			}
			w.cursor.GoToParent()
		}
	}
}

// add writes the node at the cursor down and gives its index, or -1 for a token that is not
// kept.
func (w *walker) add() int {
	c := w.cursor.CurrentNode()
	k := kind{errorKind, true, true}
	if s := int(c.Symbol()); s < len(w.kinds) {
		k = w.kinds[s]
	}
	n := node{kind: k.name, named: k.named, parent: w.parent()}
	if w.broken {
		n.missing = c.IsMissing()
		n.broken = n.missing || k.name == errorKind || c.HasError()
	}
	if !k.kept && !n.missing {
		return -1
	}
	n.start, n.end = int(c.StartByte()), int(c.EndByte())
	if n.start > w.at {
		w.row += bytes.Count(w.text[w.at:n.start], []byte{'\n'})
		w.at = n.start
	}
	n.row = w.row
	if len(w.nodes) > 0 {
		n.field = w.fields[w.cursor.CurrentFieldName()]
	}
	w.nodes = append(w.nodes, n)
	return len(w.nodes) - 1
}

func (w *walker) parent() int {
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i] >= 0 {
			return w.open[i]
		}
	}
	return 0
}
