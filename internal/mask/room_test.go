package mask

import "testing"

// A heap may be as large as what is live and 20 MiB, or a quarter more where that is more.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ live, most uint64 }{{0, 20}, {4, 24}, {20, 40}, {50, 70}, {80, 100}, {400, 500}} {
		if heap := c.live + max(c.live, 4)*uint64(growth(c.live<<20))/100; heap != c.most {
			t.Errorf("%d MiB are live, and the heap grows to %d, want %d", c.live, heap, c.most)
		}
	}
}
