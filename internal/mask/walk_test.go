package mask

import (
	"slices"
	"testing"
)

func TestHeavyFirst(t *testing.T) {
	t.Parallel()
	sizes := []int64{1, 5, 3, 5, 9, 2, 7}
	got := heavyFirst(len(sizes), 4, func(i int) int64 { return sizes[i] })
	if want := []int{1, 3, 2, 0, 4, 6, 5}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v: heavy first of four at a time, else as they stand", got, want)
	}
}
