package javascript

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMaskDeep(t *testing.T) {
	t.Parallel()
	masktest.Deep(t, Masker{}, "a.js", map[string]string{
		"objects":   "const o = " + masktest.Nested("{ f: ", "() => g()", " }") + ";",
		"functions": masktest.Nested("function f() { ", "g();", " }"),
		"classes":   masktest.Nested("class A { m() { ", "g();", " } }"),
	})
}

// A row of assignments is read in a time that its length says.
func TestMaskRows(t *testing.T) {
	t.Parallel()
	const many = 20_000
	row := func(head, name string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range many {
			b.WriteString(name + strconv.Itoa(i) + " = ")
		}
		return "-- a.js --\n" + b.String() + "function () { return 1; };\n"
	}
	for name, tree := range map[string]string{
		"members": row("var o = {};\n", "o.a"), "names": row("", "a"), "variables": row("var ", "a"), "exports": row("", "exports.a"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			masktest.Kept(t, Masker{}, tree)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it takes %v", took)
			}
		})
	}
}
