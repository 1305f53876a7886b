package routes

import (
	"go/ast"
	"strings"
)

// preset is the default that a setting has: of a tag of its field (default, envDefault,
// env-default), or of viper.SetDefault for a key that ends in the name of the field.
func (s *goSource) preset(t typeRef, name string) (string, bool) {
	f := t.final()
	st, ok := f.expr.(*ast.StructType)
	if !ok {
		return "", false
	}
	for _, fd := range st.Fields.List {
		for _, n := range fd.Names {
			if n.Name != name || baseName(f.with(fd.Type).final().expr) != "string" {
				continue
			}
			tag := fieldTag(fd)
			for _, key := range []string{"default", "envDefault", "env-default"} {
				if v, ok := tag.Lookup(key); ok {
					return v, true
				}
			}
			for _, key := range []string{tag.Get("mapstructure"), name} {
				if v, ok := s.viperDefaults()[strings.ToLower(key)]; ok && key != "" && v != "" {
					return v, true
				}
			}
		}
	}
	return "", false
}

// viperDefaults are the constants that viper.SetDefault gives keys, by the key and by its last
// segment; "" where two keys end alike.
func (s *goSource) viperDefaults() map[string]string {
	if s.viper != nil {
		return s.viper
	}
	s.viper = map[string]string{}
	for _, dir := range s.folders {
		for _, f := range s.packages[dir].files {
			if !strings.Contains(strings.Join(importPaths(f), " "), "spf13/viper") {
				continue
			}
			ast.Inspect(f.tree, func(n ast.Node) bool {
				c, ok := n.(*ast.CallExpr)
				if !ok || len(c.Args) != 2 {
					return true
				}
				sel, ok := c.Fun.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "SetDefault" {
					return true
				}
				key, _ := constant(c.Args[0]).(string)
				value, ok := constant(c.Args[1]).(string)
				if !ok || key == "" {
					return true
				}
				key = strings.ToLower(key)
				s.viper[key] = value
				last := key[strings.LastIndexByte(key, '.')+1:]
				if old, taken := s.viper[last]; taken && old != value && last != key {
					value = ""
				}
				s.viper[last] = value
				return true
			})
		}
	}
	return s.viper
}

func importPaths(f *goFile) []string {
	var out []string
	for _, p := range f.imports {
		out = append(out, p)
	}
	return out
}

// constant is the value of a literal, or nil.
func constant(e ast.Expr) any {
	if lit, ok := e.(*ast.BasicLit); ok {
		return literal(lit)
	}
	return nil
}
