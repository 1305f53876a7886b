package rust

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// maskReader reads one file.
type maskReader struct {
	file    *mask.File
	source  []byte
	module  []string
	classes map[string]int // by name, index in file.Classes
	lints   []mask.Range
	owner   int             // function whose body is read, -1
	seen    map[string]bool // what the owner runs already
	locals  map[string][]string
	depth   int
}

// around is what an item stands in.
type around struct {
	prefix string // of names: "tests.", "Foo."
	class  int
	parent int
	trait  string // that an impl is of
	public bool   // what has no word of its own: items of a trait, or of an impl of one
	member bool
	hook   bool // called by the language's runtime (an allocator)
	test   bool
	broken bool
}

// deepest bounds the nesting that is followed; no person writes such code.
const deepest = 3000

// before is what stands in front of an item.
type before struct {
	attributes []string
	doc        bool
}

// has reports whether there is an attribute of one of these names: the last word of its
// path, or the name inside of unsafe(…).
func (b before) has(names ...string) bool {
	for _, a := range b.attributes {
		text, _, _ := strings.Cut(strings.TrimPrefix(a, "unsafe("), "(")
		text = strings.Trim(text, " )=")
		if i := strings.LastIndex(text, "::"); i >= 0 {
			text = text[i+2:]
		}
		if slices.Contains(names, strings.TrimSpace(text)) {
			return true
		}
	}
	return false
}

// tests tells what is compiled for tests only.
func (b before) tests() bool {
	if b.has("test", "bench", "rstest", "test_case", "quickcheck", "proptest", "wasm_bindgen_test", "parameterized") {
		return true
	}
	return slices.ContainsFunc(b.attributes, forTests)
}

// forTests tells a cfg that holds when tests are built, and never else.
func forTests(attribute string) bool {
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(attribute), ""), "cfg(")
	return ok && testsOnly(strings.TrimSuffix(text, ")"), 0)
}

// testsOnly reads a predicate. In any(…) what stands beside test must be of use to tests
// only: a feature that ships (any(test, feature = "std")) is none.
func testsOnly(predicate string, depth int) bool {
	name, list, ok := strings.Cut(predicate, "(")
	if !ok {
		return predicate == "test"
	}
	of := func(p string) bool { return depth < deepest && testsOnly(p, depth+1) }
	all := alternatives(strings.TrimSuffix(list, ")"))
	switch name {
	case "all":
		return slices.ContainsFunc(all, of)
	case "any":
		return slices.ContainsFunc(all, of) && !slices.ContainsFunc(all, func(p string) bool { return !of(p) && !testCfg.MatchString(p) })
	}
	return false
}

// testCfg are the settings and features that tests, fuzzers and checkers are built with.
var testCfg = lazyregexp.New(`^(doctest|fuzzing|loom|miri|kani|feature="([\w-]*[-_])?(tests?|testing|testutils?|mocks?|proptest|quickcheck|arbitrary|fuzz|fuzzing|bench|benches|benchmarks?)([-_][\w-]*)?")$`)

// alternatives are the parts of a list, at its commas.
func alternatives(list string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range list + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			if i > start {
				out = append(out, list[start:i])
			}
			start = i + 1
		}
	}
	return out
}

func attributeText(n syntax.Node) string { return n.First("attribute").Text() }

