package routes

import (
	"go/ast"
)

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
