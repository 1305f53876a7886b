package grade

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
)

func treeOf(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for p, content := range files {
		e := tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(content)}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			e.Mode, e.Data = tree.ModeSymlink, []byte(target)
		}
		entries = append(entries, e)
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func with(files map[string]string, more map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{files, more} {
		for p, content := range m {
			if out[p] = content; content == "" {
				delete(out, p)
			}
		}
	}
	return out
}

const project = "[project]\nname = \"x\"\nversion = \"1\"\n\n\n\n[dependency-groups]\ntest = [\"pytest\"]\n"

// base is the task before its change; its tests add a test and a requirement of them, change
// one and delete one.
var base = map[string]string{
	"x.py": "def f():\n    return 1\n", "pyproject.toml": project, "tests/conftest.py": "import pytest\n",
	"tests/test_a.py": "def test_a():\n    assert True\n", "tests/test_old.py": "def test_old():\n    assert True\n",
}

const testPatch = `diff --git a/pyproject.toml b/pyproject.toml
--- a/pyproject.toml
+++ b/pyproject.toml
@@ -5,4 +5,4 @@
 
 
 [dependency-groups]
-test = ["pytest"]
+test = ["pytest", "attrs"]
diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1,2 +1,2 @@
 def test_a():
-    assert True
+    assert f() == 2
diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,2 @@
+def test_new():
+    assert f() == 2
diff --git a/tests/test_old.py b/tests/test_old.py
deleted file mode 100644
--- a/tests/test_old.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def test_old():
-    assert True
`

