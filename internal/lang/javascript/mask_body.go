package javascript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// unwritten is what a body says that waits to be written.
var unwritten = lazyregexp.New(`(?i)not[ _-]?(yet[ _-])?(implemented|supported)|unimplemented|abstract|must (be )?(implement|overrid|subclass)`)

// body is what becomes of one function's body.
type body struct {
	mask.Range
	strict string
	kept   mask.Construct // why it has to stay, "" where it can be masked
	broken bool
}

// asked is what a body's replacement depends on, besides its text.
type asked struct {
	name      string
	generator bool
	async     bool
	literal   bool   // an expression: without a type of its own, it would be never
	typed     bool   // its result's type is written down, or has no need to
	derived   bool   // a constructor that has to call super
	uses      string // what stands before the failure, for a compiler that wants it used
	result    string // the type of what it gives, where that is not written down, "" for any
}

// replaced says what stands in the place of the body of fn.
func (r *reader) replaced(fn syntax.Node, a asked) body {
	b := fn.Child("body")
	if !b.Is() {
		return body{kept: mask.Bodiless}
	}
	if a.result = "any"; r.dialect == Typed && !a.typed && !a.generator {
		if of := r.result(fn, 0); of != "" {
			a.result = of
		}
	}
	if last := curried(b); last.Is() {
		// (a) => (b) => (c): void => {…}: the types of what the first ones give stay written down.
		a.typed, a.literal, a.async, a.generator = true, true, last.Has("async"), false
		return r.replaced(last, a)
	}
	if r.dialect == Typed && isLiteral(fn) {
		a.uses = r.tested(fn)
	}
	if !b.Is("statement_block") {
		return body{Range: mask.Range{Start: b.Start(), End: b.End()}, strict: r.expression(a)}
	}
	if b.End()-b.Start() < 2 || r.source[b.Start()] != '{' || r.source[b.End()-1] != '}' {
		return body{broken: true}
	}
	return r.block(fn, b, a)
}

// mostAstray bounds how far out of an arrow a syntax error is looked for.
const mostAstray = 200

// astray tells an arrow that stands in a syntax error itself, and in no statement inside of
// it: it may be a type, of which the parser lost the beginning.
func (r *reader) astray(n syntax.Node) bool {
	if len(r.file.Faults) == 0 || !n.Is("arrow_function") {
		return false
	}
	for range mostAstray {
		switch n = n.Parent(); {
		case !n.Is(), n.Is("statement_block", "class_body", "variable_declarator", "expression_statement", "return_statement", "program"):
			return false
		case n.Is("ERROR"):
			return true
		}
	}
	return true
}

// tested mentions the name of which a condition asks whether it is there, where a function
// stands behind it and uses it: of a function that is never missing, the compiler takes the
// condition for a call that was forgotten unless it is used there.
func (r *reader) tested(fn syntax.Node) string {
	for at := fn; ; at = at.Parent() {
		up := at.Parent()
		if !up.Is() || isFunction(up) || up.Is("class_body", "program") {
			return ""
		}
		asks := syntax.Node{}
		switch {
		case up.Is("ternary_expression", "if_statement") && up.Child("consequence") == at:
			asks = unwrappedParens(up.Child("condition"))
		case up.Is("binary_expression") && r.operator(up) == "&&" && up.Child("right") == at:
			asks = unwrappedParens(up.Child("left"))
		}
		if asks.Is("identifier", "member_expression") && mentions(fn.Child("body"), asks.Text()) {
			return "void " + oneLine(asks.Text()) + "; "
		}
	}
}

// mentions reports whether a name stands in code as it does elsewhere.
func mentions(code syntax.Node, name string) bool {
	for n := range code.Walk(func(syntax.Node) bool { return true }) {
		if n.Is("identifier", "member_expression") && n.Text() == name {
			return true
		}
	}
	return false
}

// curried is the first arrow of a row, each the body of the one before, that says what
// it gives.
func curried(b syntax.Node) syntax.Node {
	for b.Is("arrow_function") && !b.Child("return_type").Is() {
		b = b.Child("body")
	}
	if !b.Is("arrow_function") {
		return syntax.Node{}
	}
	return b
}

// block keeps what has to come first (directives, the call of super), and puts one
// statement in the place of the rest.
func (r *reader) block(fn, b syntax.Node, a asked) body {
	stays, rest := r.leading(b, a)
	if len(rest) == 0 {
		return body{kept: mask.Trivial}
	}
	if len(rest) == 1 && rest[0].Is("throw_statement") && unwritten.MatchString(rest[0].Text()) {
		return body{kept: mask.Trivial}
	}
	if a.derived && r.dialect == Typed && !stays.Is() && callsSuper(b) {
		// The compiler wants the call, and it is made under a condition.
		return body{kept: mask.Opaque}
	}
	in := mask.Range{Start: b.Start() + 1, End: b.End() - 1}
	if stays.Is() {
		in.Start = stays.End()
	}
	text := r.source[in.Start:in.End]
	statement := r.statement(b, a)
	if !bytes.Contains(text, []byte("\n")) {
		pad := ""
		if bytes.HasPrefix(text, []byte(" ")) || stays.Is() {
			pad = " "
		}
		if stays.Is() && r.source[stays.End()-1] != ';' {
			pad = "; "
		}
		return body{Range: in, strict: pad + statement + strings.Trim(pad, ";")}
	}
	inner, outer := r.indents(fn, in, rest[0])
	return body{Range: in, strict: "\n" + inner + statement + "\n" + outer}
}

