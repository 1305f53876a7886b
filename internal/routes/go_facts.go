package routes

import (
	"go/ast"
	"strings"
)

// fact is what is known of an expression in a handler.
type fact struct {
	typ   typeRef
	value any    // of the interpreter, where it has one
	field *Field // the parameter whose value it is
	// is says what it has of the request: one of the constants, or "".
	is string
	fn *function
}

// factKey is an expression in one call of its function. What is found of it once holds there, and
// a chain of calls is not read again for each of its links.
type factKey struct {
	e  ast.Expr
	sc *scope
}

// What an expression can have of a request.
const (
	isBody    = "body"    // r.Body
	isBytes   = "bytes"   // what was read of it
	isDecoder = "decoder" // json.NewDecoder(r.Body)
	isQuery   = "query"   // url.Values of the query
	isForm    = "form"    // url.Values of the body, or of both
	isURL     = "url"     // r.URL
	isPath    = "path"    // r.URL.Path
)

// setParameters sets the parameters of a function of which only the types are known.
func (c goContext) setParameters(sig signature) {
	params, names, _ := sig.parameters()
	for i, n := range names {
		c.set(n, &fact{typ: params[i]})
	}
}

func (c goContext) set(name string, f *fact) {
	if name != "_" && f != nil {
		c.sc.vars[name] = f
	}
}

// valueFact is a fact of a value of the interpreter. A function that is given for a generic
// parameter tells the types in it.
func (h *handlerReader) valueFact(v any, declared typeRef, p goContext) *fact {
	f := &fact{typ: declared, value: v}
	switch v := v.(type) {
	case *object:
		f.typ = v.typ
	case *typed:
		f.typ = v.typ
	case *list:
		if v.typ.known() {
			f.typ = v.typ
		}
	case *function:
		f.fn = v
		if sig, ok := declared.asFunction(); ok && p.args != nil {
			given := v.signature()
			unify(sig.typ.Params, given, p.args)
		}
	}
	return f
}

// result is one of several results of a call, an assertion or an index.
func (h *handlerReader) result(e ast.Expr, i int, p goContext) *fact {
	if i == 0 {
		return h.fact(e, p)
	}
	if c, ok := e.(*ast.CallExpr); ok {
		if fn, _, args := h.callee(c, p); fn != nil {
			sig := fn.signature()
			sig.args = args
			if r := sig.results(); i < len(r) {
				return &fact{typ: r[i]}
			}
		}
	}
	return &fact{}
}

// fact is what is known of an expression. It is never nil.
func (h *handlerReader) fact(e ast.Expr, p goContext) *fact {
	switch e.(type) {
	case *ast.Ident, *ast.BasicLit, nil:
		return h.findFact(e, p)
	}
	k := factKey{e, p.sc}
	if f := h.facts[k]; f != nil {
		return f
	}
	if h.facts == nil {
		h.facts = map[factKey]*fact{}
	}
	h.facts[k] = &fact{}
	f := h.findFact(e, p)
	h.facts[k] = f
	return f
}

func (h *handlerReader) findFact(e ast.Expr, p goContext) *fact {
	h.depth++
	defer func() { h.depth-- }()
	if h.depth > 60 {
		return &fact{}
	}
	switch x := e.(type) {
	case *ast.Ident:
		if v, ok := p.sc.get(x.Name); ok {
			if f, ok := v.(*fact); ok {
				return f
			}
			return h.valueFact(v, typeRef{}, p)
		}
		if v := p.file.pkg.values[x.Name]; v != nil {
			return h.variable(v)
		}
	case *ast.BasicLit:
		return &fact{value: literal(x)}
	case *ast.ParenExpr:
		return h.fact(x.X, p)
	case *ast.UnaryExpr:
		return h.fact(x.X, p)
	case *ast.StarExpr:
		return h.fact(x.X, p)
	case *ast.CompositeLit:
		if x.Type != nil {
			return &fact{typ: p.ref(x.Type)}
		}
	case *ast.TypeAssertExpr:
		if x.Type != nil {
			return &fact{typ: p.ref(x.Type)}
		}
	case *ast.SelectorExpr:
		return h.selector(x, p)
	case *ast.IndexExpr:
		return h.indexed(x, p)
	case *ast.SliceExpr:
		if f := h.fact(x.X, p); f.is != isPath {
			return f
		}
		return h.below()
	case *ast.CallExpr:
		return h.called(x, p)
	case *ast.FuncLit:
		return &fact{typ: p.ref(x.Type)}
	}
	return &fact{}
}

