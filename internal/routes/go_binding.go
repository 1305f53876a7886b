package routes

import (
	"go/ast"
	"slices"
	"strings"
)

// called is what the result of a call is.
func (h *handlerReader) called(x *ast.CallExpr, p goContext) *fact {
	if id, ok := x.Fun.(*ast.Ident); ok && !p.sc.has(id.Name) && len(x.Args) > 0 {
		switch id.Name {
		case "new", "make":
			return &fact{typ: p.ref(x.Args[0])}
		case "append":
			return h.fact(x.Args[0], p)
		case "string":
			return h.fact(x.Args[0], p)
		}
	}
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
		if pkg, name, ok := p.file.qualified(sel, p.sc); ok {
			if h.in.src.local(pkg) == nil {
				return h.externalResult(pkg, name, x, p)
			}
		} else if f := h.requestCall(h.fact(sel.X, p), sel.Sel.Name, x, p); f != nil {
			return f
		}
	}
	fn, _, args := h.callee(x, p)
	if fn == nil {
		if t, ok := h.in.conversion(x.Fun, p); ok && len(x.Args) == 1 {
			f := *h.fact(x.Args[0], p)
			f.typ = t
			return &f
		}
		return &fact{}
	}
	sig := fn.signature()
	sig.args = args
	f := &fact{}
	if r := sig.results(); len(r) > 0 {
		f.typ = r[0]
		if _, isInterface := f.typ.asInterface(0); isInterface {
			if t := h.in.returned(fn, 0); t.known() {
				f.typ = t
			}
		}
	}
	f.is, f.field = h.passed(fn, x, p)
	return f
}

// passed is what a small function gives back of a parameter: func id(r) string { return
// chi.URLParam(r, "id") }.
func (h *handlerReader) passed(fn *goFunc, x *ast.CallExpr, p goContext) (is string, field *Field) {
	if fn.decl.Body == nil || h.passes >= 3 || slices.Contains(h.stack, fn) {
		return "", nil
	}
	if !slices.ContainsFunc(x.Args, func(e ast.Expr) bool { return h.carries(h.fact(e, p)) }) {
		return "", nil
	}
	inner := h.enterReading(fn, x, p)
	h.stack, h.passes = append(h.stack, fn), h.passes+1
	defer func() { h.stack, h.passes = h.stack[:len(h.stack)-1], h.passes-1 }()
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		if h.steps++; h.steps > goHandlerSteps || field != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			h.assign(n, inner)
		case *ast.DeclStmt:
			h.declare(n, inner)
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				if f := h.fact(n.Results[0], inner); f.field != nil || f.is != "" {
					is, field = f.is, f.field
				}
			}
		}
		return true
	})
	return is, field
}

// carries reports whether an argument has something of the request.
func (h *handlerReader) carries(f *fact) bool {
	if f.is != "" || f.field != nil {
		return true
	}
	n := f.typ.name()
	return isGinContext(n) || n.external("net/url", "Values") || isRequest(f.typ, "") || h.embedsContext(f.typ, "")
}

// isRequest reports whether a type is http.Request, or embeds it and has no method of the name
// itself.
func isRequest(t typeRef, name string) bool {
	if t.name().external("net/http", "Request") {
		return true
	}
	st, ok := t.final().expr.(*ast.StructType)
	if !ok {
		return false
	}
	if fn, _ := t.method(name, 0); fn != nil {
		return false
	}
	return slices.ContainsFunc(st.Fields.List, func(fd *ast.Field) bool {
		return len(fd.Names) == 0 && t.final().with(fd.Type).name().external("net/http", "Request")
	})
}

