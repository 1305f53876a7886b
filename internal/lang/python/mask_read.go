package python

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// reader makes a File of a tree in one pass over it.
type reader struct {
	tree   *syntax.Tree
	file   *mask.File
	bases  [][]string // by class: the last words of what it inherits from
	quiet  int        // how many conditions are around that do not hold when the file is imported
	lazy   bool       // annotations are not evaluated
	counts counts
}

// counts are facts about difficulty, summed up; a function's are the difference.
type counts struct{ branches, calls, depth, deepest int }

// spot is where something stands.
type spot struct {
	prefix   string // of qualified names, with its dot
	function int    // index of the function around, -1
	class    int    // index of the class whose body this is, -1
	within   int    // index of the class around, at any depth, -1
}

func (r *reader) read() {
	for c := range r.tree.Root().Children() {
		r.lazy = r.lazy || c.Kind() == "future_import_statement" && strings.Contains(c.Text(), "annotations")
	}
	r.file.Faults = faults(r.tree)
	r.inside(r.tree.Root(), spot{function: -1, class: -1, within: -1})
}

// inside reads what stands directly below a node.
func (r *reader) inside(n syntax.Node, p spot) {
	for c := range n.Children() {
		r.visit(c, p)
	}
}

// visit reads a node and all below it. It goes down by itself only where the place becomes another: expressions may nest
// as deep as somebody likes.
func (r *reader) visit(n syntax.Node, p spot) {
	done := false
	for c := range n.Walk(func(syntax.Node) bool { return !done }) {
		done = r.node(c, p)
	}
}

// node reads a node, and reports whether all below it is read with it.
func (r *reader) node(n syntax.Node, p spot) bool {
	switch n.Kind() {
	case "function_definition", "class_definition":
		r.definition(n, n, p)
	case "decorated_definition":
		r.definition(n, n.Child("definition"), p)
	case "block":
		r.counts.depth++
		r.counts.deepest = max(r.counts.deepest, r.counts.depth)
		r.inside(n, p)
		r.counts.depth--
	case "if_statement":
		return r.branch(n, p)
	case "assignment":
		return r.assignment(n, p)
	case "lambda":
		return p.function < 0 && !n.Parent().Is("argument_list", "keyword_argument") // nobody calls it yet
	case "type":
		return r.lazy
	default:
		r.leaf(n, p)
		return false
	}
	return true
}

// leaf reads what changes nothing for what is below it.
func (r *reader) leaf(n syntax.Node, p spot) {
	switch n.Kind() {
	case "call":
		r.counts.calls++
		r.call(n.Child("function"), p)
	case "expression_statement":
		r.routeCall(n.First("call"), p.within)
	case "import_statement", "import_from_statement":
		r.imports(n)
	case "elif_clause", "except_clause", "except_group_clause", "case_clause", "for_statement", "while_statement",
		"conditional_expression", "boolean_operator", "for_in_clause":
		r.counts.branches++
	}
}

// branch is an if. What only type checkers and only programs run does not run when the file is loaded.
func (r *reader) branch(n syntax.Node, p spot) bool {
	r.counts.branches++
	if p.function >= 0 || !neverLoaded(n.Child("condition")) {
		return false
	}
	for c := range n.Children() {
		if c.Field() == "alternative" {
			r.visit(c, p)
			continue
		}
		r.quiet++
		r.visit(c, p)
		r.quiet--
	}
	return true
}

// neverLoaded tells a condition that does not hold when the file is imported.
func neverLoaded(n syntax.Node) bool {
	switch n.Kind() {
	case "identifier", "attribute":
		return n.Text() == "TYPE_CHECKING" || strings.HasSuffix(n.Text(), ".TYPE_CHECKING")
	case "parenthesized_expression":
		return neverLoaded(firstOf(n))
	case "comparison_operator":
		text := strings.ReplaceAll(strings.Join(strings.Fields(n.Text()), ""), `"`, "'")
		return text == "__name__=='__main__'" || text == "'__main__'==__name__"
	case "boolean_operator":
		return n.Child("operator").Kind() == "and" && (neverLoaded(n.Child("left")) || neverLoaded(n.Child("right")))
	}
	return false
}

