package golang

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "a.go", map[string]string{
		"literals": "package a\nfunc f() any { return " + masktest.Nested("func() any { return ", "g()", " }") + " }",
	})
}
