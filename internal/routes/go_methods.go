package routes

import (
	"go/ast"
	"go/token"
	"slices"
)

// methods are those that a handler of any method tells apart itself, by r.Method; one "" where
// it does not.
func (in *interpreter) methods(f *function) []string {
	var out []string
	in.branches(f, func(method string, _ []ast.Stmt, _ *handlerReader, _ goContext) {
		if !slices.Contains(out, method) {
			out = append(out, method)
		}
	})
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// dispatched is the function that a handler calls for one method, where it does nothing else
// for it; otherwise the handler.
func (in *interpreter) dispatched(f *function, method string) *function {
	out := f
	in.branches(f, func(m string, body []ast.Stmt, h *handlerReader, p goContext) {
		if m != method {
			return
		}
		var only *ast.CallExpr
		for _, s := range body {
			switch s := s.(type) {
			case *ast.ReturnStmt:
				continue
			case *ast.ExprStmt:
				if c, ok := s.X.(*ast.CallExpr); ok && only == nil {
					only = c
					continue
				}
			}
			return
		}
		if only == nil {
			return
		}
		fn, recv, args := h.callee(only, p)
		if fn == nil || shape(fn.signature()) == "" {
			return
		}
		out = &function{fn: fn, file: fn.file, args: args}
		if recv != nil {
			out.recv = recv.value
		}
	})
	return out
}

// branches gives visit what a handler does for each method that it names.
func (in *interpreter) branches(f *function, visit func(method string, body []ast.Stmt, h *handlerReader, p goContext)) {
	if f == nil {
		return
	}
	h := &handlerReader{in: in, route: &Route{}}
	p := goContext{file: f.file, sc: f.scope.inner(), args: f.args}
	body := h.enter(f, nil, p)
	if body == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			p.setParameters(signature{typ: x.Type, file: p.file, sc: p.sc, args: p.args})
		case *ast.SwitchStmt:
			if !h.isMethod(x.Tag, p) {
				return true
			}
			for _, s := range x.Body.List {
				c, ok := s.(*ast.CaseClause)
				if !ok {
					continue
				}
				for _, e := range c.List {
					if m := h.text(e, p); m != "" && m != "OPTIONS" && m != "HEAD" {
						visit(m, c.Body, h, p)
					}
				}
			}
			return false
		case *ast.IfStmt:
			for _, t := range methodTests(x.Cond) {
				m, equal := h.methodTest(t, p)
				switch {
				case m == "" || m == "OPTIONS" || m == "HEAD":
				case equal:
					visit(m, x.Body.List, h, p)
				default:
					visit(m, nil, h, p)
				}
			}
		}
		return true
	})
}

// methodTests are the sides of a condition with && and ||.
func methodTests(e ast.Expr) []ast.Expr {
	var out []ast.Expr
	todo := []ast.Expr{e}
	for len(todo) > 0 && len(out) < 32 {
		e, todo = todo[0], todo[1:]
		switch x := e.(type) {
		case *ast.ParenExpr:
			todo = append(todo, x.X)
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				todo = append(todo, x.X, x.Y)
				continue
			}
			out = append(out, x)
		}
	}
	return out
}
