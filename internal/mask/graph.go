package mask

import (
	"context"
	"slices"
)

// graph is who calls whom. Calls on what is not known go through a node of the name:
// every member of that name may be meant.
type graph struct {
	*project
	callees [][]int32         // by outermost function
	named   [][]int32         // names called on what is not known, by outermost function
	loads   []bool            // functions that what is loaded calls or names
	loaded  map[place]bool    // names called on what is not known when files are loaded
	having  map[place][]int32 // members by family and name
}

// graph resolves what every function runs. A function stands for what is inside of it.
func (p *project) graph(ctx context.Context) *graph {
	g := &graph{
		project: p, callees: make([][]int32, len(p.homes)), named: make([][]int32, len(p.homes)),
		loads: make([]bool, len(p.homes)), loaded: map[place]bool{}, having: map[place][]int32{},
	}
	for _, u := range p.units {
		for i := range u.functions.len() {
			if f := u.functions.at(i); f.group >= 0 {
				at := place{u.kin, f.last}
				g.having[at] = append(g.having[at], u.first+int32(i))
			}
		}
	}
	var one callees
	for u := range p.until(ctx) {
		for i := range u.functions.len() {
			if u.functions.at(i).parent < 0 {
				p.calleesOf(u, i, &one)
				g.callees[u.first+int32(i)], g.named[u.first+int32(i)] = slices.Clone(one.known), slices.Clone(one.named)
			}
		}
		loads := func(r ref) {
			a := p.ask(where{unit: u, function: -1, class: r.class(), loads: true}, r.path)
			for _, f := range p.targets(nil, a, r.use()) {
				g.loads[f] = true
			}
			if a.unknown {
				g.loaded[place{u.kin, a.member}] = true
			}
		}
		for r := range u.ran(-1) {
			loads(r)
		}
		for r := range u.refs.lines(u.loads) {
			loads(r)
		}
	}
	return g
}

// callees are what one function calls.
type callees struct {
	known []int32
	named []int32 // names called on what is not known
}

// calleesOf puts those of an outermost function in the place of what is there.
func (p *project) calleesOf(u *unit, local int, out *callees) {
	at := u.first + int32(local)
	out.known, out.named = out.known[:0], out.named[:0]
	for i := local; i == local || i < u.functions.len() && u.functions.at(i).parent >= 0; i++ {
		for r := range u.ran(int32(i)) {
			a := p.ask(where{unit: u, function: u.first + int32(i), class: r.class()}, r.path)
			out.known = p.targets(out.known, a, r.use())
			if a.unknown {
				out.named = append(out.named, a.member)
			}
		}
	}
	slices.Sort(out.known)
	out.known = slices.DeleteFunc(slices.Compact(out.known), func(c int32) bool { return c == at })
	slices.Sort(out.named)
	out.named = slices.Compact(out.named)
}

// targets adds the functions that a reference may run: a class's are its constructors.
func (p *project) targets(out []int32, a answer, use Use) []int32 {
	out = append(out, a.getters...)
	for _, t := range a.things {
		switch t.kind {
		case isFunction:
			out = append(out, t.id)
		case isClass:
			if use.calls() || use == Handed {
				out = append(out, p.constructors(t.id)...)
			}
		}
	}
	return out
}

func (p *project) constructors(of int32) []int32 {
	for _, a := range p.lineage(of) {
		var out []int32
		for _, f := range p.membersOf(a) {
			if p.construct(f) == Constructor {
				out = append(out, f)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// several stands for more than one function.
const several = -1

// fanIn counts, for every function, those that call it. A call on what is not known
// counts where one function of the tree alone has the name. It goes from one to the next
// and keeps no graph.
func (p *project) fanIn(ctx context.Context) []int32 {
	having := map[place]int32{} // members by family and name
	for _, u := range p.units {
		for i := range u.functions.len() {
			if f := u.functions.at(i); f.group >= 0 {
				at := place{u.kin, f.last}
				if _, ok := having[at]; ok {
					having[at] = several
				} else {
					having[at] = u.first + int32(i)
				}
			}
		}
	}
	counts := make([]int32, len(p.homes))
	var one callees
	for u := range p.until(ctx) {
		for i := range u.functions.len() {
			if u.functions.at(i).parent >= 0 {
				continue
			}
			p.calleesOf(u, i, &one)
			for _, to := range one.known {
				counts[to]++
			}
			for _, name := range one.named {
				to, ok := having[place{u.kin, name}]
				if ok && to != several && to != u.first+int32(i) && !slices.Contains(one.known, to) {
					counts[to]++
				}
			}
		}
	}
	return counts
}

// place is a name in the family of a function.
func (g *graph) place(f, name int32) place { return place{g.units[g.homes[f]].kin, name} }

// only is a function with all that nothing else uses: the greatest set that it reaches
// of which every caller is in the set. Calls from tests do not count: their subject is
// the function.
func (g *graph) only(start []int32) map[int32]bool {
	in := g.reachable(start)
	callers := map[int32][]int32{}
	byName := map[place][]int32{}
	for from := range g.callees {
		if g.of(int32(from)).parent >= 0 {
			continue
		}
		for _, to := range g.callees[from] {
			if in[to] {
				callers[to] = append(callers[to], int32(from))
			}
		}
		for _, name := range g.named[from] {
			at := g.place(int32(from), name)
			byName[at] = append(byName[at], int32(from))
		}
	}
	var out []int32
	drop := func(f int32) {
		if in[f] && !slices.Contains(start, f) {
			delete(in, f)
			out = append(out, f)
		}
	}
	for _, f := range sorted(in) {
		if g.loads[f] || g.of(f).group >= 0 && g.loaded[g.place(f, g.of(f).last)] || g.outer(f) != f {
			drop(f)
			continue
		}
		for _, from := range callers[f] {
			if !in[from] {
				drop(f)
			}
		}
		if g.of(f).group >= 0 {
			for _, from := range byName[g.place(f, g.of(f).last)] {
				if !in[from] {
					drop(f)
				}
			}
		}
	}
	said := map[place]bool{}
	for len(out) > 0 { // what one that is out uses is out too
		f := out[0]
		out = out[1:]
		for _, to := range g.callees[f] {
			drop(to)
		}
		for _, name := range g.named[f] {
			at := g.place(f, name)
			if said[at] {
				continue
			}
			said[at] = true
			for _, to := range g.having[at] {
				drop(to)
			}
		}
	}
	return in
}

// outer is the outermost function around one.
func (g *graph) outer(f int32) int32 {
	for parent := g.of(f).parent; parent >= 0; parent = g.of(f).parent {
		f = g.units[g.homes[f]].first + parent
	}
	return f
}

func (g *graph) reachable(start []int32) map[int32]bool {
	in := map[int32]bool{}
	queue := slices.Clone(start)
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		if in[f] {
			continue
		}
		in[f] = true
		queue = append(queue, g.callees[f]...)
		for _, name := range g.named[f] {
			queue = append(queue, g.having[g.place(f, name)]...)
		}
	}
	return in
}

func sorted(in map[int32]bool) []int32 {
	out := make([]int32, 0, len(in))
	for f := range in {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}
