package score

import "github.com/benchmint/benchmint/schemas"

// Service is what predictions for services come to, in the two stages of ABC-Bench. Each
// prediction counts once; one that was not run, or that a limit ended, does not start.
type Service struct {
	Predictions int     `json:"predictions"`
	Starts      int     `json:"starts"`     // build, start and answer
	S1          float64 `json:"s1"`         // Starts of Predictions, 0 to 1
	Functional  int     `json:"functional"` // pass every case that counts
	// S2 is Functional of Starts, 0 to 1; 0 where none starts.
	S2 float64 `json:"s2"`
	// Errors counts those that are not functional by what went wrong. Those that do not apply, are
	// empty or that a limit ended are "other".
	Errors map[schemas.ErrorClass]int `json:"errors"`
}

// serviceOf are the figures of the answers for services, nil where there is none.
func serviceOf(answers []Answer) *Service {
	out := Service{Errors: map[schemas.ErrorClass]int{}}
	for _, a := range answers {
		if a.Task.Kind != schemas.KindService {
			continue
		}
		out.Predictions++
		served := a.Grade.Service
		if served == nil {
			served = &schemas.Served{Class: schemas.ClassOther}
		}
		if served.Starts {
			out.Starts++
		}
		if served.Functional {
			out.Functional++
		} else {
			out.Errors[served.Class]++
		}
	}
	if out.Predictions == 0 {
		return nil
	}
	out.S1, out.S2 = mean(float64(out.Starts), out.Predictions), mean(float64(out.Functional), out.Starts)
	return &out
}
