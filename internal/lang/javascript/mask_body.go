package javascript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// replace says what stands in the place of a function's body, and what the function is, where its body tells.
func (r *reader) replace(n syntax.Node, d definition, f *mask.Function) {
	fn := n
	if last := curried(n); last.Is() {
		// (a) => (b) => (c): void => {…}: the types of what the first ones give stay written down.
		fn, d.typed = last, true
	}
	switch {
	case isGenerator(n):
		f.Construct = mask.Generator
	case n.Has("async"):
		f.Construct = mask.Async
	}
	switch b := fn.Child("body"); {
	case !b.Is():
		f.Construct = mask.Bodiless
	case !b.Is("statement_block"):
		f.Body, f.Strict = mask.Range{Start: b.Start(), End: b.End()}, r.fails(fn, b, d)
	case b.End()-b.Start() < 2, r.source[b.Start()] != '{', r.source[b.End()-1] != '}':
		f.Broken = true
	default:
		r.block(fn, b, d, f)
	}
}

func isGenerator(n syntax.Node) bool {
	return n.Has("*") || n.Is("generator_function", "generator_function_declaration")
}

// curried is the first arrow of a row, each the body of the one before, that says what it gives; none where that is fn itself.
func curried(fn syntax.Node) syntax.Node {
	b := fn.Child("body")
	for b.Is("arrow_function") && !b.Child("return_type").Is() {
		b = b.Child("body")
	}
	if !b.Is("arrow_function") {
		return syntax.Node{}
	}
	return b
}

// unwritten is what a body says that waits to be written.
var unwritten = lazyregexp.New(`(?i)not[ _-]?(yet[ _-])?(implemented|supported)|unimplemented|abstract|must (be )?(implement|overrid|subclass)`)

// block keeps what has to come first (directives, the call of super), and puts one statement in the place of the rest.
func (r *reader) block(fn, b syntax.Node, d definition, f *mask.Function) {
	derived := d.construct == mask.Constructor && fn.Parent().Parent().Has("class_heritage")
	stays, rest := r.leading(b, derived)
	switch {
	case len(rest) == 0, len(rest) == 1 && rest[0].Is("throw_statement") && unwritten.MatchString(rest[0].Text()):
		f.Construct = mask.Trivial
		return
	case derived && r.typed && !stays.Is() && callsSuper(b):
		f.Construct = mask.Opaque // the compiler wants the call, and it is made under a condition
		return
	}
	inner := mask.Range{Start: b.Start(), End: b.End()}
	fails := r.fails(fn, b, d)
	if stays.Is() {
		inner.Start = stays.End() - 1 // what stays is as good as the brace
		if r.source[inner.Start] != ';' && !bytes.ContainsRune(r.source[stays.End():rest[0].Start()], '\n') {
			fails = ";" + fails
		}
	}
	f.Body, f.Strict = mask.Braced(r.source, inner, fails)
}

// leading splits a body's statements: the last one that has to stay, if any, and those after it.
func (r *reader) leading(b syntax.Node, derived bool) (stays syntax.Node, rest []syntax.Node) {
	for c := range b.Children() {
		if c.Named() && !c.Is("comment", "empty_statement") {
			rest = append(rest, c)
		}
	}
	for len(rest) > 0 && rest[0].Is("expression_statement") && rest[0].First().Is("string") {
		stays, rest = rest[0], rest[1:]
	}
	if derived {
		// JavaScript itself lets a constructor fail before it calls super; TypeScript wants the call to stand in the body's own
		// statements.
		at := slices.IndexFunc(rest, func(s syntax.Node) bool {
			return s.Is("expression_statement") && s.First("call_expression").Child("function").Is("super")
		})
		if at == 0 || at > 0 && r.typed {
			stays, rest = rest[at], rest[at+1:]
		}
	}
	return stays, rest
}

func callsSuper(b syntax.Node) bool {
	for n := range b.Walk(func(n syntax.Node) bool { return !n.Is("class_body", "function_declaration", "function_expression") }) {
		if n.Is("call_expression") && n.Child("function").Is("super") {
			return true
		}
	}
	return false
}

// fails is what stands in the place of a body: a statement, or of an arrow without braces its body. The text is a string of both
// languages whatever the name.
func (r *reader) fails(fn, b syntax.Node, d definition) string {
	made := "Error"
	if r.declared[made] {
		made = "globalThis.Error" // the file has an Error of its own
	}
	throw := "throw new " + made + `("masked: ` + escaped(d.name) + `");`
	if r.typed {
		if isLiteral(fn) {
			throw = r.types.tested(fn) + throw
		}
		if !d.typed && !fn.Child("return_type").Is() && d.construct != mask.Setter && d.construct != mask.Constructor {
			return r.types.giving(fn, b, throw)
		}
	}
	if !b.Is("statement_block") {
		return "{ " + throw + " }"
	}
	return throw
}

func escaped(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x2028 || c == 0x2029 || c == 0xfeff {
			return ' '
		}
		return c
	}, strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(strings.ToValidUTF8(s, "?")))
}

// astray reports whether an arrow stands in a syntax error itself, and in no statement inside of it: it may be a type, of which the
// parser lost the beginning.
func astray(n syntax.Node) bool {
	return n.Is("arrow_function") && n.Tree().Broken() &&
		n.Above("ERROR", "statement_block", "class_body", "variable_declarator", "expression_statement", "return_statement", "program").Is("ERROR")
}
