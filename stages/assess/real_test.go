package assess_test

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

func TestMain(m *testing.M) { os.Exit(dockertest.Main(m)) }

// real is one tiny repository, and what reverting each hunk of its change does.
type real struct {
	language lang.Language
	runner   lang.Runner
	start    map[string]string
	solution map[string]string // beside start
	code     []string
	tests    string
	failing  []lang.Test // FAIL_TO_PASS
	want     []string
	passing  []lang.Test // PASS_TO_PASS
	changed  []string    // functions that the solution adds or modifies
	near     []string    // those of passing that run one
}

var reals = map[string]real{
	"python": {
		language: python.Language{}, runner: python.Language{},
		start: map[string]string{
			"pyproject.toml": "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n[project]\nname = \"widget\"\nversion = \"1.0\"\n[tool.setuptools]\npy-modules = [\"widget\"]\n",
			"widget.py":      "LIMIT = 3\n\n\ndef size():\n    return 1\n\n\ndef name():\n    return \"w\"\n",
			"test_widget.py": "import widget\n\n\ndef test_colour():\n    assert widget.colour() == \"red\"\n\n\ndef test_size():\n    assert widget.size() == 2\n\n\ndef test_name():\n    assert widget.name() == \"w\"\n\n\ndef test_kept():\n    assert widget.size() > 0\n",
			"test_other.py":  "def test_other():\n    pass\n",
		},
		solution: map[string]string{
			"paint.py":  "def mix():\n    return \"red\"\n",
			"widget.py": "import paint\n\nLIMIT = 4\n\n\ndef size():\n    return 2\n\n\ndef name():\n    return \"w\"\n\n\ndef colour():\n    return paint.mix()\n",
		},
		code: []string{"paint.py", "widget.py"}, tests: "test_widget.py",
		failing: []lang.Test{{ID: "test_widget.py::test_colour", Unit: "test_widget.py"}, {ID: "test_widget.py::test_size", Unit: "test_widget.py"}},
		want: []string{
			"paint.py 0 unbuilt test_widget.py::test_colour test_widget.py::test_size",
			"widget.py 0 noticed test_widget.py::test_colour", // the import, and LIMIT with it
			"widget.py 1 noticed test_widget.py::test_size",
			"widget.py 2 noticed test_widget.py::test_colour",
			"4 noticed, 0 skipped",
		},
		passing: []lang.Test{{ID: "test_widget.py::test_name", Unit: "test_widget.py"}, {ID: "test_widget.py::test_kept", Unit: "test_widget.py"}, {ID: "test_other.py::test_other", Unit: "test_other.py"}},
		changed: []string{"widget.py::colour", "widget.py::size", "paint.py::mix"}, near: []string{"test_widget.py::test_kept"},
	},
	// The whole change is in C: each hunk of it is compiled again.
	"python_with_c": {
		language: python.Language{}, runner: python.Language{},
		start: map[string]string{
			"pyproject.toml":  "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n",
			"setup.py":        "from setuptools import Extension, setup\n\nsetup(name=\"fast\", version=\"1.0\", ext_modules=[Extension(\"fast\", [\"src/fast.c\"])])\n",
			"src/fast.c":      fastC(1, ""),
			"test_fast.py":    "import fast\n\n\ndef test_size():\n    assert fast.size() == 2\n\n\ndef test_loads():\n    assert fast\n",
			"src/limits.json": "{}\n",
		},
		solution: map[string]string{"src/fast.c": fastC(2, "/* Two. */\n"), "src/limits.json": "{\"size\": 2}\n"},
		code:     []string{"src/fast.c", "src/limits.json"}, tests: "test_fast.py",
		failing: []lang.Test{{ID: "test_fast.py::test_size", Unit: "test_fast.py"}},
		want: []string{
			"src/fast.c 0 unnoticed",
			"src/fast.c 1 noticed test_fast.py::test_size",
			"src/limits.json 0 unnoticed",
			"1 noticed, 0 skipped",
		},
	},
	"go": {
		language: golang.Language{}, runner: golang.Language{},
		start: map[string]string{
			"go.mod":          "module example.com/widget\n\ngo 1.21\n",
			"widget.go":       "package widget\n\n// Limit bounds.\nconst Limit = 3\n\nfunc Size() int { return 1 }\n\nfunc Name() string { return \"w\" }\n",
			"widget_test.go":  "package widget\n\nimport \"testing\"\n\nfunc TestSize(t *testing.T) {\n\tif Size() != 2 {\n\t\tt.Error(Size())\n\t}\n}\n\nfunc TestName(t *testing.T) { Name() }\n\nfunc TestKept(t *testing.T) {\n\tt.Run(\"in\", func(*testing.T) { Size() })\n}\n",
			"other/o.go":      "package other\n",
			"other/o_test.go": "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n",
		},
		solution: map[string]string{
			"two.go":    "package widget\n\nfunc two() int { return 2 }\n",
			"widget.go": "package widget\n\n// Limit bounds.\nconst Limit = 4\n\nfunc Size() int { return two() }\n\nfunc Name() string { return \"w\" }\n",
		},
		code: []string{"two.go", "widget.go"}, tests: "widget_test.go",
		failing: []lang.Test{{ID: "example.com/widget::TestSize", Unit: "example.com/widget"}},
		want: []string{
			"two.go 0 unbuilt example.com/widget::TestSize",
			"widget.go 0 unnoticed",
			"widget.go 1 noticed example.com/widget::TestSize",
			"2 noticed, 0 skipped",
		},
		passing: []lang.Test{{ID: "example.com/widget::TestName"}, {ID: "example.com/widget::TestKept"}, {ID: "example.com/widget::TestKept/in"}, {ID: "example.com/widget/other::TestOther"}},
		changed: []string{"two.go::two", "widget.go::Size"}, near: []string{"example.com/widget::TestKept", "example.com/widget::TestKept/in"},
	},
}

