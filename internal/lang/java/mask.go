// Package java is what masking knows of Java: which methods and constructors a file
// declares, what runs when its classes are initialised, and what stands in the place of
// a body so that the tree compiles.
//
// It never runs javac, and never looks outside the file that it is given.
package java

import (
	"bytes"
	_ "embed" // the query
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is the mask.Language.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is the field's word.
func (Masker) Name() string { return "java" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{Everywhere: true, BareMembers: true}
}

// Grammar knows files by their ending.
func (Masker) Grammar(file string) syntax.Language {
	if path.Ext(file) == ".java" {
		return syntax.Java
	}
	return ""
}

// Exempt names tests as Maven, Gradle and their plugins find them. A folder test below
// src/main is source: testing tools have one.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	dir, base := path.Split(file)
	switch base {
	case "package-info.java", "module-info.java":
		return mask.Whole{Kind: mask.Declarations, Reason: "declarations only"}
	}
	for _, end := range []string{"Test.java", "Tests.java", "TestCase.java", "IT.java", "ITCase.java"} {
		if strings.HasSuffix(base, end) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
	}
	folders := strings.Split(strings.Trim(dir, "/"), "/")
	for i, folder := range folders {
		source := i > 0 && folders[i-1] == "src"
		switch {
		case source && folder == "main":
			return mask.Whole{}
		case source && (strings.HasPrefix(folder, "test") || strings.HasSuffix(folder, "Test") || folder == "it" || folder == "jmh"),
			folder == "test", folder == "tests":
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
	failure string     // the exception's name, as it has to be written here
	bases   [][]string // by class: the one that it extends
}

// Read says what a file holds. Its modules are its package, and the types that it declares there.
func (Masker) Read(_ string, tree *syntax.Tree) *mask.File {
	r := &reader{failure: failure}
	for _, m := range tree.Matches() {
		if m.Node.Is("class_declaration") && m.At("name").Text() == failure {
			r.failure = "java.lang." + failure // the file has one of its own
		}
	}
	r.OnFunction, r.OnClass, r.OnCall = r.function, r.class, r.call
	f := r.Reader.Read(tree)
	f.Modules = modules(tree.Root())
	r.construct()
	return f
}

func modules(root syntax.Node) []string {
	home := "(default)"
	if p := root.First("package_declaration"); p.Is() {
		home = p.First("scoped_identifier", "identifier").Text()
	}
	all := []string{home}
	for c := range root.Children() {
		if c.Is("class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration") {
			all = append(all, home+"."+c.Child("name").Text())
		}
	}
	return all
}

// construct tells of constructors what they run beside their bodies: the blocks for each object, which are hooks, and the
// constructor of the class that theirs extends.
func (r *reader) construct() {
	blocks := map[int][]mask.Ref{}
	for i := range r.File.Functions {
		if f := &r.File.Functions[i]; strings.HasSuffix(f.Name, initBlock) {
			blocks[f.Class], f.Runs = append(blocks[f.Class], f.Runs...), nil
		}
	}
	for i := range r.File.Functions {
		f := &r.File.Functions[i]
		f.Runs = slices.CompactFunc(f.Runs, func(a, b mask.Ref) bool { return slices.Equal(a.Path, b.Path) })
		if f.Class < 0 || !strings.HasSuffix(f.Name, constructor) {
			continue
		}
		f.Runs = append(f.Runs, blocks[f.Class]...)
		if base := r.bases[f.Class]; base != nil {
			f.Runs = append(f.Runs, mask.Ref{Path: base, Class: f.Class})
		}
	}
}

// class is a type, or the body of what has no name: that goes by the field that holds it, or by its type.
func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	r.bases = append(r.bases, mask.Made(m.Node.First("superclass").First()))
	if name := m.At("name"); name.Is() {
		return mask.Class{Name: name.Text()}, true
	}
	object := m.Node.Parent()
	if holder := object.Parent(); holder.Is("variable_declarator") && holder.Parent().Is("field_declaration", "constant_declaration") {
		return mask.Class{Name: holder.Child("name").Text()}, true
	}
	return mask.Class{Name: "new " + strings.Join(mask.TypeName(object.Child("type")), ".")}, true
}

// call is what is called. Super is told in construct.
func (r *reader) call(m syntax.Match) []string {
	n := m.Node
	switch n.Kind() {
	case "object_creation_expression":
		return mask.Made(n.Child("type"))
	case "resource": // it is closed at the end
		return append(mask.Made(n.Child("type")), "close")
	case "enum_constant":
		return []string{n.Above("enum_declaration").Child("name").Text()}
	case "explicit_constructor_invocation":
		if n.Child("constructor").Is("this") && r.Class() >= 0 {
			return strings.Split(r.File.Classes[r.Class()].Name, ".")
		}
		return nil
	case "method_reference":
		if strings.HasSuffix(n.Text(), "::new") {
			return mask.Made(n.First())
		}
		return mask.Callee(n)
	}
	name := n.Child("name").Text()
	switch object := n.Child("object"); {
	case object.Is("object_creation_expression"):
		return append(mask.Made(object.Child("type")), name)
	case object.Is():
		path := mask.Member(object, name)
		if path[0] == "?" && slices.Contains(everywhere, name) {
			return nil
		}
		return path
	}
	return []string{name}
}

// everywhere are methods of every object: of what a call gives, most are not of the tree.
var everywhere = []string{"equals", "hashCode", "toString"}

// The names of what has none.
const (
	constructor = "<init>"
	staticBlock = "<static>"
	initBlock   = "<init block>"
)

// function is a definition.
func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	n, name, modifiers := m.Node, m.At("name"), m.Node.First("modifiers")
	f := mask.Function{Line: n.Line(), Doc: r.documented(n)}
	if name.Is() {
		f.Line = name.Line()
	}
	f.Public = modifiers.Has("public") || n.Parent().Is("interface_body", "annotation_type_body") && !modifiers.Has("private")
	f.Name, f.Construct = construct(n, name.Text(), modifiers)
	r.replace(&f, n)
	return f, true
}

// construct is the name of a definition, and what it is.
func construct(n syntax.Node, name string, modifiers syntax.Node) (string, mask.Construct) {
	switch n.Kind() {
	case "static_initializer":
		return staticBlock, mask.Hook
	case "block":
		return initBlock, mask.Hook
	case "constructor_declaration", "compact_constructor_declaration":
		return constructor, mask.Constructor
	case "annotation_type_element_declaration":
		return name, mask.Bodiless
	}
	switch {
	case modifiers.Has("native"):
		return name, mask.Bodiless
	case !n.Child("body").Is():
		return name, mask.Abstract
	case name == "main" && modifiers.Has("static") && strings.Contains(n.Child("parameters").Text(), "String"):
		return name, mask.Main
	case name == "finalize" && !n.Child("parameters").First().Is():
		return name, mask.Destructor
	}
	return name, mask.Method
}

// documented reports whether a comment for javadoc is the last thing before a definition.
func (r *reader) documented(n syntax.Node) bool {
	before := bytes.TrimRight(n.Tree().Source[:n.Start()], " \t\r\n")
	return r.Comment.Is() && r.Comment.End() == len(before) && strings.HasPrefix(r.Comment.Text(), "/**")
}
