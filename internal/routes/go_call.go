package routes

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
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

// callFunction calls a function of the tree or a literal.
func (in *interpreter) callFunction(f *function, args []any, x *ast.CallExpr) any {
	sig := f.signature()
	results := sig.results()
	kind := ""
	if len(results) > 0 {
		kind = handlerType(results[0])
	}
	if kind == "handler" && !in.wantsRouter(sig) {
		if v := in.handlerAmong(args, &made{by: f, args: args}); v != nil {
			return v
		}
		if shape(sig) == "middleware" && len(args) == 1 {
			if e, ok := args[0].(*external); ok {
				return &wrapped{inner: e, mws: []any{f}}
			}
		}
	}
	if i := wraps(sig); i >= 0 && i < len(args) && isCallable(args[i]) {
		return in.behind(args[i], append([]any{&made{by: f, args: args}}, others(args, args[i])...))
	}
	if f.fn != nil && in.aside && !in.reaches[f.fn] && in.deep() {
		return in.guess(results)
	}
	out := in.enterBounded(f, args, x.Pos())
	got := first(out)
	lit, isLit := got.(*function)
	if isLit = isLit && lit.lit != nil; kind == "" && (!isLit || f.fn == nil || len(results) != 1) {
		return out
	}
	if r, _ := asRouter(got); r != nil {
		return out
	}
	if w, ok := got.(*wrapped); ok && kind == "handler" {
		return w
	}
	if fn, ok := got.(*function); ok && fn.fn != nil && kind == "handler" {
		return fn
	}
	if o, ok := got.(*object); ok && shapeOf(o) == "handler" {
		return o
	}
	if !isLit {
		lit = nil
	}
	return &made{by: f, args: args, lit: lit}
}

// deep reports whether calls that cannot reach a router are nested too deeply.
func (in *interpreter) deep() bool { return len(in.stack) > 24 }

// wantsRouter reports whether a parameter is of a router type.
func (in *interpreter) wantsRouter(sig signature) bool {
	params, _, _ := sig.parameters()
	return slices.ContainsFunc(params, func(t typeRef) bool { return in.routerType(t) != nil })
}

// enterBounded runs a call; one that cannot reach a router gets few steps.
func (in *interpreter) enterBounded(f *function, args []any, pos token.Pos) any {
	given := f.lit != nil || slices.ContainsFunc(args, func(a any) bool { r, _ := asRouter(a); return r != nil })
	if in.aside || given || f.fn == nil || in.reaches[f.fn] {
		return in.enter(f, args, pos)
	}
	limit := in.limit
	in.aside, in.limit = true, min(limit, in.steps+goAsideSteps)
	out := in.enter(f, args, pos)
	in.aside, in.limit = false, limit
	return out
}

// guess are results of which only the types are known.
func (in *interpreter) guess(results []typeRef) any {
	out := several{}
	for _, t := range results {
		if in.routerType(t) != nil {
			out = append(out, nil)
			continue
		}
		out = append(out, in.unknown(t))
	}
	return out
}

// enter runs the body of a function.
func (in *interpreter) enter(f *function, args []any, pos token.Pos) any {
	sig := f.signature()
	results := sig.results()
	var body *ast.BlockStmt
	same := 0
	if f.fn != nil {
		body = f.fn.decl.Body
		for _, fr := range in.stack {
			if fr.fn == f.fn {
				same++
			}
		}
		if in.phase < 3 || in.reaches[f.fn] {
			in.visited[f.fn] = true
		}
	} else {
		body = f.lit.Body
	}
	if body == nil || same > 1 || len(in.stack) >= goDepth || !in.spend() {
		return in.guess(results)
	}
	c := goContext{file: f.file, sc: f.scope.inner(), args: f.args}
	params, names, variadic := sig.parameters()
	for i, n := range names {
		c.sc.vars[n] = in.parameter(params[i], i, args, variadic && i == len(names)-1)
	}
	if f.fn != nil && f.fn.decl.Recv != nil {
		if recv := f.fn.decl.Recv.List[0]; len(recv.Names) > 0 {
			c.sc.vars[recv.Names[0].Name] = f.recv
		}
	}
	if sig.typ.Results != nil {
		for _, fd := range sig.typ.Results.List {
			for _, n := range fd.Names {
				c.sc.vars[n.Name] = in.zeroResult(sig.ref(fd.Type))
			}
		}
	}
	in.stack = append(in.stack, frame{fn: f.fn, params: names, pos: pos, ret: make(several, len(results))})
	in.block(body.List, c)
	ret := in.stack[len(in.stack)-1].ret
	in.stack = in.stack[:len(in.stack)-1]
	for i, t := range results {
		if ret[i] == nil && in.routerType(t) == nil {
			ret[i] = in.unknown(t)
		}
	}
	if len(ret) == 1 {
		return ret[0]
	}
	return ret
}

