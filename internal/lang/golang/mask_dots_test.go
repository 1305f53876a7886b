package golang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/mask"
)

// TestMaskDots holds which of several dot imports stay when bodies go.
func TestMaskDots(t *testing.T) {
	t.Parallel()
	const others = `-- go.mod --
module example.com/m
-- x/x.go --
package x
type X int
const One = 1
-- y/y.go --
package y
type Y int
func Make() {}
-- b.go --
package a
type Own int
-- a_test.go --
package a_test
func Outside() {}
-- generate.go --
//go:build ignore
package main
type X int
-- a.go --
package a
`
	for _, c := range []struct{ name, code, want string }{
		{"a_type_of_the_other", "import . \"example.com/m/x\"\nimport . \"example.com/m/y\"\nfunc f() Y { var x X; return Y(x) }\n", "_ x, . y"},
		{"of_both", "import . \"example.com/m/x\"\nimport . \"example.com/m/y\"\nfunc f(x X) Y { return Y(x) }\n", ". x, . y"},
		{"of_none", "import . \"example.com/m/x\"\nimport . \"example.com/m/y\"\nfunc f() { var x X; Make() }\n", "_ x, _ y"},
		{"what_is_not_known_may_be_of_any", "import . \"example.com/m/x\"\nimport . \"example.org/z\"\nfunc f(z Z) X { return X(One) }\n", ". x, . z"},
		{"a_constant_may_be_of_any", "import . \"example.com/m/x\"\nimport . \"example.com/m/y\"\nfunc f([One]int) { var x X; Make() }\n", ". x, . y"},
		{"of_the_package_itself", "import . \"example.org/z\"\nfunc f(o Own) { Zet() }\n", "_ z"},
		{"of_the_import_and_of_another_program", "import . \"example.com/m/x\"\nfunc f(x X) { print(One) }\n", ". x"},
		{"of_its_tests_only", "import . \"example.org/z\"\nfunc f(o Outside) { Zet() }\n", ". z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source, starter := t.TempDir(), filepath.Join(t.TempDir(), "starter")
			tree, err := txtar.FS(txtar.Parse([]byte(others + c.code)))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(source, tree); err != nil {
				t.Fatal(err)
			}
			if _, err := mask.Run(t.Context(), mask.Options{Source: source, Output: starter, Languages: []mask.Language{Masker{}}}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(starter, "a.go"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(string(text)) {
				if spec, ok := strings.CutPrefix(line, "import "); ok {
					name, p, _ := strings.Cut(strings.TrimSpace(spec), " ")
					got = append(got, name+" "+strings.Trim(p[strings.LastIndexByte(p, '/'):], `/"`))
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q\n%s", strings.Join(got, ", "), c.want, text)
			}
		})
	}
}
