// Package mask turns source into a starter: the bodies of functions are replaced by something that fails loudly, and
// every other byte stays as it is. From
//
//	def area(w, h):        def area(w, h):
//	    return w * h   →       raise NotImplementedError("masked: area")
//
//	def scale(x):          def scale(x):
//	    return 10 * x          return 10 * x
//
//	UNIT = scale(1)        UNIT = scale(1)
//
// scale stays: the last line runs it when the file is loaded, and nobody could import the starter without it.
//
// The words:
//
//   - A Language finds its functions by a query of tree-sitter (reader.go), and says what fails in place of a body. A File
//     is what it says of one source file: its Functions and Classes, and what is called, in functions (Runs) and when the
//     file is loaded (Loads).
//   - A Ref is one call, by its Path: the dotted name in parts ({"mod", "f"}). "?" is a receiver that is not a name.
//   - A Load is what was seen to run when the code was loaded in a sandbox (load.go). What ran stays. Where nobody looked,
//     a short rule goes by the names of calls (names.go).
//   - A Construct is what a function is (method, generator, abstract …); the Profile says for each whether it is masked.
//   - A Slice limits the mask to a module, some names, or one function with what only it uses.
//   - The Manifest says what was done to each function and why; the undo gives the same bytes back.
//
// The rule of names, the profiles, the slices, the edits, the manifest and the undo are the same for all languages and
// stand here. The package never runs code, never guesses at what does not parse, and never writes outside the folder that
// it is given.
package mask

import "github.com/benchmint/benchmint/internal/syntax"

// Language is what masking knows of one language; siblings stand in
// internal/lang/<language>/mask.go.
type Language interface {
	// Name is the field's word: python, go, javascript …
	Name() string
	// Grammar is the grammar for a path (slashes, relative to the root that is
	// masked), "" for a file of no concern.
	Grammar(path string) syntax.Language
	// Exempt says why a whole file stays as it is (tests and their helpers, build
	// scripts of the language); the zero value for none. Generated and vendored files
	// are recognised for all languages alike.
	Exempt(path string, source []byte) Whole
	// Semantics is what names mean.
	Semantics() Semantics
	// Query finds what a file declares and calls, for a grammar of the language: the text of mask.scm, of which reader.go
	// has the captures.
	Query(grammar syntax.Language) string
	// Read says what a file holds, whose tree was parsed with the query (Parse). The tree is not kept.
	Read(path string, tree *syntax.Tree) *File
}

// Semantics is what names mean in a language. The zero value is a language of modules that are imported by name.
type Semantics struct {
	// Family is the word under which languages see each other's files (TypeScript's go
	// by JavaScript's); "" for the language's own name.
	Family string
	// Everywhere: a name needs no import: Java, C#, Ruby, PHP, Rust.
	Everywhere bool
	// BareMembers: a bare name may be a member of the class around it: Java, C#, Ruby.
	BareMembers bool
	// OwnPrefix: an import begins with the project's own prefix (Anchored). A folder that
	// is called as a package of others is none of what it takes.
	OwnPrefix bool
}

// Anchored is a Language whose imports may begin with a name that a file of the project
// sets: Go's module line, the name of a package or crate.
type Anchored interface {
	// Anchor gives, for such a file, the prefix that stands for its folder; "" for any
	// other file.
	Anchor(path string, source []byte) string
	// IsAnchor tells by the path alone whether a file may be one.
	IsAnchor(path string) bool
}

// Settled is a Language whose compiler is told by files that are no code (manifests,
// settings) to refuse what every mask leaves behind.
type Settled interface {
	// IsSetting tells by the path alone whether a file may be one.
	IsSetting(path string) bool
	// Soften gives the edits after which it is complained of, and compiled.
	Soften(path string, source []byte) []Edit
}

// Compiler is a Language whose compiler runs functions (Constant). Which ones hangs on
// files that stay whole too: tests.
type Compiler interface {
	// Compiled are the names, without what they are members of, of functions that the
	// compiler may run for a file, be they whose they may.
	Compiled(path string, tree *syntax.Tree) []string
}

// Hosting is a Settled Language with code that its compiler runs, whole packages of it
// (Rust's crates of macros, with what they depend on): it stays.
type Hosting interface {
	// Hosted gives, by the settings of the tree, which files are of such a package.
	Hosted(settings map[string][]byte) func(path string) bool
}

// Placed is a Language in which the place of a file reports whether it is loaded with the
// project.
type Placed interface {
	Language
	// Strays gives, of the paths of a language's files without its tests, those that stand beside what is imported:
	// scripts. One is loaded with the project only if something of the tree imports it.
	Strays(paths []string) []string
	// ImportedBy are the names of modules that a test's source imports.
	ImportedBy(source []byte) []string
}

// Range is bytes [Start, End) of a file.
type Range struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len is the number of bytes.
func (r Range) Len() int { return r.End - r.Start }

// Holds reports whether other lies within r.
func (r Range) Holds(other Range) bool { return r.Start <= other.Start && other.End <= r.End }

// Edit replaces bytes. Edits of one file do not overlap.
type Edit struct {
	Range
	Text string // with "\n"; the engine writes the line ends of the file
}

// Construct is what a definition is; the profile decides by it, in one table (policy.go).
type Construct string

