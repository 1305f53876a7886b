package mask

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlames(t *testing.T) {
	t.Parallel()
	var l Load
	for _, message := range []string{"NotImplementedError: masked: C.f", "panic: masked: f [recovered]", "cannot import 'masked: g'", "masked: f", "KeyError: 'x'"} {
		l.Failed = append(l.Failed, NotLoaded{Unit: "m", Message: message, Path: "a.py"})
	}
	l.Failed = append(l.Failed, NotLoaded{Unit: "m", Message: "masked: h"})
	if diff := cmp.Diff([]string{"a.py::C.f", "a.py::f", "a.py::g", "h"}, l.Blames()); diff != "" {
		t.Error(diff)
	}
}
