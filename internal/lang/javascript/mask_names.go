package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// dotted is a name with dots, name in parts, of what is called or assigned to. It begins with "?" where that is no name, and with "" where it is
// a value of the language.
func dotted(n syntax.Node) []string {
	var back []string
	head := "?"
	for range deepest {
		n = unwrapped(n)
		back = append(back, head)
		last := &back[len(back)-1]
		switch n.Kind() {
		case "identifier", "this", "super", "type_identifier", "nested_identifier":
			*last = oneLine(n.Text())
		case "member_expression":
			*last, n = n.Child("property").Text(), n.Child("object")
			continue
		case "subscript_expression":
			key := n.Child("index")
			if *last = keyName(key); !key.Is("string") {
				*last = "[" + *last + "]"
			}
			if n = n.Child("object"); key.Is("string", "identifier", "member_expression") {
				continue
			}
			*last = "?"
		case "new_expression":
			back, n = back[:len(back)-1], n.Child("constructor")
			continue
		case "call_expression":
			if module := required(n); module != "" {
				*last = inline + module
			}
		case "string", "template_string", "regex", "array", "number", "object":
			*last = ""
		}
		break
	}
	slices.Reverse(back)
	return back
}

// assignable is the path of what can be assigned to; nil for what is no name.
func assignable(n syntax.Node) []string {
	p := dotted(n)
	if n := unwrapped(n); n.Is("new_expression") || p[0] == "?" || p[0] == "" || p[0] == "super" || strings.HasPrefix(p[0], inline) {
		return nil
	}
	return p
}

// inline begins the local name of a module that has none: of require("./a")().
const inline = "require "

// exportsOf is a path without what a CommonJS module calls itself.
func exportsOf(p []string) []string {
	switch {
	case len(p) > 1 && p[0] == "exports":
		return p[1:]
	case len(p) > 1 && p[0] == "module" && p[1] == "exports":
		if len(p) == 2 {
			return []string{"default"}
		}
		return p[2:]
	}
	return p
}

// callee is what a call calls.
func callee(call syntax.Node) syntax.Node {
	if call.Is("new_expression") {
		return call.Child("constructor")
	}
	return call.Child("function")
}

// calledItself is f for f.call and f.apply, too.
func calledItself(fn syntax.Node) syntax.Node {
	fn = unwrapped(fn)
	if property := fn.Child("property").Text(); fn.Is("member_expression") && (property == "call" || property == "apply") {
		return unwrapped(fn.Child("object"))
	}
	return fn
}

// onTheSpot reports whether a call is of a function that is written there: that is how modules are made. What the function declares is
// as good as the file's own.
func onTheSpot(call syntax.Node) bool { return isLiteral(calledItself(callee(call))) }

// call is the path of what is called; nil for what the language has by itself.
func (r *reader) call(m syntax.Match) []string {
	fn := m.At("callee")
	if m.Is("call") {
		if required(m.Node) != "" {
			r.required(m.Node)
			return nil
		}
		fn = calledItself(callee(m.Node))
	}
	p := dotted(fn)
	switch head := p[0]; {
	case head == "Object" && p[len(p)-1] == "create":
		r.owners[r.spot(m.Node).name] = true
		return nil
	case slices.Contains(globals, head) && !r.declared[head], head == "", head == "super", head == "?" && len(p) == 1, isLiteral(fn), fn.Is("import"):
		return nil
	case strings.HasPrefix(head, inline):
		r.take(head[len(inline):], "default", head)
	}
	return p
}

// globals are what the language and its runtimes have by themselves: of theirs, a method is never the project's of the same name.
var globals = strings.Fields(`console Object Array Math JSON Promise Reflect Symbol String Number Boolean Date RegExp Map Set WeakMap WeakSet
	Buffer process Intl Atomics Proxy BigInt Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array
	ArrayBuffer DataView URL URLSearchParams window document navigator globalThis global performance crypto define
	parseInt parseFloat isNaN isFinite setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask
	TypeError RangeError SyntaxError ReferenceError EvalError Error undefined NaN Infinity arguments require __dirname __filename`)

// loops are the methods that run what they are given at once.
var loops = strings.Fields("forEach map filter reduce reduceRight some every sort find findIndex findLast flatMap each replace replaceAll from fromEntries")