// TestPut: what an answer may change stays, and what is the task's is the task's.
func TestPut(t *testing.T) {
	t.Parallel()
	b := treeOf(t, base)
	s, err := b.Apply([]byte(testPatch))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"pyproject.toml":  "[project]\nname = \"x\"\nversion = \"1\"\n\n\n\n[dependency-groups]\ntest = [\"pytest\", \"attrs\"]\n",
		"tests/test_a.py": "def test_a():\n    assert f() == 2\n", "tests/test_new.py": "def test_new():\n    assert f() == 2\n", "tests/test_old.py": "",
	}
	solved := map[string]string{"x.py": "def f():\n    return 2\n"}
	const fits = "[project]\nname = \"x\"\nversion = \"2\"\n\n\n\n[dependency-groups]\ntest = [\"pytest\"]\n"
	for _, tc := range []struct {
		name     string
		answer   map[string]string // against the base; "" takes a file away
		want     map[string]string // against base, tests and the solved code
		tampered []string
	}{
		{name: "code_alone"},
		{name: "new_code", answer: map[string]string{"y.py": "import x\n"}, want: map[string]string{"y.py": "import x\n"}},
		{name: "the_same_tests", answer: map[string]string{"tests/test_a.py": tests["tests/test_a.py"], "tests/test_new.py": tests["tests/test_new.py"]}},
		{name: "a_test_changed", answer: map[string]string{"tests/test_a.py": "def test_a():\n    pass\n"}, tampered: []string{"tests/test_a.py"}},
		{name: "a_test_of_the_task_replaced", answer: map[string]string{"tests/test_new.py": "def test_new():\n    pass\n"}, tampered: []string{"tests/test_new.py"}},
		{name: "tests_deleted", answer: map[string]string{"tests/test_a.py": "", "tests/conftest.py": ""}, tampered: []string{"tests/conftest.py", "tests/test_a.py"}},
		{name: "what_the_tests_delete", answer: map[string]string{"tests/test_old.py": "def test_old():\n    assert f()\n"}, tampered: []string{"tests/test_old.py"}},
		{name: "a_test_added", answer: map[string]string{"tests/test_mine.py": "def test_mine():\n    pass\n"}, tampered: []string{"tests/test_mine.py"}},
		{name: "hooks_added", answer: map[string]string{"conftest.py": "x", "src/conftest.py": "x", "sitecustomize.py": "x", "x.pth": "import x"}, tampered: []string{"conftest.py", "sitecustomize.py", "src/conftest.py", "x.pth"}},
		{name: "a_hook_of_the_solution", answer: map[string]string{"y.pth": "import y\n"}, want: map[string]string{"y.pth": "import y\n"}},
		{name: "another_hook_in_its_place", answer: map[string]string{"y.pth": "import z\n"}, tampered: []string{"y.pth"}},
		{name: "compiled_test", answer: map[string]string{"__pycache__/x.cpython-312.pyc": "x"}, tampered: []string{"__pycache__/x.cpython-312.pyc"}},
		{name: "entry_points", answer: map[string]string{"x.egg-info/entry_points.txt": "[pytest11]\nx = x\n"}, tampered: []string{"x.egg-info/entry_points.txt"}},
		{name: "pytest_itself", answer: map[string]string{"pytest.py": "x", "src/_pytest/x.py": "x"}, tampered: []string{"pytest.py", "src/_pytest/x.py"}},
		{name: "a_link_for_the_tests_folder", answer: map[string]string{"tests/test_a.py": "", "tests/conftest.py": "", "tests/test_old.py": "", "tests": "-> calm", "calm/test_a.py": "def test_a():\n    pass\n"}, tampered: []string{"calm/test_a.py", "tests", "tests/conftest.py", "tests/test_a.py"}},
		{name: "a_folder_for_a_test", answer: map[string]string{"tests/test_a.py": "", "tests/test_a.py/x.txt": "x"}, tampered: []string{"tests/test_a.py", "tests/test_a.py/x.txt"}},
		{name: "settings_in_a_folder", answer: map[string]string{"sub/pytest.ini": "[pytest]\n", "sub/tox.ini": "[pytest]\naddopts = -x\n"}, tampered: []string{"sub/pytest.ini", "sub/tox.ini"}},
		{name: "settings_behind_a_link", answer: map[string]string{"pyproject.toml": "-> y.txt", "y.txt": "[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n" + project}, want: map[string]string{"y.txt": "[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n" + project}, tampered: []string{"pyproject.toml"}},
		{name: "settings_behind_a_new_link", answer: map[string]string{"setup.cfg": "-> y.txt", "y.txt": "[tool:pytest]\naddopts = -x\n"}, want: map[string]string{"y.txt": "[tool:pytest]\naddopts = -x\n"}, tampered: []string{"setup.cfg"}},
		{name: "settings_behind_an_absolute_link", answer: map[string]string{"setup.cfg": "-> /testbed/y.txt", "y.txt": "[tool:pytest]\naddopts = -x\n"}, want: map[string]string{"y.txt": "[tool:pytest]\naddopts = -x\n"}, tampered: []string{"setup.cfg"}},
		{name: "a_module_of_the_library", answer: map[string]string{"argparse.py": "x", "src/six/__init__.py": "x", "json/data.txt": "x", "z/json.py": "x"}, want: map[string]string{"json/data.txt": "x", "z/json.py": "x"}, tampered: []string{"argparse.py", "src/six/__init__.py"}},
		{name: "settings_that_we_cannot_read", answer: map[string]string{"sub/pyproject.toml": "[tool.pytest\n"}, tampered: []string{"sub/pyproject.toml"}},
		{name: "settings_of_the_runner", answer: map[string]string{"pytest.ini": "[pytest]\naddopts = -k nothing\n"}, tampered: []string{"pytest.ini"}},
		{name: "manifest_beside_the_tests_hunk", answer: map[string]string{"pyproject.toml": fits}, want: map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"2\"\n\n\n\n[dependency-groups]\ntest = [\"pytest\", \"attrs\"]\n"}},
		{name: "manifest_in_the_tests_hunk", answer: map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\n\n\n\n[dependency-groups]\ntest = []\n"}, tampered: []string{"pyproject.toml"}},
		{name: "settings_in_a_manifest", answer: map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n" + project}, tampered: []string{"pyproject.toml"}},
		{name: "settings_in_a_new_manifest", answer: map[string]string{"setup.cfg": "[tool:pytest]\naddopts = -k nothing\n"}, tampered: []string{"setup.cfg"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			predicted := treeOf(t, with(with(base, solved), tc.answer))
			g := guard{parts.New[lang.Language](python.Language{}), python.Language{}, []byte(`{"names": ["six"]}`)}
			solution := treeOf(t, with(with(with(base, solved), tests), map[string]string{"y.pth": "import y\n"}))
			got, tampered, err := g.put(t.Context(), predicted, states.Trees{B: b, S: s, G: solution, TestPatch: []byte(testPatch)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.tampered, tampered); diff != "" {
				t.Error(diff)
			}
			files := map[string]string{}
			for _, e := range got.Entries() {
				files[e.Path] = string(e.Data)
			}
			if diff := cmp.Diff(with(with(with(base, solved), tests), tc.want), files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPutBehind: where a test, a setting or a manifest is a link, what it leads to is the task's as well, but for what the
// solution changes. Code that links of the tests lead to is an answer's.
func TestPutBehind(t *testing.T) {
	t.Parallel()
	start := map[string]string{
		"setup.cfg": "-> etc/set.txt", "etc/set.txt": "[tool:pytest]\naddopts = -x\n[x]\na = 1\n", "pyproject.toml": "-> etc/project.txt", "etc/project.txt": "[x]\na = 1\n",
		"tests/want.json": "-> ../share/want.json", "share": "-> real", "real/want.json": "1\n", "tests/mod.py": "-> ../mod.py", "mod.py": "a = 1\n",
		"tests/pkg": "-> ../pkg", "pkg/a.py": "a = 1\n", "pkg/a.json": "1\n", "conftest.py": "-> etc/conf.py", "etc/conf.py": "import os\n", "README": "-> docs.txt", "docs.txt": "x\n",
	}
	b := treeOf(t, start)
	const forged = "[tool:pytest]\naddopts = -k nothing\n"
	for _, tc := range []struct {
		name     string
		answer   map[string]string
		tampered []string
	}{
		{name: "code", answer: map[string]string{"mod.py": "a = 2\n", "pkg/a.py": "a = 2\n", "pkg/b.py": "a = 2\n", "docs.txt": "y\n"}},
		{name: "settings", answer: map[string]string{"etc/set.txt": forged}, tampered: []string{"etc/set.txt"}},
		{name: "settings_that_the_solution_changes", answer: map[string]string{"etc/project.txt": "[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n"}, tampered: []string{"etc/project.txt"}},
		{name: "of_the_solution", answer: map[string]string{"etc/project.txt": "[x]\na = 2\n"}},
		{name: "data", answer: map[string]string{"real/want.json": "2\n", "pkg/a.json": "2\n"}, tampered: []string{"pkg/a.json", "real/want.json"}},
		{name: "link_on_the_way", answer: map[string]string{"share": "-> other", "other/want.json": "2\n"}, tampered: []string{"share"}},
		{name: "hook", answer: map[string]string{"etc/conf.py": "import sys\n"}, tampered: []string{"etc/conf.py"}},
	} {
		g := guard{parts.New[lang.Language](python.Language{}), python.Language{}, nil}
		solution := treeOf(t, with(start, map[string]string{"etc/project.txt": "[x]\na = 2\n"}))
		got, tampered, err := g.put(t.Context(), treeOf(t, with(start, tc.answer)), states.Trees{B: b, S: b, G: solution})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.tampered, tampered); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		for _, p := range tc.tampered {
			if !same(b, got, p) {
				t.Errorf("%s: %s is not put back", tc.name, p)
			}
		}
	}
}

// TestContent: what is read at a path is what the kernel reads there.
func TestContent(t *testing.T) {
	t.Parallel()
	in := treeOf(t, map[string]string{
		"real/a.txt": "a", "b.txt": "-> real/a.txt", "folder": "-> real", "c.txt": "-> folder/a.txt", "d.txt": "-> /testbed/folder/../real/a.txt", "up/e.txt": "-> ../folder/a.txt",
		"ring": "-> ring", "away": "-> /etc/passwd", "above": "-> ../testbed/b.txt", "dir": "-> real/", "gone": "-> real/z.txt",
	})
	for p, want := range map[string]string{
		"real/a.txt": "a", "b.txt": "a", "c.txt": "a", "d.txt": "a", "up/e.txt": "a", "ring": "", "away": "", "above": "", "dir": "", "gone": "",
	} {
		if got := string(content(in, p)); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}
