package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// treeOf makes a tree from an archive; an empty file may be named alone in paths.
func treeOf(t *testing.T, archive string, paths ...string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for _, f := range txtar.Parse([]byte(archive)).Files {
		entries = append(entries, tree.Entry{Path: f.Name, Mode: "100644", Data: f.Data})
	}
	for _, p := range paths {
		entries = append(entries, tree.Entry{Path: p, Mode: "100644"})
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestPart(t *testing.T) {
	t.Parallel()
	after := treeOf(t, `
-- pkg/__init__.py --
-- pkg/latest.py --
def test_like(): ...
-- pkg/test_runner.py --
class Runner: pass
-- pkg/test_inside.py --
def test_it(): ...
-- pkg/testing/__init__.py --
def helper(): ...
-- pkg/testing/tests/test_helper.py --
def test_helper(): ...
-- pkg/test/client.py --
class Client: ...
-- pkg/core/tests/test_core.py --
def test_core(): ...
-- testing/test_pluggy.py --
def test_p(): ...
-- testing/data.json --
{}
-- tests/README.md --
-- tests/helpers.py --
-- testutils/__init__.py --
-- tests/test_uses.py --
import testutils
def test_x(): ...
-- fixtures_shipped/__init__.py --
-- pkg/uses.py --
import fixtures_shipped
-- tests/test_uses_shipped.py --
import fixtures_shipped
-- src/anyio/pytest_plugin.py --
import pytest
`)
	for p, want := range map[string]schemas.Part{
		"tests/test_a.py": "test", "tests/README.md": "test", "tests/data/x.bin": "test", "tests/helpers.py": "test",
		"conftest.py": "test", "pkg/conftest.py": "test", "pytest.ini": "test", "tox.ini": "test", "noxfile.py": "test",
		"requirements/tests.txt": "test", "requirements-dev.txt": "test", "requirements_test.txt": "test", "test-requirements.txt": "test",
		"testing/test_pluggy.py": "test", "testing/data.json": "test", "pkg/core/tests/test_core.py": "test", "pkg/test_inside.py": "test",
		"pkg/testing/tests/test_helper.py": "test", "testutils/__init__.py": "test", "pkg/__snapshots__/x.ambr": "test",
		"deleted/test_gone.py": "test",
		// What ships, or is for the common rules to say.
		"pkg/latest.py": "", "pkg/test_runner.py": "", "pkg/testing/__init__.py": "", "pkg/test/client.py": "", "src/anyio/pytest_plugin.py": "",
		"fixtures_shipped/__init__.py": "", "requirements.txt": "", "requirements/docs.txt": "", "pyproject.toml": "", "uv.lock": "", "docs/tests.md": "",
		"pkg/contest.py": "", "pkg/testimony/x.py": "", "attest/a.py": "",
	} {
		got, rule, ok := Language{}.Part(p, after)
		if got != want || ok != (want != "") || ok != (rule != "") {
			t.Errorf("%s is %q by %q, want %q", p, got, rule, want)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{"a.py": true, "a.pyi": true, "a.pyx": true, "a.py.txt": false, "a.go": false, "py": false} {
		if got := (Language{}).Source(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

// lineDiff makes hunks of the lines that differ, context-free: one per run.
func lineDiff(before, after string) []lang.Hunk {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out []lang.Hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		h := lang.Hunk{OldStart: i + 1, NewStart: j + 1}
		for j < len(b) && (i >= len(a) || !contains(a[i:], b[j])) {
			j, h.NewLines = j+1, h.NewLines+1
		}
		for i < len(a) && (j >= len(b) || a[i] != b[j]) {
			i, h.OldLines = i+1, h.OldLines+1
		}
		out = append(out, h)
	}
	return out
}

func contains(lines []string, l string) bool {
	for _, x := range lines {
		if x == l {
			return true
		}
	}
	return false
}

func TestManifest(t *testing.T) {
	t.Parallel()
	pyproject := `[project]
name = "x"
dependencies = [
    "a>=1",
]

[project.optional-dependencies]
fast = ["b"]
test = [
    "pytest",
]

[dependency-groups]
tests = ["pytest"]
docs = ["sphinx"]

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
line-length = 100
`
	for _, c := range []struct {
		name, path, before, after string
		want                      []bool
		mixed                     bool
	}{
		{"dependency", "pyproject.toml", pyproject, strings.Replace(pyproject, `"a>=1"`, `"a>=2"`, 1), []bool{false}, false},
		{"group_of_tests", "pyproject.toml", pyproject, strings.Replace(pyproject, `tests = ["pytest"]`, `tests = ["pytest", "trio"]`, 1), []bool{true}, false},
		{"inside_a_long_list", "pyproject.toml", pyproject, strings.Replace(pyproject, "    \"pytest\",\n", "    \"pytest\",\n    \"trio\",\n", 1), []bool{true}, false},
		{"extra_that_ships", "pyproject.toml", pyproject, strings.Replace(pyproject, `fast = ["b"]`, `fast = ["c"]`, 1), []bool{false}, false},
		{"settings_of_the_runner", "pyproject.toml", pyproject, strings.Replace(pyproject, `["tests"]`, `["tests", "more"]`, 1), []bool{true}, false},
		{"both_in_two_hunks", "pyproject.toml", pyproject, strings.NewReplacer(`"a>=1"`, `"a>=2"`, `["tests"]`, `["more"]`).Replace(pyproject), []bool{false, true}, false},
		{"linter_only", "pyproject.toml", pyproject, strings.Replace(pyproject, "100", "120", 1), []bool{false}, false},
		{"both_in_one_hunk", "pyproject.toml", "[project]\nname = \"x\"\n[tool.pytest.ini_options]\na = 1\n", "[project]\nname = \"y\"\n[tool.pytest]\na = 2\n", []bool{false}, true},
		{"cfg_tests", "setup.cfg", "[metadata]\nname = x\n[tool:pytest]\naddopts = -v\n", "[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n", []bool{true}, false},
		{"cfg_project", "setup.cfg", "[options]\ninstall_requires =\n  a\n", "[options]\ninstall_requires =\n  b\n", []bool{false}, false},
		{"cfg_extra_of_tests", "setup.cfg", "[options.extras_require]\ntest =\n  a\n", "[options.extras_require]\ntest =\n  a\n  b\n", []bool{true}, false},
		{"setup_py_tests", "setup.py", "setup(\n  name='x',\n  tests_require=[\n    'a',\n  ],\n)\n", "setup(\n  name='x',\n  tests_require=[\n    'b',\n  ],\n)\n", []bool{true}, false},
		{"setup_py_project", "setup.py", "setup(\n  name='x',\n)\n", "setup(\n  name='y',\n)\n", []bool{false}, false},
		{"new_file", "pyproject.toml", "", "[tool.pytest.ini_options]\na = 1\n", []bool{true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hunks := lineDiff(c.before, c.after)
			if c.name == "both_in_one_hunk" {
				hunks = []lang.Hunk{{OldStart: 2, OldLines: 3, NewStart: 2, NewLines: 3}}
			}
			if c.name == "new_file" {
				hunks = []lang.Hunk{{NewStart: 1, NewLines: 2}}
			}
			got, mixed, ok := Language{}.Manifest(c.path, []byte(c.before), []byte(c.after), hunks)
			if diff := cmp.Diff(c.want, got); diff != "" || mixed != c.mixed || !ok {
				t.Errorf("mixed %v ok %v hunks %v (-want +got):\n%s", mixed, ok, hunks, diff)
			}
		})
	}
	if _, _, ok := (Language{}).Manifest("tox.ini", nil, nil, nil); ok {
		t.Error("tox.ini is not a manifest of both")
	}
}

// TestNamesOfSettings: what the settings of the base call a test is one, unless the pattern
// takes whatever there is.
func TestNamesOfSettings(t *testing.T) {
	t.Parallel()
	const check = "-- pkg/check_f.py --\ndef check_it(): ...\nclass FSpec:\n    def it_adds(self): ...\n"
	const code = "-- pkg/a.py --\nx = 1\n-- pkg/b.py --\nx = 1\n-- pkg/c.py --\ndef test_connection(): ...\n"
	for _, c := range []struct {
		name, archive, path, rule string
	}{
		{"setup_cfg", check + "-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\npython_functions = check_*\n", "pkg/check_f.py", "settings:setup.cfg"},
		{"pytest_ini_prefix", check + "-- pytest.ini --\n[pytest]\npython_files = check_*.py\npython_functions = check it_\n", "pkg/check_f.py", "settings:pytest.ini"},
		{"tox_ini_classes", check + "-- tox.ini --\n[pytest]\npython_files =\n    test_*.py\n    check_*.py\npython_classes = *Spec\n", "pkg/check_f.py", "settings:tox.ini"},
		{"pyproject", check + "-- pyproject.toml --\n[tool.pytest.ini_options]\npython_files = [\"check_*.py\"]\npython_functions = [\"check_*\"]\n", "pkg/check_f.py", "settings:pyproject.toml"},
		{"of_the_folder", "-- py/setup.cfg --\n[tool:pytest]\npython_files = check_*.py\npython_functions = check_*\n-- py/check_f.py --\ndef check_it(): ...\n", "py/check_f.py", "settings:py/setup.cfg"},
		{"nearest_settings", check + "-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\npython_functions = check_*\n-- pkg/pytest.ini --\n[pytest]\naddopts = -q\n", "pkg/check_f.py", ""},
		{"default_names", check + "-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\n", "pkg/check_f.py", ""},
		{"holds_none", "-- pkg/check_f.py --\ndef run(): ...\n-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\n", "pkg/check_f.py", ""},
		{"other_testpaths", check + "-- setup.cfg --\n[tool:pytest]\ntestpaths = checks\npython_files = check_*.py\npython_functions = check_*\n", "pkg/check_f.py", ""},
		{"no_settings", check + "-- setup.cfg --\n[metadata]\nname = python_files\n", "pkg/check_f.py", ""},
		{"functions_alone", "-- pkg/test_f.py --\ndef it_adds(): ...\n-- pytest.ini --\n[pytest]\npython_functions = it_*\n", "pkg/test_f.py", "settings:pytest.ini"},
		{"any_name_of_a_package", code + "-- pytest.ini --\n[pytest]\npython_files = *.py\n", "pkg/c.py", ""},
		{"any_name_of_testpaths", code + "-- checks/one.py --\ndef test_one(): ...\n-- checks/two.py --\nx = 1\n-- checks/three.py --\ndef test_three(): ...\n-- pytest.ini --\n[pytest]\ntestpaths = checks\npython_files = *.py\n", "checks/one.py", "settings:pytest.ini"},
		{"folder_in_the_pattern", "-- pkg/spec/f.py --\ndef test_f(): ...\n-- pkg/f.py --\ndef test_f(): ...\n-- pytest.ini --\n[pytest]\npython_files = spec/f*.py\n", "pkg/spec/f.py", "settings:pytest.ini"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := treeOf(t, c.archive)
			rule, _ := (Language{}).NamesTest(c.path, tr, tr)
			if rule != c.rule {
				t.Errorf("rule %q, want %q", rule, c.rule)
			}
			if c.rule != "" != isTestPath(c.path, tr) {
				t.Errorf("isTestPath is %t", isTestPath(c.path, tr))
			}
		})
	}
	after := treeOf(t, check+"-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\npython_functions = check_*\n")
	if rule, ok := (Language{}).NamesTest("pkg/check_f.py", treeOf(t, check), after); ok {
		t.Errorf("the solution names its own tests: %s", rule)
	}
}
