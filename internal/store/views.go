package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Tallies are how many live steps stand where, in the stages of the present plan:
// some hundred rows, never a count.
func (s *Store) Tallies(ctx context.Context) ([]pipeline.Tally, error) {
	return s.tallies(ctx, fmt.Sprintf(tallyQuery, "AND stage IN (SELECT name FROM stage WHERE place >= 0)"))
}

const tallyQuery = `SELECT stage, state, reason, n, cost, ms FROM tally WHERE n <> 0 %s ORDER BY stage, state, reason`

func (s *Store) tallies(ctx context.Context, query string) ([]pipeline.Tally, error) {
	var out []pipeline.Tally
	err := s.read(ctx, func(r *sql.Rows) error {
		var x pipeline.Tally
		err := r.Scan(&x.Stage, &x.State, &x.Reason, &x.N, &x.Cost, &x.MS)
		out = append(out, x)
		return err
	}, query)
	return out, err
}

// Miscount is a line of the tally that is not what the steps add up to.
type Miscount struct {
	Tallied, Counted pipeline.Tally
}

// Recount compares the tally with a count over all steps, for doctor. Beside a
// run that writes it may be off by what happened in between.
func (s *Store) Recount(ctx context.Context) ([]Miscount, error) {
	tallied, err := s.tallies(ctx, fmt.Sprintf(tallyQuery, ""))
	if err != nil {
		return nil, err
	}
	counted, err := s.tallies(ctx, `SELECT stage, state, CASE WHEN state IN ('rejected', 'failed', 'deferred') THEN reason ELSE '' END AS why,
		count(*), sum(cost), CAST(sum(ms) AS BIGINT) FROM step WHERE live GROUP BY stage, state, why ORDER BY stage, state, why`)
	if err != nil {
		return nil, err
	}
	type name struct {
		stage  string
		state  schemas.StepState
		reason schemas.Reason
	}
	both := map[name]*Miscount{}
	at := func(x pipeline.Tally) *Miscount {
		k := name{x.Stage, x.State, x.Reason}
		if both[k] == nil {
			both[k] = &Miscount{}
		}
		return both[k]
	}
	for _, x := range tallied {
		at(x).Tallied = x
	}
	for _, x := range counted {
		at(x).Counted = x
	}
	var out []Miscount
	for _, m := range both {
		if m.Tallied.N != m.Counted.N || m.Tallied.MS != m.Counted.MS || math.Abs(m.Tallied.Cost-m.Counted.Cost) > 1e-6*(1+math.Abs(m.Counted.Cost)) {
			out = append(out, *m)
		}
	}
	return out, nil
}

// Held are the live inputs of the drain behind a key, in order of key; those that
// rest on what is to be made again are left out: nothing could be joined to them.
func (s *Store) Held(ctx context.Context, stage, after string, n int) ([]pipeline.Made, error) {
	var out []pipeline.Made
	err := s.read(ctx, func(r *sql.Rows) error {
		var m pipeline.Made
		var stored string
		if err := r.Scan(&m.Key, &m.Digest, &m.Whole, &stored); err != nil {
			return err
		}
		m.Record = json.RawMessage(stored)
		out = append(out, m)
		return nil
	}, "SELECT s.key, s.digest, s.whole, s.record FROM step s WHERE s.stage = $1 AND s.key > $2 AND s.state = 'held' AND s.live AND "+current+
		" ORDER BY s.key LIMIT $3", stage, after, n)
	for i := range out {
		if err == nil {
			out[i].Record, err = s.record(string(out[i].Record))
		}
	}
	return out, err
}

// Built is what a done build made.
func (s *Store) Built(ctx context.Context, stage, key string) (json.RawMessage, error) {
	if b := s.stage(stage).Build; b != "" {
		stage = b
	}
	var stored string
	var state schemas.StepState
	err := s.read(ctx, func(r *sql.Rows) error { return r.Scan(&state, &stored) }, "SELECT state, output FROM step WHERE stage = $1 AND key = $2", stage, key)
	if err != nil {
		return nil, err
	}
	if state != schemas.StepDone {
		return nil, fmt.Errorf("%s %s is %q, not done", stage, key, state)
	}
	return s.record(stored)
}

const stepColumns = `s.id, s.stage, s.key, s.state, s.made_by, s.digest, s.reason, s.detail, s.evidence, coalesce(p.key, ''), s.record, s.share,
	s.attempts, s.deferrals, s.crashes, s.not_before, s.cost, s.provenance, s.ms, s.epoch, s.output, s.output_digest`

const stepTables = " FROM step s LEFT JOIN step p ON p.id = s.parent WHERE "

