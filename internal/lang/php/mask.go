// Package php is what masking knows of PHP: which functions a file declares, what runs
// when it is included, and what fails in place of a body.
//
// It never builds a project and never runs PHP.
package php

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is PHP's mask.Language.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is the language's.
func (Masker) Name() string { return "php" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{SharedModules: true}
}

// Grammar knows files by their ending; a script without one is of no concern.
func (Masker) Grammar(file string) syntax.Language {
	switch strings.ToLower(path.Ext(file)) {
	case ".php", ".phtml":
		return syntax.PHP
	}
	return ""
}

// Exempt names tests by the folders and endings of PHPUnit, Codeception, phpspec and
// Behat, and the settings of tools that are PHP themselves.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	for i, folder := range folders {
		switch folder {
		case "test", "tests", "spec", "features":
			// src/Test is what a framework gives its users, and no test.
			if i == 0 || folders[0] != "src" && folders[0] != "lib" || folder == "tests" {
				return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
			}
		}
	}
	base := path.Base(file)
	for _, end := range []string{"Test.php", "TestCase.php", "Cest.php", "Spec.php"} {
		if strings.HasSuffix(base, end) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
	}
	switch base = strings.TrimPrefix(base, "."); {
	case strings.HasPrefix(base, "php-cs-fixer"), strings.HasPrefix(base, "php_cs"), base == "rector.php", base == "ecs.php", base == "scoper.inc.php":
		return mask.Whole{Kind: mask.ForTools, Reason: "settings of a tool, in PHP"}
	}
	return mask.Whole{}
}

// counter is what counts for the shape of a body.
var counter = mask.Counter{
	"if_statement": mask.Branch | mask.Nest, "else_if_clause": mask.Branch,
	"for_statement": mask.Branch | mask.Nest, "foreach_statement": mask.Branch | mask.Nest,
	"while_statement": mask.Branch | mask.Nest, "do_statement": mask.Branch | mask.Nest,
	"switch_statement": mask.Nest, "case_statement": mask.Branch,
	"match_expression": mask.Nest, "match_conditional_expression": mask.Branch,
	"conditional_expression": mask.Branch, "binary_expression": mask.Logic,
	"try_statement": mask.Nest, "catch_clause": mask.Branch,
	"anonymous_function_creation_expression": mask.Nest, "arrow_function": mask.Nest,
	"function_call_expression": mask.Call, "member_call_expression": mask.Call,
	"nullsafe_member_call_expression": mask.Call, "scoped_call_expression": mask.Call,
	"object_creation_expression": mask.Call, "comment": mask.Comment,
}

// reader reads one file.
type reader struct {
	*mask.Walker
	tree      *syntax.Tree
	namespace string
	spaces    []string // namespaces declared, in order
	// locals are the classes of variables, by function: parameters with a type, and
	// what was made with new. The last one is that of the file.
	locals  map[int]map[string]mask.Ref
	written map[string]bool // imports made of names that are written in full
	routes  routes
}

// Read says what a file declares.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File {
	r := &reader{Walker: mask.NewWalker(tree), tree: tree, locals: map[int]map[string]mask.Ref{}, written: map[string]bool{}}
	for n := range tree.All() {
		if r.Step(n) {
			r.node(n)
		}
	}
	r.modules(file)
	return r.File
}

func (r *reader) node(n syntax.Node) {
	switch n.Kind() {
	case "namespace_definition":
		r.namespace = n.Child("name").Text()
		r.spaces = append(r.spaces, r.namespace)
	case "namespace_use_declaration":
		r.imports(n)
	case "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration":
		r.class(n, n.Child("name").Text())
	case "object_creation_expression":
		r.made(n)
	case "attribute_list", "use_list": // made when they are asked for; renames
		r.Skip(n)
	case "use_declaration":
		for c := range n.Children() {
			r.base(c)
		}
	case "method_declaration", "function_definition":
		r.function(n)
	case "simple_parameter", "property_promotion_parameter":
		r.parameter(n)
	case "property_declaration":
		r.property(n)
	case "assignment_expression":
		r.assignment(n)
	case "yield_expression":
		r.generator(n)
	default:
		r.use(n)
	}
}

// class enters a class. One without a name is made where it is declared, and its
// members are declared all the same.
func (r *reader) class(n syntax.Node, name string) {
	if r.Deep() {
		return
	}
	class := r.AddClass(n, mask.Class{Name: name})
	for c := range n.Children() {
		switch c.Kind() {
		case "base_clause", "class_interface_clause":
			for name := range c.Children() {
				r.base(name)
			}
		case "attribute_list":
			r.routes.class(c, class)
		}
	}
}

