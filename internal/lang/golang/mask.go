package golang

import (
	"bytes"
	_ "embed" // the query
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
	return mask.Semantics{OwnPrefix: true}
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

//go:embed mask.scm
var maskQuery string

// Query is mask.scm.
func (Masker) Query(syntax.Language) string { return maskQuery }

// maskReader reads one file.
type maskReader struct {
	mask.Reader
	source []byte
	code   parsed
	specs  []spec // imports, in order
	uses   uses   // of names before a dot
	free   uses   // of exported names that this file declares nowhere: of its package, or of dot imports
}

// Read says what a Go file holds. A package is known by its folder, relative to the
// root; the module line of go.mod (Anchor) leads import paths there.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &maskReader{source: tree.Source, code: parse(tree.Source), uses: uses{}, free: uses{}}
	r.OnFunction, r.OnClass, r.OnCall = r.function, r.class, r.call
	f := r.Reader.Read(tree)
	f.Modules = []string{path.Dir(p)}
	for i := range f.Functions {
		f.Functions[i].Class = r.classOf(f.Functions[i])
	}
	r.literals()
	r.imports()
	return f
}

// class is a type of the package.
func (r *maskReader) class(m syntax.Match) (mask.Class, bool) {
	return mask.Class{Name: m.At("name").Text()}, r.Function() < 0
}

// classOf is the index of the type that a method is of; one that is declared in another file of the package gets an entry
// without a span.
func (r *maskReader) classOf(f mask.Function) int {
	name, _, ok := strings.Cut(f.Name, ".")
	if f.Literal || !ok {
		return -1
	}
	i := slices.IndexFunc(r.File.Classes, func(c mask.Class) bool { return c.Name == name })
	if i < 0 {
		i = len(r.File.Classes)
		r.File.Classes = append(r.File.Classes, mask.Class{Name: name, Parent: -1})
	}
	return i
}

// call is what is called.
func (r *maskReader) call(m syntax.Match) []string {
	of := m.At("callee")
	for of.Is("parenthesized_expression", "index_expression") {
		of = of.First()
	}
	if !of.Is("identifier", "selector_expression", "type_identifier", "qualified_type") {
		return nil
	}
	return mask.Callee(of)
}

// function completes a declared function, or a literal that a package variable holds.
func (r *maskReader) function(m syntax.Match) (mask.Function, bool) {
	n, body := m.Node, m.Node.Child("body")
	if n.Is("func_literal") {
		r.literal(n, body)
		name, ok := holder(n)
		if !ok || r.Function() >= 0 {
			return mask.Function{}, false
		}
		first, _, _ := strings.Cut(name, ".")
		return r.filled(mask.Function{Name: name, Construct: mask.Lambda, Literal: true, Public: ast.IsExported(first), Line: n.Line()}, n, body), true
	}
	name, of := m.At("name"), receiverType(n)
	f := mask.Function{
		Name: name.Text(), Construct: mask.Plain, Doc: r.code.documented(n.Start()), Line: name.Line(),
		Public: ast.IsExported(name.Text()) && (of == "" || ast.IsExported(of)),
	}
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
	case f.Name == "main" && r.code.Name.Name == "main":
		f.Construct = mask.Main
	}
	return r.filled(f, n, body), true
}

// filled gives a function, declared by n, what stands in the place of its body.
func (r *maskReader) filled(f mask.Function, n, body syntax.Node) mask.Function {
	if f.Construct == mask.Bodiless {
		return f
	}
	if body.Missing() || body.End()-body.Start() < 2 {
		f.Construct, f.Broken = mask.Trivial, true
		return f
	}
	f.Body = mask.Range{Start: body.Start() + 1, End: body.End() - 1}
	f.Strict = inBraces(r.source[f.Body.Start:f.Body.End], r.failing(f.Name, n))
	switch {
	case f.Construct == mask.Hook || f.Construct == mask.Main:
	case trivial(body):
		f.Construct = mask.Trivial
	case takesTest(n):
		f.Construct = mask.Test
	}
	return f
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

// inBraces are statements in place of the text between two braces.
func inBraces(old []byte, statements ...string) string {
	i := bytes.LastIndexByte(old, '\n')
	if i < 0 {
		return " " + strings.Join(statements, "; ") + " "
	}
	indent := string(old[i+1:])
	if strings.Trim(indent, " \t") != "" {
		indent = "" // the brace does not stand first on its line
	}
	return "\n" + indent + "\t" + strings.Join(statements, "\n"+indent+"\t") + "\n" + indent
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