// externalResult is the result of a function of another package.
func (h *handlerReader) externalResult(pkg, name string, x *ast.CallExpr, p goContext) *fact {
	arg := func(i int) ast.Expr {
		if i < len(x.Args) {
			return x.Args[i]
		}
		return &ast.BadExpr{}
	}
	switch {
	case versioned(pkg) == chiPath && (name == "URLParam" || name == "URLParamFromCtx"):
		if n := h.text(arg(1), p); n != "" {
			return &fact{field: h.param(restOfPath(n))}
		}
	case pkg == "encoding/json" && name == "NewDecoder", strings.HasSuffix(pkg, "/json") && name == "NewDecoder":
		switch h.fact(arg(0), p).is {
		case isBody, isBytes:
			return &fact{is: isDecoder}
		}
	case name == "ReadAll" || name == "LimitReader" || name == "NewReader" || name == "NewBuffer" || name == "TeeReader" || name == "NopCloser":
		if h.fact(arg(0), p).is == isBody || h.fact(arg(0), p).is == isBytes {
			return &fact{is: isBytes}
		}
	case pkg == "net/http" && name == "MaxBytesReader":
		if h.fact(arg(1), p).is == isBody {
			return &fact{is: isBody}
		}
	case (pkg == "strings" || pkg == "path") && h.fact(arg(0), p).is == isPath:
		switch name {
		case "TrimPrefix", "Base", "CutPrefix", "Replace", "TrimLeft":
			return h.below()
		}
		if name == "Split" || name == "SplitN" || strings.HasPrefix(name, "Trim") {
			return &fact{is: isPath}
		}
	case pkg == "strings" || pkg == "html" || pkg == "net/url":
		return &fact{field: h.fact(arg(0), p).field}
	case strings.HasSuffix(versioned(pkg), "com/com") && name == "StrTo":
		return &fact{field: h.fact(arg(0), p).field}
	}
	h.typedBy(pkg, name, x, p)
	return &fact{field: h.fact(arg(0), p).field}
}

// restOfPath is the name of the rest of a path in a Route.
func restOfPath(name string) string {
	if name == "*" {
		return "path"
	}
	return name
}

// typedBy notes the type of a parameter by the function that reads it.
func (h *handlerReader) typedBy(pkg, name string, x *ast.CallExpr, p goContext) {
	if len(x.Args) == 0 {
		return
	}
	var t Field
	base := pathBase(pkg)
	switch {
	case pkg == "strconv" && (name == "Atoi" || name == "ParseInt" || name == "ParseUint"):
		t.Type = "integer"
	case pkg == "strconv" && name == "ParseFloat":
		t.Type = "number"
	case pkg == "strconv" && name == "ParseBool":
		t.Type = "boolean"
	case base == "uuid" || base == "go.uuid":
		t.Type, t.Format = "string", "uuid"
	case name == "ObjectIDFromHex" || name == "ObjectIdHex":
		t.Type, t.Pattern = "string", objectID
	case base == "cast" && strings.HasPrefix(name, "ToInt"), base == "cast" && strings.HasPrefix(name, "ToUint"):
		t.Type = "integer"
	case pkg == "time" && name == "Parse" && len(x.Args) == 2:
		layout := h.text(x.Args[0], p)
		if pk, n, ok := p.file.qualified(x.Args[0], p.sc); ok && pk == "time" {
			layout = map[string]string{"RFC3339": "2006-01-02T15:04:05Z07:00", "DateOnly": "2006-01-02", "RFC3339Nano": "2006-01-02T15:04:05Z07:00"}[n]
		}
		if f := h.fact(x.Args[1], p).field; f != nil && f.Type == "" {
			f.Type, f.Format = "string", dateFormat(layout)
		}
		return
	default:
		return
	}
	if f := h.fact(x.Args[0], p).field; f != nil && (f.Type == "" || f.Type == "string" && f.Format == "") {
		f.Type, f.Format = t.Type, t.Format
		if t.Pattern != "" {
			f.Pattern = t.Pattern
		}
	}
}

