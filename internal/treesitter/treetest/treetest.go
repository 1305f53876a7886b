// Package treetest holds the trees of package treesitter against those of tree-sitter's own
// runtime, node by node. It is for tests and measurements; the program never uses it.
package treetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

	"github.com/benchmint/benchmint/internal/treesitter"
)

// runtimes are the grammars as tree-sitter's own runtime has them, and the endings of the
// languages' files.
var runtimes = map[string]struct {
	language func() *sitter.Language
	endings  []string
}{
	"python":     {python.GetLanguage, []string{".py", ".pyi"}},
	"go":         {golang.GetLanguage, []string{".go"}},
	"javascript": {javascript.GetLanguage, []string{".js", ".mjs", ".cjs", ".jsx"}},
	"typescript": {typescript.GetLanguage, []string{".ts", ".mts", ".cts"}},
	"tsx":        {tsx.GetLanguage, []string{".tsx"}},
	"java":       {java.GetLanguage, []string{".java"}},
	"rust":       {rust.GetLanguage, []string{".rs"}},
	"csharp":     {csharp.GetLanguage, []string{".cs"}},
	"ruby":       {ruby.GetLanguage, []string{".rb"}},
	"php":        {php.GetLanguage, []string{".php"}},
}

// Languages are all of them, in order.
func Languages() []string {
	var all []string
	for l := range runtimes {
		all = append(all, l)
	}
	slices.Sort(all)
	return all
}

// LanguageOf is the language of a file by its ending; "" for none.
func LanguageOf(name string) string {
	for l, r := range runtimes {
		if slices.Contains(r.endings, filepath.Ext(name)) {
			return l
		}
	}
	return ""
}

// Compare gives an error where a source has another tree than by tree-sitter's own runtime.
// Where the scanner of a grammar gives up there is nothing to compare with: that runtime ends
// the process.
func Compare(language string, source []byte) error {
	g := treesitter.Of(language)
	wanted := make([]uint8, len(g.Symbols))
	for i := range wanted {
		wanted[i] = 1
	}
	got, err := g.Parse(source, treesitter.Extent{Wanted: wanted}, time.Minute)
	if errors.Is(err, treesitter.ErrGivenUp) {
		return nil
	}
	if err != nil {
		return err
	}
	want, err := reference(g, runtimes[language].language(), source)
	if err != nil {
		return fmt.Errorf("tree-sitter itself: %w", err)
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Errorf("node %d is %s %+v, of tree-sitter itself %s %+v", i, name(g, got[i]), got[i], name(g, want[i]), want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d nodes, of tree-sitter itself %d", len(got), len(want))
	}
	return nil
}

func name(g *treesitter.Grammar, n treesitter.Node) string {
	if int(n.Symbol) < len(g.Symbols) {
		return g.Symbols[n.Symbol]
	}
	return "ERROR"
}

// reference is the tree of tree-sitter's own runtime in the form of ours.
func reference(g *treesitter.Grammar, language *sitter.Language, source []byte) ([]treesitter.Node, error) {
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(language)
	tree, err := p.ParseCtx(context.Background(), nil, source)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	fields := map[string]uint16{}
	for i, name := range g.Fields {
		fields[name] = uint16(i)
	}
	var nodes []treesitter.Node
	c := sitter.NewTreeCursor(tree.RootNode())
	defer c.Close()
	parent := uint32(0)
	for more := true; more; {
		n := c.CurrentNode()
		at := treesitter.Node{
			Start: n.StartByte(), End: n.EndByte(), Row: n.StartPoint().Row, Last: uint32(len(nodes)) + 1, Parent: parent,
			Symbol: uint16(n.Symbol()), Field: fields[c.CurrentFieldName()],
		}
		for flag, is := range map[treesitter.Flags]bool{treesitter.Named: n.IsNamed(), treesitter.Error: n.IsError(), treesitter.Missing: n.IsMissing(), treesitter.Broken: n.HasError(), treesitter.Extra: n.IsExtra()} {
			if is {
				at.Flags |= flag
			}
		}
		nodes = append(nodes, at)
		if c.GoToFirstChild() {
			parent = uint32(len(nodes)) - 1
			continue
		}
		for more = c.GoToNextSibling(); !more && c.GoToParent(); more = c.GoToNextSibling() {
			nodes[parent].Last = uint32(len(nodes))
			parent = nodes[parent].Parent
		}
	}
	return nodes, nil
}

// Damaged gives n sources with syntax errors, most of them: the source with a span cut out,
// twice, elsewhere, or with something put into it. The same seed gives the same ones.
func Damaged(source []byte, n int, seed uint64) [][]byte {
	if len(source) == 0 {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, uint64(len(source))))
	all := make([][]byte, n)
	for i := range all {
		from := r.IntN(len(source))
		to := min(len(source), from+1+r.IntN(40))
		at := r.IntN(len(source) + 1)
		out := slices.Clone(source)
		switch r.IntN(5) {
		case 0:
			out = slices.Delete(out, from, to)
		case 1:
			out = slices.Insert(out, from, source[from:to]...)
		case 2:
			out = slices.Insert(out, at, source[from:to]...)
		default:
			out = slices.Insert(out, at, []byte(debris[r.IntN(len(debris))])...)
		}
		all[i] = out
	}
	return all
}

// debris is what closes, opens or ends something, and what is no text: ill-formed UTF-8
// (overlong, a surrogate, beyond the last character, cut off), a mark of byte order.
var debris = append(strings.Split("(){}[]<>\"'`:;,.=@#\\/*&|!-+ \n\t\r\x00", ""),
	"\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\u00e9", "\u2028", "\U0001f600", "\ufeff",
	") # c\n", ") // c\n", ") /* c */ (", "\n  ", "\n\t", "\"\"\"", "f'{", "<<~A\n", "${", "?>", "<?php ", "=begin\n", "__END__\n", "#{", "/*", "r#\"", "@\"", "$\"{")
