// Package functions says which functions a change adds, removes and modifies.
//
// What a function is, it takes from what a mask.Language says of a file: the notion
// that filters and masks share. Of that it counts
//
//   - what a word of the language declares, wherever it stands: async, nested,
//     conditional, decorated; methods, accessors, constructors;
//   - of function literals those that a module's, a class's or a package's own name is
//     bound to directly. Others are code of what encloses them, though masks name more;
//   - and, told apart by Class, classes and what is like them: types, traits, modules.
//     An alias is a second name and no definition, nor is an object that has functions.
//
// One name can have several definitions: overloads, a property with its setter, the
// branches of an if, the implementations of a singledispatch, Go's init. Each counts.
//
// It never resolves a name, never runs code, and never guesses at what does not parse.
package functions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Function is one definition.
type Function struct {
	Name   string // qualified within the file: Class.method, outer.inner, Type.Method
	Class  bool
	Parent int        // index, among the functions of the file, of the one around it; -1
	Span   mask.Range // with decorators; of a literal with the name that it is bound to
	Data   mask.Range // of a class: what it holds, which is not its own code

	literal bool
}

// In are the functions of a file, an outer one before what is inside it.
func In(file *mask.File, tree *syntax.Tree) []Function {
	var all, out []Function
	for _, f := range file.Functions {
		if f.Literal {
			if f.Span = bound(tree, f.Span); f.Span.Len() == 0 || last(f.Name) == "_" {
				continue
			}
		}
		all = append(all, Function{Name: f.Name, Span: f.Span, literal: f.Literal})
	}
	for _, c := range file.Classes {
		n := node(tree, c.Span)
		f := Function{Name: c.Name, Class: true, Span: c.Span, Data: data(n)}
		// Functions and plain objects have members too.
		if declares := f.Data.Len() > 0 || n.Child("name").Is(); declares && !n.Is("type_alias", "type_item") {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End))
	})
	for _, f := range all {
		f.Parent = len(out) - 1
		for f.Parent >= 0 && !out[f.Parent].Span.Holds(f.Span) {
			f.Parent = out[f.Parent].Parent
		}
		if !f.literal || f.Parent < 0 || out[f.Parent].Class {
			out = append(out, f)
		}
	}
	return out
}

// node is the innermost one that a span begins with and holds most of: comments and
// the text of heredocs may come behind it.
func node(tree *syntax.Tree, span mask.Range) syntax.Node {
	var n syntax.Node
	for at := range tree.From(span.Start) {
		if at.Start() > span.Start {
			break
		}
		if !n.Is() && at.End() <= span.End || n.Is() && at.End() == n.End() {
			n = at
		}
	}
	return n
}

// bound is the span of what binds a name to a literal, where nothing else stands
// between the two.
func bound(tree *syntax.Tree, literal mask.Range) mask.Range {
	n := node(tree, literal)
	if n.Child("body").Is() {
		n = n.Parent()
	}
	for ; n.Is(); n = n.Parent() {
		children := 0
		for c := range n.Children() {
			switch c.Field() {
			case "name", "left", "key", "property":
				return mask.Range{Start: n.Start(), End: n.End()}
			}
			if c.Named() {
				children++
			}
		}
		if children > 1 {
			break
		}
	}
	return mask.Range{}
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// data is what a class holds, behind its decorators.
func data(n syntax.Node) mask.Range {
	for c := range n.Children() {
		switch {
		case c.Field() == "definition", c.Field() == "declaration":
			return data(c)
		case c.Field() == "body", c.Is("struct_type", "interface_type"):
			return mask.Range{Start: c.Start(), End: c.End()}
		}
	}
	return mask.Range{}
}
