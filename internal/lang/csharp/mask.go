// Package csharp is what masking knows of C#: which members a file declares, what runs
// when its types are first used, and what fails in place of a body.
//
// It never builds a project and never evaluates a preprocessor's condition: all branches
// of an #if are code, and where that does not parse, the first and the last ones.
package csharp

import (
	_ "embed" // the query
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is C#'s mask.Language.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is the language's.
func (Masker) Name() string { return "csharp" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{Everywhere: true, BareMembers: true}
}

// Grammar knows files by their ending; scripts (.csx) hold the same language.
func (Masker) Grammar(file string) syntax.Language {
	switch strings.ToLower(path.Ext(file)) {
	case ".cs", ".csx":
		return syntax.CSharp
	}
	return ""
}

// testProject is the folder of one: Acme.Tests, Acme.UnitTest, test, Specs.
var testProject = lazyregexp.New(`^((?i:(.*[._-])?(unit|integration|functional|acceptance|regression)?(tests?|specs?))|.*[a-z]Tests|.*\.(Tests?|Specs?)\..*)$`)

// Exempt names tests by their projects and the names of their files.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if testProject.MatchString(folder) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
	}
	for _, end := range []string{"Test.cs", "Tests.cs", "Specs.cs"} {
		if strings.HasSuffix(path.Base(file), end) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
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
	source []byte     // the whole of it, where the tree is of a branch
	bases  [][]string // by class: the types that it extends, by their last words
}

// Read says what a file declares.
func (Masker) Read(_ string, tree *syntax.Tree) *mask.File {
	if tree.Broken() || tree.Bridged() {
		return again(tree)
	}
	return read(tree, tree.Source)
}

func read(tree *syntax.Tree, source []byte) *mask.File {
	r := &reader{source: source}
	r.OnFunction, r.OnClass, r.OnCall, r.OnOther = r.function, r.class, r.call, r.other
	f := r.Reader.Read(tree)
	r.construct()
	if len(f.Modules) == 0 {
		f.Modules = []string{"global"} // what has no namespace
	}
	return f
}

// construct tells of constructors that they run those of the types that theirs extends.
func (r *reader) construct() {
	for i := range r.File.Functions {
		f := &r.File.Functions[i]
		if f.Class < 0 || f.Construct == mask.Hook || last(f.Name) != last(r.File.Classes[f.Class].Name) {
			continue
		}
		for _, base := range r.bases[f.Class] {
			f.Runs = append(f.Runs, mask.Ref{Path: []string{base}, Class: f.Class})
		}
	}
}

// other is a namespace, which is a module, or a yield.
func (r *reader) other(m syntax.Match) {
	switch {
	case m.Is("yield"):
		r.generator(m.Node)
	case m.Is("namespace"):
		if name := compact(m.Node.Child("name")); !slices.Contains(r.File.Modules, name) {
			r.File.Modules = append(r.File.Modules, name)
		}
	}
}

// compact is a name's text without blanks.
func compact(n syntax.Node) string { return strings.Join(strings.Fields(n.Text()), "") }

// call is what is called.
func (r *reader) call(m syntax.Match) []string {
	n := m.Node
	switch n.Kind() {
	case "object_creation_expression":
		return mask.Made(n.Child("type"))
	case "implicit_object_creation_expression":
		return mask.Made(declaredType(n))
	case "constructor_initializer":
		if n.Has("this") && r.Class() >= 0 {
			return []string{last(r.File.Classes[r.Class()].Name)}
		}
		return nil // the base's, see construct
	case "member_access_expression":
		path := r.member(n)
		if len(path) != 2 || n.Field() == "function" || path[0][0] < 'A' || path[0][0] > 'Z' {
			return nil
		}
		return path
	}
	return r.member(n.Child("function"))
}

// member is a name, or one of something.
func (r *reader) member(n syntax.Node) []string {
	of, name := n.Child("expression"), n.Child("name")
	switch {
	case n.Text() == "nameof":
		return nil
	case n.Is("identifier", "generic_name"):
		return mask.TypeName(n)
	case n.Is("conditional_access_expression"):
		of, name = n.Child("condition"), n.First("member_binding_expression").Child("name")
	}
	path := mask.TypeName(name)
	if path == nil {
		return nil
	}
	if of.Is("generic_name") {
		return append(mask.TypeName(of), path...)
	}
	return mask.Member(of, path...)
}

// declaredType is the type of what new() is assigned to.
func declaredType(n syntax.Node) syntax.Node {
	up := n.Parent()
	if up.Is("variable_declarator") {
		up = up.Parent()
	}
	return up.Child("type")
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// modified reports whether a declaration has one of the modifiers.
func modified(n syntax.Node, words ...string) bool {
	for c := range n.Children() {
		if c.Is("modifier") {
			for _, w := range words {
				if c.Text() == w {
					return true
				}
			}
		}
	}
	return false
}

func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	var bases []string
	for c := range m.Node.First("base_list").Children() {
		if c.Is("primary_constructor_base_type") {
			c = c.First()
		}
		bases = append(bases, mask.Made(c)...)
	}
	r.bases = append(r.bases, bases)
	return mask.Class{Name: m.At("name").Text()}, true
}

