package pipeline_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/store"
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

// faulty is a store whose methods answer with an error where fail gives one.
type faulty struct {
	*store.Store
	mu   sync.Mutex
	fail func(method string) error
}

func (f *faulty) or(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		return nil
	}
	return f.fail(method)
}

// but asks the store where fail has nothing against it.
func but[T any](f *faulty, method string, ask func() (T, error)) (T, error) {
	if err := f.or(method); err != nil {
		var none T
		return none, err
	}
	return ask()
}

func (f *faulty) Begin(ctx context.Context, o pipeline.BeginOptions) error {
	_, err := but(f, "Begin", func() (any, error) { return nil, f.Store.Begin(ctx, o) })
	return err
}

func (f *faulty) Seed(ctx context.Context, stage string, list schemas.Digest, seeds iter.Seq2[pipeline.Made, error]) error {
	_, err := but(f, "Seed", func() (any, error) { return nil, f.Store.Seed(ctx, stage, list, seeds) })
	return err
}

func (f *faulty) Leave(ctx context.Context, worker string) error {
	_, err := but(f, "Leave", func() (any, error) { return nil, f.Store.Leave(ctx, worker) })
	return err
}

func (f *faulty) Pause(ctx context.Context, resource string, until time.Time) error {
	_, err := but(f, "Pause", func() (any, error) { return nil, f.Store.Pause(ctx, resource, until) })
	return err
}

func (f *faulty) Claim(ctx context.Context, owner string, wants []pipeline.Want) ([]pipeline.Claim, error) {
	return but(f, "Claim", func() ([]pipeline.Claim, error) { return f.Store.Claim(ctx, owner, wants) })
}

func (f *faulty) ClaimSuspect(ctx context.Context, owner string, stages []string) (*pipeline.Claim, error) {
	return but(f, "ClaimSuspect", func() (*pipeline.Claim, error) { return f.Store.ClaimSuspect(ctx, owner, stages) })
}

func (f *faulty) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	return but(f, "Settle", func() ([]pipeline.Settled, error) { return f.Store.Settle(ctx, all) })
}

func (f *faulty) Due(ctx context.Context, now time.Time) (time.Time, error) {
	return but(f, "Due", func() (time.Time, error) { return f.Store.Due(ctx, now) })
}

func (f *faulty) Resources(ctx context.Context) ([]pipeline.Resource, error) {
	return but(f, "Resources", func() ([]pipeline.Resource, error) { return f.Store.Resources(ctx) })
}

func (f *faulty) Tallies(ctx context.Context) ([]pipeline.Tally, error) {
	return but(f, "Tallies", func() ([]pipeline.Tally, error) { return f.Store.Tallies(ctx) })
}

func (f *faulty) Built(ctx context.Context, stage, key string) (json.RawMessage, error) {
	return but(f, "Built", func() (json.RawMessage, error) { return f.Store.Built(ctx, stage, key) })
}

func (f *faulty) Held(ctx context.Context, stage, after string, n int) ([]pipeline.Made, error) {
	return but(f, "Held", func() ([]pipeline.Made, error) { return f.Store.Held(ctx, stage, after, n) })
}

func (f *faulty) Ended(ctx context.Context, afterKey, afterStage string, n int) ([]schemas.Step, error) {
	return but(f, "Ended", func() ([]schemas.Step, error) { return f.Store.Ended(ctx, afterKey, afterStage, n) })
}
