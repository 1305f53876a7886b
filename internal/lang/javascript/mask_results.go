package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
)

// result is the type of what the body of a function gives, where that can be told by how it
// looks: what it is made of, or said to be. "" else. It says no more of the body.
func (r *reader) result(fn syntax.Node, depth int) string {
	b := fn.Child("body")
	if !b.Is("statement_block") {
		return r.typeText(fn, b, depth)
	}
	last := lastOf(b)
	if !last.Is("return_statement") {
		return ""
	}
	if last == first(b) {
		if of := r.ownType(fn, first(last)); of != "" {
			return of
		}
	}
	out := ""
	for n := range b.Walk(func(n syntax.Node) bool { return n == b || !isFunction(n) && !n.Is("class_body") }) {
		switch {
		case n.Is("class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration"):
			return "" // the type may be one of these
		case n.Is("return_statement"):
			of := r.typeText(fn, first(n), depth)
			if of == "" || out != "" && out != of {
				return ""
			}
			out = of
		}
	}
	return out
}

// isObjectMethod tells a method of which this is an object of its class.
func isObjectMethod(fn syntax.Node) bool {
	return fn.Is("method_definition") && fn.Parent().Is("class_body") && !fn.Has("static")
}

// ownType is the type of a member of the object, however deep, where a method does nothing but
// give it, or a getter what such a member's function gives. With more code around, the
// compiler may know that it is one of several types only.
func (r *reader) ownType(fn, value syntax.Node) string {
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
	var names []string
	for c := range class.Child("type_parameters").Children() {
		if c.Is("type_parameter") {
			names = append(names, c.Child("name").Text())
		}
	}
	of := class.Child("name").Text()
	if len(names) > 0 {
		of += "<" + strings.Join(names, ", ") + ">"
	}
	return fitting(head + of + tail)
}

// maxResult is how many methods that give each other's results are followed.
const maxResult = 8

// typeText is the type of an expression in fn.
func (r *reader) typeText(fn, value syntax.Node, depth int) string {
	value = unwrappedParens(value)
	switch value.Kind() {
	case "as_expression":
		if of := lastOf(value); of != first(value) && !strings.Contains(of.Text(), "typeof ") {
			return fitting(of.Text())
		}
	case "this":
		if isObjectMethod(fn) {
			return "this"
		}
	case "new_expression":
		return r.madeType(value)
	case "ternary_expression":
		if of := r.typeText(fn, value.Child("consequence"), depth); of == r.typeText(fn, value.Child("alternative"), depth) {
			return of
		}
	case "call_expression":
		if depth < maxResult {
			return r.calledType(fn, value, depth)
		}
	}
	return ""
}

// madeType is that of an object of a class, with what it is made for or without need of it.
func (r *reader) madeType(value syntax.Node) string {
	of := value.Child("constructor")
	if !of.Is("identifier") {
		return ""
	}
	if arguments := value.First("type_arguments"); arguments.Is() {
		if r.counted[of.Text()] == 0 || r.generic[of.Text()].Is("class_declaration", "abstract_class_declaration") && r.counted[of.Text()] == 1 {
			return fitting(of.Text() + arguments.Text())
		}
		return ""
	}
	if one := r.plain[of.Text()]; one.Is("class_declaration", "abstract_class_declaration") && r.counted[of.Text()] == 1 {
		return of.Text()
	}
	return ""
}

// calledType is what a function of the file gives, or a method of the same class.
func (r *reader) calledType(fn, call syntax.Node, depth int) string {
	of := unwrappedParens(call.Child("function"))
	if r.givesList(fn, of, depth) {
		return "any[]" // callers hand functions to it, for what they do not say of the elements
	}
	var target syntax.Node
	switch {
	case of.Is("identifier") && r.counted[of.Text()] == 1:
		if generic := r.generic[of.Text()]; generic.Is() {
			return r.filled(fn, generic, call.First("type_arguments"))
		}
		target = r.plain[of.Text()]
	case of.Is("member_expression") && of.Child("object").Is("this") && isObjectMethod(fn):
		target = r.onlyMethod(fn.Parent(), of.Child("property").Text())
	}
	if target.Is("method_signature") {
		if first(target.Child("parameters")).Is() || first(call.Child("arguments")).Is() {
			return "" // the compiler chooses another
		}
	} else if !target.Is("function_declaration", "method_definition") {
		return ""
	}
	if target.Child("type_parameters").Is() || fn.Child("type_parameters").Is() || target.Has("async") || target.Has("*") {
		return ""
	}
	if written := target.Child("return_type"); written.Is() {
		if !written.Is("type_annotation") || strings.Contains(written.Text(), "typeof ") {
			return ""
		}
		return fitting(strings.TrimSpace(strings.TrimPrefix(written.Text(), ":")))
	}
	at := target.Start()
	if _, ok := r.results[at]; !ok {
		r.results[at] = "" // for one that gives its own result
		r.results[at] = r.result(target, depth+1)
	}
	return r.results[at]
}

// beyond are words of types that bind names, or are of values.
var beyond = lazyregexp.New(`\b(asserts|in|infer|is|typeof)\b|=>|<[^<>]* extends |["'` + "`" + `]`)