// walk goes through what is in a node: items with what stands before them, and code.
func (r *maskReader) walk(n syntax.Node, at around) {
	if r.depth > deepest {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	var b before
	for c := range n.Children() {
		switch c.Kind() {
		case "attribute_item":
			r.lint(c)
			text := attributeText(c)
			b.attributes = append(b.attributes, text)
			b.doc = b.doc || strings.HasPrefix(text, "doc")
			continue
		case "inner_attribute_item":
			r.lint(c)
			if n.Is("source_file", "declaration_list") && forTests(attributeText(c)) {
				at.test = true
			}
			continue
		case "line_comment", "block_comment":
			text := c.Text()
			b.doc = b.doc || strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////") || strings.HasPrefix(text, "/**") && len(text) > 5
			continue
		case "visibility_modifier":
			continue
		}
		r.item(c, at, b)
		b = before{}
	}
}

func (r *maskReader) item(n syntax.Node, at around, b before) {
	at.test = at.test || b.tests()
	if n.Is("ERROR") || n.Missing() {
		if r.owner < 0 {
			r.file.Faults = append(r.file.Faults, n.Line())
		}
		at.broken = true
		r.walk(n, at)
		return
	}
	switch n.Kind() {
	case "function_item", "function_signature_item":
		r.function(n, at, b)
	case "impl_item":
		r.impl(n, at)
	case "trait_item":
		r.trait(n, at)
	case "mod_item":
		r.mod(n, at)
	case "struct_item", "enum_item", "union_item", "type_item":
		r.typed(n, at)
	case "use_declaration":
		if !at.test {
			r.use(n.Child("argument"), nil)
		}
	case "extern_crate_declaration":
		name, local := n.Child("name").Text(), n.Child("alias").Text()
		if local == "" {
			local = name
		}
		r.file.Imports = append(r.file.Imports, mask.Import{Module: name, Local: local})
	case "const_item", "static_item":
		r.constant(n, at)
	case "macro_definition", "macro_invocation":
		if n.Broken() && r.owner < 0 { // tokens that the grammar does not know
			r.fault(n)
		}
		if n.Is("macro_invocation") {
			r.tokens(n, at)
		} else {
			r.macro(n, at)
		}
	case "foreign_mod_item":
		at.member, at.public = false, false
		r.walk(n.Child("body"), at)
	default:
		r.code(n, at)
	}
}

// fault notes the first syntax error within a node.
func (r *maskReader) fault(n syntax.Node) {
	for e := range n.Walk(syntax.Node.Broken) {
		if e.Is("ERROR") || e.Missing() {
			r.file.Faults = append(r.file.Faults, e.Line())
			return
		}
	}
}

// classOf is the index of a type or trait; what is declared elsewhere gets an entry
// without a span.
func (r *maskReader) classOf(name string) int {
	i, ok := r.classes[name]
	if !ok {
		i = len(r.file.Classes)
		r.classes[name] = i
		r.file.Classes = append(r.file.Classes, mask.Class{Name: name, Parent: -1})
	}
	return i
}

func (r *maskReader) typed(n syntax.Node, at around) {
	if at.member { // an associated type
		return
	}
	name := at.prefix + n.Child("name").Text()
	c := &r.file.Classes[r.classOf(name)]
	c.Span = mask.Range{Start: n.Start(), End: n.End()}
	for f := range n.Child("body").Children() {
		if t := typeName(f.Child("type")); t != nil && f.Is("field_declaration") {
			r.file.Bindings = append(r.file.Bindings, mask.Binding{
				Name: name + "." + f.Child("name").Text(), Value: mask.Ref{Path: t, Use: mask.Named, Class: -1}})
		}
	}
	r.walk(n, at) // discriminants and array lengths are code
}

func (r *maskReader) trait(n syntax.Node, at around) {
	name := at.prefix + n.Child("name").Text()
	at.class, at.member, at.public, at.trait = r.classOf(name), true, visible(n), ""
	c := &r.file.Classes[at.class]
	c.Span = mask.Range{Start: n.Start(), End: n.End()}
	for t := range n.Child("bounds").Children() {
		if p := typeName(t); p != nil {
			c.Bases = append(c.Bases, mask.Ref{Path: p, Use: mask.Inherited, Class: -1, Line: t.Line()})
		}
	}
	at.prefix = name + "."
	r.walk(n.Child("body"), at)
}

func (r *maskReader) impl(n syntax.Node, at around) {
	of, trait := typeName(n.Child("type")), typeName(n.Child("trait"))
	at.trait = last(trait)
	name := last(of)
	if name == "" {
		name = at.trait // impl Trait for [T]
	}
	at.class, at.member, at.public = r.classOf(at.prefix+name), true, at.trait != ""
	at.hook = at.trait == "GlobalAlloc" || at.trait == "Allocator"
	if trait != nil && name != at.trait {
		c := &r.file.Classes[at.class]
		c.Bases = append(c.Bases, mask.Ref{Path: trait, Use: mask.Inherited, Class: -1, Line: n.Line()})
	}
	at.prefix += name + "."
	r.walk(n.Child("body"), at)
}

// mod is a module on the spot, which is a class as far as names go, or one in a file of
// its own, which is an import.
func (r *maskReader) mod(n syntax.Node, at around) {
	name, body := n.Child("name").Text(), n.Child("body")
	if !body.Is() {
		module := append(slices.Clone(r.module), strings.FieldsFunc(at.prefix, func(c rune) bool { return c == '.' })...)
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(append(module, name), "::"), Local: at.prefix + name})
		return
	}
	at.prefix += name + "."
	at.class, at.member, at.public, at.trait = -1, false, false, ""
	if !at.test {
		c := &r.file.Classes[r.classOf(strings.TrimSuffix(at.prefix, "."))]
		c.Span = mask.Range{Start: n.Start(), End: n.End()}
	}
	r.walk(body, at)
}

