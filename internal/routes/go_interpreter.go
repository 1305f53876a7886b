package routes

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Bounds of one interpretation. They are far above what services need.
const (
	goSteps      = 1 << 19 // statements and expressions
	goAsideSteps = 800     // of a call that cannot reach a router
	goDepth      = 48      // of calls
	goNesting    = 400     // of expressions and statements
	goRoutes     = 20000   // declarations and mounts
	goLoop       = 256     // rounds of a loop over a literal
)

// interpreter follows router values through the functions of a tree. It runs every branch
// of a function once, and knows no more of other values than where they come from.
type interpreter struct {
	src       *goSource
	kinds     []goRouting
	steps     int
	nesting   int
	count     int
	phase     int
	aside     bool // in a call that cannot reach a router
	limit     int  // of steps
	stack     []frame
	visited   map[*goFunc]bool
	globals   map[*goVar]any
	summaries map[*goType]*object
	reaches   map[*goFunc]bool // functions that may reach a router
	seeds     map[*goFunc]bool // functions that name one, or hold one
	buckets   []*bucket
	fallback  *router // http.DefaultServeMux
	unread    map[string]goRouting
	assessed  map[any]credentials // of middlewares
}

// frame is a call under way.
type frame struct {
	fn     *goFunc
	params []string
	pos    token.Pos // of the call
	ret    several
}

func newInterpreter(src *goSource, kinds []goRouting) *interpreter {
	in := &interpreter{
		src: src, kinds: kinds, limit: goSteps, visited: map[*goFunc]bool{}, globals: map[*goVar]any{},
		summaries: map[*goType]*object{}, unread: map[string]goRouting{}, seeds: map[*goFunc]bool{}, assessed: map[any]credentials{},
	}
	in.reaches = in.reach()
	return in
}

// run reads the whole tree: programs first, then functions that make routers and are
// called by none of them, then functions that are given routers by something outside.
func (in *interpreter) run() {
	all := in.src.functions()
	in.phase = 1
	for _, fn := range all {
		if fn.name == "main" && fn.file.pkg.name == "main" {
			in.root(fn)
		}
	}
	in.phase = 2
	in.literals()
	for _, fn := range in.topmost(all, in.makesRouter) {
		in.root(fn)
	}
	in.phase = 3
	for _, fn := range in.topmost(all, func(fn *goFunc) bool { return in.takesRouter(fn) || in.seeds[fn] && shape(fn.signature()) == "" }) {
		in.root(fn)
	}
}

// root runs a function that nothing has run, with arguments of which only the types are known.
func (in *interpreter) root(fn *goFunc) {
	if in.visited[fn] {
		return
	}
	f := &function{fn: fn, file: fn.file}
	if fn.decl.Recv != nil {
		f.recv = in.unknown(typeRef{expr: fn.decl.Recv.List[0].Type, file: fn.file})
	}
	in.enter(f, nil, fn.decl.Pos())
}

// literals runs function literals in variables of packages: commands and hooks.
func (in *interpreter) literals() {
	for _, dir := range in.src.folders {
		for _, f := range in.src.packages[dir].files {
			for _, d := range f.tree.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				ast.Inspect(g, func(n ast.Node) bool {
					lit, ok := n.(*ast.FuncLit)
					if !ok {
						return true
					}
					v := &function{lit: lit, file: f, scope: (*scope)(nil).inner()}
					if shapeOf(v) == "" && (in.mentionsRouter(lit, f) || slices.ContainsFunc(in.named(lit, f), func(fn *goFunc) bool { return in.reaches[fn] })) {
						in.enter(v, nil, lit.Pos())
					}
					return false
				})
			}
		}
	}
}

// functions are all functions of the tree, by file and place.
func (s *goSource) functions() []*goFunc {
	var out []*goFunc
	for _, dir := range s.folders {
		for _, fn := range s.packages[dir].funcs {
			out = append(out, fn)
		}
	}
	slices.SortFunc(out, func(a, b *goFunc) int {
		if c := strings.Compare(a.file.path, b.file.path); c != 0 {
			return c
		}
		return int(a.decl.Pos() - b.decl.Pos())
	})
	return out
}

