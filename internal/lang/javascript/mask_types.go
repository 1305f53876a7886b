package javascript

import (
	"iter"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
)

// types says of what type the results of functions are in TypeScript, where that is not written down: callers hand functions to
// them whose parameters have their types from there, and tests compare them.
type types struct {
	*reader
	declarations map[string][]syntax.Node // what gives a name to a function, class, type or variable
	members      map[member][]syntax.Node // methods of classes, with their signatures
	results      map[int]string           // what functions give, by where they begin
}

// member is a name in the body of a class, which begins at a byte.
type member struct {
	body int
	name string
}

func newTypes(r *reader) types {
	return types{r, map[string][]syntax.Node{}, map[member][]syntax.Node{}, map[int]string{}}
}

// note notes what a name stands for.
func (t types) note(n syntax.Node) {
	name := n.Child("name").Text()
	switch up := n.Parent(); n.Kind() {
	case "function_declaration", "function_signature", "class_declaration", "abstract_class_declaration", "type_alias_declaration", "variable_declarator", "type_parameter":
		t.declarations[name] = append(t.declarations[name], n)
	case "method_definition", "method_signature":
		t.members[member{up.Start(), name}] = append(t.members[member{up.Start(), name}], n)
	}
}

// only is what a name stands for, where that is one thing.
func (t types) only(name syntax.Node) (of syntax.Node) {
	if all := t.declarations[name.Text()]; len(all) == 1 && name.Is("identifier") {
		of = all[0]
	}
	return of
}

// giving is what fails with the type that callers go on with.
//
// A body that only throws has the type void (never, for a function literal), and what is done with its result does not compile. A
// function that throws, called on the spot, is of the type that is written on it.
func (t types) giving(fn, b syntax.Node, fails string) string {
	on := func(of string) string { return "((): " + of + " => { " + fails + " })()" }
	result := "any"
	switch {
	case isGenerator(fn):
		return "return yield* " + on(generated(fn, b)) + ";"
	case !b.Is("statement_block"), returns(b):
		if of := t.result(fn); of != "" {
			result = of
		}
	case isLiteral(fn), fn.Parent().Is("object"):
		result = "void"
	default:
		return fails
	}
	if !b.Is("statement_block") {
		return on(result)
	}
	return "return " + on(result) + ";"
}

// generated is the type of a generator. One that a call is given and that yields nothing of its own, but what others do, is made of
// steps for who is given it, who tells their kinds: it has to take a starter that yields nothing for one without any.
func generated(fn, b syntax.Node) string {
	generator, yields, result := "Generator", "any", "void"
	if fn.Has("async") {
		generator = "AsyncGenerator"
	}
	if fn.Parent().Is("arguments") && !own(b, func(n syntax.Node) bool { return n.Is("yield_expression") && !n.Has("*") }) {
		yields = "never"
	}
	if returns(b) {
		result = "any"
	}
	return generator + "<" + yields + ", " + result + ", any>"
}

// returns reports whether a body gives a value, functions in it left out.
func returns(b syntax.Node) bool {
	return own(b, func(n syntax.Node) bool {
		return n.Is("return_statement") && n.First().Is() && !n.First().Is("comment")
	})
}

// own reports whether a body has such a node, functions in it left out.
func own(b syntax.Node, is func(syntax.Node) bool) bool {
	for n := range within(b) {
		if is(n) {
			return true
		}
	}
	return false
}

// within are the nodes of a body without those of the functions and classes in it.
func within(b syntax.Node) iter.Seq[syntax.Node] {
	return b.Walk(func(n syntax.Node) bool { return n == b || !isFunction(n) && !n.Is("class_body") })
}

func isFunction(n syntax.Node) bool {
	return isLiteral(n) || n.Is("function_declaration", "generator_function_declaration", "method_definition")
}

// result is the type of what a function gives, where that can be told by how its body looks; "" else. More is not said of the body.
func (t types) result(fn syntax.Node) string {
	b := fn.Child("body")
	if known, ok := t.results[fn.Start()]; ok {
		return known
	}
	t.results[fn.Start()] = "" // for one that gives its own result
	returned := []syntax.Node{b}
	if b.Is("statement_block") {
		returned = nil
		for n := range within(b) {
			switch {
			case n.Is("class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration"):
				return "" // the type may be one of these
			case n.Is("return_statement"):
				returned = append(returned, first(n))
			}
		}
		if !last(b).Is("return_statement") {
			return ""
		}
	}
	out := t.typeText(fn, returned[0])
	for _, value := range returned[1:] {
		if t.typeText(fn, value) != out {
			return ""
		}
	}
	if len(out) > maxType || strings.ContainsAny(out, "\n\r/") {
		return "" // it cannot be written in a line
	}
	t.results[fn.Start()] = out
	return out
}

