package routes

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
)

// Bounds of reading one handler.
const (
	goHandlerSteps = 40000
	goHandlerDepth = 10
)

// handlerReader reads what one handler asks of a request, in the functions that it hands
// the request on to as well.
type handlerReader struct {
	in     *interpreter
	route  *Route
	steps  int
	depth  int
	stack  []*goFunc
	passes int // small functions around, whose result is looked for
	facts  map[factKey]*fact
	form   []Field
	bound  bool   // a body was found
	apart  bool   // the path of the request is taken apart
	typ    string // name of what it is bound to
	target typeRef
}

// readHandler fills body, query and parameters of a route from its handler and from what stands
// in front of it.
func (in *interpreter) readHandler(r *Route, f *function, mws []any) {
	h := &handlerReader{in: in, route: r}
	h.all(f, mws)
}

// readBelow reads a handler of all paths below one. Where it takes the path of the request
// apart, the route has a parameter.
func (in *interpreter) readBelow(r *Route, f *function, mws []any) {
	r.Params = []Field{{Name: "id", Required: true}}
	h := &handlerReader{in: in, route: r}
	h.all(f, mws)
	if h.apart {
		r.Path += "{id}"
	} else {
		r.Params = nil
	}
}

func (h *handlerReader) all(f *function, mws []any) {
	r := h.route
	if f != nil {
		h.function(f, nil)
	}
	for _, m := range mws {
		switch m := m.(type) {
		case *made:
			h.function(m.by, m.args)
		case *function:
			h.function(m, nil)
		}
	}
	if !h.bound && len(h.form) > 0 {
		r.Body = &Body{Encoding: "form", Fields: h.form}
	}
	if r.Body != nil {
		r.Body.Type = h.typ
	}
}

// function reads a function value whose arguments are values of the interpreter.
func (h *handlerReader) function(f *function, args []any) {
	p := goContext{file: f.file, sc: f.scope.inner(), args: f.args}
	if f.fn != nil {
		if slices.Contains(h.stack, f.fn) {
			return
		}
		h.stack = append(h.stack, f.fn)
		defer func() { h.stack = h.stack[:len(h.stack)-1] }()
		if p.args == nil && f.fn.decl.Type.TypeParams != nil {
			p.args = map[string]typeRef{}
		}
	}
	h.block(h.enter(f, args, p), p)
}

// enter sets the parameters and the receiver of a function value, and gives its body. Of
// parameters without an argument only the types are known.
func (h *handlerReader) enter(f *function, args []any, p goContext) *ast.BlockStmt {
	params, names, _ := f.signature().parameters()
	for i, n := range names {
		v := &fact{typ: params[i]}
		if i < len(args) {
			v = h.valueFact(args[i], params[i], p)
		}
		p.set(n, v)
	}
	if f.fn == nil {
		return f.lit.Body
	}
	h.receiver(f.fn, &fact{value: f.recv}, p)
	return f.fn.decl.Body
}

// receiver sets the name of a method's receiver.
func (h *handlerReader) receiver(fn *goFunc, recv *fact, p goContext) {
	if fn.decl.Recv == nil || len(fn.decl.Recv.List[0].Names) == 0 {
		return
	}
	f := *recv
	if !f.typ.known() {
		f.typ = typeRef{expr: fn.decl.Recv.List[0].Type, file: fn.file}
	}
	p.set(fn.decl.Recv.List[0].Names[0].Name, &f)
}

func (h *handlerReader) block(body *ast.BlockStmt, p goContext) {
	if body != nil {
		h.walk(body, p)
	}
}

func (h *handlerReader) walk(n ast.Node, p goContext) {
	ast.Inspect(n, func(n ast.Node) bool { return h.visit(n, p) })
}

func (h *handlerReader) visit(n ast.Node, p goContext) bool {
	if n == nil {
		return false
	}
	if h.steps++; h.steps > goHandlerSteps {
		return false
	}
	switch x := n.(type) {
	case *ast.FuncLit:
		p.setParameters(signature{typ: x.Type, file: p.file, sc: p.sc, args: p.args})
	case *ast.AssignStmt:
		h.assign(x, p)
	case *ast.DeclStmt:
		h.declare(x, p)
	case *ast.RangeStmt:
		h.ranges(x, p)
	case *ast.SwitchStmt:
		if h.isMethod(x.Tag, p) {
			for _, s := range x.Body.List {
				if c, ok := s.(*ast.CaseClause); ok && h.caseOf(c, p) {
					for _, b := range c.Body {
						h.walk(b, p)
					}
				}
			}
			return false
		}
	case *ast.IfStmt:
		if m, equal := h.methodTest(x.Cond, p); m != "" && equal && m != h.route.Method {
			if x.Else != nil {
				h.walk(x.Else, p)
			}
			return false
		}
	case *ast.TypeAssertExpr:
		h.member(x, p)
	case *ast.IndexExpr:
		h.fact(x, p)
		h.mapMember(x, "", p)
	case *ast.BinaryExpr:
		h.emptyCheck(x, p)
	case *ast.CallExpr:
		h.call(x, p)
	}
	return true
}

