package main

import (
	"fmt"
	"strings"
	"testing"
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
