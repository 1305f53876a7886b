package ruby

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "lib/a.rb", map[string]string{
		"functions": masktest.Nested("def f; ", "g", "; end"),
		"classes":   masktest.Nested("class A; ", "def f; g; end", "; end"),
	})
}
