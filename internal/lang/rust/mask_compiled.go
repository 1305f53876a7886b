package rust

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

var _ mask.Compiler = Masker{}

// Compiled are the names of functions that the compiler may run for a file.
func (Masker) Compiled(p string, tree *syntax.Tree) []string {
	c := compiled{}
	if buildScript(p) { // what it writes is code too, in texts
		c.words(tree.Root())
	}
	c.read(tree.Root(), false, 0)
	return c.names()
}

// compiled are names that stand where the compiler may run them: called in the value of
// a constant or static, in a length, in a block that is const, or among what a macro is
// given, which may make any of those of it. Only the last word of a path counts: nothing
// may be missed, since a crate of which the compiler runs something masked is none.
// Functions that stay and are const add what they call.
type compiled map[string]bool

func (c compiled) names() []string { return slices.Sorted(maps.Keys(c)) }

// read goes through code; inside is what the compiler runs.
func (c compiled) read(n syntax.Node, inside bool, depth int) {
	if depth > deepest {
		return
	}
	for child := range n.Children() {
		in := inside || evaluated(n, child)
		switch child.Kind() {
		case "ERROR", "const_parameter": // the grammar takes what a parameter is by default for a type
			c.words(child)
			continue
		case "closure_expression":
			in = false // the compiler makes it, and who calls it runs it
		case "function_item":
			in = child.First("function_modifiers").Has("const") && opaque(child)
		case "macro_definition":
			c.tokens(child)
			continue
		case "attribute_item": // it may be a macro, with cases of a test
			c.tokens(child.First("attribute").First("token_tree"))
			continue
		case "macro_invocation":
			if in || !slices.Contains(atRunTime, typeName(child.Child("macro"))) {
				c.tokens(child)
			} else {
				c.given(child.First("token_tree"), depth)
			}
			continue
		case "call_expression":
			if in {
				c.called(child.Child("function"))
			}
		}
		c.read(child, in, depth+1)
	}
}

// called are the names that a const function runs.
func called(body syntax.Node) []string {
	c := compiled{}
	if body.Is("token_tree") { // in a macro, of which all names are among Compiled
		return nil
	}
	c.read(body, true, 0)
	return c.names()
}

// evaluated tells what the compiler runs of a node.
func evaluated(n, child syntax.Node) bool {
	switch n.Kind() {
	case "const_item", "static_item", "enum_variant":
		return child.Field() == "value"
	case "array_type", "array_expression":
		return child.Field() == "length"
	case "type_arguments":
		return child.Is("block")
	}
	return n.Is("const_block")
}

// called is what is called, by the last word of its path.
func (c compiled) called(of syntax.Node) {
	if of.Is("generic_function") {
		of = of.Child("function")
	}
	if path := mask.Callee(of); path != nil {
		c[path[len(path)-1]] = true
	} else {
		c.words(of)
	}
}

// tokens are names among what a macro is given or writes, but for those that it defines:
// of a name in a variable nobody knows.
func (c compiled) tokens(n syntax.Node) {
	defines := false
	for t := range n.Within() {
		if t.Is("identifier") && !defines || t.Is("metavariable") {
			c[t.Text()] = true
		}
		defines = t.Is("fn")
	}
}

// given is what a macro is given that only runs it: what the compiler runs may stand in
// it again.
func (c compiled) given(n syntax.Node, depth int) {
	if depth > deepest {
		return
	}
	source := n.Tree().Source
	var before syntax.Node
	for t := range n.Children() {
		gap := ""
		if before.Is() {
			gap = strings.TrimSpace(string(source[before.End():t.Start()]))
		}
		switch {
		case t.Is("const", "static"):
			c.tokens(n)
			return
		case !t.Is("token_tree"):
		case gap == "!" && !slices.Contains(atRunTime, before.Text()), strings.HasSuffix(gap, "<"), source[t.Start()] == '[' && strings.Contains(t.Text(), ";"):
			c.tokens(t)
		default:
			c.given(t, depth+1)
		}
		before = t
	}
}

// atRunTime are macros that make no constant of what they are given.
var atRunTime = strings.Fields(`assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne dbg eprint eprintln
	format format_args matches panic print println todo try unimplemented unreachable vec write writeln`)

// words are all that may be names.
func (c compiled) words(n syntax.Node) {
	for _, name := range word.FindAllString(n.Text(), -1) {
		c[name] = true
	}
}

var word = lazyregexp.New(`[A-Za-z_]\w*`)
