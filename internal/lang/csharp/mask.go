// Package csharp is what masking knows of C#: which members a file declares, what runs
// when its types are first used, and what fails in place of a body.
//
// It never builds a project and never evaluates a preprocessor's condition: all branches
// of an #if are code, and where that does not parse, the first and the last ones.
package csharp

import (
	"path"
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
	return mask.Semantics{
		BareMembers: true, Overrides: true, FullNames: true,
		OwnStars: true, SharedModules: true, SpreadClasses: true,
	}
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

// counter is what counts for the shape of a body.
var counter = mask.Counter{
	"if_statement": mask.Branch | mask.Nest, "for_statement": mask.Branch | mask.Nest,
	"foreach_statement": mask.Branch | mask.Nest, "while_statement": mask.Branch | mask.Nest,
	"do_statement": mask.Branch | mask.Nest, "switch_statement": mask.Nest, "switch_section": mask.Branch,
	"switch_expression": mask.Nest, "switch_expression_arm": mask.Branch,
	"conditional_expression": mask.Branch, "binary_expression": mask.Logic,
	"try_statement": mask.Nest, "catch_clause": mask.Branch, "using_statement": mask.Nest,
	"lock_statement": mask.Nest, "fixed_statement": mask.Nest, "checked_statement": mask.Nest,
	"lambda_expression": mask.Nest, "anonymous_method_expression": mask.Nest, "local_function_statement": mask.Nest,
	"invocation_expression": mask.Call, "object_creation_expression": mask.Call,
	"implicit_object_creation_expression": mask.Call, "comment": mask.Comment,
}

// reader reads one file.
type reader struct {
	*mask.Walker
	source []byte // the whole of it, where the tree is of a branch
	spaces []string
	// locals are the variables of functions and the types they have, nil for unknown
	// ones; the index is that of the function, -1 for top-level statements.
	locals map[int]map[string][]string
	// fresh is the initialiser being read that runs in constructors; initial is what
	// such ones use, by class.
	fresh   syntax.Node
	initial map[int][]mask.Ref
	routes  routes
}

// Read says what a file declares.
func (Masker) Read(_ string, tree *syntax.Tree) *mask.File {
	if tree.Broken() || tree.Bridged() {
		return again(tree)
	}
	return read(tree, tree.Source)
}

func read(tree *syntax.Tree, source []byte) *mask.File {
	r := &reader{
		Walker: mask.NewWalker(tree), source: source,
		locals: map[int]map[string][]string{}, initial: map[int][]mask.Ref{},
	}
	for n := range tree.All() {
		if r.Step(n) {
			r.node(n)
		}
	}
	r.construct()
	r.modules()
	return r.File
}

func (r *reader) node(n syntax.Node) {
	switch n.Kind() {
	case "namespace_declaration", "file_scoped_namespace_declaration":
		r.spaces = append(r.spaces, compact(n.Child("name")))
	case "using_directive":
		r.using(n)
		r.Skip(n)
	case "attribute_list", "global_attribute", // made when it is asked for
		"preproc_pragma", "preproc_nullable", "preproc_line", "preproc_define", "preproc_undef", "preproc_error":
		r.Skip(n)
	case "class_declaration", "struct_declaration", "record_declaration", "interface_declaration":
		r.class(n)
	case "method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration", "conversion_operator_declaration":
		r.function(n, n, n.Child("body"))
	case "local_function_statement":
		// Within a function it is code of it.
		if n.Parent().Is("global_statement") {
			r.function(n, n, n.Child("body"))
		}
	case "property_declaration", "indexer_declaration":
		r.property(n)
	case "accessor_declaration":
		// What has no body is made by the compiler, or by who implements it.
		if body := n.Child("body"); body.Is() {
			declared := n.Parent().Parent()
			if !declared.Is() { // among what does not parse
				declared = n
			}
			r.function(n, declared, body)
		}
	case "field_declaration":
		if !modified(n, "static", "const") {
			r.fresh = n
		}
	case "yield_statement":
		r.generator(n)
	default:
		r.name(n)
	}
}

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

func (r *reader) class(n syntax.Node) {
	if r.Deep() {
		return
	}
	class := r.AddClass(n, mask.Class{Name: n.Child("name").Text()})
	for c := range n.First("base_list").Children() {
		of := c
		if c.Is("primary_constructor_base_type") {
			of = c.First()
		}
		if name := typeName(of); name != nil {
			ref := mask.Ref{Path: name, Use: mask.Inherited, Class: class, Line: c.Line()}
			r.File.Classes[class].Bases = append(r.File.Classes[class].Bases, ref)
		}
	}
	r.routes.class(n, class)
}

// property is one whose value is an expression, or which begins with one.
func (r *reader) property(n syntax.Node) {
	r.bind(n.Child("name").Text(), n.Child("type"))
	switch value := n.Child("value"); {
	case value.Is("arrow_expression_clause"):
		r.function(n, n, value)
	case value.Is() && !modified(n, "static"):
		r.fresh = value
	}
}

// function writes down one: n is what is entered, declared what has the name.
func (r *reader) function(n, declared, body syntax.Node) {
	if r.Deep() {
		return
	}
	name := declared.Child("name")
	if !name.Is() {
		name = declared
	}
	f := mask.Function{
		Name: r.called(declared), Construct: construct(n, declared), Line: name.Line(),
		Public: r.public(declared) && !modified(n, "private", "protected", "internal"), Doc: r.Documented(declared, "///", "/**"),
	}
	if f.Construct == mask.Method && !r.Member() {
		f.Construct = mask.Plain // a top-level statement's, or of a class that does not parse
	}
	if r.Member() && f.Construct == mask.Async && !body.Is() {
		f.Construct = mask.Method
	}
	switch {
	case !body.Is():
		f.Construct = mask.Bodiless
	default:
		var ok bool
		f.Body, f.Strict, ok = r.replacement(body, r.Qualified(f.Name))
		f.Shape = counter.Shape(body, f.Body)
		switch {
		case !ok:
			f.Construct = mask.Tangled
		case policyMasks(f.Construct) && trivial(body):
			f.Construct = mask.Trivial
		}
	}
	index := r.AddFunction(n, f)
	r.routes.function(r, n, index)
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
		of := typeName(n.Child("type"))
		name = "operator " + compact(n.Child("type"))
		if of != nil {
			name = "operator " + of[len(of)-1]
		}
	}
	if of := typeName(n.First("explicit_interface_specifier").First()); of != nil {
		name = of[len(of)-1] + "." + name
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

func construct(n, declared syntax.Node) mask.Construct {
	for a := range attributes(n) {
		test, known := testers[a.name]
		switch {
		case known && test:
			return mask.Test
		case known:
			return mask.Hook
		}
	}
	switch declared.Kind() {
	case "constructor_declaration":
		if modified(declared, "static") {
			return mask.Hook
		}
		return mask.Constructor
	case "destructor_declaration":
		return mask.Destructor
	case "operator_declaration", "conversion_operator_declaration", "indexer_declaration", "event_declaration":
		return mask.Special
	case "property_declaration":
		if name := n.Child("name").Text(); n.Is("accessor_declaration") && name != "get" {
			return mask.Setter
		}
		return mask.Getter
	}
	switch {
	case declared.Child("name").Text() == "Main" && modified(declared, "static"):
		return mask.Main
	case modified(declared, "async"):
		return mask.Async
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

// construct gives what initialisers use to the constructors of their classes: it runs in
// them. Without one it runs where an object is made, which may be while types load.
func (r *reader) construct() {
	for class := range r.File.Classes {
		refs := r.initial[class]
		if len(refs) == 0 {
			continue
		}
		found := false
		for i := range r.File.Functions {
			if f := &r.File.Functions[i]; f.Class == class && f.Construct == mask.Constructor {
				f.Runs, found = append(f.Runs, refs...), true
			}
		}
		if !found {
			r.File.Loads = append(r.File.Loads, refs...)
		}
	}
}

// modules are the namespaces. What encloses one is in reach, and so is what has none.
func (r *reader) modules() {
	seen := map[string]bool{}
	for _, s := range r.spaces {
		if !seen[s] {
			seen[s] = true
			r.File.Modules = append(r.File.Modules, s)
		}
	}
	if len(r.File.Modules) == 0 {
		r.File.Modules = []string{global}
		return
	}
	for s := r.File.Modules[0]; strings.Contains(s, "."); {
		s = s[:strings.LastIndexByte(s, '.')]
		r.File.Imports = append(r.File.Imports, mask.Import{Module: s, Name: "*"})
	}
	r.File.Imports = append(r.File.Imports, mask.Import{Module: global, Name: "*"})
}

// global is the module of what has no namespace.
const global = "global"
