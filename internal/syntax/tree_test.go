package syntax

import "testing"

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
