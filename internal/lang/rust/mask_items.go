package rust

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// deepest bounds the nesting that is followed; no person writes such code.
const deepest = 3000

// class is a type, a trait or a module, with its name in front of those of its functions. A type has one entry however many
// blocks it has, without a span where it is declared elsewhere. A module of tests has none.
func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	n, name, index := m.Node, m.At("name").Text(), -1
	if n.Is("impl_item") { // for [T], only the trait has a name
		name = cmp.Or(typeName(n.Child("type")), typeName(n.Child("trait")))
	}
	if !n.Is("mod_item") || !r.tested(n) {
		index = r.entry(r.Qualified(name))
	}
	if index >= 0 && !n.Is("impl_item") {
		r.File.Classes[index].Span = mask.Range{Start: n.Start(), End: n.End()}
	}
	if n.Is("mod_item") { // its functions are no members
		index = -1
	}
	r.Enter(n, index, name)
	return mask.Class{}, false
}

// entry is the index of a class.
func (r *reader) entry(name string) int {
	i, ok := r.classes[name]
	if !ok {
		i = len(r.File.Classes)
		r.classes[name] = i
		r.File.Classes = append(r.File.Classes, mask.Class{Name: name, Parent: -1})
	}
	return i
}

// owner is the block that a definition is a member of, and the trait that the block is for; "" for none.
func owner(n syntax.Node) (block syntax.Node, trait string) {
	if block = n.Parent().Parent(); block.Is("impl_item", "trait_item") {
		return block, typeName(block.Child("trait"))
	}
	return syntax.Node{}, ""
}

func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	n, name := m.Node, m.At("name")
	if n.Is("token_tree") {
		f, ok := r.written[n.Index()]
		return f, ok
	}
	f := mask.Function{Name: name.Text(), Line: name.Line(), Public: visible(n), Broken: inError(n)}
	if closure := m.At("closure"); closure.Is() {
		return r.closure(f, n, closure)
	}
	b, body := front(n), n.Child("body")
	block, trait := owner(n)
	f.Doc, f.Public = b.doc, f.Public || trait != "" || block.Is("trait_item") && visible(block)
	f.Construct = r.construct(n, trait, b)
	if body.Is() && !body.Missing() && body.End()-body.Start() >= 2 {
		fill(&f, r.Qualified(f.Name), body)
	} else if f.Construct != mask.Bodiless {
		f.Construct, f.Broken = mask.Bodiless, true
	}
	if f.Construct == mask.Constant {
		f.Compiles = called(body)
	}
	return f, true
}

// closure is the value of a const or static, or all that a call there gets.
func (r *reader) closure(f mask.Function, n, closure syntax.Node) (mask.Function, bool) {
	f.Construct, f.Literal = mask.Lambda, true
	body, around := closure.Child("body"), closure.Parent()
	if around.Is("arguments") && strings.Trim(around.Text()[closure.End()-around.Start():], ",) \t\r\n") != "" || !body.Is() {
		return f, false
	}
	switch {
	case r.tested(n):
		f.Construct = mask.Test
		return f, true
	case body.Is("block") && trivial(body):
		f.Construct = mask.Trivial
	}
	fill(&f, r.Qualified(f.Name), body)
	return f, true
}

// inError reports whether something stands in what could not be read.
func inError(n syntax.Node) bool { return n.Tree().Broken() && n.Above("ERROR").Is() }

// construct is what a definition is.
func (r *reader) construct(n syntax.Node, trait string, b before) mask.Construct {
	name, body, modifiers := n.Child("name").Text(), n.Child("body"), n.First("function_modifiers")
	if !body.Is() {
		return mask.Bodiless
	}
	if c := r.marked(n, b); c != "" {
		return c
	}
	switch {
	case name == "drop" && (trait == "Drop" || trait == "PinnedDrop"):
		return mask.Destructor
	case name == "main" && r.Qualified("") == "":
		return mask.Main
	case opaque(n):
		return mask.Opaque
	case trivial(body):
		return mask.Trivial
	case modifiers.Has("const"):
		return mask.Constant
	case modifiers.Has("async"):
		return mask.Async
	case slices.Contains(operators, trait):
		return mask.Special
	case r.Member():
		return mask.Method
	}
	return mask.Plain
}

// operators are traits whose methods the language calls.
var operators = strings.Fields(`Add Sub Mul Div Rem Neg Not BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign DivAssign
	RemAssign BitAndAssign BitOrAssign BitXorAssign ShlAssign ShrAssign Deref DerefMut Index IndexMut PartialEq PartialOrd
	Clone From TryFrom Iterator IntoIterator Future Fn FnMut FnOnce Display Debug`)

// visible tells what is pub without restriction.
func visible(n syntax.Node) bool { return n.First("visibility_modifier").Text() == "pub" }

// typeName is the last word of a type's path, behind references and without arguments; "" for what has none.
func typeName(n syntax.Node) string {
	if m := typed.FindStringSubmatch(n.Text()); m != nil {
		return m[1]
	}
	return ""
}

var typed = lazyregexp.New(`^(?:[&*]\s*|'\w+\s+|(?:mut|const|dyn)\s+)*(?:\w*\s*::\s*)*(?:r#)?(\w+)\s*(?:(?:::\s*)?<|$)`)
