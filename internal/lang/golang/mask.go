package golang

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is what masking knows of Go. It reads one file at a time: what a name is of is
// told by the types that are written there, and by the names of what other files tell.
type Masker struct{}

var (
	_ mask.Language = Masker{}
	_ mask.Anchored = Masker{}
)

// Name is "go".
func (Masker) Name() string { return "go" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{OwnStars: true, OwnPrefix: true, SpreadClasses: true, ByArity: true, Structural: true}
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
	for line := range strings.Lines(string(source)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module")
		if !ok || strings.TrimLeft(rest, " \t\"`") == rest {
			continue
		}
		rest, _, _ = strings.Cut(rest, "//")
		return strings.Trim(strings.TrimSpace(rest), "\"`")
	}
	return ""
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

// Read says what a Go file holds. A package is known by its folder, relative to the
// root; the module line of go.mod (Anchor) leads import paths there.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &maskReader{
		file: &mask.File{Modules: []string{path.Dir(p)}}, source: tree.Source,
		owner: -1, class: -1, value: -1, classes: map[string]int{}, declared: map[string]bool{},
		functions: map[string]bool{}, uses: map[string]*use{}, seen: map[string]bool{},
		free: map[string]*use{},
	}
	root := tree.Root()
	r.outline(root)
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
		case "const_declaration":
			r.constants(n)
			r.fault(n)
			r.walk(n, nil)
		default:
			r.fault(n)
			r.walk(n, nil)
		}
		doc = false
	}
	r.resolveImports()
	r.checkReturned()
	if len(r.specs) > 0 {
		r.file.Repair = r.repair
	}
	if slices.ContainsFunc(r.specs, func(s spec) bool { return s.name == "." }) {
		r.file.Stars = r.stars
	}
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

// outline gathers what names at package level mean, wherever they stand in the file.
func (r *maskReader) outline(root syntax.Node) {
	for n := range root.Children() {
		switch n.Kind() {
		case "import_declaration":
			r.imports(n)
		case "function_declaration":
			name := n.Child("name").Text()
			r.declared[name] = true
			r.functions[name] = true
		case "method_declaration":
			if of := receiverType(n); of != "" {
				r.functions[of+"."+n.Child("name").Text()] = true
			}
		case "type_declaration":
			for spec := range n.Children() {
				r.defined(spec)
			}
		case "var_declaration", "const_declaration":
			for spec := range n.Walk(func(n syntax.Node) bool { return !n.Is("var_spec", "const_spec") }) {
				for name := range spec.Children() {
					if spec.Is("var_spec", "const_spec") && name.Field() == "name" {
						r.declared[name.Text()] = true
					}
				}
			}
		}
	}
}

// defined notes a defined type. What it embeds has its methods too; so has what an
// alias stands for.
func (r *maskReader) defined(spec syntax.Node) {
	if !spec.Is("type_spec", "type_alias") {
		return
	}
	name, def := spec.Child("name").Text(), spec.Child("type")
	c := mask.Class{Name: name, Parent: -1, Span: mask.Range{Start: spec.Start(), End: spec.End()}}
	parameters := &scope{}
	r.parameters(spec.Child("type_parameters"), parameters)
	base := func(n syntax.Node) {
		if t := typePath(n); t != nil {
			c.Bases = append(c.Bases, mask.Ref{Path: t, Use: mask.Inherited, Class: -1, Line: n.Line()})
		}
	}
	c.Alias = spec.Is("type_alias")
	c.Solid = !def.Is("function_type", "type_identifier", "qualified_type", "generic_type", "parenthesized_type")
	if def.Is("function_type") {
		c.Signature = r.signature(def, parameters)
	}
	switch {
	case c.Alias:
		base(def)
	case def.Is("slice_type", "array_type", "map_type", "channel_type"):
		r.bindType(name+"."+mask.Each, r.further(r.written(def, parameters), mask.Each))
	case def.Is("function_type"):
		r.bindType(name+"."+mask.Outcome, r.further(r.written(def, parameters), mask.Outcome))
	case def.Is("struct_type"):
		for field := range def.First("field_declaration_list").Children() {
			if field.Is("field_declaration") && !field.Child("name").Is() {
				base(field.Child("type"))
				if of := typePath(field.Child("type")); of != nil {
					r.bindType(name+"."+of[len(of)-1], r.written(field.Child("type"), parameters))
				}
			}
			for id := range field.Children() {
				if t := field.Child("type"); id.Field() == "name" && callable(t) {
					r.file.Callable = append(r.file.Callable, mask.Callable{Name: id.Text(), Type: r.functional(t, parameters)})
				}
				if id.Field() != "name" {
					continue
				}
				t := field.Child("type")
				if of := typePath(t); of != nil && !t.Is("pointer_type") && !parameters.has(of[0]) {
					c.Makes = append(c.Makes, mask.Ref{Path: of, Use: mask.Called, Class: -1, Line: id.Line()})
				}
				r.bindType(name+"."+id.Text(), r.written(t, parameters))
			}
		}
	case def.Is("interface_type"):
		for elem := range def.Children() {
			switch {
			case elem.Is("type_elem"):
				base(elem.First())
			case elem.Is("method_elem"):
				c.Wants = append(c.Wants, elem.Child("name").Text())
			}
		}
	}
	r.declared[name] = true
	r.classes[name] = len(r.file.Classes)
	r.file.Classes = append(r.file.Classes, c)
}

