package store

import (
	"database/sql"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// reopen asks for a live step once more, whatever its end was. It may come out
// ready, waiting for its build, or at its build's end.
func (t *tx) reopen(r *row) {
	if r.state == schemas.StepHeld {
		t.save(r)
		return
	}
	if info := t.s.stage(r.stage); info.later && !info.Drain && settled(r.state) {
		t.owe(r)
		return
	}
	t.takeBelow(r)
	r.owner, r.notBefore, r.waited, r.deferrals, r.crashes, r.through = "", 0, 0, 0, 0, 0
	t.place(r)
}

// place gives an open step the state that what it rests on allows: the steps that
// its input came from, and its build.
func (t *tx) place(r *row) {
	r.owner, r.below = "", false
	if r.epoch > 0 && t.unsettledAbove(r) {
		r.state, r.below = schemas.StepWaiting, true
		t.save(r)
		return
	}
	info := t.s.stage(r.stage)
	if r.share == "" || info.Build == "" {
		r.state = schemas.StepReady
		t.save(r)
		return
	}
	b := t.build(info.Build, r)
	if b == nil {
		return
	}
	switch b.state {
	case schemas.StepDone:
		r.state = schemas.StepReady
	case schemas.StepRejected, schemas.StepFailed:
		t.endThrough(r, b)
		return
	default:
		r.state = schemas.StepWaiting
		t.save(r)
		t.offer(b, r)
	}
	t.save(r)
}

// offer gives a build that waits for a member whose input holds this one.
func (t *tx) offer(b, m *row) {
	if b != nil && b.live && b.below && b.state == schemas.StepWaiting {
		t.tryWith(b, m)
	}
}

// unsettledAbove reports whether a step that r's input came from is to be done again.
// Then r waits: dear work on an input that may be another in a moment would be
// done twice. The settled steps between are marked, so that the end of that redo,
// wherever it comes, finds its way to r (letGo).
func (t *tx) unsettledAbove(r *row) bool {
	type step struct {
		id   int64
		open bool
	}
	if r.madeEpoch <= 0 {
		return false // a seed or a build
	}
	var up []step
	highest := -1
	t.each(func(rows *sql.Rows) error {
		var id int64
		var name string
		var state schemas.StepState
		err := rows.Scan(&id, &name, &state)
		open := !settled(state) && t.s.stage(name) != none // nobody is at a stage that is gone
		if open {
			highest = len(up)
		}
		up = append(up, step{id, open})
		return err
	}, `WITH RECURSIVE up (id, parent, stage, state, made_epoch, n) AS (
		SELECT id, parent, stage, state, made_epoch, 0 FROM step WHERE id = $1
		UNION ALL SELECT s.id, s.parent, s.stage, s.state, s.made_epoch, up.n + 1 FROM step s JOIN up ON s.id = up.parent WHERE up.made_epoch > 0)
		SELECT id, stage, state FROM up ORDER BY n`, r.parent) // what r says: its row may not be written yet
	for i := range highest {
		if !up[i].open {
			t.exec("UPDATE step SET below = TRUE WHERE id = $1 AND NOT below", up[i].id)
		}
	}
	return highest >= 0
}

// letGo ends a redo at a step whose input it left as it was: what waits below is
// free, unless there is another redo on its way.
func (t *tx) letGo(r *row) {
	r.below = false
	switch {
	case r.state == schemas.StepWaiting:
		t.place(r)
		return
	case !settled(r.state):
		t.save(r) // its own end reaches those below
		return
	}
	t.save(r)
	if info := t.s.stage(r.stage); r.share != "" && info.Build != "" {
		t.offer(t.find(info.Build, r.share), r)
	}
	for _, c := range t.load("parent = $1 AND made_epoch = $2 AND live AND below ORDER BY id", r.id, r.epoch) {
		t.letGo(c)
	}
}

// stale recognises a settled step whose result is of other work than the present, or
// was no result.
func (t *tx) stale(r *row) bool {
	if r.state == schemas.StepFailed && r.reason != schemas.Crashed {
		return true
	}
	return settled(r.state) && r.madeBy != t.s.stage(r.stage).Fingerprint
}

// withdraw takes steps of one stage out, with all that was made of them. Their
// rows stay: what comes back with the same input has its result (engine, 4).
func (t *tx) withdraw(rows []*row) {
	for len(rows) > 0 && t.err == nil {
		t.drain = true
		var ids []int64
		for _, r := range rows {
			r.live, r.below, r.owner = false, false, ""
			if r.state == schemas.StepRunning || r.state == schemas.StepWaiting {
				r.state = schemas.StepReady
			}
			t.save(r)
			ids = append(ids, r.id)
		}
		for _, r := range rows {
			t.leaveBuild(r, r.share)
		}
		// Level by level: a running step of this one has lost its fence when the next
		// is read, so that nothing is made behind our back.
		rows = loadAll(t, "parent", ids, "AND live AND made_epoch >= 0")
	}
}

// withdrawOld takes out what a step made before and does not make any more.
func (t *tx) withdrawOld(id, epoch int64) {
	t.withdraw(t.load("parent = $1 AND made_epoch >= 0 AND made_epoch < $2 AND live ORDER BY id", id, epoch))
}

// revive brings a withdrawn step back, with the subtree that was its at its last
// settle. What is stale in it becomes ready.
func (t *tx) revive(r *row, redo bool) {
	t.drain = true
	r.live = true
	switch {
	case r.state == schemas.StepHeld, r.state == schemas.StepDeferred && !redo:
		t.save(r)
	case redo, t.stale(r):
		if t.reopen(r); settled(r.state) { // what is owed stands with its build
			t.reviveBuild(r)
		}
	case settled(r.state):
		t.save(r)
		t.reviveBuild(r)
	default:
		t.place(r)
	}
	for _, c := range t.load("parent = $1 AND made_epoch = $2 AND NOT live ORDER BY id", r.id, r.epoch) {
		t.revive(c, false)
	}
}

// end settles a step otherwise than by its own run. What it made before goes.
func (t *tx) end(r *row, state schemas.StepState, reason schemas.Reason, detail string, evidence schemas.Digest) {
	r.state, r.reason, r.owner, r.below = state, reason, "", false
	r.madeBy = t.s.stage(r.stage).Fingerprint
	r.epoch++
	if o := outcome(state, reason, detail, evidence, nil); o != r.outcome {
		r.outcome, t.drain = o, true
	}
	t.save(r)
	t.exec("UPDATE step SET detail = $1, evidence = $2, provenance = '' WHERE id = $3", clean(detail), evidence, r.id)
	if r.epoch > 1 {
		t.withdrawOld(r.id, r.epoch)
	}
}

// again meets an output that is there already: equal, it is touched; other, it is
// done again; withdrawn, it comes back. producer is the stage that made it.
func (t *tx) again(r *row, m *made, parent *row, producer string) {
	redo := r.digest != m.Digest || r.share != m.Share
	other := r.whole != m.Whole
	before := r.share
	if parent != nil {
		if r.parent != parent.id { // whose it was has to make it anew when it comes back
			t.exec("UPDATE step SET made_by = '' WHERE id = $1 AND NOT live", r.parent)
		}
		r.parent, r.madeEpoch = parent.id, parent.epoch
	}
	r.digest, r.whole, r.share = m.Digest, m.Whole, m.Share
	if redo || other {
		t.exec("UPDATE step SET record = $1 WHERE id = $2", m.stored, r.id)
		t.drain = true
	}
	switch {
	case !r.live:
		t.revive(r, redo)
	case redo:
		t.reopen(r)
	case r.below:
		t.letGo(r)
	default:
		t.save(r)
	}
	if before != r.share {
		t.leaveBuild(r, before)
	} else if redo {
		t.renew(r)
	}
	if other {
		t.read(producer, m.Key)
	}
}

// read asks for the steps again that read an output which is another now.
func (t *tx) read(producer, key string) {
	if producer == "" {
		return
	}
	for _, name := range t.s.stage(producer).readers {
		r := t.find(name, key)
		switch {
		case r == nil:
		case !r.live:
			r.madeBy = "" // stale when it comes back
			t.save(r)
		case settled(r.state), r.state == schemas.StepRunning:
			t.reopen(r)
		}
	}
}

// insertBatch is how many rows one statement inserts where there are many.
const insertBatch = 16

const insertColumns = 9

// insert adds the outputs whose keys are free; the others are given back.
func (t *tx) insert(name string, parent *row, state schemas.StepState, all []*made) (added []*row, taken []*made) {
	for len(all) > 0 && t.err == nil {
		n := 1
		if len(all) >= insertBatch {
			n = insertBatch
		}
		args := make([]any, 0, n*insertColumns)
		byKey := make(map[string]*made, n)
		for _, m := range all[:n] {
			args = append(args, name, m.Key, parent.id, parent.epoch, m.Share, m.Digest, m.Whole, m.stored, state)
			byKey[m.Key] = m
		}
		t.change(func(rows *sql.Rows) error {
			r := &row{fields: fields{stage: name, parent: parent.id, madeEpoch: parent.epoch, live: true, state: state}}
			if err := rows.Scan(&r.id, &r.key); err != nil {
				return err
			}
			m := byKey[r.key]
			delete(byKey, r.key)
			r.share, r.digest, r.whole = m.Share, m.Digest, m.Whole
			r.was = r.fields
			added = append(added, r)
			return nil
		}, "INSERT INTO step (stage, key, parent, made_epoch, share, digest, whole, record, state) VALUES "+
			tuples(1, n, insertColumns)+" ON CONFLICT (stage, key) DO NOTHING RETURNING id, key", args...)
		for _, m := range all[:n] {
			if byKey[m.Key] != nil {
				taken = append(taken, m)
			}
		}
		all = all[n:]
	}
	slices.SortFunc(added, func(a, b *row) int { return int(a.id - b.id) })
	return added, taken
}

// enter counts new steps and puts those that need a build to it.
func (t *tx) enter(added []*row) {
	for _, r := range added {
		t.drain = true
		t.count(&r.fields, 1)
		if r.state == schemas.StepWaiting {
			t.place(r)
		}
	}
}

// first is the state of a new step of a stage.
func (s *stage) first(share string) schemas.StepState {
	switch {
	case s.Drain:
		return schemas.StepHeld
	case s.Build != "" && share != "":
		return schemas.StepWaiting
	}
	return schemas.StepReady
}
