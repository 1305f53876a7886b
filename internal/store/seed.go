package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// seedPage is how many seeds, or rows of them, are in memory at once.
const seedPage = 512

// Seed gives the first stage the complete list of its inputs, in the order of their
// keys: new ones are added, changed ones done again, missing ones withdrawn with all
// that was made of them, in one transaction. seeds may be read more than once, and
// is not read at all where list, their digest, is that of the last time.
func (s *Store) Seed(ctx context.Context, name string, list schemas.Digest, seeds iter.Seq2[pipeline.Made, error]) error {
	return s.write(ctx, "seed", func(t *tx) { t.seed(name, list, seeds) })
}

func (t *tx) seed(name string, list schemas.Digest, seeds iter.Seq2[pipeline.Made, error]) {
	if t.s.stage(name) == none {
		t.err = fmt.Errorf("seeds for stage %q, which is not in the plan", name)
		return
	}
	if list != "" && one[schemas.Digest](t, "SELECT seeds FROM stage WHERE name = $1", name) == list {
		return
	}
	w := seeding{tx: t, stage: name}
	for m, err := range seeds {
		if err == nil {
			err = w.next(m)
		}
		if t.err = errors.Join(t.err, err); t.err != nil {
			return
		}
	}
	w.add()
	w.passed("")
	for ids := range slices.Chunk(w.gone, batch) {
		t.withdraw(loadAll(t, "id", ids, ""))
	}
	t.exec("UPDATE stage SET seeds = $1 WHERE name = $2 AND seeds <> $1", list, name)
}

// seeding goes through seeds and the rows of earlier ones side by side.
type seeding struct {
	*tx
	stage string
	last  string // key of the seed before
	fresh []*made
	gone  []int64
	rows  []*row // the next ones
	read  string // key of the last row that was read
	ended bool   // there are no more behind rows
}

// next takes one seed.
func (w *seeding) next(m pipeline.Made) error {
	switch {
	case m.Key == "" || m.Key == w.last:
		return fmt.Errorf("seed %q is given twice, or has no name", m.Key)
	case m.Key < w.last:
		return fmt.Errorf("seed %q comes after %q", m.Key, w.last)
	}
	w.last = m.Key
	w.passed(m.Key)
	stored, err := w.s.keep(m.Record)
	if err != nil {
		return fmt.Errorf("keeping seed %s: %w", m.Key, err)
	}
	seed := &made{Made: m, stored: stored}
	if len(w.rows) == 0 || w.rows[0].key != m.Key {
		if w.fresh = append(w.fresh, seed); len(w.fresh) == seedPage {
			w.add()
		}
		return nil
	}
	r := w.rows[0]
	w.rows = w.rows[1:]
	if !r.live || r.digest != m.Digest || r.whole != m.Whole || r.share != m.Share {
		w.again(r, seed, nil, "")
	}
	return nil
}

// passed notes the rows before a key as gone; "" is the end.
func (w *seeding) passed(key string) {
	for {
		if len(w.rows) == 0 && !w.ended {
			w.rows = w.load("stage = $1 AND key > $2 AND parent = 0 AND made_epoch = 0 ORDER BY key LIMIT $3", w.stage, w.read, seedPage)
			if w.ended = len(w.rows) < seedPage; len(w.rows) > 0 {
				w.read = w.rows[len(w.rows)-1].key
			}
		}
		if len(w.rows) == 0 || key != "" && w.rows[0].key >= key {
			return
		}
		if w.rows[0].live {
			w.gone = append(w.gone, w.rows[0].id)
		}
		w.rows = w.rows[1:]
	}
}

// add puts the new seeds into the table.
func (w *seeding) add() {
	st := w.s.stage(w.stage)
	for _, share := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(w.fresh), func(m *made) bool { return (m.Share != "") != share })
		if len(some) == 0 {
			continue
		}
		added, _ := w.insert(w.stage, &row{}, st.first(some[0].Share), some)
		w.enter(added)
	}
	w.fresh = nil
}
