package csharp

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Where the branches of conditions are no whole statements or members, a file does not parse
// with all of them at once. It is read again by each of syntax.Readings, in which every place
// is what it was. What is masked comes from the source as it is, and only from functions in
// which all directives have both ends.

// balanced reports whether every directive in a range has its other end there too.
func balanced(source []byte, at mask.Range) bool {
	conditions, regions := 0, 0
	for line := range bytes.Lines(source[at.Start:max(at.Start, at.End)]) {
		switch syntax.Directive(line) {
		case "if":
			conditions++
		case "endif":
			conditions--
		case "elif", "else":
			if conditions == 0 {
				return false
			}
		case "region":
			regions++
		case "endregion":
			regions--
		}
		if conditions < 0 || regions < 0 {
			return false
		}
	}
	return conditions == 0 && regions == 0
}

// again reads a file that does not parse as it stands, whole and branch by branch. What parses
// best is the base; the others give it the functions that it does not have whole.
func again(tree *syntax.Tree) *mask.File {
	var readings []*mask.File
	for _, other := range syntax.Readings(tree.Source, query) {
		readings = append(readings, read(other, tree.Source))
	}
	var faults []int
	if tree.Broken() || len(readings) == 0 {
		file := read(tree, tree.Source)
		faults = unread(file, tree)
		readings = slices.Insert(readings, 0, file)
	}
	slices.SortStableFunc(readings, func(a, b *mask.File) int {
		return cmp.Or(cmp.Compare(len(a.Faults), len(b.Faults)), cmp.Compare(broken(a), broken(b)))
	})
	base := readings[0]
	for _, other := range readings[1:] {
		join(base, other)
	}
	inOrder(base)
	if tree.Broken() && broken(base) == 0 && len(base.Faults) == 0 {
		// Who parses the masked text whole must know that the source did not parse either.
		base.Faults = faults
	}
	return base
}

// unread are the lines of a source that the grammar does not read whole.
func unread(file *mask.File, tree *syntax.Tree) []int {
	if len(file.Faults) > 0 {
		return slices.Clone(file.Faults)
	}
	for n := range tree.All() {
		if n.Is("ERROR") || n.Missing() {
			return []int{n.Line()}
		}
	}
	return []int{1}
}

func broken(f *mask.File) int {
	count := 0
	for i := range f.Functions {
		if f.Functions[i].Broken {
			count++
		}
	}
	return count
}

// join takes functions from another reading: those that are broken or missing here.
func join(base, other *mask.File) {
	for _, f := range other.Functions {
		if f.Broken || f.Parent >= 0 {
			continue
		}
		f.Class = sameClass(base, other, f.Class)
		at := slices.IndexFunc(base.Functions, func(g mask.Function) bool { return g.Span.Start == f.Span.Start })
		switch {
		case at < 0:
			if !slices.ContainsFunc(base.Functions, func(g mask.Function) bool {
				return g.Span.Start < f.Span.End && f.Span.Start < g.Span.End
			}) {
				base.Functions = append(base.Functions, f)
			}
		case base.Functions[at].Broken && base.Functions[at].Parent < 0:
			base.Functions[at] = f
		}
	}
}

// sameClass is a class of another reading in this one, by its name.
func sameClass(base, other *mask.File, class int) int {
	if class < 0 {
		return -1
	}
	return slices.IndexFunc(base.Classes, func(c mask.Class) bool { return c.Name == other.Classes[class].Name })
}

// inOrder puts functions where they stand, and keeps those whole that reach into others.
func inOrder(f *mask.File) {
	order := make([]int, len(f.Functions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := f.Functions[a].Span, f.Functions[b].Span
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End))
	})
	place := make([]int, len(order))
	sorted := make([]mask.Function, len(order))
	for to, from := range order {
		place[from], sorted[to] = to, f.Functions[from]
	}
	end := 0
	for i := range sorted {
		g := &sorted[i]
		if g.Parent >= 0 {
			g.Parent = place[g.Parent]
			continue
		}
		if g.Body.Len() > 0 && g.Body.Start < end {
			g.Broken = true
		}
		if !g.Broken {
			end = max(end, g.Body.End)
		}
	}
	f.Functions = sorted
}
