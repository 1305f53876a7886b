package assess_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
)

// TestCover: the lines of the code part count, of the solution, and no others; what is not known is
// nothing, and no verdict.
func TestCover(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code   string // of the solution
		cannot bool
		plain  bool // a runner that has no measure
		want   *schemas.Coverage
	}{
		"some":            {code: "alpha\nnever\nbeta\n", want: &schemas.Coverage{Lines: 3, Ran: 2}},
		"all":             {code: "alpha\n", want: &schemas.Coverage{Lines: 1, Ran: 1}},
		"nothing_is_seen": {code: "never\n"},
		"no_measure":      {code: "alpha\n", plain: true},
		"too_dear":        {code: "alpha\n", cannot: true},
		"over_a_limit":    {code: "alpha\nhang\n"},
		"does_not_build":  {code: "alpha\nhog\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := map[string]string{"code.toy": "masked\n", "test_a.toy": "t alpha\n"}
			c, proof := caseOf(t, start, map[string]string{"code.toy": tc.code, "test_a.toy": "t alpha\n"})
			c.Start.Files = []schemas.PartFile{{ChangedFile: schemas.ChangedFile{Path: "code.toy"}, Part: schemas.PartCode, Hunks: 2}}
			if !tc.plain {
				c.Runner = covering{cannot: tc.cannot}
			}
			b := newBox()
			a, err := assess.New(outside(b), assess.Default())
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Cover(t.Context(), c, proof)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Coverage); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[schemas.HunkSkip]int{schemas.SkipMasked: 2}, got.SkippedFor); diff != "" || got.Skipped != 2 || len(b.left) > 0 {
				t.Errorf("%+v, left %v (-want +got):\n%s", got, b.left, diff)
			}
		})
	}
	start := map[string]string{"code.toy": "masked\n", "test_a.toy": "t alpha\n"}
	c, proof := caseOf(t, start, map[string]string{"code.toy": "alpha\nfire\n", "test_a.toy": "t alpha\n"})
	c.Runner = covering{}
	a, err := assess.New(outside(newBox()), assess.Default())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Cover(t.Context(), c, proof); err == nil {
		t.Error("a machine on fire is no fault")
	}
}

// TestCounted: what runs a masked function counts; where nobody knows, what stands beside a test
// that fails. Tests in no list never count.
func TestCounted(t *testing.T) {
	t.Parallel()
	proof := schemas.Proof{Tests: []schemas.TestVerdict{
		{ID: "b::far", Unit: "b", Class: schemas.P2P}, {ID: "a::z", Unit: "a", Class: schemas.P2P}, {ID: "a::f", Unit: "a", Class: schemas.F2P},
		{ID: "a::b", Unit: "a", Class: schemas.P2P}, {ID: "a::flaky", Unit: "a", Class: schemas.Quarantined},
	}}
	for name, tc := range map[string]struct {
		near  []string
		known bool
		want  *schemas.Counted
	}{
		"reach":        {[]string{"b::far", "a::z"}, true, &schemas.Counted{Rule: schemas.CountReach, P2P: []string{"a::z", "b::far"}}},
		"none_reaches": {nil, true, &schemas.Counted{Rule: schemas.CountReach, P2P: []string{}}},
		"nobody_knows": {nil, false, &schemas.Counted{Rule: schemas.CountUnits, P2P: []string{"a::b", "a::z"}}},
	} {
		if diff := cmp.Diff(tc.want, assess.Counted(proof, tc.near, tc.known)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCoverSlice: a slice says which tests count, a whole library does not.
func TestCoverSlice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		masked *schemas.Masked
		want   *schemas.Counted
	}{
		"whole": {&schemas.Masked{}, nil},
		"slice": {&schemas.Masked{Slice: &schemas.Slice{Module: "code.toy", Name: "code"}}, &schemas.Counted{Rule: schemas.CountUnits, P2P: []string{"test_a.toy::u"}}},
	} {
		c, proof := caseOf(t, map[string]string{"code.toy": "beta\n", "test_a.toy": "t alpha\nu beta\n", "test_b.toy": "v beta\n"}, map[string]string{"code.toy": "alpha\nbeta\n", "test_a.toy": "t alpha\nu beta\n", "test_b.toy": "v beta\n"})
		c.Start.Masked, c.Start.Functions.Modified, c.Runner = tc.masked, []string{"code.toy::alpha"}, covering{}
		a, err := assess.New(outside(newBox()), assess.Default())
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Cover(t.Context(), c, proof)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got.Counted); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
