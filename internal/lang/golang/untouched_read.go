package golang

import (
	"go/ast"
	"go/token"
	"go/types"
)

// factReader goes through one declaration. What go/types left without an object or
// a type is the reason for each of its doubts.
type factReader struct {
	d       *declaration
	info    *types.Info
	uses    map[*declaration]bool
	leaves  map[*declaration]bool
	unknown map[string]bool
}

// function reads a function: what it returns becomes its results.
func (r *factReader) function(t *ast.FuncType, n ast.Node) {
	var results []types.Type
	if t.Results != nil {
		for _, field := range t.Results.List {
			for range max(1, len(field.Names)) {
				results = append(results, r.info.TypeOf(field.Type))
			}
		}
	}
	r.read(n, results)
}

func (r *factReader) read(root ast.Node, results []types.Type) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if n == root {
				return true
			}
			r.function(n.Type, n)
			return false
		case *ast.SelectorExpr:
			r.selector(n)
			r.read(n.X, results)
			return false
		case *ast.Ident:
			r.ident(n)
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if s := unquote(n); s != "" {
					r.d.known.literals = append(r.d.known.literals, s)
				}
			}
		case *ast.IndexExpr:
			r.instance(n, n.X, n.Index)
		case *ast.IndexListExpr:
			r.instance(n, n.X, n.Indices...)
		case *ast.CallExpr:
			r.call(n)
		case *ast.CompositeLit:
			r.composite(n)
		case *ast.AssignStmt:
			r.assign(n)
		case *ast.ValueSpec:
			if n.Type != nil {
				targets := make([]types.Type, len(n.Names))
				for i := range targets {
					targets[i] = r.info.TypeOf(n.Type)
				}
				r.become(n.Values, targets)
			}
		case *ast.ReturnStmt:
			r.become(n.Results, results)
		case *ast.SendStmt:
			r.becomes(n.Value, element(r.info.TypeOf(n.Chan)))
		case *ast.RangeStmt:
			r.ranges(n)
		}
		return true
	})
}

func (r *factReader) use(pos token.Pos) {
	if d := r.d.code.at[pos]; d != nil {
		r.uses[d] = true
	}
}

func (r *factReader) ident(id *ast.Ident) {
	if inst, ok := r.info.Instances[id]; ok {
		for t := range inst.TypeArgs.Types() {
			r.leave(t)
		}
	}
	obj := r.info.Uses[id]
	switch obj := obj.(type) {
	case nil:
		// Not resolved, or not looked at: a name of the package is what it can be.
		if r.info.Defs[id] == nil && id.Name != "_" {
			if o := r.d.in.types.Scope().Lookup(id.Name); o != nil {
				r.use(o.Pos())
			}
		}
	case *types.PkgName:
		r.d.known.imports[id.Name+" "+obj.Imported().Path()] = true
	default:
		r.use(obj.Pos())
	}
}

// selector is x.Name. Where the type of x is known, so is Name, but for types whose
// own underlying type is unknown.
func (r *factReader) selector(n *ast.SelectorExpr) {
	if obj := r.info.Uses[n.Sel]; obj != nil {
		r.ident(n.Sel)
		return
	}
	if id, ok := n.X.(*ast.Ident); ok {
		if _, ok := r.info.Uses[id].(*types.PkgName); ok {
			return // of a package that is not there
		}
	}
	t := r.info.TypeOf(n.X)
	if p, ok := types.Unalias(orInvalid(t)).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(orInvalid(t)).(*types.Named); ok {
		for m := range named.Origin().Methods() {
			if m.Name() == n.Sel.Name {
				r.use(m.Pos())
			}
		}
		if known(named.Underlying()) {
			return
		}
	}
	if !known(t) {
		r.unknown[n.Sel.Name] = true
	}
}

func orInvalid(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}

func known(t types.Type) bool { return t != nil && types.Unalias(t) != types.Typ[types.Invalid] }

// instance is x[T]: where x is not known, neither is what becomes of T.
func (r *factReader) instance(whole ast.Expr, x ast.Expr, args ...ast.Expr) {
	if known(r.info.TypeOf(x)) && known(r.info.TypeOf(whole)) {
		return
	}
	for _, a := range append(args, x) {
		if tv, ok := r.info.Types[a]; ok && tv.IsType() {
			r.leave(tv.Type)
		}
	}
}

// call hands arguments to parameters.
func (r *factReader) call(n *ast.CallExpr) {
	tv := r.info.Types[n.Fun]
	switch {
	case tv.IsType(): // a conversion
		for _, a := range n.Args {
			r.becomes(a, tv.Type)
		}
		return
	case tv.IsBuiltin():
		r.builtin(n)
		return
	}
	var params *types.Tuple
	variadic := false
	if sig, ok := under(tv.Type).(*types.Signature); ok {
		params, variadic = sig.Params(), sig.Variadic()
	}
	var targets []types.Type
	for i := range max(len(n.Args), r.width(n.Args)) {
		switch {
		case params == nil || params.Len() == 0:
			targets = append(targets, nil)
		case variadic && i >= params.Len()-1 && !n.Ellipsis.IsValid():
			targets = append(targets, element(params.At(params.Len()-1).Type()))
		case i < params.Len():
			targets = append(targets, params.At(i).Type())
		default:
			targets = append(targets, nil)
		}
	}
	r.become(n.Args, targets)
}

