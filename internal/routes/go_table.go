package routes

import (
	"go/ast"
	"slices"
	"strings"
)

// goKinds are the frameworks that the interpreter knows. All of them are followed at once: a
// router of one may be mounted in one of another.
var goKinds = []goRouting{ginRouting{}, chiRouting{}, muxRouting{}}

// readGo gives the routes that one framework declares in a tree.
func readGo(s *source, kind goRouting) ([]Route, []string) {
	program := s.goProgram()
	in := program.in
	in.steps = program.steps // each framework has the same bound
	var out []Route
	for _, f := range program.all {
		if f.kind.framework() != kind.framework() {
			continue
		}
		out = append(out, in.route(f)...)
	}
	var unread []string
	for u, k := range in.unread {
		if k == kind {
			unread = append(unread, u)
		}
	}
	slices.Sort(unread)
	return Sort(out), unread
}

// flat is a declaration with the prefixes and middlewares of all routers around it.
type flat struct {
	declared
	kind  goRouting
	phase int
}

// flatten gives every declaration its whole path. A router that is seen alone as well as in
// another counts where it is mounted.
func (in *interpreter) flatten() []flat {
	mounted := map[*bucket]bool{}
	for _, b := range in.buckets {
		for _, m := range b.mounts {
			if m.sub.bucket != b {
				mounted[m.sub.bucket] = true
			}
		}
	}
	var out []flat
	for _, b := range in.buckets {
		if !mounted[b] {
			out = in.below(out, b, "", b.outside, b.phase, []*bucket{b})
		}
	}
	return aloneToo(out)
}

func (in *interpreter) below(out []flat, b *bucket, prefix string, mws []any, phase int, path []*bucket) []flat {
	for _, d := range b.routes {
		if len(out) >= goRoutes {
			return out
		}
		d.path = b.kind.join(prefix, d.path)
		d.mws = slices.Concat(mws, d.mws)
		out = append(out, flat{declared: d, kind: b.kind, phase: phase})
	}
	for _, m := range b.mounts {
		if slices.Contains(path, m.sub.bucket) || len(path) > 12 {
			continue
		}
		p := m.prefix
		if prefix != "" {
			p = b.kind.join(prefix, m.prefix)
		}
		out = in.below(out, m.sub.bucket, p, slices.Concat(mws, m.mws), phase, append(path[:len(path):len(path)], m.sub.bucket))
	}
	return out
}

// aloneToo leaves out what was read a second time without the prefix that it gets elsewhere.
func aloneToo(all []flat) []flat {
	whole := map[string][]flat{}
	for _, f := range all {
		k := f.method + " " + f.at
		whole[k] = append(whole[k], f)
	}
	return slices.DeleteFunc(all, func(f flat) bool {
		return f.phase > 1 && slices.ContainsFunc(whole[f.method+" "+f.at], func(g flat) bool {
			return g.path != f.path && len(g.path) > len(f.path) && strings.HasSuffix(g.path, strings.TrimSuffix(f.path, "/")) ||
				g.phase < f.phase
		})
	})
}

// handlerOf is the function that answers, with what stands in front of it.
func (in *interpreter) handlerOf(v any) (f *function, called bool, mws []any) {
	for range 16 {
		switch x := v.(type) {
		case *function:
			if inner := in.relayed(x); inner != nil {
				v = inner
				continue
			}
			if o, ok := x.recv.(*object); ok && x.fn != nil && x.fn.decl.Name.Name == "ServeHTTP" && o.handler() != nil {
				v, mws = o.handler(), append(mws, x)
				continue
			}
			if inner := in.implemented(x); inner != nil {
				v, mws = inner, append(mws, x)
				continue
			}
			return x, false, mws
		case *made:
			return x.by, true, mws
		case *wrapped:
			v, mws = x.inner, append(mws, x.mws...)
		case *object:
			fn, _ := x.typ.method("ServeHTTP", 0)
			if fn == nil {
				return nil, false, mws
			}
			if inner := x.handler(); inner != nil { // a middleware that is a type
				v, mws = inner, append(mws, &function{fn: fn, recv: x, file: fn.file})
				continue
			}
			return &function{fn: fn, recv: x, file: fn.file}, false, mws
		default:
			return nil, false, mws
		}
	}
	return nil, false, mws
}

// handler is the one field of an object that holds a handler, or nil.
func (o *object) handler() any {
	var out any
	for _, v := range o.fields {
		if shapeOf(v) == "handler" {
			if _, loose := v.(*typed); loose || out != nil {
				return nil
			}
			out = v
		}
	}
	return out
}

