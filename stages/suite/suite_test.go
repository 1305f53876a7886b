package suite

import (
	"errors"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// TestNarrow holds the share that a suite must notice: above half, and what is asked for.
func TestNarrow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		hunks, noticed int
		least          float64
		refused        bool
	}{
		"none_tried": {0, 0, 0, true}, "half": {2, 1, 0, true}, "above_half": {3, 2, 0.5, false}, "below_the_setting": {3, 2, 0.7, true}, "all": {1, 1, 1, false},
	} {
		a := schemas.Adequacy{Noticed: tc.noticed}
		for i := range tc.hunks {
			h := schemas.HunkNotice{Path: "a.py", Hunk: i}
			if i < tc.noticed {
				h.Tests = []string{"t"}
			}
			a.Hunks = append(a.Hunks, h)
		}
		err := narrow(a, tc.least)
		var refused *pipeline.Rejected
		if errors.As(err, &refused) != tc.refused || refused != nil && refused.Reason != schemas.SuiteNarrow {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFunction(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"tests/test_a.py::test_b": "test_b", "tests/test_a.py::TestC::test_b[x::y]": "test_b", "example.org/shop::TestA/sub.b": "TestA", "test_b": "test_b", "TestC.test_b": "test_b",
	} {
		if got := function(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestAdded applies the patch that secrets are looked for in.
func TestAdded(t *testing.T) {
	t.Parallel()
	none, err := tree.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := none.Apply(added("a/b.py", []byte("one\ntwo\n")))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := got.Read("a/b.py"); err != nil || string(data) != "one\ntwo\n" {
		t.Errorf("%q, %v", data, err)
	}
}