// requestCall is a method of the context of Gin, of a request or of url.Values; nil for other
// receivers.
func (h *handlerReader) requestCall(recv *fact, name string, x *ast.CallExpr, p goContext) *fact {
	first := ""
	if len(x.Args) > 0 {
		first = h.text(x.Args[0], p)
	}
	n := recv.typ.name()
	switch {
	case isGinContext(n) || h.embedsContext(recv.typ, name):
		return h.ginCall(name, first, x, p)
	case isRequest(recv.typ, name):
		switch name {
		case "PathValue":
			return &fact{field: h.param(first)}
		case "FormValue":
			if first != "" {
				return &fact{field: h.formField(first)}
			}
		case "PostFormValue":
			if first != "" {
				return &fact{field: h.formField(first)}
			}
		case "WithContext", "Clone":
			return recv
		}
		return &fact{}
	case recv.is == isURL:
		if name == "Query" {
			return &fact{is: isQuery}
		}
		return &fact{}
	case recv.is == isQuery || recv.is == isForm || n.external("net/url", "Values"):
		if (name == "Get" || name == "Has") && first != "" {
			if recv.is == isForm {
				return &fact{field: h.formField(first)}
			}
			return &fact{field: h.query(first)}
		}
		return &fact{}
	case recv.field != nil && (name == "MustInt" || name == "Int" || name == "MustInt64"):
		if recv.field.Type == "" {
			recv.field.Type = "integer"
		}
		return &fact{field: recv.field}
	}
	return nil
}

// embedsContext reports whether a type of the tree has a method because it embeds *gin.Context.
func (h *handlerReader) embedsContext(t typeRef, name string) bool {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok {
		return false
	}
	if fn, _ := t.method(name, 0); fn != nil {
		return false
	}
	for _, fd := range st.Fields.List {
		if len(fd.Names) == 0 && isGinContext(f.with(fd.Type).name()) {
			return true
		}
	}
	return false
}

func (h *handlerReader) ginCall(name, first string, x *ast.CallExpr, p goContext) *fact {
	switch name {
	case "Param":
		return &fact{field: h.param(first)}
	case "Query", "GetQuery", "QueryArray", "GetQueryArray":
		if first != "" {
			return &fact{field: h.query(first)}
		}
	case "DefaultQuery":
		if first != "" {
			f := h.query(first)
			if len(x.Args) > 1 && f.Example == nil {
				if v := h.text(x.Args[1], p); v != "" {
					f.Example = v
				}
			}
			return &fact{field: f}
		}
	case "PostForm", "GetPostForm", "DefaultPostForm", "PostFormArray":
		if first != "" {
			return &fact{field: h.formField(first)}
		}
	case "GetRawData":
		return &fact{is: isBytes}
	case "MustGet", "Get":
		return &fact{}
	}
	return &fact{}
}

// call reads a call for what it binds, and reads on in functions that get the request.
func (h *handlerReader) call(x *ast.CallExpr, p goContext) {
	h.fact(x, p) // a parameter that is read, and as what
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
		if pkg, name, ok := p.file.qualified(sel, p.sc); ok {
			if h.in.src.local(pkg) == nil {
				h.externalCall(pkg, name, x, p)
				return
			}
		} else if h.bindingCall(h.fact(sel.X, p), sel.Sel.Name, x, p) {
			return
		}
	}
	h.follow(x, p)
}

// externalCall reads a call of a function of another package.
func (h *handlerReader) externalCall(pkg, name string, x *ast.CallExpr, p goContext) {
	h.externalResult(pkg, name, x, p)
	if len(x.Args) < 2 {
		return
	}
	from := h.fact(x.Args[0], p)
	switch base := pathBase(pkg); {
	case base == "render" && (name == "Bind" || name == "Decode"):
		h.bind(x.Args[1], "json", p)
		h.binder(x.Args[1], p)
	case base == "render" && name == "DecodeJSON" && from.is == isBody:
		h.bind(x.Args[1], "json", p)
	case base == "render" && name == "DecodeForm" && from.is == isBody:
		h.bind(x.Args[1], "form", p)
	case strings.HasPrefix(name, "Unmarshal") && (from.is == isBytes || from.is == isBody || from.is == isDecoder) && !strings.Contains(pkg, "yaml") && !strings.Contains(pkg, "xml"):
		h.bind(x.Args[1], "json", p)
	case strings.HasSuffix(pkg, "/binding") && name == "JSON": // mholt/binding
		h.bind(x.Args[1], "json", p)
	case name == "Bind" && isRequest(from.typ, ""):
		h.bind(x.Args[1], "json", p)
	}
}

