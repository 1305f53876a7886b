package uses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/tree"
)

func isTest(p string) bool {
	return strings.HasPrefix(p, "tests/") || strings.HasSuffix(p, "_test.go") || strings.HasPrefix(p, "box/testdata/")
}

func treeOf(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for p, data := range files {
		e := tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)}
		if target, ok := strings.CutPrefix(data, "-> "); ok {
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

// task is what the answers of these tests change.
var task = map[string]string{
	"pkg/old.py": "import subprocess\n", "pkg/conf.json": "{}", "box/box.go": "package box\n\nimport \"os/exec\"\n\nvar _ = exec.Command\n",
	"tests/test_a.py": "", "tests/golden/want.txt": "42", "tests/conf.json": "{}", "box/box_test.go": "package box\n", "box/testdata/want.txt": "42",
}

// added lists what one file of an answer adds, a "LINE WHAT" each.
func added(t *testing.T, p, text string) []string {
	t.Helper()
	files := map[string]string{}
	for p, data := range task {
		files[p] = data
	}
	files[p] = text
	var out []string
	for _, u := range Added(treeOf(t, task), treeOf(t, files), isTest) {
		if u.Path != p || u.Why == "" {
			t.Errorf("%+v", u)
		}
		out = append(out, fmt.Sprintf("%d %s", u.Line, u.What))
	}
	return out
}

// TestRules has a small answer for each row of the table, and for each way to a name.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct{ path, text, want string }{
		{"a.go", "package a\n\nimport \"unsafe\"\n\nvar _ unsafe.Pointer\n", "unsafe"},
		{"a.go", "package a\n\nimport k \"syscall\"\n\nvar _ = k.Dup2\n", "syscall"},
		{"a.go", "package a\n\nimport \"golang.org/x/sys/unix\"\n", "golang.org/x/sys"},
		{"a.go", "package a\n\nimport _ \"os/exec\"\n", "os/exec"},
		{"a.go", "package a\n\nimport \"os\"\n\nvar _, _ = os.StartProcess(\"x\", nil, nil)\n", "os.StartProcess"},
		{"a.go", "package a\n\nimport . \"os\"\n\nfunc f() { Exit(0) }\n", "os.Exit"},
		{"a.go", "package a\n\nimport \"runtime\"\n\nfunc f() { runtime.Goexit() }\n", "runtime.Goexit"},
		{"a.go", "package a\n\nimport r \"runtime\"\n\nfunc f(b []byte) { r.Stack(b, false) }\n", "runtime.Stack"},
		{"a.go", "package a\n\nimport \"runtime/debug\"\n\nvar _ = debug.Stack\n", "runtime.Stack"},
		{"a.go", "package a\n\nimport \"runtime\"\n\nvar _ = runtime.CallersFrames\n", "runtime.Callers"},
		{"a.go", "package a\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n)\n\nvar _ = reflect.TypeOf(testing.T{})\n", "testing"},
		{"a.go", "package a\n\nimport \"plugin\"\n", "plugin"},
		{"a.go", "package a\n\n// int f(void);\nimport \"C\"\n", "cgo"},
		{"a.go", "package a\n\nimport \"os\"\n\nfunc f() { os.Stdout = nil }\n", "os.Stdout replaced"},
		{"a.go", "package a\n\nimport \"os\"\n\nfunc f() {\n\tos.Stdout, _ = os.Open(\"x\")\n}\n", "os.Stdout replaced"},
		{"a.go", "package a\n\nimport \"os\"\n\nfunc init() { os.Args = append(os.Args, \"x\") }\n", "os.Args replaced"},
		{"a.py", "import os\nos.closerange(3, 9)\n", "os.dup2"},
		{"a.go", "package a\n\n//go:linkname f testing.f\nfunc f()\n", "//go:linkname"},
		{"a.go", "package a\n\nimport \"os\"\n\nvar _, _ = os.ReadFile(\"/proc/self/mem\")\n", "/proc"},
		{"a.s", "TEXT ·f(SB), 4, $0\n", "machine code"},
		{"lib/a.so", "\x7fELF", "machine code"},
		{"a.py", "def f():\n    import gc as g\n", "gc"},
		{"a.py", "from ctypes.util import find_library\n", "ctypes"},
		{"a.py", "import sys\nsys.settrace(print)\n", "sys.settrace"},
		{"a.py", "import sys\ngetattr(sys, 'setprofile')(print)\n", "sys.settrace"},
		{"a.py", "from sys import _getframe as g\n", "sys._getframe"},
		{"a.py", "try:\n    f()\nexcept E as e:\n    e.__traceback__.tb_frame\n", "sys._getframe"},
		{"a.py", "import inspect as i\ni.stack()\n", "sys._getframe"},
		{"a.py", "from inspect import *\ngetsource(f)\n", "source of callers"},
		{"a.py", "import sys as s\ns.modules['x'] = 1\n", "sys.modules"},
		{"a.py", "from _pytest.runner import CallInfo\n", "pytest"},
		{"a.py", "import unittest.mock\n", "pytest"},
		{"a.py", "f.__code__ = g\n", "__code__"},
		{"a.py", "__builtins__['len'] = f\n", "builtins"},
		{"a.py", "import sys\nsys.meta_path.insert(0, F())\n", "import hooks"},
		{"a.py", "import importlib.abc\n", "import hooks"},
		{"a.py", "m = __import__(name)\n", "importlib"},
		{"a.py", "exec(text)\n", "exec"},
		{"a.py", "import atexit\n", "atexit"},
		{"a.py", "import os\nos._exit(0)\n", "os._exit"},
		{"a.py", "from os import fork\n", "subprocess"},
		{"a.py", "import os\nos.execv('x', [])\n", "subprocess"},
		{"a.py", "class A:\n    def __eq__(self, other):\n        return True\n", "__eq__ that is always true"},
		{"a.py", "open('/proc/self/fd/3')\n", "/proc"},
		{"a.py", "open('../tests/golden/want.txt')\n", "../tests/golden/want.txt"},
		{"a.py", "p = here / 'want.txt'\n", "want.txt"},
		{"a.py", "glob('tests/**')\nglob('**/test_*.py')\n", "**/test_*.py"},
		{"a.py", "walk('/testbed/tests')\n", "/testbed/tests"},
		{"a.py", "from tests.test_a import x\n", "tests.test_a"},
		{"box/a.go", "package box\n\nimport _ \"embed\"\n\n//go:embed testdata/want.txt\nvar s string\n", "box/testdata/want.txt"},
		{"a.go", "package a\n\nvar s = \"box_test.go\"\n", "box_test.go"},
		{"data", "-> tests/golden", "tests/golden"},
	} {
		seen[c.want] = true
		got := added(t, c.path, c.text)
		if len(got) != 1 || !strings.HasSuffix(got[0], " "+c.want) {
			t.Errorf("%s: %q: %q, want %q", c.path, c.text, got, c.want)
		}
	}
	for _, r := range rules {
		if !seen[r.What] {
			t.Errorf("no answer for %s", r.What)
		}
	}
}