// The constructs. A definition that is several of them has the first that a profile
// would keep; else the most specific one.
const (
	Plain       Construct = "function"
	Method      Construct = "method"
	Getter      Construct = "getter" // a property's, an accessor
	Setter      Construct = "setter"
	Constructor Construct = "constructor"
	Destructor  Construct = "destructor"
	Special     Construct = "special" // dunders, operators, conversions: called by the language itself
	Generator   Construct = "generator"
	Async       Construct = "async"
	Lambda      Construct = "lambda" // a name bound to a function literal; other literals are code of what is around them
	Overload    Construct = "overload"
	Abstract    Construct = "abstract" // abstract and protocol methods whose body says nothing
	Bodiless    Construct = "no_body"  // declared here, defined elsewhere
	Trivial     Construct = "trivial"  // nothing to mask: pass, …, an empty block, only a raise of not-implemented
	Hook        Construct = "hook"     // run by the language while code is loaded (init, inherited, static blocks)
	Constant    Construct = "constant" // may be evaluated by the compiler (const fn, constexpr)
	Opaque      Construct = "opaque"   // its type can be had from its body only (impl Trait, an inferred type that others use)
	Main        Construct = "main"
	Test        Construct = "test" // in a file that is no test file: Rust's #[test], doctest helpers
	Macro       Construct = "macro"
	Tangled     Construct = "tangled" // its text lies among that of what is around it: a heredoc, an #if that ends elsewhere
)

// Function is one definition, as it is declared: not what is inside of another's
// masked body.
type Function struct {
	Name      string // qualified within the file: Class.method, outer.inner
	Construct Construct
	Public    bool // by the language's own rule
	Doc       bool // has a doc comment or docstring
	Single    bool // the class itself answers to it, where a language's classes are objects
	Literal   bool // no declaration: a name is bound to it
	Parent    int  // index of the function around it, -1
	Class     int  // index in File.Classes of the class it is a member of, -1
	Line      int  // of its name, from 1
	From, To  int  // the first and the last line of Span; the engine counts
	Span      Range
	// Body is what Strict takes the place of: for Python the statements after the
	// docstring, else what stands between the braces, or the expression of a body
	// that is one. Zero where there is none.
	Body   Range
	Strict string // what stands in Body when it is masked
	Broken bool   // a syntax error lies inside: it is kept
	Runs   []Ref  // what its body calls, without what functions inside of it call
	Shape  Shape
	// Compiles, of a Constant one, are names as of Compiled: what the compiler runs with it.
	Compiles []string
}

// Literal is a function without a name, which a slice can take by its place: a handler that is written where its route is
// declared, or that a function returns.
type Literal struct {
	Name       string // the function around and its line: setup:12, and :12 outside of functions
	Line       int    // from 1
	Parent     int    // of what is around it: a number as Repair is told, -1
	Span, Body Range
	Strict     string // what stands in Body when it is masked
	Shape      Shape
}

// Shape are the facts about difficulty of one function (design 9).
type Shape struct {
	Lines    int `json:"lines"`    // of the body, blank ones and comments left out
	Branches int `json:"branches"` // if, loops, cases, handlers, conditional expressions, and/or
	Calls    int `json:"calls"`
	Depth    int `json:"depth"`  // deepest nesting of blocks
	FanIn    int `json:"fan_in"` // functions of the tree that call it, by plain names; the engine counts
}

// Class is a class, struct, trait, interface or module with members.
type Class struct {
	Name   string // qualified within the file
	Parent int    // index of the class around it, -1
	Span   Range
}

// Ref is one call. Path is the dotted name as it is written, split: {"f"}, {"mod","f"}, {"self","x"}, {"C","make"}. A
// receiver that is no name (a call, a subscript), or a variable of the function around, is "?": {"?","close"}.
type Ref struct {
	Path  []string
	Class int // index of the class in whose body or method this stands, -1
	Line  int // from 1, for reasons ("runs when a.py:12 is loaded")
}

// Import is a name that a file takes from another. "import a.b as c": Module a.b,
// Local c. "from .a import b as c": Module .a, Name b, Local c. A star: Name "*".
type Import struct {
	Module, Name, Local string
}

// File is what a language says of one file.
type File struct {
	// Modules are the names by which other files import this one, the most usual
	// first: Python's a.b.c (from every root that may be on the path), Go's package
	// folder, JavaScript's path without extension, Java's and C#'s package.
	Modules   []string
	Functions []Function // in source order, an outer one before what is inside it
	Literals  []Literal  // the same, where a slice can take them
	Classes   []Class
	Imports   []Import
	// Loads is what is called when the file is loaded: by statements of the module and of class bodies, decorators, defaults,
	// initialisers of package variables and statics. What stands in functions is in their Runs.
	Loads []Ref
	// Repair gives the further edits that a choice makes necessary (Go's unused
	// imports); nil where a language needs none. It must not keep the tree. masked is told the index of a function, or that of
	// a literal behind all functions.
	Repair func(masked func(function int) bool) []Edit
	// Stars is told, when all files are read, which modules are known to declare a name: of
	// two that are taken by a star, Repair may go by it. "" is the file's own, without
	// itself. What is not known is that of a module outside of the tree, and of a variable.
	// It must not keep the tree, nor has.
	Stars func(has func(module, name string) bool)
	// Faults are syntax errors outside functions, by line.
	Faults []int
	// Compiled are the names that the compiler may run for it, see Compiler.
	Compiled []string
}
