package routes

import (
	"go/ast"
	"go/token"
	"slices"
)

// callExpr does what a call does to routers, and gives its results.
func (in *interpreter) callExpr(x *ast.CallExpr, c goContext) any {
	if in.nesting > goNesting {
		return nil
	}
	in.nesting++
	defer func() { in.nesting-- }()
	if v, ok := in.builtin(x, c); ok {
		return v
	}
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
		if p, name, ok := c.file.qualified(sel, c.sc); ok && in.src.local(p) == nil {
			return in.callExternal(p, name, x, c)
		}
		if v, done := in.callMethod(sel, x, c); done {
			return v
		}
	}
	if t, ok := in.conversion(x.Fun, c); ok && len(x.Args) == 1 {
		return in.convert(t, in.eval(x.Args[0], c))
	}
	return in.apply(in.eval(x.Fun, c), in.arguments(x, c), x)
}

// arguments evaluates those of a call; a slice with ... is spread.
func (in *interpreter) arguments(x *ast.CallExpr, c goContext) []any {
	var out []any
	for i, a := range x.Args {
		v := in.evalAll(a, c)
		if s, ok := v.(several); ok {
			if len(x.Args) == 1 {
				return s
			}
			v = first(s)
		}
		if l, ok := v.(*list); ok && x.Ellipsis.IsValid() && i == len(x.Args)-1 {
			return append(out, l.items...)
		}
		out = append(out, v)
	}
	return out
}

func (in *interpreter) builtin(x *ast.CallExpr, c goContext) (any, bool) {
	id, ok := x.Fun.(*ast.Ident)
	if !ok || c.sc.has(id.Name) || c.file.pkg.funcs[id.Name] != nil || len(x.Args) == 0 {
		return nil, false
	}
	switch id.Name {
	case "append":
		l := &list{}
		switch v := in.eval(x.Args[0], c).(type) {
		case *list:
			l = &list{typ: v.typ, items: slices.Clone(v.items)}
		case *typed:
			l.typ = v.typ
		}
		rest := in.arguments(&ast.CallExpr{Args: x.Args[1:], Ellipsis: x.Ellipsis}, c)
		if len(l.items)+len(rest) <= goLoop {
			l.items = append(l.items, rest...)
		}
		return l, true
	case "new":
		return in.zero(c.ref(x.Args[0])), true
	case "make":
		return &list{typ: c.ref(x.Args[0])}, true
	case "string":
		return in.eval(x.Args[0], c), true
	case "len", "cap", "panic", "copy", "delete", "close", "print", "println", "recover":
		for _, a := range x.Args {
			in.eval(a, c)
		}
		return nil, true
	}
	return nil, false
}

// zero is a new value of a type.
func (in *interpreter) zero(t typeRef) any {
	if in.routerType(t) != nil {
		return in.unknown(t)
	}
	f := t.final()
	switch f.expr.(type) {
	case *ast.StructType:
		return &object{typ: t, fields: map[string]any{}}
	case *ast.ArrayType, *ast.MapType:
		return &list{typ: t}
	}
	if !t.known() {
		return nil
	}
	return &typed{t}
}

// conversion reports whether what is called is a type.
func (in *interpreter) conversion(e ast.Expr, c goContext) (typeRef, bool) {
	for range 8 {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			break
		}
		e = p.X
	}
	switch x := e.(type) {
	case *ast.Ident:
		if c.sc.has(x.Name) || c.file.pkg.funcs[x.Name] != nil {
			return typeRef{}, false
		}
		t := c.ref(x)
		return t, t.name().typ != nil
	case *ast.SelectorExpr:
		p, name, ok := c.file.qualified(x, c.sc)
		if !ok {
			return typeRef{}, false
		}
		pkg := in.src.local(p)
		return c.ref(x), pkg != nil && pkg.types[name] != nil
	case *ast.StarExpr, *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.InterfaceType, *ast.StructType:
		return c.ref(e), true
	}
	return typeRef{}, false
}

// convert is a value seen as of another type.
func (in *interpreter) convert(t typeRef, v any) any {
	if l, ok := v.(*list); ok {
		return &list{typ: t, keys: l.keys, items: l.items}
	}
	if v == nil {
		return in.unknown(t)
	}
	return v
}

// callMethod calls x.m(…) where x is a value. done is false where m is a field with a function.
func (in *interpreter) callMethod(sel *ast.SelectorExpr, x *ast.CallExpr, c goContext) (v any, done bool) {
	if _, _, ok := c.file.qualified(sel, c.sc); ok {
		return nil, false
	}
	name := sel.Sel.Name
	recv := in.eval(sel.X, c)
	if r, mws := asRouter(recv); r != nil {
		if len(mws) > 0 {
			r = &router{kind: r.kind, bucket: r.bucket, prefix: r.prefix, unknown: r.unknown, mws: slices.Concat(mws, r.mws)}
		}
		return in.callRouter(r, name, in.arguments(x, c), x), true
	}
	switch recv := recv.(type) {
	case *object:
		m := in.member2(recv, name)
		if m == nil {
			if r := in.embedded(recv, 0); r != nil {
				return in.callRouter(r, name, in.arguments(x, c), x), true
			}
		}
		return in.apply(m, in.arguments(x, c), x), true
	case *typed:
		return in.callTyped(recv, name, in.arguments(x, c), x), true
	case *external:
		return in.callOn(recv, name, in.arguments(x, c), x), true
	case *function, *made, *wrapped:
		args := in.arguments(x, c)
		if name == "ServeHTTP" {
			return nil, true
		}
		return in.around(recv, args), true
	case *list:
		return in.apply(in.choose(recv, name), in.arguments(x, c), x), true
	}
	args := in.arguments(x, c)
	if slices.ContainsFunc(args, func(a any) bool { r, _ := asRouter(a); return r != nil }) {
		// Nothing is known of the receiver, but a router is given away: to the one
		// method of this name that takes one.
		var takers []*goFunc
		for _, fn := range in.src.methods[name] {
			if in.takesRouter(fn) {
				takers = append(takers, fn)
			}
		}
		if len(takers) == 1 {
			f := &function{fn: takers[0], file: takers[0].file}
			f.recv = in.unknown(typeRef{expr: takers[0].decl.Recv.List[0].Type, file: takers[0].file})
			return in.apply(f, args, x), true
		}
	}
	filled(args)
	return in.handlerAmong(args, nil), true
}

