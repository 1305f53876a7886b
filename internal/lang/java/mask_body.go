package java

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// failure is thrown in place of a body.
const failure = "UnsupportedOperationException"

// unwritten is what a body says that waits to be written, or never will be.
var unwritten = lazyregexp.New(`(?i)not[ _-]?(yet[ _-])?(implemented|supported)|unimplemented|UnsupportedOperation|must (be )?(implement|overrid)`)

// replace says what stands in the place of a body. A call of another constructor, which has to come first, stays.
func (r *reader) replace(f *mask.Function, n syntax.Node) {
	body, source := bodyOf(n), n.Tree().Source
	if !body.Is() {
		return
	}
	block := mask.Range{Start: body.Start(), End: body.End()}
	switch {
	case block.Len() < 2 || source[block.Start] != '{' || source[block.End-1] != '}':
		f.Broken = true
		return
	case f.Construct == mask.Hook:
		f.Body = mask.Range{Start: block.Start + 1, End: block.End - 1}
		return
	}
	rest := statements(body)
	if len(rest) > 0 && rest[0].Is("explicit_constructor_invocation") {
		block.Start, rest = rest[0].End()-1, rest[1:]
	}
	if trivial(rest) {
		if f.Construct != mask.Main && f.Construct != mask.Destructor {
			f.Construct = mask.Trivial
		}
		return
	}
	f.Body, f.Strict = mask.Braced(source, block, r.statement(n, f.Name))
	if block.Start != body.Start() && f.Body.Start == block.Start+1 && !strings.HasPrefix(f.Strict, "\n") {
		f.Strict = " " + f.Strict
	}
}

// bodyOf is the block of a definition.
func bodyOf(n syntax.Node) syntax.Node {
	switch {
	case n.Is("block"):
		return n
	case n.Is("static_initializer"):
		return n.First("block")
	}
	return n.Child("body")
}

// trivial reports whether there is nothing to mask: no statement, or one that says that it is not implemented.
func trivial(all []syntax.Node) bool {
	return len(all) == 0 || len(all) == 1 && all[0].Is("throw_statement") && unwritten.MatchString(all[0].Text())
}

// statement is what fails.
func (r *reader) statement(n syntax.Node, name string) string {
	text := "throw new " + r.failure + `("masked: ` + r.Qualified(name) + `");`
	if n.Is("compact_constructor_declaration") {
		// The fields are set after it: the compiler has to believe that it ends.
		return "if (true) { " + text + " }"
	}
	return text
}

// statements are those of a body, from a call of another constructor on.
func statements(body syntax.Node) []syntax.Node {
	var all []syntax.Node
	for c := range body.Children() {
		switch {
		case !c.Named() || c.Is("line_comment", "block_comment"):
		case c.Is("explicit_constructor_invocation"):
			all = []syntax.Node{c}
		default:
			all = append(all, c)
		}
	}
	return all
}
