package main

import (
	"math"
	"testing"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/llm"
)

// A dry run prices labels, statements with reviews, and repairs of environments, at the dearest
// rates of the model that is asked first.
func TestPriceOfRun(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Model.Name, c.Model.Fallback, c.Model.PriceInput, c.Model.PriceOutput = "small", []string{"large"}, 1, 10
	c.Model.Prices = config.Prices{"large": {Rates: llm.Rates{Input: 100, Cached: 100, Output: 100}}}
	for _, tc := range []struct {
		labels, tasks, groups int
		want                  bill
	}{
		{0, 0, 0, bill{}},
		{0, 0, 3, bill{Requests: 3, Cost: 3 * (9000 + 2500*10) / 1e6}},
		{2, 0, 0, bill{Questions: 2, Cost: (2*3100 + 2*80*10) / 1e6}},
		{0, 1, 0, bill{Questions: 4, Repairs: 1, Cost: (4*3100 + 2*(450+150)*10 + 6004 + 80*10) / 1e6}},
		{5, 4, 1, bill{Questions: 21, Repairs: 2, Requests: 1, Cost: (21*3100 + (5*80+8*(450+150))*10 + 2*(6004+80*10) + 9000 + 2500*10) / 1e6}},
	} {
		if got := price(c, tc.labels, tc.tasks, tc.groups, 0); got.Questions != tc.want.Questions || got.Repairs != tc.want.Repairs || got.Requests != tc.want.Requests || math.Abs(got.Cost-tc.want.Cost) > 1e-12 {
			t.Errorf("%d labels, %d tasks and %d groups: %+v, want %+v", tc.labels, tc.tasks, tc.groups, got, tc.want)
		}
	}
	c.Model.PriceInput, c.Model.PriceOutput = 0, 0
	c.Model.Prices["small"] = llm.Price{Rates: llm.Rates{Input: 1, Cached: 1, Output: 10}, Tiers: []llm.Tier{
		{Hours: []llm.Hours{{From: 60, Until: 240}}, Rates: llm.Rates{Input: 2, Cached: 2, Output: 20}}, {Above: 100_000, Rates: llm.Rates{Input: 50, Cached: 50, Output: 50}},
	}}
	if got := price(c, 1, 0, 0, 0); math.Abs(got.Cost-(3100*2+80*20)/1e6) > 1e-12 {
		t.Errorf("at the dear hours: %+v", got)
	}
}
