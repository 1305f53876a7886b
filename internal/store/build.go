package store

import (
	"database/sql"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// A build is a step of stage <stage>.build whose key is the share of its members.
// It is live as long as one of them is, and nothing waits for one that has ended.

// build is the build that a member needs, made or brought back where it has to be;
// nil where the transaction has failed.
func (t *tx) build(name string, m *row) *row {
	b := t.find(name, m.share)
	if b == nil {
		return t.newBuild(name, m)
	}
	if !b.live {
		t.reviveAs(b, m)
	}
	return b
}

func (t *tx) newBuild(name string, m *row) *row {
	var b *row
	t.change(func(r *sql.Rows) error {
		b = &row{fields: fields{stage: name, key: m.share, parent: m.id, madeEpoch: -1, live: true, state: schemas.StepReady, digest: schemas.Digest(m.share)}}
		err := r.Scan(&b.id)
		b.was = b.fields
		return err
	}, `INSERT INTO step (stage, key, parent, made_epoch, digest, state, record)
		SELECT $1, $2, id, -1, $2, 'ready', record FROM step WHERE id = $3 RETURNING id`, name, m.share, m.id)
	if b != nil {
		t.count(&b.fields, 1)
	}
	return b
}

// reviveAs brings a build back for a member.
func (t *tx) reviveAs(b, m *row) {
	b.live = true
	if settled(b.state) && !t.stale(b) {
		t.save(b)
		return
	}
	t.tryWith(b, m)
}

// tryWith makes a build ready, with the record of m.
func (t *tx) tryWith(b, m *row) {
	b.parent = m.id
	b.state, b.below, b.owner, b.notBefore, b.waited, b.deferrals, b.crashes = schemas.StepReady, false, "", 0, 0, 0, 0
	t.save(b)
	t.exec("UPDATE step SET record = (SELECT m.record FROM step m WHERE m.id = $1) WHERE id = $2", m.id, b.id)
}

// reviveBuild: a member came back with its result; so does its build.
func (t *tx) reviveBuild(m *row) {
	info := t.s.stage(m.stage)
	if m.share == "" || info.Build == "" {
		return
	}
	if b := t.find(info.Build, m.share); b != nil && !b.live {
		t.reviveAs(b, m)
	}
}

// members are the live steps that rest on a build.
func (t *tx) members(b *row) []*row {
	return t.load("stage = $1 AND share = $2 AND share <> '' AND live ORDER BY id", t.s.stage(b.stage).Of, b.key)
}

// leaveBuild: a member was withdrawn, or needs another build now.
func (t *tx) leaveBuild(m *row, share string) {
	info := t.s.stage(m.stage)
	if share == "" || info.Build == "" {
		return
	}
	b := t.find(info.Build, share)
	if b == nil || !b.live {
		return
	}
	if next := t.candidate(b, m.id); next == nil {
		if settled(b.state) && len(t.members(b)) > 0 {
			return // of members that ended by themselves
		}
		b.live, b.below, b.owner = false, false, ""
		if b.state == schemas.StepRunning || b.state == schemas.StepWaiting {
			b.state = schemas.StepReady
		}
		t.save(b)
	} else if b.parent == m.id && !settled(b.state) {
		// Also where it runs: it may be about to end by what m has, which is none of next's.
		t.tryWith(b, next)
	}
}

// renew: a member has another input now. A build that is tried with it begins anew:
// it may be about to end by what the member is no more.
func (t *tx) renew(m *row) {
	info := t.s.stage(m.stage)
	if m.share == "" || info.Build == "" {
		return
	}
	if b := t.find(info.Build, m.share); b != nil && b.live && b.parent == m.id && !settled(b.state) {
		t.tryWith(b, m)
	}
}

// candidate is the member that a build is tried with next: one that waits, else
// any that has not ended.
func (t *tx) candidate(b *row, but int64) *row {
	var next *row
	for _, m := range t.members(b) {
		switch {
		case m.id == but:
		case m.state == schemas.StepWaiting:
			return m
		case next == nil && (m.through == b.id || m.state != schemas.StepRejected && m.state != schemas.StepFailed):
			next = m
		}
	}
	return next
}

// rebuild asks for a build again. Those that its end ended, or that were ready to
// run with it, wait for it.
func (t *tx) rebuild(b *row) {
	b.state, b.below, b.owner, b.notBefore, b.waited, b.deferrals, b.crashes = schemas.StepReady, false, "", 0, 0, 0, 0
	t.save(b)
	members := t.members(b)
	if !slices.ContainsFunc(members, func(m *row) bool { return m.id == b.parent }) {
		// Whom it was made with has left: what that one was made of may be gone.
		if next := t.candidate(b, 0); next != nil {
			t.tryWith(b, next)
		}
	}
	for _, m := range members {
		if m.through == b.id && settled(m.state) || m.state == schemas.StepReady {
			m.state, m.through = schemas.StepWaiting, 0
			t.save(m)
		}
	}
}

// endThrough gives a member the end of its build.
func (t *tx) endThrough(m, b *row) {
	var detail string
	var evidence schemas.Digest
	t.each(func(r *sql.Rows) error { return r.Scan(&detail, &evidence) }, "SELECT detail, evidence FROM step WHERE id = $1", b.id)
	m.through = b.id
	t.end(m, b.state, b.reason, detail, evidence)
}

// built hands the end of a build to its members. again says that it had ended
// before, other that it made something else then.
func (t *tx) built(b *row, again, other bool) {
	done := b.state == schemas.StepDone
	for _, m := range t.members(b) {
		switch {
		case !done && m.state == schemas.StepWaiting:
			t.endThrough(m, b)
		case !done && again && m.state != schemas.StepRejected && m.state != schemas.StepFailed:
			t.endThrough(m, b)
		case done && m.state == schemas.StepWaiting && !m.below:
			t.place(m)
		case done && again && other && (settled(m.state) || m.state == schemas.StepRunning):
			t.reopen(m)
		}
	}
}