// constant reads the value of a const or static. A closure that is the value, or is all
// that a lazy cell gets, is a function with the name of the item.
func (r *maskReader) constant(n syntax.Node, at around) {
	value := n.Child("value")
	closure := value
	if value.Is("call_expression") {
		arguments := value.Child("arguments")
		closure = arguments.First()
		if closure.Is() && closure.End()+1 < arguments.End()-1 && strings.Trim(string(r.source[closure.End():arguments.End()-1]), ", \t\r\n") != "" {
			closure = syntax.Node{}
		}
	}
	if !closure.Is("closure_expression") || !n.Child("name").Is() || !closure.Child("body").Is() {
		r.walk(n, at)
		return
	}
	if value.Is("call_expression") {
		r.code(value.Child("function"), at)
	}
	name, body := n.Child("name"), closure.Child("body")
	f := mask.Function{
		Name: at.prefix + name.Text(), Construct: mask.Lambda, Literal: true, Public: visible(n), Parent: at.parent, Class: at.class, Line: name.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken() || at.broken,
	}
	switch {
	case at.test:
		f.Construct = mask.Test
	case body.Is("block"):
		if trivial(body) {
			f.Construct = mask.Trivial
		}
		f.Body, f.Strict = r.block(statement(f), body)
	default:
		f.Body, f.Strict = mask.Range{Start: body.Start(), End: body.End()}, statement(f)
	}
	r.add(f, body, at, r.localsOf(closure))
}

func (r *maskReader) function(n syntax.Node, at around, b before) {
	name, body := n.Child("name"), n.Child("body")
	f := mask.Function{
		Name: at.prefix + name.Text(), Public: at.public || visible(n), Doc: b.doc, Parent: at.parent, Class: at.class, Line: name.Line(),
		Span: mask.Range{Start: n.Start(), End: n.End()}, Broken: n.Broken() || at.broken,
	}
	f.Construct = construct(n, at, b)
	if body.Is() && !body.Missing() && body.End()-body.Start() >= 2 {
		f.Body, f.Strict = r.block(statement(f), body)
	} else if f.Construct != mask.Bodiless {
		f.Construct, f.Broken = mask.Bodiless, true
	}
	r.add(f, body, at, r.localsOf(n))
}

// add adds a function and reads its body.
func (r *maskReader) add(f mask.Function, body syntax.Node, at around, locals map[string][]string) {
	owner, seen, outer := r.owner, r.seen, r.locals
	if f.Construct == mask.Constant {
		f.Compiles = called(body)
	}
	if body.Is() {
		f.Shape = counter.Shape(body, f.Body)
	}
	at.parent, at.prefix, at.member, at.trait, at.public, at.hook = len(r.file.Functions), f.Name+".", false, "", false, false
	r.owner, r.seen, r.locals = at.parent, map[string]bool{}, locals
	r.file.Functions = append(r.file.Functions, f)
	switch {
	case body.Is("block"):
		r.walk(body, at)
	case body.Is("token_tree"):
		r.tokens(body, at)
	case body.Is():
		r.code(body, at)
	}
	r.owner, r.seen, r.locals = owner, seen, outer
}

// construct is what a definition is.
func construct(n syntax.Node, at around, b before) mask.Construct {
	name, body, modifiers := n.Child("name").Text(), n.Child("body"), n.First("function_modifiers")
	if !body.Is() {
		return mask.Bodiless
	}
	if c := marked(at, b); c != "" {
		return c
	}
	switch {
	case name == "drop" && (at.trait == "Drop" || at.trait == "PinnedDrop"):
		return mask.Destructor
	case name == "main" && at.parent < 0 && at.prefix == "":
		return mask.Main
	case opaque(n):
		return mask.Opaque
	case trivial(body):
		return mask.Trivial
	case modifiers.Has("const"):
		return mask.Constant
	case modifiers.Has("async"):
		return mask.Async
	case slices.Contains(operators, at.trait):
		return mask.Special
	case at.member:
		return mask.Method
	}
	return mask.Plain
}

