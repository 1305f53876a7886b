package syntax

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSiblings: those before a node and after it, however deep what lies between.
func TestSiblings(t *testing.T) {
	t.Parallel()
	tree, err := ParseTree(Python, []byte("# a\ndef f(b=(1, [2])): return g(3)\nx\n"))
	if err != nil {
		t.Fatal(err)
	}
	var last Node
	var after, before []string
	for n := tree.Root().First(); n.Is(); n = n.After() {
		last, after = n, append(after, n.Kind())
	}
	for n := last; n.Is(); n = n.Before() {
		before = append(before, n.Kind())
	}
	want := []string{"comment", "function_definition", "expression_statement"}
	slices.Reverse(before)
	if diff := cmp.Diff([][]string{want, want}, [][]string{after, before}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBroken: a tree is broken by a syntax error.
func TestBroken(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{"": false, "x = 1\n": false, "def f():\n    return = 1\n": true, "f(\n": true} {
		tree, err := ParseTree(Python, []byte(source))
		if err != nil || tree.Broken() != want {
			t.Errorf("%q: broken %t (%v), want %t", source, tree.Broken(), err, want)
		}
	}
}

// TestParseTime: a parse ends when its time is over, and leaves nothing behind.
func TestParseTime(t *testing.T) {
	t.Parallel()
	for l, text := range map[Language]string{
		Python: "class A:\n    def f(self, x):\n        \"\"\"doc {x}\"\"\"\n        return f'{x!r:>{self.w}}' if x else [y for y in (1, 2)]\n",
		Ruby:   "def f(x)\n  puts <<~A, \"#{x}\"\n    a #{x + 1}\n  A\nend\n",
		PHP:    "<?php\nfunction f($x) { return <<<A\n  a {$x}\n  A; }\n?><b/>\n",
		TSX:    "const f = <T,>(x: T) => <a b={`c${x}`}>d{x}</a>;\n",
	} {
		source := []byte(strings.Repeat(text, 3000) + ")")
		if _, err := (parser{language: l, limit: time.Millisecond}).parse(source); !errors.Is(err, ErrTooSlow) {
			t.Errorf("%s: %v, want %v", l, err, ErrTooSlow)
		}
		again, err := ParseTree(l, []byte(text))
		if err != nil || again.nodes[0].end > len(text) {
			t.Errorf("%s: after one that was ended: %v", l, err)
		}
	}
}

// TestParseAgain: the memory of a parse is that of parses before, of other languages and
// sizes, broken and ended ones too, and none of them shows.
func TestParseAgain(t *testing.T) {
	t.Parallel()
	var sources []parsed
	for l, text := range map[Language]string{
		Python:     "class A:\n    def f(self, x):\n        return f'{x!r:>{self.w}}' if x else [y for y in (1, 2)]\n",
		JavaScript: "const f = async (a, ...b) => ({a, [b]: `c${a}`});\n",
		Rust:       "fn f<T: Into<u8>>(x: T) -> u8 { match x.into() { 0..=9 => 1, _ => todo!() } }\n",
		Ruby:       "def f(x)\n  puts <<~A, \"#{x}\"\n    a #{x + 1}\n  A\nend\n",
		PHP:        "<?php function f($x) { return <<<A\n  a {$x}\n  A; }\n?><b/>\n",
		CSharp:     "class A<T> where T : B { int F(out int x) => x = $\"{1:x}\".Length; }\n",
	} {
		for _, n := range []int{1, 40, 1000} {
			sound := strings.Repeat(text, n)
			for _, source := range []string{sound, sound[:len(sound)*2/3] + "((" + sound} {
				sources = append(sources, parsed{l, []byte(source), nil})
			}
		}
	}
	deep := strings.Repeat("[", 300_000) + strings.Repeat("]", 300_000) // a piece for itself
	sources = append(sources, parsed{JavaScript, []byte(deep), nil})
	for range 3 {
		for i := range sources {
			s := &sources[i]
			tree, err := ParseTree(s.language, s.source)
			if err != nil {
				t.Fatal(err)
			}
			if s.nodes == nil {
				s.nodes = tree.nodes
			}
			if !slices.Equal(s.nodes, tree.nodes) {
				t.Errorf("%s, %d bytes: another tree", s.language, len(s.source))
			}
		}
		slices.Reverse(sources)
	}
}

type parsed struct {
	language Language
	source   []byte
	nodes    []node
}
