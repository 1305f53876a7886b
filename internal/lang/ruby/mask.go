// Package ruby is what masking knows of Ruby: which methods a file declares, what runs
// when it is required, and what fails in place of a body.
//
// It never builds a project and never runs Ruby.
package ruby

import (
	_ "embed" // the query
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
	return mask.Semantics{Everywhere: true, BareMembers: true}
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

//go:embed mask.scm
var query string

// Query is mask.scm.
func (Masker) Query(syntax.Language) string { return query }

// reader reads one file.
type reader struct {
	mask.Reader
	file   string
	hidden map[int]bool // bodies of classes in which private was said, by node
}

// Read says what a file declares. Its modules are the name by which it is required, then the constants that it defines.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File {
	r := &reader{file: file, hidden: map[int]bool{}}
	r.OnFunction, r.OnClass, r.OnCall = r.method, r.class, r.call
	f := r.Reader.Read(tree)
	f.Modules = []string{required(file)}
	for _, c := range f.Classes {
		if name := strings.ReplaceAll(c.Name, ".", "::"); !slices.Contains(f.Modules, name) {
			f.Modules = append(f.Modules, name)
		}
	}
	return f
}

// required is a path as require takes it: below lib, without the ending.
func required(file string) string {
	file = strings.TrimSuffix(file, path.Ext(file))
	if i := strings.LastIndex("/"+file, "/lib/"); i >= 0 {
		return file[i+len("lib/"):]
	}
	return file
}

// classes are the calls that make a class; what is assigned to a constant then is that.
var classes = []string{"Struct.new", "Class.new", "Module.new", "Data.define"}

// class is one of the language, or X = Struct.new(…) do … end and its likes.
func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	if call := m.Node.Child("right"); call.Is() && !slices.Contains(classes, call.Child("receiver").Text()+"."+call.Child("method").Text()) {
		return mask.Class{}, false
	}
	return mask.Class{Name: strings.Join(constant(m.At("name")), ".")}, true
}

// constant is A::B in parts.
func constant(n syntax.Node) []string {
	return strings.Split(strings.TrimPrefix(strings.Join(strings.Fields(n.Text()), ""), "::"), "::")
}

// call is what is called; a bare private, or public again, tells who may call what comes behind it.
func (r *reader) call(m syntax.Match) []string {
	n := m.Node
	if !n.Is("call") {
		return r.bare(n)
	}
	name, of := n.Child("method").Text(), n.Child("receiver")
	switch {
	case r.inTask(n):
		return nil
	case !of.Is() && (name == "lambda" || name == "proc"): // its block waits for a call
		r.Later(n)
	case slices.Contains(senders, name):
		return symbol(n.Child("arguments").First())
	case name == "new" && of.Is("constant", "scope_resolution"): // the constructor runs
		return constant(of)
	case of.Is():
		return mask.Member(of, name)
	case name == "new":
		return r.own()
	}
	return []string{name}
}

// senders call the method whose name they get.
var senders = []string{"send", "public_send", "__send__"}

// symbol is the name in :name.
func symbol(n syntax.Node) []string {
	if name, ok := strings.CutPrefix(n.Text(), ":"); ok && n.Is("simple_symbol") {
		return []string{name}
	}
	return nil
}

// bare is a call without arguments, or a bare private, or public again, in the body of a class.
func (r *reader) bare(n syntax.Node) []string {
	switch word := n.Text(); word {
	case "__FILE__", "__LINE__": // the grammar does not know them here
	case "private", "protected":
		r.hidden[n.Parent().Index()] = true
	case "public", "module_function":
		r.hidden[n.Parent().Index()] = false
	case "new":
		return r.own()
	default:
		return []string{word}
	}
	return nil
}

// own is the class around: a bare new makes an object of it.
func (r *reader) own() []string {
	if r.Class() < 0 {
		return nil
	}
	return strings.Split(r.File.Classes[r.Class()].Name, ".")
}

// tasks are Rake's words: their blocks run when the task is asked for.
var tasks = []string{"task", "multitask", "file", "rule"}

// inTask reports whether a call stands in such a block, where the file is Rake's.
func (r *reader) inTask(n syntax.Node) bool {
	if path.Base(r.file) != "Rakefile" && path.Ext(r.file) != ".rake" {
		return false
	}
	for up := n.Parent(); up.Is(); up = up.Parent() {
		if up.Is("block", "do_block") && slices.Contains(tasks, up.Parent().Child("method").Text()) {
			return true
		}
	}
	return false
}

// eigen reports whether a node is in the body of class << self.
func (r *reader) eigen(n syntax.Node) bool {
	for up := n.Parent(); up.Is("body_statement", "argument_list", "call", "singleton_class"); up = up.Parent() {
		if up.Is("singleton_class") {
			return true
		}
	}
	return false
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

// method is a definition.
func (r *reader) method(m syntax.Match) (mask.Function, bool) {
	n, name := m.Node, m.At("name")
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
	b := body{node: n, source: n.Tree().Source, message: `"masked: ` + r.Qualified(f.Name) + `"`}
	at, strict, ok := b.replacement()
	switch {
	case !ok:
		f.Construct = mask.Tangled
	case f.Construct != mask.Hook && trivial(n):
		f.Construct = mask.Trivial
	}
	f.Body, f.Strict = at, strict
	// The grammar takes the = of def !=(x) for that of an endless method.
	text := n.Tree().Source[name.End():]
	f.Broken = name.Text() == "!" && len(text) > 0 && text[0] == '='
	f.Span = mask.Range{Start: n.Start(), End: max(n.End(), at.End)} // a heredoc of the last line ends after the word end
	return f, true
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
