package routes

import (
	"go/ast"
	"go/token"
	"slices"
)

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