// waiting are the functions that run what they are given later or never: handlers, promises, timers, wrappers, routes.
var waiting = strings.Fields(`on once off addListener addEventListener removeListener prependListener then catch finally
	setTimeout setInterval setImmediate nextTick queueMicrotask requestAnimationFrame
	promisify callbackify deprecate inherits debounce throttle bind
	forwardRef memo lazy observer asyncHandler catchAsync wrapAsync expressAsyncHandler
	log warn error push unshift add set has get post put patch delete head options all use route subscribe provide register`)

func callsAtOnce(p []string) bool { return len(p) > 1 && slices.Contains(loops, p[len(p)-1]) }

// passes reports whether a call gives what it is given: Object.assign(…), Object.freeze(…).
func passes(n syntax.Node) bool {
	p := dotted(n.Child("function"))
	return n.Is("call_expression") && len(p) == 2 && p[0] == "Object" && !callsAtOnce(p)
}

func isLiteral(n syntax.Node) bool {
	return n.Is("function_expression", "generator_function", "arrow_function")
}

// unwrapped is an expression without parentheses and words about its type.
func unwrapped(n syntax.Node) syntax.Node {
	for {
		inner := syntax.Node{}
		switch n.Kind() {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			inner = first(n)
		case "sequence_expression":
			if n.Parent().Is("parenthesized_expression") { // (0, a.b)(…)
				inner = last(n)
			}
		case "type_assertion":
			inner = last(n)
		}
		if !inner.Is() {
			return n
		}
		n = inner
	}
}

// first is the first child that is no comment; last is the last one.
func first(n syntax.Node) syntax.Node {
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			return c
		}
	}
	return syntax.Node{}
}

func last(n syntax.Node) (out syntax.Node) {
	for c := range n.Children() {
		if c.Named() && !c.Is("comment") {
			out = c
		}
	}
	return out
}

// keyName is the name of a member, "" for one that is computed. [Symbol.iterator] is a name to everybody.
func keyName(n syntax.Node) string {
	switch {
	case n.Is("string"):
		return text(n)
	case n.Is("computed_property_name"):
		if inner := first(n); inner.Is("member_expression", "identifier", "string") {
			return "[" + oneLine(inner.Text()) + "]"
		}
		return ""
	}
	return oneLine(n.Text())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), "") }

// joined is the qualified name of what is inside another.
func joined(outer string, names ...string) string {
	names = slices.DeleteFunc(append([]string{outer}, names...), func(s string) bool { return s == "" })
	return strings.Join(names, ".")
}

// documented reports whether a doc comment ends before the definition, with what belongs to that: export, const, the assignment.
func (r *reader) documented(n syntax.Node) bool {
	for n.Parent().Is("export_statement", "ambient_declaration", "lexical_declaration", "variable_declaration", "variable_declarator", "expression_statement",
		"assignment_expression", "pair", "parenthesized_expression", "as_expression", "satisfies_expression") {
		n = n.Parent()
	}
	return r.Documented(n, "/**")
}

// public is said of the definition alone; whether others can import what it is a member of is settled in the end.
func public(n syntax.Node) bool {
	if m := n.First("accessibility_modifier"); m.Is() && m.Text() != "public" {
		return false
	}
	return !strings.HasPrefix(n.Child("name").Text(), "#")
}

// namespace is TypeScript's: its members are reached through its name.
func (r *reader) namespace(n syntax.Node) (mask.Class, bool) {
	name := n.Child("name")
	if name.Is("string") || n.Parent().Is("ambient_declaration") { // declare module "x"
		r.Skip(n)
		return mask.Class{}, false
	}
	full := r.Qualified(oneLine(name.Text()))
	if n.Parent().Parent().Is("export_statement") || n.Parent().Is("export_statement") {
		r.exported[full] = true
	}
	r.Enter(n, -1, oneLine(name.Text()))
	return mask.Class{}, false
}

// signature is a declaration without a body. In one of what is elsewhere, that of a member of the global scope is none.
func (r *reader) signature(n syntax.Node) definition {
	d := definition{name: r.Qualified(keyName(n.Child("name"))), construct: mask.Overload}
	switch {
	case n.Above("statement_block").Parent().Is("ambient_declaration"):
		d.name = ""
	case n.Above("ambient_declaration").Is():
		d.construct = mask.Bodiless
	case n.Is("abstract_method_signature"):
		d.construct = mask.Abstract
	}
	return d
}
