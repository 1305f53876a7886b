package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
)

// stage is what the store knows of a stage.
type stage struct {
	pipeline.StageInfo
	readers []string // the stages that read its outputs
	later   bool     // does not lead to the last stage of this run: what it has settled stands
}

// plan is the stages of a run, as they were given to Begin, else as the last run
// left them in the store.
type plan struct {
	order  []string
	stages map[string]*stage
	drain  string
}

func newPlan(infos []pipeline.StageInfo) *plan {
	p := &plan{stages: map[string]*stage{}}
	for _, info := range infos {
		p.order = append(p.order, info.Name)
		p.stages[info.Name] = &stage{StageInfo: info}
		if info.Drain {
			p.drain = info.Name
		}
	}
	for _, info := range infos {
		for _, producer := range info.Reads {
			if s := p.stages[producer]; s != nil {
				s.readers = append(s.readers, info.Name)
			}
		}
	}
	return p
}

// until marks the stages that neither are the last one of a run nor lead to it. Their fingerprints are those
// of the store: a run that does not come to a stage says nothing of it, and may not
// even know what its results depend on.
func (p *plan) until(last string, have map[string]stageRow) {
	if last == "" {
		return
	}
	leads := map[string]bool{last: true}
	for _, name := range slices.Backward(p.order) { // a stage stands behind those that lead to it
		s := p.stages[name]
		leads[name] = leads[name] || leads[s.Of] || slices.ContainsFunc(s.Next, func(to string) bool { return leads[to] })
		if leads[name] {
			continue
		}
		if s.later = true; have[name].text != "" {
			s.Fingerprint = have[name].Fingerprint
		}
	}
}

// none stands for a stage that the plan does not have (any more).
var none = &stage{}

// stage is never nil: of a step whose stage is gone nothing is known, and nothing
// follows from it.
func (s *Store) stage(name string) *stage {
	if p := s.plan.Load(); p != nil && p.stages[name] != nil {
		return p.stages[name]
	}
	return none
}

func (s *Store) drainName() string {
	if p := s.plan.Load(); p != nil {
		return p.drain
	}
	return ""
}

// known reads the plan of the last run, for retry and for the views.
func (s *Store) known(ctx context.Context) (*plan, error) {
	if p := s.plan.Load(); p != nil {
		return p, nil
	}
	var infos []pipeline.StageInfo
	err := s.read(ctx, func(r *sql.Rows) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		var info pipeline.StageInfo
		err := json.Unmarshal([]byte(text), &info)
		infos = append(infos, info)
		return err
	}, "SELECT info FROM stage WHERE place >= 0 ORDER BY place")
	if err != nil {
		return nil, fmt.Errorf("reading the stages of the store: %w", err)
	}
	p := newPlan(infos)
	s.plan.CompareAndSwap(nil, p)
	return p, nil
}

// builds are the names of the stages whose steps are builds.
func (p *plan) builds() []string {
	var out []string
	for _, name := range p.order {
		if p.stages[name].Of != "" {
			out = append(out, name)
		}
	}
	return out
}

// buildsFirst is the order in which changes are followed: what waits must find its
// build open already.
func (p *plan) buildsFirst() []*stage {
	out := make([]*stage, 0, len(p.order))
	for _, name := range p.order {
		out = append(out, p.stages[name])
	}
	slices.SortStableFunc(out, func(a, b *stage) int {
		switch {
		case (a.Of != "") == (b.Of != ""):
			return 0
		case a.Of != "":
			return -1
		}
		return 1
	})
	return out
}