func (h *handlerReader) assign(x *ast.AssignStmt, p goContext) {
	for i, l := range x.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		var f *fact
		switch {
		case len(x.Rhs) == len(x.Lhs):
			f = h.fact(x.Rhs[i], p)
		case len(x.Rhs) == 1:
			f = h.result(x.Rhs[0], i, p)
		}
		if f == nil || !f.typ.known() && f.is == "" && f.field == nil && f.fn == nil && x.Tok != token.DEFINE {
			continue
		}
		p.set(id.Name, f)
	}
}

func (h *handlerReader) declare(x *ast.DeclStmt, p goContext) {
	g, ok := x.Decl.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			p.sc.declareType(p.file, spec)
		case *ast.ValueSpec:
			for i, n := range spec.Names {
				f := &fact{}
				if i < len(spec.Values) {
					f = h.fact(spec.Values[i], p)
				}
				if spec.Type != nil {
					f = &fact{typ: p.ref(spec.Type), is: f.is, field: f.field}
				}
				p.set(n.Name, f)
			}
		}
	}
}

func (h *handlerReader) ranges(x *ast.RangeStmt, p goContext) {
	id, ok := x.Value.(*ast.Ident)
	if !ok {
		return
	}
	t := h.fact(x.X, p).typ.final()
	switch tt := t.expr.(type) {
	case *ast.ArrayType:
		p.set(id.Name, &fact{typ: t.with(tt.Elt)})
	case *ast.MapType:
		p.set(id.Name, &fact{typ: t.with(tt.Value)})
	default:
		p.set(id.Name, &fact{})
	}
}

// query is the parameter of the query with a name.
func (h *handlerReader) query(name string) *Field {
	for i := range h.route.Query {
		if h.route.Query[i].Name == name {
			return &h.route.Query[i]
		}
	}
	if len(h.route.Query) >= 60 {
		return &Field{}
	}
	// The fields before stay where they are: facts point to them.
	if h.route.Query == nil {
		h.route.Query = make([]Field, 0, 60)
	}
	h.route.Query = append(h.route.Query, Field{Name: name})
	return &h.route.Query[len(h.route.Query)-1]
}

func (h *handlerReader) formField(name string) *Field {
	if h.route.Method == "GET" || h.route.Method == "DELETE" || h.route.Method == "HEAD" {
		return h.query(name)
	}
	for i := range h.form {
		if h.form[i].Name == name {
			return &h.form[i]
		}
	}
	if len(h.form) >= 60 {
		return &Field{}
	}
	if h.form == nil {
		h.form = make([]Field, 0, 60)
	}
	h.form = append(h.form, Field{Name: name, Type: "string"})
	return &h.form[len(h.form)-1]
}

// below is what is left of the path of the request.
func (h *handlerReader) below() *fact {
	h.apart = true
	return &fact{field: h.param("id")}
}

func (h *handlerReader) param(name string) *Field {
	for i := range h.route.Params {
		if h.route.Params[i].Name == name {
			return &h.route.Params[i]
		}
	}
	return &Field{}
}

// isMethod reports whether an expression is the method of the request.
func (h *handlerReader) isMethod(e ast.Expr, p goContext) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Method" && isRequest(h.fact(sel.X, p).typ, "")
}

// methodTest is the method of r.Method == M or r.Method != M.
func (h *handlerReader) methodTest(e ast.Expr, p goContext) (method string, equal bool) {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ || !h.isMethod(b.X, p) {
		return "", false
	}
	return h.text(b.Y, p), b.Op == token.EQL
}

func (h *handlerReader) caseOf(c *ast.CaseClause, p goContext) bool {
	return slices.ContainsFunc(c.List, func(e ast.Expr) bool { return h.text(e, p) == h.route.Method })
}

// pathBase is the last segment of an import path without its version.
func pathBase(p string) string { return path.Base(versioned(p)) }
