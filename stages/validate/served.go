package validate

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Service is what the cases of a service must show (gate G2).
type Service struct {
	MinF2P       int `json:"min_f2p"`       // FAIL_TO_PASS cases of the group
	MinEndpoints int `json:"min_endpoints"` // of the group, that these ask
}

// DefaultService is what holds where nothing is configured.
func DefaultService() Service { return Service{MinF2P: 3, MinEndpoints: 2} }

// Runs of a service, by their number. The runner shifts the clock of httpsuite.ShiftedRun, and the
// last one goes on in both states at once (gate G1).
const (
	serviceRuns = 5
	besideRun   = serviceRuns
)

// served reports whether the task is of a service.
func (p *prover) served() bool { return p.c.Start.Group != nil }

// together is run n of the suite in S and in G at one time, each in a network of its own: what
// one service does to the other shows here.
func (p *prover) together(ctx context.Context, n int) error {
	states := []schemas.State{schemas.StateS, schemas.StateG}
	benches := make([]*testrun.Bench, len(states))
	outcomes := make([]*testrun.Outcome, len(states))
	var places []testrun.Place
	for i, s := range states {
		at, err := p.bench.Place(ctx, s)
		if err != nil {
			return err
		}
		places, benches[i] = append(places, at), p.bench.Beside()
	}
	pipeline.Doing(ctx, "states S and G, run %d of %d", n, p.Runs)
	group, inner := errgroup.WithContext(ctx)
	for i := range states {
		group.Go(func() (err error) {
			outcomes[i], err = benches[i].Run(inner, places[i], testrun.ScopeSuite, lang.Select{Number: n})
			if err == nil {
				err = began(outcomes[i], states[i])
			}
			return err
		})
	}
	err := group.Wait()
	for i, s := range states {
		p.bench.Records = append(p.bench.Records, benches[i].Records...)
		if err == nil {
			p.ev.runs[s] = append(p.ev.runs[s], outcomes[i])
		}
	}
	return err
}

// service holds the proof of a service to its gates: it starts without the handlers (G2), enough
// cases of enough endpoints fail then, and no answer that is always the same passes them all (G3).
func (p *prover) service() error {
	if !p.served() {
		return nil
	}
	want := schemas.P2P
	if p.c.Start.Deploy != nil { // without its environment nothing starts (gate G5)
		want = schemas.F2P
	}
	for _, t := range p.proof.Tests {
		if t.ID == httpsuite.ConnectID && t.Class != want {
			return pipeline.Reject(schemas.NotServing, "%s is %s: %s", t.ID, t.Class, t.Why)
		}
	}
	raw, err := p.c.S.Read(httpsuite.CasesPath)
	if err != nil {
		return fmt.Errorf("reading the cases: %w", err)
	}
	suite, err := contract.Decode(raw)
	if err != nil {
		return fmt.Errorf("reading the cases: %w", err)
	}
	fails := map[string]bool{}
	for _, id := range p.proof.List(schemas.F2P) {
		fails[id] = true
	}
	var own []contract.Case
	endpoints := map[string]bool{}
	for _, g := range suite.Groups {
		for _, c := range g.Cases {
			if g.Name == p.c.Start.Group.Name && c.Expect != nil && fails[c.TestID(g.Name)] {
				own = append(own, c)
				endpoints[c.Endpoint.String()] = endpoints[c.Endpoint.String()] || p.ofGroup(c.Endpoint)
			}
		}
	}
	asked := 0
	for _, of := range endpoints {
		if of {
			asked++
		}
	}
	least := DefaultService()
	if p.Service != nil {
		least = *p.Service
	}
	if len(own) < least.MinF2P || asked < least.MinEndpoints {
		return pipeline.Reject(schemas.FewF2P, "%d cases of %d endpoints of the group fail without its handlers; at least %d of %d are asked for", len(own), asked, least.MinF2P, least.MinEndpoints)
	}
	return vacuous(own)
}

// ofGroup reports whether an endpoint is one of the task's.
func (p *prover) ofGroup(e schemas.Endpoint) bool {
	return slices.ContainsFunc(p.c.Start.Group.Endpoints, func(x schemas.Endpoint) bool { return x.Method == e.Method && x.Path == e.Path })
}

// vacuous rejects cases that an answer passes which is always the same (gate G3). One with an empty
// body ({}, [], none) and any status passes nothing but cases that look at the status alone, or
// at the type or emptiness of a body: a set of these is rejected, whichever status they ask for.
func vacuous(cases []contract.Case) error {
	if slices.ContainsFunc(cases, func(c contract.Case) bool { return !c.StatusOnly() }) {
		return nil
	}
	return pipeline.Reject(schemas.Vacuous, "all %d cases that fail without the handlers look at the status alone", len(cases))
}
