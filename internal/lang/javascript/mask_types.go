package javascript

import (
	"iter"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
)

// types says of what type the results of functions are in TypeScript, where that is not written down.
type types struct {
	*reader
	plain   map[string]syntax.Node           // what the file itself declares without types to fill in
	generic map[string]syntax.Node           // its functions and classes with parameters that are types
	counted map[string]int                   // how often it gives a name to a function, class, type or variable
	results map[int]string                   // what functions give, by where they begin
	members map[int]map[string][]syntax.Node // of classes, by where their bodies begin
}

func newTypes(r *reader) types {
	return types{r, map[string]syntax.Node{}, map[string]syntax.Node{}, map[string]int{}, map[int]string{}, map[int]map[string][]syntax.Node{}}
}

// note notes what a name stands for in the file, and how often it is given to something that holds types or values.
func (t types) note(n syntax.Node) {
	name := n.Child("name")
	if !n.Is("function_declaration", "function_signature", "class_declaration", "abstract_class_declaration", "type_alias_declaration", "variable_declarator", "type_parameter") || !name.Is("identifier", "type_identifier") {
		return
	}
	t.counted[name.Text()]++
	up := n.Parent()
	switch {
	case !up.Is("program") && (!up.Is("export_statement") || !up.Parent().Is("program")):
	case !n.Child("type_parameters").Is():
		t.plain[name.Text()] = n
	case n.Is("function_declaration", "class_declaration", "abstract_class_declaration"):
		t.generic[name.Text()] = n
	}
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
		if of := t.result(fn, 0); of != "" {
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

// result is the type of what the body of a function gives, where that can be told by how it looks: what it is made of, or said to be. ""
// else. It says no more of the body.
func (t types) result(fn syntax.Node, depth int) string {
	b := fn.Child("body")
	if !b.Is("statement_block") {
		return t.typeText(fn, b, depth)
	}
	end := last(b)
	if !end.Is("return_statement") {
		return ""
	}
	if end == first(b) {
		if of := ownType(fn, first(end)); of != "" {
			return of
		}
	}
	out := ""
	for n := range within(b) {
		switch {
		case n.Is("class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration"):
			return "" // the type may be one of these
		case n.Is("return_statement"):
			of := t.typeText(fn, first(n), depth)
			if of == "" || out != "" && out != of {
				return ""
			}
			out = of
		}
	}
	return out
}

// isObjectMethod reports whether a function is a method of which this is an object of its class.
func isObjectMethod(fn syntax.Node) bool {
	return fn.Is("method_definition") && fn.Parent().Is("class_body") && !fn.Has("static")
}

// ownType is the type of a member of the object, however deep, where a method does nothing but give it, or a getter what such a member's
// function gives. With more code around, the compiler may know that it is one of several types only.
func ownType(fn, value syntax.Node) string {
	class := fn.Parent().Parent()
	if !isObjectMethod(fn) || !class.Is("class_declaration", "abstract_class_declaration") || fn.Child("type_parameters").Is() {
		return ""
	}
	head, tail := "", ""
	// A function that is a member of the object itself is a method, mostly: its type may have several.
	if callee := value.Child("function"); fn.Has("get") && callee.Child("object").Is("member_expression") && !first(value.Child("arguments")).Is() && !value.Has("type_arguments", "optional_chain") {
		head, tail, value = "ReturnType<", ">", callee
	}
	for ; value.Is("member_expression"); value = value.Child("object") {
		property := value.Child("property")
		if !property.Is("property_identifier") || value.Has("optional_chain") {
			return ""
		}
		tail = `["` + property.Text() + `"]` + tail
	}
	if !value.Is("this") || !strings.HasPrefix(tail, "[") {
		return ""
	}
	of := class.Child("name").Text()
	if names := parameters(class); len(names) > 0 {
		of += "<" + strings.Join(names, ", ") + ">"
	}
	return fitting(head + of + tail)
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

// maxResult is how many methods that give each other's results are followed.
const maxResult = 8

// typeText is the type of an expression in fn.
func (t types) typeText(fn, value syntax.Node, depth int) string {
	value = inParentheses(value)
	switch value.Kind() {
	case "as_expression":
		if of := last(value); of != first(value) && !strings.Contains(of.Text(), "typeof ") {
			return fitting(of.Text())
		}
	case "this":
		if isObjectMethod(fn) {
			return "this"
		}
	case "new_expression":
		return t.madeType(value)
	case "ternary_expression":
		if of := t.typeText(fn, value.Child("consequence"), depth); of == t.typeText(fn, value.Child("alternative"), depth) {
			return of
		}
	case "call_expression":
		if depth < maxResult {
			return t.calledType(fn, value, depth)
		}
	}
	return ""
}

// madeType is that of an object of a class, with what it is made for or without need of it.
func (t types) madeType(value syntax.Node) string {
	of := value.Child("constructor")
	if !of.Is("identifier") {
		return ""
	}
	known, arguments := t.plain, value.First("type_arguments").Text()
	if arguments != "" {
		known = t.generic
	}
	times := t.counted[of.Text()]
	if times == 0 && arguments != "" || times == 1 && known[of.Text()].Is("class_declaration", "abstract_class_declaration") {
		return fitting(of.Text() + arguments)
	}
	return ""
}

// calledType is what a function of the file gives, or a method of the same class.
func (t types) calledType(fn, call syntax.Node, depth int) string {
	of := inParentheses(call.Child("function"))
	if t.givesList(fn, of, depth) {
		return "any[]" // callers hand functions to it, for what they do not say of the elements
	}
	if generic := t.generic[of.Text()]; of.Is("identifier") && generic.Is() && t.counted[of.Text()] == 1 {
		return t.filled(fn, generic, call.First("type_arguments"))
	}
	target := t.called(fn, of, call)
	if !target.Is() || target.Child("type_parameters").Is() || fn.Child("type_parameters").Is() || target.Has("async", "*") {
		return ""
	}
	if written := target.Child("return_type"); written.Is() {
		if !written.Is("type_annotation") || strings.Contains(written.Text(), "typeof ") {
			return ""
		}
		return fitting(annotated(written.Text()))
	}
	at := target.Start()
	if _, ok := t.results[at]; !ok {
		t.results[at] = "" // for one that gives its own result
		t.results[at] = t.result(target, depth+1)
	}
	return t.results[at]
}

// called is the function of the file, or the method of the same class, that a call in fn means. Of one with signatures, the compiler
// chooses another where something is handed over.
func (t types) called(fn, of, call syntax.Node) (target syntax.Node) {
	switch {
	case of.Is("identifier") && t.counted[of.Text()] == 1 && t.plain[of.Text()].Is("function_declaration"):
		return t.plain[of.Text()]
	case of.Is("member_expression") && of.Child("object").Is("this") && isObjectMethod(fn):
		target = t.method(fn.Parent(), of.Child("property").Text())
	}
	if target.Is("method_signature") && (first(target.Child("parameters")).Is() || first(call.Child("arguments")).Is()) {
		return syntax.Node{}
	}
	return target
}

// annotated is a type without the sign before it.
func annotated(text string) string { return strings.TrimSpace(strings.TrimPrefix(text, ":")) }

// beyond are words of types that bind names, or are of values.
var beyond = lazyregexp.New(`\b(asserts|in|infer|is|typeof)\b|=>|<[^<>]* extends |["'` + "`" + `]`)

// filled is the written result of a generic function that is called in fn with types for its parameters.
func (t types) filled(fn, generic, arguments syntax.Node) string {
	written, names, own := generic.Child("return_type"), parameters(generic), parameters(fn)
	var given []string
	for c := range arguments.Children() {
		if c.Named() && !c.Is("comment") && len(given) < len(names) {
			given = append(given, c.Text())
		}
	}
	if !written.Is("type_annotation") || generic.Has("async", "*") || len(given) != len(names) || beyond.MatchString(written.Text()) {
		return ""
	}
	out, at := "", written.Start()
	for n := range written.Within() {
		i := slices.Index(names, n.Text())
		switch {
		case !n.Is("type_identifier") || n.Parent().Is("nested_type_identifier"):
			continue
		case i < 0 && (t.counted[n.Text()] > 1 || slices.Contains(own, n.Text())):
			return "" // it may be another here
		case i < 0:
			continue
		}
		text := given[i]
		if strings.ContainsAny(text, " |&?") {
			text = "(" + text + ")"
		}
		out += string(t.source[at:n.Start()]) + text
		at = n.End()
	}
	return fitting(annotated(out + string(t.source[at:written.End()])))
}

// listers give an array, of an array.
var listers = strings.Fields("concat filter flat flatMap map reverse slice sort splice")

// givesList reports whether a method gives an array of something that is written to be one: a field of the object, what one of its methods
// or a function of the file gives.
func (t types) givesList(fn, of syntax.Node, depth int) bool {
	if !of.Is("member_expression") || !slices.Contains(listers, of.Child("property").Text()) || of.Has("optional_chain") {
		return false
	}
	switch object := inParentheses(of.Child("object")); {
	case object.Is("call_expression") && depth < maxResult:
		return isList(t.calledType(fn, object, depth+1))
	case object.Is("member_expression") && object.Child("object").Is("this") && !object.Has("optional_chain") && isObjectMethod(fn):
		fields := t.membersOf(fn.Parent())["this."+object.Child("property").Text()]
		return len(fields) == 1 && isList(annotated(fields[0].Child("type").Text()))
	}
	return false
}

// isList reports whether a type is that of an array, as it is written.
func isList(of string) bool {
	named := strings.HasSuffix(of, ">") && (strings.HasPrefix(of, "Array<") || strings.HasPrefix(of, "ReadonlyArray<"))
	return (named || strings.HasSuffix(of, "[]")) && !strings.ContainsAny(of, "|&?:=") && !strings.Contains(of, "keyof ")
}

// membersOf are the members of a class by their names; its fields, and the parameters that are some, by this.NAME.
func (t types) membersOf(body syntax.Node) map[string][]syntax.Node {
	if known, ok := t.members[body.Start()]; ok {
		return known
	}
	all := map[string][]syntax.Node{}
	t.members[body.Start()] = all
	for c := range body.Children() {
		name := c.Child("name").Text()
		all[name] = append(all[name], c)
		if c.Is("public_field_definition") && !c.Has("static") {
			all["this."+name] = append(all["this."+name], c)
		}
		for p := range c.Child("parameters").Children() {
			if name == "constructor" && p.Has("accessibility_modifier", "readonly", "override_modifier") {
				field := "this." + p.Child("pattern").Text()
				all[field] = append(all[field], p)
			}
		}
	}
	return all
}

// method is the one of a name where a class has one of it, or the first of the signatures that it has.
func (t types) method(body syntax.Node, name string) syntax.Node {
	switch all := t.membersOf(body)[name]; {
	case len(all) == 0, all[0].Has("get", "set"):
	case all[0].Is("method_signature") && !all[0].Has("static"), len(all) == 1 && isObjectMethod(all[0]):
		return all[0]
	}
	return syntax.Node{}
}

// maxType is how long a type may be, in bytes.
const maxType = 120

// fitting is a type that can be written in a line: an object's cannot where the ends of lines may be what is between its members.
func fitting(of string) string {
	if strings.ContainsAny(of, "\n\r") && !strings.ContainsAny(of, "{\"'`/") {
		of = strings.Join(strings.Fields(of), " ")
	}
	if of == "const" || strings.ContainsAny(of, "\n\r") || strings.Contains(of, "//") || len(of) > maxType {
		return ""
	}
	return of
}

func inParentheses(n syntax.Node) syntax.Node {
	for n.Is("parenthesized_expression") {
		n = first(n)
	}
	return n
}
