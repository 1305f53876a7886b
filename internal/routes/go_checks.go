package routes

import (
	"go/ast"
	"go/token"
	"strconv"
)

// emptyCheck makes a member of the body required that code finds empty, and bounds one whose length
// it compares.
func (h *handlerReader) emptyCheck(x *ast.BinaryExpr, p goContext) {
	if !h.bound || h.route.Body == nil {
		return
	}
	e, r := emptiness(x), rule{name: "required"}
	if e == nil {
		e, r = h.lengthRule(x, p)
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return
	}
	t := h.fact(sel.X, p).typ.final()
	if !t.known() {
		return
	}
	h.eachMember(h.target, h.route.Body.Fields, t.expr, sel.Sel.Name, r, 0)
}

// lengthRule is what len(x) < n and len(x) > n say of x, as reasons to refuse it.
func (h *handlerReader) lengthRule(x *ast.BinaryExpr, p goContext) (ast.Expr, rule) {
	c, ok := x.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return nil, rule{}
	}
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	n, ok := h.fact(x.Y, p).value.(int64)
	if !ok || name != "len" && name != "RuneCountInString" {
		return nil, rule{}
	}
	switch x.Op {
	case token.LSS:
		return c.Args[0], rule{name: "min", args: []string{strconv.FormatInt(n, 10)}}
	case token.GTR:
		if n > 0 {
			return c.Args[0], rule{name: "max", args: []string{strconv.FormatInt(n, 10)}}
		}
	}
	return nil, rule{}
}

// eachMember applies a rule to the field of a struct, wherever it is in a body.
func (h *handlerReader) eachMember(t typeRef, fields []Field, owner ast.Expr, name string, r rule, depth int) {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok || depth > goFieldDepth {
		return
	}
	names := &fieldReader{src: h.in.src, tags: []string{h.route.Body.Encoding}}
	for _, fd := range st.Fields.List {
		if len(fd.Names) == 0 {
			h.eachMember(f.with(fd.Type), fields, owner, name, r, depth+1)
			continue
		}
		for _, n := range fd.Names {
			sent, _ := names.name(fieldTag(fd), n.Name)
			for i := range fields {
				if fields[i].Name != sent {
					continue
				}
				if f.expr == owner && n.Name == name {
					r.apply(&fields[i])
					fields[i].Required = fields[i].Required || r.name == "min" && r.args[0] != "0"
				} else {
					h.eachMember(f.with(fd.Type), fields[i].Fields, owner, name, r, depth+1)
				}
			}
		}
	}
}
