package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// What a step is made of is what stands above it: the steps that its input came
// from, up to the seed. A stage may join what any of them made, so a step runs,
// and its result is taken, only while none of them is to be made again. Claim and
// Settle ask; whoever opens a step takes back what runs below it. Everything else
// (who is made ready, and when) may err.

// climb is the head of a query that walks up from steps: up (id, parent, made_epoch,
// n) has a line for each step n levels above step id. A build is made of what is
// above the member that it is tried with. The place is the condition on step f.
const climb = `WITH RECURSIVE up (id, parent, made_epoch, state, stage, made_by, n) AS (
	SELECT f.id, CASE WHEN f.made_epoch < 0 THEN m.parent ELSE f.parent END, CASE WHEN f.made_epoch < 0 THEN m.made_epoch ELSE f.made_epoch END, f.state, f.stage, f.made_by, 0
		FROM step f LEFT JOIN step m ON f.made_epoch < 0 AND m.id = f.parent WHERE %s
	UNION ALL SELECT up.id, u.parent, u.made_epoch, u.state, u.stage, u.made_by, up.n + 1 FROM step u JOIN up ON u.id = up.parent WHERE up.made_epoch > 0) `

// open is the condition on a line of up that the step is at work, or will be.
// Nobody is at a stage that is gone.
const open = `n > 0 AND state IN ('ready', 'running', 'waiting', 'deferred') AND stage IN (SELECT name FROM stage WHERE place >= 0)`

// owed is the condition that a settled step is to be made again by a run that
// comes to its stage (owe).
const owed = `n > 0 AND state IN ('done', 'rejected', 'failed') AND made_by = '' AND stage IN (SELECT name FROM stage WHERE place >= 0)`

// stands is the condition on a step s that nothing above it is to be made again.
var stands = "NOT EXISTS (" + fmt.Sprintf(climb, "f.id = s.id") + "SELECT 1 FROM up WHERE " + open + " OR " + owed + ")"

// blocked are those of some steps that rest on one which is to be made again.
func (t *tx) blocked(ids []int64) map[int64]bool {
	out := map[int64]bool{}
	for chunk := range slices.Chunk(ids, batch) {
		args := make([]any, batch)
		for i := range args {
			args[i] = chunk[min(i, len(chunk)-1)]
		}
		t.each(func(r *sql.Rows) error {
			var id int64
			err := r.Scan(&id)
			out[id] = true
			return err
		}, fmt.Sprintf(climb, "f.id IN ("+places(1, batch)+")")+"SELECT DISTINCT id FROM up WHERE "+open, args...)
	}
	return out
}

// await puts a step off until what it is made of has been made again. False: there
// is nothing to wait for (any more).
func (t *tx) await(r *row) bool {
	if t.s.stage(r.stage).Of != "" {
		return t.awaitMember(r)
	}
	if !t.unsettledAbove(r) {
		return false
	}
	r.state, r.owner, r.below = schemas.StepWaiting, "", true
	t.save(r)
	return true
}

// awaitMember puts a build off until one of its members has an input that holds. It
// is let go by that member (letGo, place). False: its member's input holds.
func (t *tx) awaitMember(b *row) bool {
	members := t.members(b)
	i := slices.IndexFunc(members, func(m *row) bool { return m.id == b.parent })
	if i >= 0 && !t.unsettledAbove(members[i]) {
		return false
	}
	for _, waiting := range []bool{true, false} {
		for _, m := range members {
			if waiting != (m.state == schemas.StepWaiting) || (m.state == schemas.StepRejected || m.state == schemas.StepFailed) && m.through != b.id {
				continue
			}
			if !t.unsettledAbove(m) {
				t.tryWith(b, m)
				return true
			}
			m.below = true
			t.save(m)
		}
	}
	b.state, b.owner, b.below = schemas.StepWaiting, "", true
	t.save(b)
	return true
}

// takeBelow takes back what runs on what a step made, which is opened now: it may be
// about to fail because it found nothing there.
func (t *tx) takeBelow(r *row) {
	if !settled(r.state) || one[int](t, "SELECT count(*) FROM (SELECT 1 FROM step WHERE state = 'running' LIMIT 1) x") == 0 {
		return
	}
	var ids []int64
	t.each(func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `WITH RECURSIVE down (id, epoch, state) AS (
		SELECT id, epoch, '' FROM step WHERE id = $1
		UNION ALL SELECT s.id, s.epoch, s.state FROM step s JOIN down ON s.parent = down.id AND s.made_epoch IN (down.epoch, -1) WHERE s.live)
		SELECT id FROM down WHERE state = 'running'`, r.id)
	for _, c := range loadAll(t, "id", ids, "AND state = 'running'") {
		c.state, c.owner = schemas.StepReady, "" // Claim puts it off
		t.save(c)
	}
}

// owe keeps the result of a step which is to be made again by a run that comes to
// its stage: until then it stands as it is. That run finds it by the fingerprint.
func (t *tx) owe(r *row) {
	r.madeBy = ""
	t.save(r)
	t.exec("UPDATE stage SET fingerprint = '' WHERE name = $1 AND fingerprint <> ''", r.stage)
}

// Outdated counts the ends of items, as Held and Ended give them, that are left out
// there because what they rest on is to be made again.
func (s *Store) Outdated(ctx context.Context) (int, error) {
	n := 0
	err := s.read(ctx, func(r *sql.Rows) error { return r.Scan(&n) }, `SELECT count(*) FROM step s
		WHERE s.live AND s.state IN ('held', 'rejected', 'deferred', 'failed') AND s.made_epoch >= 0 AND s.stage IN (SELECT name FROM stage WHERE place >= 0)
		AND NOT (`+current+")")
	return n, err
}

// current is the condition on a step s that its end holds: it is not owed itself,
// and nothing above it is to be made again.
var current = "NOT (s.state <> 'held' AND s.state <> 'deferred' AND s.made_by = '') AND " + stands
