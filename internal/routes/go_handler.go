package routes

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds of reading one handler.
const (
	goHandlerSteps = 40000
	goHandlerDepth = 10
)

// fact is what is known of an expression in a handler.
type fact struct {
	typ   typeRef
	value any    // of the interpreter, where it has one
	field *Field // the parameter whose value it is
	// is says what it has of the request: one of the constants, or "".
	is string
	fn *function
}

// factKey is an expression in one call of its function. What is found of it once holds there, and
// a chain of calls is not read again for each of its links.
type factKey struct {
	e  ast.Expr
	sc *scope
}

// What an expression can have of a request.
const (
	isBody    = "body"    // r.Body
	isBytes   = "bytes"   // what was read of it
	isDecoder = "decoder" // json.NewDecoder(r.Body)
	isQuery   = "query"   // url.Values of the query
	isForm    = "form"    // url.Values of the body, or of both
	isURL     = "url"     // r.URL
	isPath    = "path"    // r.URL.Path
)

// handlerReader reads what one handler asks of a request, in the functions that it hands
// the request on to as well.
type handlerReader struct {
	in     *interpreter
	route  *Route
	steps  int
	depth  int
	stack  []*goFunc
	passes int // small functions around, whose result is looked for
	facts  map[factKey]*fact
	form   []Field
	bound  bool   // a body was found
	apart  bool   // the path of the request is taken apart
	typ    string // name of what it is bound to
	target typeRef
}

func (c goContext) set(name string, f *fact) {
	if name != "_" && f != nil {
		c.sc.vars[name] = f
	}
}

// readHandler fills body, query and parameters of a route from its handler and from what stands
// in front of it.
func (in *interpreter) readHandler(r *Route, f *function, mws []any) {
	h := &handlerReader{in: in, route: r}
	h.all(f, mws)
}

// readBelow reads a handler of all paths below one. Where it takes the path of the request
// apart, the route has a parameter.
func (in *interpreter) readBelow(r *Route, f *function, mws []any) {
	r.Params = []Field{{Name: "id", Required: true}}
	h := &handlerReader{in: in, route: r}
	h.all(f, mws)
	if h.apart {
		r.Path += "{id}"
	} else {
		r.Params = nil
	}
}

func (h *handlerReader) all(f *function, mws []any) {
	r := h.route
	if f != nil {
		h.function(f, nil)
	}
	for _, m := range mws {
		switch m := m.(type) {
		case *made:
			h.function(m.by, m.args)
		case *function:
			h.function(m, nil)
		}
	}
	if !h.bound && len(h.form) > 0 {
		r.Body = &Body{Encoding: "form", Fields: h.form}
	}
	if r.Body != nil {
		r.Body.Type = h.typ
	}
}

// function reads a function value whose arguments are values of the interpreter.
func (h *handlerReader) function(f *function, args []any) {
	sig := f.signature()
	p := goContext{file: f.file, sc: f.scope.inner(), args: f.args}
	if f.fn != nil {
		if slices.Contains(h.stack, f.fn) {
			return
		}
		h.stack = append(h.stack, f.fn)
		defer func() { h.stack = h.stack[:len(h.stack)-1] }()
		if p.args == nil && f.fn.decl.Type.TypeParams != nil {
			p.args = map[string]typeRef{}
		}
	}
	params, names, _ := sig.parameters()
	for i, n := range names {
		v := &fact{typ: params[i]}
		if i < len(args) {
			v = h.valueFact(args[i], params[i], p)
		}
		p.set(n, v)
	}
	var body *ast.BlockStmt
	if f.fn != nil {
		h.receiver(f.fn, &fact{value: f.recv}, p)
		body = f.fn.decl.Body
	} else {
		body = f.lit.Body
	}
	h.block(body, p)
}

// receiver sets the name of a method's receiver.
func (h *handlerReader) receiver(fn *goFunc, recv *fact, p goContext) {
	if fn.decl.Recv == nil || len(fn.decl.Recv.List[0].Names) == 0 {
		return
	}
	f := *recv
	if !f.typ.known() {
		f.typ = typeRef{expr: fn.decl.Recv.List[0].Type, file: fn.file}
	}
	p.set(fn.decl.Recv.List[0].Names[0].Name, &f)
}

// valueFact is a fact of a value of the interpreter. A function that is given for a generic
// parameter tells the types in it.
func (h *handlerReader) valueFact(v any, declared typeRef, p goContext) *fact {
	f := &fact{typ: declared, value: v}
	switch v := v.(type) {
	case *object:
		f.typ = v.typ
	case *typed:
		f.typ = v.typ
	case *list:
		if v.typ.known() {
			f.typ = v.typ
		}
	case *function:
		f.fn = v
		if sig, ok := declared.asFunction(); ok && p.args != nil {
			given := v.signature()
			unify(sig.typ.Params, given, p.args)
		}
	}
	return f
}

