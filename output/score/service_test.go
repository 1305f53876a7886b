package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// TestServices: S1 is of all predictions, S2 of those that start, and every prediction that is
// not functional has a class.
func TestServices(t *testing.T) {
	t.Parallel()
	answer := func(kind schemas.Kind, s *schemas.Served) Answer {
		return Answer{Task: Task{Kind: kind}, Grade: schemas.Grade{Service: s}}
	}
	got := serviceOf([]Answer{
		answer(schemas.KindService, &schemas.Served{Starts: true, Functional: true}),
		answer(schemas.KindService, &schemas.Served{Starts: true, Class: schemas.ClassLogic}),
		answer(schemas.KindService, &schemas.Served{Class: schemas.ClassSyntax}),
		answer(schemas.KindService, nil),
		answer(schemas.KindFeature, nil),
	})
	want := &Service{Predictions: 4, Starts: 2, S1: 0.5, Functional: 1, S2: 0.5, Errors: map[schemas.ErrorClass]int{schemas.ClassLogic: 1, schemas.ClassSyntax: 1, schemas.ClassOther: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := serviceOf([]Answer{answer(schemas.KindFeature, nil)}); got != nil {
		t.Errorf("of no service: %+v", got)
	}
	if none := serviceOf([]Answer{answer(schemas.KindService, nil)}); none.S1 != 0 || none.S2 != 0 {
		t.Errorf("none starts: %+v", none)
	}
}
