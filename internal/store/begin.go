package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// crashLimit is how often a process may die over a step.
const crashLimit = 5

// page is how many steps one transaction of a walk changes.
const page = 5000

// Begin makes the store ready for a run of this plan (engine, 4 and 10). With
// equal fingerprints it reads one row a stage and writes nothing.
func (s *Store) Begin(ctx context.Context, o pipeline.BeginOptions) error {
	if err := s.Lock(); err != nil {
		return err
	}
	p := newPlan(o.Stages)
	have, err := s.fingerprints(ctx)
	if err != nil {
		return err
	}
	if o.Until != "" && p.stages[o.Until] == nil {
		return fmt.Errorf("the run ends at stage %q, which is not in the plan", o.Until)
	}
	p.until(o.Until, have)
	s.plan.Store(p)
	s.worker.Store(o.Worker)
	s.spared.Store(0)
	if len(o.Away) > 0 {
		s.spared.Store(1)
	}
	if err := s.takeBack(ctx, o); err != nil {
		return fmt.Errorf("taking back steps of a process that died: %w", err)
	}
	if err := s.newStages(ctx, p, have); err != nil {
		return err
	}
	if err := s.redoChanged(ctx, p, have); err != nil {
		return err
	}
	if err := s.drainAgain(ctx, p); err != nil {
		return fmt.Errorf("asking for the drain again: %w", err)
	}
	if err := s.retryFailed(ctx, o.RetryCrashed); err != nil {
		return fmt.Errorf("trying failed steps again: %w", err)
	}
	return nil
}

// redoChanged marks what stages made that have changed since the last run.
func (s *Store) redoChanged(ctx context.Context, p *plan, have map[string]stageRow) error {
	above := false // something before this stage is done again
	for _, st := range p.buildsFirst() {
		old, ok := have[st.Name]
		moved := ok && !old.follows(st)
		if !ok || st.later || old.Fingerprint == st.Fingerprint && !moved {
			continue
		}
		if err := s.redo(ctx, st, above, moved); err != nil {
			return fmt.Errorf("stage %s has changed: %w", st.Name, err)
		}
		above = above || st.Of == ""
	}
	return nil
}

// stageRow is a stage as it is stored.
type stageRow struct {
	pipeline.StageInfo
	place int
	text  string
}

// follows: the same stages come next, the same build before. Otherwise the rows
// that stand for its outputs are in another place than they are looked for.
func (r *stageRow) follows(st *stage) bool {
	var old pipeline.StageInfo
	return json.Unmarshal([]byte(r.text), &old) == nil && slices.Equal(old.Next, st.Next) && old.Build == st.Build
}

func (s *Store) fingerprints(ctx context.Context) (map[string]stageRow, error) {
	out := map[string]stageRow{}
	err := s.read(ctx, func(r *sql.Rows) error {
		var name string
		var row stageRow
		err := r.Scan(&name, &row.place, &row.Fingerprint, &row.text)
		out[name] = row
		return err
	}, "SELECT name, place, fingerprint, info FROM stage")
	return out, err
}

// newStages writes down what is new or stands elsewhere in the plan. The
// fingerprint of a stage that was there is left to redo.
func (s *Store) newStages(ctx context.Context, p *plan, have map[string]stageRow) error {
	return s.write(ctx, "begin", func(t *tx) {
		for i, name := range p.order {
			st := p.stages[name]
			info, err := json.Marshal(st.StageInfo)
			if err != nil {
				t.err = err
				return
			}
			old, ok := have[name]
			if ok && !old.follows(st) { // until redo has ended, which writes down the rest
				t.exec("UPDATE stage SET fingerprint = '', place = $1 WHERE name = $2", i, name)
				continue
			}
			if !ok {
				t.exec("INSERT INTO stage (name, place, fingerprint, info) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING",
					name, i, st.Fingerprint, string(info))
			} else if old.place != i || old.text != string(info) {
				t.exec("UPDATE stage SET place = $1, info = $2 WHERE name = $3", i, string(info), name)
			}
			if st.Drain && !ok {
				t.newDrain(name)
			}
		}
		for name, old := range have {
			if p.stages[name] == nil && old.place >= 0 {
				t.exec("UPDATE stage SET place = -1 WHERE name = $1", name)
			}
		}
	})
}

func (t *tx) newDrain(name string) {
	t.change(func(r *sql.Rows) error {
		d := &row{fields: fields{stage: name, live: true, state: schemas.StepReady}}
		err := r.Scan(&d.id)
		t.count(&d.fields, 1)
		return err
	}, "INSERT INTO step (stage, key, state) VALUES ($1, '', 'ready') ON CONFLICT (stage, key) DO NOTHING RETURNING id", name)
}

// drainAgain asks for a drain again that went without open steps.
func (s *Store) drainAgain(ctx context.Context, p *plan) error {
	if p.drain == "" || p.stages[p.drain].later {
		return nil
	}
	const query = "SELECT count(*) FROM step WHERE stage = $1 AND key = '' AND state = 'done' AND made_by = ''"
	n := 0
	if err := s.read(ctx, func(r *sql.Rows) error { return r.Scan(&n) }, query, p.drain); err != nil || n == 0 {
		return err
	}
	return s.write(ctx, "begin", func(t *tx) {
		if r := t.find(p.drain, ""); r != nil && r.state == schemas.StepDone {
			t.reopen(r)
		}
	})
}

