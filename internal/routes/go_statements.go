package routes

import (
	"go/ast"
	"go/token"
)

// block runs statements in order.
func (in *interpreter) block(all []ast.Stmt, c goContext) {
	for _, s := range all {
		in.statement(s, c)
	}
}

// statement runs one statement. Of branches each runs, but those of a condition that is
// known; a loop runs once, or for each member of a known list. A return ends nothing: what
// stands behind it is for other cases.
func (in *interpreter) statement(s ast.Stmt, c goContext) {
	if s == nil || !in.spend() || in.nesting > goNesting {
		return
	}
	in.nesting++
	defer func() { in.nesting-- }()
	switch x := s.(type) {
	case *ast.BlockStmt:
		in.block(x.List, c.inner())
	case *ast.ExprStmt:
		in.evalAll(x.X, c)
	case *ast.AssignStmt:
		in.assign(x, c)
	case *ast.DeclStmt:
		in.declaration(x, c)
	case *ast.ReturnStmt:
		in.returns(x, c)
	case *ast.IfStmt:
		in.branch(x, c)
	case *ast.ForStmt:
		c = c.inner()
		in.statement(x.Init, c)
		in.statement(x.Body, c)
	case *ast.RangeStmt:
		in.loop(x, c)
	case *ast.SwitchStmt:
		c = c.inner()
		in.statement(x.Init, c)
		in.cases(x.Body, c)
	case *ast.TypeSwitchStmt:
		c = c.inner()
		in.statement(x.Init, c)
		in.statement(x.Assign, c)
		in.cases(x.Body, c)
	case *ast.SelectStmt:
		in.cases(x.Body, c)
	case *ast.LabeledStmt:
		in.statement(x.Stmt, c)
	case *ast.GoStmt:
		in.evalAll(x.Call, c)
	case *ast.DeferStmt:
		in.evalAll(x.Call, c)
	}
}

func (in *interpreter) cases(body *ast.BlockStmt, c goContext) {
	for _, s := range body.List {
		switch x := s.(type) {
		case *ast.CaseClause:
			in.block(x.Body, c.inner())
		case *ast.CommClause:
			in.block(x.Body, c.inner())
		}
	}
}

func (in *interpreter) branch(x *ast.IfStmt, c goContext) {
	c = c.inner()
	in.statement(x.Init, c)
	known, ok := in.eval(x.Cond, c).(bool)
	if !ok || known {
		in.statement(x.Body, c)
	}
	if !ok || !known {
		in.statement(x.Else, c)
	}
}

func (in *interpreter) loop(x *ast.RangeStmt, c goContext) {
	over := in.eval(x.X, c)
	set := func(c goContext, e ast.Expr, v any) {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			c.sc.vars[id.Name] = v
		}
	}
	l, ok := over.(*list)
	if !ok || len(l.items) == 0 {
		c = c.inner()
		if t, ok := over.(*typed); ok {
			f := t.typ.final()
			switch tt := f.expr.(type) {
			case *ast.ArrayType:
				set(c, x.Value, in.unknown(f.with(tt.Elt)))
			case *ast.MapType:
				set(c, x.Value, in.unknown(f.with(tt.Value)))
			}
		} else {
			set(c, x.Value, nil)
		}
		set(c, x.Key, nil)
		if !ok {
			in.statement(x.Body, c)
		}
		return
	}
	for i, v := range l.items {
		round := c.inner()
		var key any = int64(i)
		if l.keys != nil {
			key = l.keys[i]
		}
		set(round, x.Key, key)
		set(round, x.Value, v)
		in.statement(x.Body, round)
	}
}

// returns notes the results of the function that is running. What is known stays, unless a
// later return knows better.
func (in *interpreter) returns(x *ast.ReturnStmt, c goContext) {
	var all []any
	if len(x.Results) == 1 {
		v := in.evalAll(x.Results[0], c)
		if s, ok := v.(several); ok {
			all = s
		} else {
			all = []any{v}
		}
	} else {
		for _, e := range x.Results {
			all = append(all, in.eval(e, c))
		}
	}
	if len(in.stack) == 0 {
		return
	}
	f := &in.stack[len(in.stack)-1]
	if len(x.Results) == 0 {
		for i, n := range namedResults(f.fn) {
			if v, ok := c.sc.get(n); ok && i < len(f.ret) && v != nil {
				f.ret[i] = v
			}
		}
		return
	}
	for i, v := range all {
		if i < len(f.ret) && v != nil {
			if _, loose := v.(*typed); !loose || f.ret[i] == nil {
				f.ret[i] = v
			}
		}
	}
}

