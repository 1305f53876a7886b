package golang

import (
	"go/ast"
	"go/constant"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// declaration is one name that test code declares at top level: a function, a
// method, a type, a variable or a constant.
type declaration struct {
	code     *testCode
	in       *checked
	key      string // folder, the type of a method, name
	name     string
	receiver string // of a method: the name of its type
	fn       *ast.FuncDecl
	spec     ast.Spec
	group    *ast.GenDecl
	ident    *ast.Ident
	source   []byte // of the whole file
	methods  []*declaration
	known    *facts
	said     string // memo of text
}

// facts are what one declaration says of others.
type facts struct {
	uses     []*declaration
	leaves   []*declaration // types of which it lets a value leave the checked code
	unknown  []string       // names that it selects from values of unknown type
	literals []string
	imports  map[string]bool // name and path of packages that it names
}

// declare notes what a file of test code declares.
func (c *testCode) declare(p string, source []byte, f *ast.File) {
	add := func(d declaration) {
		d.code, d.source, d.name = c, source, d.ident.Name
		d.key = path.Join(dirOf(p), f.Name.Name) + "." + strings.TrimPrefix(d.receiver+"."+d.name, ".")
		c.at[d.ident.Pos()] = &d
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(declaration{fn: decl, ident: decl.Name, receiver: receiverName(decl)})
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(declaration{spec: spec, group: decl, ident: spec.Name})
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(declaration{spec: spec, group: decl, ident: name})
					}
				}
			}
		}
	}
}

// declaredNames are the identifiers that declare something, in order.
func declaredNames(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			out = append(out, decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name)
				case *ast.ValueSpec:
					out = append(out, spec.Names...)
				}
			}
		}
	}
	return out
}

func receiverName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?" // a method of what does not parse
		}
	}
}

func (d *declaration) node() ast.Node {
	if d.fn != nil {
		return d.fn
	}
	return d.spec
}

// calls tells a variable whose value may do something when the program starts. A
// conversion does nothing: var _ I = (*T)(nil) asks the compiler only.
func (d *declaration) calls() bool {
	found := false
	ast.Inspect(d.node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || !d.in.info.Types[n.Fun].IsType() && !ofNil(n)
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// ofNil tells a conversion to a type that is not there: pkg.T(nil).
func ofNil(n *ast.CallExpr) bool {
	if len(n.Args) != 1 {
		return false
	}
	id, ok := n.Args[0].(*ast.Ident)
	return ok && id.Name == "nil"
}

// text is what is compared: the words of the source, the packages that its names
// stand for, and of a constant the value, which in a group may hang on its place.
func (d *declaration) text() string {
	if d.said != "" {
		return d.said
	}
	var b strings.Builder
	if d.fn != nil && strings.HasPrefix(d.name, "Example") {
		b.WriteString(d.slice(d.fn.Pos(), d.fn.End())) // the expected output is a comment
	} else if c, ok := d.in.info.Defs[d.ident].(*types.Const); ok {
		if v := c.Val(); v.Kind() != constant.Unknown {
			b.WriteString("const " + c.Type().String() + " " + v.ExactString())
		} else {
			b.WriteString(d.words(d.group))
		}
	} else {
		b.WriteString(d.words(d.node()))
	}
	for _, line := range d.directives() {
		b.WriteString("\n" + line)
	}
	for _, imp := range slices.Sorted(maps.Keys(d.facts().imports)) {
		b.WriteString("\n" + imp)
	}
	d.said = b.String()
	return d.said
}

// value is the words of what a variable is given.
func (d *declaration) value() string {
	spec, ok := d.spec.(*ast.ValueSpec)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, v := range spec.Values {
		b.WriteString(d.words(v) + ",")
	}
	return b.String()
}

func (d *declaration) slice(from, to token.Pos) string {
	f := d.code.fset.File(from)
	start, end := f.Offset(from), f.Offset(to)
	return string(d.source[start:min(end, len(d.source))])
}

// words are the tokens of a node without comments and layout.
func (d *declaration) words(n ast.Node) string {
	src := []byte(d.slice(n.Pos(), n.End()))
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(token.Position, string) {}, 0)
	var b strings.Builder
	held := "" // what layout may add before a closing bracket
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return b.String()
		case token.SEMICOLON, token.COMMA:
			held = tok.String() + "\x00" // a semicolon that is not written as well
			continue
		case token.RBRACE, token.RPAREN:
			held = ""
		}
		b.WriteString(held)
		held = ""
		if lit == "" {
			lit = tok.String()
		}
		b.WriteString(lit + "\x00")
	}
}

// directives are lines such as //go:embed before the declaration.
func (d *declaration) directives() []string {
	docs := []*ast.CommentGroup{}
	switch {
	case d.fn != nil:
		docs = append(docs, d.fn.Doc)
	case d.group != nil:
		docs = append(docs, d.group.Doc)
	}
	switch spec := d.spec.(type) {
	case *ast.ValueSpec:
		docs = append(docs, spec.Doc)
	case *ast.TypeSpec:
		docs = append(docs, spec.Doc)
	}
	var out []string
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:") {
				out = append(out, strings.TrimSpace(c.Text))
			}
		}
	}
	return out
}

// facts reads a declaration, once.
func (d *declaration) facts() *facts {
	if d.known != nil {
		return d.known
	}
	d.known = &facts{imports: map[string]bool{}}
	r := factReader{d: d, info: d.in.info, uses: map[*declaration]bool{}, leaves: map[*declaration]bool{}, unknown: map[string]bool{}}
	if d.fn != nil {
		r.function(d.fn.Type, d.fn)
	} else {
		r.read(d.spec, nil)
	}
	if spec, ok := d.spec.(*ast.ValueSpec); ok && spec.Values == nil && d.group.Tok == token.CONST {
		r.read(d.group, nil) // the value is that of a spec before
	}
	d.known.uses, d.known.leaves = inOrder(r.uses), inOrder(r.leaves)
	d.known.unknown = slices.Sorted(maps.Keys(r.unknown))
	for _, line := range d.directives() {
		if files, ok := strings.CutPrefix(line, "//go:embed "); ok {
			d.known.literals = append(d.known.literals, strings.Fields(files)...)
		}
	}
	return d.known
}

func inOrder(set map[*declaration]bool) []*declaration {
	return slices.SortedFunc(maps.Keys(set), func(a, b *declaration) int { return int(a.ident.Pos()) - int(b.ident.Pos()) })
}

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

// holds tells a type whose values are what the type says: no interface, no type
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