// takeBack gives out again what a dead process had: everything which runs, for this
// process holds the lock. What ran on other machines may still be at work there.
func (s *Store) takeBack(ctx context.Context, o pipeline.BeginOptions) error {
	for {
		n := 0
		err := s.write(ctx, "begin", func(t *tx) {
			rows := t.load("state = 'running' ORDER BY owner, id LIMIT 1000")
			n = len(rows)
			for _, r := range rows {
				if slices.Contains(o.Away, r.stage) {
					t.release([]*row{r}, r.owner)
				} else {
					t.crashed([]*row{r}, o.RetryCrashed)
				}
			}
			t.exec("UPDATE resource SET reserved = 0 WHERE reserved <> 0")
			// Without a condition SQLite writes a page to empty an empty table.
			t.exec("DELETE FROM reservation WHERE amount IS NOT NULL")
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// crashed books that a process died over these steps. The fifth time is the last.
func (t *tx) crashed(rows []*row, retryCrashed bool) {
	for _, r := range rows {
		r.crashes++
		if r.crashes < crashLimit || retryCrashed {
			if r.crashes >= crashLimit {
				r.crashes = 1 // in the lane of suspects still
			}
			t.place(r)
			continue
		}
		again, other := r.epoch > 0, r.outputDigest != ""
		r.outputDigest = ""
		t.end(r, schemas.StepFailed, schemas.Crashed, fmt.Sprintf("the process died %d times over it", r.crashes), "")
		if t.s.stage(r.stage).Of != "" {
			t.built(r, again, other)
		}
	}
}

// redo asks for every settled step of a stage again whose fingerprint has changed, and
// for all of them where the stage has moved: others take its outputs now. The new fingerprint is written last, so that a kill in between only repeats, and
// nothing is given out under the old one meanwhile.
func (s *Store) redo(ctx context.Context, st *stage, above, moved bool) error {
	info, err := json.Marshal(st.StageInfo)
	if err != nil {
		return err
	}
	err = s.write(ctx, "redo", func(t *tx) {
		t.exec("UPDATE stage SET fingerprint = '' WHERE name = $1", st.Name)
	})
	if err != nil {
		return err
	}
	good := st.Fingerprint // of the steps that stay
	if moved {
		good = "of none"
	}
	for after, more := "", true; more; {
		var last string
		err := s.write(ctx, "redo", func(t *tx) { more, last = t.redoPage(st, good, after, above) })
		if err != nil {
			return err
		}
		after = last
	}
	return s.write(ctx, "redo", func(t *tx) {
		t.exec("UPDATE stage SET fingerprint = $1, info = $2 WHERE name = $3", st.Fingerprint, string(info), st.Name)
	})
}

// redoPage walks one page of a stage by key; it says whether there may be more. Steps that
// were made by good stay.
// above says that steps may have to wait for what they were made of.
func (t *tx) redoPage(st *stage, good schemas.Digest, after string, above bool) (more bool, last string) {
	if st.Drain {
		for _, r := range t.load("stage = $1 AND key = '' AND state <> 'ready'", st.Name) {
			t.reopen(r)
		}
		return false, ""
	}
	last = one[string](t, "SELECT key FROM step WHERE stage = $1 AND key > $2 ORDER BY key LIMIT 1 OFFSET "+fmt.Sprint(page-1), st.Name, after)
	more = last != ""
	if !more {
		last = one[string](t, "SELECT coalesce(max(key), '') FROM step WHERE stage = $1 AND key > $2", st.Name, after)
	}
	if last == "" {
		return false, ""
	}
	const span = "stage = $1 AND key > $2 AND key <= $3 AND live AND made_by <> $4"
	one := st.Of != "" || above // by one: what waits for it has to be told, or it waits itself
	for _, state := range []schemas.StepState{schemas.StepDone, schemas.StepRejected, schemas.StepFailed, schemas.StepRunning} {
		if one {
			break
		}
		t.reopened(state, span+" AND share = '' AND state = $5", st.Name, after, last, good, state)
	}
	for _, r := range t.load(span+" AND (share <> '' OR $5) AND state IN ('done', 'rejected', 'failed', 'running') ORDER BY id",
		st.Name, after, last, good, one) {
		if st.Of != "" {
			t.rebuild(r)
		} else {
			t.reopen(r)
		}
	}
	return more, last
}

// reopened makes many steps of one state ready that need no build.
func (t *tx) reopened(state schemas.StepState, where string, args ...any) {
	t.change(func(rows *sql.Rows) error {
		was := fields{live: true, state: state}
		err := rows.Scan(&was.id, &was.stage, &was.reason, &was.cost, &was.ms)
		now := was
		now.state = schemas.StepReady
		t.count(&was, -1)
		t.count(&now, 1)
		return err
	}, "UPDATE step SET state = 'ready', owner = '', not_before = 0, waited = 0, deferrals = 0, crashes = 0, through = 0 WHERE "+where+
		" RETURNING id, stage, reason, cost, ms", args...)
}

// retryFailed opens what failed in an earlier run: builds first, so that their
// members find them open.
func (s *Store) retryFailed(ctx context.Context, crashedToo bool) error {
	for _, builds := range []bool{true, false} {
		for last, more := int64(0), true; more; {
			err := s.write(ctx, "begin", func(t *tx) {
				rows := t.load("state = 'failed' AND live AND id > $1 AND (reason <> 'engine/crashed' OR $2) ORDER BY id LIMIT 1000", last, crashedToo)
				for _, r := range rows {
					if st := s.stage(r.stage); (st.Of != "") == builds && !st.later {
						t.retry(r)
					}
				}
				if more = len(rows) > 0; more {
					last = rows[len(rows)-1].id
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// retry asks for a step once more. What ended the process is tried alone.
func (t *tx) retry(r *row) {
	suspect := r.reason == schemas.Crashed && r.state == schemas.StepFailed && r.through == 0
	if t.s.stage(r.stage).Of != "" {
		t.rebuild(r)
	} else {
		t.reopen(r)
	}
	if suspect {
		r.crashes = 1
		t.save(r)
	}
}