// unify gives type parameters the types that a function has in their places.
func unify(params *ast.FieldList, given signature, args map[string]typeRef) {
	var want []ast.Expr
	for _, f := range params.List {
		for range max(1, len(f.Names)) {
			want = append(want, f.Type)
		}
	}
	have, _, _ := given.parameters()
	for i, w := range want {
		if s, ok := w.(*ast.StarExpr); ok {
			w = s.X
		}
		if id, ok := w.(*ast.Ident); ok && i < len(have) && ast.IsExported(id.Name) {
			if _, bound := args[id.Name]; !bound {
				args[id.Name] = have[i]
			}
		}
	}
}

func (h *handlerReader) block(body *ast.BlockStmt, p goContext) {
	if body == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool { return h.visit(n, p) })
}

func (h *handlerReader) visit(n ast.Node, p goContext) bool {
	if n == nil {
		return false
	}
	if h.steps++; h.steps > goHandlerSteps {
		return false
	}
	switch x := n.(type) {
	case *ast.FuncLit:
		sig := signature{typ: x.Type, file: p.file, sc: p.sc, args: p.args}
		params, names, _ := sig.parameters()
		for i, name := range names {
			p.set(name, &fact{typ: params[i]})
		}
	case *ast.AssignStmt:
		h.assign(x, p)
	case *ast.DeclStmt:
		h.declare(x, p)
	case *ast.RangeStmt:
		h.ranges(x, p)
	case *ast.SwitchStmt:
		if h.isMethod(x.Tag, p) {
			for _, s := range x.Body.List {
				if c, ok := s.(*ast.CaseClause); ok && h.caseOf(c, p) {
					for _, b := range c.Body {
						ast.Inspect(b, func(n ast.Node) bool { return h.visit(n, p) })
					}
				}
			}
			return false
		}
	case *ast.IfStmt:
		if m, equal := h.methodTest(x.Cond, p); m != "" && equal && m != h.route.Method {
			if x.Else != nil {
				ast.Inspect(x.Else, func(n ast.Node) bool { return h.visit(n, p) })
			}
			return false
		}
	case *ast.TypeAssertExpr:
		h.member(x, p)
	case *ast.IndexExpr:
		h.fact(x, p)
		h.mapMember(x, "", p)
	case *ast.BinaryExpr:
		h.emptyCheck(x, p)
	case *ast.CallExpr:
		h.call(x, p)
	}
	return true
}

// emptyCheck makes a member of the body required that code finds empty, and bounds one whose length
// it compares.
func (h *handlerReader) emptyCheck(x *ast.BinaryExpr, p goContext) {
	if !h.bound || h.route.Body == nil {
		return
	}
	e, r := emptiness(x), rule{name: "required"}
	if e == nil {
		e, r = h.lengthRule(x, p)
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return
	}
	t := h.fact(sel.X, p).typ.final()
	if !t.known() {
		return
	}
	h.eachMember(h.target, h.route.Body.Fields, t.expr, sel.Sel.Name, r, 0)
}

// lengthRule is what len(x) < n and len(x) > n say of x, as reasons to refuse it.
func (h *handlerReader) lengthRule(x *ast.BinaryExpr, p goContext) (ast.Expr, rule) {
	c, ok := x.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return nil, rule{}
	}
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	n, ok := h.fact(x.Y, p).value.(int64)
	if !ok || name != "len" && name != "RuneCountInString" {
		return nil, rule{}
	}
	switch x.Op {
	case token.LSS:
		return c.Args[0], rule{name: "min", args: []string{strconv.FormatInt(n, 10)}}
	case token.GTR:
		if n > 0 {
			return c.Args[0], rule{name: "max", args: []string{strconv.FormatInt(n, 10)}}
		}
	}
	return nil, rule{}
}

// eachMember applies a rule to the field of a struct, wherever it is in a body.
func (h *handlerReader) eachMember(t typeRef, fields []Field, owner ast.Expr, name string, r rule, depth int) {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok || depth > goFieldDepth {
		return
	}
	names := &fieldReader{src: h.in.src, tags: []string{h.route.Body.Encoding}}
	for _, fd := range st.Fields.List {
		if len(fd.Names) == 0 {
			h.eachMember(f.with(fd.Type), fields, owner, name, r, depth+1)
			continue
		}
		for _, n := range fd.Names {
			sent, _ := names.name(fieldTag(fd), n.Name)
			for i := range fields {
				if fields[i].Name != sent {
					continue
				}
				if f.expr == owner && n.Name == name {
					r.apply(&fields[i])
					fields[i].Required = fields[i].Required || r.name == "min" && r.args[0] != "0"
				} else {
					h.eachMember(f.with(fd.Type), fields[i].Fields, owner, name, r, depth+1)
				}
			}
		}
	}
}

