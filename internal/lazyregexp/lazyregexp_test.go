package lazyregexp

import "testing"

func TestCompiledAtFirstUse(t *testing.T) {
	r := New(`b+`)
	if r.compiled != nil {
		t.Error("compiled before its first use")
	}
	if got := r.FindString("abbc"); got != "bb" {
		t.Errorf("found %q", got)
	}
	first := r.compiled
	if !r.MatchString("b") || r.compiled != first {
		t.Error("compiled twice")
	}
}

func TestWrongExpression(t *testing.T) {
	r := New("(")
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was taken")
		}
	}()
	r.MatchString("")
}
