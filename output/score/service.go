package score

import (
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Service is what predictions for services come to, in the two stages of ABC-Bench: over all services, and as that paper
// has it over those whose environment the solver makes.
type Service struct {
	All         Stages  `json:"all"`
	Environment *Stages `json:"environment,omitempty"` // nil where no task is one
}

// Stages are how far services come. Each answer counts once, and a task without one as one that does not start; one that
// was not run, or that a limit ended, does not start.
type Stages struct {
	Tasks      int     `json:"tasks"`
	Answers    int     `json:"answers"`
	Starts     int     `json:"starts"`     // build, start and answer
	S1         float64 `json:"s1"`         // Starts of Answers, 0 to 1
	Functional int     `json:"functional"` // pass every case that counts
	// S2 is Functional of Starts, 0 to 1; 0 where none starts.
	S2 float64 `json:"s2"`
	// Endpoints is the share of the endpoints that work, as a mean over tasks: every case of the group that asks one passes.
	Endpoints float64 `json:"endpoints"`
}

// service are the figures of services, nil where no task is one.
func (g answers) service() *Service {
	services := g.kind(schemas.KindService)
	if len(services.tasks) == 0 {
		return nil
	}
	out := Service{All: services.stages()}
	if own := services.only(func(t Task) bool { return t.Variant == schemas.VariantEnv }); len(own.tasks) > 0 {
		stages := own.stages()
		out.Environment = &stages
	}
	return &out
}

// working is the share of the endpoints of a service whose cases all pass; 0 where nothing was run.
func (t Task) working(g schemas.Grade) float64 {
	if g.F2P == nil || g.P2P == nil {
		return 0
	}
	works := 0
	for _, tests := range t.Endpoints {
		works += one(!slices.ContainsFunc(tests, func(id string) bool {
			return slices.Contains(g.F2P.Missed, id) || slices.Contains(g.P2P.Missed, id)
		}))
	}
	return mean(float64(works), len(t.Endpoints))
}

func (g answers) stages() Stages {
	s := Stages{Tasks: len(g.tasks)}
	for _, t := range g.tasks {
		s.Answers += max(1, len(g.of[t.Instance]))
		for _, a := range g.of[t.Instance] {
			if served := a.Grade.Service; served != nil {
				s.Starts += one(served.Starts)
				s.Functional += one(served.Functional)
			}
		}
	}
	s.Endpoints = g.mean(func(a Answer) float64 { return a.Task.working(a.Grade) })
	s.S1, s.S2 = mean(float64(s.Starts), s.Answers), mean(float64(s.Functional), s.Starts)
	return s
}
