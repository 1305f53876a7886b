package schemas_test

import (
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// TestCounted: nil counts all of PASS_TO_PASS.
func TestCounted(t *testing.T) {
	t.Parallel()
	f2p, p2p := []string{"a", "b", "c"}, []string{"d", "e", "f"}
	for _, c := range []struct {
		counted *schemas.Counted
		want    float64
	}{{nil, 0.5}, {&schemas.Counted{P2P: []string{"e"}}, 0.25}, {&schemas.Counted{}, 0}} {
		if got := c.counted.ZeroWork(f2p, p2p); got != c.want {
			t.Errorf("%+v: %v, want %v", c.counted, got, c.want)
		}
	}
	if got := (*schemas.Counted)(nil).ZeroWork(nil, nil); got != 0 {
		t.Errorf("of no test: %v", got)
	}
}