func namedResults(fn *goFunc) []string {
	if fn == nil || fn.decl.Type.Results == nil {
		return nil
	}
	var out []string
	for _, f := range fn.decl.Type.Results.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

func (in *interpreter) declaration(x *ast.DeclStmt, c goContext) {
	g, ok := x.Decl.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			c.sc.declareType(c.file, spec)
		case *ast.ValueSpec:
			var all any
			if len(spec.Values) == 1 && len(spec.Names) > 1 {
				all = in.evalAll(spec.Values[0], c)
			}
			for i, n := range spec.Names {
				var v any
				switch {
				case all != nil:
					v = nth(all, i)
				case i < len(spec.Values):
					v = in.eval(spec.Values[i], c)
				}
				if v == nil && spec.Type != nil {
					v = in.zeroVariable(c.ref(spec.Type))
				}
				c.sc.vars[n.Name] = v
			}
		}
	}
}

// zeroVariable is a declared variable without a value. A router there gets its value later.
func (in *interpreter) zeroVariable(t typeRef) any {
	if in.routerType(t) != nil {
		if _, pointer := t.expr.(*ast.StarExpr); pointer {
			return nil
		}
	}
	return in.zero(t)
}

func (in *interpreter) assign(x *ast.AssignStmt, c goContext) {
	var values []any
	if len(x.Rhs) == 1 && len(x.Lhs) > 1 {
		v := in.evalAll(x.Rhs[0], c)
		for i := range x.Lhs {
			values = append(values, nth(v, i))
		}
	} else {
		for _, e := range x.Rhs {
			values = append(values, in.eval(e, c))
		}
	}
	for i, l := range x.Lhs {
		if i >= len(values) {
			return
		}
		v := values[i]
		if x.Tok == token.ADD_ASSIGN {
			v = binary(token.ADD, in.eval(l, c), v)
		}
		in.store(l, v, x.Tok == token.DEFINE, c)
	}
}

// store gives a variable, a field or a member of a map a value.
func (in *interpreter) store(l ast.Expr, v any, define bool, c goContext) {
	switch l := l.(type) {
	case *ast.Ident:
		switch {
		case l.Name == "_":
		case define:
			if old, here := c.sc.vars[l.Name]; !here || v != nil || old == nil {
				c.sc.vars[l.Name] = v
			}
		case v == nil && c.sc.has(l.Name):
			// An unknown value may be the old one: if err != nil { x = y }
		case c.sc.set(l.Name, v):
		default:
			if g := c.file.pkg.values[l.Name]; g != nil {
				in.global(g, v)
			}
		}
	case *ast.SelectorExpr:
		if p, name, ok := c.file.qualified(l, c.sc); ok {
			if pkg := in.src.local(p); pkg != nil && pkg.values[name] != nil {
				in.global(pkg.values[name], v)
			}
			return
		}
		if l.Sel.Name == "Handler" {
			in.serve([]any{v})
		}
		if o, ok := in.eval(l.X, c).(*object); ok {
			if v != nil || o.fields[l.Sel.Name] == nil {
				o.fields[l.Sel.Name] = v
			}
		}
	case *ast.IndexExpr:
		if m, ok := in.eval(l.X, c).(*list); ok && len(m.items) < goLoop && len(m.keys) == len(m.items) {
			m.keys = append(m.keys, in.eval(l.Index, c))
			m.items = append(m.items, v)
		}
	case *ast.StarExpr:
		in.store(l.X, v, false, c)
	case *ast.ParenExpr:
		in.store(l.X, v, false, c)
	}
}

func (in *interpreter) global(g *goVar, v any) {
	if v != nil {
		in.globals[g] = v
	}
}
