package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// settlement is one with its records as they are stored.
type settlement struct {
	pipeline.Settlement
	made []*made
}

// made is an output; stored is its record, or the digest of the blob with it.
type made struct {
	pipeline.Made
	stored string
}

// Settle ends claimed steps, all in one transaction. On an error nothing is
// changed. The fence, state, owner and attempt, gives exactly-once in effect: what
// comes from an owner that lost its step is dropped, also where the same owner has
// claimed it anew meanwhile.
func (s *Store) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	kept := make([]*settlement, len(all))
	ids := make([]int64, len(all))
	for i, st := range all {
		ids[i] = st.ID
		kept[i] = &settlement{Settlement: st}
		for _, m := range st.Outputs {
			stored, err := s.keep(m.Record)
			if err != nil {
				return nil, fmt.Errorf("keeping %s: %w", m.Key, err)
			}
			kept[i].made = append(kept[i].made, &made{Made: m, stored: stored})
		}
	}
	out := make([]pipeline.Settled, len(all))
	err := s.write(ctx, "settle", func(t *tx) {
		mine := map[int64]*row{}
		for _, r := range loadAll(t, "id", ids, "AND state = 'running'") {
			mine[r.id] = r
		}
		blocked := t.blocked(slices.Collect(maps.Keys(mine)))
		for i, st := range kept {
			if r := mine[st.ID]; r != nil && blocked[r.id] && r.owner == st.Owner {
				t.outdated(r, st)
				out[i] = pipeline.Settled{Lost: true}
				continue
			}
			out[i] = t.settle(mine[st.ID], st)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// anyOpen: a stage other than this one has open steps, by the tally.
func (t *tx) anyOpen(but string) bool {
	return one[int64](t, `SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM tally WHERE state IN ('ready', 'running', 'waiting', 'deferred')
		AND stage <> $1 AND stage IN (SELECT name FROM stage WHERE place >= 0)`, but) > 0
}

// outdated drops a result: what it was made of has been asked for again meanwhile.
func (t *tx) outdated(r *row, s *settlement) {
	if t.mine(r) {
		r.cost += s.Cost
		if !t.await(r) {
			t.place(r)
		}
	}
}

// settle ends one step.
func (t *tx) settle(r *row, s *settlement) pipeline.Settled {
	if r == nil || r.owner != s.Owner || s.Attempt != 0 && s.Attempt != r.attempts {
		return pipeline.Settled{Lost: true}
	}
	st := t.s.stage(r.stage)
	fault := check(st, s)
	if fault != nil {
		s = failed(s, fault)
	}
	if s.State == schemas.StepDeferred {
		s = t.deferred(r, st, s)
	}
	build := st.Of != ""
	again, before := r.epoch > 0, r.outputDigest
	if !t.book(r, st, s) {
		return pipeline.Settled{Lost: true}
	}
	switch {
	case s.State == schemas.StepDeferred:
	case s.State == schemas.StepDone && st.Drain:
		if t.anyOpen(st.Name) {
			r.madeBy = "" // it went without some, whose ends may be what they were (drainAgain)
			t.save(r)
		}
	case build:
		t.keepBuilt(r, s)
		t.built(r, again, before != r.outputDigest)
	case s.State == schemas.StepDone:
		if err := t.outputs(r, st, s.made); err != nil {
			fault = err
			t.end(r, schemas.StepFailed, "", err.Error(), "")
		}
		fallthrough
	default:
		if again {
			t.withdrawOld(r.id, r.epoch)
		}
	}
	return pipeline.Settled{Err: fault}
}

// check finds what is wrong with a settlement by itself.
func check(st *stage, s *settlement) error {
	switch s.State {
	case schemas.StepDone:
	case schemas.StepRejected, schemas.StepDeferred, schemas.StepFailed:
		return nil
	default:
		return fmt.Errorf("a step cannot be settled as %q", s.State)
	}
	if st.Of != "" && len(s.made) != 1 {
		return fmt.Errorf("a build made %d records, not one", len(s.made))
	}
	seen := make(map[[2]string]bool, len(s.made))
	for _, m := range s.made {
		at := [2]string{m.To, m.Key}
		if m.Key == "" || seen[at] {
			return fmt.Errorf("key %q was made twice, or is empty", m.Key)
		}
		seen[at] = true
		if st.Of == "" && !slices.Contains(st.Next, m.To) {
			return fmt.Errorf("stage %q made %s for %q, which does not follow it", st.Name, m.Key, m.To)
		}
	}
	return nil
}

// failed is a settlement turned into a fault; what it cost stays.
func failed(s *settlement, err error) *settlement {
	f := *s
	f.State, f.Reason, f.Detail, f.Evidence, f.made = schemas.StepFailed, "", err.Error(), "", nil
	return &f
}

// deferred puts a step off, or fails it where its budget is spent.
func (t *tx) deferred(r *row, st *stage, s *settlement) *settlement {
	r.deferrals++
	r.notBefore = millis(s.NotBefore)
	if !s.Said {
		r.waited += max(0, r.notBefore-t.now())
	}
	f := *s
	b := st.Budget
	switch {
	case b.Tries > 0 && r.deferrals > b.Tries:
		f.Detail = fmt.Sprintf("put off %d times, more than its budget allows: %s", r.deferrals, s.Detail)
	case b.Wait > 0 && r.waited > b.Wait.Milliseconds():
		f.Detail = fmt.Sprintf("waiting any longer is more than its budget of %s allows: %s", b.Wait, s.Detail)
	default:
		return s
	}
	f.State = schemas.StepFailed
	return &f
}

func (t *tx) now() int64 {
	if t.s.options.Now != nil {
		return t.s.options.Now().UnixMilli()
	}
	return one[int64](t, "SELECT CAST(unixepoch('subsec') * 1000 AS BIGINT)")
}

// mine checks the fence again: a settlement before this one in the same
// transaction may have taken the step away.
func (t *tx) mine(r *row) bool {
	return t.exec("UPDATE step SET owner = owner WHERE id = $1 AND state = 'running' AND owner = $2 AND attempts = $3", r.id, r.owner, r.attempts) == 1
}

// book writes the end of a step; false where it is not the owner's any more.
func (t *tx) book(r *row, st *stage, s *settlement) bool {
	owner := r.owner
	r.state, r.reason, r.owner, r.through, r.crashes, r.below = s.State, s.Reason, "", 0, 0, false
	r.cost += s.Cost
	r.ms = s.MS
	o := r.outcome
	if s.State != schemas.StepDeferred {
		r.epoch++
		r.madeBy, r.notBefore = st.Fingerprint, 0
	}
	r.outcome = outcome(s.State, s.Reason, s.Detail, s.Evidence, s.Provenance)
	n := t.exec(`UPDATE step SET state = $1, reason = $2, owner = '', through = 0, crashes = 0, below = FALSE, cost = $3, ms = $4, epoch = $5,
		made_by = $6, outcome = $7, not_before = $8, waited = $9, deferrals = $10, detail = $11, evidence = $12, provenance = $13
		WHERE id = $14 AND state = 'running' AND owner = $15 AND attempts = $16`,
		r.state, r.reason, r.cost, r.ms, r.epoch, r.madeBy, r.outcome, r.notBefore, r.waited, r.deferrals,
		clean(s.Detail), s.Evidence, string(s.Provenance), r.id, owner, r.attempts)
	if n == 0 {
		return false
	}
	t.drain = t.drain || o != r.outcome && !st.Drain
	t.moved(r)
	return true
}

// outcome is the digest of an end: the drain is asked again where it differs.
func outcome(state schemas.StepState, reason schemas.Reason, detail string, evidence schemas.Digest, provenance json.RawMessage) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(state), string(reason), detail, string(evidence), string(provenance)}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// keepBuilt keeps what a build made; of one that failed nothing is left, so that
// its next success is another one to its members.
func (t *tx) keepBuilt(b *row, s *settlement) {
	var stored string
	b.outputDigest = ""
	if s.State == schemas.StepDone {
		b.outputDigest, stored = s.made[0].Digest, s.made[0].stored
	}
	t.save(b)
	t.exec("UPDATE step SET output = $1 WHERE id = $2", stored, b.id)
}

// outputs hands what a step made to the stages that take it. A key that another living
// step made as well is a fault of the plan: then none of all is handed on.
func (t *tx) outputs(r *row, st *stage, all []*made) error {
	if r.epoch > 1 && len(st.Next) > 1 {
		t.withdrawGone(r, all)
	}
	var added []*row
	var known []meeting
	for _, name := range st.Next {
		a, k, err := t.offerAll(r, name, slices.DeleteFunc(slices.Clone(all), func(m *made) bool { return m.To != name }))
		added, known = append(added, a...), append(known, k...)
		if err != nil {
			for _, a := range added {
				t.exec("DELETE FROM step WHERE id = $1", a.id)
			}
			return err
		}
	}
	t.enter(added)
	for _, m := range known {
		t.again(m.row, m.made, r, st.Name)
	}
	return nil
}

// withdrawGone takes out what a step makes no more, before its new outputs come. One
// that takes another branch now may meet a key that was made of it on the old one.
func (t *tx) withdrawGone(r *row, all []*made) {
	still := map[[2]string]bool{}
	for _, m := range all {
		still[[2]string{m.To, m.Key}] = true
	}
	old := t.load("parent = $1 AND made_epoch >= 0 AND made_epoch < $2 AND live ORDER BY id", r.id, r.epoch)
	t.withdraw(slices.DeleteFunc(old, func(c *row) bool { return still[[2]string{c.stage, c.key}] }))
}

// meeting is an output and the step that has its key already.
type meeting struct {
	row  *row
	made *made
}

// offerAll gives records to one stage. It returns the steps that are new, and those that
// were there.
func (t *tx) offerAll(r *row, name string, all []*made) (added []*row, known []meeting, err error) {
	next := t.s.stage(name)
	var taken []*made
	for _, share := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(all), func(m *made) bool { return (m.Share != "") != share })
		if len(some) == 0 {
			continue
		}
		a, k := t.insert(name, r, next.first(some[0].Share), some)
		added, taken = append(added, a...), append(taken, k...)
	}
	slices.SortFunc(taken, func(a, b *made) int { return cmp.Compare(a.Key, b.Key) })
	for chunk := range slices.Chunk(taken, batch) {
		keys := make([]string, len(chunk))
		for i, m := range chunk {
			keys[i] = m.Key
		}
		old := map[string]*row{}
		for _, x := range t.loadKeys(name, keys) {
			old[x.key] = x
			if err := t.contested(x, r); err != nil {
				return added, nil, err
			}
		}
		for _, m := range chunk {
			if x := old[m.Key]; x != nil {
				known = append(known, meeting{x, m})
			}
		}
	}
	return added, known, nil
}

// contested: two living steps made one key. A parent that is itself to be done
// again has no claim: if it still makes the key, it is the one that is told.
func (t *tx) contested(x, by *row) error {
	if !x.live || x.parent == by.id {
		return nil
	}
	for _, p := range t.load("id = $1", x.parent) {
		if p.live && p.state == schemas.StepDone && p.epoch == x.madeEpoch {
			one, other := p.key, by.key
			if p.stage != by.stage { // branches that meet
				one, other = p.stage+" "+one, by.stage+" "+other
			}
			return fmt.Errorf("%s of stage %s is made by both %s and %s", x.key, x.stage, one, other)
		}
	}
	return nil
}

// clean makes a text that every database takes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
