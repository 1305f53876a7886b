package lazyregexp

import "testing"

// A wrong expression shows in the tests of the package that has it, not at its
// first use.
func TestWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was taken")
		}
	}()
	New("(")
}