// TestOrdinary: what a file had before, tests, and what much code has are not listed.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	for p, text := range map[string]string{
		"a.py":          "import os, sys, json, re, inspect, logging\nfrom pathlib import Path\n\nclass A:\n    \"\"\"Reads tests and testdata.\"\"\"\n    def __eq__(self, other):\n        return self.x == other.x\n\ndef f(p):\n    sys.stdout.write(Path(p, 'tests', 'conf.json').read_text())\n    return inspect.signature(f), os.environ.get('tests'), os.path.join('a', 'b.txt'), getattr(p, 'x')\n",
		"a.go":          "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"reflect\"\n)\n\nfunc f() { fmt.Fprintln(os.Stdout, reflect.TypeOf(1), os.Args[0] == \"tests\") }\n",
		"pkg/old.py":    "import subprocess\n\n\ndef f():\n    return subprocess.run(['x'])\n",
		"box/box.go":    "package box\n\nimport \"os/exec\"\n\nvar _, _ = exec.Command, 1\n",
		"box/b_test.go": "package box\n\nimport \"testing\"\n",
		"README.md":     "import gc, see tests/test_a.py\n",
	} {
		if got := added(t, p, text); got != nil {
			t.Errorf("%s: %q", p, got)
		}
	}
}

// TestAdded: each use once for a file, at its first line, in order; a file that cannot be read is said.
func TestAdded(t *testing.T) {
	t.Parallel()
	got := added(t, "pkg/old.py", "import subprocess\nimport os\nos._exit(1)\nimport gc\nimport gc, ctypes\n")
	if diff := cmp.Diff([]string{"3 os._exit", "4 gc", "5 ctypes"}, got); diff != "" {
		t.Error(diff)
	}
	got = added(t, "a.py", strings.Repeat("#", 2<<20))
	if diff := cmp.Diff([]string{"1 a file that cannot be read"}, got); diff != "" {
		t.Error(diff)
	}
}
