package routes

import (
	"go/ast"
	"strconv"
	"strings"
)

// rule is one condition of a validation library.
type rule struct {
	name string
	args []string
}

// applyTag applies the rules of a tag of go-playground/validator, as Gin has it in binding.
func applyTag(f *Field, tag string) {
	if strings.ContainsAny(tag, ";(") {
		applyCalls(f, tag)
		return
	}
	at := f
	for part := range strings.SplitSeq(tag, ",") {
		name, arg, has := strings.Cut(strings.TrimSpace(part), "=")
		if name == "dive" {
			if at.Items == nil {
				return
			}
			at = at.Items
			continue
		}
		if name == "keys" {
			return
		}
		r := rule{name: name}
		if has {
			r.args = []string{arg}
		}
		if name == "oneof" {
			r.args = oneOf(arg)
		}
		r.apply(at)
	}
}

// applyCalls applies rules that are written as calls: those of Beego (Required;MaxSize(100)) and
// of govalidator (required,length(1|20)).
func applyCalls(f *Field, tag string) {
	for s := strings.TrimLeft(tag, " ;,"); s != ""; s = strings.TrimLeft(s, " ;,") {
		name, rest, _ := cutAny(s, ";,(")
		r := rule{name: name}
		if strings.HasPrefix(s[len(name):], "(") {
			inside, after, ok := strings.Cut(rest, ")")
			if !ok {
				return
			}
			r.args = strings.FieldsFunc(inside, func(c rune) bool { return c == '|' || c == ',' || c == ' ' })
			rest = after
		}
		switch r.name {
		case "MaxSize", "Max":
			f.Max = r.number(0, 0)
		case "MinSize":
			f.Min = r.number(0, 0)
		case "Range", "length", "range", "stringlength", "runelength":
			f.Min, f.Max = r.number(0, 0), r.number(1, 0)
		case "in":
			f.Enum = r.args
		default:
			r.apply(f)
		}
		s = rest
	}
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// oneOf splits the words of oneof, some of which are quoted.
func oneOf(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] == '\'' {
			if word, rest, ok := strings.Cut(s[1:], "'"); ok {
				out, s = append(out, word), rest
				continue
			}
		}
		word, rest, _ := strings.Cut(s, " ")
		out, s = append(out, word), rest
	}
	return out
}

var formats = map[string]string{
	"email": "email", "url": "uri", "uri": "uri", "http_url": "uri", "uuid": "uuid", "uuid3": "uuid", "uuid4": "uuid", "uuid5": "uuid",
	"uuid_rfc4122": "uuid", "uuid4_rfc4122": "uuid", "EmailFormat": "email", "Email": "email", "URL": "uri", "RequestURL": "uri",
	"RequestURI": "uri", "UUID": "uuid", "UUIDv3": "uuid", "UUIDv4": "uuid", "UUIDv5": "uuid",
}

var patterns = map[string]string{
	"alpha": "^[a-zA-Z]+$", "alphanum": "^[a-zA-Z0-9]+$", "numeric": "^[-+]?[0-9]+(\\.[0-9]+)?$", "number": "^[0-9]+$",
	"hexadecimal": "^(0[xX])?[0-9a-fA-F]+$", "lowercase": "^[^A-Z]+$", "uppercase": "^[^a-z]+$", "e164": "^\\+[1-9][0-9]{7,14}$",
	"hexcolor": "^#[0-9a-fA-F]{6}$", "Alpha": "^[a-zA-Z]+$", "Alphanumeric": "^[a-zA-Z0-9]+$", "Digit": "^[0-9]+$", "Int": "^[0-9]+$",
	"LowerCase": "^[^A-Z]+$", "UpperCase": "^[^a-z]+$", "Hexadecimal": "^[0-9a-fA-F]+$", "E164": "^\\+[1-9][0-9]{7,14}$",
	"mongodb": objectID, "MongoID": objectID,
}

// apply puts a rule on a field.
func (r rule) apply(f *Field) {
	switch r.name {
	case "required", "exists", "Required", "NotNil":
		f.Required = true
	case "min", "gte", "Min":
		f.Min = r.number(0, 0)
	case "max", "lte", "Max":
		f.Max = r.number(0, 0)
	case "gt":
		f.Min = r.number(0, r.step(f, 1))
	case "lt":
		f.Max = r.number(0, r.step(f, -1))
	case "len":
		f.Min, f.Max = r.number(0, 0), r.number(0, 0)
	case "Length", "RuneLength":
		f.Min = r.number(0, 0)
		if n := r.number(1, 0); n != nil && *n > 0 {
			f.Max = n
		}
	case "oneof", "In":
		f.Enum = r.args
	case "datetime", "Date":
		if len(r.args) > 0 {
			f.Format = dateFormat(r.args[0])
		}
	case "Match":
		if len(r.args) > 0 {
			f.Pattern = r.args[0]
		}
	default:
		if v, ok := formats[r.name]; ok {
			f.Format, f.Pattern = v, ""
		}
		if v, ok := patterns[r.name]; ok && f.Format == "" && (f.Type == "string" || f.Type == "") {
			f.Pattern = v
		}
	}
}

