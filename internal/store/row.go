package store

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// fields are the columns of a step that decide; its records are read where they
// are needed.
type fields struct {
	id                           int64
	stage, key                   string
	parent, epoch, madeEpoch     int64
	live, below                  bool
	state                        schemas.StepState
	reason                       schemas.Reason
	share                        string
	through                      int64
	digest, whole, madeBy        schemas.Digest
	outcome                      string
	owner                        string
	notBefore, waited            int64
	deferrals, attempts, crashes int
	cost                         float64
	ms                           int64
	outputDigest                 schemas.Digest
}

// row is a step inside a transaction, and how it stands in the table.
type row struct {
	fields
	was fields
}

const columns = `id, stage, key, parent, epoch, made_epoch, live, below, state, reason, share, through, digest, whole, made_by,
	outcome, owner, not_before, waited, deferrals, attempts, crashes, cost, ms, output_digest`

func (f *fields) scan(r *sql.Rows) error {
	return r.Scan(&f.id, &f.stage, &f.key, &f.parent, &f.epoch, &f.madeEpoch, &f.live, &f.below, &f.state, &f.reason, &f.share, &f.through,
		&f.digest, &f.whole, &f.madeBy, &f.outcome, &f.owner, &f.notBefore, &f.waited, &f.deferrals, &f.attempts, &f.crashes,
		&f.cost, &f.ms, &f.outputDigest)
}

// load reads steps for a change.
func (t *tx) load(where string, args ...any) []*row {
	var out []*row
	t.each(func(r *sql.Rows) error {
		x := new(row)
		err := x.scan(r)
		x.was = x.fields
		out = append(out, x)
		return err
	}, "SELECT "+columns+" FROM step WHERE "+where, args...)
	return out
}

// find is the step of a stage and key, nil where there is none.
func (t *tx) find(stage, key string) *row {
	if rows := t.load("stage = $1 AND key = $2", stage, key); len(rows) == 1 {
		return rows[0]
	}
	return nil
}

// batch is how many keys or ids one statement asks for.
const batch = 64

// loadAll reads the steps whose column is among values, in order of id.
func loadAll[T any](t *tx, column string, values []T, and string) []*row {
	var out []*row
	for chunk := range slices.Chunk(values, batch) {
		// Always as many places, so that there is one statement to prepare.
		args := make([]any, batch)
		for i := range args {
			args[i] = chunk[min(i, len(chunk)-1)]
		}
		out = append(out, t.load(column+" IN ("+places(1, batch)+") "+and+" ORDER BY id", args...)...)
	}
	return out
}

// loadKeys reads the steps of one stage with these keys, at most a batch of them.
func (t *tx) loadKeys(stage string, keys []string) []*row {
	args := []any{stage}
	for i := range batch {
		args = append(args, keys[min(i, len(keys)-1)])
	}
	return t.load("stage = $1 AND key IN ("+places(2, batch)+") ORDER BY id", args...)
}

// save writes what was changed and counts it.
func (t *tx) save(r *row) {
	if r.fields == r.was {
		return
	}
	t.exec(`UPDATE step SET parent = $1, epoch = $2, made_epoch = $3, live = $4, below = $5, state = $6, reason = $7, share = $8,
		through = $9, digest = $10, whole = $11, made_by = $12, outcome = $13, owner = $14, not_before = $15, waited = $16,
		deferrals = $17, attempts = $18, crashes = $19, cost = $20, ms = $21, output_digest = $22 WHERE id = $23`,
		r.parent, r.epoch, r.madeEpoch, r.live, r.below, r.state, r.reason, r.share, r.through, r.digest, r.whole, r.madeBy, r.outcome,
		r.owner, r.notBefore, r.waited, r.deferrals, r.attempts, r.crashes, r.cost, r.ms, r.outputDigest, r.id)
	t.moved(r)
}

// moved books that a step stands elsewhere than it did.
func (t *tx) moved(r *row) {
	t.count(&r.was, -1)
	t.count(&r.fields, 1)
	r.was = r.fields
}

// tallyKey is one line of the tally. Only ends that have a reason are counted by
// it; what is open again keeps the old reason in its row.
type tallyKey struct {
	stage  string
	state  schemas.StepState
	reason schemas.Reason
}

type tallySum struct {
	n    int64
	cost float64
	ms   int64
}

// reasoned are the states that are counted by their reason.
func reasoned(s schemas.StepState) bool {
	return s == schemas.StepRejected || s == schemas.StepFailed || s == schemas.StepDeferred
}

func settled(s schemas.StepState) bool {
	return s == schemas.StepDone || s == schemas.StepRejected || s == schemas.StepFailed
}

func (t *tx) count(f *fields, n int64) {
	if !f.live {
		return
	}
	k := tallyKey{stage: f.stage, state: f.state}
	if reasoned(f.state) {
		k.reason = f.reason
	}
	d := t.deltas[k]
	d.n += n
	d.cost += float64(n) * f.cost
	d.ms += n * f.ms
	t.deltas[k] = d
}

// tallyBatch is how many lines one statement changes.
const tallyBatch = 32

// finish wakes the drain and writes the tally.
func (t *tx) finish() {
	if t.drain {
		t.wakeDrain()
	}
	var keys []tallyKey
	for k, d := range t.deltas {
		if d != (tallySum{}) {
			keys = append(keys, k)
		}
	}
	for len(keys) > 0 {
		n := 1
		if len(keys) >= tallyBatch {
			n = tallyBatch
		} else if len(keys) >= 4 {
			n = 4
		}
		t.tally(keys[:n])
		keys = keys[n:]
	}
}

const tallyColumns = 7

func (t *tx) tally(keys []tallyKey) {
	args := make([]any, 0, len(keys)*tallyColumns)
	for _, k := range keys {
		d := t.deltas[k]
		args = append(args, k.stage, k.state, k.reason, 0, d.n, d.cost, d.ms)
	}
	t.exec("INSERT INTO tally (stage, state, reason, shard, n, cost, ms) VALUES "+tuples(1, len(keys), tallyColumns)+`
		ON CONFLICT (stage, state, reason, shard) DO UPDATE
		SET n = tally.n + excluded.n, cost = tally.cost + excluded.cost, ms = tally.ms + excluded.ms`, args...)
}

// tuples is "($1, …), (…)": n rows of width columns.
func tuples(from, n, width int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "(" + places(from+i*width, width) + ")"
	}
	return strings.Join(all, ", ")
}

// wakeDrain asks for the last step once more. It writes nothing where that was
// asked already.
func (t *tx) wakeDrain() {
	for _, r := range t.load("stage = $1 AND key = '' AND state <> 'ready'", t.s.drainName()) {
		t.reopen(r)
	}
}
