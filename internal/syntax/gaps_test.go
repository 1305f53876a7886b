package syntax_test

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/syntax"
)

// What Python reads and its grammar does not, alone and more than once in a file. What is
// wrong for Python, too, stays an error.
func TestGaps(t *testing.T) {
	t.Parallel()
	const decorated = "class C:\n    @a(b)\n# left\n  # right of it\n    def f(self):\n        return 1\n\n    def g(self):\n        return f'{a, * [b]}' f'{*c, d}'\n\n    @a\n# left\n    @b\n# left\n    class D:\n        pass\n"
	for name, c := range map[string]struct {
		source string
		broken bool
	}{
		"comments_left_of_a_decorator": {decorated, false},
		"no_star_but_a_product":        {"x = f'{a * }'\n", true},
		"a_star_alone":                 {"x = f'{*}'\n", true},
		"two_stars":                    {"x = f'{a, **b}'\n", true},
		"something_else_beside":        {decorated + "x = = 1\n", true},
	} {
		tree, err := syntax.ParseTree(syntax.Python, []byte(c.source))
		if err != nil || tree.Broken() != c.broken || string(tree.Source) != c.source {
			t.Errorf("%s: broken %v, want %v (%v)", name, tree.Broken(), c.broken, err)
		}
	}
	tree, err := syntax.ParseTree(syntax.Python, []byte(decorated))
	if err != nil {
		t.Fatal(err)
	}
	for n := range tree.All() {
		if n.Is("decorated_definition") && !strings.HasPrefix(n.Text(), "@") {
			t.Errorf("a definition with decorators is %q", n.Text())
		}
	}
}

func TestGapsCSharp(t *testing.T) {
	t.Parallel()
	for source, broken := range map[string]bool{
		"class C { List<int> a = [], b = [ ]; int[] F() { return []; } void G() => H([], 1); }":                                     false,
		"#!/usr/bin/env dotnet\n#:package A@1\nclass None;\nclass Of<T> : None where T : class;\nvoid F<T>() where T : class { }\n": false,
		"class C\n{\n#if A\n    void F(int a)\n#else\n    void F()\n#endif\n    {\n    }\n}\n":                                      false,
		"class C\n{\n#if A\n    void F(\n#else\n    void F()\n#endif\n    {\n    }\n}\n":                                            false,
		"class C\n{\n#if A\n    void F()\n    {\n    }\n#else\n    void F(\n#endif\n}\n":                                            false,
		"class C\n{\n#if A\n    void F(\n#else\n    void F(}\n#endif\n}\n":                                                          true,
		"class C {\n#if A\n#endif\n    // A class of\n    private readonly List<int> a = [];\n    // the class is\n    int b;\n}\n": false,
		"class C\n{\n}\n#pragma warning restore 618":                                                                                false,
		"class C { void F(params IEnumerable<int> a) { } }":                                                                         false,
		"public sealed class Apart :\n    Base;\n":                                                                                  false,
		"class C { object F() => new D(t) { [type] = 1, [ async.B ]= 2, [typeof(F)] = 3, [field(F), F] = 4 }; }":                    false,
		"class C { [field: A] int a = new D { [type] = 1 }; [type : B] class E { } [method:F] int G() => b[param]; }":               false,
		"class C { Func<Task>[] a = [async () => await F(), async x => { }], b = [async delegate { }]; int c = d[type]; }":          false,
		"class C { int F() { return a[]; } }":                                                                                       true,
		"class C { List<int> a = []; int x = = 1; }":                                                                                true,
	} {
		tree, err := syntax.ParseTree(syntax.CSharp, []byte(source))
		if err != nil || tree.Broken() != broken || string(tree.Source) != source {
			t.Errorf("%s: broken %v (%v)", source, tree.Broken(), err)
		}
	}
}

func TestGapsPHP(t *testing.T) {
	t.Parallel()
	const enum = "<?php\nenum A: int\n{\n    case X = 1;\n    const D = self::X;\n    /** @var int[] */\n    public const V = [\n        1, \"a;\\\"b\", ';',\n    ];\n    #[B] final const int W = 3;\n    public function f(): int { return self::V[0]; }\n}\nclass B { const C = 1; }\nfunction g() { return 1; }\n"
	for source, broken := range map[string]bool{
		enum:                                    false,
		enum + "function h( { }\n":              true,
		"<?php\nenum A { case X; const D = 1\n": true,
		"<?php\nenum A\n{\n    const V = [1, // don't\n    ];\n    function f() { return ['a']; }\n    const W = [2, // it's\n    ];\n}\n": true,
	} {
		tree, err := syntax.ParseTree(syntax.PHP, []byte(source))
		if err != nil || tree.Broken() != broken || tree.Bridged() == broken || string(tree.Source) != source {
			t.Errorf("%s: broken %v (%v)", source, tree.Broken(), err)
		}
	}
}

func TestBehindError(t *testing.T) {
	t.Parallel()
	const source = "def a(): pass\nclass C:\n    @d\n# left\n    def b(self): pass\n    def c(self): pass\n\nx = = 1\n# a comment\n\ndef e(): pass\n"
	tree, err := syntax.ParseTree(syntax.Python, []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for n := range tree.All() {
		if n.Is("function_definition") {
			got[n.Child("name").Text()] = n.BehindError()
		}
	}
	for name, want := range map[string]bool{"a": false, "b": true, "c": false, "e": false} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
}
