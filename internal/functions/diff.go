package functions

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// Source is one file of one side of a change.
type Source struct {
	Path     string
	Language mask.Language // nil for one that nobody reads
	Data     []byte
}

// Pair is a changed file before and after, under two paths where it was renamed.
// A side that is not there is nil.
type Pair struct{ Before, After *Source }

// path is the one that a record names the file by.
func (p Pair) path() string {
	if p.After != nil {
		return p.After.Path
	}
	return p.Before.Path
}

// Diff says what a change does to functions; pairs are all its source files, because
// a function can move from one to another. The rules:
//
//   - A function of the same name in the same file (a renamed file is the same) is
//     modified where its own code is: signature, decorators, body, docstring; not
//     layout, comments, or the functions inside it. A class or type is modified where
//     its head is: attributes and fields are data.
//   - Several definitions of one name are paired as far as they go, equal ones first.
//   - One of the same qualified name that is gone here and new there, and is at least
//     half the same lines, or is inside one that is, moved: it is not removed and
//     added, and is modified where its own code is.
//   - A function under another name, or moved into or out of a class, is removed and added.
//   - A file that does not parse before or after is unread, and says nothing else.
//
// Names are path::Qualified.name, with the path before the change for what is removed
// and after it for the others; sorted, each once.
func Diff(pairs []Pair) schemas.FunctionEdits {
	var d differ
	for _, p := range pairs {
		d.file(p)
	}
	d.moves()
	return schemas.FunctionEdits{Added: d.names(d.added), Removed: d.names(d.removed), Modified: d.names(d.modified), Unread: d.sorted(d.unread)}
}

// definition is a function at its place.
type definition struct {
	path   string
	name   string
	class  bool
	shape  [16]byte
	text   string
	parent *definition
	// to is what it became in another file.
	to *definition

	counted map[string]int // its lines, once they are asked for
	lines   int
}

// id is what definitions are matched by.
type id struct {
	name  string
	class bool
}

func (d *definition) id() id { return id{d.name, d.class} }

type differ struct {
	added, removed, modified []*definition
	unread                   []string
}

func (d *differ) file(p Pair) {
	before, ok := read(p.Before)
	after, alsoOK := read(p.After)
	if !ok || !alsoOK {
		d.unread = append(d.unread, p.path())
		return
	}
	old := map[id][]*definition{}
	for _, f := range before {
		old[f.id()] = append(old[f.id()], f)
	}
	now := map[id][]*definition{}
	var order []id
	for _, f := range after {
		if len(now[f.id()]) == 0 {
			order = append(order, f.id())
		}
		now[f.id()] = append(now[f.id()], f)
	}
	for _, which := range order {
		gone, come := unequal(old[which], now[which])
		both := min(len(gone), len(come))
		d.modified = append(d.modified, come[:both]...)
		d.added = append(d.added, come[both:]...)
		d.removed = append(d.removed, gone[both:]...)
		delete(old, which)
	}
	for _, f := range before { // in order of source
		if _, left := old[f.id()]; left {
			d.removed = append(d.removed, f)
		}
	}
}

// read gives the functions of a file, and whether it could be read.
func read(s *Source) ([]*definition, bool) {
	if s == nil {
		return nil, true
	}
	switch path.Ext(s.Path) {
	case ".pyi": // repeats what other files define
		return nil, true
	case ".pyx", ".pxd": // Cython, which no grammar here reads
		return nil, false
	}
	if s.Language == nil {
		return nil, false
	}
	tree, err := syntax.ParseTree(s.Language.Grammar(s.Path), s.Data)
	if err != nil || tree.Broken() {
		return nil, false
	}
	functions := In(s.Language.Read(s.Path, tree), tree)
	out := make([]*definition, len(functions))
	for i, fn := range functions {
		text := string(s.Data[fn.Span.Start:fn.Span.End])
		out[i] = &definition{path: s.Path, name: fn.Name, class: fn.Class, shape: shape(tree, fn, functions[i+1:]), text: text}
		if fn.Parent >= 0 {
			out[i].parent = out[fn.Parent]
		}
	}
	return out, true
}

// unequal takes away the definitions of one name that have an equal on the other side.
func unequal(before, after []*definition) (gone, come []*definition) {
	equal := map[[16]byte]int{}
	for _, f := range before {
		equal[f.shape]++
	}
	for _, f := range after {
		if equal[f.shape] > 0 {
			equal[f.shape]--
			continue
		}
		come = append(come, f)
	}
	// What is left of equal has no match; the last ones of a shape are as good as the first.
	for _, f := range slices.Backward(before) {
		if equal[f.shape] > 0 {
			equal[f.shape]--
			gone = append(gone, f)
		}
	}
	slices.Reverse(gone)
	return gone, come
}

// moves pairs what is gone in one file with what is new in another.
func (d *differ) moves() {
	gone := map[id][]*definition{}
	for _, f := range d.removed {
		gone[f.id()] = append(gone[f.id()], f)
	}
	// Outer ones first: what is inside goes with them.
	slices.SortStableFunc(d.added, func(a, b *definition) int {
		return cmp.Compare(strings.Count(a.name, "."), strings.Count(b.name, "."))
	})
	from := map[*definition]*definition{}
	for _, near := range []bool{false, true} { // what is the same must not lose its place to what is like it
		for _, f := range d.added {
			if from[f] != nil {
				continue
			}
			if was := origin(f, gone[f.id()], near); was != nil {
				from[f], was.to = was, f
			}
		}
	}
	for f, was := range from {
		if f.shape != was.shape {
			d.modified = append(d.modified, f)
		}
	}
	d.added = slices.DeleteFunc(d.added, func(f *definition) bool { return from[f] != nil })
	d.removed = slices.DeleteFunc(d.removed, func(f *definition) bool { return f.to != nil })
}

// origin is the definition that became f: the one most like it.
func origin(f *definition, gone []*definition, near bool) *definition {
	const (
		enough = 0.5
		most   = 100 // of one name, for hostile files: likeness is not free
	)
	var best *definition
	score := 0.0
	for i, was := range gone {
		switch {
		case was.to != nil:
		case was.text == f.text:
			return was
		case !near || i >= most:
		case f.parent != nil && was.parent != nil && was.parent.to == f.parent:
			return was
		default:
			if s := alike(was, f); s >= enough && s > score {
				best, score = was, s
			}
		}
	}
	return best
}

// alike is the share of lines that two definitions have in common, layout apart.
func alike(a, b *definition) float64 {
	counts, lines := a.count()
	others, more := b.count()
	common := 0
	for line, n := range counts {
		common += min(n, others[line])
	}
	return 2 * float64(common) / float64(max(1, lines+more))
}

func (d *definition) count() (map[string]int, int) {
	if d.counted == nil {
		d.counted = map[string]int{}
		for line := range strings.Lines(d.text) {
			if line = strings.TrimSpace(line); line != "" && line != "}" {
				d.counted[line]++
				d.lines++
			}
		}
	}
	return d.counted, d.lines
}

func (d *differ) names(of []*definition) []string {
	var out []string
	for _, f := range of {
		out = append(out, f.path+"::"+f.name)
	}
	return d.sorted(out)
}

func (d *differ) sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