func (in *interpreter) zeroResult(t typeRef) any {
	if in.routerType(t) != nil {
		return nil
	}
	return in.zero(t)
}

// parameter is the value of one: the argument, or what its type says.
func (in *interpreter) parameter(t typeRef, i int, args []any, variadic bool) any {
	if variadic {
		l := &list{typ: t}
		if i < len(args) {
			l.items = slices.Clone(args[i:])
			return l
		}
		if len(args) > 0 {
			return l
		}
		return &typed{t}
	}
	if i < len(args) && args[i] != nil {
		return args[i]
	}
	return in.unknown(t)
}

// defaultMux is that of package net/http.
func (in *interpreter) defaultMux() any {
	for _, k := range in.kinds {
		if k.framework() == "net/http" {
			if in.fallback == nil {
				in.fallback = in.newRouter(k)
			}
			return in.fallback
		}
	}
	return nil
}

// callExternal calls a function of another package.
func (in *interpreter) callExternal(p, name string, x *ast.CallExpr, c goContext) any {
	for _, k := range in.kinds {
		if k.makes(p, name) {
			in.arguments(x, c)
			return in.newRouter(k)
		}
	}
	args := in.arguments(x, c)
	if s, ok := text(p, name, args); ok {
		return s
	}
	if p == "github.com/spf13/viper" && name == "GetString" && len(args) == 1 {
		if key, ok := args[0].(string); ok && in.src.viperDefaults()[strings.ToLower(key)] != "" {
			return in.src.viperDefaults()[strings.ToLower(key)]
		}
	}
	if p == "net/http" {
		switch name {
		case "Handle", "HandleFunc":
			if r, ok := in.defaultMux().(*router); ok {
				return in.callRouter(r, name, args, x)
			}
			return nil
		case "HandlerFunc":
			return first(several(args))
		case "StripPrefix":
			if len(args) == 2 {
				return in.stripped(args[0], args[1])
			}
			return nil
		case "ListenAndServe", "ListenAndServeTLS", "Serve":
			in.serve(args)
			return nil
		}
	}
	if p == "github.com/gin-gonic/gin" && (name == "WrapF" || name == "WrapH") {
		return first(several(args))
	}
	in.hooks(args, x)
	filled(args)
	if v := in.handlerAmong(args, &external{path: p, name: name, args: args, called: true}); v != nil {
		return v
	}
	return &external{path: p, name: name, args: args, called: true}
}

// serve notes what stands around a router that is served.
func (in *interpreter) serve(args []any) {
	for _, a := range args {
		if r, mws := asRouter(a); r != nil && len(mws) > 0 && r.bucket.outside == nil {
			r.bucket.outside = mws
		}
	}
}

// stripped is http.StripPrefix.
func (in *interpreter) stripped(prefix, h any) any {
	p, ok := prefix.(string)
	r, mws := asRouter(h)
	if r == nil {
		return h
	}
	out := *r
	out.strip, out.unknown = &p, r.unknown || !ok
	return in.behind(&out, mws)
}

// filled notes objects that another package is given: it may set their fields.
func filled(args []any) {
	for _, a := range args {
		if o, ok := a.(*object); ok {
			o.plain = false
		}
	}
}

// hooks runs literals that another package is given to call: once.Do, fx.Invoke.
func (in *interpreter) hooks(args []any, x *ast.CallExpr) {
	for _, a := range args {
		f, ok := a.(*function)
		if !ok || f.lit == nil || shapeOf(a) != "" || in.aside {
			continue
		}
		in.enter(f, nil, x.Pos())
	}
}

// callOn calls a method of a value of another package.
func (in *interpreter) callOn(v *external, name string, args []any, x *ast.CallExpr) any {
	in.hooks(args, x)
	filled(args)
	next := &external{path: v.path, name: v.name + "." + name, args: slices.Concat(v.args, args), called: true}
	chain := others(v.args, nil)
	if h := in.handlerAmong(args, next); h != nil {
		return in.behind(h, chain)
	}
	return next
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
