package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
)

func TestWorksOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tc := range []struct{ args, want, fault string }{
		{"a__b-1", "a__b-1 in . []", ""},
		{"a__b-1 DIR t.py::x", "a__b-1 in DIR [t.py::x]", ""},
		{"a__b-1 t.py::x[n=1] t.py", "a__b-1 in . [t.py::x[n=1] t.py]", ""},
		{"a__b-1=DIR c__d-v1.library=DIR", "a__b-1 in DIR c__d-v1.library in DIR []", ""},
		{"a__b-1=DIR t.py", "", `"t.py" is not ID=FOLDER`},
		{"a__b-1=DIR a__b-1=DIR", "", "a__b-1 is given more than once"},
		{"a__b-1=DIR/none", "", "is not a folder"},
	} {
		works, rest, err := worksOf(strings.Fields(strings.ReplaceAll(tc.args, "DIR", dir)))
		if err != nil {
			if tc.fault == "" || !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("%s: %v, want %q", tc.args, err, tc.fault)
			}
			continue
		}
		var said []string
		for _, w := range works {
			said = append(said, w.id+" in "+strings.Replace(w.folder, dir, "DIR", 1))
		}
		if got := strings.Join(append(said, fmt.Sprint(rest)), " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.args, got, tc.want)
		}
	}
}

func TestCoveredOf(t *testing.T) {
	t.Parallel()
	got := coveredOf([]lang.Coverage{{Path: "a.py", Lines: []int{1, 2, 4, 7}, Ran: []int{2, 7}}, {Path: "b.py"}})
	want := &covered{Lines: 4, Ran: 2, Share: 0.5, Files: []coveredFile{{Path: "a.py", Lines: 4, Ran: 2, Missed: []int{1, 4}}, {Path: "b.py", Missed: []int{}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := ranges([]int{1, 3, 4, 5, 9, 10}); got != "1, 3-5, 9-10" {
		t.Errorf("ranges: %s", got)
	}
}
