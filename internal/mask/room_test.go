package mask

import "testing"

// A small heap may grow to 24 MiB, a large one by 8, or 15 % where that is more.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ live, most uint64 }{{0, 24}, {4, 24}, {15, 24}, {25, 33}, {40, 48}, {50, 58}, {80, 92}, {400, 460}} {
		if heap := c.live + max(c.live, 4)*uint64(growth(c.live<<20))/100; heap != c.most {
			t.Errorf("%d MiB are live, and the heap grows to %d, want %d", c.live, heap, c.most)
		}
	}
}
