// Package ruby is what masking knows of Ruby: which methods a file declares, what runs
// when it is required, and what fails in place of a body.
//
// It never builds a project and never runs Ruby.
package ruby

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is Ruby's mask.Language.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is the language's.
func (Masker) Name() string { return "ruby" }

// tools are files that a tool reads, by name.
var tools = []string{"Gemfile", "Rakefile", "Guardfile", "Capfile", "Vagrantfile", "Dangerfile", "Podfile", "Fastfile", "Brewfile", "Appraisals"}

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{
		BareMembers: true, FullNames: true, OpenClasses: true, SpreadClasses: true,
		Universal: []string{"Object", "Kernel", "Module", "Class"},
	}
}

// Grammar knows files by their ending, and those of tools by their name.
func (Masker) Grammar(file string) syntax.Language {
	switch path.Ext(file) {
	case ".rb", ".ru", ".rake", ".gemspec":
		return syntax.Ruby
	}
	if slices.Contains(tools, path.Base(file)) {
		return syntax.Ruby
	}
	return ""
}

// Exempt names tests by the folders and endings of RSpec, Minitest and Cucumber, and
// what builds the project.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	base := path.Base(file)
	switch ext := path.Ext(base); {
	case slices.Contains(tools, base), ext == ".gemspec", ext == ".rake", base == "extconf.rb":
		return mask.Whole{Kind: mask.ForTools, Reason: "builds the project"}
	}
	for _, folder := range strings.Split(path.Dir(file), "/") {
		switch folder {
		case "lib": // what a gem gives its users for their tests is below it
			return named(base)
		case "test", "tests", "spec", "specs", "features":
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
	}
	return named(base)
}

// named tells a test by the name of its file.
func named(base string) mask.Whole {
	if strings.HasSuffix(base, "_spec.rb") || strings.HasSuffix(base, "_test.rb") || strings.HasPrefix(base, "test_") {
		return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
	}
	return mask.Whole{}
}

// counter is what counts for the shape of a body.
var counter = mask.Counter{
	"if": mask.Branch | mask.Nest, "unless": mask.Branch | mask.Nest, "elsif": mask.Branch,
	"if_modifier": mask.Branch, "unless_modifier": mask.Branch,
	"while": mask.Branch | mask.Nest, "until": mask.Branch | mask.Nest, "for": mask.Branch | mask.Nest,
	"while_modifier": mask.Branch, "until_modifier": mask.Branch,
	"case": mask.Nest, "case_match": mask.Nest, "when": mask.Branch, "in_clause": mask.Branch,
	"conditional": mask.Branch, "binary": mask.Logic,
	"rescue": mask.Branch, "rescue_modifier": mask.Branch, "begin": mask.Nest,
	"block": mask.Nest, "do_block": mask.Nest, "call": mask.Call, "comment": mask.Comment,
}

// reader reads one file.
type reader struct {
	*mask.Walker
	tree   *syntax.Tree
	file   string
	locals map[int]map[string]bool // variables, by function; -1 is the file
	hidden map[int]bool            // bodies of classes in which private was said, by node
}

// Read says what a file declares.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File {
	r := &reader{
		Walker: mask.NewWalker(tree), tree: tree, file: file,
		locals: map[int]map[string]bool{}, hidden: map[int]bool{},
	}
	for n := range tree.All() {
		// The words for keywords are nodes of the same kind as what they begin.
		if r.Step(n) && n.Named() {
			r.node(n)
		}
	}
	r.modules()
	return r.File
}

func (r *reader) node(n syntax.Node) {
	switch n.Kind() {
	case "class", "module":
		r.class(n)
	case "method", "singleton_method":
		r.method(n)
	case "assignment", "operator_assignment":
		r.assignment(n)
	default:
		r.use(n)
	}
}

// modules are the name by which the file is required, then the constants it defines.
func (r *reader) modules() {
	r.File.Modules = []string{required(r.file)}
	for _, c := range r.File.Classes {
		if name := strings.ReplaceAll(c.Name, ".", "::"); !slices.Contains(r.File.Modules, name) {
			r.File.Modules = append(r.File.Modules, name)
		}
	}
}

// required is a path as require takes it: below lib, without the ending.
func required(file string) string {
	file = strings.TrimSuffix(file, path.Ext(file))
	if i := strings.LastIndex("/"+file, "/lib/"); i >= 0 {
		return file[i+len("lib/"):]
	}
	return file
}

func (r *reader) class(n syntax.Node) {
	name := n.Child("name")
	if r.Deep() || !name.Is() {
		return
	}
	class := r.AddClass(n, mask.Class{Name: strings.Join(constant(name), ".")})
	if reopened := r.File.Classes[class].Name; slices.Contains(core, reopened) {
		r.Walker.Use(n, mask.Called, reopened) // there are objects of it
	}
	if super := n.Child("superclass").First("constant", "scope_resolution", "call"); super.Is() {
		r.base(class, super)
	}
}

// core are classes of the language to whose objects a tree may add methods.
var core = []string{
	"Object", "Kernel", "Module", "Class", "String", "Symbol", "Array", "Hash", "Integer", "Float", "Numeric", "Range", "Regexp", "Proc",
	"NilClass", "TrueClass", "FalseClass", "Enumerable", "Comparable", "Time", "Date", "IO", "File",
}

