package pipeline

import (
	"context"
	"iter"
	"maps"

	"github.com/benchmint/benchmint/schemas"
)

// Count is how items of one stage ended, in this run or an earlier one.
type Count struct {
	Stage    string                 `json:"stage"`
	Done     int                    `json:"done"` // of the drain: what it was given
	Rejected map[schemas.Reason]int `json:"rejected,omitempty"`
	Deferred int                    `json:"deferred,omitempty"`
	Failed   int                    `json:"failed,omitempty"`
	Open     int                    `json:"open,omitempty"` // not begun, or cut off
	Executed int                    `json:"executed"`       // ended in this run
}

// Items is how many came to the stage.
func (c Count) Items() int {
	n := c.Done + c.Deferred + c.Failed + c.Open
	for _, rejected := range c.Rejected {
		n += rejected
	}
	return n
}

// Summary is the funnel of a run.
type Summary struct {
	Stages      []Count `json:"stages"`
	Interrupted bool    `json:"interrupted,omitempty"`
	// Drained says that what the drain wrote last is what the store holds.
	Drained bool `json:"drained,omitempty"`
}

// Code is the exit code that the summary asks for (interface: exit codes).
func (s Summary) Code() int {
	code := 0
	for _, c := range s.Stages {
		if c.Deferred+c.Open > 0 && code == 0 {
			code = 3
		}
		if c.Failed > 0 {
			code = 1
		}
	}
	if s.Interrupted {
		code = 130
	}
	return code
}

// summary counts by the store's tallies, up to the last stage of the run.
func (r *run) summary(ctx context.Context) (Summary, error) {
	tallies, err := r.store.Tallies(ctx)
	if err != nil {
		return Summary{}, err
	}
	t := table{}
	for _, row := range tallies {
		if r.within(row.Stage) {
			t.add(row)
		}
	}
	var s Summary
	open := 0
	for _, n := range r.plan.order {
		c := t.count(n)
		c.Executed = r.executed[c.Stage]
		open += c.Deferred + c.Open
		s.Stages = append(s.Stages, c)
	}
	last := r.last().info.Name
	s.Drained = t.n(last, schemas.StepDone) > 0 && (open == 0 || r.executed[last] > 0)
	return s, nil
}

// table is the tallies by stage and state.
type table map[string]map[schemas.StepState]map[schemas.Reason]int

func (t table) add(row Tally) {
	if t[row.Stage] == nil {
		t[row.Stage] = map[schemas.StepState]map[schemas.Reason]int{}
	}
	if t[row.Stage][row.State] == nil {
		t[row.Stage][row.State] = map[schemas.Reason]int{}
	}
	t[row.Stage][row.State][row.Reason] += row.N
}

func (t table) n(stage string, states ...schemas.StepState) (n int) {
	for _, state := range states {
		for _, count := range t[stage][state] {
			n += count
		}
	}
	return n
}

// count is the line of one stage in a funnel.
func (t table) count(n *node) Count {
	name := n.info.Name
	c := Count{
		Stage: name, Done: t.n(name, schemas.StepDone), Rejected: maps.Clone(t[name][schemas.StepRejected]),
		Deferred: t.n(name, schemas.StepDeferred), Failed: t.n(name, schemas.StepFailed),
		Open: t.n(name, schemas.StepReady, schemas.StepRunning),
	}
	switch waiting := t.n(name, schemas.StepWaiting); {
	case n.build != nil && t.n(n.build.info.Name, schemas.StepReady, schemas.StepRunning) == 0:
		c.Deferred += waiting // their builds are put off, and they with them
	default:
		c.Open += waiting
	}
	if n.info.Drain {
		c.Open = 0 // it has no items of its own
		if c.Done > 0 {
			c.Done = t.n(name, schemas.StepHeld)
		}
	}
	return c
}

// page is how many rows are read at once for the drain: short reads, so that a
// database can tidy up between them.
const page = 1000

// held streams what got through, in order of key, so that bytes do not depend on
// the order of work.
func (r *run) held(ctx context.Context, stage string) iter.Seq2[Made, error] {
	return func(yield func(Made, error) bool) {
		for after := ""; ; {
			rows, err := r.store.Held(ctx, stage, after, page)
			if err != nil {
				yield(Made{}, err)
				return
			}
			for _, m := range rows {
				if !yield(m, nil) {
					return
				}
			}
			if len(rows) < page {
				return
			}
			after = rows[len(rows)-1].Key
		}
	}
}

// ended is every other end, for the drain.
func (r *run) ended(ctx context.Context) (Ended, error) {
	s, err := r.summary(ctx)
	if err != nil {
		return Ended{}, err
	}
	e := Ended{Funnel: s.Stages, Steps: func(yield func(schemas.Step, error) bool) {
		for key, stage := "", ""; ; {
			rows, err := r.store.Ended(ctx, key, stage, page)
			if err != nil {
				yield(schemas.Step{}, err)
				return
			}
			for _, step := range rows {
				if !yield(step, nil) {
					return
				}
			}
			if len(rows) < page {
				return
			}
			key, stage = rows[len(rows)-1].Key, rows[len(rows)-1].Stage
		}
	}}
	for _, c := range s.Stages {
		e.Open += c.Deferred + c.Open
	}
	return e, nil
}
