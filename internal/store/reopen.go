package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Reopen asks once more for every live step that was rejected for one of reasons,
// and for the builds whose end that was, and says how many items these are. What was
// made of other items stays.
func (s *Store) Reopen(ctx context.Context, reasons ...schemas.Reason) (int, error) {
	p, err := s.known(ctx)
	if err != nil {
		return 0, err
	}
	tallies, err := s.Tallies(ctx)
	if err != nil {
		return 0, err
	}
	items := 0
	for _, st := range p.buildsFirst() { // a member finds its build open
		for _, t := range tallies {
			if t.Stage != st.Name || t.State != schemas.StepRejected || !slices.Contains(reasons, t.Reason) {
				continue
			}
			if st.Of == "" {
				items += t.N
			}
			if err := s.reopenRejected(ctx, st, t.Reason); err != nil {
				return items, fmt.Errorf("trying what was rejected with %s again: %w", t.Reason, err)
			}
		}
	}
	return items, nil
}

// reopenRejected walks the rejects of one stage by key, a page at a time: a kill in
// between leaves the rest for the next time.
func (s *Store) reopenRejected(ctx context.Context, st *stage, reason schemas.Reason) error {
	for last, more := "", true; more; {
		err := s.write(ctx, "reopen", func(t *tx) {
			rows := t.load("stage = $1 AND key > $2 AND live AND state = 'rejected' AND reason = $3 ORDER BY key LIMIT $4", st.Name, last, reason, page)
			for _, r := range rows {
				t.retry(r)
			}
			if more = len(rows) == page; more {
				last = rows[len(rows)-1].key
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Note is what was last noted under a name, "" where nothing was. A note decides no
// step by itself, and no view shows it.
func (s *Store) Note(name string) (string, error) { return s.Fix(name, "") }

// SetNote notes a value, in place of the last one.
func (s *Store) SetNote(ctx context.Context, name, value string) error {
	return s.write(ctx, "note", func(t *tx) {
		t.exec("INSERT INTO fixed (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE fixed.value <> excluded.value", name, value)
	})
}
