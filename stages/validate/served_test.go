package validate

import (
	"errors"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func equal(v any) *contract.Matcher { return &contract.Matcher{Equal: &v} }

// TestVacuous: cases that one constant answer passes together prove nothing, nor do those that
// look at the status alone; one case that it fails is enough.
func TestVacuous(t *testing.T) {
	t.Parallel()
	answered := func(status int, body *contract.Matcher) contract.Case {
		return contract.Case{ID: "one", Expect: &contract.Expect{Status: status, Type: "application/json", Body: body}}
	}
	told := answered(200, &contract.Matcher{Object: map[string]*contract.Matcher{"id": {Type: "integer"}}})
	for name, tc := range map[string]struct {
		cases []contract.Case
		want  string // "": they stand
	}{
		"an_empty_list":  {[]contract.Case{answered(200, equal([]any{})), answered(200, nil)}, `status 200 with the body "[]" passes all 2 cases`},
		"an_object":      {[]contract.Case{answered(200, equal(map[string]any{}))}, `status 200 with the body "{}"`},
		"not_there":      {[]contract.Case{answered(404, equal(map[string]any{}))}, "status 404"},
		"status_alone":   {[]contract.Case{answered(200, nil), answered(404, nil)}, "look at the status alone"},
		"keys":           {[]contract.Case{told}, ""},
		"one_of_several": {[]contract.Case{answered(200, equal([]any{})), told}, ""},
		"two_statuses":   {[]contract.Case{answered(200, equal([]any{})), answered(404, equal(map[string]any{}))}, ""},
		"a_reference":    {[]contract.Case{answered(200, &contract.Matcher{Ref: "make:body/id"})}, ""},
	} {
		err := vacuous(tc.cases)
		var rejected *pipeline.Rejected
		if tc.want == "" && err != nil || tc.want != "" && (!errors.As(err, &rejected) || rejected.Reason != schemas.Vacuous || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
