package functions

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/schemas"
)

// Source is one file before or after a change.
type Source struct {
	Path     string
	Language mask.Language // nil where no language reads the file
	Data     []byte
}

// Pair is a changed file before and after, with two paths if it was renamed. A missing
// side is nil.
type Pair struct{ Before, After *Source }

// path returns the path that records use for the file.
func (p Pair) path() string {
	if p.After != nil {
		return p.After.Path
	}
	return p.Before.Path
}

// Diff returns what a change does to functions. pairs are all source files of the change,
// because a function can move from one to another. The rules:
//
//   - A function of the same name in the same file (also a renamed one) is modified if its
//     own code is: signature, decorators, body, docstring; not layout, comments, or the
//     functions inside it. A class or type is modified if its head is: attributes and
//     fields are data.
//   - Several definitions of one name are paired one to one, equal ones first.
//   - A function that is gone in one file and new in another under the same qualified
//     name moved, if it shares at least half of its lines or is inside one that moved. It
//     is then neither removed nor added, and is modified if its own code is.
//   - A function under another name, or moved into or out of a class, is removed and added.
//   - A file that does not parse before or after is listed as unread, and nothing else.
//
// Names are path::Qualified.name, sorted, each once. The path is that before the change for
// removed functions and that after it for others.
func Diff(pairs []Pair) schemas.FunctionEdits {
	var d differ
	for _, p := range pairs {
		d.file(p)
	}
	d.moves()
	return schemas.FunctionEdits{Added: d.names(d.added), Removed: d.names(d.removed), Modified: d.names(d.modified), Unread: d.sorted(d.unread)}
}

// definition is a function with its file.
type definition struct {
	path   string
	name   string
	class  bool
	shape  [16]byte
	text   string
	parent *definition
	// to is the definition in another file that it became.
	to *definition

	counted map[string]int // its lines, counted on first use
	lines   int
}

// id is the key by which definitions are matched.
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
	for _, f := range before { // in source order
		if _, left := old[f.id()]; left {
			d.removed = append(d.removed, f)
		}
	}
}

// read returns the functions of a file, and whether it could be read.
func read(s *Source) ([]*definition, bool) {
	if s == nil {
		return nil, true
	}
	switch path.Ext(s.Path) {
	case ".pyi": // repeats what other files define
		return nil, true
	case ".pyx", ".pxd": // Cython, which has no grammar here
		return nil, false
	}
	if s.Language == nil {
		return nil, false
	}
	tree, err := mask.Parse(s.Language, s.Path, s.Data)
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

// unequal removes the definitions of one name that have an equal on the other side.
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
	// What remains of equal has no match; which ones of a shape remain does not matter.
	for _, f := range slices.Backward(before) {
		if equal[f.shape] > 0 {
			equal[f.shape]--
			gone = append(gone, f)
		}
	}
	slices.Reverse(gone)
	return gone, come
}

// moves pairs definitions that are gone in one file with those new in another.
func (d *differ) moves() {
	gone := map[id][]*definition{}
	for _, f := range d.removed {
		gone[f.id()] = append(gone[f.id()], f)
	}
	// Outer ones first: the inner ones move with them.
	slices.SortStableFunc(d.added, func(a, b *definition) int {
		return cmp.Compare(strings.Count(a.name, "."), strings.Count(b.name, "."))
	})
	from := map[*definition]*definition{}
	for _, near := range []bool{false, true} { // equal ones are paired before similar ones
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

// origin returns the definition that became f: the most similar one.
func origin(f *definition, gone []*definition, near bool) *definition {
	const (
		enough = 0.5
		most   = 100 // of one name; bounds the work for hostile files
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

// alike returns the share of lines that two definitions have in common, 0 to 1, layout
// ignored.
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
