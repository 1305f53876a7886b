package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages"
)

// TestPulse: a reader of lines hears at least every half a minute which item does what, and
// nothing where something was said meanwhile.
func TestPulse(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	live := pipeline.NewLive(nil, clock)
	var out strings.Builder
	u := &pulse{now: clock, view: &view{live: live, now: clock, parallel: func() int { return 1 }, left: func(string) string { return "" }}, out: &out, last: now}
	live.Begin(stages.Provision, "acme__widget-1")
	said := []int{} // seconds at which lines came
	for second := range 700 {
		now = time.Unix(1000+int64(second), 0)
		switch second {
		case 10:
			live.Doing(stages.Provision, "acme__widget-1", "building the environment: uv pip install")
		case 100:
			live.Doing(stages.Provision, "acme__widget-1", "trying the environment with the suite")
		case 200:
			if _, err := u.Write([]byte("acme__widget-2  rejected validate/no_f2p\n")); err != nil {
				t.Fatal(err)
			}
		}
		before := out.Len()
		if err := u.beat(t.Context(), func(context.Context) ([]tally, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if out.Len() > before {
			said = append(said, second)
		}
	}
	last := 0
	for _, second := range said {
		if second != 230 && second-last != 30 {
			t.Errorf("said after %d s, at %v", second-last, said)
		}
		last = second
	}
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "acme__widget-2  rejected") {
			t.Errorf("%q does not begin as what is said of running items does", line)
		}
	}
	if len(said) < 22 || strings.Contains(out.String(), "(0s)") {
		t.Errorf("said at %v", said)
	}
	for _, tc := range []struct{ total, doing string }{
		{"30s", "building the environment: uv pip install (20s)"}, {"2m30s", "trying the environment with the suite (50s)"},
	} {
		if line := fmt.Sprintf("  provision        %-44s %5s  %s\n", "acme__widget-1", tc.total, tc.doing); !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in\n%s", line, out.String())
		}
	}
}
