package syntax

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBefore: the sibling before a node, however deep what lies between.
func TestBefore(t *testing.T) {
	t.Parallel()
	tree, err := ParseTree(Python, []byte("# a\ndef f(b=(1, [2])): return g(3)\nx\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var last Node
	for c := range tree.Root().Children() {
		last = c
	}
	for n := last; n.Is(); n = n.Before() {
		got = append(got, n.Kind())
	}
	if diff := cmp.Diff([]string{"expression_statement", "function_definition", "comment"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSound: what it says of a file is what the whole tree says.
func TestSound(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{"": true, "x = 1\n": true, "def f():\n    return = 1\n": false, "f(\n": false} {
		tree, err := ParseTree(Python, []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Sound(Python, []byte(source))
		if err != nil || got != want || tree.Broken() == want {
			t.Errorf("%q: sound %t (%v), the tree broken %t; want sound %t", source, got, err, tree.Broken(), want)
		}
	}
}

// TestParseTime: the limit is of the processor's time, and a parse that was looked at on
// its way gives the same tree.
func TestParseTime(t *testing.T) {
	t.Parallel()
	for l, text := range map[Language]string{
		Python: "class A:\n    def f(self, x):\n        \"\"\"doc {x}\"\"\"\n        return f'{x!r:>{self.w}}' if x else [y for y in (1, 2)]\n",
		Ruby:   "def f(x)\n  puts <<~A, \"#{x}\"\n    a #{x + 1}\n  A\nend\n",
		PHP:    "<?php\nfunction f($x) { return <<<A\n  a {$x}\n  A; }\n?><b/>\n",
		TSX:    "const f = <T,>(x: T) => <a b={`c${x}`}>d{x}</a>;\n",
	} {
		source := []byte(strings.Repeat(text, 3000) + ")")
		want, err := ParseTree(l, source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseWithin(l, source, whole, maxTime, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want.nodes, got.nodes) {
			t.Errorf("%s: another tree in slices", l)
		}
		if _, err := parseWithin(l, source, whole, time.Millisecond, time.Millisecond); !errors.Is(err, ErrTooSlow) {
			t.Errorf("%s: %v, want %v", l, err, ErrTooSlow)
		}
		again, err := ParseTree(l, []byte(text))
		if err != nil || int(again.nodes[0].end) > len(text) {
			t.Errorf("%s: after one that was ended: %v", l, err)
		}
	}
}
