package export

import (
	"iter"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// drawing is what a draw leaves out.
type drawing struct {
	out     map[string]bool // by ID
	rejects []output.Reject
	balance *output.Balance // nil where all tasks are taken
}

// draw draws the tasks of the dataset, of those that the writing would not refuse and of those that are carried on,
// which it takes out of old where they are not drawn.
func (e *Exporter) draw(done iter.Seq2[schemas.Statement, error], old *carried, flaky *ledger.Ledger) (d drawing, err error) {
	if e.Balance == nil {
		return d, nil
	}
	d.out = map[string]bool{}
	var pool []balance.Item
	tasks := map[string]output.Task{}
	gate := output.Gate{}
	for _, c := range old.tasks {
		gate.Hold(c.Row.Row)
		pool = append(pool, c.Row.Item())
	}
	for s, err := range done {
		if err != nil {
			return d, err
		}
		t := output.Task{Statement: s, Reviews: e.Reviews[s.ID()]}
		if t.Origin, err = e.Records.Origin(s.ID()); err != nil {
			return d, err
		}
		if t.Start, t.Proof, err = e.proved(s.ID()); err != nil {
			return d, err
		}
		t.Proof, t.QuarantinedIn = flaky.Strip(t.Start.Repo, t.Proof)
		if r, refused := gate.Refuses(t); refused { // the writing does not know the twin of a task that is not drawn
			d.out[s.ID()] = true
			d.rejects = append(d.rejects, r)
			continue
		}
		pool = append(pool, t.Item())
		t.Proof = schemas.Proof{} // a pool of any size needs little memory
		tasks[s.ID()] = t
	}
	result := balance.Draw(*e.Balance, pool)
	for _, item := range pool {
		why, left := result.Why[item.ID]
		if t, made := tasks[item.ID]; left && made {
			d.out[item.ID] = true
			d.rejects = append(d.rejects, t.NotDrawn(why))
		}
	}
	d.rejects = append(d.rejects, old.leave(func(r output.Row) (output.Reject, bool) {
		why, left := result.Why[r.InstanceID]
		return r.NotDrawn(why), left
	})...)
	d.balance = &output.Balance{Tasks: e.Balance.Tasks, Seed: e.Balance.Seed, Pool: len(pool), Cells: result.Cells}
	return d, nil
}

// leave takes rows out of what is carried on.
func (c *carried) leave(out func(output.Row) (output.Reject, bool)) (rejects []output.Reject) {
	var stay []output.Carried
	for _, t := range c.tasks {
		if r, leaves := out(t.Row.Row); leaves {
			rejects = append(rejects, r)
		} else {
			stay = append(stay, t)
		}
	}
	c.tasks = stay
	return rejects
}
