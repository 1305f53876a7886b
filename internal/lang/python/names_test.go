package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

func TestNewNames(t *testing.T) {
	t.Parallel()
	base := `
-- src/pkg/__init__.py --
from .core import run
-- src/pkg/core.py --
def run(value):
    return value

def moved(): ...

class Client:
    def get(self, url): ...
-- tests/test_pkg.py --
from pkg import run
def test_run():
    assert run(1) == 1
`
	for _, c := range []struct {
		name, solution, test string
		want                 []schemas.Name
	}{
		{"function", "def walk(a, b=2): ...\n", "from pkg.core import walk\ndef test(): walk(1)\n",
			[]schemas.Name{{Name: "walk", Kind: "function", Signature: "def walk(a, b=2)", Path: "src/pkg/core.py"}}},
		{"keyword", "def run(value, *, strict=False):\n    return value\n", "from pkg import run\ndef test(): run(1, strict=True)\n",
			[]schemas.Name{{Name: "strict", Kind: "parameter", Signature: "def run(value, *, strict=False)", Path: "src/pkg/core.py"}}},
		{"keyword_of_a_class", "class Client:\n    def __init__(self, limit=1): ...\n    def get(self, url): ...\n", "import pkg.core\ndef test(): pkg.core.Client(limit=2)\n",
			[]schemas.Name{{Name: "limit", Kind: "parameter", Signature: "def __init__(self, limit=1)", Path: "src/pkg/core.py"}}},
		{"method", "class Client:\n    def get(self, url): ...\n    def close(self): ...\n", "from pkg.core import Client\ndef test(): Client().close()\n",
			[]schemas.Name{{Name: "Client.close", Kind: "method", Signature: "def close(self)", Path: "src/pkg/core.py"}}},
		{"known_at_base", "def run(value):\n    return value + 1\n", "from pkg import run\ndef test(): assert run(1) == 2\n", []schemas.Name{}},
		{"unused_by_tests", "def walk(): ...\n", "from pkg import run\ndef test(): run(1)\n", []schemas.Name{}},
		{"name_of_another_package", "import os\ndef run(value):\n    return os.fspath(value)\n", "import os\nfrom pkg import run\ndef test(): assert os.fspath(run('a'))\n", []schemas.Name{}},
		{"made_at_run_time", "def __getattr__(name):\n    return {'dynamic': 1}[name]\n", "from pkg.core import dynamic\ndef test(): assert dynamic\n",
			[]schemas.Name{{Name: "dynamic"}}},
		{"own_helper_of_the_test", "def walk(): ...\n", "from pkg import run\ndef walk(): run(1)\ndef test(): walk()\n", []schemas.Name{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := treeOf(t, base)
			s := treeOf(t, "-- src/pkg/__init__.py --\nfrom .core import *\n-- src/pkg/core.py --\n"+c.solution+"-- tests/test_pkg.py --\n"+c.test)
			got := Language{}.NewNames(b, s, []string{"src/pkg/core.py", "src/pkg/__init__.py"}, []string{"tests/test_pkg.py", "tests/data.json"})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewNamesOfPlaces(t *testing.T) {
	t.Parallel()
	b := treeOf(t, "-- pkg/__init__.py --\n-- pkg/core.py --\ndef moved(): ...\n")
	s := treeOf(t, "-- pkg/__init__.py --\nfrom .core import moved\n-- pkg/core.py --\ndef moved(): ...\n-- pkg/extra.py --\nLIMIT = 3\n"+
		"-- tests/test_pkg.py --\nfrom pkg import moved\nfrom pkg.extra import LIMIT\nfrom pkg import extra\n")
	want := []schemas.Name{
		{Name: "LIMIT", Kind: "constant", Signature: "LIMIT = 3", Path: "pkg/extra.py"},
		{Name: "moved", Kind: "import", Signature: "from pkg import moved", Path: "pkg/__init__.py"},
		{Name: "pkg.extra", Kind: "module", Path: "pkg/extra.py"},
	}
	got := Language{}.NewNames(b, s, []string{"pkg/__init__.py", "pkg/extra.py"}, []string{"tests/test_pkg.py"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a module gives without defining it is named with the module: tests of markupsafe
// import a private name from the package that two modules define.
func TestNewNamesOfImports(t *testing.T) {
	t.Parallel()
	base := "-- src/pkg/__init__.py --\nfrom .core import *\nfrom ._speed import fast as fast\n-- src/pkg/core.py --\ndef run(): ...\n-- src/pkg/_speed.c --\nint fast;\n"
	solution := "-- src/pkg/__init__.py --\nfrom .core import *\ntry:\n    from ._speed import _escape\nexcept ImportError:\n    from .core import _escape\n-- src/pkg/core.py --\ndef run(): ...\ndef _escape(s): ...\ndef walk(): ...\n-- src/pkg/_speed.c --\nint fast; int _escape; int slow_path;\n"
	for _, c := range []struct {
		name, test string
		want       []schemas.Name
	}{
		{"from", "from pkg import _escape\n", []schemas.Name{
			{Name: "_escape", Kind: "import", Signature: "from pkg import _escape", Path: "src/pkg/__init__.py"},
			{Name: "_escape", Kind: "function", Signature: "def _escape(s)", Path: "src/pkg/core.py"},
		}},
		{"attribute", "import pkg\npkg._escape('')\n", []schemas.Name{
			{Name: "_escape", Kind: "import", Signature: "from pkg import _escape", Path: "src/pkg/__init__.py"},
			{Name: "_escape", Kind: "function", Signature: "def _escape(s)", Path: "src/pkg/core.py"},
		}},
		{"star", "from pkg import walk\n", []schemas.Name{
			{Name: "walk", Kind: "import", Signature: "from pkg import walk", Path: "src/pkg/__init__.py"},
			{Name: "walk", Kind: "function", Signature: "def walk()", Path: "src/pkg/core.py"},
		}},
		{"defined_there", "from pkg.core import walk\n", []schemas.Name{{Name: "walk", Kind: "function", Signature: "def walk()", Path: "src/pkg/core.py"}}},
		{"given_at_base", "from pkg import run, fast\n", []schemas.Name{}},
		{"of_an_extension", "import pkg\npkg.slow_path()\n", []schemas.Name{{Name: "slow_path"}}},
	} {
		got := Language{}.NewNames(treeOf(t, base), treeOf(t, solution+"-- tests/test_pkg.py --\n"+c.test), []string{"src/pkg/__init__.py", "src/pkg/core.py", "src/pkg/_speed.c"}, []string{"tests/test_pkg.py"})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

const untouchedBase = `
-- tests/conftest.py --
import pytest

@pytest.fixture
def shared():
    return 1

@pytest.fixture(autouse=True)
def always():
    yield
-- tests/helpers.py --
def check(x):
    return deeper(x)

def deeper(x):
    return x

def other(): ...
-- tests/test_a.py --
import pytest
from tests.helpers import check
from . import helpers

LIMIT = 3
VALUES = [1, 2]

def local(): return LIMIT

@pytest.fixture
def own(): return 2

def test_plain():
    assert 1

def test_imports():
    assert check(1)

def test_module_attribute():
    assert helpers.other() is None

def test_local():
    assert local()

def test_fixture(own):
    assert own

def test_shared(shared):
    assert shared

@pytest.mark.usefixtures("shared")
def test_marked():
    pass

@pytest.mark.parametrize("v", VALUES)
def test_values(v):
    assert v

def test_data():
    assert open("golden.json")

class TestClass:
    size = 2

    def setup_method(self):
        self.x = 1

    def test_method(self):
        assert self.x

    def test_other(self):
        pass
-- tests/golden.json --
{}
`

func TestUntouched(t *testing.T) {
	t.Parallel()
	all := []string{"test_plain", "test_imports", "test_module_attribute", "test_local", "test_fixture", "test_shared", "test_marked", "test_values[1]", "test_data", "TestClass::test_method", "TestClass::test_other"}
	for _, c := range []struct {
		name, from, to string
		changed        []string
		touched        []string
	}{
		{"nothing", "", "", nil, nil},
		{"body", "    assert 1\n", "    assert 1 == 1\n", []string{"tests/test_a.py"}, []string{"test_plain"}},
		{"decorator", `@pytest.mark.usefixtures("shared")` + "\n", `@pytest.mark.usefixtures("shared", "own")` + "\n", []string{"tests/test_a.py"}, []string{"test_marked"}},
		{"constant_behind_a_helper", "LIMIT = 3", "LIMIT = 4", []string{"tests/test_a.py"}, []string{"test_local"}},
		{"values_of_parameters", "VALUES = [1, 2]", "VALUES = [1, 2, 3]", []string{"tests/test_a.py"}, []string{"test_values[1]"}},
		{"fixture_of_the_file", "def own(): return 2", "def own(): return 3", []string{"tests/test_a.py"}, []string{"test_fixture"}},
		{"helper_behind_a_helper", "def deeper(x):\n    return x", "def deeper(x):\n    return not x", []string{"tests/helpers.py"}, []string{"test_imports"}},
		{"attribute_of_a_helper_module", "def other(): ...", "def other(): return 1", []string{"tests/helpers.py"}, []string{"test_module_attribute"}},
		{"fixture_of_conftest", "    return 1\n\n@pytest.fixture(auto", "    return 5\n\n@pytest.fixture(auto", []string{"tests/conftest.py"}, []string{"test_shared", "test_marked"}},
		{"automatic_fixture", "    yield\n", "    yield 1\n", []string{"tests/conftest.py"}, all},
		{"set_up_of_the_class", "self.x = 1", "self.x = 2", []string{"tests/test_a.py"}, []string{"TestClass::test_method", "TestClass::test_other"}},
		{"attribute_of_the_class", "size = 2", "size = 3", []string{"tests/test_a.py"}, nil},
		{"data", "{}\n", "{\"a\": 1}\n", []string{"tests/golden.json"}, []string{"test_data"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := treeOf(t, untouchedBase)
			s := treeOf(t, replaceOnce(t, untouchedBase, c.from, c.to))
			touched := map[string]bool{}
			for _, x := range c.touched {
				touched[x] = true
			}
			for _, x := range all {
				got := Language{}.Untouched(b, s, c.changed)(lang.Test{ID: "tests/test_a.py::" + x, Unit: "tests/test_a.py"})
				if got == touched[x] {
					t.Errorf("%s: untouched is %v", x, got)
				}
			}
		})
	}
}

func TestUntouchedOfUnknown(t *testing.T) {
	t.Parallel()
	b := treeOf(t, untouchedBase)
	for _, id := range []lang.Test{
		{ID: "tests/test_a.py::test_missing", Unit: "tests/test_a.py"}, {ID: "tests/test_b.py::test_x", Unit: "tests/test_b.py"}, {ID: "odd", Unit: "tests/test_a.py"},
	} {
		if (Language{}).Untouched(b, b, nil)(id) {
			t.Errorf("%s is not known and called untouched", id.ID)
		}
	}
}

func replaceOnce(t *testing.T, s, from, to string) string {
	t.Helper()
	if from == "" {
		return s
	}
	if strings.Count(s, from) != 1 {
		t.Fatalf("%q stands %d times in the sample", from, strings.Count(s, from))
	}
	return strings.Replace(s, from, to, 1)
}

// Tests that a file has from another one: pytest collects them there again.
func TestUntouchedElsewhere(t *testing.T) {
	t.Parallel()
	base := `
-- tests/pkg/test_base.py --
import pytest

class TestBase:
    size = 1

    @pytest.fixture
    def made(self):
        return 1

    def test_plain(self):
        pass

    def test_made(self, made):
        assert made

    def test_changes(self):
        assert 1
-- tests/pkg/test_more.py --
import unittest
from pkg.test_base import TestBase
from .test_base import TestBase as Again

class TestMore(TestBase):
    def test_own(self):
        pass

class TestOld(unittest.TestCase):
    pass
`
	const file = "tests/pkg/test_more.py"
	for _, c := range []struct {
		name, from, to string
		touched        []string
	}{
		{"nothing", "", "", nil},
		{"another_method_of_the_base", "assert 1\n", "assert 1 == 1\n", []string{"TestMore::test_changes", "TestBase::test_changes", "Again::test_changes"}},
		{"attribute_of_the_base", "size = 1", "size = 2", nil},
		{"fixture_of_the_base", "        return 1\n", "        return 2\n", []string{"TestMore::test_made"}},
	} {
		b, s := treeOf(t, base), treeOf(t, replaceOnce(t, base, c.from, c.to))
		touched := map[string]bool{"TestOld::test_by_a_library": true, "TestMissing::test_x": true} // not known: never called untouched
		for _, x := range c.touched {
			touched[x] = true
		}
		for _, x := range []string{"TestMore::test_own", "TestMore::test_plain", "TestMore::test_made", "TestMore::test_changes", "TestBase::test_plain", "TestBase::test_changes", "Again::test_changes", "TestOld::test_by_a_library", "TestMissing::test_x"} {
			got := Language{}.Untouched(b, s, []string{"tests/pkg/test_base.py"})(lang.Test{ID: file + "::" + x, Unit: file})
			if got == touched[x] {
				t.Errorf("%s: %s: untouched is %v", c.name, x, got)
			}
		}
	}
}
