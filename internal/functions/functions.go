// Package functions says which functions a change adds, removes and modifies.
//
// It takes functions from a mask.Language, so that filters and masks mean the same by the
// word. Of these it counts
//
//   - functions declared by a keyword, wherever they stand: async, nested, conditional,
//     decorated; methods, accessors, constructors;
//   - function literals that are bound directly to a name of a module, class or package.
//     Other literals are code of the enclosing function, though masks name more of them;
//   - classes and their like (types, traits, modules), marked by Class. An alias is a
//     second name, not a definition; nor is an object that has functions.
//
// One name can have several definitions, and each counts: overloads, a property with its
// setter, the branches of an if, the implementations of a singledispatch, Go's init.
//
// The package never resolves a name, never runs code, and never guesses about a file that
// does not parse.
package functions

import (
	"bytes"
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
	Parent int        // index of the enclosing function among those of the file, or -1
	Span   mask.Range // with decorators; of a literal, with the name that it is bound to
	Data   mask.Range // of a class: its body, which is not its own code

	literal bool
}

// In returns the functions of a file, an outer one before those inside it.
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

// Lines is a function of a file with its lines, from 1.
type Lines struct {
	Name     string
	From, To int
}

// LinesOf gives the functions of a file with the lines that they stand on, in the order of In;
// none of a file that cannot be read.
func LinesOf(s Source) []Lines {
	if s.Language == nil {
		return nil
	}
	tree, err := mask.Parse(s.Language, s.Path, s.Data)
	if err != nil || tree.Broken() {
		return nil
	}
	var out []Lines
	line := func(at int) int { return 1 + bytes.Count(s.Data[:at], []byte("\n")) }
	for _, f := range In(s.Language.Read(s.Path, tree), tree) {
		if !f.Class {
			out = append(out, Lines{Name: f.Name, From: line(int(f.Span.Start)), To: line(int(f.Span.End))})
		}
	}
	return out
}

// node returns the innermost node that begins a span and covers most of it; comments and
// the text of heredocs may follow it.
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

// bound returns the span of the binding of a name to a literal, if nothing else stands
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

// data returns the body of a class, without its decorators.
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
