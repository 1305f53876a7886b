package golang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

// TestMaskCalls holds what functions call, and what is called when the package is loaded.
func TestMaskCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"plain":                       {"func f() { g(h(1)) }", "f 2:g 2:h"},
		"dotted":                      {"func f(x T) { x.y.F(); (x.y).G() }", "f 2:?.y.F 2:?.G"},
		"of_no_name":                  {"func f() { g().F(); g()[0].y.G(); (*T).H(nil) }", "f 2:?.F 2:g 2:?.y.G 2:g 2:?.H"},
		"of_types":                    {"func f() { g[int](1); p.G[int, T](h) }", "f 2:g 2:p.G"},
		"in_literals":                 {"func f() {\n\tgo func() { g() }()\n\t_ = func() { x.H() }\n}", "f 3:g 4:x.H"},
		"a_method":                    {"type T int\nfunc (t *T) f() { t.g() }", "T.f 3:?.g"},
		"a_local_variable":            {"func f(g func()) { g(); h := f; h(nil) }", "f"},
		"a_local_named_as_the_import": {"import \"net/url\"\nfunc f(url T) { url.Parse() }\nvar _ = url.Parse", "f 3:?.Parse"},
		"variables":                   {"var a, b = one(), x.Two()\nvar c = []any{three()}\nconst d = len(\"\")\ntype T [four]int", "loads 2:one 2:x.Two 3:three"},
		"literals_of_variables":       {"var a = func() { one() }\nvar b = T{f: func() { two() }}\nvar c = wrap(func() { three() })", "a 2:one, b.f 3:two, loads 4:wrap 4:three"},
		"what_does_not_parse":         {"func f() { g() }\nvar x = = h()", "f 2:g, loads 3:h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := mask.Parse(Masker{}, "a.go", []byte("package a\n"+c[0]+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			file := Masker{}.Read("a/a.go", tree)
			var got []string
			say := func(name string, refs []mask.Ref) {
				for _, r := range refs {
					name += fmt.Sprintf(" %d:%s", r.Line, strings.Join(r.Path, "."))
				}
				got = append(got, name)
			}
			for _, f := range file.Functions {
				say(f.Name, f.Runs)
			}
			if len(file.Loads) > 0 {
				say("loads", file.Loads)
			}
			if diff := cmp.Diff(c[1], strings.Join(got, ", ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
