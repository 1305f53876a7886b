package golang

import (
	"slices"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// returned is the text in place of a body that ends with "return func(…) {…}", or with that as the
// one argument of a call (http.HandlerFunc): it returns a function that fails, and what stood
// before it is gone. "" for any other body.
func (r *maskReader) returned(f mask.Function, body syntax.Node, s *scope) string {
	var last syntax.Node
	before := false
	for n := range body.Children() {
		if !n.Is("comment", "empty_statement") {
			before, last = last.Is(), n
		}
	}
	if !last.Is("return_statement") {
		return ""
	}
	expression, literal := returnedLiteral(last)
	inside := literal.Child("body")
	if !inside.Is() || inside.Missing() || inside.End()-inside.Start() < 2 {
		return ""
	}
	if expression != literal && before {
		if of := expression.Child("function"); of.Is("identifier") && !r.functions[of.Text()] && !r.declared[of.Text()] {
			return "" // it may be a variable of the body
		}
	}
	open, end := inside.Start()+1, inside.End()-1
	text := "return " + string(r.source[expression.Start():open]) + inBraces(r.source[open:end], r.failing(f.Name, s)) + string(r.source[end:expression.End()])
	r.returns = append(r.returns, returnedText{len(r.file.Functions), packagesIn(expression, inside)})
	return inBraces(r.source[f.Body.Start:f.Body.End], text)
}

// returnedText is Function.Returned of a function, with the packages that it names.
type returnedText struct {
	function int
	packages []string
}

// returnedLiteral is the one value of a return statement, and the function literal that it is or is
// made of.
func returnedLiteral(statement syntax.Node) (expression, literal syntax.Node) {
	list := statement.First("expression_list")
	n := 0
	for c := range list.Children() {
		expression = c
		n++
	}
	if n != 1 {
		return expression, literal
	}
	if expression.Is("func_literal") {
		return expression, expression
	}
	if !expression.Is("call_expression") {
		return expression, literal
	}
	n = 0
	for a := range expression.Child("arguments").Children() {
		literal = a
		n++
	}
	if n != 1 || !literal.Is("func_literal") {
		return expression, syntax.Node{}
	}
	return expression, literal
}

// packagesIn are the names before a dot in an expression, but for those in a block of it.
func packagesIn(expression, block syntax.Node) []string {
	var out []string
	for n := range expression.Walk(func(n syntax.Node) bool { return n != block }) {
		switch {
		case n == block:
		case n.Is("qualified_type"):
			out = append(out, n.Child("package").Text())
		case n.Is("selector_expression") && n.Child("operand").Is("identifier"):
			out = append(out, n.Child("operand").Text())
		}
	}
	return out
}

// checkReturned takes back the texts with a package that only masked code uses: repair makes that
// import a blank one.
func (r *maskReader) checkReturned() {
	imported := func(name string) bool {
		u := r.uses[name]
		return slices.ContainsFunc(r.specs, func(s spec) bool { return s.local == name || s.local == "" }) && (u == nil || !u.kept)
	}
	for _, g := range r.returns {
		if slices.ContainsFunc(g.packages, imported) {
			r.file.Functions[g.function].Returned = ""
		}
	}
}
