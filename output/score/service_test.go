package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/schemas"
)

// TestServices: S1 is of all tasks, S2 of those that start, both over all services and over those whose environment the solver makes; a
// service without an answer does not start, and every answer that is not resolved has a class.
func TestServices(t *testing.T) {
	t.Parallel()
	task := func(id, variant string) Task {
		return Task{Instance: id, Kind: schemas.KindService, Variant: variant}
	}
	answer := func(t Task, s *schemas.Served, class schemas.ErrorClass) Answer {
		return Answer{Task: t, Grade: schemas.Grade{Service: s, Class: class, Verdict: schemas.VerdictFail}}
	}
	endpoints := map[string][]string{"GET /a": {"a1", "a2"}, "GET /b": {"b1"}, "GET /c": {"c1", "c2"}}
	with := func(a Answer, missed ...string) Answer {
		a.Task.Endpoints, a.Grade.F2P, a.Grade.P2P = endpoints, &schemas.Score{Want: 5, Passed: 5 - len(missed), Missed: missed}, &schemas.Score{}
		return a
	}
	a, b, c, d, e := task("a", ""), task("b", ""), task("c", schemas.VariantEnv), task("d", schemas.VariantEnv), task("e", schemas.VariantEnv)
	feature := Task{Instance: "f", Kind: schemas.KindFeature}
	m := Of([]Task{a, b, c, d, e, feature}, []Answer{
		with(answer(a, &schemas.Served{Starts: true, Functional: true}, "")),
		with(answer(b, &schemas.Served{Starts: true}, schemas.ClassLogic), "b1", "c1"),
		answer(c, &schemas.Served{}, schemas.ClassSyntax),
		answer(d, nil, ""),
		answer(feature, nil, ""),
	})
	want := &Service{
		All:         Stages{Tasks: 5, Answers: 5, Starts: 2, S1: 0.4, Functional: 1, S2: 0.5, Endpoints: (1. + 1./3) / 5},
		Environment: &Stages{Tasks: 3, Answers: 3},
	}
	if diff := cmp.Diff(want, m.Service, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[schemas.ErrorClass]int{schemas.ClassLogic: 1, schemas.ClassSyntax: 1, schemas.ClassOther: 3}, m.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if got := Of([]Task{feature}, nil); got.Service != nil {
		t.Errorf("of no service: %+v", got)
	}
}
