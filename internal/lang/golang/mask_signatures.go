package golang

import (
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// signature is the type of a function, a literal, or of a type of functions: two that are
// one type have the same, in whatever file they stand. Packages and stars are left out.
func (r *maskReader) signature(n syntax.Node, s *scope) []string {
	out := r.listed(nil, n.Child("parameters"), s)
	out = append(out, mask.Gives)
	switch result := n.Child("result"); {
	case result.Is("parameter_list"):
		out = r.listed(out, result, s)
	case result.Is():
		out = append(out, r.wordOf(result, s))
	}
	return out
}

// listed adds the types of parameters or results.
func (r *maskReader) listed(out []string, list syntax.Node, s *scope) []string {
	for p := range list.Children() {
		if !p.Is("parameter_declaration", "variadic_parameter_declaration") {
			continue
		}
		word := r.wordOf(p.Child("type"), s)
		if p.Is("variadic_parameter_declaration") {
			word = mask.Rest + word
		}
		for range held(p) {
			out = append(out, word)
		}
	}
	return out
}

// wordOf is a type as one word, mask.Any for what hangs on a parameter of types, or on a constant.
func (r *maskReader) wordOf(n syntax.Node, s *scope) string {
	var b strings.Builder
	if !r.spell(&b, n, s) {
		return mask.Any
	}
	return b.String()
}

// spell writes a type; false where it may be another than it is written.
func (r *maskReader) spell(b *strings.Builder, n syntax.Node, s *scope) bool {
	if r.chain++; r.chain > longest {
		r.chain--
		return false
	}
	defer func() { r.chain-- }()
	switch n.Kind() {
	case "type_identifier":
		text := n.Text()
		if same, ok := sameTypes[text]; ok {
			text = same
		}
		b.WriteString(text)
		return !s.has(n.Text())
	case "qualified_type":
		return r.spell(b, n.Child("name"), nil)
	case "identifier", "selector_expression", "comment", "struct_type": // lengths
		return false
	case "function_type":
		for i, word := range r.signature(n, s) {
			if word == mask.Any {
				return false
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(word)
		}
		return true
	case "interface_type":
		if !n.First().Is() {
			b.WriteString("any")
			return true
		}
		return false
	}
	plain := true
	for c := range n.Children() {
		plain = false
		if !c.Is("*", "(", ")") && !r.spell(b, c, s) {
			return false
		}
	}
	if plain {
		b.WriteString(n.Text())
	}
	return true
}

// sameTypes are names of the language's own that are others of its own.
var sameTypes = map[string]string{"byte": "uint8", "rune": "int32"}

// functional is the type of functions that a type is, or that its elements are, as of
// mask.Callable; nil where that is not known.
func (r *maskReader) functional(t syntax.Node, s *scope) []string {
	for range longest {
		switch t.Kind() {
		case "function_type":
			return r.signature(t, s)
		case "type_identifier", "qualified_type", "generic_type":
			if path := typePath(t); path != nil && !s.has(path[0]) {
				return path
			}
			return nil
		case "slice_type", "array_type", "implicit_length_array_type":
			t = t.Child("element")
		case "map_type", "channel_type":
			t = t.Child("value")
		case "pointer_type", "parenthesized_type":
			t = last(t)
		default:
			return nil
		}
	}
	return nil
}

// last is the last child that has a name.
func last(n syntax.Node) syntax.Node {
	var out syntax.Node
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			out = c
		}
	}
	return out
}
