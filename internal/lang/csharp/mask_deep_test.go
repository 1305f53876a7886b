package csharp

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "src/A.cs", map[string]string{
		"classes":   masktest.Nested("class A { ", "int F() { return 1; }", " }"),
		"functions": "class A { " + masktest.Nested("void F() { ", "G();", " }") + " }",
	})
}
