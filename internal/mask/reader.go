package mask

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// This file makes a File of what a query of tree-sitter finds. The names of its captures say what a node is:
//
//	@function  a definition; @name and @body are inside of it
//	@class     a class, a trait, a module on the spot; @name is inside of it
//	@call      something is called there; @callee is inside of it
//	@use       a bare name that calls something where it is no variable; it does not count for the shape
//	@import    a statement that takes names from other files
//	@local     a variable or a parameter of the function around: who calls it calls no function of that name. Where @name is
//	           inside of it, that is the variable, and @type its type: what is called on it is called on that class
//	@member    the same for a field, in all functions of the file; a function may have its name
//	@head      what it calls runs with the definition of the function around, and not when that is called: a default
//	@fault     the language does not have this any more: as a syntax error
//	@skip      nothing in it runs, and nothing is declared there: a type
//	@later     what it calls does not run when the file is loaded: the value of a field of an object
//	@branch    counts for the shape of a body: a branch; @logic: one where its operator is and/or
//	@nest      counts for the shape: what is inside lies a level deeper
//	@comment   a comment

// Parse parses a file of a language, with the matches of its query.
func Parse(l Language, path string, source []byte) (*syntax.Tree, error) {
	return syntax.ParseMatched(l.Grammar(path), source, l.Query(l.Grammar(path)))
}

// Reader makes a File of the matches of a language's query. What the matches do not tell is the language's to say, in the
// functions below; each may be nil.
type Reader struct {
	*Walker
	// OnFunction completes a definition: its name, its construct, its body and what stands there in its place. It gives false
	// for what is no function after all.
	OnFunction func(m syntax.Match) (Function, bool)
	// OnClass completes a class, which is called as its @name else; false for what is none.
	OnClass func(m syntax.Match) (Class, bool)
	// OnCall gives the name of what is called, in parts; nil: nothing is, or it is of no concern. It is Callee else.
	OnCall func(m syntax.Match) []string
	// OnImport is told of a statement that imports.
	OnImport func(n syntax.Node)
	// OnOther is told of a match with a mark of the language's own.
	OnOther func(m syntax.Match)
	// Full says that the names of functions and classes are qualified when they are given.
	Full bool

	rest   []syntax.Match            // the match at hand and those behind it
	later  int                       // byte until which nothing runs that is not in a function
	head   int                       // byte until which calls run with the definition of headOf
	headOf int                       // a function
	locals map[int]map[string]string // variables by function with their types, "" for what is not known; see fields
}

// Read goes through the matches, an outer one before what is inside it.
func (r *Reader) Read(tree *syntax.Tree) *File {
	r.Walker, r.locals = newWalker(tree), map[int]map[string]string{}
	r.full = r.Full
	all := tree.Matches()
	for i, m := range all {
		if r.step(m.Node) {
			r.rest = all[i:]
			r.match(m)
		}
	}
	r.faults(tree)
	return r.File
}

func (r *Reader) match(m syntax.Match) {
	switch {
	case m.Is("comment"):
		r.Comment = m.Node
	case m.Is("function"):
		r.function(m)
	case m.Is("class"):
		r.class(m)
	case m.Is("import") && r.OnImport != nil:
		r.OnImport(m.Node)
	case m.Is("local"):
		r.local(m, r.Function())
	case m.Is("member"):
		r.local(m, fields)
	case m.Is("head"):
		r.head, r.headOf = m.Node.End(), r.Function()
	case m.Is("fault"):
		r.fault(m.Node)
	case m.Is("later"):
		r.Later(m.Node)
	case m.Is("skip"):
		r.Skip(m.Node)
	case r.OnOther != nil && !m.Is("call") && !m.Is("use"):
		r.OnOther(m)
	}
	if m.Is("call") || m.Is("use") {
		r.call(m)
	}
}

// Later says that nothing of a node runs when the file is loaded, unless it stands in a function.
func (r *Reader) Later(n syntax.Node) {
	if r.Function() < 0 {
		r.later = max(r.later, n.End())
	}
}

// fault is as a syntax error: of the functions around, else of the file.
func (r *Reader) fault(n syntax.Node) {
	if r.Function() < 0 {
		r.File.Faults = append(r.File.Faults, n.Line())
	}
	for f := r.Function(); f >= 0; f = r.File.Functions[f].Parent {
		r.File.Functions[f].Broken = true
	}
}

func (r *Reader) function(m syntax.Match) {
	if r.Deep() || r.OnFunction == nil {
		return
	}
	f, ok := r.OnFunction(m)
	if !ok {
		return
	}
	f.Shape = r.Shape(m.At("body"), f.Body)
	r.AddFunction(m.Node, f)
}

func (r *Reader) class(m syntax.Match) {
	if r.Deep() {
		return
	}
	c, ok := Class{Name: m.At("name").Text()}, true
	if r.OnClass != nil {
		c, ok = r.OnClass(m)
	}
	if ok {
		r.AddClass(m.Node, c)
	}
}

func (r *Reader) call(m syntax.Match) {
	path := Callee(m.At("callee"))
	if r.OnCall != nil {
		path = r.OnCall(m)
	}
	if _, local := r.variable(path); local && len(path) == 1 || r.Function() < 0 && m.Node.Start() < r.later {
		return
	}
	path = r.typed(path)
	from := r.Function()
	if from >= 0 && from == r.headOf && m.Node.Start() < r.head {
		from = r.File.Functions[from].Parent
	}
	r.called(m.Node, from, path)
}