// assignment reads a function by another notation, and a table of routes.
func (r *reader) assignment(n syntax.Node, p spot) bool {
	left, right := n.Child("left"), n.Child("right")
	r.routeTable(left, right, p.within)
	for right.Kind() == "parenthesized_expression" {
		right = firstOf(right)
	}
	body := right.Child("body")
	if left.Kind() != "identifier" || right.Kind() != "lambda" || !body.Is() {
		return false
	}
	r.visit(n.Child("type"), p)
	r.visit(right.Child("parameters"), p)
	name := p.prefix + left.Text()
	f := mask.Function{
		Name: name, Construct: mask.Lambda, Literal: true, Public: p.function < 0 && isPublic(name), Parent: p.function, Class: p.class,
		Line: left.Line(), Span: rangeOf(n), Body: rangeOf(body), Broken: isUnread(n),
		Strict: fmt.Sprintf("(_ for _ in ()).throw(NotImplementedError(\"masked: %s\"))", name),
	}
	if body.Is("none", "true", "false", "integer", "float", "ellipsis") {
		f.Construct = mask.Trivial
	}
	r.within(f, p, func(p spot) { r.visit(body, p) })
	return true
}

// within adds a function and reads its body.
func (r *reader) within(f mask.Function, p spot, body func(p spot)) {
	i, before := len(r.file.Functions), r.counts
	r.file.Functions = append(r.file.Functions, f)
	r.counts.depth, r.counts.deepest = 0, 0
	body(spot{prefix: f.Name + ".", function: i, class: -1, within: p.within})
	shape := mask.Shape{
		Lines: codeLines(r.tree.Source[f.Body.Start:f.Body.End]), Branches: r.counts.branches - before.branches,
		Calls: r.counts.calls - before.calls, Depth: r.counts.deepest,
	}
	// A function inside is a block more of the one around it.
	r.counts.depth, r.counts.deepest = before.depth, max(before.deepest, before.depth+1+shape.Depth)
	r.file.Functions[i].Shape = shape
}

// definition reads a function or a class; whole has its decorators.
func (r *reader) definition(whole, def syntax.Node, p spot) {
	var decorators []string // dotted names, without arguments
	for c := range whole.Children() {
		if c.Kind() != "decorator" {
			continue
		}
		callee := firstOf(c)
		if callee.Kind() == "call" {
			callee = callee.Child("function")
		} else {
			r.call(callee, p)
		}
		decorators = append(decorators, strings.Join(pathOf(callee), "."))
		r.inside(c, p)
	}
	switch def.Kind() {
	case "function_definition":
		r.function(whole, def, p, decorators)
	case "class_definition":
		r.class(whole, def, p)
	}
}

func (r *reader) function(whole, def syntax.Node, p spot, decorators []string) {
	r.visit(def.Child("parameters"), p)
	r.visit(def.Child("return_type"), p)
	name, body := def.Child("name").Text(), def.Child("body")
	l, ok := lay(def)
	f := mask.Function{
		Name: p.prefix + name, Public: p.function < 0 && isPublic(p.prefix+name), Doc: l.doc.Is(), Parent: p.function, Class: p.class,
		Line: lineOf(def), Span: rangeOf(whole), Broken: !ok || isUnread(whole) || anyOf(def.Within(), isPython2),
		Single: p.class >= 0 && (slices.Contains(decorators, "classmethod") || slices.Contains(decorators, "staticmethod")),
	}
	if len(l.statements) > 0 {
		f.Body = l.cut
		f.Span.End = max(f.Span.End, l.cut.End)
	}
	own := func(n syntax.Node) bool { return !n.Is("function_definition", "lambda", "class_definition") }
	generator := anyOf(body.Walk(own), func(n syntax.Node) bool { return n.Named() && n.Kind() == "yield" })
	f.Construct = r.construct(candidate{def: def, name: name, decorators: decorators, layout: l, generator: generator, place: p})
	text := []string{fmt.Sprintf("raise NotImplementedError(\"masked: %s\")", f.Name)}
	if generator {
		text = append(text, "yield") // it stays one
	}
	f.Strict = l.text(text...)
	i := len(r.file.Functions)
	r.within(f, p, func(p spot) { r.inside(body, p) })
	r.routeDecorators(whole, i)
}

func rangeOf(n syntax.Node) mask.Range { return mask.Range{Start: n.Start(), End: n.End()} }

// lineOf is the line of a definition's name.
func lineOf(def syntax.Node) int {
	if name := def.Child("name"); name.Is() {
		return name.Line()
	}
	return def.Line()
}

// isUnread reports whether a definition, its surroundings, or what it begins with may be other than the tree says.
func isUnread(whole syntax.Node) bool {
	return whole.Broken() || whole.Above("ERROR").Is() || whole.BehindError()
}

