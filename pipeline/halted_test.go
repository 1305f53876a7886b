package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline"
)

// TestHalted: a fault of the machine ends no item. The run ends with it and drains nothing;
// the next one does what is left, at once and whole.
func TestHalted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		all  bool
	}{{"one", false}, {"all", true}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, out, full := virtual(t), &sink{}, true
			work := then(func(_ context.Context, in word) (word, error) {
				if full && (tc.all || in.Text == "b") {
					return in, pipeline.Reject("validate/no_f2p", "as it seemed: %w", errDisk)
				}
				return in, nil
			})
			plan := func() *pipeline.Plan {
				p := line(work, pipeline.Options{}, out)
				p.Judge(func(err error) error {
					if errors.Is(err, errDisk) {
						return &pipeline.Halted{All: tc.all, Err: err}
					}
					return err
				})
				return p
			}
			sum, err := plan().Run(t.Context(), s, records("a b c"), silent{}, pipeline.RunOptions{Now: time.Now, Slots: 1, Partial: true})
			var halted *pipeline.Halted
			if !errors.As(err, &halted) || !strings.Contains(err.Error(), " at work: ") || sum.Drained || out.runs > 0 {
				t.Fatalf("ended with %v, drained %t %v", err, sum.Drained, out.got)
			}
			done, open := 2, 1
			if tc.all {
				done, open = 0, 3
			}
			if c := count(sum, "work"); c.Done != done || c.Open != open || c.Failed+len(c.Rejected)+c.Deferred > 0 {
				t.Errorf("%+v", c)
			}
			full = false
			sum = mustRun(t, t.Context(), plan(), s, silent{}, pipeline.RunOptions{}, "a b c")
			if sum.Code() != 0 || !slices.Equal(out.got, []string{"a", "b", "c"}) {
				t.Errorf("code %d, drained %v", sum.Code(), out.got)
			}
		})
	}
}

var errDisk = errors.New("no room")

// TestHaltedDrain: so does a drain that meets one.
func TestHaltedDrain(t *testing.T) {
	t.Parallel()
	s, out := virtual(t), &sink{}
	plan := line(then(same), pipeline.Options{}, out)
	full := true
	plan.Judge(func(err error) error { return &pipeline.Halted{Err: err} })
	read := &faulty{Store: s, fail: func(method string) error {
		if full && method == "Held" {
			return errDisk
		}
		return nil
	}}
	for _, run := range []func() (pipeline.Summary, error){
		func() (pipeline.Summary, error) {
			return plan.Run(t.Context(), read, records("a"), silent{}, pipeline.RunOptions{Now: time.Now})
		},
		func() (pipeline.Summary, error) { return plan.Redrain(t.Context(), read) },
	} {
		if sum, err := run(); !errors.As(err, new(*pipeline.Halted)) || sum.Drained || out.runs > 0 {
			t.Errorf("ended with %v, drained %t", err, sum.Drained)
		}
	}
	full = false
	if sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "a"); !sum.Drained {
		t.Errorf("%+v", sum)
	}
}

// TestStoreFault: a store that the machine keeps from writing fails no step.
func TestStoreFault(t *testing.T) {
	t.Parallel()
	s, out, left := virtual(t), &sink{}, 2
	away := &faulty{Store: s, fail: func(method string) error {
		if method == "Settle" && left > 0 { // the small result of a fault would fit
			left--
			return &pipeline.Halted{All: true, Err: errDisk}
		}
		return nil
	}}
	_, err := line(then(same), pipeline.Options{}, out).Run(t.Context(), away, records("a b"), silent{}, pipeline.RunOptions{Now: time.Now})
	if !errors.As(err, new(*pipeline.Halted)) {
		t.Fatalf("ended with %v", err)
	}
	sum := mustRun(t, t.Context(), line(then(same), pipeline.Options{}, out), s, silent{}, pipeline.RunOptions{}, "a b")
	if sum.Code() != 0 || !slices.Equal(out.got, []string{"a", "b"}) {
		t.Errorf("code %d, drained %v", sum.Code(), out.got)
	}
}
