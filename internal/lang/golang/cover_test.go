package golang

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// TestCovered: a line runs where one of its blocks does, in any test; blocks of other modules
// and lines that are no blocks are left out. Reached sees the blocks that run alone.
func TestCovered(t *testing.T) {
	t.Parallel()
	tree := memory{"go.mod": "module example.com/m\n\ngo 1.21\n", "a.go": "package m\n", "p/b.go": "package p\n", "p/b_test.go": "package p\n"}
	out := []lang.Output{{Tree: tree, Report: []byte("=example.com/m/p::TestA\n" +
		"example.com/m/a.go:3.24,5.2 2 0\nexample.com/m/a.go:5.2,6.9 1 4\nexample.com/m/p/b.go:1.1,2.2 1 0\nother.org/x/c.go:1.1,2.2 1 1\nexample.com/m/a.go:x,y 1 1\nexample.com/m/a.go:1.1,9999999.1 1 1\n" +
		"=example.com/m/p::TestB\nexample.com/m/p/b.go:1.1,2.2 1 1\nexample.com/m/a.go:5.2,6.9 1 0\n")}}
	got := Language{}.Covered(schemas.Recipe{}, out)
	want := []lang.Coverage{{Path: "a.go", Lines: []int{3, 4, 5, 6}, Ran: []int{5, 6}}, {Path: "p/b.go", Lines: []int{1, 2}, Ran: []int{1, 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	reached := Language{}.Reached(schemas.Recipe{}, out)
	if diff := cmp.Diff([]lang.Place{{Path: "p/b.go", Line: 1}}, reached["example.com/m/p::TestB"]); diff != "" {
		t.Error(diff)
	}
	for _, p := range reached["example.com/m/p::TestA"] {
		if p.Path != "a.go" || p.Line != 5 && p.Line != 1 {
			t.Errorf("a block that does not run is reached: %+v", p)
		}
	}
}
