package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// What is called, by the file and by each function, each with its line.
func TestMaskCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, source, want string }{
		"calls": {
			"a.py", "f()\na.b.c(g(1))\nf().x.close()\n','.join(h)\nTABLE[k](1)\nf()()\nx: int = one()\nfor y in two(): f'{three()}'\n",
			"loads f:1 a.b.c:2 g:2 ?.x.close:3 f:3 TABLE:5 f:6 one:7 two:8 three:8",
		},
		"decorators": {
			"a.py", "@d\n@m.d\n@e(x())\ndef f(a=y()) -> z(): pass\n@g\nclass C(make(B), k=w()): pass\n",
			"loads d:1 m.d:2 e:3 x:3 y:4 g:5 make:6 w:6\nf",
		},
		"annotations_that_are_not_evaluated": {
			"a.py", "from __future__ import annotations\nx: f() = g()\ndef h(a: f() = g()) -> f(): pass\n",
			"loads g:2 g:3\nh",
		},
		"nested_functions": {
			"a.py", "def f():\n  one()\n  @d\n  def g(x=two()):\n    three()\n  class C(four()):\n    five()\n    def m(self): six()\n  k = lambda: seven()\n  return sorted(x, key=lambda y: eight(y))\n",
			"loads\nf one:2 d:3 two:4 four:6 five:7 sorted:10 eight:10\nf.g three:5\nf.C.m six:8\nf.k seven:9",
		},
		"class_bodies": {
			"a.py", "class C:\n  x = f()\n  @property\n  def p(self): return g()\n  class D:\n    y = h()\n",
			"loads f:2 property:3 h:6\nC.p g:4",
		},
		"functions_that_are_stored": {
			"a.py", "T = {1: lambda: f()}\nx = run(lambda: g(), k=lambda: h())\nk = lambda a=i(): j()\n",
			"loads run:2 g:2 h:2 i:3\nk j:3",
		},
		"what_only_type_checkers_and_programs_run": {
			"a.py", "if TYPE_CHECKING:\n  one()\n  @d\n  def f(): two()\nelse:\n  three()\nif t.TYPE_CHECKING and x(): pass\nelif y(): z()\nif __name__ == \"__main__\":\n  four()\ndef g():\n  if TYPE_CHECKING: five()\n",
			"loads three:6 y:8 z:8\nf two:4\ng five:12",
		},
		"a_program":       {"p/__main__.py", "f()\ndef g(): h()\n", "loads\ng h:2"},
		"beside_the_code": {"docs/conf.py", "f()\ndef g(): h()\n", "loads\ng h:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := mask.Parse(Masker{}, c.path, []byte(c.source))
			if err != nil {
				t.Fatal(err)
			}
			file := Masker{}.Read(c.path, tree)
			got := "loads" + called(t, file.Loads)
			for _, f := range file.Functions {
				got += "\n" + f.Name + called(t, f.Runs)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func called(t *testing.T, refs []mask.Ref) string {
	t.Helper()
	var out strings.Builder
	for _, r := range refs {
		fmt.Fprintf(&out, " %s:%d", strings.Join(r.Path, "."), r.Line)
	}
	return out.String()
}

// The rule of plain names, for a mask without an environment.
func TestMaskByNames(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"calls_of_other_files": {
			"-- p/__init__.py --\nfrom .a import f as g\nfrom . import b\ng()\nb.h()\n-- p/a.py --\ndef f():\n    from .c import late\n    return late()\ndef other(): return 1\n" +
				"-- p/b.py --\ndef h(): return 1\n-- p/c.py --\nfrom .d import *\ndef late(): return star()\n-- p/d.py --\ndef star(): return 1\n",
			"f h late star",
		},
		"an_object_of_a_class": {"-- a.py --\nclass A:\n    def __init__(self): self.x = one()\n    def m(self): return 1\ndef one(): return 1\nX = A()\n", "A.__init__ one"},
		"what_a_hook_calls":    {"-- a.py --\nclass A:\n    def __init_subclass__(cls): one()\ndef one(): return 1\ndef two(): return 1\n", "A.__init_subclass__ one"},
	})
}
