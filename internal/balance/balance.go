// Package balance draws tasks to a mix, by a seed.
//
// What it draws depends on the seed, the mix and the tasks alone. It never reads a task: a caller says what each is.
package balance

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The properties that a mix can be of.
const (
	Language   = "language"
	Framework  = "framework"
	Category   = "category"
	Kind       = "kind"
	Repository = "repository"
)

// Properties are all of them, in the order of tables.
var Properties = []string{Language, Framework, Category, Kind, Repository}

// None is the value of a task that does not have a property: the framework of a library.
const None = "none"

// Even is the word for as many tasks of each value as of any other, as far as there are so many.
const Even = "even"

// Mix is how many tasks are drawn, and of what.
type Mix struct {
	Tasks int
	Seed  int
	// By are the shares of values by property; nil for Even. The shares of a property are above 0 and sum to 1, and
	// tasks with another value are not drawn.
	By map[string]map[string]float64
}

// Item is a task of the pool.
type Item struct {
	ID     string
	Values map[string]string // by property; "" is None
}

// Value is that of a property.
func (i Item) Value(property string) string { return cmp.Or(i.Values[property], None) }

// Cell is one value of a property: how many tasks the mix wants of it, how many the pool has and how many are drawn.
type Cell struct {
	Property string  `json:"property"`
	Value    string  `json:"value"`
	Share    float64 `json:"share"` // that is wanted, 0 to 1; of Even that of each value
	Want     int     `json:"want"`
	Pool     int     `json:"pool"`
	Drawn    int     `json:"drawn"`
	room     int     // how many may be drawn
}

// Result is a draw.
type Result struct {
	Cells []Cell            // by property in the order of Properties, then value
	Why   map[string]string // of each task that is not drawn, by ID
}

// Draw takes tasks of a pool, of no value more than the mix wants; what is even is filled up from the values that have
// more. Of tasks that are alike it takes those whose SHA-256 of "SEED ID" is least, so that a task more in the pool
// takes the place of few. Of a mix of one property or of two no other draw is larger.
func Draw(m Mix, pool []Item) Result {
	d := newDraw(m, pool)
	for _, x := range d.order {
		if d.size < m.Tasks && len(d.full(d.now, x)) == 0 {
			d.add(d.now, x, 1)
			d.size++
		}
	}
	for d.size < m.Tasks && d.exchange() {
		d.size++
	}
	return d.result()
}

// group is the tasks with the same values, those of the least rank first.
type group struct {
	items []Item
	cells []int // indices of draw.cells, one for each property of the mix
	index int
}

// state is how many tasks of each group are taken, and how many of each cell.
type state struct{ taken, drawn []int }

type draw struct {
	mix    Mix
	cells  []Cell
	groups []*group // by the rank of their first task
	order  []*group // of each task, by its rank
	now    state
	size   int
}

func newDraw(m Mix, pool []Item) *draw {
	d := &draw{mix: m}
	at := map[[2]string]int{}
	for _, p := range Properties {
		if shares, asked := m.By[p]; asked {
			for _, c := range cellsOf(m.Tasks, p, shares, pool) {
				at[[2]string{p, c.Value}] = len(d.cells)
				d.cells = append(d.cells, c)
			}
		}
	}
	rank := func(i Item) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", m.Seed, i.ID))
		return string(sum[:])
	}
	pool = slices.Clone(pool)
	slices.SortFunc(pool, func(a, b Item) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID)) })
	groups := map[string]*group{}
	for _, item := range pool {
		var cells []int
		for _, p := range Properties {
			if i, asked := at[[2]string{p, item.Value(p)}]; asked {
				cells = append(cells, i)
			}
		}
		key := fmt.Sprint(cells)
		if groups[key] == nil {
			groups[key] = &group{cells: cells, index: len(d.groups)}
			d.groups = append(d.groups, groups[key])
		}
		groups[key].items = append(groups[key].items, item)
		d.order = append(d.order, groups[key])
	}
	d.now = state{make([]int, len(d.groups)), make([]int, len(d.cells))}
	return d
}