// binder reads the method Bind of what render.Bind is given.
func (h *handlerReader) binder(e ast.Expr, p goContext) {
	f := h.fact(e, p)
	fn, _ := f.typ.method("Bind", 0)
	if fn == nil || slices.Contains(h.stack, fn) || len(h.stack) > goHandlerDepth {
		return
	}
	h.stack = append(h.stack, fn)
	defer func() { h.stack = h.stack[:len(h.stack)-1] }()
	inner := goContext{file: fn.file, sc: (*scope)(nil).inner()}
	h.receiver(fn, &fact{typ: f.typ}, inner)
	inner.setParameters(fn.signature())
	h.block(fn.decl.Body, inner)
}

// bindingCall reads a method that binds. It reports whether it is one.
func (h *handlerReader) bindingCall(recv *fact, name string, x *ast.CallExpr, p goContext) bool {
	arg := func(i int) ast.Expr {
		if i < len(x.Args) {
			return x.Args[i]
		}
		return &ast.BadExpr{}
	}
	n := recv.typ.name()
	if isGinContext(n) || h.embedsContext(recv.typ, name) {
		h.requestCall(recv, name, x, p)
		switch name {
		case "ShouldBindJSON", "BindJSON":
			h.bind(arg(0), "json", p)
		case "ShouldBind", "Bind":
			h.bind(arg(0), "", p)
		case "ShouldBindQuery", "BindQuery":
			h.bind(arg(0), "query", p)
		case "ShouldBindUri", "BindUri", "ShouldBindURI":
			h.bind(arg(0), "uri", p)
		case "ShouldBindWith", "BindWith", "MustBindWith", "ShouldBindBodyWith":
			h.bind(arg(0), bindingName(arg(1), p), p)
		case "ShouldBindBodyWithJSON":
			h.bind(arg(0), "json", p)
		}
		return true
	}
	switch {
	case recv.is == isDecoder && name == "Decode":
		h.bind(arg(0), "json", p)
		return true
	case name == "Decode" && len(x.Args) == 2:
		if from := h.fact(arg(1), p); from.is == isQuery || from.is == isForm && h.route.Method == "GET" {
			h.bind(arg(0), "schema", p)
			return true
		} else if from.is == isForm {
			h.bind(arg(0), "form", p)
			return true
		}
	}
	if isRequest(recv.typ, name) {
		h.requestCall(recv, name, x, p)
		return true
	}
	return false
}

// bindingName is the encoding of binding.JSON and its like; "" for one that depends on the
// request.
func bindingName(e ast.Expr, p goContext) string {
	if _, name, ok := p.file.qualified(e, p.sc); ok {
		switch name {
		case "JSON":
			return "json"
		case "Form", "FormPost", "FormMultipart":
			return "form"
		case "Query":
			return "query"
		}
	}
	return ""
}

// follow reads a function of the tree that gets something of the request, or is a method of
// something that holds it.
func (h *handlerReader) follow(x *ast.CallExpr, p goContext) {
	fn, recv, _ := h.callee(x, p)
	if fn == nil || fn.decl.Body == nil || slices.Contains(h.stack, fn) || len(h.stack) > goHandlerDepth {
		return
	}
	given := slices.ContainsFunc(x.Args, func(e ast.Expr) bool { return h.carries(h.fact(e, p)) })
	if !given && recv != nil {
		given = h.holds(recv.typ) || h.isTarget(recv)
	}
	given = given || slices.ContainsFunc(x.Args, func(e ast.Expr) bool { return h.isTarget(h.fact(e, p)) })
	if !given {
		return
	}
	inner := h.enterReading(fn, x, p)
	h.stack = append(h.stack, fn)
	h.block(fn.decl.Body, inner)
	h.stack = h.stack[:len(h.stack)-1]
}

// isTarget reports whether a value is the body after it was bound: what gets it may check it.
func (h *handlerReader) isTarget(f *fact) bool {
	if !h.bound || !f.typ.known() {
		return false
	}
	t := f.typ.final()
	return t.expr != nil && t.expr == h.target.final().expr
}

// holds reports whether a struct has the request in a field.
func (h *handlerReader) holds(t typeRef) bool {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok {
		return false
	}
	return slices.ContainsFunc(st.Fields.List, func(fd *ast.Field) bool {
		n := f.with(fd.Type).name()
		return isGinContext(n) || n.external("net/http", "Request")
	})
}
