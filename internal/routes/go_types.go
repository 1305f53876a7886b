package routes

import (
	"go/ast"
	"slices"
)

// scope is what names mean at a place of a function.
type scope struct {
	parent *scope
	vars   map[string]any // values
	types  map[string]*goType
	depth  int
}

func (s *scope) inner() *scope {
	d := 0
	if s != nil {
		d = s.depth + 1
	}
	return &scope{parent: s, vars: map[string]any{}, depth: d}
}

func (s *scope) has(name string) bool {
	_, ok := s.get(name)
	return ok
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// set gives a name that is declared somewhere a new value.
func (s *scope) set(name string, v any) bool {
	for ; s != nil; s = s.parent {
		if _, ok := s.vars[name]; ok {
			s.vars[name] = v
			return true
		}
	}
	return false
}

func (s *scope) typ(name string) *goType {
	for ; s != nil; s = s.parent {
		if t := s.types[name]; t != nil {
			return t
		}
	}
	return nil
}

func (s *scope) declareType(f *goFile, spec *ast.TypeSpec) {
	if s.types == nil {
		s.types = map[string]*goType{}
	}
	s.types[spec.Name.Name] = &goType{file: f, spec: spec, scope: s}
}

// typeRef is a type as it is written at a place.
type typeRef struct {
	expr  ast.Expr
	file  *goFile
	scope *scope
	// args are the types that stand for type parameters.
	args map[string]typeRef
}

func (t typeRef) known() bool { return t.expr != nil && t.file != nil }

func (t typeRef) with(e ast.Expr) typeRef {
	t.expr = e
	return t
}

// named is what a type's name leads to: a type of the tree, or a name of another
// package or of the language.
type named struct {
	typ  *goType
	path string // import path, "" of the language
	name string
	args map[string]typeRef
}

// bare is a type without pointers and parentheses.
func (t typeRef) bare() typeRef {
	for range 16 {
		switch x := t.expr.(type) {
		case *ast.StarExpr:
			t.expr = x.X
		case *ast.ParenExpr:
			t.expr = x.X
		default:
			id, ok := t.expr.(*ast.Ident)
			if !ok || len(t.args) == 0 {
				return t
			}
			a, bound := t.args[id.Name]
			if !bound || !a.known() {
				return t
			}
			t = a
		}
	}
	return typeRef{}
}

// instantiated is what is given types in brackets, with those; other expressions are as they are.
func instantiated(e ast.Expr) (of ast.Expr, types []ast.Expr) {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return x.X, []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		return x.X, x.Indices
	}
	return e, nil
}

// name resolves the name of a type, or gives a zero value for a type without one.
func (t typeRef) name() named {
	t = t.bare()
	if !t.known() {
		return named{}
	}
	e, instance := instantiated(t.expr)
	n := named{}
	switch x := e.(type) {
	case *ast.Ident:
		n.name = x.Name
		if n.typ = t.scope.typ(x.Name); n.typ == nil {
			n.typ = t.file.pkg.types[x.Name]
		}
	case *ast.SelectorExpr:
		p, name, ok := t.file.qualified(x, nil)
		if !ok {
			return named{}
		}
		n.path, n.name = p, name
		if pkg := t.file.src.local(p); pkg != nil {
			n.typ = pkg.types[name]
		}
	default:
		return named{}
	}
	if n.typ != nil && n.typ.spec.TypeParams != nil {
		n.args = bindTypes(n.typ.spec.TypeParams, instance, t)
	}
	return n
}

// bindTypes gives type parameters the types of an instantiation.
func bindTypes(params *ast.FieldList, instance []ast.Expr, at typeRef) map[string]typeRef {
	out := map[string]typeRef{}
	i := 0
	for _, f := range params.List {
		for _, n := range f.Names {
			if i < len(instance) {
				out[n.Name] = at.with(instance[i])
			}
			i++
		}
	}
	return out
}

// of is the type that a type of the tree stands for.
func (n named) of() typeRef {
	return typeRef{expr: n.typ.spec.Type, file: n.typ.file, scope: n.typ.scope, args: n.args}
}

// external reports whether a type is p.name of another package, of any major version.
func (n named) external(p string, names ...string) bool {
	return n.path != "" && versioned(n.path) == p && slices.Contains(names, n.name)
}

// final follows names of the tree to what they stand for: a struct, an interface, a name that
// is not of the tree.
func (t typeRef) final() typeRef {
	for range 16 {
		t = t.bare()
		if !t.known() {
			return typeRef{}
		}
		n := t.name()
		if n.typ == nil {
			return t
		}
		t = n.of()
	}
	return typeRef{}
}

