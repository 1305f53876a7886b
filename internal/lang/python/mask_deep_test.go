package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "a.py", map[string]string{
		"lambdas": "def f():\n    return " + masktest.Nested("(lambda: ", "g()", ")") + "\n",
	})
}