// bindType notes of which type what a name stands for is.
func (r *maskReader) bindType(name string, of []string) {
	if of != nil {
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: of, Use: mask.Named, Class: -1}})
	}
}

// classOf is the index of a type; one that is declared in another file of the package
// gets an entry without a span.
func (r *maskReader) classOf(name string) int {
	if name == "" {
		return -1
	}
	i, ok := r.classes[name]
	if !ok {
		i = len(r.file.Classes)
		r.classes[name] = i
		r.file.Classes = append(r.file.Classes, mask.Class{Name: name, Parent: -1})
	}
	return i
}

// function notes a declared function and reads it.
func (r *maskReader) function(n syntax.Node, doc bool) {
	name, body, of := n.Child("name"), n.Child("body"), receiverType(n)
	f := mask.Function{
		Name: name.Text(), Construct: mask.Plain, Doc: doc, Parent: -1, Class: r.classOf(of), Line: name.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken(), Arguments: takes(n),
	}
	f.Public = exported(f.Name) && (of == "" || exported(of))
	if n.Is("method_declaration") {
		f.Construct = mask.Method
		if of != "" {
			f.Name = of + "." + f.Name
		}
	}
	inside := &scope{}
	receives(n, inside)
	for c := range n.Children() {
		if c.Field() != "body" && c.Field() != "name" {
			r.walk(c, inside)
		}
	}
	f.Signature, f.Results = r.signature(n, inside), r.gives(n, inside)
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
	r.inside(f, body, inside)
}

// inside adds a function and reads its body.
func (r *maskReader) inside(f mask.Function, body syntax.Node, s *scope) {
	owner, class, value, seen := r.owner, r.class, r.value, r.seen
	i := len(r.file.Functions)
	if body.Is() && !body.Missing() && body.End()-body.Start() >= 2 {
		f.Body = mask.Range{Start: body.Start() + 1, End: body.End() - 1}
		f.Strict = r.strict(f, s)
		f.Returned = r.returned(f, body, s)
		f.Shape = counter.Shape(body, f.Body)
	} else if f.Construct != mask.Bodiless {
		f.Construct, f.Broken = mask.Trivial, true
	}
	r.file.Functions = append(r.file.Functions, f)
	r.owner, r.class, r.value, r.seen = i, f.Class, -1, map[string]bool{}
	r.walk(body, s)
	r.owner, r.class, r.value, r.seen = owner, class, value, seen
}

// strict is the text in place of a body: on one line where the body is, else on a
// line of its own. A panic ends a function whatever its results are.
func (r *maskReader) strict(f mask.Function, s *scope) string {
	return inBraces(r.source[f.Body.Start:f.Body.End], r.failing(f.Name, s))
}

// failing is the statement in place of the body of a function of a name.
func (r *maskReader) failing(name string, s *scope) string {
	message := strconv.Quote("masked: " + name)
	statement := "panic(" + message + ")"
	if _, ok := s.find("panic"); ok || r.declared["panic"] {
		// The name is taken: a loop without end that calls a nil function is as final.
		statement = "for { map[string]func(){}[" + message + "]() }"
	}
	return statement
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
		if t := typePath(p.Child("type")); len(t) == 1 {
			return t[0]
		}
	}
	return ""
}

// receives declares P of (t *T[P]).
func receives(n syntax.Node, s *scope) {
	for p := range n.Child("receiver").Children() {
		t := p.Child("type")
		if t.Is("pointer_type") {
			t = last(t)
		}
		for a := range t.Child("type_arguments").Walk(func(syntax.Node) bool { return true }) {
			if a.Is("type_identifier") {
				s.declare(a.Text(), local{})
			}
		}
	}
}

// typePath is the name of a named type, behind pointers and instantiations.
func typePath(n syntax.Node) []string {
	for {
		switch n.Kind() {
		case "type_identifier":
			if t := n.Text(); !slices.Contains(predeclared, t) {
				return []string{t}
			}
			return nil
		case "qualified_type":
			return []string{n.Child("package").Text(), n.Child("name").Text()}
		case "generic_type":
			n = n.Child("type")
		case "pointer_type", "parenthesized_type":
			n = n.First("type_identifier", "qualified_type", "generic_type", "pointer_type", "parenthesized_type")
		default:
			return nil
		}
	}
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
		t := typePath(p.Child("type"))
		if len(t) == 2 && t[0] == "testing" && (len(t[1]) == 1 || t[1] == "TB") {
			return true
		}
	}
	return false
}

func exported(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first)
}

// predeclared are names that mean the language's own unless something hides them.
var predeclared = strings.Fields(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16
	int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil _ append cap clear close complex
	copy delete imag len make max min new panic print println real recover`)
