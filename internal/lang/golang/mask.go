package golang

import (
	"bytes"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is what masking knows of Go. It reads one file at a time: what it is made of by tree-sitter, which goes on behind an
// error, and which names are of which scope by go/parser, without types.
type Masker struct{}

var (
	_ mask.Language = Masker{}
	_ mask.Anchored = Masker{}
)

// Name is "go".
func (Masker) Name() string { return "go" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{ByName: true, OwnPrefix: true}
}

// Grammar is Go's for Go files.
func (Masker) Grammar(p string) syntax.Language {
	if strings.HasSuffix(p, ".go") {
		return syntax.Go
	}
	return ""
}

// IsAnchor tells go.mod files.
func (Masker) IsAnchor(p string) bool { return path.Base(p) == "go.mod" }

// Anchor is the module's path.
func (Masker) Anchor(p string, source []byte) string {
	if path.Base(p) != "go.mod" {
		return ""
	}
	return modfile.ModulePath(source)
}

// Exempt tells tests, what serves them, and programs that only people run.
func (Masker) Exempt(p string, source []byte) mask.Whole {
	dirs := strings.Split(path.Dir(p), "/")
	name := strings.TrimSuffix(path.Base(p), ".go")
	switch {
	case strings.HasSuffix(name, "_test"):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test"}
	case slices.Contains(dirs, "testdata"):
		return mask.Whole{Kind: mask.ForTests, Reason: "data of tests"}
	case slices.ContainsFunc(dirs, func(d string) bool { return helperNames[d] }),
		testRoots[dirs[0]], slices.Contains(dirs, "internal") && testRoots[dirs[len(dirs)-1]]:
		return mask.Whole{Kind: mask.ForTests, Reason: "in a folder that serves tests"}
	case testHelper.MatchString(name):
		return mask.Whole{Kind: mask.ForTests, Reason: "by its name a helper of tests"}
	case slices.ContainsFunc(dirs, examples):
		return mask.Whole{Kind: mask.Example, Reason: "an example of use"}
	case bytes.Contains(source, []byte(`. "git`)) && framework.Match(source), bytes.Contains(source, []byte(`. "gop`)) && framework.Match(source):
		return mask.Whole{Kind: mask.ForTests, Reason: "written in the words of a test framework"}
	case name == "magefile" || tool.Match(head(source)):
		return mask.Whole{Kind: mask.ForTools, Reason: "a program of the build", Detail: "its build tag leaves it out of every package"}
	}
	return mask.Whole{}
}

var (
	testHelper = lazyregexp.New(`^(test_?(util|helper|ing)s?|mocks?_.*|.*_mocks?|.*_test_?(util|helper)s?)$`)
	// A dot import of these is how tests are written, wherever they stand.
	framework = lazyregexp.New(`(?m)^(import[ \t]+|[ \t]*)\.[ \t]+"(gopkg\.in/check\.|github\.com/(onsi/(ginkgo|gomega)|smartystreets/goconvey|franela/goblin|go-check/check))`)
	tool      = lazyregexp.New(`(?m)^//(go:build|[ \t]*\+build)[ \t]+(ignore|mage|tools?)[ \t\r]*$`)
)

// head is what stands before the package clause, where build tags are.
func head(source []byte) []byte {
	if i := bytes.Index(source, []byte("\npackage ")); i >= 0 {
		return source[:i+1]
	}
	return nil
}

// maskReader reads one file.
type maskReader struct {
	file    *mask.File
	source  []byte
	code    parsed
	pkg     string
	classes map[string]int // by name, index in file.Classes
	specs   []spec         // imports, in order
	uses    uses           // of names before a dot
	free    uses           // of exported names that this file declares nowhere: of its package, or of dot imports
	fails   []string       // statements in place of the bodies, by function
}

// Read says what a Go file holds. A package is known by its folder, relative to the
// root; the module line of go.mod (Anchor) leads import paths there.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &maskReader{
		file: &mask.File{Modules: []string{path.Dir(p)}}, source: tree.Source, code: parse(tree.Source),
		classes: map[string]int{"": -1}, uses: uses{}, free: uses{},
	}
	root := tree.Root()
	for n := range root.Children() {
		if n.Is("type_declaration") {
			r.types(n)
		}
	}
	doc, docEnd := false, 0
	for n := range root.Children() {
		switch n.Kind() {
		case "comment":
			r.comment(n, &doc, &docEnd)
			continue
		case "package_clause":
			r.fault(n)
			r.pkg = n.First("package_identifier").Text()
		case "function_declaration", "method_declaration":
			r.function(n, doc && docEnd+1 == n.Line())
		case "var_declaration":
			r.variables(n)
		default:
			r.fault(n)
		}
		doc = false
	}
	r.imports()
	r.calls()
	r.routes()
	r.returned()
	return r.file
}

// comment follows the group of comments that may turn out to be a doc comment.
// Directives (//go:noinline) say nothing to readers.
func (r *maskReader) comment(n syntax.Node, doc *bool, end *int) {
	text := n.Text()
	if n.Line() != *end+1 {
		*doc = false
	}
	if !strings.HasPrefix(text, "//go:") && !strings.HasPrefix(text, "//export ") && strings.Trim(text, "/* \t\r\n") != "" {
		*doc = true
	}
	*end = n.Line() + strings.Count(text, "\n")
}

// types notes the types of a declaration.
func (r *maskReader) types(n syntax.Node) {
	for spec := range n.Children() {
		if spec.Is("type_spec", "type_alias") {
			r.class(spec.Child("name").Text(), mask.Range{Start: spec.Start(), End: spec.End()})
		}
	}
}