// relayed is the function that a literal does nothing but call with what it is given, or that
// the function around it was given as handler; nil where it does more.
func (in *interpreter) relayed(f *function) any {
	if f.lit == nil {
		return nil
	}
	given := map[string]bool{}
	for _, fd := range f.lit.Type.Params.List {
		for _, n := range fd.Names {
			given[n.Name] = true
		}
	}
	if len(f.lit.Body.List) == 1 {
		var e ast.Expr
		switch s := f.lit.Body.List[0].(type) {
		case *ast.ExprStmt:
			e = s.X
		case *ast.ReturnStmt:
			if len(s.Results) == 1 {
				e = s.Results[0]
			}
		}
		if c, ok := e.(*ast.CallExpr); ok && len(c.Args) > 0 {
			all := !slices.ContainsFunc(c.Args, func(a ast.Expr) bool { id, ok := a.(*ast.Ident); return !ok || !given[id.Name] })
			if v, ok := in.eval(c.Fun, goContext{file: f.file, sc: f.scope}).(*function); ok && all && v.fn != nil {
				return v
			}
		}
	}
	var out any
	ast.Inspect(f.lit.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || out != nil {
			return out == nil
		}
		if id, ok := c.Fun.(*ast.Ident); ok && !given[id.Name] {
			if v, ok := f.scope.get(id.Name); ok {
				if fn, ok := v.(*function); ok && (fn.fn != nil || fn.lit != f.lit) {
					out = fn
				} else if isCallable(v) {
					out = v
				}
			}
		}
		return out == nil
	})
	return out
}

// implemented is the method of the tree that a method of generated code calls by the same name,
// through an interface; nil for other functions.
func (in *interpreter) implemented(f *function) any {
	if f.fn == nil || f.fn.decl.Recv == nil || f.fn.decl.Body == nil || !f.fn.file.generated {
		return nil
	}
	p := goContext{file: f.file, sc: (*scope)(nil).inner()}
	h := &handlerReader{in: in, route: &Route{}}
	h.receiver(f.fn, &fact{value: f.recv}, p)
	var out any
	ast.Inspect(f.fn.decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || out != nil {
			return out == nil
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != f.fn.decl.Name.Name {
			return true
		}
		if fn, recv, _ := h.callee(c, p); fn != nil && fn != f.fn {
			got := &function{fn: fn, file: fn.file}
			if recv != nil {
				got.recv = recv.value
			}
			out = got
		}
		return out == nil
	})
	return out
}

// leftOut reports whether a route is not the service's own: files, documentation, metrics, a
// router that is not read.
func (in *interpreter) leftOut(f flat) bool {
	v := f.handler
	for range 16 {
		w, ok := v.(*wrapped)
		if !ok {
			break
		}
		v = w.inner
	}
	e, ok := v.(*external)
	if !ok {
		return false
	}
	whole := strings.ToLower(e.path + "." + e.name)
	for _, word := range []string{"swag", "openapi", "redoc", "fileserver", "static", "pprof", "expvar", "promhttp", "prometheus", "notfound", "redirecthandler", "profiler", "statsviz"} {
		if strings.Contains(whole, word) {
			return true
		}
	}
	for _, u := range Known {
		if u.Language == "go" && slices.ContainsFunc(u.Imports, func(p string) bool { return e.path == p || strings.HasPrefix(e.path, p+"/") }) {
			in.unreadable(f.kind, f.at, "a router of "+u.Framework+", which is not read")
			return true
		}
	}
	return false
}

// route is what a declaration says: one route, or one a method where the function itself
// tells methods apart.
func (in *interpreter) route(f flat) []Route {
	h, called, inner := in.handlerOf(f.handler)
	mws := slices.Concat(f.mws, inner)
	if h == nil && in.leftOut(f) {
		return nil
	}
	methods := []string{f.method}
	if f.method == "" {
		methods = in.methods(h)
	}
	var out []Route
	for _, m := range methods {
		p, params := goPath(f.path)
		r := Route{Method: m, Path: p, Params: params, At: f.at}
		answers := h
		if f.method == "" {
			answers = in.dispatched(h, m)
		}
		if answers != nil && answers.fn != nil {
			r.Handler = Function{Path: answers.fn.file.path, Name: answers.fn.name}
			r.Made = called && answers == h
		}
		if f.subtree && p != "/" && len(params) == 0 {
			in.readBelow(&r, answers, mws)
		} else {
			in.readHandler(&r, answers, mws)
		}
		r.Auth = in.authOf(answers, mws)
		out = append(out, r)
	}
	if f.method == "" && len(methods) == 1 && methods[0] == "" {
		out[0].Method = "GET"
		if out[0].Body != nil {
			out[0].Method = "POST"
		}
	}
	return out
}

// goPath writes parameters as {name}.
func goPath(p string) (string, []Field) {
	var b strings.Builder
	var params []Field
	add := func(name, pattern string) {
		name = strings.TrimSuffix(name, "...")
		if name == "" {
			name = "path"
		}
		b.WriteString("{" + name + "}")
		params = append(params, Field{Name: name, Required: true, Pattern: pattern})
	}
	for i := 0; i < len(p); i++ {
		start := i == 0 || p[i-1] == '/'
		switch c := p[i]; {
		case c == '{':
			depth, j := 1, i+1
			for ; j < len(p) && depth > 0; j++ {
				switch p[j] {
				case '{':
					depth++
				case '}':
					depth--
				}
			}
			name, pattern, _ := strings.Cut(p[i+1:max(i+1, j-1)], ":")
			add(name, pattern)
			i = j - 1
		case (c == ':' || c == '*') && start:
			j := i + 1
			for j < len(p) && p[j] != '/' {
				j++
			}
			add(p[i+1:j], "")
			i = j - 1
		default:
			b.WriteByte(c)
		}
	}
	out := b.String()
	if !strings.HasPrefix(out, "/") {
		out = "/" + out
	}
	return out, params
}
