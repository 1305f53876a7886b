package syntax

import (
	"testing"

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
