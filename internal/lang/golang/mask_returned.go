package golang

import (
	"go/ast"
	"slices"
)

// returned gives functions whose body ends with "return func(…) {…}", or with that as the one argument of a call
// (http.HandlerFunc), the text that returns a function that fails: what stood before it is gone.
func (r *maskReader) returned() {
	ast.Inspect(r.code.File, func(n ast.Node) bool {
		body, ok := n.(*ast.BlockStmt)
		if !ok || len(body.List) == 0 {
			return true
		}
		i := r.owner(body.Lbrace + 1)
		if i < 0 || r.File.Functions[i].Body.Start != r.code.offset(body.Lbrace)+1 {
			return true
		}
		made, literal := returnedLiteral(body.List[len(body.List)-1])
		if literal == nil || r.needs(made, literal.Body, body) {
			return true
		}
		open, end := r.code.offset(literal.Body.Lbrace)+1, r.code.offset(literal.Body.Rbrace)
		text := "return " + string(r.source[r.code.offset(made.Pos()):open]) + inBraces(r.source[open:end], r.fails[i]) +
			string(r.source[end:r.code.offset(made.End())])
		f := &r.File.Functions[i]
		f.Returned = inBraces(r.source[f.Body.Start:f.Body.End], text)
		return true
	})
}

// returnedLiteral is the one value of a return statement, and the function literal that it is or is made of.
func returnedLiteral(of ast.Stmt) (made ast.Expr, literal *ast.FuncLit) {
	s, ok := of.(*ast.ReturnStmt)
	if !ok || len(s.Results) != 1 {
		return nil, nil
	}
	made = s.Results[0]
	literal, _ = made.(*ast.FuncLit)
	if c, ok := made.(*ast.CallExpr); ok && len(c.Args) == 1 {
		literal, _ = c.Args[0].(*ast.FuncLit)
	}
	return made, literal
}

// needs reports whether what is made, but for the body inside of it, needs a name of the body around it, or a package that only
// masked code uses: repair makes that import a blank one.
func (r *maskReader) needs(made ast.Expr, inside, around *ast.BlockStmt) (needs bool) {
	ast.Inspect(made, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Ident:
			needs = needs || r.code.isLocal(x) && around.Lbrace < x.Obj.Pos() && x.Obj.Pos() < made.Pos()
		case *ast.SelectorExpr:
			p, ok := x.X.(*ast.Ident)
			needs = needs || ok && p.Obj == nil && !slices.Contains(r.uses[p.Name], -1) &&
				slices.ContainsFunc(r.specs, func(s spec) bool { return s.local == p.Name || s.local == "" })
		}
		return n != inside
	})
	return needs
}
