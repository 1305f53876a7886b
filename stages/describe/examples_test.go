package describe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// saidOf are the examples of a test file that is new but for what the base has of it.
func saidOf(t *testing.T, p, base, after string, failing ...string) string {
	t.Helper()
	files := func(text string) *tree.Tree {
		return planted(t, []tree.Entry{{Path: p, Mode: tree.ModeFile, Data: []byte(text)}, {Path: "kit.go", Mode: tree.ModeFile, Data: []byte("package kit\n\nfunc Size(n int, s string) (string, error) { return s, nil }\n\nfunc New() *Set { return nil }\n\ntype Set struct{}\n")}})
	}
	start := schemas.Start{Files: []schemas.PartFile{{Part: schemas.PartTest, ChangedFile: schemas.ChangedFile{Path: p, Status: "M"}}}}
	s := newSolution(start, files(base), files(base+after), schemas.Change{})
	s.failing = failing
	return strings.Join(s.examples(), "\n")
}

func TestExamples_python(t *testing.T) {
	t.Parallel()
	const base = "import pytest\nimport kit\nfrom kit import Set, size\nfrom .helpers import made\n\n@pytest.fixture\ndef empty():\n    return Set()\n\nclass Old:\n    def test_a(self):\n        print(self.old)\n\n"
	for _, tc := range []struct{ name, test, want string }{
		{"equal", "def test_x():\n    assert size(1000, gnu=True) == '1000B'", "`size(1000, gnu=True)` gives `'1000B'`"},
		{"turned", "def test_x():\n    assert '1B' == size(1)", "`size(1)` gives `'1B'`"},
		{"true_and_none", "def test_x():\n    assert size(1)\n    assert not kit.f()\n    assert kit.g() is None", "`size(1)` is true\n`not kit.f()` is true\n`kit.g() is None` is true"},
		{"rows", "@pytest.mark.parametrize('n, want', [(1, '1B'), pytest.param(2, '2B', marks=pytest.mark.xfail), (10**3, '1kB')])\ndef test_x(n, want):\n    assert size(n) == want", "`size(1)` gives `'1B'`\n`size(10**3)` gives `'1kB'`"},
		{"splat", "@pytest.mark.parametrize('args, want', [([1, 2], '1B')])\ndef test_x(args, want):\n    assert size(*args) == want", "`size(1, 2)` gives `'1B'`"},
		{"parentheses", "@pytest.mark.parametrize('n', [1 + 2])\ndef test_x(n):\n    assert n * size(n) == 2", "`(1 + 2) * size(1 + 2)` gives `2`"},
		{"loop", "def test_x():\n    for n, want in [(1, 'a'), (2, 'b')]:\n        assert size(n) == want", "`size(1)` gives `'a'`\n`size(2)` gives `'b'`"},
		{"raises", "def test_x():\n    with pytest.raises(ValueError, match='too small'):\n        size(-1)", "`size(-1)` raises `ValueError`, whose message has \"too small\""},
		{"unittest", "class TestK:\n    def test_x(self):\n        self.assertEqual(size(1), 'a')\n        self.assertIn('k', kit.f())", "`size(1)` gives `'a'`\n`kit.f()` contains `'k'`"},
		{"put_in", "def test_x():\n    n = 5\n    out = size(n)\n    assert out.text == 'a'", "`size(5).text` gives `'a'`"},
		{"steps", "def test_x():\n    s = Set()\n    s.add(1)\n    assert s.size() == 1", "after `s = Set()` and `s.add(1)`, `s.size()` gives `1`"},
		{"rebound", "def test_x():\n    s = Set(1)\n    assert s.n == 1\n    s = Set(2)\n    assert s.n == 2", "`Set(1).n` gives `1`\n`Set(2).n` gives `2`"},
		{"rebound_after_use", "def test_x():\n    x = kit.f()\n    y = x\n    x = kit.g()\n    assert kit.h(x, y) == 1", "with `x = kit.f()`, `y = x` and `x = kit.g()`, `kit.h(x, y)` gives `1`"},
		{"fixture", "def test_x(empty):\n    empty.add(1)\n    assert empty.size() == 1", "after `empty.add(1)`, `empty.size()` gives `1`"},
		{"lines", "def test_x():\n    assert size(\n        '''a\nb''',\n        2,\n    ) == 1", "`size(\"a\\nb\", 2)` gives `1`"},
		{"comprehension", "def test_x():\n    assert [n.x for n in kit.all()] == [1]", "`[n.x for n in kit.all()]` gives `[1]`"},
		{"bound_effect", "def test_x():\n    old = kit.activate('fr')\n    assert size(1) == 'o'", "with `old = kit.activate('fr')`, `size(1)` gives `'o'`"},
		{"effect", "def test_x():\n    kit.activate('fr')\n    assert size(1) == 'o'", "after `kit.activate('fr')`, `size(1)` gives `'o'`"},

		{"alias", "def test_x():\n    s = Set()\n    other = s\n    other.add(1)\n    assert s.size() == 1", "after `s = Set()`, `other = s` and `other.add(1)`, `s.size()` gives `1`"},
		{"asked_twice", "def test_x():\n    s = Set(1, 2)\n    assert s.pop() == 1\n    assert s.pop() == 2", "`Set(1, 2).pop()` gives `1`"},
		{"branch", "def test_x():\n    s = Set()\n    if kit.new:\n        s.add(1)\n    assert s.size() == 1", ""},
		{"within_a_branch", "def test_x():\n    if kit.new:\n        assert size(1) == 2", ""},
		{"helper", "def test_x():\n    assert made(1) == 2", ""},
		{"new_fixture", "def test_x(thing):\n    assert thing.size() == 2", ""},
		{"patched", "@kit.patch('now')\ndef test_x():\n    assert size(1) == 2", ""},
		{"within_another", "def test_x():\n    with kit.frozen():\n        assert size(1) == 2", ""},
		{"self", "class TestK:\n    def test_x(self):\n        self.assertEqual(self.old.size(), 2)\n        self.assertEqual(self.new.size(), 3)", "`self.old.size()` gives `2`"},
		{"docstring", "def test_x():\n    'Sizes.'\n    assert size(1) == 2", "`size(1)` gives `2`"},
		{"set_up", "class TestK:\n    def setup_method(self):\n        kit.activate('fr')\n    def test_x(self):\n        assert size(1) == 2", ""},
		{"unsayable", "def test_x():\n    assert size('`') == 2", ""},
		{"value_in_a_string", "@pytest.mark.parametrize('n', [1])\ndef test_x(n):\n    assert size(f'{n}') == 2", ""},
	} {
		id := "tests/test_k.py::test_x"
		if strings.Contains(tc.test, "class TestK") {
			id = "tests/test_k.py::TestK::test_x"
		}
		if diff := cmp.Diff(tc.want, saidOf(t, "tests/test_k.py", base, tc.test+"\n", id)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	if got := saidOf(t, "tests/test_k.py", base+"def test_x():\n    assert size(1) == 2\n", "    assert size(2) == 3\n", "tests/test_k.py::test_x"); got != "`size(2)` gives `3`" {
		t.Errorf("what the change did not write is said: %s", got)
	}
}

func TestExamples_go(t *testing.T) {
	t.Parallel()
	const base = "package kit\n\nimport (\n\t\"testing\"\n\t\"strings\"\n\t\"github.com/stretchr/testify/assert\"\n)\n\nfunc setUpSize() {}\n\nfunc assertSize(t *testing.T, n int) {}\n\n"
	for _, tc := range []struct{ name, body, want string }{
		{"package_variable", `defer func(old string) { Sep = old }(Sep); Sep = "_"; if got := Size(1, "a"); got != "b" { t.Error(1) }`, "with `Sep = \"_\"`, `Size(1, \"a\")` gives `\"b\"`"},
		{"bound_effect", `old := Size(2, "x"); if got := Size(1, "a"); got != "b" { t.Error(old) }`, "`Size(1, \"a\")` gives `\"b\"`"},
		{"effect_bound", `old := Turn("x"); if got := Size(1, "a"); got != "b" { t.Error(old) }`, "with `old := Turn(\"x\")`, `Size(1, \"a\")` gives `\"b\"`"},
		{"got_want", `if got := Size(1, "a"); got != "1a" { t.Errorf("x") }`, "`Size(1, \"a\")` gives `\"1a\"`"},
		{"bound", `got, err := Size(1, "a"); if err != nil { t.Fatal(err) }; if got != "b" { t.Error(1) }`, "`Size(1, \"a\")` gives `\"b\"`"},
		{"error", `_, err := Size(1, "a"); if err == nil { t.Fatal(err) }`, "`Size(1, \"a\")` gives an error"},
		{"testify", `s := New(); s.Add(1); assert.Equal(t, 1, s.Len()); assert.True(t, s.Has(1))`, "after `s := New()` and `s.Add(1)`, `s.Len()` gives `1`\nafter `s := New()` and `s.Add(1)`, `s.Has(1)` is true"},
		{"rows", `for _, tc := range []struct{ name string; n int; want string }{{"one", 1, "a"}, {name: "none", want: "b"}} { tc := tc; t.Run(tc.name, func(t *testing.T) { if got := Size(tc.n, "x"); got != tc.want { t.Error(got) } }) }`, "`Size(1, \"x\")` gives `\"a\"`"},
		{"map_of_rows", `cases := map[string]int{"a": 1}; for in, want := range cases { if strings.Count(in, "x") != want { t.Fatal() } }`, "`strings.Count(\"a\", \"x\")` gives `1`"},
		{"told_as_a_row", `for _, tc := range []struct{ n int; want string }{{1, "a"}} { for range 2 { if Size(tc.n) != tc.want { t.Error() } } }`, "in a case of `TestX`, `n` is `1` and `want` is `\"a\"`"},
		{"helper_of_the_base", `assertSize(t, 2)`, "`assertSize(t, 2)` passes"},
		{"raw_string", "if Size(1, `a\n\"b\"`) != \"x\" { t.Error() }", "`Size(1, \"a\\n\\\"b\\\"\")` gives `\"x\"`"},

		{"no_error", `s := New(); assert.NoError(t, s.Add(1)); assert.Equal(t, 1, s.Len())`, "after `s := New()` and `s.Add(1)`, `s.Len()` gives `1`"},
		{"done_in_an_assertion", `s := New(); if s.Add(1) != nil { t.Fatal() }; assert.Equal(t, 1, s.Len())`, "`New().Add(1)` gives `nil`"},
		{"asserted_by_doing", `s := New(); assert.True(t, s.Add(1)); assert.Equal(t, 1, s.Len())`, "`New().Add(1)` is true"},
		{"turned", `expect := "a"; assert.Equal(t, expect, Size(1, "a"))`, "`Size(1, \"a\")` gives `\"a\"`"},
		{"written_too", `n, err := New().Write(1); if err != nil { t.Fatal(err) }; s := New(); m, err := s.Write(1); if err != nil { t.Fatal(err) }; if s.Len() != 1 { t.Error() }`, "with `n, err := New().Write(1)`, `s := New()` and `m, err := s.Write(1)`, `s.Len()` gives `1`"},
		{"subtests", `t.Run("a", func(t *testing.T) { assert.True(t, New().Has(1)) }); t.Run("b", func(t *testing.T) { assert.True(t, New().Has(2)) })`, "`New().Has(1)` is true\n`New().Has(2)` is true"},
		{"subtests_share", `s := New(); t.Run("a", func(t *testing.T) { s.Add(1); assert.True(t, s.Has(1)) }); t.Run("b", func(t *testing.T) { assert.True(t, s.Has(2)) })`, "after `s := New()` and `s.Add(1)`, `s.Has(1)` is true"},

		{"no_failure", `if Size(1, "a") != "b" { println() }`, ""},
		{"helper_of_the_change", `if made() != 1 { t.Error() }`, ""},
		{"else", `if Size(1, "a") != "b" { t.Error() } else if New() == nil { t.Error() }`, ""},
		{"closure", `n := 0; f := func() { n++ }; f(); if n != 1 { t.Error() }`, "after `n := 0`, `f := func() { n++ }` and `f()`, `n` gives `1`"},
	} {
		after := "func TestX(t *testing.T) {\n\t" + strings.ReplaceAll(tc.body, "; ", "\n") + "\n}\n\nfunc made() int { return 1 }\n"
		after = strings.NewReplacer("if got := Size(1, \"a\")\ngot", "if got := Size(1, \"a\"); got", "if got := Size(tc.n, \"x\")\ngot", "if got := Size(tc.n, \"x\"); got").Replace(after)
		if diff := cmp.Diff(tc.want, saidOf(t, "kit_test.go", base, after, "example.org/kit::TestX")); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestRewording_arguments(t *testing.T) {
	t.Parallel()
	old, now := textLine{text: `r.Add("Origin", "http://example.com/")`}, textLine{text: `r.Add("Origin", "http://example.org/")`}
	if q, ok := rewording(old, now); ok {
		t.Errorf("what a test sends is said to be what it wants: %+v", q)
	}
}