// viewed is a step on its way out.
type viewed struct {
	schemas.Step
	id, epoch    int64
	output       string
	outputDigest schemas.Digest
}

func (s *Store) view(ctx context.Context, where string, args ...any) ([]*viewed, error) {
	var out []*viewed
	err := s.read(ctx, func(r *sql.Rows) error {
		v := new(viewed)
		var record, provenance string
		var notBefore int64
		err := r.Scan(&v.id, &v.Stage, &v.Key, &v.State, &v.Fingerprint, &v.Input, &v.Reason, &v.Detail, &v.Evidence, &v.Parent, &record, &v.Share,
			&v.Attempts, &v.Deferrals, &v.Crashes, &notBefore, &v.Cost, &provenance, &v.MS, &v.epoch, &v.output, &v.outputDigest)
		v.Record, v.NotBefore = json.RawMessage(record), moment(notBefore)
		if provenance != "" {
			v.Provenance = json.RawMessage(provenance)
		}
		if !reasoned(v.State) {
			v.Reason = ""
		}
		out = append(out, v)
		return err
	}, "SELECT "+stepColumns+stepTables+where, args...)
	for _, v := range out {
		// A lost blob must hide neither the rest of a page nor the other ends from a
		// drain: the record is nil then.
		v.Record, _ = s.record(string(v.Record))
	}
	return out, err
}

// withOutputs reads what steps made at their last end, by key: the rows of the
// next stages that they stand behind, or what a build made.
func (s *Store) withOutputs(ctx context.Context, all []*viewed) error {
	byID := map[int64]*viewed{}
	var ids []int64
	for _, v := range all {
		byID[v.id] = v
		if v.output != "" {
			v.Outputs = []schemas.Output{{Key: v.Key, Digest: v.outputDigest, Record: json.RawMessage(v.output)}}
		} else if v.State == schemas.StepDone {
			ids = append(ids, v.id)
		}
	}
	for chunk := range slices.Chunk(ids, batch) {
		args := make([]any, batch)
		for i := range args {
			args[i] = chunk[min(i, len(chunk)-1)]
		}
		err := s.read(ctx, func(r *sql.Rows) error {
			var parent, epoch int64
			var o schemas.Output
			var stored string
			if err := r.Scan(&parent, &epoch, &o.To, &o.Key, &o.Digest, &stored); err != nil {
				return err
			}
			if v := byID[parent]; v.epoch == epoch {
				o.Record = json.RawMessage(stored)
				v.Outputs = append(v.Outputs, o)
			}
			return nil
		}, "SELECT parent, made_epoch, stage, key, whole, record FROM step WHERE parent IN ("+places(1, batch)+") AND made_epoch > 0 ORDER BY key, stage", args...)
		if err != nil {
			return err
		}
	}
	for _, v := range all {
		for i := range v.Outputs {
			record, err := s.record(string(v.Outputs[i].Record))
			if err != nil {
				return err
			}
			v.Outputs[i].Record = record
		}
	}
	return nil
}

// Step reads one step with what it made. Record is its input.
func (s *Store) Step(stage, key string) (schemas.Step, bool, error) {
	ctx := context.Background()
	all, err := s.view(ctx, "s.stage = $1 AND s.key = $2", stage, key)
	if err == nil {
		err = s.withOutputs(ctx, all)
	}
	if err != nil || len(all) == 0 {
		return schemas.Step{}, false, err
	}
	return all[0].Step, true, nil
}

// Inputs is the input record of a step.
func (s *Store) Inputs(stage, key string) (json.RawMessage, bool, error) {
	all, err := s.view(context.Background(), "s.stage = $1 AND s.key = $2", stage, key)
	if err != nil || len(all) == 0 {
		return nil, false, err
	}
	return all[0].Record, true, nil
}

// Ladder is every step of one key, in the order of stages.
func (s *Store) Ladder(stages []string, key string) ([]schemas.Step, error) {
	var out []schemas.Step
	for _, stage := range stages {
		step, ok, err := s.Step(stage, key)
		if err != nil {
			return nil, err
		}
		if ok && step.State != schemas.StepHeld {
			out = append(out, step)
		}
	}
	return out, nil
}

// viewPage is how many steps are read at once: short reads, so that what a run
// writes meanwhile can be checkpointed.
const viewPage = 500