// topmost are functions that nothing has run and that is says are interesting, those first
// that no other of them calls.
func (in *interpreter) topmost(all []*goFunc, is func(*goFunc) bool) []*goFunc {
	var top, rest []*goFunc
	called := map[*goFunc]bool{}
	for _, fn := range all {
		if in.visited[fn] || !in.reaches[fn] {
			continue
		}
		for _, to := range in.callees(fn) {
			if to != fn {
				called[to] = true
			}
		}
	}
	for _, fn := range all {
		switch {
		case in.visited[fn] || !in.reaches[fn]:
		case !called[fn] && shape(fn.signature()) == "":
			top = append(top, fn)
		case is(fn):
			rest = append(rest, fn)
		}
	}
	top = slices.DeleteFunc(top, func(fn *goFunc) bool { return in.phase == 2 && in.takesRouter(fn) })
	return append(top, rest...)
}

// makesRouter reports whether the body of a function makes a router.
func (in *interpreter) makesRouter(fn *goFunc) bool {
	found := false
	if fn.decl.Body == nil {
		return false
	}
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && !found {
			p, name, ok := fn.file.qualified(c.Fun, nil)
			found = ok && slices.ContainsFunc(in.kinds, func(k goRouting) bool { return k.makes(p, name) })
		}
		return !found
	})
	return found
}

// takesRouter reports whether a function has a router as parameter.
func (in *interpreter) takesRouter(fn *goFunc) bool {
	params, _, _ := fn.signature().parameters()
	return slices.ContainsFunc(params, func(t typeRef) bool { return in.routerType(t) != nil })
}

// routerType is the framework whose router a type is, or nil.
func (in *interpreter) routerType(t typeRef) goRouting {
	n := t.name()
	for range 8 {
		if n.typ == nil {
			break
		}
		next := n.of()
		if n.typ.spec.Assign.IsValid() || isName(next.expr) {
			n = next.name()
			continue
		}
		return nil
	}
	for _, k := range in.kinds {
		if k.isRouter(n) {
			return k
		}
	}
	return nil
}

func isName(e ast.Expr) bool {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return true
	}
	return false
}

// mentionsRouter reports whether code names a router type or makes a router.
func (in *interpreter) mentionsRouter(n ast.Node, f *goFile) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if found {
			return false
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		p, name, ok := f.qualified(sel, nil)
		if !ok {
			return true
		}
		for _, k := range in.kinds {
			if k.makes(p, name) || k.isRouter(named{path: p, name: name}) {
				found = true
			}
		}
		if p == "net/http" && (name == "Handle" || name == "HandleFunc") {
			found = true
		}
		if pkg := in.src.local(p); pkg != nil && !found {
			if v := pkg.values[name]; v != nil && v.typ != nil && in.routerType(typeRef{expr: v.typ, file: v.file}) != nil {
				found = true
			}
			for _, fn := range []*goFunc{pkg.funcs[name]} {
				found = found || fn != nil && in.reaches[fn]
			}
		}
		return !found
	})
	return found
}

// reach finds the functions that may reach a router: they name one, or call one that does.
// It goes by names and so finds too many rather than too few.
func (in *interpreter) reach() map[*goFunc]bool {
	out := map[*goFunc]bool{}
	callers := map[*goFunc][]*goFunc{}
	var todo []*goFunc
	holders := map[*goType]bool{}
	in.reaches = out // while it is made
	for _, fn := range in.src.functions() {
		for _, to := range in.callees(fn) {
			callers[to] = append(callers[to], fn)
		}
		if in.seed(fn, holders) {
			out[fn], in.seeds[fn] = true, true
			todo = append(todo, fn)
		}
	}
	for len(todo) > 0 {
		fn := todo[0]
		todo = todo[1:]
		for _, by := range callers[fn] {
			if !out[by] {
				out[by] = true
				todo = append(todo, by)
			}
		}
	}
	return out
}

// seed reports whether a function itself names a router.
func (in *interpreter) seed(fn *goFunc, holders map[*goType]bool) bool {
	if in.mentionsRouter(fn.decl, fn.file) {
		return true
	}
	if fn.decl.Recv != nil {
		if t := fn.file.pkg.types[baseName(fn.decl.Recv.List[0].Type)]; t != nil && shape(fn.signature()) == "" {
			holds := in.holds(t, holders, 0)
			if holds {
				return true
			}
		}
	}
	found := false
	if fn.decl.Body != nil {
		ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !found {
				v := fn.file.pkg.values[id.Name]
				if v != nil {
					found = v.typ != nil && in.routerType(typeRef{expr: v.typ, file: v.file}) != nil ||
						v.value != nil && in.mentionsRouterCall(v)
				}
			}
			return !found
		})
	}
	return found
}