func (h *handlerReader) variable(v *goVar) *fact {
	at := goContext{file: v.file, sc: (*scope)(nil).inner()}
	if v.typ != nil {
		f := &fact{typ: at.ref(v.typ)}
		if lit, ok := v.value.(*ast.BasicLit); ok {
			f.value = literal(lit)
		}
		return f
	}
	if v.value == nil || v.index > 0 {
		return &fact{}
	}
	return h.fact(v.value, at)
}

// text is a constant string, or "".
func (h *handlerReader) text(e ast.Expr, p goContext) string {
	if e == nil {
		return ""
	}
	if v, ok := h.fact(e, p).value.(string); ok {
		return v
	}
	if pkg, name, ok := p.file.qualified(e, p.sc); ok {
		if pkg == "net/http" {
			if m, ok := strings.CutPrefix(name, "Method"); ok {
				return strings.ToUpper(m)
			}
		}
	}
	return ""
}

func (h *handlerReader) selector(x *ast.SelectorExpr, p goContext) *fact {
	if pkg, name, ok := p.file.qualified(x, p.sc); ok {
		if local := h.in.src.local(pkg); local != nil && local.values[name] != nil {
			return h.variable(local.values[name])
		}
		return &fact{}
	}
	base := h.fact(x.X, p)
	n := base.typ.name()
	switch {
	case isRequest(base.typ, ""):
		switch x.Sel.Name {
		case "Body":
			return &fact{is: isBody}
		case "Form", "PostForm":
			return &fact{is: isForm}
		case "URL":
			return &fact{is: isURL}
		}
	case base.is == isURL && x.Sel.Name == "Path":
		return &fact{is: isPath}
	case (isGinContext(n) || h.embedsContext(base.typ, "")) && x.Sel.Name == "Request":
		return &fact{typ: requestType(base.typ)}
	}
	if o, ok := base.value.(*object); ok {
		if v := h.in.member2(o, x.Sel.Name); v != nil {
			f := h.valueFact(v, typeRef{}, p)
			if !f.typ.known() {
				f.typ, _ = o.typ.field(x.Sel.Name, 0)
			}
			return f
		}
	}
	t, _ := base.typ.field(x.Sel.Name, 0)
	return &fact{typ: t}
}

func isGinContext(n named) bool { return n.external(ginPath, "Context") }

// requestType is *http.Request in a file of its own.
func requestType(at typeRef) typeRef {
	f := &goFile{pkg: at.file.pkg, src: at.file.src, imports: map[string]string{"http": "net/http"}}
	return typeRef{expr: &ast.SelectorExpr{X: ast.NewIdent("http"), Sel: ast.NewIdent("Request")}, file: f}
}

func (h *handlerReader) indexed(x *ast.IndexExpr, p goContext) *fact {
	base := h.fact(x.X, p)
	if name := h.text(x.Index, p); name != "" {
		switch base.is {
		case isQuery:
			return &fact{field: h.query(name)}
		case isForm:
			return &fact{field: h.formField(name)}
		}
	}
	if base.field != nil {
		return &fact{field: base.field}
	}
	if base.is == isPath {
		return h.below()
	}
	t := base.typ.final()
	switch tt := t.expr.(type) {
	case *ast.ArrayType:
		return &fact{typ: t.with(tt.Elt)}
	case *ast.MapType:
		return &fact{typ: t.with(tt.Value)}
	}
	return &fact{}
}
