package golang

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// literal writes down a function literal that has a body.
func (r *maskReader) literal(n, body syntax.Node) {
	if body.Missing() || body.End()-body.Start() < 2 || n.Broken() {
		return
	}
	l := mask.Literal{Line: n.Line(), Span: mask.Range{Start: n.Start(), End: n.End()}, Body: mask.Range{Start: body.Start() + 1, End: body.End() - 1}}
	l.Shape, l.Strict = r.Shape(body, l.Body), r.failing("", n)
	r.File.Literals = append(r.File.Literals, l)
}

// literals completes the literals: what they are called and what is around them, and that they still use the variables
// of the functions around, which else were declared and not used.
func (r *maskReader) literals() {
	captured := r.captured()
	for i := range r.File.Literals {
		l := &r.File.Literals[i]
		l.Parent = r.around(l.Body.Start, r.File.Literals[:i])
		outer := ""
		if f := r.functionAt(l.Body.Start); f >= 0 && !r.File.Functions[f].Literal {
			outer = r.File.Functions[f].Name
		}
		l.Name = outer + ":" + strconv.Itoa(l.Line)
		statements := []string{strings.Replace(l.Strict, strconv.Quote("masked: "), strconv.Quote("masked: "+l.Name), 1)}
		if names := captured[l.Span.Start]; len(names) > 0 {
			uses := strings.Repeat("_, ", len(names)-1) + "_ = " + strings.Join(names, ", ")
			statements = slices.Insert(statements, 0, uses)
		}
		l.Strict = inBraces(r.source[l.Body.Start:l.Body.End], statements...)
	}
}

// captured are the variables of functions around a literal that it uses, by the byte where it begins.
func (r *maskReader) captured() map[int][]string {
	out := map[int][]string{}
	var open []*ast.FuncLit
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			open = append(open, x)
			ast.Inspect(x.Body, walk)
			open = open[:len(open)-1]
			return false
		case *ast.Ident:
			if x.Name == "_" || !r.code.isLocal(x) || x.Obj.Kind != ast.Var {
				return true
			}
			if _, parameter := x.Obj.Decl.(*ast.Field); parameter {
				return true
			}
			for _, l := range open {
				if at := r.code.offset(l.Pos()); x.Obj.Pos() < l.Pos() && !slices.Contains(out[at], x.Name) {
					out[at] = append(out[at], x.Name)
				}
			}
		}
		return true
	}
	ast.Inspect(r.code.File, walk)
	return out
}
