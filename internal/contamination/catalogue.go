package contamination

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Catalogue holds the tasks of published sets by what a change shows before anything is run: number, commits and patch.
// It takes about 2 kB for each of their tasks.
type Catalogue struct {
	index   *Index
	sets    []*SetRef
	options Options
}

// Open reads sets; nil for none. A row that cannot be read is an error: what would be missed is not known.
func Open(ctx context.Context, places []string, o Options) (*Catalogue, error) {
	if len(places) == 0 {
		return nil, nil //nolint:nilnil // nothing to hold against
	}
	c := &Catalogue{index: New(nil, o), options: o}
	for _, place := range places {
		ref := &SetRef{}
		var mu sync.Mutex
		set, err := Read(ctx, place, func(t Task) {
			e := entry{Task: t, prints: printsOf(&t), set: ref}
			e.Statement, e.shingles, e.grams, e.words, e.only, e.tests = "", nil, nil, nil, nil, nil
			for i := range e.files {
				e.files[i].header = nil
				for k := range e.files[i].hunks {
					e.files[i].hunks[k].lines = nil
				}
			}
			mu.Lock()
			defer mu.Unlock()
			c.index.add(e)
		})
		if err != nil {
			return nil, err
		}
		if len(set.Bad) > 0 {
			return nil, fmt.Errorf("%d rows of %s cannot be read, the first is %s", len(set.Bad), place, set.Bad[0])
		}
		*ref = set.SetRef
		c.sets = append(c.sets, ref)
	}
	return c, nil
}

// Sets are the digests of the sets and what decides beside them, for a stage's fingerprint.
func (c *Catalogue) Sets() []string {
	if c == nil {
		return nil
	}
	out := []string{"rules 2"}
	for old, now := range c.options.Aliases {
		out = append(out, Fold(old)+"="+Fold(now))
	}
	for _, s := range c.sets {
		out = append(out, s.SHA256)
	}
	slices.Sort(out)
	return out
}

// Find gives the tasks of the sets that one of ours is, strongest key first.
func (c *Catalogue) Find(t Task) []Hit {
	hits, _ := c.index.begin().exact(&t, printsOf(&t))
	for i := range hits {
		hits[i].InstanceID, hits[i].Known = hits[i].Known, hits[i].InstanceID
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if n := slices.Index(Keys, a.Key) - slices.Index(Keys, b.Key); n != 0 {
			return n
		}
		return strings.Compare(a.Set.Name+a.Known, b.Set.Name+b.Known)
	})
	return hits
}
