package assess

import (
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Counted are the tests that count for a slice.
var Counted = counted

// Reverts are the solutions without one hunk each.
func Reverts(c testrun.Case) ([]*tree.Tree, error) {
	hunks, err := hunksOf(c)
	if err != nil {
		return nil, err
	}
	var out []*tree.Tree
	for _, h := range hunks {
		t, err := h.without(c.G)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
