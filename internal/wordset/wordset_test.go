package wordset

import "testing"

func TestHas(t *testing.T) {
	s := New("a bc\n\td-e")
	if s.has != nil {
		t.Error("laid out before its first use")
	}
	for word, want := range map[string]bool{"a": true, "bc": true, "d-e": true, "b": false, "": false, "bc\n": false} {
		if got := s.Has(word); got != want {
			t.Errorf("Has(%q) is %v", word, got)
		}
	}
}
