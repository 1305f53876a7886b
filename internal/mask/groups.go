package mask

import (
	"cmp"
	"slices"
)

// group is one class, wherever its parts stand (partial classes, Go's methods). What it
// has many of lies with that of all groups: it would take as much again, were each list
// one of its own.
type group struct {
	name, unit int32 // a word, and that of its first part
	parts      span  // of all parts
	listed     span  // of listed and members
	line       span  // of lines
	solved     bool
	*relations
}

// relations are what many groups have none of, and those share one.
type relations struct {
	below   []int32 // those that inherit from it
	bound   []int32 // names of its bindings
	made    []int32 // its metaclasses
	foreign []string
}

// families are the lists of all groups.
type families struct {
	groups  []group
	parts   []int32 // classes
	listed  []int32 // functions that are members, in order
	members table   // the same by name
	lines   []int32 // lineages: each itself, then those it inherits from, nearest first
	alone   relations
}

func (s span) of(all []int32) []int32 { return all[s.start:s.end:s.end] }

func (f *families) partsOf(g int32) []int32 { return f.groups[g].parts.of(f.parts) }

func (f *families) membersOf(g int32) []int32 { return f.groups[g].listed.of(f.listed) }

// having are the members of a name.
func (f *families) having(g, name int32) []thing {
	at := f.groups[g].listed
	return f.members[at.start:at.end].of(name, 0)
}

// lineage is empty for a group that is not solved yet.
func (f *families) lineage(g int32) []int32 { return f.groups[g].line.of(f.lines) }

// descend says what the lineage of a group is.
func (f *families) descend(g int32, line []int32) {
	from := int32(len(f.lines))
	f.lines = append(f.lines, line...)
	f.groups[g].line = span{from, int32(len(f.lines))}
}

// relate gives the relations of a group, to be added to.
func (f *families) relate(g int32) *relations {
	if f.groups[g].relations == &f.alone {
		f.groups[g].relations = &relations{}
	}
	return f.groups[g].relations
}

// gather lays out what each group has of all, of which in says the groups, -1 for none.
func (f *families) gather(all int, in func(i int) int32, at func(*group) *span) []int32 {
	counts := make([]int32, len(f.groups)+1) // of those before it
	for i := range all {
		if g := in(i); g >= 0 {
			counts[g+1]++
		}
	}
	for g := range f.groups {
		counts[g+1] += counts[g]
		*at(&f.groups[g]) = span{counts[g], counts[g+1]}
	}
	out := make([]int32, counts[len(f.groups)])
	for i := range all {
		if g := in(i); g >= 0 {
			out[counts[g]] = int32(i)
			counts[g]++
		}
	}
	return out
}

// table is things by their names, which are sorted.
type table []row

// row is a thing with its name: the kind is the last bits of is, the id the others. The
// unit, where it has one, is that of the table.
type row struct {
	name int32
	is   uint32
}

const kindBits = 3

// entitled is a thing with its name.
type entitled struct {
	name int32
	thing
}

// with adds a part of its own to the end, that keeps the order of what has one name, and
// each thing once.
func (t table) with(all []entitled) table {
	slices.SortStableFunc(all, func(a, b entitled) int { return cmp.Compare(a.name, b.name) })
	kept := all[:0]
	first := 0 // of those of the name
	for i, e := range all {
		if i == 0 || kept[len(kept)-1].name != e.name {
			first = len(kept)
		}
		if !slices.Contains(kept[first:], e) {
			kept = append(kept, e)
		}
	}
	t = slices.Grow(t, len(kept))
	for _, e := range kept {
		t = append(t, row{e.name, uint32(e.id)<<kindBits | uint32(e.kind)})
	}
	return t
}

// of are the things of a name, in order.
func (t table) of(name, unit int32) []thing {
	from, to := 0, len(t)
	for from < to {
		if at := (from + to) / 2; t[at].name < name {
			from = at + 1
		} else {
			to = at
		}
	}
	for to < len(t) && t[to].name == name {
		to++
	}
	if from == to {
		return nil
	}
	out := make([]thing, to-from)
	for i, e := range t[from:to] {
		out[i] = thing{kind: kind(e.is & (1<<kindBits - 1)), id: int32(e.is >> kindBits)}
		if k := out[i].kind; k == viaImport || k == viaBinding || k == isTable {
			out[i].unit = unit
		}
	}
	return out
}
