package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	v := view{live: live, now: clock, parallel: 1, left: func(sign string) string { return sign + "40 points left of GitHub's hour" }, counts: []tally{
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