// cellsOf are the values of a property in the mix and in the pool.
func cellsOf(tasks int, property string, shares map[string]float64, pool []Item) []Cell {
	have := map[string]int{}
	for _, i := range pool {
		have[i.Value(property)]++
	}
	even := shares == nil
	if even {
		shares = map[string]float64{}
		for v := range have {
			shares[v] = 1 / float64(len(have))
		}
	}
	sum := 0.0 // of thirds 0.99
	for v, share := range shares {
		have[v] += 0
		sum += share
	}
	var out []Cell
	left := tasks
	for _, v := range slices.Sorted(maps.Keys(have)) {
		want := int(float64(tasks)*shares[v]/sum + 1e-9)
		left -= want
		out = append(out, Cell{Property: property, Value: v, Share: shares[v], Want: want, Pool: have[v]})
	}
	// What rounding leaves goes to those that lost most by it.
	lost := func(i int) float64 { return float64(tasks)*out[i].Share/sum - float64(out[i].Want) }
	for ; left > 0 && len(out) > 0; left-- {
		out[least(out, func(i, j int) bool { return lost(i) > lost(j)+1e-9 })].Want++
	}
	for i := range out {
		out[i].room = out[i].Want
		if even && out[i].Pool < out[i].Want {
			left += out[i].Want - out[i].Pool
			out[i].room = out[i].Pool
		}
	}
	// What an even value lacks comes from those that have more.
	spare := func(i int) bool { return out[i].Pool > out[i].room }
	for ; left > 0 && len(out) > 0; left-- {
		i := least(out, func(i, j int) bool { return spare(i) && (!spare(j) || out[i].room < out[j].room) })
		if !spare(i) {
			break
		}
		out[i].room++
	}
	return out
}

// least is the first cell that no other comes before.
func least(all []Cell, before func(i, j int) bool) int {
	first := 0
	for i := range all {
		if before(i, first) {
			first = i
		}
	}
	return first
}

// full are the cells of a group that have no room.
func (d *draw) full(s state, x *group) (full []int) {
	for _, c := range x.cells {
		if s.drawn[c] >= d.cells[c].room {
			full = append(full, c)
		}
	}
	return full
}

func (d *draw) add(s state, x *group, n int) {
	s.taken[x.index] += n
	for _, c := range x.cells {
		s.drawn[c] += n
	}
}

// step is an exchange: the group that loses a task, and which of its cells it loses it to.
type step struct{ out, kept int }

// exchange makes room for one more task by exchanging others, and adds it; false where no exchange is found. Each step
// takes a task in for one of the same full cells. It is the search for an augmenting path.
func (d *draw) exchange() bool {
	seen := map[step]bool{}
	for queue := []state{d.now}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, in := range d.groups {
			if s.taken[in.index] == len(in.items) {
				continue
			}
			full := d.full(s, in)
			if len(full) == 0 {
				d.add(s, in, 1)
				d.now = s
				return true
			}
			queue = append(queue, d.exchanges(s, in, full, seen)...)
		}
	}
	return false
}

// exchanges are the states after one step that takes in a task of a group whose full cells are given.
func (d *draw) exchanges(s state, in *group, full []int, seen map[step]bool) (out []state) {
	for _, x := range d.groups {
		at := step{x.index, kept(in, x)}
		if x == in || seen[at] || s.taken[x.index] == 0 || !within(full, x.cells) {
			continue
		}
		seen[at] = true
		next := state{slices.Clone(s.taken), slices.Clone(s.drawn)}
		d.add(next, x, -1)
		d.add(next, in, 1)
		out = append(out, next)
	}
	return out
}

// kept are the cells that two groups share, as bits.
func kept(a, b *group) (bits int) {
	for i, c := range a.cells {
		if c == b.cells[i] {
			bits |= 1 << i
		}
	}
	return bits
}

func within(some, all []int) bool {
	return !slices.ContainsFunc(some, func(x int) bool { return !slices.Contains(all, x) })
}

func (d *draw) result() Result {
	r := Result{Why: map[string]string{}}
	for i, c := range d.cells {
		c.Drawn = d.now.drawn[i]
		r.Cells = append(r.Cells, c)
	}
	for _, x := range d.groups {
		why := fmt.Sprintf("%d are drawn", d.size)
		if full := d.full(d.now, x); len(full) > 0 {
			var words []string
			for _, c := range full {
				words = append(words, fmt.Sprintf("%s %s has its %d", d.cells[c].Property, d.cells[c].Value, d.cells[c].room))
			}
			why = strings.Join(words, ", ")
		}
		for _, item := range x.items[d.now.taken[x.index]:] {
			r.Why[item.ID] = why
		}
	}
	return r
}

// Missing says of each cell that has fewer tasks than the mix wants by how much it misses, and why.
func Missing(cells []Cell) []string {
	var out []string
	for _, c := range cells {
		if c.Drawn >= c.Want {
			continue
		}
		why := fmt.Sprintf("the pool has %d", c.Pool)
		if c.Pool > c.Drawn {
			why += ", and no other fits the rest of the mix"
		}
		out = append(out, fmt.Sprintf("%s %s has %d of %d: %s", c.Property, c.Value, c.Drawn, c.Want, why))
	}
	return out
}
