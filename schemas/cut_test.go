package schemas_test

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// TestSlice: what a slice is named by, what is in it, and what no slice can be.
func TestSlice(t *testing.T) {
	t.Parallel()
	module := schemas.Slice{Module: "src/core.py", Name: "core"}
	function := schemas.Slice{Function: "src/core.py::Box.size", Name: "Box.size"}
	cut := schemas.Cut{Repo: "acme/widget", Release: schemas.Release{Tag: "v1"}, Profile: "strict"}
	for _, c := range []struct {
		slice          *schemas.Slice
		id, told, path string
		holds, others  []string
	}{
		{nil, "acme__widget-v1.library", "release v1", "", nil, nil},
		{&module, "acme__widget-v1.library.strict.core", "release v1, module src/core.py", "src/core.py", []string{"src/core.py::Box.size", "src/core.py::area"}, []string{"src/core.py2::area", "core.py::area"}},
		{&function, "acme__widget-v1.library.strict.Box_size_0921", "release v1, function src/core.py::Box.size", "src/core.py", []string{"src/core.py::Box.size"}, []string{"src/core.py::Box.sizes", "src/core.py::Box"}},
	} {
		cut.Slice = c.slice
		if got := (schemas.Origin{Cut: &cut}).Subject(); cut.ID() != c.id || got != c.told {
			t.Errorf("ID %s, want %s; told as %q, want %q", cut.ID(), c.id, got, c.told)
		}
		if _, err := schemas.ParseInstanceID(cut.ID()); err != nil {
			t.Error(err)
		}
		if c.slice == nil {
			continue
		}
		if err := c.slice.Validate(); err != nil || c.slice.Path() != c.path {
			t.Errorf("%v, path %s, want %s", err, c.slice.Path(), c.path)
		}
		for _, f := range c.holds {
			if !c.slice.Holds(f) {
				t.Errorf("%s does not hold %s", c.slice, f)
			}
		}
		for _, f := range c.others {
			if c.slice.Holds(f) {
				t.Errorf("%s holds %s", c.slice, f)
			}
		}
	}
	for want, s := range map[string]schemas.Slice{
		"without a name": {Module: "a.py"}, "not one of the three": {Name: "a"}, "function \"a.py::f\" and": {Module: "a.py", Function: "a.py::f", Name: "a"},
		"is not path::Class.method": {Function: "a.py::", Name: "a"}, `function "::f"`: {Function: "::f", Name: "a"},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