func (h *handlerReader) assign(x *ast.AssignStmt, p goContext) {
	for i, l := range x.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		var f *fact
		switch {
		case len(x.Rhs) == len(x.Lhs):
			f = h.fact(x.Rhs[i], p)
		case len(x.Rhs) == 1:
			f = h.result(x.Rhs[0], i, p)
		}
		if f == nil || !f.typ.known() && f.is == "" && f.field == nil && f.fn == nil && x.Tok != token.DEFINE {
			continue
		}
		p.set(id.Name, f)
	}
}

func (h *handlerReader) declare(x *ast.DeclStmt, p goContext) {
	g, ok := x.Decl.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			p.sc.declareType(p.file, spec)
		case *ast.ValueSpec:
			for i, n := range spec.Names {
				f := &fact{}
				if i < len(spec.Values) {
					f = h.fact(spec.Values[i], p)
				}
				if spec.Type != nil {
					f = &fact{typ: p.ref(spec.Type), is: f.is, field: f.field}
				}
				p.set(n.Name, f)
			}
		}
	}
}

func (h *handlerReader) ranges(x *ast.RangeStmt, p goContext) {
	id, ok := x.Value.(*ast.Ident)
	if !ok {
		return
	}
	t := h.fact(x.X, p).typ.final()
	switch tt := t.expr.(type) {
	case *ast.ArrayType:
		p.set(id.Name, &fact{typ: t.with(tt.Elt)})
	case *ast.MapType:
		p.set(id.Name, &fact{typ: t.with(tt.Value)})
	default:
		p.set(id.Name, &fact{})
	}
}

// result is one of several results of a call, an assertion or an index.
func (h *handlerReader) result(e ast.Expr, i int, p goContext) *fact {
	if i == 0 {
		return h.fact(e, p)
	}
	if c, ok := e.(*ast.CallExpr); ok {
		if fn, _, args := h.callee(c, p); fn != nil {
			sig := fn.signature()
			sig.args = args
			if r := sig.results(); i < len(r) {
				return &fact{typ: r[i]}
			}
		}
	}
	return &fact{}
}

// fact is what is known of an expression. It is never nil.
func (h *handlerReader) fact(e ast.Expr, p goContext) *fact {
	switch e.(type) {
	case *ast.Ident, *ast.BasicLit, nil:
		return h.findFact(e, p)
	}
	k := factKey{e, p.sc}
	if f := h.facts[k]; f != nil {
		return f
	}
	if h.facts == nil {
		h.facts = map[factKey]*fact{}
	}
	h.facts[k] = &fact{}
	f := h.findFact(e, p)
	h.facts[k] = f
	return f
}

func (h *handlerReader) findFact(e ast.Expr, p goContext) *fact {
	h.depth++
	defer func() { h.depth-- }()
	if h.depth > 60 {
		return &fact{}
	}
	switch x := e.(type) {
	case *ast.Ident:
		if v, ok := p.sc.get(x.Name); ok {
			if f, ok := v.(*fact); ok {
				return f
			}
			return h.valueFact(v, typeRef{}, p)
		}
		if v := p.file.pkg.values[x.Name]; v != nil {
			return h.variable(v)
		}
	case *ast.BasicLit:
		return &fact{value: literal(x)}
	case *ast.ParenExpr:
		return h.fact(x.X, p)
	case *ast.UnaryExpr:
		return h.fact(x.X, p)
	case *ast.StarExpr:
		return h.fact(x.X, p)
	case *ast.CompositeLit:
		if x.Type != nil {
			return &fact{typ: p.ref(x.Type)}
		}
	case *ast.TypeAssertExpr:
		if x.Type != nil {
			return &fact{typ: p.ref(x.Type)}
		}
	case *ast.SelectorExpr:
		return h.selector(x, p)
	case *ast.IndexExpr:
		return h.indexed(x, p)
	case *ast.SliceExpr:
		if f := h.fact(x.X, p); f.is != isPath {
			return f
		}
		return h.below()
	case *ast.CallExpr:
		return h.called(x, p)
	case *ast.FuncLit:
		return &fact{typ: p.ref(x.Type)}
	}
	return &fact{}
}