// step is what gt and lt add: a whole number for lengths and integers.
func (r rule) step(f *Field, by float64) float64 {
	if f.Type == "number" {
		return by / 100
	}
	return by
}

func (r rule) number(i int, add float64) *float64 {
	if i >= len(r.args) {
		return nil
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(r.args[i], "_", ""), 64)
	if err != nil {
		return nil
	}
	n += add
	return &n
}

// dateFormat is the format of a layout of package time.
func dateFormat(layout string) string {
	switch {
	case strings.Contains(layout, "2006") && strings.Contains(layout, "15"):
		return "date-time"
	case layout == "2006-01-02":
		return "date"
	}
	return ""
}

// calledRules are the rules that methods of a type ask of its fields by calls of ozzo-validation:
// validation.Field(&x.Email, validation.Required, is.Email).
func (s *goSource) calledRules(t typeRef) map[string][]rule {
	n := t.name()
	if n.typ == nil || n.typ.scope != nil {
		return nil
	}
	out := map[string][]rule{}
	for _, name := range []string{"Validate", "ValidateWithContext", "Bind", "Valid", "IsValid", "OK"} {
		fn := n.typ.file.pkg.funcs[n.typ.spec.Name.Name+"."+name]
		if fn == nil || fn.decl.Body == nil || len(fn.decl.Recv.List[0].Names) == 0 {
			continue
		}
		recv := fn.decl.Recv.List[0].Names[0].Name
		ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if p, name, ok := fn.file.qualified(x.Fun, nil); ok && name == "Field" && strings.Contains(p, "ozzo-validation") && len(x.Args) > 0 {
					if field := selected(x.Args[0], recv); field != "" {
						out[field] = append(out[field], calls(fn.file, x.Args[1:])...)
					}
					return false
				}
			case *ast.BinaryExpr:
				if field := emptiness(x); field != nil && selected(field, recv) != "" {
					out[selected(field, recv)] = append(out[selected(field, recv)], rule{name: "required"})
				}
			}
			return true
		})
	}
	return out
}

// selected is F of &x.F, x.F or *x.F.
func selected(e ast.Expr, x string) string {
	switch v := e.(type) {
	case *ast.UnaryExpr:
		return selected(v.X, x)
	case *ast.StarExpr:
		return selected(v.X, x)
	case *ast.ParenExpr:
		return selected(v.X, x)
	case *ast.SelectorExpr:
		if id, ok := v.X.(*ast.Ident); ok && id.Name == x {
			return v.Sel.Name
		}
	}
	return ""
}

// calls reads rules that are values and calls: validation.Length(1, 20).
func calls(f *goFile, all []ast.Expr) []rule {
	var out []rule
	for _, e := range all {
		r := rule{}
		if c, ok := e.(*ast.CallExpr); ok {
			for _, a := range c.Args {
				if inner, ok := a.(*ast.CallExpr); ok && len(inner.Args) == 1 { // regexp.MustCompile
					a = inner.Args[0]
				}
				lit, ok := a.(*ast.BasicLit)
				if !ok {
					continue
				}
				if s, ok := literal(lit).(string); ok {
					r.args = append(r.args, s)
				} else {
					r.args = append(r.args, lit.Value)
				}
			}
			e = c.Fun
		}
		for range 4 { // validation.Min(1).Exclusive(), validation.Required.Error("…")
			sel, ok := e.(*ast.SelectorExpr)
			if !ok {
				break
			}
			if _, name, ok := f.qualified(sel, nil); ok {
				r.name = name
				break
			}
			e = sel.X
			if c, ok := e.(*ast.CallExpr); ok {
				e = c.Fun
			}
		}
		if r.name != "" {
			out = append(out, r)
		}
	}
	return out
}

// emptiness is x of x == "" or len(x) == 0, spaces trimmed; nil for other comparisons.
func emptiness(x *ast.BinaryExpr) ast.Expr {
	if x.Op.String() != "==" {
		return nil
	}
	e := x.X
	lit, ok := x.Y.(*ast.BasicLit)
	if !ok || lit.Value != `""` && lit.Value != "0" {
		return nil
	}
	isLen := false
	for range 3 {
		c, ok := e.(*ast.CallExpr)
		if !ok || len(c.Args) != 1 {
			break
		}
		if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "len" {
			isLen = true
		}
		e = c.Args[0]
	}
	if lit.Value == "0" && !isLen {
		return nil
	}
	if _, ok := e.(*ast.SelectorExpr); ok {
		return e
	}
	return nil
}