func (r *reader) base(n syntax.Node) {
	if class := r.Class(); class >= 0 && n.Is("name", "qualified_name") {
		ref := mask.Ref{Path: r.name(n), Use: mask.Inherited, Class: class}
		r.File.Classes[class].Bases = append(r.File.Classes[class].Bases, ref)
	}
}

// made is new C(…), or new class (…) {…}.
func (r *reader) made(n syntax.Node) {
	if n.Has("class") && n.Has("declaration_list") {
		r.class(n, "anonymous")
		return
	}
	if class := r.object(n); class[0] != "?" {
		r.Use(n, mask.Called, class...)
	}
}

// magic are the methods that the language calls; they are documented at
// https://www.php.net/manual/en/language.oop5.magic.php.
var magic = map[string]mask.Construct{
	"__construct": mask.Constructor, "__destruct": mask.Destructor,
	"__call": mask.Special, "__callstatic": mask.Special, "__get": mask.Special, "__set": mask.Special,
	"__isset": mask.Special, "__unset": mask.Special, "__sleep": mask.Special, "__wakeup": mask.Special,
	"__serialize": mask.Special, "__unserialize": mask.Special, "__tostring": mask.Special,
	"__invoke": mask.Special, "__set_state": mask.Special, "__clone": mask.Special, "__debuginfo": mask.Special,
}

func (r *reader) function(n syntax.Node) {
	if r.Deep() {
		return
	}
	name, body := n.Child("name"), n.Child("body")
	f := mask.Function{Name: name.Text(), Construct: mask.Plain, Public: true, Line: name.Line(), Doc: r.Documented(n, "/**")}
	if r.Member() {
		f.Construct = mask.Method
		f.Public = !n.First("visibility_modifier").Has("private", "protected")
		if c, ok := magic[strings.ToLower(f.Name)]; ok {
			f.Construct = c
		}
	}
	text := r.tree.Source
	switch {
	case !body.Is() || body.End()-body.Start() < 2 || text[body.Start()] != '{' || text[body.End()-1] != '}':
		f.Construct = mask.Bodiless
	default:
		statement := "throw new \\BadMethodCallException('masked: " + escaped(r.Qualified(f.Name)) + "');"
		block := mask.Range{Start: body.Start(), End: body.End()}
		f.Body, f.Strict = mask.Braced(text, block, statement)
		f.Shape = counter.Shape(body, mask.Range{Start: block.Start + 1, End: block.End - 1})
		if f.Construct != mask.Destructor && trivial(body) {
			f.Construct = mask.Trivial
		}
	}
	index := r.AddFunction(n, f)
	r.routes.function(r, n, index)
}

// escaped is a text as it stands between single quotes.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

// trivial reports whether there is nothing to mask: no statement, or one that says that
// it is not implemented.
func trivial(body syntax.Node) bool {
	var only syntax.Node
	for c := range body.Children() {
		if c.Is("comment") {
			continue
		}
		if only.Is() {
			return false
		}
		only = c
	}
	if !only.Is() {
		return true
	}
	made := only.First("throw_expression").First("object_creation_expression")
	class := strings.ToLower(made.First("name", "qualified_name").Text())
	return strings.Contains(class, "notimplemented") || strings.HasSuffix(class, "badmethodcallexception")
}

// generator marks the function that a yield belongs to, where that is a declared one.
func (r *reader) generator(n syntax.Node) {
	if n.Above("function_definition", "method_declaration", "anonymous_function_creation_expression", "arrow_function").Is("function_definition", "method_declaration") {
		if f := &r.File.Functions[r.Function()]; f.Construct == mask.Plain || f.Construct == mask.Method {
			f.Construct = mask.Generator
		}
	}
}

// modules are the namespaces, in which files find each other's names, then the classes
// with theirs, then the path: that is what require goes by.
func (r *reader) modules(file string) {
	if len(r.spaces) == 0 {
		r.spaces = []string{""}
	}
	for _, s := range r.spaces {
		if s == "" {
			s = global
		}
		if !slices.Contains(r.File.Modules, s) {
			r.File.Modules = append(r.File.Modules, s)
		}
	}
	// With several namespaces in one file, which class is in which is not told.
	for _, c := range r.File.Classes {
		if c.Parent < 0 && c.Name != "anonymous" && len(r.spaces) == 1 {
			r.File.Modules = append(r.File.Modules, joined(r.spaces[0], c.Name))
		}
	}
	if r.spaces[0] != "" {
		// A function that the namespace does not have is looked for in the global one.
		r.File.Imports = append(r.File.Imports, mask.Import{Module: global, Name: "*"})
	}
	r.File.Modules = append(r.File.Modules, strings.TrimSuffix(file, path.Ext(file)))
	r.included(file)
}

// global is the module of what has no namespace.
const global = `\`
