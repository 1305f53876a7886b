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
	// Semantics is what names and calls mean.
	Semantics() Semantics
	// Read says what a file holds. The tree is not kept.
	Read(path string, tree *syntax.Tree) *File
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

// Mapped is a Language with settings that say what the beginning of an import stands for,
// for the files below a folder.
type Mapped interface {
	// Anchors reads those of a tree, of which all paths are given. What cannot be read says
	// nothing. Closed are the folders of packages within it that nobody can import.
	Anchors(paths []string, read func(path string) ([]byte, error)) (all []Anchor, closed []string)
}

// Anchor says that an import in a file below Within is looked for in Folder where it
// begins with Prefix, by what comes behind that. A Whole one is the import, and Folder is
// what it means.
type Anchor struct {
	Prefix, Folder, Within string
	Whole                  bool
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
	// Returned stands there when only the function literal that it returns is masked; "" where it
	// returns none.
	Returned string
	Broken   bool // a syntax error lies inside: it is kept
	// Runs is what its body calls, makes and names, that of nested functions included
	// where nobody says where those go.
	Runs  []Ref
	Takes []Take // its parameters in order; nil: nobody can tell
	Shape Shape
	// Result is the type of what it gives, as it is written: a path, as from the body; nil
	// for one that is not known, {Element} where no member of it is of the tree.
	Result []string
	// Compiles, of a Constant one, are names as of Compiled: what the compiler runs with it.
	Compiles []string
}

// Shape are the facts about difficulty of one function (design 9).
type Shape struct {
	Lines    int `json:"lines"`    // of the body, blank ones and comments left out
	Branches int `json:"branches"` // if, loops, cases, handlers, conditional expressions, and/or
	Calls    int `json:"calls"`
	Depth    int `json:"depth"`  // deepest nesting of blocks
	FanIn    int `json:"fan_in"` // functions of the tree that call it, by the call graph; the engine counts
}

// Class is a class, struct, trait, interface or module with members.
type Class struct {
	Name   string // qualified within the file
	Parent int    // index of the class around it, -1
	Bases  []Ref  // and mixins, traits
	Span   Range
	Makes  []Ref // what runs when an object is made, beside the constructor
	Late   bool  // it is not made when the file is loaded: in a function, for type checkers only
}

// Ref is one name in use. Path is the dotted name as it is written, split: {"f"},
// {"mod","f"}, {"self","x"}, {"C","make"}. A receiver that is no name (a call, a
// subscript) is "?": {"?","close"}. A last name that ends in "*" is any that begins so.
type Ref struct {
	Path []string
	Use  Use
	// Class is the index of the class in whose body or method this stands, -1: what
	// self, this, cls and super mean.
	Class int
	// Into, of what is an argument or called for one, is the call that gets it; nil where
	// the value of that call, or of the outermost one, is used there and then.
	Into *Argument
	// Line is where it stands, from 1, for reasons ("runs when a.py:12 is loaded"); it
	// matters in Loads only, 0 where it is not known.
	Line int
}

// Argument is the place of one: what is called, the argument's number from 0, and
// the call that gets the value of this one; nil for none.
type Argument struct {
	Path []string
	At   int
	Into *Argument
}

// Take is what a function's own body does with a parameter. What functions inside of it
// do comes later, if they are called.
type Take struct {
	Runs bool        // calls it, or puts it where others may
	Rest bool        // it stands for all further arguments
	Into []*Argument // hands it on, and no more than gives back or drops what comes of that
	Puts []string    // names under which it is put on something: who reads them may run it
}

// Use is how a name is used.
type Use string

// The uses. Where it is called is not where it is named: a callback that is handed
// over at load time is Named, and stays masked unless the called one is of this tree
// and calls what it gets; the closure counts Named as called when it stands among the
// arguments of a call or as a decorator, since who knows what that does.
const (
	Called    Use = "called" // also decorators, new C(…), C(…)
	Named     Use = "named"  // read, handed over
	Inherited Use = "inherited"
	// Handed is Named among the arguments of a call: who is called may call it, so the
	// closure counts it as called. What is only Named (a table of handlers, an alias) is
	// not. A language gives Named for arguments of which it knows that they are not
	// called.
	Handed Use = "handed"
	// Bound is Called where what comes of it is only bound to a name, given back or
	// dropped: functions that it makes run when that name is called.
	Bound Use = "bound"
)

// calls reports whether something of that name runs there and then.
func (u Use) calls() bool { return u == Called || u == Bound }

// Import is a name that a file takes from another. "import a.b as c": Module a.b,
// Local c. "from .a import b as c": Module .a, Name b, Local c. A star: Name "*".
type Import struct {
	Module, Name, Local string
}

// Element is the part of a path behind a table's name for what the table holds:
// {"TABLE", "[]"} is what "for x in TABLE" gives. Alone it is a literal: a value that is
// known, and nothing of the tree.
const Element = "[]"

// Outcome is the part of a path behind a function for what a call of it gives, where it says
// by Result of what type that is: {"f", "=>", "m"} is what f().m stands for.
const Outcome = "=>"

// Whoever begins the path of a bare name where the code may run for another object than
// the one around: {"&()", "f"} is f, and where nothing around has it, a member of anything.
const Whoever = "&()"

// Binding says what a module's, a class's or a package's own name holds, where that is
// plain: x = C(…), x: C, var x = pkg.New(…), const f = g.
type Binding struct {
	Name  string // qualified within the file
	Value Ref
}

// File is what a language says of one file.
type File struct {
	// Modules are the names by which other files import this one, the most usual
	// first: Python's a.b.c (from every root that may be on the path), Go's package
	// folder, JavaScript's path without extension, Java's and C#'s package.
	Modules   []string
	Functions []Function // in source order, an outer one before what is inside it
	Classes   []Class
	Imports   []Import
	Bindings  []Binding
	// Loads is what runs when the file is loaded: statements of the module and of
	// class bodies, decorators, defaults, initialisers of package variables and
	// statics. What stands in functions is in their Runs.
	Loads []Ref
	// Program says that it gives nothing to those who import it.
	Program bool
	// Routes are the handlers that this file declares for HTTP, where it does.
	Routes []Route
	// Repair gives the further edits that a choice makes necessary (Go's unused
	// imports); nil where a language needs none. It must not keep the tree.
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

// Route is one HTTP handler.
type Route struct {
	Method  string // GET, or "" for any
	Path    string // as it is written, prefix of a group included where the file tells
	Handler Ref
	// Function is the handler where it is declared on the spot (a decorated
	// function, a literal that is a Lambda); -1 else.
	Function int
}
