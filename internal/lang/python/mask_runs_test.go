package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// What runs under a name that it has from elsewhere.
func TestMaskRuns(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"a_name_for_an_element_inside_of_a_condition": {
			"-- a.py --\n" + classes("A", "B", "C") + "T = {1: A, 2: B}\ndef pick(k):\n    if made := T[k]:\n        return made()\npick(1)\n",
			"A.__init__ B.__init__ pick",
		},
		"one_of_two_that_is_called_on_the_spot": {
			"-- a.py --\n" + classes("A", "B", "C") + "def f(x): return x + 1\ndef g(x): return x + 2\ndef h(x): return x\ndef make(k=None):\n    return (k or A)()\nmake()\n(f if make else (g or None))(1)\n",
			"A.__init__ f g make",
		},
		"a_decorator_that_is_a_method_of_what_is_made_there": {
			"-- a.py --\nclass Trap:\n    def __init__(self, x): self.x = x\n    def passes(self, f): return f\n    def other(self): return 1\n@Trap(1).passes\ndef f(x): return x + 1\n",
			"Trap.__init__ Trap.passes",
		},
		"names_that_get_their_values_together": {
			"-- a.py --\nclass T:\n    def __init__(self): self.x = 1\n    def f(self): return self.h()\n    def g(self): return 1\n    def h(self): return 2\nt = T()\nf, g = (t.f, t.g)\nf()\n-- b.py --\n" + classes("A", "B") + "def make():\n    a, b = A(), B()\n    a.m()\nmake()\ndef f(): return 1\n",
			"T.__init__ T.f T.h A.__init__ A.m B.__init__ make f",
		},
		"what_a_descriptor_gives": {
			"-- a.py --\nclass D:\n    def __get__(self, x, of): return E()\nclass E:\n    def __init__(self): self.x = 1\n    def f(self): return g()\n    def other(self): return 1\ndef g(): return 1\nclass C:\n    d = D()\n    def __init__(self): self.d.f()\nC()\n",
			"D.__get__ E.__init__ E.f g C.__init__",
		},
	})
}
