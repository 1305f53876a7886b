package python

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

const someLoads = `{"names": ["pytest", "six", "json"]}`

func TestModule(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"json.py": "json", "json/__init__.py": "json", "src/six.cpython-312-x86_64-linux-gnu.so": "src/six", "sitecustomize.py": "sitecustomize", "lib/argparse.pyc": "lib/argparse",
		"json/data.txt": "", "json/x.py": "", "pkg/json.py": "", "jsonx.py": "", "json.txt": "", "src/pkg/__init__.py": "",
	} {
		root, name := Language{}.Module(p, []byte(someLoads))
		if root+name != want {
			t.Errorf("%s: %q, want %q", p, root+name, want)
		}
	}
}

// TestForeign: a build may install its project anew, under another version too, and nothing else.
func TestForeign(t *testing.T) {
	t.Parallel()
	const packages = "venv/lib/python3.12/site-packages/"
	env := map[string]string{"venv/bin/python": "1", packages + "six.py": "1", packages + "_pytest/python.py": "1"}
	base := map[string]string{packages + "__pycache__/six.cpython-312.pyc": "2", "venv/bin/own": "2", packages + "Own-1.0.dist-info/RECORD": "2", packages + "own/a.so": "2", packages + "__editable___own_1_0_finder.py": "2", "venv/.lock": "2"}
	for p, sum := range env {
		base[p] = sum
	}
	for _, tc := range []struct {
		name string
		with map[string]string // "" takes a file away
		want []string
	}{
		{name: "nothing"},
		{name: "its_own", with: map[string]string{
			"venv/bin/own": "3", "venv/bin/own-more": "3", packages + "Own-1.0.dist-info/RECORD": "", packages + "own-1.1.dev0.dist-info/RECORD": "3", packages + "own/b.py": "3",
			packages + "__editable___own_1_1_finder.py": "3", packages + "__editable__.own-1.1.pth": "3", packages + "own_more/__init__.py": "3", "venv/.lock": "3", "venv/share/man/own.1": "3",
		}},
		{name: "runner", with: map[string]string{packages + "_pytest/python.py": "3"}, want: []string{packages + "_pytest/python.py"}},
		{name: "bytecode", with: map[string]string{packages + "_pytest/__pycache__/python.cpython-312.pyc": "3"}, want: []string{packages + "_pytest/__pycache__/python.cpython-312.pyc"}},
		{name: "bytecode_of_a_file", with: map[string]string{packages + "__pycache__/six.cpython-312.pyc": "3", packages + "__pycache__/own.cpython-312.pyc": "3"}, want: []string{packages + "__pycache__/own.cpython-312.pyc", packages + "__pycache__/six.cpython-312.pyc"}},
		{name: "shadow", with: map[string]string{packages + "six/__init__.py": "3"}, want: []string{packages + "six/__init__.py"}},
		{name: "gone", with: map[string]string{packages + "six.py": ""}, want: []string{packages + "six.py"}},
		{name: "start", with: map[string]string{packages + "sitecustomize.py": "3", "venv/bin/argparse.py": "3", "venv/bin/python": "3"}, want: []string{"venv/bin/argparse.py", "venv/bin/python", packages + "sitecustomize.py"}},
	} {
		built := map[string]string{}
		for p, sum := range base {
			built[p] = sum
		}
		for p, sum := range tc.with {
			if built[p] = sum; sum == "" {
				delete(built, p)
			}
		}
		if diff := cmp.Diff(tc.want, Language{}.Foreign([]byte(someLoads), env, base, built)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// TestLoads: every interpreter tells what it loads, and when it is told to, loads that, whose name a strange plugin may
// have, and nothing else.
func TestLoads(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r runner) {
		a := txtar.Parse([]byte(`-- test_a.py --
def test_a(known):
    pass
-- known.py --
import pytest

@pytest.fixture
def known():
    pass
-- known-1.dist-info/METADATA --
Metadata-Version: 2.1
Name: known
Version: 1
-- known-1.dist-info/entry_points.txt --
[pytest11]
known = known
-- strange.py --
def pytest_configure(config):
    raise RuntimeError("it was loaded")
-- strange-1.dist-info/METADATA --
Metadata-Version: 2.1
Name: strange
Version: 1
-- strange-1.dist-info/entry_points.txt --
[pytest11]
strange = strange
known = strange
`))
		root, run := runOf(t, a, lang.Select{Number: 1}, venvPath+"/bin/python", "-m", "pytest")
		if s := execute(t, r, filepath.Dir(root), root, run); len(s.report.Tests) > 0 {
			t.Fatalf("the plugin is not loaded by itself: %s", s.output)
		}
		ask := Language{}.Loads(schemas.Recipe{})
		told := execute(t, r, filepath.Dir(root), root, ask)
		c := configOf(ask)
		loads, err := Language{}.Loaded(lang.Output{Run: ask, Report: told.said})
		if err != nil {
			t.Fatalf("%v: %s, nonce %s", err, told.output, c.Nonce)
		}
		loads = bytes.Replace(loads, []byte(`"plugins": [`), []byte(`"plugins": [["known", "known"], `), 1)
		loads = bytes.Replace(loads, []byte(`], ]`), []byte(`]]`), 1)
		s := execute(t, r, filepath.Dir(root), root, Language{}.Only(run, loads))
		if diff := cmp.Diff(map[string]schemas.Status{"test_a.py::test_a": schemas.Passed}, statuses(s.report)); diff != "" {
			t.Errorf("%s: %s", diff, s.output)
		}
	})
}
