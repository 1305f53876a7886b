package mask

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What was found once is found again, however much comes after it.
func TestWords(t *testing.T) {
	t.Parallel()
	const n = 5_000 // the tables grow on the way
	w := newWords()
	if _, ok := w.find("a0"); ok {
		t.Error("nothing is there, and something is found")
	}
	paths := make([]int32, n)
	for i := range paths {
		name := "a" + strconv.Itoa(i)
		if id := w.id(name); id != int32(i) || w.id(name) != id {
			t.Fatalf("%s has the number %d", name, id)
		}
		paths[i] = w.path([]string{name, "a0", name})
	}
	long := strings.Repeat("x", 2*roomOf)
	if at := w.id(long); w.texts[at] != long {
		t.Error("a long word is another")
	}
	for i, path := range paths {
		name := "a" + strconv.Itoa(i)
		if w.known(name) != int32(i) || w.texts[i] != name {
			t.Fatalf("%s is %d, which is %s", name, w.known(name), w.texts[i])
		}
		if again := w.path([]string{name, "a0", name}); again != path || w.join([]int32{int32(i)}, []int32{0, int32(i)}) != path {
			t.Fatalf("the path of %s is %d, and was %d", name, again, path)
		}
		if parts := w.split(path); !slices.Equal(parts, []int32{int32(i), 0, int32(i)}) {
			t.Fatalf("the path of %s has the parts %v", name, parts)
		}
	}
	if one, other := w.path([]string{"a1", "a2"}), w.path([]string{"a2", "a1"}); one == other {
		t.Error("two paths of the same words are one")
	}
}
