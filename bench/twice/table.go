package main

import (
	"fmt"

	"github.com/benchmint/benchmint/bench/internal/table"
)

// goal is what a run that finds nothing changed may cost of one that did it all.
const goal = 0.02

// figures are the table of two runs side by side.
type figures struct{ table.Table }

func (t *figures) fill(first, second measure) {
	t.Row("", "first", "second", "second ÷ first", "")
	t.held("wall time, s", "%.2f", first.wall.Seconds(), second.wall.Seconds())
	all, again := first.total(), second.total()
	t.held("requests", "%.0f", float64(all.requests), float64(again.requests))
	for _, kind := range kinds {
		if a, b := first.seen[kind].requests, second.seen[kind].requests; a+b > 0 {
			t.Row("  "+kind, fmt.Sprint(a), fmt.Sprint(b), "", "")
		}
	}
	t.figure("MB of requests and answers", "%.3f", float64(all.bytes)/1e6, float64(again.bytes)/1e6)
	t.figure("processor time, s", "%.2f", first.cpu.Seconds(), second.cpu.Seconds())
	t.zero("steps executed", first.steps(), second.steps())
	t.Row("rows", fmt.Sprint(first.rows), fmt.Sprint(second.rows), "", "")
	word := "the same"
	if first.manifest != second.manifest {
		word = t.Kept(false) + ": they differ"
	}
	t.Row("manifest", first.manifest.Short(), second.manifest.Short(), "", word)
}

func (t *figures) figure(name, format string, first, second float64) {
	t.Row(name, fmt.Sprintf(format, first), fmt.Sprintf(format, second), fmt.Sprintf("%.4f", second/first), "")
}

// held is a figure with the goal; a first run without any was not measured.
func (t *figures) held(name, format string, first, second float64) {
	word := t.Kept(first > 0 && second/first <= goal)
	if first == 0 {
		word += ": not measured"
	}
	t.Row(name, fmt.Sprintf(format, first), fmt.Sprintf(format, second), fmt.Sprintf("%.4f", second/first), fmt.Sprintf("goal ≤ %g  %s", goal, word))
}

// zero is what the second run may not do at all, and the first one must.
func (t *figures) zero(name string, first, second int) {
	t.Row(name, fmt.Sprint(first), fmt.Sprint(second), "", "goal 0  "+t.Kept(first > 0 && second == 0))
}
