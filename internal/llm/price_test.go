package llm_test

import (
	"math"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
)

// Prices of three kinds, as their makers list them.
var (
	plain = llm.Price{Rates: llm.Rates{Input: 0.3, Cached: 0.03, Output: 2.5}}
	above = llm.Price{Rates: llm.Rates{Input: 0.1, Cached: 0.01, Output: 0.5}, Tiers: []llm.Tier{
		{Above: 100_000, Rates: llm.Rates{Input: 0.5, Cached: 0.05, Output: 2.5}},
	}}
	peak = llm.Price{Rates: llm.Rates{Input: 0.15, Cached: 0.003, Output: 0.6}, Tiers: []llm.Tier{
		{Hours: []llm.Hours{{From: 60, Until: 240}, {From: 360, Until: 600}}, Rates: llm.Rates{Input: 0.3, Cached: 0.006, Output: 1.2}},
	}}
	night = llm.Price{Rates: llm.Rates{Input: 2, Cached: 2, Output: 4}, Tiers: []llm.Tier{
		{Hours: []llm.Hours{{From: 23 * 60, Until: 60}}, Rates: llm.Rates{Input: 1, Cached: 1, Output: 2}},
		{Above: 1000, Rates: llm.Rates{Input: 10, Cached: 10, Output: 20}},
	}}
)

func TestPrice(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	for _, tc := range []struct {
		name  string
		price llm.Price
		usage llm.Usage
		at    string // in UTC
		want  float64
		most  float64
	}{
		{"input", plain, llm.Usage{Input: million}, "12:00", 0.3, 0.3},
		{"output", plain, llm.Usage{Output: million}, "12:00", 2.5, 2.5},
		{"cached", plain, llm.Usage{Input: million, Cached: 900_000, Output: 100_000}, "12:00", 0.03 + 0.027 + 0.25, 0.55},
		{"more_cached_than_there_is", plain, llm.Usage{Input: 1000, Cached: 5000}, "12:00", 0.00003, 0.0003},
		{"nothing", peak, llm.Usage{}, "02:00", 0, 0},
		{"at_the_bound", above, llm.Usage{Input: 100_000}, "12:00", 0.01, 0.01},
		{"above_it_all_tokens_cost_more", above, llm.Usage{Input: 100_001, Cached: 1, Output: 10_000}, "12:00", 0.05 + 0.05e-6 + 0.025, 0.0500005 + 0.025},
		{"off_peak", peak, llm.Usage{Input: million, Cached: million}, "00:59", 0.003, 0.3},
		{"peak_begins", peak, llm.Usage{Input: million, Output: million}, "01:00", 1.5, 1.5},
		{"peak_ends", peak, llm.Usage{Input: million, Output: million}, "04:00", 0.75, 1.5},
		{"second_peak", peak, llm.Usage{Input: million}, "09:59", 0.3, 0.3},
		{"before_midnight", night, llm.Usage{Input: 1000}, "23:30", 0.001, 0.002},
		{"after_midnight", night, llm.Usage{Input: 1000}, "00:59", 0.001, 0.002},
		{"the_night_is_over", night, llm.Usage{Input: 1000}, "01:00", 0.002, 0.002},
		{"the_last_tier_holds", night, llm.Usage{Input: 2000}, "23:30", 0.02, 0.02},
	} {
		at, err := time.Parse("15:04", tc.at)
		if err != nil {
			t.Fatal(err)
		}
		// The same moment as a clock elsewhere has it.
		at = at.In(time.FixedZone("", 5*60*60+30*60))
		if got := tc.price.Cost(tc.usage, at); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s costs %v, want %v", tc.name, got, tc.want)
		}
		if got := tc.price.Most(tc.usage); math.Abs(got-tc.most) > 1e-12 {
			t.Errorf("%s costs at most %v, want %v", tc.name, got, tc.most)
		}
	}
}

func TestParseHours(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"01:00-04:00", "23:00-01:30"} {
		if h, err := llm.ParseHours(text); err != nil || h.String() != text {
			t.Errorf("%s: %s, %v", text, h, err)
		}
	}
	for _, text := range []string{"", "1:00-4:00", "01:00 04:00", "01:00-24:00", "01:60-02:00", "01:00-01:00", "01:00-04:00 UTC"} {
		if h, err := llm.ParseHours(text); err == nil {
			t.Errorf("%q is read as %s", text, h)
		}
	}
}
