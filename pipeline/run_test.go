package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type word struct{ Text string }

func (w word) ID() string { return w.Text }

// plant is a small plan: sentences → words → words with a prefix → upper-cased
// words with a shared build by first letter → drain.
type plant struct {
	mu     sync.Mutex
	calls  []string
	build  int
	out    []string
	ends   []string
	drains int
	open   int

	bad    map[string]error
	prefix string
	cancel func()
}

func (p *plant) called(form string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, fmt.Sprintf(form, args...))
}

type split struct{ p *plant }

func (s split) Run(_ context.Context, in word) ([]word, error) {
	s.p.called("split %s", in.Text)
	var out []word
	for f := range strings.FieldsSeq(in.Text) {
		out = append(out, word{f})
	}
	return out, nil
}

type check struct{ p *plant }

func (c check) Run(_ context.Context, in word) (word, error) {
	c.p.called("check %s", in.Text)
	if c.p.cancel != nil && in.Text == "stop" {
		c.p.cancel()
		return word{}, context.Canceled
	}
	if err := c.p.bad[in.Text]; err != nil {
		if err.Error() == "panic" {
			panic("boom")
		}
		return word{}, err
	}
	return word{c.p.prefix + in.Text}, nil
}

type built struct{ Letter string }

type shout struct{ p *plant }

func (shout) Key(in word) string { return in.Text[:1] }
func (s shout) Build(_ context.Context, in word) (built, error) {
	s.p.mu.Lock()
	s.p.build++
	s.p.mu.Unlock()
	if in.Text[:1] == "z" {
		return built{}, pipeline.Reject(schemas.NoBuild, "no %s", "z")
	}
	return built{strings.ToUpper(in.Text[:1])}, nil
}

func (shout) Run(_ context.Context, in word, b built) (word, error) {
	return word{b.Letter + in.Text[1:]}, nil
}

type collect struct{ p *plant }

func (c collect) Run(_ context.Context, in iter.Seq2[word, error], ended pipeline.Ended) error {
	c.p.out, c.p.ends, c.p.open = nil, nil, ended.Open
	c.p.drains++
	for w, err := range in {
		if err != nil {
			return err
		}
		c.p.out = append(c.p.out, w.Text)
	}
	for e, err := range ended.Steps {
		if err != nil {
			return err
		}
		c.p.ends = append(c.p.ends, fmt.Sprintf("%s/%s %s %s", e.Stage, e.Key, e.State, e.Reason))
	}
	return nil
}

func (p *plant) plan(version string) *pipeline.Plan {
	words := pipeline.Expand(pipeline.New[word](), "split", pipeline.Expander[word, word](split{p}), pipeline.Options{Version: "1"})
	checked := pipeline.Then(words, "check", pipeline.Stage[word, word](check{p}), pipeline.Options{Version: version})
	shouted := pipeline.Share(checked, "shout", pipeline.Sharer[word, built, word](shout{p}), pipeline.Options{Version: "1"})
	return pipeline.Drain(shouted, "collect", pipeline.Drainer[word](collect{p}), pipeline.Options{})
}

type silent struct{}

func (silent) Begin(string, string)   {}
func (silent) End(schemas.Step, bool) {}

func records(words ...string) []pipeline.Record {
	var out []pipeline.Record
	for _, w := range words {
		out = append(out, word{w})
	}
	return out
}

func run(t *testing.T, ctx context.Context, p *plant, s pipeline.Store, version string, opts pipeline.RunOptions, seeds ...string) pipeline.Summary {
	t.Helper()
	p.calls, p.build, p.drains = nil, 0, 0
	if opts.Now == nil {
		opts.Now = time.Now
	}
	begun := time.Now()
	defer func() { t.Logf("run took %s: %v", time.Since(begun), p.calls) }()
	sum, err := p.plan(version).Run(ctx, s, records(seeds...), silent{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(p.calls)
	return sum
}

// table is a store with what tests look at.
type table interface {
	pipeline.Store
	Step(stage, key string) (schemas.Step, bool, error)
}

// open is the step table that runs use.
func open(t *testing.T) table { return virtual(t) }

// virtual is one whose clock may be that of a synctest bubble.
func virtual(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), storetest.Dir(t), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRunEndsAndReuse(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4, 64} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			t.Parallel()
			opts := pipeline.RunOptions{Slots: slots, Partial: true}
			p := &plant{bad: map[string]error{
				"no":    pipeline.Reject(schemas.NoCode, "nothing in %s", "it"),
				"later": &pipeline.Deferred{Resource: "registry", Err: errors.New("503")},
				"broke": errors.New("disk full"),
				"panic": errors.New("panic"),
			}}
			s := open(t)
			const seed = "apple no avocado later banana broke zoo zebra panic"
			sum := run(t, t.Context(), p, s, "1", opts, seed)
			equal(t, "drained", []string{"Apple", "Avocado", "Banana"}, p.out)
			equal(t, "ends", []string{
				"check/broke failed ", "check/later deferred ", "check/no rejected link/no_code", "check/panic failed ",
				"shout/zebra rejected provision/build", "shout/zoo rejected provision/build",
			}, p.ends)
			if p.build != 3 || p.open != 1 || !sum.Drained {
				t.Errorf("%d builds for 3 letters, %d open, drained %t", p.build, p.open, sum.Drained)
			}
			if sum.Code() != 1 {
				t.Errorf("exit code %d with failed items, want 1", sum.Code())
			}
			if step, _, _ := s.Step("check", "panic"); !strings.Contains(step.Detail, "boom") || !strings.Contains(step.Detail, "run_test.go") {
				t.Errorf("the stack of a panic is not kept: %s", step.Detail)
			}
			// Again: only what failed runs (the deferred one has its time), and a rejected
			// build is not tried again.
			run(t, t.Context(), p, s, "1", opts, seed)
			equal(t, "second run", []string{"check broke", "check panic"}, p.calls)
			if p.build != 0 {
				t.Errorf("second run built %d times", p.build)
			}
		})
	}
}

