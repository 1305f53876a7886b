package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/pipeline"
)

// The drain again gets what it got, and nothing else is run or booked.
func TestRedrain(t *testing.T) {
	t.Parallel()
	s, st, calls := &sink{}, virtual(t), 0
	work := then(func(_ context.Context, in word) (word, error) {
		if calls++; in.Text == "bad" {
			return word{}, errors.New("broken")
		}
		return in, nil
	})
	plan := line(work, pipeline.Options{}, s)
	first := mustRun(t, t.Context(), plan, st, newJournal(), pipeline.RunOptions{}, "b a bad")
	before, ran := s.got, calls
	s.got = nil
	again, err := plan.Redrain(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, s.got); d != "" || s.runs != 2 || calls != ran {
		t.Errorf("drained %d times, %d calls more (-first +again):\n%s", s.runs, calls-ran, d)
	}
	for i := range first.Stages {
		first.Stages[i].Executed = 0
	}
	if d := cmp.Diff(first, again); d != "" {
		t.Errorf("summary (-first +again):\n%s", d)
	}

	broken := errors.New("disk full")
	words := pipeline.New[word]()
	failing := pipeline.Drain(pipeline.Then(words, "work", pipeline.Stage[word, word](then(same)), pipeline.Options{}), "end",
		pipeline.Drainer[word](drain(func(context.Context, iter.Seq2[word, error], pipeline.Ended) error { return broken })), pipeline.Options{})
	if _, err := failing.Redrain(t.Context(), st); !errors.Is(err, broken) {
		t.Errorf("a drain that fails: %v", err)
	}
}