// maxType is how long a type may be, in bytes.
const maxType = 120

// typeText is the type of an expression in fn.
func (t types) typeText(fn, value syntax.Node) string {
	value = inParentheses(value)
	switch value.Kind() {
	case "as_expression":
		if of := last(value); of != first(value) && !strings.Contains(of.Text(), "typeof ") {
			return of.Text()
		}
	case "this":
		if isObjectMethod(fn) {
			return "this"
		}
	case "new_expression": // of a class that is not generic, or says for what it is made
		of, arguments := value.Child("constructor"), value.First("type_arguments")
		if class := t.only(of); arguments.Is() && of.Is("identifier") || class.Is("class_declaration", "abstract_class_declaration") && !class.Child("type_parameters").Is() {
			return of.Text() + arguments.Text()
		}
	case "member_expression":
		return ownType(fn, value)
	case "call_expression":
		return t.calledType(fn, value)
	}
	return ""
}

// isObjectMethod reports whether a function is a method of which this is an object of its class.
func isObjectMethod(fn syntax.Node) bool {
	return fn.Is("method_definition") && fn.Parent().Is("class_body") && !fn.Has("static")
}

// ownType is the type of a member of the object, however deep, where a method does nothing but give it. With more code around, the
// compiler may know that it is one of several types only.
func ownType(fn, value syntax.Node) string {
	class, tail := fn.Parent().Parent(), ""
	if !isObjectMethod(fn) || !class.Is("class_declaration", "abstract_class_declaration") || fn.Child("type_parameters").Is() || !first(fn.Child("body")).Is("return_statement") {
		return ""
	}
	for ; value.Is("member_expression") && !value.Has("optional_chain"); value = value.Child("object") {
		tail = `["` + value.Child("property").Text() + `"]` + tail
	}
	if !value.Is("this") {
		return ""
	}
	of := class.Child("name").Text()
	if names := parameters(class); len(names) > 0 {
		of += "<" + strings.Join(names, ", ") + ">"
	}
	return of + tail
}

// parameters are the names of those that are types.
func parameters(n syntax.Node) []string {
	var names []string
	for c := range n.Child("type_parameters").Children() {
		if c.Is("type_parameter") {
			names = append(names, c.Child("name").Text())
		}
	}
	return names
}

// calledType is what a function of the file gives, a method of the same class, or in a getter a function that a member of the object
// holds.
func (t types) calledType(fn, call syntax.Node) string {
	of := call.Child("function")
	target, arguments := t.only(of), call.First("type_arguments")
	if of.Child("object").Is("this") && isObjectMethod(fn) {
		target = t.method(fn, of.Child("property").Text(), call)
	} else if inner := ownType(fn, of); inner != "" && fn.Has("get") && !arguments.Is() && !first(call.Child("arguments")).Is() {
		return "ReturnType<" + inner + ">"
	}
	written, names := strings.TrimLeft(target.Child("return_type").Text(), ": "), parameters(target)
	switch {
	case !target.Is("function_declaration", "method_definition", "method_signature"), target.Has("async", "*"), strings.Contains(written, "typeof "):
		return ""
	case len(names) > 0:
		return filled(written, names, arguments)
	case written != "":
		return written
	}
	return t.result(target)
}

// method is the one of a name in the class around a method, or its first signature where that and the call are without arguments.
func (t types) method(fn syntax.Node, name string, call syntax.Node) syntax.Node {
	switch all := t.members[member{fn.Parent().Start(), name}]; {
	case len(all) == 0, all[0].Has("get", "set", "static"):
	case len(all) == 1, !first(all[0].Child("parameters")).Is() && !first(call.Child("arguments")).Is():
		return all[0]
	}
	return syntax.Node{}
}

var word = lazyregexp.New(`[\w$]+`)

// filled is the written result of a generic function that is called with types for its parameters.
func filled(written string, names []string, arguments syntax.Node) string {
	var given []string
	for c := range arguments.Children() {
		if c.Named() && !c.Is("comment") {
			given = append(given, c.Text())
		}
	}
	if len(given) != len(names) || strings.ContainsAny(written, "{=?\"'`") {
		return "" // a word of it may be no type
	}
	return word.ReplaceAllStringFunc(written, func(w string) string {
		switch i := slices.Index(names, w); {
		case i < 0:
			return w
		case strings.ContainsAny(given[i], " |&?"):
			return "(" + given[i] + ")"
		default:
			return given[i]
		}
	})
}

func inParentheses(n syntax.Node) syntax.Node {
	for n.Is("parenthesized_expression") {
		n = first(n)
	}
	return n
}
