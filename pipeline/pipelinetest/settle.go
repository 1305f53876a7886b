package pipelinetest

import (
	"context"
	"errors"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Settle implements pipeline.Store.
func (m *Memory) Settle(_ context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	unlock, err := m.lock("Settle")
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, s := range all { // before anything is changed: all or nothing
		for _, o := range s.Outputs {
			if o.Key == "" {
				return nil, errors.New("a record without a key")
			}
		}
	}
	out := make([]pipeline.Settled, len(all))
	for i, s := range all {
		r := m.byID[s.ID]
		if r == nil || r.State != schemas.StepRunning || r.owner != s.Owner || !r.live {
			out[i].Lost = true
			continue
		}
		if m.outdated(r, false) { // what it was made of has been asked for again
			m.hold(r)
			out[i].Lost = true
			continue
		}
		out[i].Err = m.settle(r, s)
	}
	m.unblock()
	return out, nil
}

func (m *Memory) settle(r *row, s pipeline.Settlement) error {
	info := m.info(r.Stage)
	m.settles[r.Stage+" "+r.Key]++
	r.State, r.owner, r.Fingerprint = s.State, "", m.prints[r.Stage]
	r.Reason, r.Detail, r.Evidence, r.Provenance = s.Reason, s.Detail, s.Evidence, s.Provenance
	r.MS += s.MS
	r.Cost += s.Cost
	if s.State == schemas.StepDeferred {
		m.deferred(r, s)
		if r.State == schemas.StepDeferred {
			m.changed()
			return nil
		}
	}
	r.Crashes, r.Deferrals = 0, 0
	if info.Drain {
		return nil
	}
	m.changed()
	if info.Of != "" {
		m.settleBuild(r, s)
		return nil
	}
	return m.follow(r, s)
}

// deferred puts a step off, or ends it where its budget is spent.
func (m *Memory) deferred(r *row, s pipeline.Settlement) {
	b, now := m.info(r.Stage).Budget, m.now()
	if r.Deferrals == 0 {
		r.since = now
	}
	m.postponed = true
	r.Deferrals++
	r.NotBefore = s.NotBefore
	if b.Tries > 0 && r.Deferrals > b.Tries || b.Wait > 0 && s.NotBefore.Sub(r.since) > b.Wait {
		r.State = schemas.StepFailed
	}
}

// follow makes what comes of a step, and withdraws what no longer does.
func (m *Memory) follow(r *row, s pipeline.Settlement) error {
	old := r.children
	var made []*row
	for _, o := range s.Outputs {
		before := schemas.Digest("")
		if e := m.rows[o.To][o.Key]; e != nil {
			before = e.whole
		}
		child, err := m.upsert(o.To, r, o)
		if err != nil {
			r.State, r.Detail = schemas.StepFailed, err.Error()
			for _, c := range made {
				if !slices.Contains(old, c) {
					m.withdraw(c)
				}
			}
			return err
		}
		made = append(made, child)
		if before != "" && before != o.Whole {
			m.reread(r.Stage, o.Key)
		}
	}
	r.children = made
	for _, c := range old {
		if c.parent == r && c.live && !slices.Contains(made, c) {
			m.withdraw(c)
		}
	}
	return nil
}

// reread makes the settled steps ready that use another record under this key.
func (m *Memory) reread(stage, key string) {
	for _, s := range m.stages {
		r := m.rows[s.Name][key]
		if r != nil && r.live && slices.Contains(s.Reads, stage) && (r.settled() || r.State == schemas.StepRunning) {
			m.open(r)
		}
	}
}

// settleBuild gives a build's end to those who wait for it.
func (m *Memory) settleBuild(b *row, s pipeline.Settlement) {
	stage := m.info(b.Stage).Of
	var waiting []*row
	for _, r := range m.sorted(stage) {
		if r.live && r.Share == b.Key && r.State == schemas.StepWaiting {
			waiting = append(waiting, r)
		}
	}
	switch {
	case s.State == schemas.StepDone:
		other := b.built != nil && b.built.Whole != s.Outputs[0].Whole
		b.built = &s.Outputs[0]
		for _, r := range m.sorted(stage) {
			if r.live && r.Share == b.Key && (r.State == schemas.StepWaiting || other && r.settled()) {
				m.open(r)
			}
		}
	case s.Own:
		b.State = schemas.StepRejected
		if b.parent.live && b.parent.Share == b.Key {
			m.spread(b, b.parent)
		}
		waiting = slices.DeleteFunc(waiting, func(r *row) bool { return r == b.parent })
		if len(waiting) == 0 {
			delete(m.rows[b.Stage], b.Key)
			b.live = false
			return
		}
		b.parent, b.Record = waiting[0], waiting[0].Record
		m.open(b)
	default:
		for _, r := range waiting {
			m.spread(b, r)
		}
	}
}
