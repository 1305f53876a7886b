package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Seed gives the first stage the complete list of its inputs: new ones are added,
// changed ones done again, missing ones withdrawn with all that was made of them.
func (s *Store) Seed(ctx context.Context, name string, seeds []schemas.Made) error {
	all := make([]*made, len(seeds))
	for i, m := range seeds {
		stored, err := s.keep(m.Record)
		if err != nil {
			return fmt.Errorf("keeping seed %s: %w", m.Key, err)
		}
		all[i] = &made{Made: m, stored: stored}
	}
	slices.SortFunc(all, func(a, b *made) int { return cmp.Compare(a.Key, b.Key) })
	for i := range all {
		if all[i].Key == "" || i > 0 && all[i].Key == all[i-1].Key {
			return fmt.Errorf("seed %q is given twice, or has no name", all[i].Key)
		}
	}
	return s.write(ctx, "seed", func(t *tx) { t.seed(name, all) })
}

func (t *tx) seed(name string, all []*made) {
	st := t.s.stage(name)
	if st == none {
		t.err = fmt.Errorf("seeds for stage %q, which is not in the plan", name)
		return
	}
	old := map[string]*row{}
	for _, r := range t.load("stage = $1 AND parent = 0 AND made_epoch = 0 AND key <> '' ORDER BY id {lock}", name) {
		old[r.key] = r
	}
	var fresh []*made
	for _, m := range all {
		r := old[m.Key]
		delete(old, m.Key)
		switch {
		case r == nil:
			fresh = append(fresh, m)
		case !r.live || r.digest != m.Digest || r.whole != m.Whole || r.share != m.Share:
			t.again(r, m, nil, "")
		}
	}
	for _, share := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(fresh), func(m *made) bool { return (m.Share != "") != share })
		if len(some) == 0 {
			continue
		}
		added, _ := t.insert(name, &row{}, st.first(some[0].Share), some)
		t.enter(added)
	}
	var gone []*row
	for _, r := range old {
		if r.live {
			gone = append(gone, r)
		}
	}
	slices.SortFunc(gone, func(a, b *row) int { return cmp.Compare(a.id, b.id) })
	t.withdraw(gone)
}