// function is a definition. An accessor goes by the name of what it is of.
func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	n := m.Node
	declared, body := n, n.Child("body")
	switch {
	case n.Is("accessor_declaration"):
		if up := n.Parent().Parent(); up.Is() { // else among what does not parse
			declared = up
		}
	case n.Is("property_declaration", "indexer_declaration"):
		body = n.Child("value")
	}
	name := declared.Child("name")
	if !name.Is() {
		name = declared
	}
	f := mask.Function{
		Name: r.called(declared), Construct: r.constructOf(n, declared), Line: name.Line(),
		Public: r.public(declared) && !modified(n, "private", "protected", "internal"), Doc: r.Documented(declared, "///", "/**"),
	}
	if !body.Is() {
		f.Construct = mask.Bodiless
		return f, true
	}
	var ok bool
	f.Body, f.Strict, ok = r.replacement(body, r.Qualified(f.Name))
	switch {
	case !ok:
		f.Construct = mask.Tangled
	case policyMasks(f.Construct) && trivial(body):
		f.Construct = mask.Trivial
	}
	return f, true
}

func policyMasks(c mask.Construct) bool {
	p, _ := mask.PolicyOf(c)
	return p.Mask
}

// called is the name of what is declared.
func (r *reader) called(n syntax.Node) string {
	name := n.Child("name").Text()
	switch n.Kind() {
	case "destructor_declaration":
		name = "~" + name
	case "indexer_declaration":
		name = "this[]"
	case "operator_declaration":
		word, parameters := n.First("operator"), n.Child("parameters")
		if word.Is() && parameters.Is() && word.End() <= parameters.Start() {
			name = "operator" + strings.Join(strings.Fields(string(r.source[word.End():parameters.Start()])), "")
		}
	case "conversion_operator_declaration":
		name = "operator " + compact(n.Child("type"))
		if of := mask.Made(n.Child("type")); of != nil && !n.Child("type").Child("type").Is("predefined_type") {
			name = "operator " + of[0]
		}
	}
	if of := mask.Made(n.First("explicit_interface_specifier").First()); of != nil {
		name = of[0] + "." + name
	}
	return name
}

// public is what others see: members of interfaces need no word for it.
func (r *reader) public(n syntax.Node) bool {
	if modified(n, "public") {
		return true
	}
	return n.Parent().Parent().Is("interface_declaration") && !modified(n, "private", "protected", "internal")
}

// testers mark a method as a test: xUnit, NUnit, MSTest.
var testers = map[string]bool{
	"Fact": true, "Theory": true, "Test": true, "TestCase": true, "TestMethod": true, "DataTestMethod": true,
	"SetUp": true, "TearDown": true, "TestInitialize": true, "TestCleanup": true, "ModuleInitializer": false,
}

// attributes are the names of those of a declaration.
func attributes(n syntax.Node) []string {
	var names []string
	for list := range n.Children() {
		if !list.Is("attribute_list") {
			continue
		}
		for a := range list.Children() {
			names = append(names, strings.TrimSuffix(last(compact(a.Child("name"))), "Attribute"))
		}
	}
	return names
}

func (r *reader) constructOf(n, declared syntax.Node) mask.Construct {
	for _, name := range attributes(n) {
		if test, known := testers[name]; test {
			return mask.Test
		} else if known {
			return mask.Hook
		}
	}
	if c, ok := kinds[declared.Kind()]; ok {
		return c
	}
	static, name := modified(declared, "static"), n.Child("name").Text()
	switch {
	case declared.Is("constructor_declaration") && static:
		return mask.Hook
	case declared.Is("constructor_declaration"):
		return mask.Constructor
	case declared.Is("property_declaration") && n.Is("accessor_declaration") && name != "get":
		return mask.Setter
	case declared.Is("property_declaration"):
		return mask.Getter
	}
	return r.method(declared, static)
}

// kinds are definitions of which the kind says what they are.
var kinds = map[string]mask.Construct{
	"destructor_declaration": mask.Destructor, "operator_declaration": mask.Special, "conversion_operator_declaration": mask.Special,
	"indexer_declaration": mask.Special, "event_declaration": mask.Special,
}

func (r *reader) method(n syntax.Node, static bool) mask.Construct {
	switch {
	case static && n.Child("name").Text() == "Main":
		return mask.Main
	case modified(n, "async"):
		return mask.Async
	case !r.Member():
		return mask.Plain // a top-level statement's, or of a class that does not parse
	}
	return mask.Method
}

// generator marks the function that a yield belongs to. One that is async needs a yield
// to be what its type says.
func (r *reader) generator(n syntax.Node) {
	at := n.Above("method_declaration", "local_function_statement", "accessor_declaration", "operator_declaration")
	if r.Function() < 0 || !at.Is("method_declaration") && !at.Parent().Is("global_statement") {
		return
	}
	f := &r.File.Functions[r.Function()]
	switch f.Construct {
	case mask.Async:
		f.Strict += " yield break;"
		f.Construct = mask.Generator
	case mask.Method, mask.Plain:
		f.Construct = mask.Generator
	}
}

// trivial reports whether there is nothing to mask: no statement, or one that says that it
// is not implemented.
func trivial(body syntax.Node) bool {
	var only syntax.Node
	for c := range body.Children() {
		switch {
		case c.Is("comment", "preproc_region", "preproc_endregion") || !c.Named():
		case only.Is():
			return false
		default:
			only = c
		}
	}
	if !only.Is() {
		return body.Is("block")
	}
	made := only.First("object_creation_expression")
	return only.Is("throw_statement", "throw_expression") && strings.HasSuffix(compact(made.Child("type")), "NotImplementedException")
}
