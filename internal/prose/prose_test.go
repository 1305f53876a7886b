package prose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

func TestSays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, word string
		want             bool
	}{
		{"alone", "`strict` is new", "strict", true},
		{"in_a_longer_word", "restrictive", "strict", false},
		{"in_a_compound", "is_strict", "strict", false},
		{"after_a_part", "restrict strict", "strict", true},
		{"flag", "pass --strict now", "--strict", true},
		{"longer_flag", "pass --strictly now", "--strict", false},
		{"literal_with_marks", `says "bad: " first`, "bad: ", true},
		{"nothing", "text", "", false},
	} {
		if got := prose.Says(tc.text, tc.word); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

func TestProblem_and_Split(t *testing.T) {
	t.Parallel()
	names := []schemas.Name{
		{Name: "Client.connect", Kind: "method", Signature: "def connect(self)", Path: "src/client.py"},
		{Name: "Tag", Kind: "field", Signature: "Tag string `json:\"tag\"`"},
		{Name: "pkg.mod", Kind: "module", Path: "pkg/mod.py"},
	}
	got := prose.Problem("I want to connect.\n", names)
	want := "I want to connect.\n\nInterface:\n- method `Client.connect` in `src/client.py`: `def connect(self)`\n- field `Tag`: `` Tag string `json:\"tag\"` ``\n- module `pkg.mod`\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, list := prose.Split(got)
	if text != "I want to connect.\n" || list != want[len("I want to connect.\n\n"):] {
		t.Errorf("%q, %q", text, list)
	}
	if got := prose.Problem("I want to go.", nil); got != "I want to go.\n" {
		t.Errorf("%q", got)
	}
}

func TestPlain_names_nobody(t *testing.T) {
	t.Parallel()
	got := prose.Plain("Add x", "<!-- fill\nthis in -->\r\nWhy: because, says a@b.org.\n\nSigned-off-by: A <a@b.org>\nCo-Authored-By: B <b@c.org>\nClone git@host.org:x or write to me@example.com.")
	want := "Add x\n\nWhy: because, says <address>.\n\nClone git@host.org:x or write to me@example.com.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	got := prose.Blocks(`First line
second line.

## What
* one
  goes on
* [x] ticked
- two

      code in a list

Use it::

    x = 1

~~~
fence
~~~
> quoted
lazily
> again

| a | b |
|---|---|

.. code-block:: python

   y = 2

.. versionadded:: 2

Related
-------

after
`)
	want := []prose.Block{
		{Kind: prose.Paragraph, Text: "First line second line."},
		{Kind: prose.Item, Text: "one goes on", Under: "What"},
		{Kind: prose.Item, Text: "two", Under: "What"},
		{Kind: prose.Listing, Text: "      code in a list\n\n", Under: "What"},
		{Kind: prose.Paragraph, Text: "Use it:", Under: "What"},
		{Kind: prose.Listing, Text: "    x = 1\n\n~~~\nfence\n~~~\n", Under: "What"},
		{Kind: prose.Listing, Text: "", Under: "What"},
		{Kind: prose.Paragraph, Text: "after", Under: "Related"},
	}
	// Listings next to each other are one; what they hold is told by the tests of Defines.
	shape := func(in []prose.Block) []prose.Block {
		var out []prose.Block
		for _, b := range in {
			if b.Kind == prose.Listing {
				b.Text = ""
				if n := len(out); n > 0 && out[n-1] == b {
					continue
				}
			}
			out = append(out, b)
		}
		return out
	}
	if diff := cmp.Diff(shape(want), shape(got)); diff != "" {
		t.Error(diff)
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"rest_reference", "Fixed x (`#1271 <https://example.com/i/1271>`_; PR by @someone)", "Fixed x"},
		{"rest_double_ticks", "``a`` and ``b()``", "`a` and `b()`"},
		{"roles", "{meth}`Command.main` and :class:`~pkg.mod.Group`, :pep:`8`, :issue:`12`", "`Command.main` and `Group`, PEP 8"},
		{"role_with_title", ":ref:`the docs <docs>`", "the docs"},
		{"markdown_link", "see [the `docs`](https://example.com/a_(b)) here", "see the `docs` here"},
		{"reference_links", "x. [#818](https://example.com/818) [#819]", "x."},
		{"reference_as_link_text", "y ([#5](u))", "y"},
		{"bare_url", "Fixed crash https://example.com/pull/3953", "Fixed crash"},
		{"url_in_code_stays", "opens `http://example.com/x`", "opens `http://example.com/x`"},
		{"number_without_a_mark", "Add steps to `shift` in Issue 869", "Add steps to `shift`"},
		{"number_without_a_mark_inside", "Replace the logic of issue 900 in PR 12 with a test", "Replace the logic of issue 900 with a test"},
		{"number_before_a_title", "Issue 900: Replace iequals fillvalue logic", "Replace iequals fillvalue logic"},
		{"a_count_of_issues", "Show at most 20 issues, in issue order", "Show at most 20 issues, in issue order"},
		{"closing_words", "Add x, closes #12 and #13.", "Add x."},
		{"words_of_thanks", "Fix y (:issue:`2`). Thanks :user:`a` for reporting and :user:`b` for the fix.", "Fix y."},
		{"joined_references", "Fixed x. Reported by @a (gh issue #401) and fixed by @b (gh pr #429)", "Fixed x."},
		{"thanks_twice", "Fix y (:issue:`2`). Thanks :user:`a` for reporting. Thanks :user:`b` and :user:`c` for the PRs.", "Fix y."},
		{"reference_that_does_something", "lost in 8.4.0 when #2969 began to write", "lost in 8.4.0 when an earlier change began to write"},
		{"reference_first", "#516 bulk-scanned one line", "An earlier change bulk-scanned one line"},
		{"reference_before_words", "set to zero (#9; needs 3.10)", "set to zero (needs 3.10)"},
		{"commit", "since 1a2b3c4 it works", "it works"},
		{"no_commit", "decade and 1234567 stay", "decade and 1234567 stay"},
		{"emphasis", "the *key* of **all** _words_, not *args or __init__ or a_b_c", "the key of all words, not *args or __init__ or a_b_c"},
		{"mention", "ask @acme/team about it", "ask about it"},
		{"decorator", "use @property here", "use @property here"},
		{"decorator_of_the_project", "keep @Cached_rows and @app.route(x), thanks to @ann", "keep @Cached_rows and @app.route(x)"},
		{"decorator_by_its_word", "let the @retry decorator and functions decorated with @trace nest", "let the @retry decorator and functions decorated with @trace nest"},
		{"decorator_and_person", "use @property here (thanks @ann)", "use @property here"},
		{"handle", "parse the handle @bob in posts, cc @ann", "parse the handle @bob in posts"},
		{"address", "mail me@acme.org now", "mail now"},
		{"emoji", "🐛 fix: x :bug: y", "fix: x y"},
		{"empty_brackets", "a (#1) b", "a b"},
		{"brackets_with_words", "a (see the manual) b", "a (see the manual) b"},
		{"slice", "instead of as []byte literal (#3)", "instead of as []byte literal"},
		{"types", "takes map[string][]int, grid[i][j], f[T](x), interface{} and func()", "takes map[string][]int, grid[i][j], f[T](x), interface{} and func()"},
		{"dots", "db.count(where(...)) and f(...) count (#3)", "db.count(where(...)) and f(...) count"},
		{"keywords", "passes **kwargs and **options on, .env files too", "passes **kwargs and **options on, .env files too"},
		{"leading_dot", ".env files are read", ".env files are read"},
		{"unbalanced", "ends with `a` and `", "ends with `a` and"},
	} {
		got, _ := prose.Torn(prose.Inline(tc.in))
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestTorn(t *testing.T) {
	t.Parallel()
	if _, torn := prose.Torn(prose.Inline("Similar to the recent #1565 it is now fixed.")); !torn {
		t.Error("a sentence that lost its object counts as whole")
	}
	if _, torn := prose.Torn(prose.Inline("It is now fixed (#1565).")); torn {
		t.Error("a sentence that lost nothing counts as torn")
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	got := prose.Sentences("Adds `a. B` (i.e. x. Y) in 8.4.0. It says \"No. Never.\" now! E.g. `c` works, cf. Knuth. 3 are left. lower case goes on")
	want := []string{"Adds `a. B` (i.e. x. Y) in 8.4.0.", "It says \"No. Never.\" now!", "E.g. `c` works, cf. Knuth.", "3 are left. lower case goes on"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoise(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"Add tests.", "Update the changelog.", "This PR adds unit tests for it.", "Thanks to all.", "for more information, see", "[pre-commit.ci] auto fixes",
		"All existing tests continue to pass.", "Make sure that you've checked the boxes below.", "chore: lint", "Fix typos in docs.", "Generated with a tool.", "(no need to say more)", "for details.",
	} {
		if !prose.Noise(s) {
			t.Errorf("kept: %q", s)
		}
	}
	for _, s := range []string{
		"Unknown keys were dropped without a word.", "Add a `strict` option to the reader.", "Test failure messages are cut.", "The docs promise another order.",
		"Remove the limit on nested values.",
	} {
		if prose.Noise(s) {
			t.Errorf("dropped: %q", s)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a\n```\nx\n```\n", "a\n\n    x = 1\n", "def f(x):", "It is written so here: def run(x): return x + 1", "The function func run(x int) { return } is wanted.", "for x in y: return x", `a <div class="x"> block`, "x = 1;", "<b>bold</b>", "{% for x in y %}", "X = {{ y }}"} {
		if len(prose.Code(s)) == 0 {
			t.Errorf("no code found in %q", s)
		}
	}
	for _, s := range []string{
		"use `f` and `a.b` and `--x`.", "word(s) and so on (that is)", "The message is “use `f(x)` now”.", `The message is "a == b: {x} != %s".`, "- a list\n- of `names`",
		"use `f(x)` now", "use `def f(x): return x` now", "with strict=True", "call f(a, b) now", "if a && b", "interface{} and []byte and map[string][]int", `"func(T, T) int" as the signature`,
		"Text in <b>bold</b> is read as text.", "A value in {{ x }} is escaped by default.", "It returns nothing where the file is empty;",
	} {
		if c := prose.Code(s); len(c) > 0 {
			t.Errorf("code found in %q: %q", s, c)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	got := prose.Tokens("I want `f(x, y)` (or g.h) to take \"func(T, T) int\", []byte, --flag, T[int] and interface{} instead of word(s), e.g. foo_bar.")
	want := []string{"f(x, y)", "g.h", "func(T, T) int", "[]byte", "--flag", "T[int]", "interface{}", "word(s)", "e.g", "foo_bar"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStrays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, source string
		want               []string
	}{
		{"unchanged", "I want to use []byte and `f(x)`.", "Use []byte and ``f(x)``", nil},
		{"cut_type", "I want to have \"`func` int\" as the signature.", "\"func(T, T) int\" as the signature", []string{"`func` int"}},
		{"cut_brackets", "I want to return byte_slice and byte[].", "return []byte_slice and byte[]", nil},
		{"other_order", "I want to turn `a` into `b`.", "turn `b` into `a`", []string{"a … b"}},
		{"scope_moved", "I want to use `x` in `soft`.", "soft: use `x`", nil},
		{"scope_of_a_conventional_title", "I want to use `x` in `soft`.", "fix(soft): use `x`", nil},
		{"not_the_author's", "I want to use `x`.", "use y", []string{"x"}},
	} {
		if diff := cmp.Diff(tc.want, prose.Strays(tc.text, tc.source)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := prose.Names("Use `strict` or sock_family of UDPSocket in src/pkg/mod.py via a.b (e.g. --no-color); APIs and URLs of Python and/or C are words, `go()` is a name")
	want := []string{"strict", "go", "sock_family", "UDPSocket", "src/pkg/mod.py", "a.b", "--no-color"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSquashed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, title, body, want string }{
		{"commits", "", "* Add x\n\nBecause of y.\n\n* Fix lint\n\nDetails of lint.\n\n---------\n\nCo-authored-by: A", "Because of y."},
		{"one_commit", "", "* Add x\n\n* Update changelog", ""},
		{"a_list", "", "Why:\n* a\n* b", "Why:\n* a\n* b"},
		{"title_first", "Add x", "* Add x\nBecause of y.\n* doc", "Because of y."},
		{"features", "feat: exit codes", "* feat: Exit codes\n\nBecause of y.\n\n* feat(exit)!: Exit 80 where the usage is wrong\n\n* fix: lint\n\n* Add tests", "Because of y.\n\n* Exit 80 where the usage is wrong"},
		{"features_after_a_title", "Add x", "* Add x\n* feat: y by z\n* doc", "* y by z"},
		{"words_before", "", "It is slow.\n\n* Make x fast\n\nBy z.", "It is slow.\n\nBy z."},
		{"none", "", "Text.", "Text."},
	} {
		if diff := cmp.Diff(tc.want, trim(prose.Squashed(tc.title, tc.body))); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func trim(s string) string {
	for len(s) > 0 && (s[0] == '\n' || s[0] == ' ') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == ' ') {
		s = s[:len(s)-1]
	}
	return s
}

func TestDefines(t *testing.T) {
	t.Parallel()
	got := prose.Defines(">>> s = f()\nclass Base:\n    pass\nfunc (r *R) Do() {}\nx := 1\ny == 2\n")
	if diff := cmp.Diff([]string{"s", "Base", "Do", "x"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzProse(f *testing.F) {
	f.Add("* a\n\n```\nx\n")
	f.Add("``x`` :r:`y <z>` [a](b) `` ` <!--")
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range prose.Blocks(prose.Squashed("", strings.ToValidUTF8(text, ""))) { // as Plain leaves it
			if b.Kind == prose.Listing {
				continue
			}
			for _, s := range prose.Sentences(prose.Inline(b.Text)) {
				s, _ = prose.Torn(s)
				prose.Names(s)
				if strays := prose.Strays(s, s); len(strays) > 0 {
					t.Errorf("%q of %q are not in it", strays, s)
				}
			}
		}
	})
}