func TestRunRedoesWhatDependsOnAChange(t *testing.T) {
	t.Parallel()
	p := &plant{}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple banana")
	run(t, t.Context(), p, s, "2", pipeline.RunOptions{}, "apple banana")
	equal(t, "new version of check", []string{"check apple", "check banana"}, p.calls)
	if p.build != 0 {
		t.Errorf("equal output was built again %d times", p.build) // early cut-off
	}
	p.prefix = "x"
	run(t, t.Context(), p, s, "3", pipeline.RunOptions{}, "apple banana")
	if p.build != 1 {
		t.Errorf("changed output gave %d builds, want 1", p.build)
	}
	equal(t, "drained", []string{"Xapple", "Xbanana"}, p.out)
	run(t, t.Context(), p, s, "3", pipeline.RunOptions{}, "banana")
	equal(t, "drained", []string{"Xbanana"}, p.out)
	// Back again: dear results of a source that was left out for once are not lost;
	// its own step is done again, since another source took one of its words over.
	run(t, t.Context(), p, s, "3", pipeline.RunOptions{}, "apple banana")
	equal(t, "drained", []string{"Xapple", "Xbanana"}, p.out)
	equal(t, "calls", []string{"split apple banana"}, p.calls)
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &plant{cancel: cancel}
	s := open(t)
	sum := run(t, ctx, p, s, "1", pipeline.RunOptions{}, "apple stop banana")
	if sum.Code() != 130 || p.drains != 0 {
		t.Errorf("code %d, drained %d times; want 130 and none", sum.Code(), p.drains)
	}
	if step, _, _ := s.Step("check", "stop"); step.State != schemas.StepReady || step.Attempts != 0 {
		t.Errorf("the interrupted item is %s after %d attempts", step.State, step.Attempts)
	}
	p.cancel = nil
	if sum = run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple stop banana"); sum.Code() != 0 {
		t.Errorf("resumed with code %d", sum.Code())
	}
	equal(t, "drained", []string{"Apple", "Banana", "Stop"}, p.out)
}

func TestRunUntil(t *testing.T) {
	t.Parallel()
	p := &plant{}
	s := open(t)
	sum := run(t, t.Context(), p, s, "1", pipeline.RunOptions{Until: "check"}, "apple banana")
	if p.build != 0 || p.drains != 0 || sum.Code() != 0 {
		t.Errorf("until check: %d builds, drained %d times, code %d", p.build, p.drains, sum.Code())
	}
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple banana")
	equal(t, "drained", []string{"Apple", "Banana"}, p.out)
	equal(t, "calls", []string(nil), p.calls)
}

func TestRetryAsksAgain(t *testing.T) {
	t.Parallel()
	p := &plant{bad: map[string]error{"no": pipeline.Reject(schemas.NoCode, "x")}}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "no")
	if err := s.Retry("check", "no"); err != nil {
		t.Fatal(err)
	}
	p.bad = nil
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "no")
	equal(t, "after retry", []string{"No"}, p.out)
}

// A reject says its reason and what was found, each once.
func TestRejectedText(t *testing.T) {
	r := pipeline.Reject(schemas.NoCode, "only %s", "docs")
	if got := r.Detail(); got != "only docs" {
		t.Errorf("detail: %q", got)
	}
	if got, want := r.Error(), string(schemas.NoCode)+": only docs"; got != want {
		t.Errorf("error: %q, want %q", got, want)
	}
}
