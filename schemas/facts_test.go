package schemas

import (
	"strconv"
	"testing"
)

// As many changes as are asked for are left to edits, the same ones each time.
func TestDrawnForEdit(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64][2]int{0: {0, 0}, 0.2: {150, 250}, 1: {1000, 1000}} {
		s, n := Source{EditShare: share, Repo: Repo{Root: "r"}}, 0
		for i := range 1000 {
			if s.DrawnForEdit(strconv.Itoa(i)) {
				n++
			}
		}
		if n < want[0] || n > want[1] {
			t.Errorf("%g: %d of 1000", share, n)
		}
	}
}
