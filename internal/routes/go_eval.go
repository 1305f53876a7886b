package routes

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// goContext is where an expression stands: its file and what names mean there.
type goContext struct {
	file *goFile
	sc   *scope
	args map[string]typeRef
}

func (c goContext) ref(e ast.Expr) typeRef {
	return typeRef{expr: e, file: c.file, scope: c.sc, args: c.args}
}

func (c goContext) inner() goContext {
	c.sc = c.sc.inner()
	return c
}

// eval gives the value of an expression, nil where it is not known.
func (in *interpreter) eval(e ast.Expr, c goContext) any {
	if e == nil || !in.spend() || in.nesting > goNesting {
		return nil
	}
	in.nesting++
	defer func() { in.nesting-- }()
	switch x := e.(type) {
	case *ast.BasicLit:
		return literal(x)
	case *ast.Ident:
		return in.ident(x, c)
	case *ast.SelectorExpr:
		return in.selector(x, c)
	case *ast.CallExpr:
		return first(in.callExpr(x, c))
	case *ast.FuncLit:
		return &function{lit: x, scope: c.sc, file: c.file}
	case *ast.CompositeLit:
		return in.composite(x, c, nil)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			if b, ok := in.eval(x.X, c).(bool); ok {
				return !b
			}
			return nil
		}
		return in.eval(x.X, c)
	case *ast.StarExpr:
		return in.eval(x.X, c)
	case *ast.ParenExpr:
		return in.eval(x.X, c)
	case *ast.BinaryExpr:
		return binary(x.Op, in.eval(x.X, c), in.eval(x.Y, c))
	case *ast.TypeAssertExpr:
		if v := in.eval(x.X, c); v != nil {
			if _, loose := v.(*typed); !loose {
				return v
			}
		}
		if x.Type != nil {
			return in.unknown(c.ref(x.Type))
		}
	case *ast.IndexExpr:
		return in.index(x, c)
	case *ast.SliceExpr:
		return in.eval(x.X, c)
	}
	return nil
}

func first(v any) any {
	if s, ok := v.(several); ok {
		if len(s) == 0 {
			return nil
		}
		return s[0]
	}
	return v
}

func literal(x *ast.BasicLit) any {
	switch x.Kind {
	case token.STRING:
		if s, err := strconv.Unquote(x.Value); err == nil {
			return s
		}
	case token.INT:
		if n, err := strconv.ParseInt(x.Value, 0, 64); err == nil {
			return n
		}
	}
	return nil
}

func binary(op token.Token, a, b any) any {
	s, ok := a.(string)
	t, ok2 := b.(string)
	if !ok || !ok2 {
		return nil
	}
	switch op {
	case token.ADD:
		if len(s)+len(t) < 1<<12 {
			return s + t
		}
	case token.EQL:
		return s == t
	case token.NEQ:
		return s != t
	}
	return nil
}

func (in *interpreter) ident(x *ast.Ident, c goContext) any {
	if v, ok := c.sc.get(x.Name); ok {
		return v
	}
	switch x.Name {
	case "true":
		return true
	case "false":
		return false
	}
	return in.member(c.file.pkg, x.Name)
}

// member is the value of a name at package level.
func (in *interpreter) member(pkg *goPackage, name string) any {
	if fn := pkg.funcs[name]; fn != nil {
		return &function{fn: fn, file: fn.file}
	}
	v := pkg.values[name]
	if v == nil {
		return nil
	}
	if got, ok := in.globals[v]; ok {
		return got
	}
	in.globals[v] = nil // while it is read: an initializer may lead back
	var got any
	at := goContext{file: v.file}
	if v.value != nil {
		got = in.eval(v.value, at)
		if v.of > 1 {
			got = nth(in.evalAll(v.value, at), v.index)
		}
	}
	if got == nil && v.typ != nil {
		got = in.unknown(at.ref(v.typ))
	}
	in.globals[v] = got
	return got
}

func nth(v any, i int) any {
	if s, ok := v.(several); ok {
		if i < len(s) {
			return s[i]
		}
		return nil
	}
	if i == 0 {
		return v
	}
	return nil
}

// evalAll is eval that keeps all results of a call.
func (in *interpreter) evalAll(e ast.Expr, c goContext) any {
	if call, ok := e.(*ast.CallExpr); ok && in.spend() {
		return in.callExpr(call, c)
	}
	return in.eval(e, c)
}

