package reach_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/reach"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// project is a small project, and where its tests go.
type project struct {
	plugin interface {
		environmenttest.Plugin
		lang.Reacher
	}
	report string
	files  map[string]string
	tests  []lang.Test
	only   string // a file that is asked for alone, the second time
	want   reach.Map
}

var projects = map[string]project{
	"python": {
		plugin: python.Language{}, report: python.ReportFormat,
		files: map[string]string{
			"pyproject.toml": "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n[project]\nname = \"kit\"\nversion = \"1\"\nrequires-python = \"==3.12.*\"\n[tool.setuptools]\npackages = [\"kit\"]\n[dependency-groups]\ntest = [\"pytest==8.2.1\"]\n",
			"kit/__init__.py": "import functools\nimport threading\n\n\ndef plain():\n    return [inner() for _ in range(2)]\n\n\ndef inner():\n    return 1\n\n\n" +
				"class Box:\n    @functools.lru_cache\n    def size(self):\n        def deep():\n            return 2\n        return deep()\n\n    def thread(self):\n        t = threading.Thread(target=inner)\n        t.start()\n        t.join()\n\n\ndef never():\n    pass\n\n\ninner()\n",
			"tests/test_kit.py": "import kit\nimport pytest\n\n\n@pytest.fixture\ndef box():\n    return kit.Box()\n\n\ndef test_plain():\n    assert kit.plain()\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_size(box, n):\n    assert box.size() == n\n\n\ndef test_thread(box):\n    box.thread()\n\n\ndef test_nothing():\n    pass\n",
		},
		tests: []lang.Test{{ID: "tests/test_kit.py::test_plain", Unit: "tests/test_kit.py"}},
		only:  "kit/__init__.py",
		want: reach.Map{
			"tests/test_kit.py::test_plain":   {"kit/__init__.py::inner", "kit/__init__.py::plain", "tests/test_kit.py::test_plain"},
			"tests/test_kit.py::test_size[1]": {"kit/__init__.py::Box.size", "kit/__init__.py::Box.size.deep", "tests/test_kit.py::box", "tests/test_kit.py::test_size"},
			"tests/test_kit.py::test_size[2]": {"kit/__init__.py::Box.size", "kit/__init__.py::Box.size.deep", "tests/test_kit.py::box", "tests/test_kit.py::test_size"},
			"tests/test_kit.py::test_thread":  {"kit/__init__.py::Box.thread", "kit/__init__.py::inner", "tests/test_kit.py::box", "tests/test_kit.py::test_thread"},
			"tests/test_kit.py::test_nothing": {"tests/test_kit.py::test_nothing"},
		},
	},
	"go": {
		plugin: golang.Language{}, report: golang.ReportFormat,
		files: map[string]string{
			"go.mod":            "module example.com/kit\n\ngo 1.21\n",
			"kit.go":            "package kit\n\nimport \"example.com/kit/sub\"\n\ntype Box struct{}\n\nfunc (b *Box) Size() int {\n\treturn sub.Two()\n}\n\nfunc Plain() int { return 1 }\n\nfunc never() int {\n\treturn 3\n}\n",
			"kit_test.go":       "package kit\n\nimport \"testing\"\n\nfunc TestSize(t *testing.T) {\n\tt.Run(\"in\", func(t *testing.T) {\n\t\tif new(Box).Size() != 2 {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n\nfunc TestPlain(t *testing.T) { Plain() }\n\nfunc TestFails(t *testing.T) { t.Error(never()) }\n\nfunc TestNothing(t *testing.T) {}\n",
			"sub/sub.go":        "package sub\n\nfunc Two() int { return 2 }\n",
			"sub/sub_test.go":   "package sub_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/kit/sub\"\n)\n\nfunc TestTwo(t *testing.T) { sub.Two() }\n",
			"bad/bad_test.go":   "package bad\n\nfunc TestBad(\n",
			"main/main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestLeft(t *testing.T) {}\n",
		},
		tests: []lang.Test{
			{ID: "example.com/kit::TestSize"}, {ID: "example.com/kit::TestSize/in"}, {ID: "example.com/kit::TestPlain"}, {ID: "example.com/kit::TestFails"}, {ID: "example.com/kit::TestNothing"},
			{ID: "example.com/kit/sub::TestTwo"}, {ID: "example.com/kit/bad::TestBad"},
		},
		only: "sub/sub.go",
		want: reach.Map{
			"example.com/kit::TestSize":    {"kit.go::Box.Size", "sub/sub.go::Two"},
			"example.com/kit::TestPlain":   {"kit.go::Plain"},
			"example.com/kit::TestFails":   {"kit.go::never"},
			"example.com/kit::TestNothing": {},
			"example.com/kit/sub::TestTwo": {"sub/sub.go::Two"},
		},
	},
}

// TestOf measures real suites in a real sandbox.
func TestOf(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds environments")
	}
	for name, p := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measure := p.built(t)
			if d := cmp.Diff(p.want, measure(nil)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(within(p.want, p.only), within(measure([]string{p.only}), "")); d != "" {
				t.Errorf("of %s (-want +got):\n%s", p.only, d)
			}
		})
	}
}

// within are the functions of one file, "" for any, and the tests that reach one.
func within(m reach.Map, file string) reach.Map {
	out := reach.Map{}
	for test, functions := range m {
		for _, f := range functions {
			if strings.HasPrefix(f, file) {
				out[test] = append(out[test], f)
			}
		}
	}
	return out
}

// built gives what measures the functions of files, nil for all, in one environment.
func (p project) built(t *testing.T) func(files []string) reach.Map {
	t.Helper()
	tr := environmenttest.Tree(t, p.files)
	w := environmenttest.New(t, environmenttest.Bubblewrap(t), p.plugin, p.report)
	recipe := w.Recipe(t, tr, tr)
	env, err := w.Env(t.Context(), recipe)
	if err != nil {
		t.Fatal(err)
	}
	at, err := w.State(t.Context(), env, recipe, tr.Files(environmenttest.Date()))
	if err != nil {
		t.Fatal(err)
	}
	return func(files []string) reach.Map {
		runs, ok := p.plugin.Reach(recipe, tr, p.tests, files)
		if !ok {
			t.Fatal("nothing to measure")
		}
		var outs []lang.Output
		for _, run := range runs {
			res, err := w.Sandbox.Run(t.Context(), run.Asking(sandbox.Run{Layer: at, Command: run.Command, Env: recipe.Variables, Inputs: run.Inputs, Limits: sandbox.Limits{Timeout: 5 * time.Minute}}))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %d: %s", res.End, res.ExitCode, res.Output)
			said, _ := run.Said(res)
			outs = append(outs, lang.Output{Run: run, Tree: tr, Report: said, Result: res})
		}
		return reach.Of(tr, p.plugin.Reached(recipe, outs), func(string) mask.Language { return p.plugin.Masker() })
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	m := reach.Map{"a": {"x.go::F", "x.go::G"}, "b": {"x.go::G"}, "c": {}}
	parent := func(test string) string { return test[:1] }
	list := []string{"c", "b", "a/sub", "a", "d"}
	for _, tc := range []struct{ through, want []string }{
		{[]string{"x.go::F"}, []string{"a/sub", "a"}}, {[]string{"x.go::G"}, []string{"b", "a/sub", "a"}}, {[]string{"x.go::H"}, nil}, {nil, nil},
	} {
		if d := cmp.Diff(tc.want, m.Tests(list, tc.through, parent)); d != "" {
			t.Errorf("%v: %s", tc.through, d)
		}
	}
}
