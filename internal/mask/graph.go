package mask

import (
	"context"
	"slices"
)

// graph is who calls whom by the rule of plain names, by outermost functions: one stands for what is inside of it.
type graph struct {
	*project
	callees [][]int // by function
}

// graph resolves what every function runs.
func (p *project) graph(ctx context.Context) *graph {
	g := &graph{project: p, callees: make([][]int, len(p.functions))}
	for u := range p.until(ctx) {
		for i, f := range u.functions {
			if f.Parent < 0 {
				g.callees[u.first+i] = p.calleesOf(u, i)
			}
		}
	}
	return g
}

// calleesOf are the functions that an outermost one calls, sorted.
func (p *project) calleesOf(u *unit, local int) []int {
	var out []int
	for i := local; i == local || i < len(u.functions) && u.functions[i].Parent >= 0; i++ {
		for _, r := range u.functions[i].Runs {
			out = append(out, p.mayCall(u, r.Path)...)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(f int) bool { return f == u.first+local })
}

// fanIn counts, for every function, those that call it.
func (g *graph) fanIn() []int {
	counts := make([]int, len(g.functions))
	for _, callees := range g.callees {
		for _, to := range callees {
			counts[to]++
		}
	}
	return counts
}

// loaded are the functions that what is loaded calls.
func (g *graph) loaded(ctx context.Context) map[int]bool {
	out := map[int]bool{}
	for u := range g.until(ctx) {
		for _, r := range u.loads {
			for _, f := range g.mayCall(u, r.Path) {
				out[f] = true
			}
		}
	}
	return out
}

// only is a function with all that nothing else uses: the greatest set that it reaches
// of which every caller is in the set. Calls from tests do not count: their subject is
// the function.
func (g *graph) only(ctx context.Context, start []int) map[int]bool {
	in, loads, callers := g.reachable(start), g.loaded(ctx), map[int][]int{}
	for from, callees := range g.callees {
		for _, to := range callees {
			callers[to] = append(callers[to], from)
		}
	}
	for dropped := true; dropped; {
		dropped = false
		for f := range in {
			elsewhere := loads[f] || g.of(f).Parent >= 0 || slices.ContainsFunc(callers[f], func(caller int) bool { return !in[caller] })
			if elsewhere && !slices.Contains(start, f) {
				delete(in, f)
				dropped = true
			}
		}
	}
	return in
}

func (g *graph) reachable(start []int) map[int]bool {
	in := map[int]bool{}
	queue := slices.Clone(start)
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		if !in[f] {
			in[f] = true
			queue = append(queue, g.callees[f]...)
		}
	}
	return in
}
