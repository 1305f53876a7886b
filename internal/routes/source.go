package routes

import (
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/syntax"
)

// source is a tree with what the readers of several frameworks need of it: each file is read
// and parsed once. It is used by one goroutine.
type source struct {
	lang.Tree
	python map[string]*pyFile // by path
	golang *goProgram         // nil before a reader asks for it
}

func newSource(t lang.Tree) *source { return &source{Tree: t, python: map[string]*pyFile{}} }

// pyFile is a file of Python.
type pyFile struct {
	text   []byte // nil where it cannot be read, or is too large
	tree   *syntax.Tree
	parsed bool
}

// pyFile gives the file at a path.
func (s *source) pyFile(at string) *pyFile {
	f := s.python[at]
	if f == nil {
		f = &pyFile{}
		if text, err := s.Read(at); err == nil && len(text) <= maxSource {
			f.text = text
		}
		s.python[at] = f
	}
	return f
}

// syntax gives the parsed file, or nil for one that cannot be read or parsed.
func (f *pyFile) syntax() *syntax.Tree {
	if !f.parsed && f.text != nil {
		if tree, err := syntax.ParseTree(syntax.Python, f.text); err == nil {
			f.tree = tree
		}
	}
	f.parsed = true
	return f.tree
}

// goProgram is what the Go code of a tree declares, of every framework.
type goProgram struct {
	in    *interpreter
	all   []flat
	steps int // that the interpretation took
}

func (s *source) goProgram() *goProgram {
	if s.golang == nil {
		in := newInterpreter(newGoSource(s.Tree), goKinds)
		in.run()
		g := &goProgram{in: in, all: in.flatten(), steps: in.steps}
		// GET / is for all that no other pattern takes: GET /{$} is asked for /.
		slices.SortStableFunc(g.all, func(a, b flat) int { return btoi(a.subtree) - btoi(b.subtree) })
		s.golang = g
	}
	return s.golang
}

// btoi is 1 for true.
func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
