package csharp

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// The grammar reads a file with all branches of its conditions at once. Where they are
// no whole statements or members, that does not parse; a file like that is read again
// as a compiler does, with one branch of each condition: the first, then the last. The
// others are blanked, so that every place stays what it is. What is masked comes from
// the source as it is, and only from functions in which all directives have both ends.

// directive is a line that a preprocessor reads.
var directive = lazyregexp.New(`^(?:\xEF\xBB\xBF)?[ \t]*#[ \t]*(if|elif|else|endif|region|endregion|pragma|nullable|error|warning|line)\b`)

// condition is an #if with its branches, by line.
type condition struct {
	at  []int
	end int
}

// conditions are those of a file; false where they do not nest.
func conditions(lines [][]byte) ([]condition, bool) {
	var all []condition
	var open []int
	for i, line := range lines {
		word := directive.FindStringSubmatch(string(line))
		if word == nil {
			continue
		}
		switch word[1] {
		case "if":
			open = append(open, len(all))
			all = append(all, condition{at: []int{i}})
		case "elif", "else", "endif":
			if len(open) == 0 {
				return nil, false
			}
			c := &all[open[len(open)-1]]
			if word[1] == "endif" {
				c.end, open = i, open[:len(open)-1]
			} else {
				c.at = append(c.at, i)
			}
		}
	}
	return all, len(open) == 0
}

// branch is the source with one branch of each condition, and without directives; false
// where there is none to choose.
func branch(source []byte, last bool) ([]byte, bool) {
	lines := bytes.SplitAfter(source, []byte("\n"))
	all, ok := conditions(lines)
	if !ok || len(all) == 0 {
		return nil, false
	}
	gone := make([]bool, len(lines))
	for i, line := range lines {
		gone[i] = directive.MatchString(string(line))
	}
	for _, c := range all {
		chosen := 0
		if last {
			chosen = len(c.at) - 1
		}
		ends := append(c.at[1:len(c.at):len(c.at)], c.end)
		for b, start := range c.at {
			for i := start + 1; b != chosen && i < ends[b]; i++ {
				gone[i] = true
			}
		}
	}
	out := make([]byte, 0, len(source))
	for i, line := range lines {
		if !gone[i] {
			out = append(out, line...)
			continue
		}
		for _, b := range line {
			if b != '\n' && b != '\r' {
				b = ' '
			}
			out = append(out, b)
		}
	}
	return out, true
}

// collection begins a collection expression, or an attribute of a parameter.
var collection = lazyregexp.New(`(?:=>?|\(|,|:|\?\?|\?\s|\breturn\b)\s*\[`)

// older writes collection expressions (C# 12), which the grammar does not know, as what
// it knows: [] as "", [a, b] as (a, b). Every place stays what it is.
func older(source []byte) []byte {
	out := bytes.Clone(source)
	for _, found := range collection.FindAllIndex(source, -1) {
		start := found[1] - 1
		end := closed(source, start)
		if end < 0 {
			continue
		}
		if rest := bytes.TrimLeft(source[end+1:], " \t\r\n"); len(rest) > 0 && !bytes.ContainsRune([]byte(",;)]}.:?"), rune(rest[0])) {
			continue // an attribute
		}
		out[start], out[end] = '(', ')'
		switch inner := bytes.TrimRight(source[start+1:end], " \t\r\n"); {
		case len(inner) == 0:
			out[start], out[end] = '"', '"'
		case inner[len(inner)-1] == ',':
			out[start+len(inner)] = ' '
		}
	}
	return out
}

// widest bounds how far the end of a collection is looked for.
const widest = 4096

// closed is the place of the bracket that closes one, -1 for none.
func closed(source []byte, start int) int {
	depth := 0
	for i, b := range source[start:min(len(source), start+widest)] {
		switch b {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return start + i
			}
		}
	}
	return -1
}

// balanced tells whether every directive in a range has its other end there too.
func balanced(source []byte, at mask.Range) bool {
	conditions, regions := 0, 0
	for line := range bytes.Lines(source[at.Start:max(at.Start, at.End)]) {
		word := directive.FindStringSubmatch(string(line))
		if word == nil {
			continue
		}
		switch word[1] {
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

// again reads a file that does not parse, whole and branch by branch. What parses best is
// the base; the others give it the functions that it does not have whole.
func again(file *mask.File, tree *syntax.Tree) *mask.File {
	source, faults := tree.Source, unread(file, tree)
	texts := [][]byte{older(source)}
	for _, last := range []bool{false, true} {
		if text, ok := branch(source, last); ok {
			texts = append(texts, older(text))
		}
	}
	readings := []*mask.File{file}
	for _, text := range texts {
		if tree, err := syntax.ParseTree(syntax.CSharp, text); err == nil {
			readings = append(readings, read(tree, source))
		}
	}
	slices.SortStableFunc(readings, func(a, b *mask.File) int {
		return cmp.Or(cmp.Compare(len(a.Faults), len(b.Faults)), cmp.Compare(broken(a), broken(b)))
	})
	base := readings[0]
	for _, other := range readings[1:] {
		join(base, other)
	}
	inOrder(base)
	if broken(base) == 0 && len(base.Faults) == 0 {
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
		for i := range f.Runs {
			f.Runs[i].Class = sameClass(base, other, f.Runs[i].Class)
		}
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
	for i := range f.Routes {
		if at := f.Routes[i].Function; at >= 0 {
			f.Routes[i].Function = place[at]
		}
	}
	f.Functions = sorted
}