func (h *handlerReader) variable(v *goVar) *fact {
	at := goContext{file: v.file, sc: (*scope)(nil).inner()}
	if v.typ != nil {
		f := &fact{typ: at.ref(v.typ)}
		if lit, ok := v.value.(*ast.BasicLit); ok {
			f.value = literal(lit)
		}
		return f
	}
	if v.value == nil || v.index > 0 {
		return &fact{}
	}
	return h.fact(v.value, at)
}

// text is a constant string, or "".
func (h *handlerReader) text(e ast.Expr, p goContext) string {
	if e == nil {
		return ""
	}
	if v, ok := h.fact(e, p).value.(string); ok {
		return v
	}
	if pkg, name, ok := p.file.qualified(e, p.sc); ok {
		if pkg == "net/http" {
			if m, ok := strings.CutPrefix(name, "Method"); ok {
				return strings.ToUpper(m)
			}
		}
	}
	return ""
}

func (h *handlerReader) selector(x *ast.SelectorExpr, p goContext) *fact {
	if pkg, name, ok := p.file.qualified(x, p.sc); ok {
		if local := h.in.src.local(pkg); local != nil && local.values[name] != nil {
			return h.variable(local.values[name])
		}
		return &fact{}
	}
	base := h.fact(x.X, p)
	n := base.typ.name()
	switch {
	case isRequest(base.typ, ""):
		switch x.Sel.Name {
		case "Body":
			return &fact{is: isBody}
		case "Form", "PostForm":
			return &fact{is: isForm}
		case "URL":
			return &fact{is: isURL}
		}
	case base.is == isURL && x.Sel.Name == "Path":
		return &fact{is: isPath}
	case (isGinContext(n) || h.embedsContext(base.typ, "")) && x.Sel.Name == "Request":
		return &fact{typ: requestType(base.typ)}
	}
	if o, ok := base.value.(*object); ok {
		if v := h.in.member2(o, x.Sel.Name); v != nil {
			f := h.valueFact(v, typeRef{}, p)
			if !f.typ.known() {
				f.typ, _ = o.typ.field(x.Sel.Name, 0)
			}
			return f
		}
	}
	t, _ := base.typ.field(x.Sel.Name, 0)
	return &fact{typ: t}
}

func isGinContext(n named) bool { return n.external(ginPath, "Context") }

// requestType is *http.Request in a file of its own.
func requestType(at typeRef) typeRef {
	f := &goFile{pkg: at.file.pkg, src: at.file.src, imports: map[string]string{"http": "net/http"}}
	return typeRef{expr: &ast.SelectorExpr{X: ast.NewIdent("http"), Sel: ast.NewIdent("Request")}, file: f}
}

func (h *handlerReader) indexed(x *ast.IndexExpr, p goContext) *fact {
	base := h.fact(x.X, p)
	if name := h.text(x.Index, p); name != "" {
		switch base.is {
		case isQuery:
			return &fact{field: h.query(name)}
		case isForm:
			return &fact{field: h.formField(name)}
		}
	}
	if base.field != nil {
		return &fact{field: base.field}
	}
	if base.is == isPath {
		return h.below()
	}
	t := base.typ.final()
	switch tt := t.expr.(type) {
	case *ast.ArrayType:
		return &fact{typ: t.with(tt.Elt)}
	case *ast.MapType:
		return &fact{typ: t.with(tt.Value)}
	}
	return &fact{}
}

// query is the parameter of the query with a name.
func (h *handlerReader) query(name string) *Field {
	for i := range h.route.Query {
		if h.route.Query[i].Name == name {
			return &h.route.Query[i]
		}
	}
	if len(h.route.Query) >= 60 {
		return &Field{}
	}
	// The fields before stay where they are: facts point to them.
	if h.route.Query == nil {
		h.route.Query = make([]Field, 0, 60)
	}
	h.route.Query = append(h.route.Query, Field{Name: name})
	return &h.route.Query[len(h.route.Query)-1]
}

func (h *handlerReader) formField(name string) *Field {
	if h.route.Method == "GET" || h.route.Method == "DELETE" || h.route.Method == "HEAD" {
		return h.query(name)
	}
	for i := range h.form {
		if h.form[i].Name == name {
			return &h.form[i]
		}
	}
	if len(h.form) >= 60 {
		return &Field{}
	}
	if h.form == nil {
		h.form = make([]Field, 0, 60)
	}
	h.form = append(h.form, Field{Name: name, Type: "string"})
	return &h.form[len(h.form)-1]
}

// below is what is left of the path of the request.
func (h *handlerReader) below() *fact {
	h.apart = true
	return &fact{field: h.param("id")}
}

