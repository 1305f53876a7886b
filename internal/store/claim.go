package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Claim gives an owner up to so many ready steps of each stage, in the order of
// wants, oldest first.
func (s *Store) Claim(ctx context.Context, owner string, wants []pipeline.Want) ([]pipeline.Claim, error) {
	var out []pipeline.Claim
	err := s.write(ctx, "claim", func(t *tx) {
		out = nil
		for _, w := range wants {
			n := w.N
			if s.spared.Load() > 0 { // first: they have waited for longest
				got, _ := t.startable(t.claim(owner, w.Stage, "crashes > 0 AND crashes = 1 AND stage = $2", w.Stage, n))
				out = append(out, got...)
				n -= len(got)
			}
			for n > 0 {
				got, put := t.startable(t.claim(owner, w.Stage, "crashes = 0 AND stage = $2", w.Stage, n))
				out = append(out, got...)
				if n -= len(got); put == 0 {
					break
				}
				// Behind those that were put off there may be one that can start.
				t.putOff(w.Stage)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return s.withRecords(out), nil
}

// claim takes ready steps.
func (t *tx) claim(owner, stage, which string, arg any, n int) []pipeline.Claim {
	var out []pipeline.Claim
	t.change(func(r *sql.Rows) error {
		c := pipeline.Claim{Stage: stage}
		was := fields{live: true, state: schemas.StepReady, stage: stage}
		var record string
		if err := r.Scan(&c.ID, &c.Key, &record, &c.Digest, &c.Share, &c.Crashes, &c.Attempt, &was.cost, &was.ms); err != nil {
			return err
		}
		c.Record = json.RawMessage(record)
		was.id = c.ID
		now := was
		now.state = schemas.StepRunning
		t.count(&was, -1)
		t.count(&now, 1)
		out = append(out, c)
		return nil
	}, `UPDATE step SET state = 'running', owner = $1, attempts = attempts + 1
		WHERE id IN (SELECT id FROM step WHERE state = 'ready' AND live AND `+which+` ORDER BY id LIMIT $3)
		RETURNING id, key, record, digest, share, crashes, attempts, cost, ms`, owner, arg, n)
	slices.SortFunc(out, func(a, b pipeline.Claim) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// startable keeps the claims whose input holds. The others are put off, as if they
// had not been claimed.
func (t *tx) startable(claims []pipeline.Claim) (out []pipeline.Claim, put int) {
	if len(claims) == 0 {
		return nil, 0
	}
	ids := make([]int64, len(claims))
	for i, c := range claims {
		ids[i] = c.ID
	}
	blocked := t.blocked(ids)
	waits := map[int64]bool{}
	if len(blocked) > 0 {
		for _, r := range loadAll(t, "id", ids, "AND state = 'running'") {
			if blocked[r.id] {
				r.attempts--
				waits[r.id] = t.await(r)
			}
		}
	}
	for _, c := range claims {
		if waits[c.ID] {
			put++
		} else {
			out = append(out, c)
		}
	}
	return out, put
}

// putOff puts off what is ready at a stage and may not start, so many at a time.
func (t *tx) putOff(stage string) {
	const many = 1000
	rows := t.load("state = 'ready' AND live AND crashes = 0 AND stage = $1 ORDER BY id LIMIT $2", stage, many)
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	blocked := t.blocked(ids)
	for _, r := range rows {
		if blocked[r.id] {
			t.await(r)
		}
	}
}

// ClaimSuspect gives an owner one step over which a process died before (of a run with workers: two): the one
// with the fewest deaths, so that bystanders are cleared and the culprit comes
// last. Nil where there is none, or where this owner runs one already.
func (s *Store) ClaimSuspect(ctx context.Context, owner string, stages []string) (*pipeline.Claim, error) {
	var out []pipeline.Claim
	err := s.write(ctx, "suspect", func(t *tx) {
		out = nil
		if one[int](t, "SELECT count(*) FROM step WHERE state = 'running' AND owner = $1 AND crashes > $2", owner, s.spared.Load()) > 0 {
			return
		}
		for {
			id, stage := t.leastSuspect(stages)
			if id == 0 {
				return
			}
			// One that may not start is put off; the next may be what it waits for.
			var put int
			if out, put = t.startable(t.claim(owner, stage, "crashes > 0 AND id = $2", id, 1)); put == 0 {
				return
			}
		}
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &s.withRecords(out)[0], nil
}

// leastSuspect is the ready suspect of these stages with the fewest deaths, 0 for none.
func (t *tx) leastSuspect(stages []string) (id int64, stage string) {
	t.each(func(r *sql.Rows) error {
		var name string
		var n int64
		err := r.Scan(&n, &name)
		if id == 0 && slices.Contains(stages, name) {
			id, stage = n, name
		}
		return err
	}, "SELECT id, stage FROM step WHERE state = 'ready' AND crashes > 0 AND crashes > $1 AND live ORDER BY crashes, id", t.s.spared.Load())
	return id, stage
}

// withRecords reads the records that are blobs. One that is lost must not end the run that
// claims its step.
func (s *Store) withRecords(claims []pipeline.Claim) []pipeline.Claim {
	for i, c := range claims {
		claims[i].Record, claims[i].Lost = s.record(string(c.Record))
	}
	return claims
}

// Release gives steps back that were claimed and not run; the attempt does not
// count.
func (s *Store) Release(ctx context.Context, owner string, ids []int64) error {
	return s.write(ctx, "release", func(t *tx) {
		t.release(loadAll(t, "id", ids, "AND state = 'running'"), owner)
	})
}

// Died books that workers of this owner died over steps.
func (s *Store) Died(ctx context.Context, owner string, ids []int64) error {
	return s.write(ctx, "died", func(t *tx) {
		for _, r := range loadAll(t, "id", ids, "AND state = 'running'") {
			if r.owner == owner {
				t.crashed([]*row{r}, false)
			}
		}
	})
}

func (t *tx) release(rows []*row, owner string) {
	for _, r := range rows {
		if r.owner == owner && r.state == schemas.StepRunning {
			r.attempts--
			t.place(r)
		}
	}
}

// Due makes the deferred steps ready whose time has come, and says when the next
// one's does: zero where none is deferred.
func (s *Store) Due(ctx context.Context, now time.Time) (next time.Time, err error) {
	// Most calls find nothing: those write nothing and take no lock.
	const soonest = "SELECT coalesce(min(not_before), -1) FROM step WHERE state = 'deferred' AND live"
	var first int64
	scan := func(r *sql.Rows) error { return r.Scan(&first) }
	if err := s.read(ctx, scan, soonest); err != nil || first < 0 {
		return time.Time{}, err
	}
	for first >= 0 && first <= now.UnixMilli() {
		err := s.write(ctx, "due", func(t *tx) {
			for _, r := range t.load("state = 'deferred' AND live AND not_before <= $1 ORDER BY not_before, id LIMIT 1000", now.UnixMilli()) {
				t.place(r)
			}
			first = one[int64](t, soonest)
		})
		if err != nil {
			return time.Time{}, err
		}
	}
	if first < 0 {
		return time.Time{}, nil
	}
	return moment(first), nil
}