// callTyped calls a method of a value whose type alone is known. A router that is given to an
// interface goes to all its implementations.
func (in *interpreter) callTyped(v *typed, name string, args []any, x *ast.CallExpr) any {
	if fn, _ := v.typ.method(name, 0); fn != nil {
		return in.apply(&function{fn: fn, recv: v, file: fn.file}, args, x)
	}
	all := in.implementers(v.typ, name)
	given := slices.ContainsFunc(args, func(a any) bool { r, _ := asRouter(a); return r != nil })
	if len(all) == 1 || given && len(all) <= 64 {
		var out any
		for _, f := range all {
			out = in.apply(f, args, x)
		}
		return out
	}
	if len(all) > 1 {
		if r := all[0].signature().results(); len(r) > 0 {
			return in.unknown(r[0])
		}
		return nil
	}
	if f, ok := v.typ.field(name, 0); ok {
		if sig, ok := f.asFunction(); ok && len(sig.results()) > 0 {
			return in.unknown(sig.results()[0])
		}
	}
	filled(args)
	return in.handlerAmong(args, v)
}

// callRouter calls a method of a router.
func (in *interpreter) callRouter(r *router, name string, args []any, x *ast.CallExpr) any {
	return r.kind.call(&routerCall{in: in, r: r, method: name, args: args, exprs: x.Args, pos: x.Pos()})
}

// apply calls a value.
func (in *interpreter) apply(f any, args []any, x *ast.CallExpr) any {
	switch f := f.(type) {
	case *function:
		return in.callFunction(f, args, x)
	case *made: // a middleware that a function made, or a function of another kind
		if f.lit != nil && shapeOf(f) == "" {
			return in.callFunction(f.lit, args, x)
		}
		return in.handlerAmong(args, f)
	case *wrapped:
		if shapeOf(f) == "handler" { // it is called, as from another handler
			return nil
		}
		return in.handlerAmong(args, f)
	case *typed:
		if sig, ok := f.typ.asFunction(); ok {
			if handlerType(f.typ) == "middleware" {
				return in.handlerAmong(args, f)
			}
			if r := sig.results(); len(r) > 0 {
				return in.unknown(r[0])
			}
		}
	case *external:
		return in.handlerAmong(args, f)
	}
	return nil
}

// handlerAmong is the handler or router among arguments, behind what is called with it; nil
// where there is none.
func (in *interpreter) handlerAmong(args []any, by any) any {
	var mws []any
	if by != nil {
		mws = []any{by}
	}
	var loose any
	for _, a := range args {
		switch shapeOf(a) {
		case "router":
			return &wrapped{inner: a, mws: mws}
		case "handler":
			return in.behind(a, append(mws, others(args, a)...))
		}
		if loose == nil && isFunction(a) {
			loose = a
		}
	}
	if loose != nil && by != nil {
		return in.behind(loose, append(mws, others(args, loose)...))
	}
	return nil
}

func isCallable(v any) bool {
	switch v.(type) {
	case *function, *made, *wrapped:
		return true
	}
	return false
}

// isFunction reports whether a value is a function that is no handler by its signature: one of a
// type of the tree's own.
func isFunction(v any) bool {
	switch v := v.(type) {
	case *function:
		return shapeOf(v) == ""
	case *made:
		return v.lit != nil && shapeOf(v) == ""
	}
	return false
}

// others are the middlewares among arguments.
func others(args []any, but any) []any {
	var out []any
	for _, a := range args {
		if a == but {
			continue
		}
		if s := shapeOf(a); s == "middleware" {
			out = append(out, a)
		}
	}
	return out
}

// around is a chain of middlewares in front of a handler.
func (in *interpreter) around(recv any, args []any) any {
	return in.handlerAmong(args, recv)
}

func (in *interpreter) behind(v any, mws []any) any {
	if len(mws) == 0 {
		return v
	}
	if w, ok := v.(*wrapped); ok {
		return &wrapped{inner: w.inner, mws: slices.Concat(mws, w.mws)}
	}
	return &wrapped{inner: v, mws: mws}
}

// applyRouter calls a function with a router: that of Route or Group.
func (in *interpreter) applyRouter(f any, r *router, pos token.Pos) {
	switch f := f.(type) {
	case *function:
		in.enter(f, []any{r}, pos)
	case *made:
		// func routes() func(chi.Router) { return func(r chi.Router) {…} }
		if f.lit != nil {
			in.enter(f.lit, []any{r}, pos)
		}
	}
}
