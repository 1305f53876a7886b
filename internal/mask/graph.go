package mask

import (
	"context"
	"slices"
)

// graph is who calls whom. Calls on what is not known go through a node of the name:
// every member of that name may be meant.
type graph struct {
	*project
	callees [][]int         // by outermost function
	named   [][]int         // names called on what is not known, by outermost function
	loads   []bool          // functions that what is loaded calls or names
	loaded  map[place]bool  // names called on what is not known when files are loaded
	having  map[place][]int // members by family and name
}

// graph resolves what every function runs. A function stands for what is inside of it.
func (p *project) graph(ctx context.Context) *graph {
	g := &graph{
		project: p, callees: make([][]int, len(p.functions)), named: make([][]int, len(p.functions)),
		loads: make([]bool, len(p.functions)), loaded: map[place]bool{}, having: map[place][]int{},
	}
	for _, u := range p.units {
		for i, f := range u.functions {
			if f.group >= 0 {
				at := place{u.kin, f.last}
				g.having[at] = append(g.having[at], u.first+i)
			}
		}
	}
	var one callees
	for u := range p.until(ctx) {
		for i := range u.functions {
			if u.functions[i].Parent < 0 {
				p.calleesOf(u, i, &one)
				g.callees[u.first+i], g.named[u.first+i] = slices.Clone(one.known), slices.Clone(one.named)
			}
		}
		loads := func(r ref) {
			a := p.ask(where{unit: u, function: -1, class: r.class, loads: true}, r.path)
			for _, f := range p.targets(nil, a, r.use) {
				g.loads[f] = true
			}
			if a.unknown {
				g.loaded[place{u.kin, a.member}] = true
			}
		}
		for _, r := range u.ran(-1) {
			loads(r)
		}
		for _, r := range u.loads {
			loads(r)
		}
	}
	return g
}

// callees are what one function calls.
type callees struct {
	known []int
	named []int // names called on what is not known
}

// calleesOf puts those of an outermost function in the place of what is there.
func (p *project) calleesOf(u *unit, local int, out *callees) {
	at := u.first + local
	out.known, out.named = out.known[:0], out.named[:0]
	for i := local; i == local || i < len(u.functions) && u.functions[i].Parent >= 0; i++ {
		for _, r := range u.ran(i) {
			a := p.ask(where{unit: u, function: u.first + i, class: r.class}, r.path)
			out.known = p.targets(out.known, a, r.use)
			if a.unknown {
				out.named = append(out.named, a.member)
			}
		}
	}
	slices.Sort(out.known)
	out.known = slices.DeleteFunc(slices.Compact(out.known), func(c int) bool { return c == at })
	slices.Sort(out.named)
	out.named = slices.Compact(out.named)
}

// targets adds the functions that a reference may run: a class's are its constructors.
func (p *project) targets(out []int, a answer, use Use) []int {
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

func (p *project) constructors(of int) []int {
	for _, a := range p.groups[of].line {
		var out []int
		for _, f := range p.groups[a].members {
			if p.of(f).Construct == Constructor {
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
func (p *project) fanIn(ctx context.Context) []int {
	having := map[place]int{} // members by family and name
	for _, u := range p.units {
		for i, f := range u.functions {
			if f.group >= 0 {
				at := place{u.kin, f.last}
				if _, ok := having[at]; ok {
					having[at] = several
				} else {
					having[at] = u.first + i
				}
			}
		}
	}
	counts := make([]int, len(p.functions))
	var one callees
	for u := range p.until(ctx) {
		for i := range u.functions {
			if u.functions[i].Parent >= 0 {
				continue
			}
			p.calleesOf(u, i, &one)
			for _, to := range one.known {
				counts[to]++
			}
			for _, name := range one.named {
				to, ok := having[place{u.kin, name}]
				if ok && to != several && to != u.first+i && !slices.Contains(one.known, to) {
					counts[to]++
				}
			}
		}
	}
	return counts
}

// place is a name in the family of a function.
func (g *graph) place(f, name int) place { return place{g.of(f).unit.kin, name} }

// only is a function with all that nothing else uses: the greatest set that it reaches
// of which every caller is in the set. Calls from tests do not count: their subject is
// the function.
func (g *graph) only(start []int) map[int]bool {
	in := g.reachable(start)
	callers := map[int][]int{}
	byName := map[place][]int{}
	for from := range g.callees {
		if g.of(from).Parent >= 0 {
			continue
		}
		for _, to := range g.callees[from] {
			if in[to] {
				callers[to] = append(callers[to], from)
			}
		}
		for _, name := range g.named[from] {
			at := g.place(from, name)
			byName[at] = append(byName[at], from)
		}
	}
	var out []int
	drop := func(f int) {
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
func (g *graph) outer(f int) int {
	for parent := g.of(f).Parent; parent >= 0; parent = g.of(f).Parent {
		f = g.of(f).unit.first + parent
	}
	return f
}

func (g *graph) reachable(start []int) map[int]bool {
	in := map[int]bool{}
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

func sorted(in map[int]bool) []int {
	out := make([]int, 0, len(in))
	for f := range in {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}
