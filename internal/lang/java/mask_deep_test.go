package java

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "A.java", map[string]string{
		"objects": "class A { Object f() { return " + masktest.Nested("new Object() { Object g() { return ", "1", "; } }") + "; } }",
		"classes": masktest.Nested("class A { ", "int f() { return 1; }", " }"),
		"fields":  "class A { int f() { return " + masktest.Nested("", "a", ".a") + ".g(); } }",
	})
}
