package grade

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/internal/testrun/testruntest"
)

// TestTell: each failed test has its trace, and of a file that did not load the first test alone.
func TestTell(t *testing.T) {
	t.Parallel()
	var tests []TriedTest
	for _, id := range []string{"a::t", "a::u", "b::v", "b::w", "c::x"} {
		tests = append(tests, TriedTest{Test: lang.Test{ID: id, Unit: id[:1]}})
	}
	tell(tests, testrun.OutcomeOf(testruntest.Parse("a finished t=failed u=passed\nb not_loaded\nc not_loaded\nend")))
	var got []string
	for _, x := range tests {
		got = append(got, string(x.Status)+" "+x.Trace)
	}
	if diff := cmp.Diff([]string{"failed trace of t", "passed ", "not_loaded trace of b", "not_loaded ", "not_loaded trace of c"}, got); diff != "" {
		t.Error(diff)
	}
}