// called writes down a name in use: to the function that it stands in, else to what loads.
func (r *Reader) called(n syntax.Node, function int, path []string) {
	if len(path) == 0 {
		return
	}
	ref := Ref{Path: path, Class: r.Class(), Line: n.Line()}
	if function < 0 {
		r.File.Loads = append(r.File.Loads, ref)
		return
	}
	r.File.Functions[function].Runs = append(r.File.Functions[function].Runs, ref)
}

// fields is where the fields of a file stand among its variables.
const fields = -2

// local notes a variable of a function, of the code of the file (-1) or of its objects (fields).
func (r *Reader) local(m syntax.Match, in int) {
	name := m.Node
	if at := m.At("name"); at.Is() {
		name = at
	}
	if r.locals[in] == nil {
		r.locals[in] = map[string]string{}
	}
	r.locals[in][name.Text()] = strings.Join(Made(m.At("type")), "")
}

// variable reports whether a path begins with a variable of the functions around, or of the file, and of what type.
func (r *Reader) variable(path []string) (of string, ok bool) {
	for f := r.Function(); f >= 0 && len(path) > 0; f = r.File.Functions[f].Parent {
		if of, ok := r.locals[f][path[0]]; ok {
			return of, true
		}
	}
	if len(path) > 0 {
		of, ok = r.locals[-1][path[0]]
	}
	return of, ok
}

// typed is a path that begins with the type of a variable or a field in place of that; with "?" where it is not known.
func (r *Reader) typed(path []string) []string {
	if len(path) < 2 {
		return path
	}
	of, ok := r.variable(path)
	rest := path[1:]
	if !ok && path[0] == "this" && len(path) == 3 {
		of, ok = r.locals[fields][path[1]]
		rest = path[2:]
	} else if !ok {
		of, ok = r.locals[fields][path[0]]
	}
	if !ok {
		return path
	}
	return append([]string{cmp.Or(of, "?")}, rest...)
}

// faults are the lines of syntax errors outside of functions.
func (r *Reader) faults(tree *syntax.Tree) {
	if !tree.Broken() {
		return
	}
	lines := r.File.Faults
	outer := slices.DeleteFunc(slices.Clone(r.File.Functions), func(f Function) bool { return f.Parent >= 0 })
	for n := range tree.All() {
		for len(outer) > 0 && outer[0].Span.End <= n.Start() {
			outer = outer[1:]
		}
		if (n.Is("ERROR") || n.Missing()) && (len(outer) == 0 || !outer[0].Span.Holds(Range{n.Start(), n.End()})) {
			lines = append(lines, n.Line())
		}
	}
	slices.Sort(lines)
	r.File.Faults = slices.Compact(lines)
}

// Of what is called no more is read than its end: of a chain of calls, each has all those before it in its text.
const (
	longest  = 16  // parts of a name
	longText = 256 // bytes
)

// connectors stand between the parts of a name.
var connectors = strings.NewReplacer("?->", ".", "?.", ".", "->", ".", "::", ".", `\`, ".")

// Callee is what is called, as it is written, in parts: a.b, a::b, a->b and a\b are {a, b}. A receiver that is no name is
// "?"; nil where what is called has no name.
func Callee(n syntax.Node) []string {
	if !n.Is() {
		return nil
	}
	if start := n.End() - longText; start > n.Start() {
		return split("()" + string(n.Tree().Source[start:n.End()])) // what is cut is no name
	}
	return split(n.Text())
}

// Member is a member of what is written, in parts: a.b() and c are {"?", c}.
func Member(of syntax.Node, name ...string) []string {
	path := Callee(of)
	if path == nil {
		path = []string{"?"}
	}
	return append(path, name...)
}

// TypeName is a type in parts, without what it is generic in: Map.Entry<K, V> is {Map, Entry}; nil for an array.
func TypeName(n syntax.Node) []string {
	if !n.Is() {
		return nil
	}
	text, _, _ := strings.Cut(n.Text(), "<")
	return split(strings.TrimRight(text, "?"))
}

// Made is the name under which the constructor of a type is called: the last part of the type's; nil for none.
func Made(of syntax.Node) []string {
	words := TypeName(of)
	return words[max(0, len(words)-1):]
}

func split(text string) []string {
	parts := strings.Split(strings.TrimPrefix(connectors.Replace(text), "."), ".")
	parts = parts[max(0, len(parts)-longest):]
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] != "" && !strings.ContainsAny(parts[i], "()[]{}\"'`, \t\r\n+*/<>|&;") {
			continue
		}
		if i == len(parts)-1 {
			return nil
		}
		return append([]string{"?"}, parts[i+1:]...)
	}
	return parts
}

// Shape is that of a body of the match at hand, of which a range is replaced.
func (r *Reader) Shape(body syntax.Node, at Range) Shape { return shapeOf(r.rest, body, at) }

// shapeOf counts what the matches say of what is replaced of a body, which is no nest of its own.
func shapeOf(matches []syntax.Match, body syntax.Node, at Range) Shape {
	var s Shape
	var open []syntax.Node
	var comments []Range
	for _, m := range matches {
		span := Range{m.Node.Start(), m.Node.End()}
		if span.Start >= at.End {
			break
		}
		if !at.Holds(span) {
			continue
		}
		for _, mark := range m.Marks {
			switch mark {
			case "branch":
				s.Branches++
			case "logic":
				if logical(m.Node) {
					s.Branches++
				}
			case "call":
				s.Calls++
			case "comment":
				comments = append(comments, span)
			case "nest":
				if m.Node == body {
					continue
				}
				for len(open) > 0 && !open[len(open)-1].Holds(m.Node) {
					open = open[:len(open)-1]
				}
				open = append(open, m.Node)
				s.Depth = max(s.Depth, len(open))
			}
		}
	}
	s.Lines = lines(matches[0].Node.Tree().Source, at, comments)
	return s
}
