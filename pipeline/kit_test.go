package pipeline_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Stages made of functions.
type (
	then   func(context.Context, word) (word, error)
	expand func(context.Context, word) ([]word, error)
	drain  func(context.Context, iter.Seq2[word, error], pipeline.Ended) error
	share  struct {
		key   func(word) string
		build func(context.Context, word) (built, error)
		run   func(context.Context, word, built) (word, error)
	}
)

func (f then) Run(ctx context.Context, in word) (word, error)     { return f(ctx, in) }
func (f expand) Run(ctx context.Context, in word) ([]word, error) { return f(ctx, in) }
func (f drain) Run(ctx context.Context, in iter.Seq2[word, error], e pipeline.Ended) error {
	return f(ctx, in, e)
}
func (s share) Key(in word) string                                      { return s.key(in) }
func (s share) Build(ctx context.Context, in word) (built, error)       { return s.build(ctx, in) }
func (s share) Run(ctx context.Context, in word, b built) (word, error) { return s.run(ctx, in, b) }

func same(_ context.Context, in word) (word, error) { return in, nil }

func fields(_ context.Context, in word) ([]word, error) {
	var out []word
	for f := range strings.FieldsSeq(in.Text) {
		out = append(out, word{f})
	}
	return out, nil
}

// sink keeps what a drain was given last.
type sink struct {
	mu   sync.Mutex
	got  []string
	runs int
}

func (s *sink) drain(_ context.Context, in iter.Seq2[word, error], _ pipeline.Ended) error {
	var got []string
	for w, err := range in {
		if err != nil {
			return err
		}
		got = append(got, w.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got, s.runs = got, s.runs+1
	return nil
}

// journal is an observer that counts and can be asked when.
type journal struct {
	mu    sync.Mutex
	began map[string]int
	ends  map[string][]schemas.StepState // by stage
	first map[string]time.Time           // first end done, by stage
	// behind is how many items were past the first stage and not at the end, at each
	// end of a step.
	behind        []int
	entered, left int
}

func newJournal() *journal {
	return &journal{began: map[string]int{}, ends: map[string][]schemas.StepState{}, first: map[string]time.Time{}}
}

func (j *journal) Begin(stage, key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.began[stage+" "+key]++
}

func (j *journal) End(s schemas.Step, _ bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ends[s.Stage] = append(j.ends[s.Stage], s.State)
	switch s.Stage {
	case "s0":
		j.entered++
	case "s5":
		j.left++
	}
	j.behind = append(j.behind, j.entered-j.left)
	if _, ok := j.first[s.Stage]; !ok && s.State == schemas.StepDone {
		j.first[s.Stage] = time.Now()
	}
}

// line is the plan words → work → end around one stage.
func line(work pipeline.Stage[word, word], o pipeline.Options, s *sink) *pipeline.Plan {
	words := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	return pipeline.Drain(pipeline.Then(words, "work", work, o), "end", pipeline.Drainer[word](drain(s.drain)), pipeline.Options{})
}

func mustRun(t *testing.T, ctx context.Context, p *pipeline.Plan, s pipeline.Store, o pipeline.Observer, opts pipeline.RunOptions, seeds ...string) pipeline.Summary {
	t.Helper()
	opts.Now = time.Now
	sum, err := p.Run(ctx, s, records(seeds...), o, opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func count(s pipeline.Summary, stage string) pipeline.Count {
	i := slices.IndexFunc(s.Stages, func(c pipeline.Count) bool { return c.Stage == stage })
	return s.Stages[i]
}