// fastC is an extension module in C with one function.
func fastC(size int, comment string) string {
	return comment + "#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n\nstatic PyObject *size(PyObject *self, PyObject *args) {\n\treturn PyLong_FromLong(" + strconv.Itoa(size) + ");\n}\n\n" +
		"static PyMethodDef methods[] = {{\"size\", size, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};\n" +
		"static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, \"fast\", NULL, -1, methods};\n\nPyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }\n"
}

// TestReal reverts real hunks in real sandboxes.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds environments")
	}
	cache, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	chains := toolchain.New(toolchain.Host{Cache: cache, Env: os.Environ()})
	available, err := chains.Available(t.Context(), toolchain.Python, toolchain.Go, toolchain.UV)
	if err != nil {
		t.Logf("toolchains: %v", err)
	}
	for kind, open := range map[string]func(testing.TB) sandbox.Sandbox{"bwrap": environmenttest.Bubblewrap, "docker": environmenttest.Docker} {
		t.Run(kind, func(t *testing.T) {
			box := open(t)
			for name, r := range reals {
				t.Run(name, func(t *testing.T) {
					b := &environment.Builder{Sandbox: box, Toolchains: chains, Languages: map[string]lang.Language{r.language.Name(): r.language}}
					got := r.assess(t, b, available)
					if d := cmp.Diff(r.want, said(got)); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
					if d := cmp.Diff(r.near, got.Near); d != "" {
						t.Errorf("what runs the change (-want +got):\n%s", d)
					}
				})
			}
		})
	}
}

func (r real) assess(t *testing.T, b *environment.Builder, available []lang.ToolchainRelease) schemas.Adequacy {
	t.Helper()
	files := maps.Clone(r.start)
	maps.Copy(files, r.solution)
	start, solution := newTree(t, r.start), newTree(t, files)
	date := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	project := lang.Project{Name: "acme/widget", Base: start, Solution: solution, Date: date, TestPaths: []string{r.tests}, Available: available}
	recipe, err := r.language.Infer(project)
	if err != nil {
		t.Fatal(err)
	}
	if recipe, err = b.Lock(t.Context(), project, recipe); err != nil {
		t.Fatal(err)
	}
	env, err := b.Env(t.Context(), recipe)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := seal.Files(start, date)
	if err != nil {
		t.Fatal(err)
	}
	c := testrun.Case{
		Start: schemas.Start{ChangeID: "acme__widget-1", Language: r.language.Name(), BaseDate: date, BaseTree: start.ID(), StartTree: start.ID(), SolutionTree: solution.ID()},
		Trees: states.Trees{B: start, S: start, G: solution, Patch: gitrepotest.Diff(t, 3, r.start, files)}, Environment: schemas.Environment{Recipe: recipe}, Env: env, Lang: r.language, Runner: r.runner, SealedBase: sealed,
	}
	c.Start.Files = append(c.Start.Files, schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "M", Path: r.tests}, Part: schemas.PartTest})
	for _, p := range r.code {
		c.Start.Files = append(c.Start.Files, schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "M", Path: filepath.ToSlash(p)}, Part: schemas.PartCode})
	}
	proof := schemas.Proof{StartID: c.Start.ID()}
	for _, f := range r.failing {
		proof.Tests = append(proof.Tests, schemas.TestVerdict{ID: f.ID, Unit: f.Unit, Class: schemas.F2P})
	}
	for _, p := range r.passing {
		proof.Tests = append(proof.Tests, schemas.TestVerdict{ID: p.ID, Unit: p.Unit, Class: schemas.P2P})
	}
	c.Start.Functions.Modified = r.changed
	a, err := assess.New(testrun.Outside{Builder: b, Observe: func(m testrun.Measured) {
		t.Logf("%s: %.1f s and %.1f s around", m.Run.State, m.Wall.Seconds(), m.Overhead.Seconds())
	}}, assess.Default())
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Assess(t.Context(), c, proof)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