// marked is what a definition is by what stands before it and around it; "" for none.
func marked(at around, b before) mask.Construct {
	switch {
	case at.test || b.tests():
		return mask.Test
	case b.has("proc_macro", "proc_macro_derive", "proc_macro_attribute"):
		return mask.Macro
	case b.has("naked"): // only assembly may stand in it
		return mask.Bodiless
	case at.hook, b.has("panic_handler", "ctor", "dtor", "alloc_error_handler", "lang", "entry", "start"):
		return mask.Hook
	}
	return ""
}

// operators are traits whose methods the language calls.
var operators = strings.Fields(`Add Sub Mul Div Rem Neg Not BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign DivAssign
	RemAssign BitAndAssign BitOrAssign BitXorAssign ShlAssign ShrAssign Deref DerefMut Index IndexMut PartialEq PartialOrd
	Clone From TryFrom Iterator IntoIterator Future Fn FnMut FnOnce Display Debug`)

// opaque tells functions whose type or meaning outside is made by their body: impl Trait
// anywhere in what they give back, and impl blocks inside, which hold everywhere.
func opaque(n syntax.Node) bool {
	for t := range n.Child("return_type").Within() {
		if t.Is("abstract_type") {
			return true
		}
	}
	return n.Child("body").Has("impl_item") && implsOfOthers(n.Child("body"))
}

// implsOfOthers tells blocks with an impl for a type that is not declared in them.
func implsOfOthers(body syntax.Node) bool {
	own := map[string]bool{}
	for c := range body.Children() {
		if c.Is("struct_item", "enum_item", "union_item") {
			own[c.Child("name").Text()] = true
		}
	}
	for c := range body.Children() {
		if c.Is("impl_item") && !own[last(typeName(c.Child("type")))] {
			return true
		}
	}
	return false
}

// trivial tells bodies that do nothing, or only say that something is missing.
func trivial(body syntax.Node) bool {
	var only syntax.Node
	for n := range body.Children() {
		if n.Is("line_comment", "block_comment", "inner_attribute_item", "empty_statement") {
			continue
		}
		if only.Is() {
			return false
		}
		only = n
	}
	if only.Is("expression_statement") {
		only = only.First()
	}
	return !only.Is() || only.Is("macro_invocation") && (only.Child("macro").Text() == "todo" || only.Child("macro").Text() == "unimplemented")
}

// block is what stands between the braces, behind inner attributes, and what takes its
// place: on one line where the body is, else indented as its first line was.
func (r *maskReader) block(statement string, body syntax.Node) (mask.Range, string) {
	at := mask.Range{Start: body.Start() + 1, End: body.End() - 1}
	for c := range body.Children() {
		if c.Is("inner_attribute_item") {
			at.Start = c.End()
		}
	}
	if at.End < at.Start { // a brace is missing: the function is broken, and stays
		return mask.Range{Start: body.Start(), End: body.Start()}, ""
	}
	old := r.source[at.Start:at.End]
	i := bytes.LastIndexByte(old, '\n')
	if i < 0 {
		return at, " " + statement + " "
	}
	end := string(old[i+1:])
	if strings.Trim(end, " \t") != "" {
		end = ""
	}
	indent := end + "    "
	for line := range bytes.Lines(old[bytes.IndexByte(old, '\n')+1:]) {
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if first := string(line[:len(line)-len(text)]); len(first) > len(end) && strings.HasPrefix(first, end) {
			indent = first
		}
		break
	}
	return at, "\n" + indent + statement + "\n" + end
}

// statement fails whatever the result's type is: it has the type that never is. What is
// const may only panic with a plain text.
func statement(f mask.Function) string {
	if f.Construct == mask.Constant {
		return `panic!("masked: ` + f.Name + `")`
	}
	return `unimplemented!("masked: ` + f.Name + `")`
}

// visible tells what is pub without restriction.
func visible(n syntax.Node) bool { return n.First("visibility_modifier").Text() == "pub" }

// typeName is the path of a named type, behind references and arguments.
func typeName(n syntax.Node) []string {
	for {
		switch n.Kind() {
		case "type_identifier", "primitive_type", "identifier":
			return []string{n.Text()}
		case "scoped_type_identifier", "scoped_identifier":
			return strings.Split(strings.Join(strings.Fields(n.Text()), ""), "::")
		case "generic_type", "reference_type", "pointer_type":
			n = n.Child("type")
		case "dynamic_type", "higher_ranked_trait_bound":
			if t := n.Child("trait"); t.Is() {
				n = t
			} else {
				n = n.Child("type")
			}
		default:
			return nil
		}
	}
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	name := path[len(path)-1]
	if i := strings.IndexByte(name, '<'); i >= 0 {
		name = name[:i]
	}
	return name
}
