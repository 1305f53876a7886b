package grade

import (
	"testing"

	"github.com/benchmint/benchmint/internal/lang"
)

// TestKnown: what was not measured is no coverage of 0.
func TestKnown(t *testing.T) {
	t.Parallel()
	half, none := lang.Coverage{Path: "a", Lines: []int{1, 2}, Ran: []int{1}}, lang.Coverage{Path: "a", Lines: []int{1, 2}}
	left, lost := lang.Output{Report: []byte("x")}, lang.Output{}
	for name, c := range map[string]struct {
		files   []lang.Coverage
		outs    []lang.Output
		unknown string
		missing int
	}{
		"measured":       {[]lang.Coverage{half, none}, []lang.Output{left}, "", 0},
		"partly":         {[]lang.Coverage{half}, []lang.Output{left, lost, left}, "", 1},
		"no_process":     {[]lang.Coverage{half}, []lang.Output{lost, lost}, "no test came to its end", 0},
		"unread":         {nil, []lang.Output{left}, "no test came to its end", 0},
		"nothing_loaded": {[]lang.Coverage{none}, []lang.Output{left}, "no line of the code ran where lines are watched", 0},
	} {
		if got := known(c.files, c.outs); got.Unknown != c.unknown || got.Missing != c.missing || (len(got.Files) > 0) != (c.unknown == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
