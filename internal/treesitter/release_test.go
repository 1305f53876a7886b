package treesitter

import (
	"testing"
	"time"
)

// What a parse leaves for the next one is given back, and the next one goes on without it.
func TestRelease(t *testing.T) {
	parse := func() {
		if _, err := Of("python").Parse([]byte("x = 1\n"), Extent{}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	parse()
	if len(memories.idle) == 0 {
		t.Error("nothing is left for the next parse")
	}
	Release()
	if len(memories.idle) != 0 {
		t.Errorf("%d are left", len(memories.idle))
	}
	parse()
}