// selector is x.f: a name of a package, a field, or a method that is not called.
func (in *interpreter) selector(x *ast.SelectorExpr, c goContext) any {
	if p, name, ok := c.file.qualified(x, c.sc); ok {
		if pkg := in.src.local(p); pkg != nil {
			return in.member(pkg, name)
		}
		if p == "net/http" {
			if m, ok := strings.CutPrefix(name, "Method"); ok && m != "" {
				return strings.ToUpper(m)
			}
			if name == "DefaultServeMux" {
				return in.defaultMux()
			}
		}
		return &external{path: p, name: name}
	}
	if id, ok := x.X.(*ast.Ident); ok && !c.sc.has(id.Name) && c.file.pkg.types[id.Name] != nil {
		if fn := c.file.pkg.funcs[id.Name+"."+x.Sel.Name]; fn != nil { // a method expression
			return &function{fn: fn, file: fn.file}
		}
	}
	return in.choose(in.eval(x.X, c), x.Sel.Name)
}

// choose is a field or method of a value.
func (in *interpreter) choose(v any, name string) any {
	switch v := v.(type) {
	case *object:
		return in.member2(v, name)
	case *list:
		if fn, _ := v.typ.method(name, 0); fn != nil {
			return &function{fn: fn, recv: v, file: fn.file}
		}
	case *function:
		// A method of a function type, as Then of a chain: not a handler by itself.
		return nil
	case *typed:
		if fn, _ := v.typ.method(name, 0); fn != nil {
			return &function{fn: fn, recv: v, file: fn.file}
		}
		if d, ok := in.src.preset(v.typ, name); ok {
			return d
		}
		if f, ok := v.typ.field(name, 0); ok {
			return in.unknown(f)
		}
		if all := in.implementers(v.typ, name); len(all) == 1 {
			return all[0]
		}
	case *external:
		if v.called {
			return &external{path: v.path, name: v.name + "." + name, args: v.args}
		}
	}
	return nil
}

// implementers are the methods that a call of an interface's method may reach.
func (in *interpreter) implementers(t typeRef, name string) []*function {
	methods, ok := t.asInterface(0)
	if !ok || !slices.Contains(methods, name) {
		return nil
	}
	var out []*function
	for _, impl := range in.src.implementations(methods) {
		if fn, _ := impl.method(name, 0); fn != nil {
			out = append(out, &function{fn: fn, recv: in.unknown(impl), file: fn.file})
		}
	}
	return out
}

// member2 is a field or method of an object, promoted ones too.
func (in *interpreter) member2(o *object, name string) any {
	if v, ok := o.fields[name]; ok && v != nil {
		return v
	}
	if fn, via := o.typ.method(name, 0); fn != nil {
		var recv any = o
		for _, f := range via {
			if inner := in.choose(recv, f); inner != nil {
				recv = inner
			}
		}
		return &function{fn: fn, recv: recv, file: fn.file}
	}
	if v := in.promoted(o, name); v != nil {
		return v
	}
	f, ok := o.typ.field(name, 0)
	if !ok {
		return nil
	}
	if d, ok := in.src.preset(o.typ, name); ok {
		return d
	}
	if _, named := o.fields[name]; o.plain && !named && f.bare().expr == f.expr && baseName(f.final().expr) == "string" {
		return ""
	}
	v := in.unknown(f)
	o.fields[name] = v
	return v
}

// promoted is a field or method that an object has of what it embeds.
func (in *interpreter) promoted(o *object, name string) any {
	st, ok := o.typ.final().expr.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, fd := range st.Fields.List {
		if len(fd.Names) > 0 || embeddedName(fd.Type) == name {
			continue
		}
		switch e := o.fields[embeddedName(fd.Type)].(type) {
		case *object:
			if _, has := e.fields[name]; has {
				return in.choose(e, name)
			}
		case *typed:
			if v := in.choose(e, name); v != nil {
				return v
			}
		case nil:
			t := o.typ.final().with(fd.Type)
			if all := in.implementers(t, name); len(all) == 1 {
				return all[0]
			}
		}
	}
	return nil
}

// embedded is the router that an object embeds, or nil.
func (in *interpreter) embedded(o *object, depth int) *router {
	st, ok := o.typ.final().expr.(*ast.StructType)
	if !ok || depth > 4 {
		return nil
	}
	for _, fd := range st.Fields.List {
		if len(fd.Names) > 0 {
			continue
		}
		switch v := in.choose(o, embeddedName(fd.Type)).(type) {
		case *router:
			return v
		case *object:
			if r := in.embedded(v, depth+1); r != nil {
				return r
			}
		}
	}
	return nil
}