func (h *handlerReader) param(name string) *Field {
	for i := range h.route.Params {
		if h.route.Params[i].Name == name {
			return &h.route.Params[i]
		}
	}
	return &Field{}
}

// isMethod reports whether an expression is the method of the request.
func (h *handlerReader) isMethod(e ast.Expr, p goContext) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Method" && isRequest(h.fact(sel.X, p).typ, "")
}

// methodTest is the method of r.Method == M or r.Method != M.
func (h *handlerReader) methodTest(e ast.Expr, p goContext) (method string, equal bool) {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ || !h.isMethod(b.X, p) {
		return "", false
	}
	return h.text(b.Y, p), b.Op == token.EQL
}

func (h *handlerReader) caseOf(c *ast.CaseClause, p goContext) bool {
	return slices.ContainsFunc(c.List, func(e ast.Expr) bool { return h.text(e, p) == h.route.Method })
}

// member notes body["name"].(type) of a body that is bound to a map.
func (h *handlerReader) member(x *ast.TypeAssertExpr, p goContext) {
	ix, ok := x.X.(*ast.IndexExpr)
	if !ok || x.Type == nil {
		return
	}
	r := &fieldReader{src: h.in.src, tags: []string{"json"}}
	h.mapMember(ix, r.typed(p.ref(x.Type), 0).Type, p)
}

func (h *handlerReader) mapMember(ix *ast.IndexExpr, typ string, p goContext) {
	if h.fact(ix.X, p).is != "map" || h.route.Body == nil {
		return
	}
	name := h.text(ix.Index, p)
	if name == "" {
		return
	}
	for i, f := range h.route.Body.Fields {
		if f.Name == name {
			if f.Type == "" {
				h.route.Body.Fields[i].Type = typ
			}
			return
		}
	}
	h.route.Body.Fields = append(h.route.Body.Fields, Field{Name: name, Type: typ})
}

// bind notes that the body of the request, or its query, becomes a value of a type. encoding is
// json, form, query or uri; "" is what the tags say.
func (h *handlerReader) bind(e ast.Expr, encoding string, p goContext) {
	f := h.fact(e, p)
	t := f.typ
	if !t.known() {
		return
	}
	switch encoding {
	case "query", "uri":
		tag := []string{"form"}
		if encoding == "uri" {
			tag = []string{"uri"}
		}
		h.bindParameters((&fieldReader{src: h.in.src, tags: tag}).fields(t, 0), encoding)
		return
	case "schema":
		h.bindParameters((&fieldReader{src: h.in.src, tags: []string{"schema", "form", "json"}}).fields(t, 0), "query")
		return
	}
	if encoding == "" {
		if h.route.Method == "GET" {
			h.bindParameters((&fieldReader{src: h.in.src, tags: []string{"form"}}).fields(t, 0), "query")
			return
		}
		encoding = "json"
		if !h.in.src.tagged(t, "json", 0) && h.in.src.tagged(t, "form", 0) {
			encoding = "form"
		}
	}
	if h.bound {
		return
	}
	r := &fieldReader{src: h.in.src, tags: []string{encoding}}
	whole := r.typed(t, 0)
	switch _, isMap := t.final().expr.(*ast.MapType); {
	case isMap:
		if id, ok := trimAddress(e).(*ast.Ident); ok {
			p.set(id.Name, &fact{typ: t, is: "map"})
		}
	case whole.Type == "array":
		// Field has no place for a body that is a list.
		return
	case whole.Type != "object":
		return
	}
	h.bound, h.target = true, t
	h.typ = t.name().name
	h.route.Body = &Body{Encoding: encoding, Fields: whole.Fields}
}

func trimAddress(e ast.Expr) ast.Expr {
	if u, ok := e.(*ast.UnaryExpr); ok {
		return u.X
	}
	return e
}

func (h *handlerReader) bindParameters(fields []Field, to string) {
	for _, f := range fields {
		if to == "uri" {
			if at := h.param(f.Name); at.Name != "" {
				f.Required = true
				*at = f
			}
			continue
		}
		at := h.query(f.Name)
		if at.Name != "" {
			*at = f
		}
	}
}

// tagged reports whether a field of a struct has a tag.
func (s *goSource) tagged(t typeRef, key string, depth int) bool {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok || depth > 4 {
		return false
	}
	for _, fd := range st.Fields.List {
		if _, has := fieldTag(fd).Lookup(key); has {
			return true
		}
		if s.tagged(f.with(fd.Type), key, depth+1) {
			return true
		}
	}
	return false
}

// pathBase is the last segment of an import path without its version.
func pathBase(p string) string { return path.Base(versioned(p)) }