// codeLines counts lines that are neither blank nor a comment alone.
func codeLines(body []byte) int {
	n := 0
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			n++
		}
	}
	return n
}

// class reads a class; what its body runs counts to what is around it.
func (r *reader) class(whole, def syntax.Node, p spot) {
	i, bases := len(r.file.Classes), def.Child("superclasses")
	c := mask.Class{Name: p.prefix + def.Child("name").Text(), Parent: p.class, Span: rangeOf(whole)}
	r.file.Classes = append(r.file.Classes, c)
	r.visit(bases, p)
	var words []string
	for b := range bases.Children() {
		if b.Kind() == "subscript" { // Generic[T]
			b = b.Child("value")
		}
		if path := pathOf(b); len(path) > 0 && b.Kind() != "keyword_argument" {
			words = append(words, path[len(path)-1])
		}
	}
	r.bases = append(r.bases, words)
	r.inside(def.Child("body"), spot{prefix: c.Name + ".", function: p.function, class: i, within: i})
}

// call notes that something is called by its name, in the function around or when the file is loaded.
func (r *reader) call(of syntax.Node, p spot) {
	if of.Kind() == "subscript" { // Box[int](1)
		of = of.Child("value")
	}
	path := pathOf(of)
	if len(path) == 0 || path[len(path)-1] == "?" {
		return
	}
	ref := mask.Ref{Path: path, Use: mask.Called, Class: p.within, Line: of.Line()}
	switch {
	case p.function >= 0:
		f := &r.file.Functions[p.function]
		f.Runs = append(f.Runs, ref)
	case r.quiet == 0:
		r.file.Loads = append(r.file.Loads, ref)
	}
}

// pathOf is the name that an expression is, in parts; "?" stands for what is none. Nil is a literal, on which nothing of ours
// is called.
func pathOf(n syntax.Node) []string {
	var rest []string
	for ; n.Kind() == "attribute"; n = n.Child("object") {
		rest = append(rest, n.Child("attribute").Text())
	}
	head := "?"
	switch {
	case n.Kind() == "identifier":
		head = n.Text()
	case n.Is("string", "concatenated_string", "integer", "float", "none", "true", "false", "list", "tuple", "dictionary", "set",
		"list_comprehension", "dictionary_comprehension", "set_comprehension", "generator_expression"):
		return nil
	case len(rest) > 1: // the last name says it all
		rest = rest[:1]
	}
	rest = append(rest, head)
	slices.Reverse(rest)
	return rest
}

// imports notes the names that a statement brings. "import a.b" binds a, and makes a.b known.
func (r *reader) imports(n syntax.Node) {
	module := n.Child("module_name").Text()
	for c := range n.Children() {
		name, local := c, ""
		switch {
		case c.Kind() == "wildcard_import":
			r.file.Imports = append(r.file.Imports, mask.Import{Module: module, Name: "*"})
			continue
		case c.Field() != "name":
			continue
		case c.Kind() == "aliased_import":
			name, local = c.Child("name"), c.Child("alias").Text()
		default:
			local, _, _ = strings.Cut(c.Text(), ".")
		}
		i := mask.Import{Module: module, Name: name.Text(), Local: local}
		if n.Kind() == "import_statement" {
			i.Module, i.Name = i.Name, ""
		}
		r.file.Imports = append(r.file.Imports, i)
	}
}

// faults are the lines of syntax errors outside of functions; statements of Python 2 are such errors.
func faults(tree *syntax.Tree) []int {
	var lines []int
	for n := range tree.Root().Walk(func(n syntax.Node) bool { return n.Kind() != "function_definition" }) {
		if n.Kind() == "ERROR" || n.Missing() || isPython2(n) {
			lines = append(lines, n.Line())
		}
	}
	return slices.Compact(lines)
}

func isPython2(n syntax.Node) bool { return n.Is("print_statement", "exec_statement") }

// anyOf reports whether one of some nodes is such.
func anyOf(all iter.Seq[syntax.Node], is func(syntax.Node) bool) bool {
	for n := range all {
		if is(n) {
			return true
		}
	}
	return false
}

// firstOf is the first of the parts of an expression: a comment may stand before it.
func firstOf(n syntax.Node) syntax.Node {
	if all := statements(n); len(all) > 0 {
		return all[0]
	}
	return syntax.Node{}
}
