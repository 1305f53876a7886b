// Package outline reads of one Python or Go file what it declares, imports and uses, by its
// syntax tree. Statements, interfaces and the tests that a change leaves untouched are told
// from it. Masks read trees by themselves: they need what encloses a function and where its
// body stands, in nine languages, and no uses.
//
// It never resolves a name over files, and never runs or type-checks anything.
package outline

import (
	"fmt"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// MaxSize bounds a file for Parse: larger ones are generated or data.
const MaxSize = 1 << 20

// maxDepth bounds the nested nodes that are read; deeper code is marked broken.
const maxDepth = 1500

// Kind is what a declaration is.
type Kind string

// The kinds; their words are those of schemas.Name.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Type      Kind = "type"
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Field     Kind = "field"     // struct field, class attribute, attribute set on self
	Parameter Kind = "parameter" // of the enclosing function
	Local     Kind = "local"     // bound inside a function
)

// Span is a place in a file: bytes [Start, End), lines from 1, both included.
type Span struct {
	Start, End         int
	StartLine, EndLine int
}

// Holds reports whether other lies within s.
func (s Span) Holds(other Span) bool { return s.Start <= other.Start && other.End <= s.End }

// Decl is one declaration. Declarations stand in source order, an outer one
// before what is inside it.
type Decl struct {
	Kind Kind
	Name string
	// Qualified joins the names of enclosing declarations with dots: Class.method,
	// outer.inner; in Go Type.Method and Type.Field.
	Qualified string
	Parent    int  // index of the enclosing declaration in File.Decls, -1 at top level
	Span      Span // whole, with decorators (Python) and doc comment (Go)
	NameSpan  Span
	Body      Span // of a function or class; zero where there is none
	// Signature is the declaration without its body on one line, at most 400 bytes.
	Signature  string
	Params     []Param  // of functions and methods, in order, receivers and self included
	Decorators []string // texts without "@", outermost first
	Receiver   string   // Go: the receiver's type name without "*"
	Value      Span     // of a constant, variable or field with a value
	Broken     bool     // a syntax error lies inside
}

// Param is one parameter.
type Param struct {
	Name    string
	Type    string
	Star    string // "*", "**", "..." or ""
	Default bool
}

// UseKind is how a name is used.
type UseKind string

// The kinds of use.
const (
	Identifier UseKind = "identifier" // a bare name that is read, called, or assigned to
	Attribute  UseKind = "attribute"  // x.Name, pkg.Name; Of is the text of x where it is a dotted name
	Keyword    UseKind = "keyword"    // f(Name=…): Of is the text of f. In Go T{Name: …}: Of is the text of T
	String     UseKind = "string"     // the content of a string literal of at most 200 bytes
)

// Use is one name at one place.
type Use struct {
	Kind UseKind
	Name string
	Of   string
	Span Span
}

// Import is one imported name. Python: "import a.b as c" has Module a.b and As c;
// "from .a import b" has Module ".a", Name b; a star has Name "*". Go: Module is
// the path, As the name given to it ("" for the package's own, "_" and ".").
type Import struct {
	Module, Name, As string
	Span             Span
	Parent           int // index of the enclosing declaration, -1 at top level
}

// File is one parsed file.
type File struct {
	Language syntax.Language
	Package  string // Go: the package clause
	Source   []byte
	Decls    []Decl
	Imports  []Import
	Uses     []Use // in source order
	// Broken says that the file has a syntax error somewhere; Decl.Broken says where.
	Broken bool
}

// Parse reads one file. A syntax error is no error: what can be read is there,
// and Broken is set.
func Parse(l syntax.Language, src []byte) (*File, error) {
	read := map[syntax.Language]func(*reader, syntax.Node){syntax.Python: readPython, syntax.Go: readGo}[l]
	if read == nil {
		return nil, fmt.Errorf("nothing reads %q", l)
	}
	if len(src) > MaxSize {
		return nil, syntax.ErrTooLarge
	}
	tree, err := syntax.ParseTree(l, src)
	if err != nil {
		return nil, err
	}
	r := &reader{src: src, file: &File{Language: l, Source: src, Broken: tree.Broken()}}
	read(r, tree.Root())
	sort.SliceStable(r.file.Uses, func(i, j int) bool { return r.file.Uses[i].Span.Start < r.file.Uses[j].Span.Start })
	return r.file, nil
}

// Text is the source of a span.
func (f *File) Text(s Span) string { return string(f.Source[s.Start:s.End]) }

// In are the uses within a span, in order.
func (f *File) In(s Span) []Use {
	from := sort.Search(len(f.Uses), func(i int) bool { return f.Uses[i].Span.Start >= s.Start })
	to := sort.Search(len(f.Uses), func(i int) bool { return f.Uses[i].Span.Start >= s.End })
	return f.Uses[from:to]
}

// Top are the indexes of the declarations that no function and no class encloses.
func (f *File) Top() []int { return f.Children(-1) }

// Children are the indexes of the declarations directly inside one.
func (f *File) Children(parent int) []int {
	var out []int
	for i, d := range f.Decls {
		if d.Parent == parent {
			out = append(out, i)
		}
	}
	return out
}

// Find are the indexes of the declarations with a qualified name; a file may
// declare one name more than once (overloads, conditional definitions).
func (f *File) Find(qualified string) []int {
	var out []int
	for i, d := range f.Decls {
		if d.Qualified == qualified && d.Kind != Local && d.Kind != Parameter {
			out = append(out, i)
		}
	}
	return out
}

// Bound are the names that a function binds for itself: its parameters and
// locals, and those of functions inside it.
func (f *File) Bound(decl int) map[string]bool {
	out := map[string]bool{}
	for i := decl + 1; i < len(f.Decls) && f.Decls[decl].Span.Holds(f.Decls[i].Span); i++ {
		if k := f.Decls[i].Kind; k == Local || k == Parameter {
			out[f.Decls[i].Name] = true
		}
	}
	return out
}

// oneLine squeezes blanks and cuts, for signatures.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 400
	if len(s) > most {
		cut := most
		for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a character
			cut--
		}
		s = s[:cut] + "…"
	}
	return s
}
