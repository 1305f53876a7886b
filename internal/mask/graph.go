package mask

import (
	"context"
	"slices"
)

// graph is who calls whom, by outermost functions: one stands for what is inside of it.
// Calls on what is not known go by the name: every member of that name may be meant.
type graph struct {
	*project
	callees [][]int         // by function
	named   [][]int         // names called on what is not known, by function
	having  map[place][]int // members by family and name
}

// graph resolves what every function runs.
func (p *project) graph(ctx context.Context) *graph {
	g := &graph{project: p, callees: make([][]int, len(p.functions)), named: make([][]int, len(p.functions)), having: map[place][]int{}}
	for i, f := range p.functions {
		if f.group >= 0 {
			g.having[place{f.unit.kin, f.last}] = append(g.having[place{f.unit.kin, f.last}], i)
		}
	}
	for u := range p.until(ctx) {
		for i, f := range u.functions {
			if f.Parent < 0 {
				g.callees[u.first+i], g.named[u.first+i] = p.calleesOf(u, i)
			}
		}
	}
	return g
}

// calleesOf are the functions that an outermost one calls, and the names that it calls on
// what is not known; both sorted.
func (p *project) calleesOf(u *unit, local int) (known, named []int) {
	at := u.first + local
	for i := local; i == local || i < len(u.functions) && u.functions[i].Parent >= 0; i++ {
		for _, r := range u.functions[i].runs {
			if u.means.ByName {
				known = append(known, p.mayCall(u, r)...)
				continue
			}
			a := p.ask(where{unit: u, function: u.first + i, class: r.class}, r.path)
			known = p.targets(known, a, r.use)
			if a.unknown {
				named = append(named, a.member)
			}
		}
	}
	slices.Sort(known)
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(known), func(f int) bool { return f == at }), slices.Compact(named)
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

// fanIn counts, for every function, those that call it. A call on what is not known
// counts where one function of the tree alone has the name.
func (g *graph) fanIn() []int {
	counts := make([]int, len(g.functions))
	for from, known := range g.callees {
		for _, to := range known {
			counts[to]++
		}
		for _, name := range g.named[from] {
			if all := g.having[g.place(from, name)]; len(all) == 1 && all[0] != from && !slices.Contains(known, all[0]) {
				counts[all[0]]++
			}
		}
	}
	return counts
}

// place is a name in the family of a function.
func (g *graph) place(f, name int) place { return place{g.of(f).unit.kin, name} }

// loaded are the functions that what is loaded calls or names, and the names that it calls
// on what is not known.
func (g *graph) loaded(ctx context.Context) (functions map[int]bool, names map[place]bool) {
	functions, names = map[int]bool{}, map[place]bool{}
	for u := range g.until(ctx) {
		for _, r := range u.loads {
			if u.means.ByName {
				for _, f := range g.mayCall(u, r) {
					functions[f] = true
				}
				continue
			}
			a := g.ask(where{unit: u, function: -1, class: r.class, loads: true}, r.path)
			for _, f := range g.targets(nil, a, r.use) {
				functions[f] = true
			}
			if a.unknown {
				names[place{u.kin, a.member}] = true
			}
		}
	}
	return functions, names
}

// callers are the functions that call each, and those that call a name on what is not known.
func (g *graph) callers() (of map[int][]int, byName map[place][]int) {
	of, byName = map[int][]int{}, map[place][]int{}
	for from := range g.callees {
		for _, to := range g.callees[from] {
			of[to] = append(of[to], from)
		}
		for _, name := range g.named[from] {
			byName[g.place(from, name)] = append(byName[g.place(from, name)], from)
		}
	}
	return of, byName
}

// only is a function with all that nothing else uses: the greatest set that it reaches
// of which every caller is in the set. Calls from tests do not count: their subject is
// the function.
func (g *graph) only(ctx context.Context, start []int) map[int]bool {
	in := g.reachable(start)
	loads, loadedNames := g.loaded(ctx)
	callers, byName := g.callers()
	// usedElsewhere tells what something outside of the set runs.
	usedElsewhere := func(f int) bool {
		if loads[f] || g.outer(f) != f {
			return true
		}
		from := callers[f]
		if of := g.of(f); of.group >= 0 {
			if loadedNames[g.place(f, of.last)] {
				return true
			}
			from = slices.Concat(from, byName[g.place(f, of.last)])
		}
		return slices.ContainsFunc(from, func(caller int) bool { return !in[caller] })
	}
	for dropped := true; dropped; {
		dropped = false
		for f := range in {
			if !slices.Contains(start, f) && usedElsewhere(f) {
				delete(in, f)
				dropped = true
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
