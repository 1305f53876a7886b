// Package java is what masking knows of Java: which methods and constructors a file
// declares, what runs when its classes are initialised, and what stands in the place of
// a body so that the tree compiles.
//
// It never runs javac, and never looks outside the file that it is given: what a name
// means elsewhere is said by packages and imports alone.
package java

import (
	"bytes"
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
	return mask.Semantics{
		BareMembers: true, Overrides: true, FullNames: true,
		OwnStars: true, SharedModules: true, LocalClasses: true,
	}
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

// shapes are the kinds of nodes that count for the difficulty of a body.
var shapes = mask.Counter{
	"if_statement": mask.Branch | mask.Nest, "for_statement": mask.Branch | mask.Nest, "enhanced_for_statement": mask.Branch | mask.Nest,
	"while_statement": mask.Branch | mask.Nest, "do_statement": mask.Branch | mask.Nest, "switch_expression": mask.Nest,
	"switch_label": mask.Branch, "try_statement": mask.Nest, "try_with_resources_statement": mask.Nest, "catch_clause": mask.Branch,
	"synchronized_statement": mask.Nest, "ternary_expression": mask.Branch, "binary_expression": mask.Logic, "lambda_expression": mask.Nest,
	"method_invocation": mask.Call, "object_creation_expression": mask.Call, "explicit_constructor_invocation": mask.Call,
	"line_comment": mask.Comment, "block_comment": mask.Comment, "method_declaration": mask.Nest,
}

// reader walks one tree once, in the order of the source.
type reader struct {
	source  []byte
	file    *mask.File
	loads   []mask.Ref
	statics []static
	foreign map[string]bool    // classes that are imported from the platform
	simple  map[string]bool    // the same: whether of a class of the platform without arguments
	fields  map[string]bool    // by qualified name: whether what it holds is the platform's
	objects map[int][]mask.Ref // by class: what its objects run when they are made
	docs    map[int]bool       // where doc comments end
	routes  map[int]prefix     // by class
	failure string             // the name of the exception, as it has to be written
	depth   int
}

// place is where the walk stands.
type place struct {
	function int
	class    int
	prefix   string
	scope    *scope
	collect  *[]mask.Ref // takes the references instead
	level    int         // how many methods and classes are around
	inside   bool        // among the arguments of a call
}

// Read says what a file holds.
func (Masker) Read(_ string, tree *syntax.Tree) *mask.File {
	r := &reader{
		source: tree.Source, file: &mask.File{}, foreign: map[string]bool{}, fields: map[string]bool{}, simple: map[string]bool{}, objects: map[int][]mask.Ref{},
		docs: map[int]bool{}, routes: map[int]prefix{}, failure: "UnsupportedOperationException",
	}
	r.survey(tree)
	r.inChildren(tree.Root(), place{function: -1, class: -1})
	r.finish()
	return r.file
}

// survey finds what has to be known beforehand.
func (r *reader) survey(tree *syntax.Tree) {
	root := tree.Root()
	home := "(default)"
	if p := root.First("package_declaration"); p.Is() {
		home = p.First("scoped_identifier", "identifier").Text()
	}
	r.file.Modules = []string{home}
	for c := range root.Children() {
		switch c.Kind() {
		case "import_declaration":
			r.imported(c)
		case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
			r.file.Modules = append(r.file.Modules, home+"."+c.Child("name").Text())
		}
	}
	for n := range tree.All() {
		switch n.Kind() {
		case "block_comment":
			r.docs[n.End()] = bytes.HasPrefix(r.source[n.Start():n.End()], []byte("/**"))
		case "class_declaration":
			if n.Child("name").Text() == "UnsupportedOperationException" {
				r.failure = "java.lang.UnsupportedOperationException" // the file has one of its own
			}
		}
	}
	if !tree.Broken() {
		return
	}
	for n := range root.Walk(func(n syntax.Node) bool { return n.Broken() && !isFunction(n) }) {
		if (n.Kind() == "ERROR" || n.Missing()) && (len(r.file.Faults) == 0 || r.file.Faults[len(r.file.Faults)-1] != n.Line()) {
			r.file.Faults = append(r.file.Faults, n.Line())
		}
	}
}

// imported reads one import. Where the package ends and the class begins is said by
// the first capital, as everybody writes them.
func (r *reader) imported(n syntax.Node) {
	full := n.First("scoped_identifier", "identifier").Text()
	parts := strings.Split(strings.Join(strings.Fields(full), ""), ".")
	at := 0
	for at < len(parts)-1 && (parts[at] == "" || parts[at][0] < 'A' || parts[at][0] > 'Z') {
		at++
	}
	local := parts[len(parts)-1]
	if parts[0] == "java" || parts[0] == "javax" || parts[0] == "jakarta" || parts[0] == "jdk" {
		r.foreign[local] = true
		return
	}
	switch {
	case n.Has("static"):
		r.static(parts, at, n.Has("asterisk"))
	case n.Has("asterisk"):
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(parts, "."), Name: "*"})
	default:
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(parts[:at], "."), Name: strings.Join(parts[at:], "."), Local: local})
	}
}

// static reads an import of a class's members: they may be its parents', too.
func (r *reader) static(parts []string, at int, all bool) {
	class := parts
	if !all {
		class = parts[:len(parts)-1]
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(parts[:at], "."), Name: strings.Join(parts[at:], "."), Local: parts[len(parts)-1]})
	}
	if at >= len(class) {
		return
	}
	local := "static " + strings.Join(class, ".")
	r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(class[:at], "."), Name: strings.Join(class[at:], "."), Local: local})
	if all {
		r.statics = append(r.statics, static{class: local})
	} else {
		r.statics = append(r.statics, static{class: local, name: parts[len(parts)-1]})
	}
}

// static is a class of which members are imported: all, or those of a name.
type static struct{ class, name string }

// finish says what is run for objects of classes without a constructor that would.
func (r *reader) finish() {
	for class, refs := range r.objects {
		if class >= 0 { // else a member outside of any class, in a broken file
			r.file.Classes[class].Makes = r.compact(refs)
		}
	}
	r.file.Loads = r.compact(r.loads)
	for i := range r.file.Functions {
		r.file.Functions[i].Runs = r.compact(r.file.Functions[i].Runs)
	}
}

// compact takes out what was said before, and what is called on the platform's objects.
func (r *reader) compact(refs []mask.Ref) []mask.Ref {
	type key struct {
		path  string
		use   mask.Use
		class int
	}
	seen := make(map[key]bool, len(refs))
	out := refs[:0:0]
	for _, ref := range refs {
		ref = r.unknown(ref)
		k := key{strings.Join(ref.Path, "."), ref.Use, ref.Class}
		if !seen[k] && !r.alien(ref) {
			seen[k] = true
			out = append(out, ref)
		}
	}
	return out
}

// unknown is a reference to what a method of the platform's gives: that may be ours.
func (r *reader) unknown(ref mask.Ref) mask.Ref {
	if slices.Contains(ref.Path, mask.Outcome) && r.alien(ref) {
		ref.Path = []string{"?", ref.Path[len(ref.Path)-1]}
	}
	return ref
}

// alien tells of what is asked of a field that holds an array or an object of the
// platform: no method of the project's.
func (r *reader) alien(ref mask.Ref) bool {
	path := ref.Path
	if path[0] == "this" {
		path = path[1:]
	}
	if len(path) < 2 {
		return false
	}
	for c := ref.Class; c >= 0; c = r.file.Classes[c].Parent {
		if alien, known := r.fields[r.file.Classes[c].Name+"."+path[0]]; known {
			return alien
		}
	}
	return false
}
