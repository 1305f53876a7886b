package python

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// TestCovered: what several processes run comes together, and what is no report is passed over.
func TestCovered(t *testing.T) {
	t.Parallel()
	got := Language{}.Covered(schemas.Recipe{}, []lang.Output{
		{Report: []byte(`{"b.py":[[1,2,3],[1]],"a.py":[[9,4],[]]}`)}, {Report: []byte(`{"b.py":[[1,2,3],[3,7]]}`)}, {Report: []byte(`{"c.py":[[1]`)}, {},
	})
	want := []lang.Coverage{{Path: "a.py", Lines: []int{4, 9}}, {Path: "b.py", Lines: []int{1, 2, 3}, Ran: []int{1, 3}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
