package validate

import (
	"errors"
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func equal(v any) *contract.Matcher { return &contract.Matcher{Equal: &v} }

// TestVacuous: cases that look at the status alone prove nothing; one that looks at a value is
// enough.
func TestVacuous(t *testing.T) {
	t.Parallel()
	answered := func(status int, body *contract.Matcher) contract.Case {
		return contract.Case{ID: "one", Expect: &contract.Expect{Status: status, Type: "application/json", Body: body}}
	}
	told := answered(200, &contract.Matcher{Object: map[string]*contract.Matcher{"id": {Type: "integer"}}})
	for name, tc := range map[string]struct {
		cases  []contract.Case
		stands bool
	}{
		"any_list":       {[]contract.Case{answered(200, &contract.Matcher{Type: "array"}), answered(200, nil)}, false},
		"empty_object":   {[]contract.Case{answered(200, equal(map[string]any{}))}, false},
		"status_alone":   {[]contract.Case{answered(200, nil), answered(404, nil)}, false},
		"keys":           {[]contract.Case{told}, true},
		"one_of_several": {[]contract.Case{answered(200, equal([]any{})), told}, true},
		"a_value":        {[]contract.Case{answered(200, equal("made"))}, true},
		"a_reference":    {[]contract.Case{answered(200, &contract.Matcher{Ref: "make:body/id"})}, true},
	} {
		err := vacuous(tc.cases)
		var rejected *pipeline.Rejected
		if tc.stands && err != nil || !tc.stands && (!errors.As(err, &rejected) || rejected.Reason != schemas.Vacuous) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