// index is a member of a known list, or an instantiation of a generic function.
func (in *interpreter) index(x *ast.IndexExpr, c goContext) any {
	v := in.eval(x.X, c)
	switch v := v.(type) {
	case *function:
		if v.fn != nil && v.fn.decl.Type.TypeParams != nil {
			g := *v
			g.args = bindTypes(v.fn.decl.Type.TypeParams, []ast.Expr{x.Index}, c.ref(nil))
			return &g
		}
	case *list:
		key := in.eval(x.Index, c)
		for i, k := range v.keys {
			if k != nil && k == key {
				return v.items[i]
			}
		}
		if n, ok := key.(int64); ok && len(v.keys) == 0 && n >= 0 && n < int64(len(v.items)) {
			return v.items[n]
		}
	case *typed:
		switch t := v.typ.final(); tt := t.expr.(type) {
		case *ast.ArrayType:
			return in.unknown(t.with(tt.Elt))
		case *ast.MapType:
			return in.unknown(t.with(tt.Value))
		}
	}
	return nil
}

// composite is a literal of a struct, slice or map. of is the type where the literal leaves it
// out.
func (in *interpreter) composite(x *ast.CompositeLit, c goContext, of ast.Expr) any {
	t := c.ref(x.Type)
	if x.Type == nil {
		t = c.ref(of)
	}
	under := t.final()
	switch u := under.expr.(type) {
	case *ast.ArrayType:
		return in.elements(x, c, t, u.Elt)
	case *ast.MapType:
		return in.elements(x, c, t, u.Value)
	case *ast.StructType:
		o := &object{typ: t, fields: map[string]any{}, plain: true}
		i := 0
		var names []string
		for _, fd := range u.Fields.List {
			for _, n := range fd.Names {
				names = append(names, n.Name)
			}
			if len(fd.Names) == 0 {
				names = append(names, embeddedName(fd.Type))
			}
		}
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					o.fields[id.Name] = in.element(kv.Value, c, t, id.Name)
				}
				continue
			}
			if i < len(names) {
				o.fields[names[i]] = in.element(e, c, t, names[i])
			}
			i++
		}
		return o
	}
	for _, e := range x.Elts { // of another package: what is in it may still declare routes
		served := false
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			id, isName := kv.Key.(*ast.Ident)
			e, served = kv.Value, isName && id.Name == "Handler"
		}
		if v := in.eval(e, c); served { // http.Server
			in.serve([]any{v})
		}
	}
	if t.known() {
		return &typed{t}
	}
	return nil
}

func (in *interpreter) element(e ast.Expr, c goContext, t typeRef, field string) any {
	if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
		f, _ := t.field(field, 0)
		return in.composite(lit, c, f.expr)
	}
	return in.eval(e, c)
}

func (in *interpreter) elements(x *ast.CompositeLit, c goContext, t typeRef, elem ast.Expr) any {
	l := &list{typ: t}
	if _, pointer := elem.(*ast.StarExpr); pointer {
		elem = elem.(*ast.StarExpr).X
	}
	for _, e := range x.Elts {
		if len(l.items) >= goLoop {
			break
		}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			l.keys = append(l.keys, in.eval(kv.Key, c))
			e = kv.Value
		}
		if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
			l.items = append(l.items, in.composite(lit, c, elem))
			continue
		}
		l.items = append(l.items, in.eval(e, c))
	}
	if len(l.keys) != len(l.items) {
		l.keys = nil
	}
	return l
}

// text computes strings from constants with functions of the standard library.
func text(p, name string, args []any) (string, bool) {
	all := make([]string, 0, len(args))
	for _, a := range args {
		s, ok := a.(string)
		if n, isInt := a.(int64); isInt {
			s, ok = strconv.FormatInt(n, 10), true
		}
		if !ok {
			return "", false
		}
		all = append(all, s)
	}
	get := func(i int) string {
		if i < len(all) {
			return all[i]
		}
		return ""
	}
	switch p + "." + name {
	case "fmt.Sprintf":
		return sprintf(all)
	case "fmt.Sprint":
		return strings.Join(all, ""), true
	case "path.Join", "net/url.JoinPath":
		return path.Join(all...), true
	case "strings.TrimSuffix":
		return strings.TrimSuffix(get(0), get(1)), true
	case "strings.TrimPrefix":
		return strings.TrimPrefix(get(0), get(1)), true
	case "strings.TrimRight":
		return strings.TrimRight(get(0), get(1)), true
	case "strings.TrimLeft":
		return strings.TrimLeft(get(0), get(1)), true
	case "strings.Trim":
		return strings.Trim(get(0), get(1)), true
	case "strings.ToLower":
		return strings.ToLower(get(0)), true
	case "strings.ToUpper":
		return strings.ToUpper(get(0)), true
	}
	return "", false
}

func sprintf(all []string) (string, bool) {
	if len(all) == 0 || len(all[0]) > 1<<12 || strings.Count(all[0], "%") > len(all)-1 {
		return "", false
	}
	args := make([]any, 0, len(all)-1)
	for _, a := range all[1:] {
		args = append(args, a)
	}
	out := fmt.Sprintf(strings.ReplaceAll(all[0], "%d", "%s"), args...)
	return out, !strings.Contains(out, "%!")
}
