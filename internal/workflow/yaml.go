package workflow

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"github.com/benchmint/benchmint/internal/plainyaml"
)

// Limits on files that strangers wrote. The parser's time grows with the square of
// the keys of a mapping and of the depth; the largest of 2,383 versions of real
// workflows had 16 kB.
const (
	maxFile  = 128 << 10
	maxTotal = 1 << 20
	maxDepth = 64
	maxNodes = 200_000 // visited in one file, through aliases too
)

// document is one parsed file. Its readers give nothing for what is absent or has
// another form than they ask for.
type document struct {
	file    string
	root    ast.Node
	anchors map[string]ast.Node
	left    int // nodes that may still be visited
}

// pair is one entry of a mapping.
type pair struct {
	key   string
	value ast.Node
}

// parse gives an empty document for what is not YAML. Keys that stand twice are an
// error here as they are to GitHub.
func parse(file string, data []byte) *document {
	d := &document{file: file, anchors: map[string]ast.Node{}, left: maxNodes}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // the parser counts such a line twice in blocks
	tokens := lexer.Tokenize(string(data))
	if plainyaml.Deep(tokens) {
		return d
	}
	f, err := parser.Parse(tokens, 0)
	if err != nil || len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return d
	}
	d.root = f.Docs[0].Body
	ast.Walk(d, d.root)
	return d
}

// Visit collects the anchors.
func (d *document) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return d
}

// spent recognises a file that was too costly: aliases that multiply or hold themselves.
func (d *document) spent() bool { return d.left < 0 }

// resolve looks through anchors, tags and aliases.
func (d *document) resolve(n ast.Node) ast.Node {
	for n != nil {
		if d.left--; d.spent() {
			return nil
		}
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.AliasNode:
			n = d.anchors[v.Value.GetToken().Value]
		default:
			return n
		}
	}
	return nil
}

// pairs are the entries of a mapping in their order, merged ones (<<) last.
func (d *document) pairs(n ast.Node) []pair { return d.pairsAt(n, 0) }

func (d *document) pairsAt(n ast.Node, depth int) []pair {
	var values []*ast.MappingValueNode
	switch m := d.resolve(n).(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	}
	if depth > maxDepth {
		d.left = -1
	}
	var out, merged []pair
	for _, v := range values {
		if d.left--; d.spent() {
			return nil
		}
		if v.Key.IsMergeKey() {
			merged = append(merged, d.pairsAt(v.Value, depth+1)...)
			for _, e := range d.items(v.Value) {
				merged = append(merged, d.pairsAt(e, depth+1)...)
			}
		} else if key, ok := scalar(v.Key); ok {
			out = append(out, pair{key, v.Value})
		}
	}
	if len(merged) == 0 {
		return out
	}
	seen := map[string]bool{}
	for _, p := range out {
		seen[p.key] = true
	}
	for _, p := range merged {
		if !seen[p.key] {
			seen[p.key] = true
			out = append(out, p)
		}
	}
	return out
}

func (d *document) child(n ast.Node, key string) ast.Node {
	for _, p := range d.pairs(n) {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

func (d *document) items(n ast.Node) []ast.Node {
	if s, ok := d.resolve(n).(*ast.SequenceNode); ok {
		return s.Values
	}
	return nil
}

// word is a scalar and its place.
func (d *document) word(n ast.Node) (Word, bool) {
	n = d.resolve(n)
	text, ok := scalar(n)
	if !ok {
		return Word{}, false
	}
	return Word{text, d.at(n, 0)}, true
}

func (d *document) text(n ast.Node) string {
	w, _ := d.word(n)
	return w.Value
}

// at is the place of a node, or of a line some lines below it.
func (d *document) at(n ast.Node, below int) string {
	return d.file + ":" + strconv.Itoa(n.GetToken().Position.Line+below)
}

// lines are the lines of a scalar. Those of a literal block (|) have their own
// places; in the other forms lines are folded, and the scalar's place is theirs.
func (d *document) lines(n ast.Node) []Word {
	n = d.resolve(n)
	text, ok := scalar(n)
	if !ok {
		return nil
	}
	block, own := n.(*ast.LiteralNode)
	own = own && strings.HasPrefix(block.Start.Value, "|")
	var out []Word
	for i, line := range strings.Split(text, "\n") {
		below := 0
		if own {
			below = i + 1
		}
		out = append(out, Word{line, d.at(n, below)})
	}
	return out
}

// fields are the scalars below a mapping.
func (d *document) fields(n ast.Node) []Field {
	var out []Field
	d.collect(&out, nil, n)
	return out
}

func (d *document) collect(out *[]Field, keys []string, n ast.Node) {
	if len(keys) > maxDepth {
		d.left = -1
	}
	for _, e := range d.items(n) {
		d.collect(out, keys, e)
	}
	for _, p := range d.pairs(n) {
		if p.key != "exclude" { // rows of a matrix that are not run
			d.collect(out, append(slices.Clip(keys), p.key), p.value)
		}
	}
	if w, ok := d.word(n); ok {
		*out = append(*out, Field{keys, w})
	}
}

// scalar is a text as it was written: 1.20 is a version, not a number.
func scalar(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
