package mask_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/mask"
)

// source writes an archive into a folder of its own.
func source(t testing.TB, archive string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	for _, f := range txtar.Parse([]byte(archive)).Files {
		put(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
	}
	return dir
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// starter masks a folder with strict.
func starter(t testing.TB, o mask.Options) (*mask.Result, *mask.Manifest) {
	t.Helper()
	if o.Output == "" {
		o.Output = filepath.Join(t.TempDir(), "starter")
	}
	if o.Languages == nil {
		o.Languages = []mask.Language{tiny{}}
	}
	result, err := mask.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mask.ReadManifest(result.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	return result, m
}

// fates are what became of all functions, a line each.
func fates(m *mask.Manifest) string {
	var b strings.Builder
	for _, f := range m.Files {
		for _, d := range f.Functions {
			fmt.Fprintf(&b, "%s %s: %s", f.Path, d.Name, d.Done)
			if d.Reason != "" {
				fmt.Fprintf(&b, ", %s", d.Reason)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestClosure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tree, want string }{
		"called_in_the_file": {
			"-- a.py --\ndef f(): g()\ndef g(): x\ndef h(): x\nv = f()\n",
			"a.py f: kept, runs when a.py:4 is loaded\na.py g: kept, runs when a.py:4 is loaded, by f\na.py h: masked\n",
		},
		"a_method_that_is_called_and_then_read": {
			"-- a.py --\nclass A:\n  def m(self): x\n  def n(self): x\nclass B(A):\n  def m(self): x\n  def n(self): x\ndef use(): x\nv = A()\nv.m()\nw = v.m\nu = v.n\nB()\n",
			"a.py A.m: kept, runs when a.py:9 is loaded\na.py A.n: masked\na.py B.m: kept, runs when a.py:9 is loaded\na.py B.n: masked\na.py use: masked\n",
		},
		"same_name_elsewhere_is_another": {
			"-- a.py --\ndef f(): x\nv = f()\n-- b.py --\ndef f(): x\nclass C:\n  def f(self): x\n",
			"a.py f: kept, runs when a.py:2 is loaded\nb.py f: masked\nb.py C.f: masked\n",
		},
		"named_is_not_called_and_handed_is": {
			"-- a.py --\ndef f(): x\ndef g(): x\ntable = [f]\nregister(g)\n",
			"a.py f: masked\na.py g: kept, runs when a.py:4 is loaded\n",
		},
		"imported_by_its_name": {
			"-- a.py --\nfrom b import f as g\nv = g()\n-- b.py --\ndef f(): x\ndef g(): x\n",
			"b.py f: kept, runs when a.py:2 is loaded\nb.py g: masked\n",
		},
		"imported_as_a_module": {
			"-- a.py --\nimport p.b\nimport p.c as c\np.b.f()\nc.f()\n-- p/__init__.py --\n-- p/b.py --\ndef f(): x\n-- p/c.py --\ndef f(): x\n-- p/d.py --\ndef f(): x\n",
			"p/b.py f: kept, runs when a.py:3 is loaded\np/c.py f: kept, runs when a.py:4 is loaded\np/d.py f: masked\n",
		},
		"relative_and_reexported": {
			"-- p/__init__.py --\nfrom .q import f\n-- p/q/__init__.py --\nfrom .r import f\n-- p/q/r.py --\nfrom ..s import g\ndef f(): g()\n-- p/s.py --\ndef g(): x\ndef f(): x\n-- a.py --\nimport p\np.f()\n",
			"p/q/r.py f: kept, runs when a.py:2 is loaded\np/s.py g: kept, runs when a.py:2 is loaded, by f\np/s.py f: masked\n",
		},
		"stars_of_stars": {
			"-- a.py --\nfrom b import *\nf()\n-- b.py --\nfrom c import *\n-- c.py --\nfrom b import *\ndef f(): x\ndef g(): x\n",
			"c.py f: kept, runs when a.py:2 is loaded\nc.py g: masked\n",
		},
		"imports_in_a_circle": {
			"-- a.py --\nfrom b import f\nf()\n-- b.py --\nfrom a import f\ndef g(): x\n",
			"b.py g: masked\n",
		},
		"a_foreign_receiver_is_not_ours": {
			"-- a.py --\nimport os\nos.close()\nclass C:\n  def __init__(self): x\n  def close(self): x\nc = C()\n",
			"a.py C.__init__: kept, runs when a.py:6 is loaded\na.py C.close: masked\n",
		},
		"a_class_that_is_called": {
			"-- a.py --\nclass B:\n  def __init__(self): self.m()\n  def m(self): x\n  def n(self): x\nclass C(B):\n  def m(self): x\nclass D(B):\n  def m(self): x\nv = C()\n",
			"a.py B.__init__: kept, runs when a.py:9 is loaded\na.py B.m: kept, runs when a.py:9 is loaded, by B.__init__\na.py B.n: masked\na.py C.m: kept, runs when a.py:9 is loaded, by B.__init__\na.py D.m: masked\n",
		},
		"a_binding_holds_an_object": {
			"-- a.py --\nclass C:\n  def __init__(self): x\n  def m(self): x\n  def n(self): x\nc = C()\nd = c\n-- b.py --\nfrom a import d\nd.m()\n",
			"a.py C.__init__: kept, runs when a.py:5 is loaded\na.py C.m: kept, runs when b.py:2 is loaded\na.py C.n: masked\n",
		},
		"an_unknown_receiver_is_one_of_those_made": {
			"-- a.py --\nclass C:\n  def __init__(self): x\n  def m(self): x\nclass D:\n  def __init__(self): x\n  def m(self): x\nmake().m()\nv = C()\n",
			"a.py C.__init__: kept, runs when a.py:8 is loaded\na.py C.m: kept, runs when a.py:7 is loaded\na.py D.__init__: masked\na.py D.m: masked\n",
		},
		"super_and_hidden_members": {
			"-- a.py --\nclass A:\n  def __init__(self): x\nclass B(A):\n  def __init__(self): super().__init__()\nclass C(A):\n  def __init__(self): x\nb = B()\n",
			"a.py A.__init__: kept, runs when a.py:7 is loaded, by B.__init__\na.py B.__init__: kept, runs when a.py:7 is loaded\na.py C.__init__: masked\n",
		},
		"bases_of_other_files_and_their_hooks": {
			"-- a.py --\nimport b\nclass C(b.B):\n  def m(self): x\n-- b.py --\nclass B:\n  def inherited(cls): cls.m(f())\n  def m(self): x\ndef f(): x\ndef g(): x\n",
			"a.py C.m: kept, runs when a.py is loaded, by B.inherited\n" +
				"b.py B.inherited: kept, runs when the code is loaded\nb.py B.m: kept, runs when a.py is loaded, by B.inherited\nb.py f: kept, runs when a.py is loaded, by B.inherited\nb.py g: masked\n",
		},
		"a_hook_nobody_inherits": {
			"-- b.py --\nclass B:\n  def inherited(cls): f()\ndef f(): x\n",
			"b.py B.inherited: kept, runs when the code is loaded\nb.py f: masked\n",
		},
		"a_class_that_makes_its_own": {
			"-- a.py --\nclass C:\n  def __init__(self): x\n  def make(cls): cls()\n  def m(self): x\nC.make()\nwhat().m()\n",
			"a.py C.__init__: kept, runs when a.py:5 is loaded, by C.make\na.py C.make: kept, runs when a.py:5 is loaded\na.py C.m: kept, runs when a.py:6 is loaded\n",
		},
		"decorators_and_what_they_make": {
			"-- a.py --\ndef deco(f):\n  def inner(): g()\n  return inner\ndef g(): x\ndef h(): x\n@deco\ndef k(): h()\n",
			"a.py deco: kept, runs when a.py:6 is loaded\na.py deco.inner: kept, runs when a.py:6 is loaded, by deco\na.py g: kept, runs when a.py:6 is loaded, by deco\na.py h: masked\na.py k: masked\n",
		},
		"class_bodies": {
			"-- a.py --\nclass C:\n  def f(): x\n  def g(): x\n  v = f()\ndef g(): x\n",
			"a.py C.f: kept, runs when a.py:4 is loaded\na.py C.g: masked\na.py g: masked\n",
		},
		"a_name_of_an_inner_function": {
			"-- a.py --\ndef f(): x\ndef outer():\n  def f(): g()\n  f()\ndef g(): x\nouter()\n",
			"a.py f: masked\na.py outer: kept, runs when a.py:6 is loaded\na.py outer.f: kept, runs when a.py:6 is loaded, by outer\na.py g: kept, runs when a.py:6 is loaded, by outer\n",
		},
		"properties_that_are_read": {
			"-- a.py --\nclass C:\n  @property\n  def p(self): f()\n  @property\n  def q(self): x\n  def m(self): x\nc = C()\nv = c.p\nw = c.m\ndef f(): x\n",
			"a.py C.p: kept, runs when a.py:8 is loaded\na.py C.q: masked\na.py C.m: masked\na.py f: kept, runs when a.py:8 is loaded, by C.p\n",
		},
		"a_test_loads_nothing_of_the_project": {
			"-- a.py --\ndef f(): x\n-- tests/test_a.py --\nfrom a import f\nf()\n",
			"a.py f: masked\n",
		},
		"generated_code_does": {
			"-- a.py --\ndef f(): x\n-- b.py --\n# Code generated by us. DO NOT EDIT.\nfrom a import f\nf()\ndef g(): x\n",
			"a.py f: kept, runs when b.py:3 is loaded\n",
		},
		"inside_of_a_masked_one": {
			"-- a.py --\ndef f():\n  def g(): x\n  return g\n",
			"a.py f: masked\na.py f.g: gone\n",
		},
		"a_syntax_error_inside": {
			"-- a.py --\ndef f():\n  return 1 +* )\n\ndef g():\n  return 1\n",
			"a.py f: kept, a syntax error lies inside, from line 1\na.py g: masked\n",
		},
		"an_enumeration_makes_its_members": {
			"-- a.py --\nimport enum\nclass E(enum.Enum):\n  def __new__(cls): f()\n  def m(self): x\ndef f(): x\n",
			"a.py E.__new__: kept, runs when a.py is loaded\na.py E.m: masked\na.py f: kept, runs when a.py is loaded, by E.__new__\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := starter(t, mask.Options{Source: source(t, c.tree)})
			if diff := cmp.Diff(c.want, fates(m)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
