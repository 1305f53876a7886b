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

// What is kept by the rule of plain names.
func TestByNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tree, want string }{
		"called_in_the_file": {
			"-- a.py --\ndef f(): g()\ndef g(): x\ndef h(): x\nv = f()\n",
			"a.py f: kept, runs when a.py:4 is loaded\na.py g: kept, runs when a.py:4 is loaded\na.py h: masked\n",
		},
		"the_same_name_in_another_file_is_another": {
			"-- a.py --\ndef f(): x\nv = f()\n-- b.py --\ndef f(): x\nclass C:\n  def f(self): x\n",
			"a.py f: kept, runs when a.py:2 is loaded\nb.py f: masked\nb.py C.f: masked\n",
		},
		"what_is_named_or_handed_to_a_call_is_not_called": {
			"-- a.py --\ndef f(): x\ndef g(): x\ntable = [f]\nregister(g)\n",
			"a.py f: masked\na.py g: masked\n",
		},
		"imported_by_its_name": {
			"-- a.py --\nfrom b import f as g\nv = g()\n-- b.py --\ndef f(): x\ndef g(): x\n",
			"b.py f: kept, runs when a.py:2 is loaded\nb.py g: masked\n",
		},
		"imported_as_a_module": {
			"-- a.py --\nimport p.c as c\nc.f()\n-- p/__init__.py --\n-- p/c.py --\ndef f(): x\n-- p/d.py --\ndef f(): x\n",
			"p/c.py f: kept, runs when a.py:2 is loaded\np/d.py f: masked\n",
		},
		"exported_again_by_others": {
			"-- p/__init__.py --\nfrom .q import f\n-- p/q/__init__.py --\nfrom .r import f\n-- p/q/r.py --\nfrom ..s import g\ndef f(): g()\n-- p/s.py --\ndef g(): x\ndef f(): x\n-- a.py --\nimport p\np.f()\n",
			"p/q/r.py f: kept, runs when a.py:2 is loaded\np/s.py g: kept, runs when a.py:2 is loaded\np/s.py f: masked\n",
		},
		"stars_of_stars": {
			"-- a.py --\nfrom b import *\nf()\n-- b.py --\nfrom c import *\n-- c.py --\nfrom b import *\ndef f(): x\ndef g(): x\n",
			"c.py f: kept, runs when a.py:2 is loaded\nc.py g: masked\n",
		},
		"imports_in_a_circle": {
			"-- a.py --\nfrom b import f\nf()\n-- b.py --\nfrom a import f\ndef g(): x\n",
			"b.py g: masked\n",
		},
		"a_module_of_others_has_nothing_of_ours": {
			"-- a.py --\nimport os\nos.close()\nclass C:\n  def close(self): x\n",
			"a.py C.close: masked\n",
		},
		"a_class_that_is_called": {
			"-- a.py --\nclass C:\n  def __init__(self): self.m()\n  def m(self): x\n  def n(self): x\nv = C()\n",
			"a.py C.__init__: kept, runs when a.py:5 is loaded\na.py C.m: kept, runs when a.py:5 is loaded\na.py C.n: masked\n",
		},
		"a_name_that_few_have": {
			"-- a.py --\nmake().open()\nmake().close()\n-- b.py --\nclass A:\n  def open(self): x\n  def close(self): x\nclass B:\n  def close(self): x\nclass C:\n  def close(self): x\nclass D:\n  def close(self): x\nclass E:\n  def close(self): x\n",
			"b.py A.open: kept, runs when a.py:1 is loaded\nb.py A.close: masked\nb.py B.close: masked\nb.py C.close: masked\nb.py D.close: masked\nb.py E.close: masked\n",
		},
		"decorators_and_what_they_make": {
			"-- a.py --\ndef deco(f):\n  def inner(): g()\n  return inner\ndef g(): x\ndef h(): x\n@deco\ndef k(): h()\n",
			"a.py deco: kept, runs when a.py:6 is loaded\na.py deco.inner: masked\na.py g: masked\na.py h: masked\na.py k: masked\n",
		},
		"class_bodies": {
			"-- a.py --\nclass C:\n  def f(): x\n  def g(): x\n  v = f()\ndef g(): x\n",
			"a.py C.f: kept, runs when a.py:4 is loaded\na.py C.g: masked\na.py g: masked\n",
		},
		"what_is_not_evaluated_yet": {
			"-- a.py --\ndef f(): x\ndef g(f): f()\nlater = lambda: f()\ng(1)\n",
			"a.py f: masked\na.py g: kept, runs when a.py:4 is loaded\n",
		},
		"a_hook_runs_when_a_class_inherits": {
			"-- b.py --\nclass B:\n  def inherited(cls): f()\ndef f(): x\n",
			"b.py B.inherited: kept, runs when the code is loaded\nb.py f: kept, runs when b.py:2 is loaded\n",
		},
		"a_test_loads_nothing_of_the_project": {
			"-- a.py --\ndef f(): x\n-- tests/test_a.py --\nfrom a import f\nf()\n",
			"a.py f: masked\n",
		},
		"programs_beside_load_nothing_unless_they_are_imported": {
			"-- a.py --\nimport samples.used\ndef f(): x\ndef g(): x\n-- samples/used.py --\nimport a\na.f()\n-- examples/b.py --\nimport a\na.g()\n",
			"a.py f: kept, runs when samples/used.py:2 is loaded\na.py g: masked\n",
		},
		"generated_code_does": {
			"-- a.py --\ndef f(): x\n-- b.py --\n# Code generated by us. DO NOT EDIT.\nfrom a import f\nf()\ndef g(): x\n",
			"a.py f: kept, runs when b.py:3 is loaded\n",
		},
		"what_compiled_code_calls": {
			"-- p/__init__.py --\n-- p/a.py --\ndef f(): g()\ndef g(): x\ndef h(): x\n-- p/b.c --\nvoid b(void) { run(\"p.a\", \"f\"); }\n",
			"p/a.py f: kept, runs when p/a.py:1 is loaded\np/a.py g: kept, runs when p/a.py:1 is loaded\np/a.py h: masked\n",
		},
		"inside_of_a_masked_one": {
			"-- a.py --\ndef f():\n  def g(): x\n  return g\n",
			"a.py f: masked\na.py f.g: gone\n",
		},
		"a_syntax_error_inside": {
			"-- a.py --\ndef f():\n  return 1 +* )\n\ndef g():\n  return 1\n",
			"a.py f: kept, a syntax error lies inside, from line 1\na.py g: masked\n",
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

// Where every file takes every name of all others, each is asked once: by all ways from one to another, this would not end.
func TestStarsOfAll(t *testing.T) {
	t.Parallel()
	const files = 150
	var tree strings.Builder
	for i := range files {
		fmt.Fprintf(&tree, "-- m%d.py --\n", i)
		for j := range files {
			fmt.Fprintf(&tree, "from m%d import *\n", j)
		}
		fmt.Fprintf(&tree, "unknown()\ndef f%d(): x\n", i)
	}
	_, m := starter(t, mask.Options{Source: source(t, tree.String())})
	if m.Totals.Masked != files {
		t.Errorf("%d functions masked, want %d", m.Totals.Masked, files)
	}
}
