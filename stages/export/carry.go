package export

import (
	"errors"
	"iter"
	"slices"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Carry says which rows of the dataset that is there an export copies to the byte.
type Carry struct {
	// Rows are the IDs of rows whose commits are not on the lines of their sources any more: what
	// the run makes under such an ID is another change.
	Rows []string
	// Gone are the names of sources that are not there any more: their rows and rejects are copied.
	Gone []string
	// Unjudged says that all rows are copied that no verdict takes away.
	Unjudged bool `json:"-"`
}

// some is nil where nothing is known to be carried on.
func (c *Carry) some() *Carry {
	if c == nil || len(c.Rows)+len(c.Gone) == 0 {
		return nil
	}
	return c
}

// carried is what is copied.
type carried struct {
	tasks   []output.Carried
	rejects []output.Reject
	refused []output.Reject // rows that people refuse by now
	ids     map[string]bool
}

func (c carried) has(s schemas.Statement) bool { return c.ids[s.ID()] }

// carried finds what is copied.
func (e *Exporter) carried(done iter.Seq2[schemas.Statement, error], others iter.Seq2[schemas.Step, error]) (c carried, err error) {
	if e.Replace || e.Carry == nil || !e.Carry.Unjudged && e.Carry.some() == nil {
		return c, nil
	}
	d, err := output.Read(e.Dir)
	if errors.Is(err, output.ErrNoDataset) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	judged := map[string]bool{}
	for s, err := range done {
		if err != nil {
			return c, err
		}
		judged[s.ID()] = true
	}
	for s, err := range others {
		if err != nil {
			return c, err
		}
		judged[s.Key] = judged[s.Key] || s.State == schemas.StepRejected
	}
	c.ids = map[string]bool{}
	c.tasks = d.Carry(func(r output.Row) bool {
		c.ids[r.InstanceID] = e.Carry.Unjudged && !judged[r.InstanceID] || slices.Contains(e.Carry.Gone, r.Repo) || slices.Contains(e.Carry.Rows, r.InstanceID)
		return c.ids[r.InstanceID]
	})
	if err := c.review(e.Reviews); err != nil {
		return c, err
	}
	for _, r := range d.Rejects {
		if slices.ContainsFunc(e.Carry.Gone, func(name string) bool { return r.Repo == name || r.InstanceID == schemas.RepoSlug(name) }) {
			c.rejects = append(c.rejects, r)
		}
	}
	return c, nil
}

// review gives rows what people say of them by now. Others keep their bytes.
func (c *carried) review(reviews map[string][]schemas.PeerReview) (err error) {
	c.refused = c.leave(func(r output.Row) (output.Reject, bool) { return r.Refused(reviews[r.InstanceID]) })
	for i := range c.tasks {
		t := &c.tasks[i]
		if all := reviews[t.Row.InstanceID]; len(all) > 0 {
			t.Row.Benchmint.Reviews = all
			if t.Line, err = t.Row.Encoded(); err != nil {
				return err
			}
		}
	}
	return nil
}

// without leaves out what is copied instead.
func without[T any](all iter.Seq2[T, error], copied func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for x, err := range all {
			if err == nil && copied(x) {
				continue
			}
			if !yield(x, err) {
				return
			}
		}
	}
}
