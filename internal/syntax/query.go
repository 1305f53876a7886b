package syntax

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
)

// Match is one place where a pattern of a query fits: a definition with its name and its body, a call with what it calls.
// The query's language is tree-sitter's (https://tree-sitter.github.io/tree-sitter/using-parsers/queries).
type Match struct {
	Node  Node     // the outermost node that the pattern captures
	Marks []string // the names under which it captures that one, without "@"
	inner []capture
}

type capture struct {
	name string
	node Node
}

// At is a node further in, by the name of its capture; none where the pattern has no such name.
func (m Match) At(name string) Node {
	for _, c := range m.inner {
		if c.name == name {
			return c.node
		}
	}
	return Node{}
}

// Is reports whether the outermost node is captured under a name.
func (m Match) Is(mark string) bool { return slices.Contains(m.Marks, mark) }

// Matches are those of the query that the tree was parsed for, an outer node before what is inside it.
func (t *Tree) Matches() []Match { return t.matches }

// maxNest is how deep the nodes of a file may nest where a query goes through them: it takes time by the square of the
// depth, and loses matches from 65,536 levels on.
const maxNest = 30_000

// ErrTooDeep is a file that nests so deeply that nobody wrote it.
var ErrTooDeep = errors.New("it nests too deeply: more than 30,000 levels")

// ParseMatched parses one file, and finds in it what fits the patterns of a query.
func ParseMatched(l Language, source []byte, query string) (*Tree, error) {
	q, err := queryOf(l, query)
	if err != nil {
		return nil, err
	}
	return parser{language: l, limit: maxTime, query: q}.parse(source)
}

// query is one that was read for a grammar.
type query struct {
	*sitter.Query
	names []string // of captures, by number
	asks  []bool   // patterns with a predicate
}

type queryKey struct {
	language Language
	text     string
}

var queries sync.Map // of queryKey: a query is read once, and used by any number of parses

func queryOf(l Language, text string) (*query, error) {
	key := queryKey{l, text}
	if q, ok := queries.Load(key); ok {
		return q.(*query), nil
	}
	of := grammars[l]
	if of == nil {
		return nil, fmt.Errorf("no grammar for %q", l)
	}
	read, err := sitter.NewQuery([]byte(text), of().language)
	if err != nil {
		return nil, fmt.Errorf("the query for %s: %w", l, err)
	}
	q := &query{Query: read}
	for i := range read.CaptureCount() {
		q.names = append(q.names, read.CaptureNameForId(i))
	}
	for i := range read.PatternCount() {
		q.asks = append(q.asks, len(read.PredicatesForPattern(i)) > 0)
	}
	kept, _ := queries.LoadOrStore(key, q)
	return kept.(*query), nil
}

// match finds the matches of a query below a node of C, in a tree that is written down already.
func (q *query) match(root *sitter.Node, text []byte, t *Tree) {
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(q.Query, root)
	for {
		found, ok := cursor.NextMatch()
		if !ok {
			break
		}
		if q.asks[found.PatternIndex] {
			found = cursor.FilterPredicates(found, text)
		}
		if m, ok := q.written(found, t); ok {
			t.matches = append(t.matches, m)
		}
	}
	slices.SortStableFunc(t.matches, func(a, b Match) int { return cmp.Compare(a.Node.i, b.Node.i) })
}

// written is a match with nodes of the tree; false for one of a token that trees leave out.
func (q *query) written(found *sitter.QueryMatch, t *Tree) (Match, bool) {
	var m Match
	for _, c := range found.Captures {
		n := t.find(c.Node)
		switch name := q.names[c.Index]; {
		case !n.Is():
		case !m.Node.Is() || n == m.Node:
			m.Node = n
			m.Marks = append(m.Marks, name)
		default:
			m.inner = append(m.inner, capture{name, n})
		}
	}
	return m, m.Node.Is()
}

// find is the node of the tree that was written for one of C.
func (t *Tree) find(c *sitter.Node) Node {
	start, end, kind := int(c.StartByte()), int(c.EndByte()), c.Type()
	i := sort.Search(len(t.nodes), func(i int) bool { return t.nodes[i].start >= start })
	for ; i < len(t.nodes) && t.nodes[i].start == start; i++ {
		if t.nodes[i].end == end && t.nodes[i].kind == kind {
			return Node{t, i}
		}
	}
	return Node{}
}
