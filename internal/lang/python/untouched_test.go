package python

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
)

const boundNames = `
-- tests/conftest.py --
import pytest
from fixtures import imported
from hooks import note

pytest_plugins = ["plugin"]

@pytest.fixture
def client():
    return 1

@pytest.fixture
def layered():
    return 1

@pytest.fixture(name="given")
def make_given():
    return 1

def result():
    return 1

def pytest_runtest_setup(item):
    note(item)
-- tests/fixtures.py --
import pytest

@pytest.fixture
def imported():
    return 11
-- tests/plugin.py --
import pytest

@pytest.fixture
def plugged():
    return 12
-- tests/hooks.py --
def note(item):
    return 13
-- tests/deep.py --
def check(x):
    return 1

def other(x):
    return 1
-- tests/stars.py --
from deep import *

def star(x):
    return 1
-- tests/middle.py --
import deep
from deep import check as checked

def through(x):
    return deep.other(x)
-- tests/sub/conftest.py --
import pytest

@pytest.fixture
def client():
    return 2
-- tests/test_a.py --
import pytest
from stars import *
from middle import through, checked

@pytest.fixture
def layered(layered):
    return layered

@pytest.fixture
def boxed(given):
    return given

def text():
    return 1

def read(client):
    return client

def test_client(client):
    assert client

def test_layered(layered):
    assert layered

def test_boxed(boxed):
    assert boxed

def test_imported(imported):
    assert imported

def test_plugged(plugged):
    assert plugged

@pytest.mark.usefixtures("client")
def test_used():
    pass

def test_asked(request):
    assert request.getfixturevalue("client")

def test_local():
    client = result = text = imported = 1
    assert client and result and text and imported

def test_word():
    assert read("client") and dict(given=1)["given"]

def test_nested():
    def inner(client):
        return client
    assert inner(1)

def test_text():
    assert text()

def test_star():
    assert star(1) and len("a")

def test_starred():
    assert check(1)

def test_through():
    assert through(1)

def test_renamed():
    assert checked(1)

class TestOwn:
    @pytest.fixture
    def client(self):
        return 3

    def test_class(self, client):
        assert client
-- tests/sub/test_b.py --
def test_client(client):
    assert client
`

func TestUntouchedByWhatNamesAreBoundTo(t *testing.T) {
	t.Parallel()
	const file, below = "tests/test_a.py::", "tests/sub/test_b.py::"
	var all []string
	for _, name := range []string{
		"test_client", "test_layered", "test_boxed", "test_imported", "test_plugged", "test_used", "test_asked", "test_local",
		"test_word", "test_nested", "test_text", "test_star", "test_starred", "test_through", "test_renamed", "TestOwn::test_class",
	} {
		all = append(all, file+name)
	}
	all = append(all, below+"test_client")
	for _, c := range []struct {
		name, changed, from, to string
		want                    []string
	}{
		{"fixture", "tests/conftest.py", "def client():\n    return 1\n\n@pytest.fixture\ndef layered", "def client():\n    return 5\n\n@pytest.fixture\ndef layered",
			[]string{file + "test_client", file + "test_used", file + "test_asked"}},
		{"fixture_behind_one_of_its_name", "tests/conftest.py", "def layered():\n    return 1", "def layered():\n    return 5", []string{file + "test_layered"}},
		{"fixture_with_a_given_name", "tests/conftest.py", "def make_given():\n    return 1", "def make_given():\n    return 5", []string{file + "test_boxed"}},
		{"fixture_that_is_nearer", "tests/sub/conftest.py", "return 2", "return 5", []string{below + "test_client"}},
		{"no_fixture", "tests/conftest.py", "def result():\n    return 1", "def result():\n    return 5", nil},
		{"imported_fixture", "tests/fixtures.py", "return 11", "return 5", []string{file + "test_imported"}},
		{"fixture_of_a_plugin", "tests/plugin.py", "return 12", "return 5", []string{file + "test_plugged"}},
		{"behind_a_hook", "tests/hooks.py", "return 13", "return 5", all},
		{"function", "tests/test_a.py", "def text():\n    return 1", "def text():\n    return 5", []string{file + "test_text"}},
		{"star", "tests/stars.py", "def star(x):\n    return 1", "def star(x):\n    return 5", []string{file + "test_star"}},
		{"behind_stars_and_names", "tests/deep.py", "def check(x):\n    return 1", "def check(x):\n    return 5", []string{file + "test_starred", file + "test_renamed"}},
		{"behind_an_unchanged_module", "tests/deep.py", "def other(x):\n    return 1", "def other(x):\n    return 5", []string{file + "test_through"}},
	} {
		untouched := Language{}.Untouched(treeOf(t, boundNames), treeOf(t, replaceOnce(t, boundNames, c.from, c.to)), []string{c.changed})
		var got []string
		for _, id := range all {
			unit := "tests/test_a.py"
			if id == below+"test_client" {
				unit = "tests/sub/test_b.py"
			}
			if !untouched(lang.Test{ID: id, Unit: unit}) {
				got = append(got, id)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", c.name, diff)
		}
	}
}

const members = `
-- tests/bases.py --
import unittest
from elsewhere import Foreign

class Base(unittest.TestCase):
    LIMIT = 21

    def setUp(self):
        self.x = 22

    def verify(self, x):
        return 23

    def extra(self):
        return 24

    def unused(self):
        return 25

class Framed(Foreign):
    OPTION = 26
-- tests/test_c.py --
from bases import Base, Framed

def handed(case):
    return case.verify(1)

class TestMore(Base):
    def outer(self):
        return self.extra()

    def test_plain(self):
        pass

    def test_verify(self):
        assert self.verify(1)

    def test_handed(self):
        assert handed(self)

    def test_outer(self):
        assert self.outer()

    def test_limit(self):
        assert self.LIMIT

class TestFramed(Framed):
    def test_framed(self):
        pass
`

func TestUntouchedMembers(t *testing.T) {
	t.Parallel()
	const file = "tests/test_c.py"
	more := []string{"TestMore::test_plain", "TestMore::test_verify", "TestMore::test_handed", "TestMore::test_outer", "TestMore::test_limit"}
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"method", "return 23", "return 5", []string{"TestMore::test_verify", "TestMore::test_handed"}},
		{"behind_a_method", "return 24", "return 5", []string{"TestMore::test_outer"}},
		{"unused", "return 25", "return 5", nil},
		{"new", "    def unused", "    def fresh(self): ...\n\n    def unused", nil},
		{"attribute", "LIMIT = 21", "LIMIT = 5", []string{"TestMore::test_limit"}},
		{"set_up", "self.x = 22", "self.x = 5", more},
		{"of_a_base_that_cannot_be_read", "OPTION = 26", "OPTION = 5", []string{"TestFramed::test_framed"}},
	} {
		untouched := Language{}.Untouched(treeOf(t, members), treeOf(t, replaceOnce(t, members, c.from, c.to)), []string{"tests/bases.py"})
		var got []string
		for _, id := range append(append([]string{}, more...), "TestFramed::test_framed") {
			if !untouched(lang.Test{ID: file + "::" + id, Unit: file}) {
				got = append(got, id)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", c.name, diff)
		}
	}
}