func (r *maskReader) class(name string, span mask.Range) int {
	r.classes[name] = len(r.file.Classes)
	r.file.Classes = append(r.file.Classes, mask.Class{Name: name, Parent: -1, Span: span})
	return r.classes[name]
}

// classOf is the index of a type; one that is declared in another file of the package
// gets an entry without a span.
func (r *maskReader) classOf(name string) int {
	if i, ok := r.classes[name]; ok || name == "" {
		return i
	}
	return r.class(name, mask.Range{})
}

// function notes a declared function and reads it.
func (r *maskReader) function(n syntax.Node, doc bool) {
	name, body, of := n.Child("name"), n.Child("body"), receiverType(n)
	f := mask.Function{
		Name: name.Text(), Construct: mask.Plain, Doc: doc, Parent: -1, Class: r.classOf(of), Line: name.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken(),
	}
	f.Public = ast.IsExported(f.Name) && (of == "" || ast.IsExported(of))
	if n.Is("method_declaration") {
		f.Construct = mask.Method
		if of != "" {
			f.Name = of + "." + f.Name
		}
	}
	switch {
	case !body.Is():
		f.Construct = mask.Bodiless
	case f.Name == "init":
		f.Construct = mask.Hook
	case f.Name == "main" && r.pkg == "main":
		f.Construct = mask.Main
	case trivial(body):
		f.Construct = mask.Trivial
	case takesTest(n):
		f.Construct = mask.Test
	}
	r.add(f, n, body)
}

// add adds a function, declared by n.
func (r *maskReader) add(f mask.Function, n, body syntax.Node) {
	fail := r.failing(f.Name, n)
	if body.Is() && !body.Missing() && body.End()-body.Start() >= 2 {
		f.Body = mask.Range{Start: body.Start() + 1, End: body.End() - 1}
		f.Strict = inBraces(r.source[f.Body.Start:f.Body.End], fail)
		f.Shape = counter.Shape(body, f.Body)
	} else if f.Construct != mask.Bodiless {
		f.Construct, f.Broken = mask.Trivial, true
	}
	r.file.Functions, r.fails = append(r.file.Functions, f), append(r.fails, fail)
}

// failing is the statement in place of the body of a function of a name, declared by n. A panic ends a function whatever its
// results are.
func (r *maskReader) failing(name string, n syntax.Node) string {
	message := strconv.Quote("masked: " + name)
	if r.code.Scope.Lookup("panic") == nil && !saysPanic(n) {
		return "panic(" + message + ")"
	}
	// The name is taken: a loop without end that calls a nil function is as final.
	return "for { map[string]func(){}[" + message + "]() }"
}

// saysPanic reports whether something before the body of a function goes by that name.
func saysPanic(n syntax.Node) bool {
	for c := range n.Walk(func(c syntax.Node) bool { return c.Field() != "body" }) {
		if c.Is("identifier", "type_identifier") && c.Field() != "body" && c.Parent() != n && c.Text() == "panic" {
			return true
		}
	}
	return false
}

// inBraces is a statement in place of the text between two braces.
func inBraces(old []byte, statement string) string {
	i := bytes.LastIndexByte(old, '\n')
	if i < 0 {
		return " " + statement + " "
	}
	indent := string(old[i+1:])
	if strings.Trim(indent, " \t") != "" {
		indent = "" // the brace does not stand first on its line
	}
	return "\n" + indent + "\t" + statement + "\n" + indent
}

// fault notes the line of a syntax error outside functions.
func (r *maskReader) fault(n syntax.Node) {
	if !n.Broken() {
		return
	}
	for e := range n.Walk(syntax.Node.Broken) {
		if e.Is("ERROR") || e.Missing() {
			r.file.Faults = append(r.file.Faults, e.Line())
			return
		}
	}
	r.file.Faults = append(r.file.Faults, n.Line())
}

// counter is what counts for the shape of a body.
var counter = mask.Counter{
	"comment": mask.Comment, "call_expression": mask.Call, "type_conversion_expression": mask.Call,
	"if_statement": mask.Branch | mask.Nest, "for_statement": mask.Branch | mask.Nest,
	"expression_case": mask.Branch, "type_case": mask.Branch, "communication_case": mask.Branch,
	"expression_switch_statement": mask.Nest, "type_switch_statement": mask.Nest, "select_statement": mask.Nest,
	"func_literal": mask.Nest, "binary_expression": mask.Logic,
}

// receiverType is T of (t *T[P]).
func receiverType(n syntax.Node) string {
	for p := range n.Child("receiver").Children() {
		for t := range p.Child("type").Walk(func(t syntax.Node) bool { return !t.Is("qualified_type") }) {
			if t.Is("type_identifier") {
				return t.Text()
			}
		}
	}
	return ""
}

// trivial tells bodies that do nothing, or only say that something is missing.
func trivial(body syntax.Node) bool {
	var only syntax.Node
	for n := range body.Children() {
		if n.Is("comment", "empty_statement") {
			continue
		}
		if only.Is() {
			return false
		}
		only = n
	}
	if !only.Is() {
		return true
	}
	call := only.First("call_expression")
	return only.Is("expression_statement") && call.Child("function").Text() == "panic" &&
		missing.MatchString(call.Child("arguments").Text())
}

var missing = lazyregexp.New(`(?i)^\((errors\.New\()?["` + "`" + `][^"]*(not (yet )?implemented|unimplemented|todo|masked:)[^"]*["` + "`" + `]\)?\)$`)

// takesTest tells functions that only tests can call: they take a running test.
func takesTest(n syntax.Node) bool {
	for p := range n.Child("parameters").Children() {
		if runningTest.MatchString(p.Child("type").Text()) {
			return true
		}
	}
	return false
}

var runningTest = lazyregexp.New(`^\**testing\.(.|TB)$`)