// filled is the written result of a generic function that is called in fn with types for
// its parameters.
func (r *reader) filled(fn, generic, types syntax.Node) string {
	written := generic.Child("return_type")
	if !written.Is("type_annotation") || generic.Has("async") || generic.Has("*") {
		return ""
	}
	for _, n := range []syntax.Node{written, generic.Child("type_parameters"), fn.Child("type_parameters")} {
		if n.Is() && n.End()-n.Start() > maxType {
			return ""
		}
	}
	if beyond.MatchString(written.Text()) {
		return ""
	}
	var names, own []string
	for c := range generic.Child("type_parameters").Children() {
		if c.Is("type_parameter") {
			names = append(names, c.Child("name").Text())
		}
	}
	for c := range fn.Child("type_parameters").Children() {
		own = append(own, c.Child("name").Text())
	}
	given := map[string]string{}
	for c := range types.Children() {
		if c.Named() && !c.Is("comment") && len(given) < len(names) {
			given[names[len(given)]] = c.Text()
		}
	}
	if len(given) != len(names) {
		return ""
	}
	out, at := "", written.Start()
	for n := range written.Walk(func(syntax.Node) bool { return true }) {
		if !n.Is("type_identifier") || n.Parent().Is("nested_type_identifier") {
			continue
		}
		text, ok := given[n.Text()]
		switch {
		case !ok && (r.counted[n.Text()] > 1 || slices.Contains(own, n.Text())):
			return "" // it may be another here
		case !ok:
			continue
		case strings.ContainsAny(text, " |&?"):
			text = "(" + text + ")"
		}
		out += string(r.source[at:n.Start()]) + text
		at = n.End()
	}
	out += string(r.source[at:written.End()])
	return fitting(strings.TrimSpace(strings.TrimPrefix(out, ":")))
}

// listers give an array, of an array.
var listers = strings.Fields("concat filter flat flatMap map reverse slice sort splice")

// givesList tells a method that gives an array of something that is written to be one: a
// field of the object, what one of its methods or a function of the file gives.
func (r *reader) givesList(fn, of syntax.Node, depth int) bool {
	if !of.Is("member_expression") || !slices.Contains(listers, of.Child("property").Text()) || of.Has("optional_chain") {
		return false
	}
	switch object := unwrappedParens(of.Child("object")); {
	case object.Is("call_expression") && depth < maxResult:
		return isList(r.calledType(fn, object, depth+1))
	case object.Is("member_expression") && object.Child("object").Is("this") && !object.Has("optional_chain") && isObjectMethod(fn):
		return isList(r.fieldType(fn.Parent(), object.Child("property").Text()))
	}
	return false
}

// isList tells the type of an array, as it is written.
func isList(of string) bool {
	named := strings.HasSuffix(of, ">") && (strings.HasPrefix(of, "Array<") || strings.HasPrefix(of, "ReadonlyArray<"))
	return (named || strings.HasSuffix(of, "[]")) && !strings.ContainsAny(of, "|&?:=") && !strings.Contains(of, "keyof ")
}

// fieldType is the type that a class writes of its field, "" where it has several of a name.
func (r *reader) fieldType(body syntax.Node, name string) string {
	fields, ok := r.fields[body.Start()]
	if !ok {
		fields = map[string]string{}
		r.fields[body.Start()] = fields
		note := func(name string, n syntax.Node) {
			of := strings.TrimSpace(strings.TrimPrefix(n.Child("type").Text(), ":"))
			if _, twice := fields[name]; twice {
				of = ""
			}
			fields[name] = of
		}
		for c := range body.Children() {
			switch {
			case c.Is("public_field_definition") && !c.Has("static"):
				note(c.Child("name").Text(), c)
			case c.Is("method_definition") && c.Child("name").Text() == "constructor":
				for p := range c.Child("parameters").Children() {
					if p.Has("accessibility_modifier", "readonly", "override_modifier") {
						note(p.Child("pattern").Text(), p)
					}
				}
			}
		}
	}
	return fields[name]
}

// onlyMethod is the method of a name where a class has one of it, or the first of the
// signatures that it has.
func (r *reader) onlyMethod(body syntax.Node, name string) syntax.Node {
	methods, ok := r.methods[body.Start()]
	if !ok {
		methods = map[string]syntax.Node{}
		r.methods[body.Start()] = methods
		for c := range body.Children() {
			name := c.Child("name").Text()
			before, twice := methods[name]
			if before.Is("method_signature") {
				continue
			}
			signs := c.Is("method_signature") && !c.Has("static") && !c.Has("?")
			if twice || !signs && !isObjectMethod(c) || c.Has("get") || c.Has("set") {
				c = syntax.Node{}
			}
			methods[name] = c
		}
	}
	return methods[name]
}

// maxType is how long a type may be, in bytes.
const maxType = 120

// fitting is a type that can be written in a line: an object's cannot where the ends of
// lines may be what is between its members.
func fitting(of string) string {
	if strings.ContainsAny(of, "\n\r") && !strings.ContainsAny(of, "{\"'`/") {
		of = strings.Join(strings.Fields(of), " ")
	}
	if of == "const" || strings.ContainsAny(of, "\n\r") || strings.Contains(of, "//") || len(of) > maxType {
		return ""
	}
	return of
}

func unwrappedParens(n syntax.Node) syntax.Node {
	for n.Is("parenthesized_expression") {
		n = first(n)
	}
	return n
}

// notePlain notes what a name stands for in the file, and how often it is given to
// something that holds types or values.
func (r *reader) notePlain(n syntax.Node) {
	name := n.Child("name")
	if !name.Is("identifier", "type_identifier") {
		return
	}
	r.counted[name.Text()]++
	up := n.Parent()
	switch {
	case !up.Is("program") && (!up.Is("export_statement") || !up.Parent().Is("program")):
	case !n.Child("type_parameters").Is():
		r.plain[name.Text()] = n
	case n.Is("function_declaration", "class_declaration", "abstract_class_declaration"):
		r.generic[name.Text()] = n
	}
}