// leading splits a body's statements: the last one that has to stay, if any, and those
// after it.
func (r *reader) leading(b syntax.Node, a asked) (stays syntax.Node, rest []syntax.Node) {
	for c := range b.Children() {
		if c.Named() && !c.Is("comment", "empty_statement") {
			rest = append(rest, c)
		}
	}
	for len(rest) > 0 && rest[0].Is("expression_statement") && rest[0].First().Is("string") {
		stays, rest = rest[0], rest[1:]
	}
	if a.derived {
		// JavaScript itself lets a constructor fail before it calls super; TypeScript
		// wants the call to stand in the body's own statements.
		at := slices.IndexFunc(rest, isSuper)
		if at == 0 || at > 0 && r.dialect == Typed {
			stays, rest = rest[at], rest[at+1:]
		}
	}
	return stays, rest
}

func isSuper(statement syntax.Node) bool {
	if !statement.Is("expression_statement") {
		return false
	}
	call := statement.First("call_expression")
	return call.Is() && call.Child("function").Is("super")
}

func callsSuper(b syntax.Node) bool {
	for n := range b.Walk(func(n syntax.Node) bool { return !n.Is("class_body", "function_declaration", "function_expression") }) {
		if n.Is("call_expression") && n.Child("function").Is("super") {
			return true
		}
	}
	return false
}

// indents are those of the statements and of the closing brace.
func (r *reader) indents(fn syntax.Node, in mask.Range, first syntax.Node) (inner, outer string) {
	outer = r.indent(fn.Start())
	if i := bytes.LastIndexByte(r.source[in.Start:in.End], '\n'); len(bytes.TrimLeft(r.source[in.Start+i+1:in.End], " \t")) == 0 {
		outer = string(r.source[in.Start+i+1 : in.End])
	}
	inner = r.indent(first.Start())
	if len(inner) <= len(outer) && !r.opensLine(first.Start()) {
		inner = outer + "  "
	}
	return inner, outer
}

// indent is the white space that the line of a byte begins with.
func (r *reader) indent(at int) string {
	line := r.source[bytes.LastIndexByte(r.source[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (r *reader) opensLine(at int) bool {
	return len(bytes.TrimLeft(r.source[bytes.LastIndexByte(r.source[:at], '\n')+1:at], " \t")) == 0
}

// statement fails, and where a type is inferred leaves one that callers can go on with.
//
// A body that only throws has the type void (never, for a function literal), and what
// is done with its result does not compile. A function that throws, called on the
// spot, is of the type that is written on it.
func (r *reader) statement(b syntax.Node, a asked) string {
	fails := a.uses + r.throw(a.name)
	if r.dialect != Typed || a.typed {
		return fails
	}
	gives := returns(b)
	switch {
	case a.generator:
		result := "void"
		if gives {
			result = "any"
		}
		generator := "Generator"
		if a.async {
			generator = "AsyncGenerator"
		}
		yields := "any"
		if handsOn(b) {
			yields = "never"
		}
		return "return yield* ((): " + generator + "<" + yields + ", " + result + ", any> => { " + fails + " })();"
	case gives:
		return "return ((): " + a.result + " => { " + fails + " })();"
	case a.literal:
		return "return ((): void => { " + fails + " })();"
	}
	return fails
}

// handsOn tells the body of a generator that a call is given and that yields nothing of its
// own, but what others do: for who is given it these are steps, of which it tells the kinds. It
// has to take a starter that yields nothing for one without any.
func handsOn(b syntax.Node) bool {
	if !b.Parent().Parent().Is("arguments") {
		return false
	}
	for n := range b.Walk(func(n syntax.Node) bool { return n == b || !isFunction(n) && !n.Is("class_body") }) {
		if n.Is("yield_expression") && !n.Has("*") {
			return false
		}
	}
	return true
}

// expression is the body of an arrow that has no braces.
func (r *reader) expression(a asked) string {
	if r.dialect != Typed || a.typed {
		return "{ " + a.uses + r.throw(a.name) + " }"
	}
	return "((): " + a.result + " => { " + a.uses + r.throw(a.name) + " })()"
}

// returns reports whether a body gives a value, functions in it left out.
func returns(b syntax.Node) bool {
	for n := range b.Walk(func(n syntax.Node) bool { return n == b || !isFunction(n) && !n.Is("class_body") }) {
		if n.Is("return_statement") && n.First().Is() && !n.First().Is("comment") {
			return true
		}
	}
	return false
}

// throw is the statement; the text is a string of both languages whatever the name.
func (r *reader) throw(name string) string {
	made := "Error"
	if r.declared[made] {
		made = "globalThis.Error" // the file has an Error of its own
	}
	return "throw new " + made + "(" + quoted("masked: "+name) + ");"
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range strings.ToValidUTF8(s, "?") {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f || c == 0x2028 || c == 0x2029 || c == 0xfeff:
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
