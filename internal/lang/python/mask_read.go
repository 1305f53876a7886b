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

// reader makes a File of what mask.scm finds.
type reader struct {
	mask.Reader
	module string
	bases  [][]string // by class: the last words of what it inherits from
}

// condition is that of an if: what only type checkers and only programs run does not run when the file is loaded.
func (r *reader) condition(m syntax.Match) {
	if neverLoaded(m.At("condition")) {
		r.Later(m.Node.Child("consequence"))
	}
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

// function completes a definition, or a name that a lambda is bound to.
func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	if m.Node.Is("assignment") {
		return r.lambda(m), true
	}
	def, whole := m.Node, whole(m.Node)
	name := r.Qualified(m.At("name").Text())
	decorators := decoratorsOf(whole)
	l, ok := lay(def)
	f := mask.Function{
		Name: m.At("name").Text(), Public: r.Function() < 0 && isPublic(name), Doc: l.doc.Is(), Line: lineOf(def), Span: rangeOf(whole),
		Broken: !ok || isUnread(whole),
		Single: r.Member() && (slices.Contains(decorators, "classmethod") || slices.Contains(decorators, "staticmethod")),
	}
	if len(l.statements) > 0 {
		f.Body = l.cut
		f.Span.End = max(f.Span.End, l.cut.End)
	}
	own := func(n syntax.Node) bool { return !n.Is("function_definition", "lambda", "class_definition") }
	generator := anyOf(m.At("body").Walk(own), func(n syntax.Node) bool { return n.Named() && n.Kind() == "yield" })
	f.Construct = r.construct(candidate{def: def, name: f.Name, decorators: decorators, layout: l, generator: generator})
	text := []string{fmt.Sprintf("raise NotImplementedError(\"masked: %s\")", name)}
	if generator {
		text = append(text, "yield") // it stays one
	}
	f.Strict = l.text(text...)
	return f, true
}

// whole is a definition with its decorators.
func whole(def syntax.Node) syntax.Node {
	if up := def.Parent(); up.Is("decorated_definition") {
		return up
	}
	return def
}

// lambda is a name bound to one.
func (r *reader) lambda(m syntax.Match) mask.Function {
	name, body := r.Qualified(m.At("name").Text()), m.At("body")
	f := mask.Function{
		Name: m.At("name").Text(), Construct: mask.Lambda, Literal: true, Public: r.Function() < 0 && isPublic(name),
		Line: m.At("name").Line(), Body: rangeOf(body), Broken: isUnread(m.Node),
		Strict: fmt.Sprintf("(_ for _ in ()).throw(NotImplementedError(\"masked: %s\"))", name),
	}
	if body.Is("none", "true", "false", "integer", "float", "ellipsis") {
		f.Construct = mask.Trivial
	}
	return f
}

// decoratorsOf are the dotted names of what decorates a definition, without arguments.
func decoratorsOf(whole syntax.Node) []string {
	var out []string
	for c := range whole.Children() {
		if c.Kind() == "decorator" {
			callee := firstOf(c)
			if callee.Kind() == "call" {
				callee = callee.Child("function")
			}
			out = append(out, strings.Join(mask.Callee(callee), "."))
		}
	}
	return out
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

// class notes what a class inherits from.
func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	var words []string
	for b := range m.Node.Child("superclasses").Children() {
		if b.Kind() == "subscript" { // Generic[T]
			b = b.Child("value")
		}
		if path := mask.Callee(b); len(path) > 0 && b.Kind() != "keyword_argument" {
			words = append(words, path[len(path)-1])
		}
	}
	r.bases = append(r.bases, words)
	return mask.Class{Name: m.At("name").Text(), Span: rangeOf(whole(m.Node))}, true
}

// literals have the methods of the language, and none of the project's.
var literals = []string{"string", "concatenated_string", "integer", "float", "list", "tuple", "dictionary", "set"}

// callee is the name of what is called.
func callee(m syntax.Match) []string {
	of := m.At("callee")
	if of.Kind() == "subscript" { // Box[int](1)
		of = of.Child("value")
	}
	if !of.Is("identifier", "attribute") || of.Child("object").Is(literals...) {
		return nil
	}
	return mask.Callee(of)
}

// imports notes the names that a statement brings. "import a.b" binds a, and makes a.b known.
func (r *reader) imports(n syntax.Node) {
	module := n.Child("module_name").Text()
	for c := range n.Children() {
		name, local := c, ""
		switch {
		case c.Kind() == "wildcard_import":
			r.File.Imports = append(r.File.Imports, mask.Import{Module: module, Name: "*"})
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
		r.File.Imports = append(r.File.Imports, i)
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
