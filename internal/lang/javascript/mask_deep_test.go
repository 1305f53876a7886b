package javascript

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "a.js", map[string]string{
		"calls":     "function f() { return " + masktest.Nested("g(", "h", ")") + "; }",
		"functions": masktest.Nested("function f() { ", "g();", " }"),
		"classes":   masktest.Nested("class A { m() { ", "g();", " } }"),
	})
}