// field finds a field of a struct, promoted ones too.
func (t typeRef) field(name string, depth int) (typeRef, bool) {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok || depth > 6 {
		return typeRef{}, false
	}
	for _, fd := range st.Fields.List {
		for _, n := range fd.Names {
			if n.Name == name {
				return f.with(fd.Type), true
			}
		}
		if len(fd.Names) == 0 && embeddedName(fd.Type) == name {
			return f.with(fd.Type), true
		}
	}
	for _, fd := range st.Fields.List {
		if len(fd.Names) == 0 {
			if r, ok := f.with(fd.Type).field(name, depth+1); ok {
				return r, true
			}
		}
	}
	return typeRef{}, false
}

func embeddedName(e ast.Expr) string {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return baseName(e)
}

// method finds a method of a type of the tree, promoted ones too. via are the fields that
// lead to it.
func (t typeRef) method(name string, depth int) (fn *goFunc, via []string) {
	n := t.name()
	if n.typ == nil || depth > 6 {
		return nil, nil
	}
	if fn := n.typ.file.pkg.funcs[n.typ.spec.Name.Name+"."+name]; fn != nil && n.typ.scope == nil {
		return fn, nil
	}
	under := n.of()
	if _, isStruct := under.expr.(*ast.StructType); !isStruct {
		if n.typ.spec.Assign.IsValid() { // an alias
			return under.method(name, depth+1)
		}
		return nil, nil
	}
	for _, fd := range under.expr.(*ast.StructType).Fields.List {
		if len(fd.Names) > 0 {
			continue
		}
		if fn, via := under.with(fd.Type).method(name, depth+1); fn != nil {
			return fn, append([]string{embeddedName(fd.Type)}, via...)
		}
	}
	return nil, nil
}

// asInterface is the interface that a type is, with the names of its methods.
func (t typeRef) asInterface(depth int) (methods []string, ok bool) {
	f := t.final()
	it, ok := f.expr.(*ast.InterfaceType)
	if !ok || depth > 6 {
		return nil, false
	}
	for _, m := range it.Methods.List {
		for _, n := range m.Names {
			methods = append(methods, n.Name)
		}
		if len(m.Names) == 0 {
			more, _ := f.with(m.Type).asInterface(depth + 1)
			methods = append(methods, more...)
		}
	}
	return methods, true
}

// implementations are the types of the tree that have all methods of an interface, sorted by
// place.
func (s *goSource) implementations(methods []string) []typeRef {
	if len(methods) == 0 {
		return nil
	}
	var out []typeRef
	for _, fn := range s.methods[methods[0]] {
		of := baseName(fn.decl.Recv.List[0].Type)
		typ := fn.file.pkg.types[of]
		if typ == nil {
			continue
		}
		t := typeRef{expr: ast.NewIdent(of), file: fn.file}
		if !slices.ContainsFunc(methods, func(m string) bool { f, _ := t.method(m, 0); return f == nil }) {
			out = append(out, t)
		}
	}
	// Types that embed another implementation have its methods as well; they count only where
	// they declare one of their own.
	return out
}

// signature is the type of a function.
type signature struct {
	typ  *ast.FuncType
	file *goFile
	sc   *scope
	args map[string]typeRef
}

func (s signature) ref(e ast.Expr) typeRef {
	return typeRef{expr: e, file: s.file, scope: s.sc, args: s.args}
}

// parameters are the types of the parameters, one each, and whether the last is variadic.
func (s signature) parameters() (out []typeRef, names []string, variadic bool) {
	for _, f := range s.typ.Params.List {
		t := f.Type
		if e, ok := t.(*ast.Ellipsis); ok {
			t, variadic = &ast.ArrayType{Elt: e.Elt}, true
		}
		if len(f.Names) == 0 {
			out, names = append(out, s.ref(t)), append(names, "_")
		}
		for _, n := range f.Names {
			out, names = append(out, s.ref(t)), append(names, n.Name)
		}
	}
	return out, names, variadic
}

func (s signature) results() (out []typeRef) {
	if s.typ.Results == nil {
		return nil
	}
	for _, f := range s.typ.Results.List {
		for range max(1, len(f.Names)) {
			out = append(out, s.ref(f.Type))
		}
	}
	return out
}

func (f *goFunc) signature() signature { return signature{typ: f.decl.Type, file: f.file} }

// asFunction is the signature of a function type, through names of the tree and the
// handler types of the frameworks.
func (t typeRef) asFunction() (signature, bool) {
	f := t.final()
	ft, ok := f.expr.(*ast.FuncType)
	return signature{typ: ft, file: f.file, sc: f.scope, args: f.args}, ok
}
