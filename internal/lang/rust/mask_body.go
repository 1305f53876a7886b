package rust

import (
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

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
		if c.Is("impl_item") && !own[typeName(c.Child("type"))] {
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

// fill gives a function what stands in the place of its body. It fails whatever the result's type is: it has the type that
// never is. What is const may only panic with a plain text.
func fill(f *mask.Function, name string, body syntax.Node) {
	statement := `unimplemented!("masked: ` + name + `")`
	if f.Construct == mask.Constant {
		statement = `panic!("masked: ` + name + `")`
	}
	at := mask.Range{Start: body.Start(), End: body.End()}
	for c := range body.Children() {
		if c.Is("inner_attribute_item") {
			at.Start = c.End() - 1
		}
	}
	if f.Body, f.Strict = at, statement; body.Is("block", "token_tree") && at.Len() >= 2 {
		f.Body, f.Strict = mask.Braced(body.Tree().Source, at, statement)
	}
}
