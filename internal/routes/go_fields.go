package routes

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a form.
const (
	goFieldDepth = 6
	goFieldCount = 400
)

// fieldReader makes fields of struct types.
type fieldReader struct {
	src   *goSource
	tags  []string // where names stand, the first that a field has
	count int
	path  []*goType
}

// fields are the members of a struct type as they are sent, embedded ones among them.
func (r *fieldReader) fields(t typeRef, depth int) []Field {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok || depth > goFieldDepth {
		return nil
	}
	if n := t.name(); n.typ != nil {
		if slices.Contains(r.path, n.typ) {
			return nil
		}
		r.path = append(r.path, n.typ)
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	rules := r.src.calledRules(t)
	var own, promoted []Field
	for _, fd := range st.Fields.List {
		tag := fieldTag(fd)
		if len(fd.Names) == 0 {
			name := embeddedName(fd.Type)
			if tagName, _ := r.name(tag, ""); tagName == "" {
				promoted = append(promoted, r.fields(f.with(fd.Type), depth+1)...)
				continue
			} else if tagName != "-" {
				own = append(own, r.field(f.with(fd.Type), name, tag, rules[name], depth))
			}
			continue
		}
		for _, n := range fd.Names {
			if !n.IsExported() {
				continue
			}
			if name, _ := r.name(tag, n.Name); name == "-" {
				continue
			}
			if r.count++; r.count > goFieldCount {
				return own
			}
			own = append(own, r.field(f.with(fd.Type), n.Name, tag, rules[n.Name], depth))
		}
	}
	for _, p := range promoted {
		if !slices.ContainsFunc(own, func(o Field) bool { return o.Name == p.Name }) {
			own = append(own, p)
		}
	}
	return own
}

func fieldTag(fd *ast.Field) reflect.StructTag {
	if fd.Tag == nil {
		return ""
	}
	s, err := strconv.Unquote(fd.Tag.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(s)
}

// name is what a tag calls a field, and the options behind it; otherwise fallback.
func (r *fieldReader) name(tag reflect.StructTag, fallback string) (name, options string) {
	for _, key := range r.tags {
		v, ok := tag.Lookup(key)
		if !ok {
			continue
		}
		name, options, _ = strings.Cut(v, ",")
		if name == "" {
			name = fallback
		}
		return name, options
	}
	return fallback, ""
}

// field is one member with its type and rules.
func (r *fieldReader) field(t typeRef, name string, tag reflect.StructTag, extra []rule, depth int) Field {
	sent, options := r.name(tag, name)
	f := r.typed(t, depth+1)
	f.Name = sent
	for option := range strings.SplitSeq(options, ",") {
		if option == "string" {
			f.Type, f.Format = "string", ""
		}
		if d, ok := strings.CutPrefix(option, "default="); ok {
			f.Example = exampleOf(f, d)
		}
	}
	for _, key := range []string{"binding", "validate", "valid"} {
		if v, ok := tag.Lookup(key); ok {
			applyTag(&f, v)
		}
	}
	for _, ru := range extra {
		ru.apply(&f)
	}
	for _, key := range []string{"example", "default"} {
		if v, ok := tag.Lookup(key); ok && v != "" && f.Example == nil {
			f.Example = exampleOf(f, v)
		}
	}
	return f
}

// exampleOf is a value of a tag in the type of its field.
func exampleOf(f Field, s string) any {
	switch f.Type {
	case "integer":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		return nil
	case "number":
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return n
		}
		return nil
	case "boolean":
		if b, err := strconv.ParseBool(s); err == nil {
			return b
		}
		return nil
	case "array", "object":
		return nil
	}
	return s
}

// typed is a field without a name, of a type.
func (r *fieldReader) typed(t typeRef, depth int) Field {
	if depth > goFieldDepth+2 {
		return Field{}
	}
	t = t.bare()
	n := t.name()
	if f, ok := knownType(n); ok {
		return f
	}
	if n.typ != nil {
		if fn, _ := t.method("UnmarshalJSON", 0); fn != nil {
			return Field{}
		}
		if fn, _ := t.method("UnmarshalText", 0); fn != nil {
			return Field{Type: "string"}
		}
		f := r.typed(n.of(), depth+1)
		if _, isStruct := t.final().expr.(*ast.StructType); isStruct {
			return Field{Type: "object", Fields: r.fields(t, depth)}
		}
		if f.Type == "string" && f.Format == "" {
			f.Enum = r.src.constants(n.typ)
		}
		return f
	}
	switch x := t.expr.(type) {
	case *ast.ArrayType:
		if baseName(x.Elt) == "byte" || baseName(x.Elt) == "uint8" {
			return Field{Type: "string"}
		}
		item := r.typed(t.with(x.Elt), depth+1)
		return Field{Type: "array", Items: &item}
	case *ast.MapType:
		return Field{Type: "object"}
	case *ast.StructType:
		return Field{Type: "object", Fields: r.fields(t, depth)}
	}
	return Field{}
}

// knownType is a type of the language or of a package that many use.
func knownType(n named) (Field, bool) {
	if n.typ != nil || n.name == "" {
		return Field{}, false
	}
	if n.path == "" {
		switch n.name {
		case "string":
			return Field{Type: "string"}, true
		case "bool":
			return Field{Type: "boolean"}, true
		case "float32", "float64":
			return Field{Type: "number"}, true
		case "any", "error":
			return Field{}, true
		}
		if strings.HasPrefix(n.name, "int") || strings.HasPrefix(n.name, "uint") || n.name == "byte" || n.name == "rune" {
			return Field{Type: "integer"}, true
		}
		return Field{}, false
	}
	base := n.path[strings.LastIndexByte(versioned(n.path), '/')+1:]
	switch {
	case n.path == "time" && n.name == "Time":
		return Field{Type: "string", Format: "date-time"}, true
	case n.path == "time" && n.name == "Duration":
		return Field{Type: "integer"}, true
	case n.name == "UUID" || n.name == "NullUUID":
		return Field{Type: "string", Format: "uuid"}, true
	case n.name == "ObjectID":
		return Field{Type: "string", Pattern: objectID}, true
	case n.path == "encoding/json" && n.name == "Number", n.name == "Decimal":
		return Field{Type: "number"}, true
	case n.path == "net/url" && n.name == "URL":
		return Field{}, true
	case strings.Contains(base, "null") || n.path == "database/sql" && base != "null":
		switch {
		case n.path == "database/sql": // an object in JSON
			return Field{}, true
		case strings.HasSuffix(n.name, "String"):
			return Field{Type: "string"}, true
		case strings.Contains(n.name, "Int"):
			return Field{Type: "integer"}, true
		case strings.HasSuffix(n.name, "Bool"):
			return Field{Type: "boolean"}, true
		case strings.HasSuffix(n.name, "Float"):
			return Field{Type: "number"}, true
		case strings.HasSuffix(n.name, "Time"):
			return Field{Type: "string", Format: "date-time"}, true
		}
	}
	return Field{}, true
}

const objectID = "^[0-9a-f]{24}$"

// constants are the values that the tree declares of a type of strings, in order.
func (s *goSource) constants(t *goType) []string {
	var out []string
	if t.scope != nil {
		return nil
	}
	for _, f := range t.file.pkg.files {
		for _, d := range f.tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok || v.Type == nil || baseName(v.Type) != t.spec.Name.Name {
					continue
				}
				for _, e := range v.Values {
					if lit, ok := e.(*ast.BasicLit); ok {
						if s, ok := literal(lit).(string); ok && s != "" && len(out) < 50 {
							out = append(out, s)
						}
					}
				}
			}
		}
	}
	return out
}