// width is how many values a list of expressions gives.
func (r *factReader) width(list []ast.Expr) int {
	if len(list) == 1 {
		if t, ok := r.info.TypeOf(list[0]).(*types.Tuple); ok {
			return t.Len()
		}
	}
	return len(list)
}

func (r *factReader) builtin(n *ast.CallExpr) {
	id, _ := ast.Unparen(n.Fun).(*ast.Ident)
	if id == nil || len(n.Args) == 0 {
		return
	}
	switch id.Name {
	case "append":
		for i, a := range n.Args[1:] {
			if n.Ellipsis.IsValid() && i == len(n.Args)-2 {
				r.becomes(a, r.info.TypeOf(n.Args[0]))
			} else {
				r.becomes(a, element(r.info.TypeOf(n.Args[0])))
			}
		}
	case "panic":
		r.becomes(n.Args[0], nil)
	}
}

func (r *factReader) composite(n *ast.CompositeLit) {
	t := r.info.TypeOf(n)
	u := under(t)
	if p, ok := u.(*types.Pointer); ok { // elided &T{…}
		u = under(p.Elem())
	}
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		value := e
		if keyed {
			value = kv.Value
		}
		switch u := u.(type) {
		case *types.Struct:
			var target types.Type
			if !keyed && i < u.NumFields() {
				target = u.Field(i).Type()
			} else if keyed {
				if id, ok := kv.Key.(*ast.Ident); ok {
					if field := r.info.Uses[id]; field != nil {
						target = field.Type()
					}
				}
			}
			r.becomes(value, target)
		case *types.Map:
			if keyed {
				r.becomes(kv.Key, u.Key())
			}
			r.becomes(value, u.Elem())
		default:
			if keyed && u == nil {
				r.becomes(kv.Key, nil)
			}
			r.becomes(value, element(t))
		}
	}
}

func (r *factReader) assign(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) {
		return // each takes the type of its value
	}
	var targets []types.Type
	for _, l := range n.Lhs {
		t := r.info.TypeOf(l)
		if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
			t = types.Typ[types.Int] // nobody has it
		}
		targets = append(targets, t)
	}
	r.become(n.Rhs, targets)
}

// ranges assigns keys and elements to what is there already.
func (r *factReader) ranges(n *ast.RangeStmt) {
	if n.Tok != token.ASSIGN {
		return
	}
	for _, e := range []ast.Expr{n.Key, n.Value} {
		if e != nil && !holds(r.info.TypeOf(e)) {
			r.leave(r.info.TypeOf(n.X))
		}
	}
}

// become gives the values of a list to targets, one by one or from one call.
func (r *factReader) become(values []ast.Expr, targets []types.Type) {
	at := func(i int) types.Type {
		if i < len(targets) {
			return targets[i]
		}
		return nil
	}
	if len(values) == 1 {
		if t, ok := r.info.TypeOf(values[0]).(*types.Tuple); ok {
			for i := range t.Len() {
				r.gives(t.At(i).Type(), at(i))
			}
			return
		}
	}
	for i, v := range values {
		r.becomes(v, at(i))
	}
}

func (r *factReader) becomes(value ast.Expr, target types.Type) {
	r.gives(r.info.TypeOf(value), target)
}

// gives is a value of a type that is given to a target type. It stays in sight
// where the target is a type that says which methods a value has.
func (r *factReader) gives(value, target types.Type) {
	if !holds(target) {
		r.leave(value)
	}
}

// holds recognises a type whose values are what the type says: no interface, no type
// parameter, and known.
func holds(t types.Type) bool {
	if !known(t) {
		return false
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	u := t.Underlying()
	return known(u) && !types.IsInterface(u)
}

// leave notes all types of test code whose values can be had from a value of a type.
func (r *factReader) leave(t types.Type) { r.leaveAll(t, map[types.Type]bool{}) }

func (r *factReader) leaveAll(t types.Type, seen map[types.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		r.leaveAll(types.Unalias(t), seen)
	case *types.Named:
		if d := r.d.code.at[t.Obj().Pos()]; d != nil {
			r.leaves[d] = true
		}
		for arg := range t.TypeArgs().Types() {
			r.leaveAll(arg, seen)
		}
		if _, ok := t.Underlying().(*types.Interface); !ok {
			r.leaveAll(t.Underlying(), seen)
		}
	case *types.Pointer:
		r.leaveAll(t.Elem(), seen)
	case *types.Slice:
		r.leaveAll(t.Elem(), seen)
	case *types.Array:
		r.leaveAll(t.Elem(), seen)
	case *types.Chan:
		r.leaveAll(t.Elem(), seen)
	case *types.Map:
		r.leaveAll(t.Key(), seen)
		r.leaveAll(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			r.leaveAll(f.Type(), seen)
		}
	case *types.Tuple:
		for v := range t.Variables() {
			r.leaveAll(v.Type(), seen)
		}
	case *types.Signature:
		r.leaveAll(t.Params(), seen)
		r.leaveAll(t.Results(), seen)
	}
}

func under(t types.Type) types.Type {
	if !known(t) {
		return nil
	}
	return t.Underlying()
}

// element is what a list, a channel or a map holds; nil where that is not known.
func element(t types.Type) types.Type {
	switch u := under(t).(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	case *types.Pointer:
		return element(u.Elem())
	case *types.Chan:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	}
	return nil
}
