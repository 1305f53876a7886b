package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

func TestTimeLeft(t *testing.T) {
	t.Parallel()
	past := []tally{
		{Stage: stages.Harvest, Done: 2, MS: 2000},
		{Stage: stages.Link, Done: 5, Rejected: map[schemas.Reason]int{schemas.NoCode: 5}, MS: 100},
		{Stage: stages.Provision + ".build", Done: 2, MS: 20_000, Open: 1},
		{Stage: stages.Validate, Done: 2, Rejected: map[schemas.Reason]int{schemas.NoF2P: 2}, MS: 240_000, Open: 2},
		{Stage: stages.Assess, Done: 1, MS: 30_000},
	}
	for _, tc := range []struct {
		name     string
		counts   []tally
		parallel int
		want     time.Duration
		ok       bool
	}{
		// 1 build of 10 s; 2 proofs of 60 s; half of them come to be assessed, 30 s each.
		{"what_follows_counts", past, 1, 160 * time.Second, true},
		{"side_by_side", past, 2, 80 * time.Second, true},
		{"two_proofs_are_no_past", []tally{{Stage: stages.Validate, Done: 2, MS: 120_000, Open: 2}}, 1, 120 * time.Second, false},
		{"nothing_proved_yet", past[:3], 1, 10 * time.Second, false},
		{"a_source_says_nothing_of_its_changes", []tally{{Stage: stages.Harvest, Done: 1, MS: 1000, Open: 1}, past[3]}, 1, 121 * time.Second, true},
		{"nothing", nil, 1, 0, false},
	} {
		if got, ok := timeLeft(tc.counts, tc.parallel); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %s, %t, want %s, %t", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestViewLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	live := pipeline.NewLive(nil, clock)
	live.Begin(stages.Validate, "acme__widget-1")
	live.Doing(stages.Validate, "acme__widget-1", "state S, run 2 of 3")
	live.Doing(stages.Validate, "acme__widget-0", "what does not run says nothing")
	now = now.Add(90 * time.Second)
	for i := range 9 {
		live.Begin(stages.Link, "acme__widget-2\x1b[2J"+strings.Repeat("i", i))
	}
	v := view{live: live, now: clock, parallel: func() int { return 1 }, left: func(sign string) string { return sign + "40 points left of GitHub's hour" }, counts: []tally{
		{Stage: stages.Link, Done: 3, Rejected: map[schemas.Reason]int{schemas.NoTests: 2}, Open: 9},
		{Stage: stages.Validate, Done: 3, MS: 6000, Open: 1},
	}}
	lines := v.lines()
	if len(lines) != 10 || !strings.HasPrefix(lines[0], "  validate         acme__widget-1") || !strings.HasSuffix(lines[0], "1m30s  state S, run 2 of 3 (1m30s)") {
		t.Errorf("the longest does not come first: %q", lines)
	}
	if strings.Contains(strings.Join(lines, ""), "\x1b") {
		t.Error("a key of a stranger drives the terminal")
	}
	tail := []string{"  and 2 more", "14 changes, 3 linked, 3 proved, 10 to do, about 13s left, 40 points left of GitHub's hour"}
	if diff := cmp.Diff(tail, lines[8:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFleetView: the time left is that of the sandboxes that are there now, and what a worker does
// takes one line, a script as well.
func TestFleetView(t *testing.T) {
	t.Parallel()
	n := 1
	v := view{parallel: func() int { return n }, left: func(string) string { return "" }, counts: []tally{{Stage: stages.Validate, Done: 3, MS: 60_000, Open: 2}}}
	for n = range 4 {
		want := fmt.Sprintf("3 proved, 2 to do, about %ds left", 40/max(n, 1))
		if got := v.funnel(); got != want {
			t.Errorf("%d sandboxes: %q, want %q", n, got, want)
		}
	}
	v.counts = []tally{{Stage: stages.Grade, Done: 3, MS: 60_000, Open: 2}} // of an evaluation
	if got := v.funnel(); got != "3 graded, 2 to do, about 13s left" {
		t.Errorf("an evaluation: %q", got)
	}
	here := pipeline.RunOptions{Resources: map[string]int{stages.Sandbox: 5}}
	if got := sandboxes(here)(); got != 5 {
		t.Errorf("%d sandboxes here, want 5", got)
	}
	here.Far = &fleet.Coordinator{}
	if got := sandboxes(here)(); got != 0 {
		t.Errorf("%d sandboxes without a worker", got)
	}

	var out strings.Builder
	now := time.Unix(1000, 0)
	doing := fleet.Doing{Stage: stages.Validate, Key: "acme__widget-1", Since: now.Add(-time.Minute), Text: strings.Repeat("a script\n", 100)}
	(&printer{w: &out}).beats([]fleet.Beat{{Worker: "w1", Slots: 1, Doing: []fleet.Doing{doing}}}, now)
	if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || len([]rune(lines[1])) > 200 || !strings.HasPrefix(lines[1], "  validate         acme__widget-1  1m0s  a script·a script") {
		t.Errorf("%q", out.String())
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{{"short", 5, "short"}, {"longer", 5, "long…"}, {"ünïcödé", 5, "ünïc…"}} {
		if got := clip(tc.line, tc.width); got != tc.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}