// holds reports whether a type has a router in a field, or in a field of a field.
func (in *interpreter) holds(t *goType, known map[*goType]bool, depth int) bool {
	if v, ok := known[t]; ok || depth > 4 {
		return v
	}
	known[t] = false // while it is looked for
	v := in.mentionsRouter(t.spec, t.file)
	if st, ok := t.spec.Type.(*ast.StructType); ok && !v {
		for _, fd := range st.Fields.List {
			if n := (typeRef{expr: fd.Type, file: t.file}).name(); n.typ != nil && in.holds(n.typ, known, depth+1) {
				v = true
			}
		}
	}
	known[t] = v
	return v
}

// mentionsRouterCall reports whether a variable of a package is made by a function that makes
// routers.
func (in *interpreter) mentionsRouterCall(v *goVar) bool {
	c, ok := v.value.(*ast.CallExpr)
	if !ok {
		return false
	}
	p, name, ok := v.file.qualified(c.Fun, nil)
	return ok && slices.ContainsFunc(in.kinds, func(k goRouting) bool { return k.makes(p, name) })
}

// callees are functions that a body names.
func (in *interpreter) callees(fn *goFunc) []*goFunc {
	if fn.decl.Body == nil {
		return nil
	}
	return in.named(fn.decl.Body, fn.file)
}

// named are functions that code names, by name alone where the receiver is not known.
func (in *interpreter) named(n ast.Node, f *goFile) []*goFunc {
	var out []*goFunc
	add := func(to *goFunc) {
		if to != nil {
			out = append(out, to)
		}
	}
	skip := map[*ast.Ident]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			skip[x.Sel] = true
			if p, name, ok := f.qualified(x, nil); ok {
				if pkg := in.src.local(p); pkg != nil {
					add(pkg.funcs[name])
				}
				return true
			}
			if all := in.src.methods[x.Sel.Name]; len(all) <= 64 {
				out = append(out, all...)
			}
		case *ast.Ident:
			if !skip[x] {
				add(f.pkg.funcs[x.Name])
			}
		}
		return true
	})
	return out
}

// spend counts a step and reports whether there are any left.
func (in *interpreter) spend() bool {
	in.steps++
	return in.steps < in.limit
}

// unreadable notes a declaration that is not read. Of functions that nothing calls there are
// none: their arguments are not known.
func (in *interpreter) unreadable(k goRouting, at, why string) {
	if len(in.unread) < 1000 && in.phase < 3 {
		in.unread[at+": "+why] = k
	}
}

// place is where a declaration stands: in the caller, where the function that makes it is given
// the path.
func (in *interpreter) place(c *routerCall) string {
	if len(in.stack) < 2 {
		return in.src.at(c.pos)
	}
	f := in.stack[len(in.stack)-1]
	given := false
	for _, e := range c.exprs {
		switch e.(type) {
		case *ast.BasicLit:
			return in.src.at(c.pos)
		case *ast.Ident, *ast.BinaryExpr, *ast.CallExpr:
			own := false
			ast.Inspect(e, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.Ident:
					given = given || slices.Contains(f.params, x.Name)
				case *ast.BasicLit:
					own = own || strings.Contains(x.Value, "/")
				case *ast.FuncLit:
					return false
				}
				return true
			})
			if own {
				return in.src.at(c.pos)
			}
		}
	}
	if given && f.fn != nil {
		return in.src.at(f.pos)
	}
	return in.src.at(c.pos)
}

// newRouter is a router with nothing on it.
func (in *interpreter) newRouter(k goRouting) *router {
	b := &bucket{kind: k, phase: in.phase}
	if len(in.buckets) < goRoutes {
		in.buckets = append(in.buckets, b)
	}
	return &router{kind: k, bucket: b}
}

// unknown is a value of which only the type is known. All such values of a struct type of
// the tree are one.
func (in *interpreter) unknown(t typeRef) any {
	if !t.known() {
		return nil
	}
	if k := in.routerType(t); k != nil {
		r := in.newRouter(k)
		r.bucket.phase = 3
		return r
	}
	if n := t.name(); n.typ != nil {
		if _, ok := t.final().expr.(*ast.StructType); ok {
			if in.summaries[n.typ] == nil {
				in.summaries[n.typ] = &object{typ: t, fields: map[string]any{}}
			}
			return in.summaries[n.typ]
		}
	}
	return &typed{t}
}
