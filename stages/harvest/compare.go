package harvest

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/changelog"
	"github.com/benchmint/benchmint/schemas"
)

const (
	alike    = 0.6    // of an entry that was re-worded
	contains = 0.8    // of the words of an entry that was written on
	distinct = 4      // words: fewer may be written twice ("Fix typos")
	mass     = 400000 // pairs: a rewrite of everything, in which nothing is new for sure
)

// compare tells which entries a commit wrote, which it changed so that they name
// more numbers, and which it took out. An entry that was moved, wrapped anew or
// re-worded a little is the same entry.
func compare(before, after []entry) (added []entry, grown []grownEntry, removed []entry) {
	after, before = cross(after, before, func(e entry) string { return e.key })
	was := slices.Clone(before)
	byWords := func(e entry) string { return strings.Join(e.words, " ") }
	rest, left := cross(after, before, byWords)
	for _, e := range after {
		if !contained(rest, e) {
			if i := slices.IndexFunc(was, func(o entry) bool { return byWords(o) == byWords(e) }); i >= 0 {
				grown = grow(grown, was[i], e)
			}
		}
	}
	if len(rest)*len(left) > mass {
		return nil, grown, left
	}
	for _, e := range rest {
		best, at := 0.0, -1
		for i, o := range left {
			if l := likeness(o, e); l > best {
				best, at = l, i
			}
		}
		if at < 0 {
			added = append(added, e)
			continue
		}
		grown = grow(grown, left[at], e)
		left = slices.Delete(slices.Clone(left), at, at+1)
	}
	return added, grown, left
}

// cross strikes out what two lists have in common, each as often as it stands.
func cross(a, b []entry, key func(entry) string) (onlyA, onlyB []entry) {
	counts := map[string]int{}
	for _, e := range b {
		counts[key(e)]++
	}
	taken := map[string]int{}
	for _, e := range a {
		if k := key(e); taken[k] < counts[k] {
			taken[k]++
		} else {
			onlyA = append(onlyA, e)
		}
	}
	for _, e := range b {
		if k := key(e); taken[k] > 0 {
			taken[k]--
		} else {
			onlyB = append(onlyB, e)
		}
	}
	return onlyA, onlyB
}

func contained(all []entry, e entry) bool {
	return slices.ContainsFunc(all, func(o entry) bool { return o.path == e.path && o.Line == e.Line })
}

// likeness is how much two entries are one; 0 below the threshold.
func likeness(old, now entry) float64 {
	const bonus = 0.1 // for a number that both name
	l := changelog.Likeness(old.words, now.words)
	if l >= alike || l >= alike-bonus && shareNumber(old, now) {
		return l
	}
	if len(old.words) < distinct || len(now.words) < len(old.words) {
		return 0
	}
	// Written on: nearly all of its words are still there.
	shared := l * float64(len(old.words)+len(now.words)) / 2
	if shared >= contains*float64(len(old.words)) {
		return alike
	}
	return 0
}

func shareNumber(a, b entry) bool {
	return slices.ContainsFunc(a.Named, func(n int) bool { return slices.Contains(b.Named, n) })
}

// grownEntry is an entry that came to name more numbers.
type grownEntry struct {
	entry
	more []int
}

func grow(grown []grownEntry, old, now entry) []grownEntry {
	g := grownEntry{entry: now}
	for _, n := range now.Named {
		if !slices.ContainsFunc(old.References, func(r schemas.Reference) bool { return r.Number == n }) {
			g.more = append(g.more, n)
		}
	}
	if g.more == nil {
		return grown
	}
	return append(grown, g)
}

// unseen leaves out the entries that stood somewhere before: a fragment that was
// taken out before the release was written, a file that moved in two steps.
func (d *noteLinker) unseen(added []entry) []entry {
	return slices.DeleteFunc(added, func(e entry) bool {
		i := slices.IndexFunc(d.gone, func(o entry) bool {
			if len(o.words) < distinct {
				return false
			}
			same := slices.Equal(o.words, e.words) || o.fragment && likeness(o, e) > 0
			return same && (len(o.Named) == 0 || len(e.Named) == 0 || shareNumber(o, e))
		})
		if i >= 0 {
			d.gone = slices.Delete(d.gone, i, i+1)
		}
		return i >= 0
	})
}