// constant is A::B as a path.
func constant(n syntax.Node) []string {
	return strings.Split(strings.TrimPrefix(strings.Join(strings.Fields(n.Text()), ""), "::"), "::")
}

func (r *reader) base(class int, n syntax.Node) {
	of := r.path(n)
	if of[0] == "?" {
		return
	}
	ref := mask.Ref{Path: of, Use: mask.Inherited, Class: class, Line: n.Line()}
	r.File.Classes[class].Bases = append(r.File.Classes[class].Bases, ref)
}

// classes are the calls that make a class; what is assigned to a constant then is that.
var classes = map[string]string{
	"Struct.new": "struct", "Class.new": "class", "Module.new": "module", "Data.define": "struct",
}

// called is what a call calls, as it is written.
func called(call syntax.Node) string {
	return call.Child("receiver").Text() + "." + call.Child("method").Text()
}

// made enters X = Struct.new(…) do … end and its likes.
func (r *reader) made(name string, call syntax.Node) {
	kind := classes[called(call)]
	if kind == "" || r.Deep() {
		return
	}
	class := r.AddClass(call, mask.Class{Name: name})
	if super := call.Child("arguments").First(); kind == "class" && super.Is("constant", "scope_resolution") {
		r.base(class, super)
	}
}

// hooks are run while code is loaded:
// https://docs.ruby-lang.org/en/3.3/Module.html, private instance methods.
var hooks = []string{
	"inherited", "included", "extended", "prepended", "method_added", "method_removed", "method_undefined",
	"singleton_method_added", "singleton_method_removed", "const_missing", "const_added",
	"append_features", "prepend_features", "extend_object",
}

// special are called by the language.
var special = []string{
	"method_missing", "respond_to_missing?", "initialize_copy", "initialize_dup", "initialize_clone",
	"to_s", "to_str", "to_ary", "to_hash", "to_proc", "coerce", "hash", "eql?", "inspect",
}

func construct(name syntax.Node, member bool) mask.Construct {
	text := name.Text()
	switch {
	case text == "initialize":
		return mask.Constructor
	case slices.Contains(hooks, text):
		return mask.Hook
	case name.Is("operator"), slices.Contains(special, text):
		return mask.Special
	case name.Is("setter"):
		return mask.Setter
	case member:
		return mask.Method
	}
	return mask.Plain
}

func (r *reader) method(n syntax.Node) {
	name := n.Child("name")
	if r.Deep() || !name.Is() {
		return
	}
	single := n.Is("singleton_method")
	statement := n
	if n.Parent().Is("argument_list") && n.Parent().Parent().Is("call") {
		statement = n.Parent().Parent() // private def x …
	}
	f := mask.Function{
		Name: name.Text(), Construct: construct(name, r.Member() || single), Line: name.Line(),
		Public: single || !r.private(n), Doc: r.documented(statement), Single: single || r.eigen(n),
	}
	if object := n.Child("object"); object.Is("constant", "identifier") && !r.Member() {
		f.Name = object.Text() + "." + f.Name
		if object.Is("identifier") && r.Function() < 0 {
			f.Construct = mask.Hook // code that is loaded has the object
		}
	}
	b := body{node: n, source: r.tree.Source, message: `"masked: ` + r.Qualified(f.Name) + `"`}
	at, strict, ok := b.replacement()
	switch {
	case !ok:
		f.Construct = mask.Tangled
	case f.Construct != mask.Hook && trivial(n):
		f.Construct = mask.Trivial
	}
	f.Body, f.Strict = at, strict
	f.Shape = counter.Shape(n, at)
	index := r.AddFunction(n, f)
	// A heredoc of the last line ends after the word end.
	entry := &r.File.Functions[index]
	entry.Span.End = max(n.End(), at.End)
	// The grammar takes the = of def !=(x) for that of an endless method.
	if text := r.tree.Source[name.End():]; name.Text() == "!" && len(text) > 0 && text[0] == '=' {
		entry.Broken = true
	}
}

// documented leaves out the comments that are orders to tools.
func (r *reader) documented(n syntax.Node) bool {
	text := strings.TrimLeft(r.Comment.Text(), "# ")
	for _, order := range []string{"rubocop:", ":nodoc:", "frozen_string_literal", "typed:", "encoding:", "-*-"} {
		if strings.HasPrefix(text, order) {
			return false
		}
	}
	return r.Documented(n, "#", "=begin")
}

// private reports whether a method is declared after a bare private, or as its argument.
func (r *reader) private(n syntax.Node) bool {
	if call := n.Parent().Parent(); n.Parent().Is("argument_list") {
		word := call.Child("method").Text()
		return word == "private" || word == "protected" || word == "private_class_method"
	}
	return r.hidden[n.Parent().Index()]
}

// trivial reports whether there is nothing to mask: no statement, or one that says that it
// is not implemented.
func trivial(method syntax.Node) bool {
	of := method.Child("body")
	if !of.Is() {
		return true
	}
	if of.Is("body_statement") {
		var only syntax.Node
		for c := range of.Children() {
			switch {
			case c.Is("comment") || !c.Named():
			case only.Is():
				return false
			default:
				only = c
			}
		}
		if !only.Is() {
			return true
		}
		of = only
	}
	word := of.Child("method").Text()
	if word != "raise" && word != "fail" || of.Child("receiver").Is() {
		return false
	}
	return strings.HasPrefix(of.Child("arguments").First().Text(), "NotImplementedError")
}
