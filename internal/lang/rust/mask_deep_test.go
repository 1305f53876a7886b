package rust

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "src/a.rs", map[string]string{
		"functions": masktest.Nested("fn f() { ", "g();", " }"),
		"classes":   masktest.Nested("fn f() { impl A { fn m() { ", "g();", " } } }"),
		"modules":   masktest.Nested("mod a { ", "fn f() { g() }", " }"),
		"macros":    masktest.Nested("macro_rules! m { () => { fn f() { ", "g();", " } } }"),
		"tokens":    "macro_rules! m { () => { " + masktest.Nested("fn f() { ", "g();", " }") + " } }",
		"patterns":  "fn f() { let " + masktest.Nested("(a, ", "b", ")") + " = g(); }",
	})
}
