// Package functions holds the one notion of a function that filters and masks
// share, and says which functions a change adds, removes and modifies.
//
// Functions are
//
//   - what def and func declare, wherever it stands: async, nested, conditional (under
//     if, try, with, match), decorated; methods, by Type.Method in Go;
//   - what a module's, a class's or a package's own name is bound to directly where that
//     is a lambda or a func literal. Other literals are code of what encloses them;
//   - and, told apart by Class, classes, and Go's defined types at package level. An
//     alias is a second name and no definition, a type inside a function its code.
//
// One name can have several definitions: overloads, a property with its setter, the
// branches of an if, the implementations of a singledispatch, Go's init. Each counts.
//
// It never resolves a name, never runs code, and never guesses at what does not parse.
package functions

import "github.com/benchmint/benchmint/internal/syntax"

// Function is one definition.
type Function struct {
	Decl   int    // its index in the file's Decls
	Name   string // qualified within the file: Class.method, outer.inner, Type.Method
	Class  bool   // a class or a type
	Parent int    // index, among the functions of the file, of the one around it; -1
}

// In are the functions of a file, an outer one before what is inside it.
func In(f *syntax.File) []Function {
	var out []Function
	at := map[int]int{} // by declaration
	for i, d := range f.Decls {
		if !defines(f, d) {
			continue
		}
		parent := -1
		for up := d.Parent; up >= 0 && parent < 0; up = f.Decls[up].Parent {
			if j, ok := at[up]; ok {
				parent = j
			}
		}
		at[i] = len(out)
		out = append(out, Function{Decl: i, Name: d.Qualified, Class: d.Kind == syntax.Class || d.Kind == syntax.Type, Parent: parent})
	}
	return out
}

func defines(f *syntax.File, d syntax.Decl) bool {
	switch d.Kind {
	case syntax.Function, syntax.Class:
		return true
	case syntax.Method: // of an interface it only says what others have
		return d.Parent < 0 || f.Decls[d.Parent].Kind != syntax.Type
	case syntax.Type:
		return !d.Alias
	}
	return d.Literal && d.Name != "_"
}