// Each is every live step of a stage with what it made, by key.
func (s *Store) Each(stage string) iter.Seq2[schemas.Step, error] {
	ctx := context.Background()
	return func(yield func(schemas.Step, error) bool) {
		for after := ""; ; {
			all, err := s.view(ctx, "s.stage = $1 AND s.key > $2 AND s.live AND s.state <> 'held' ORDER BY s.key LIMIT $3", stage, after, viewPage)
			if err == nil {
				err = s.withOutputs(ctx, all)
			}
			if err != nil {
				yield(schemas.Step{}, err)
				return
			}
			for _, v := range all {
				if !yield(v.Step, nil) {
					return
				}
				after = v.Key
			}
			if len(all) < viewPage {
				return
			}
		}
	}
}

// Steps is all that Each gives.
func (s *Store) Steps(stage string) ([]schemas.Step, error) {
	var out []schemas.Step
	for step, err := range s.Each(stage) {
		if err != nil {
			return nil, err
		}
		out = append(out, step)
	}
	return out, nil
}

// Ended are the live steps that got no further, behind a key and stage, by key,
// then stage. Builds are left out: each of their members says it. So is what rests
// on steps that are to be made again, as in Held.
func (s *Store) Ended(ctx context.Context, afterKey, afterStage string, n int) ([]schemas.Step, error) {
	p, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	args := []any{afterKey, afterStage}
	where := "s.state IN ('rejected', 'deferred', 'failed') AND s.live AND (s.key, s.stage) > ($1, $2) AND " + current
	if builds := p.builds(); len(builds) > 0 {
		where += " AND s.stage NOT IN (" + places(3, len(builds)) + ")"
		for _, b := range builds {
			args = append(args, b)
		}
	}
	args = append(args, n) // SQLite counts placeholders by their first use
	all, err := s.view(ctx, where+fmt.Sprintf(" ORDER BY s.key, s.stage LIMIT $%d", len(args)), args...)
	var out []schemas.Step
	for _, v := range all {
		out = append(out, v.Step)
	}
	return out, err
}

// Retry asks for a step once more, whatever its end was, and for the build that it
// rests on where that has failed. A withdrawn step is asked when it comes back.
func (s *Store) Retry(stage, key string) error {
	ctx := context.Background()
	if _, err := s.known(ctx); err != nil {
		return err
	}
	return s.write(ctx, "retry", func(t *tx) {
		r := t.find(stage, key)
		switch {
		case r == nil:
			t.err = fmt.Errorf("no step %s %s", stage, key)
			return
		case !r.live:
			r.madeBy = ""
			t.save(r)
			return
		case r.state == schemas.StepHeld || r.state == schemas.StepRunning:
			return
		}
		if b := t.find(s.stage(stage).Build, r.share); b != nil && b.live && (b.state == schemas.StepRejected || b.state == schemas.StepFailed) {
			t.rebuild(b)
			r = t.find(stage, key)
		}
		t.retry(r)
	})
}

// Fix remembers a choice at first use and returns what holds: a store never mixes
// results of two sandboxes.
func (s *Store) Fix(name, value string) (string, error) {
	ctx := context.Background()
	var have string
	scan := func(r *sql.Rows) error { return r.Scan(&have) }
	const query = "SELECT value FROM fixed WHERE name = $1"
	if err := s.read(ctx, scan, query, name); err != nil || have != "" || value == "" {
		return have, err
	}
	err := s.write(ctx, "fix", func(t *tx) {
		t.exec("INSERT INTO fixed (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, value)
		t.each(scan, query, name)
	})
	return have, err
}

// Stuck are steps that wait for a build or for an input which nobody is at,
// "stage/key": there are none, unless the store is at fault.
func (s *Store) Stuck(ctx context.Context) ([]string, error) {
	p, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range p.order {
		err := s.read(ctx, func(r *sql.Rows) error {
			var key string
			err := r.Scan(&key)
			out = append(out, name+"/"+key)
			return err
		}, `SELECT key FROM step m WHERE stage = $1 AND state = 'waiting' AND NOT (m.live AND NOT m.below AND EXISTS (SELECT 1 FROM step b
			WHERE b.stage = $2 AND b.key = m.share AND b.live AND b.state IN ('ready', 'running', 'deferred', 'waiting'))) AND NOT (m.live AND m.below AND EXISTS (
			WITH RECURSIVE up (parent, state, made_epoch) AS (SELECT coalesce(w.parent, m.parent), '', coalesce(w.made_epoch, m.made_epoch)
				FROM (SELECT 1) one LEFT JOIN step w ON m.made_epoch < 0 AND w.id = m.parent UNION ALL
				SELECT s.parent, s.state, s.made_epoch FROM step s JOIN up ON s.id = up.parent WHERE up.made_epoch > 0)
			SELECT 1 FROM up WHERE state IN ('ready', 'running', 'deferred', 'waiting'))) ORDER BY key`,
			name, p.stages[name].Build)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
