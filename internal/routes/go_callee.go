package routes

import (
	"go/ast"
	"slices"
)

// enterReading is the inside of a function that is called, its parameters bound.
func (h *handlerReader) enterReading(fn *goFunc, x *ast.CallExpr, p goContext) goContext {
	_, recv, args := h.callee(x, p)
	inner := goContext{file: fn.file, sc: (*scope)(nil).inner(), args: args}
	sig := fn.signature()
	sig.args = args
	params, names, variadic := sig.parameters()
	for i, n := range names {
		f := &fact{typ: params[i]}
		if i < len(x.Args) && !(variadic && i == len(names)-1) {
			given := h.fact(x.Args[i], p)
			f = &fact{typ: params[i], value: given.value, field: given.field, is: given.is, fn: given.fn}
			if given.typ.known() && open(params[i]) {
				f.typ = given.typ
			}
		}
		inner.set(n, f)
	}
	if recv != nil {
		h.receiver(fn, recv, inner)
	}
	return inner
}

// open reports whether a type says nothing of the value: an interface or a type parameter.
func open(t typeRef) bool {
	f := t.final()
	if _, ok := f.expr.(*ast.InterfaceType); ok {
		return true
	}
	n := f.name()
	if n.path == "" && n.typ == nil && n.name != "" {
		return n.name == "any" || ast.IsExported(n.name) // a type parameter
	}
	return n.external("github.com/go-chi/render", "Binder")
}

// returned is the type of what a function returns for an interface, where its returns are
// plain.
func (in *interpreter) returned(fn *goFunc, i int) typeRef {
	var out typeRef
	if fn.decl.Body == nil {
		return out
	}
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		if !ok || i >= len(r.Results) {
			return true
		}
		e := r.Results[i]
		if u, ok := e.(*ast.UnaryExpr); ok {
			e = u.X
		}
		if lit, ok := e.(*ast.CompositeLit); ok && lit.Type != nil {
			out = typeRef{expr: lit.Type, file: fn.file}
		}
		return true
	})
	return out
}

// callee is the function of the tree that a call runs, with its receiver and the types of an
// instantiation.
func (h *handlerReader) callee(x *ast.CallExpr, p goContext) (fn *goFunc, recv *fact, args map[string]typeRef) {
	fun, instance := instantiated(x.Fun)
	if f, ok := fun.(*ast.ParenExpr); ok && instance == nil {
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		if v, ok := p.sc.get(f.Name); ok {
			if fa, ok := v.(*fact); ok && fa.fn != nil && fa.fn.fn != nil {
				return fa.fn.fn, &fact{value: fa.fn.recv}, fa.fn.args
			}
			if fv, ok := v.(*function); ok && fv.fn != nil {
				return fv.fn, &fact{value: fv.recv}, fv.args
			}
			return nil, nil, nil
		}
		fn = p.file.pkg.funcs[f.Name]
	case *ast.SelectorExpr:
		if pkg, name, ok := p.file.qualified(f, p.sc); ok {
			if local := h.in.src.local(pkg); local != nil {
				fn = local.funcs[name]
			}
			break
		}
		return h.methodOf(h.fact(f.X, p), f.Sel.Name)
	}
	if fn == nil {
		return nil, nil, nil
	}
	if tp := fn.decl.Type.TypeParams; tp != nil {
		args = bindTypes(tp, instance, p.ref(nil))
		h.infer(fn, x, args, p)
	}
	return fn, nil, args
}

// infer gives type parameters the types of arguments.
func (h *handlerReader) infer(fn *goFunc, x *ast.CallExpr, args map[string]typeRef, p goContext) {
	params, _, _ := fn.signature().parameters()
	for i, t := range params {
		if i >= len(x.Args) {
			return
		}
		id, ok := t.bare().expr.(*ast.Ident)
		if !ok || !isTypeParameter(fn, id.Name) || args[id.Name].known() {
			continue
		}
		if f := h.fact(x.Args[i], p); f.typ.known() {
			args[id.Name] = f.typ.bare()
		}
	}
}

func isTypeParameter(fn *goFunc, name string) bool {
	for _, f := range fn.decl.Type.TypeParams.List {
		if slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			return true
		}
	}
	return false
}

// methodOf is a method of a value, through an interface where one type of the tree has it.
func (h *handlerReader) methodOf(recv *fact, name string) (*goFunc, *fact, map[string]typeRef) {
	if o, ok := recv.value.(*object); ok {
		if f, ok := h.in.member2(o, name).(*function); ok && f.fn != nil {
			return f.fn, &fact{value: f.recv, typ: typeOfValue(f.recv)}, f.args
		}
	}
	if fn, via := recv.typ.method(name, 0); fn != nil {
		r := *recv
		for _, v := range via {
			r.typ, _ = r.typ.field(v, 0)
			r.value = nil
		}
		return fn, &r, r.typ.name().args
	}
	if all := h.in.implementers(recv.typ, name); len(all) == 1 {
		return all[0].fn, &fact{value: all[0].recv, typ: typeOfValue(all[0].recv)}, nil
	}
	return nil, nil, nil
}

func typeOfValue(v any) typeRef {
	switch v := v.(type) {
	case *object:
		return v.typ
	case *typed:
		return v.typ
	}
	return typeRef{}
}

// unify gives type parameters the types that a function has in their places.
func unify(params *ast.FieldList, given signature, args map[string]typeRef) {
	var want []ast.Expr
	for _, f := range params.List {
		for range max(1, len(f.Names)) {
			want = append(want, f.Type)
		}
	}
	have, _, _ := given.parameters()
	for i, w := range want {
		if s, ok := w.(*ast.StarExpr); ok {
			w = s.X
		}
		if id, ok := w.(*ast.Ident); ok && i < len(have) && ast.IsExported(id.Name) {
			if _, bound := args[id.Name]; !bound {
				args[id.Name] = have[i]
			}
		}
	}
}
