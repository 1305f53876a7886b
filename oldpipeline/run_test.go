package oldpipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	pipeline "github.com/benchmint/benchmint/oldpipeline"
	"github.com/benchmint/benchmint/schemas"
)

type word struct{ Text string }

func (w word) ID() string { return w.Text }

// plant is a small plan: sentences → words → upper-cased words with a shared
// build by first letter → drain.
type plant struct {
	calls  []string
	build  int
	bad    map[string]error
	out    []string
	ends   []string
	prefix string
	cancel func()
}

type split struct{ p *plant }

func (s split) Run(_ context.Context, in word) ([]word, error) {
	s.p.calls = append(s.p.calls, "split "+in.Text)
	var out []word
	for f := range strings.FieldsSeq(in.Text) {
		out = append(out, word{f})
	}
	return out, nil
}

type check struct{ p *plant }

func (c check) Run(_ context.Context, in word) (word, error) {
	c.p.calls = append(c.p.calls, "check "+in.Text)
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
	s.p.build++
	if in.Text == "odd" {
		return built{}, &pipeline.Rejected{Reason: schemas.NoRunner, Own: true}
	}
	if in.Text[:1] == "z" {
		return built{}, reject(schemas.NoBuild, "no %s", "z")
	}
	return built{strings.ToUpper(in.Text[:1])}, nil
}

func (shout) Run(_ context.Context, in word, b built) (word, error) {
	return word{b.Letter + in.Text[1:]}, nil
}

type collect struct{ p *plant }

func (c collect) Run(_ context.Context, in iter.Seq2[word, error], ended pipeline.Ended) error {
	c.p.out, c.p.ends = nil, nil
	for w, err := range in {
		if err != nil {
			return err
		}
		c.p.out = append(c.p.out, w.Text)
	}
	for _, e := range ended.Steps {
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

func run(t *testing.T, ctx context.Context, p *plant, s *store.Store, version string, opts pipeline.RunOptions, seeds ...string) pipeline.Summary {
	t.Helper()
	p.calls, p.build = nil, 0
	opts.Now = func() time.Time { return time.Unix(0, 0) }
	var records []pipeline.Record
	for _, seed := range seeds {
		records = append(records, word{seed})
	}
	sum, err := p.plan(version).Run(ctx, s, records, silent{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunEndsAndReuse(t *testing.T) {
	t.Parallel()
	p := &plant{bad: map[string]error{
		"no":    reject(schemas.NoCode, "nothing in %s", "it"),
		"later": &pipeline.Deferred{Resource: "registry", Err: errors.New("503")},
		"broke": errors.New("disk full"),
		"panic": errors.New("panic"),
	}}
	s := open(t)
	sum := run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple no avocado later banana broke zoo zebra panic")
	if diff := cmp.Diff([]string{"Apple", "Avocado", "Banana"}, p.out); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
	wantEnds := []string{
		"check/broke failed ", "check/later deferred ", "check/no rejected link/no_code", "check/panic failed ",
		"shout/zebra rejected provision/build", "shout/zoo rejected provision/build",
	}
	if diff := cmp.Diff(wantEnds, p.ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if p.build != 3 {
		t.Errorf("%d builds for 3 letters", p.build)
	}
	if sum.Code() != 1 {
		t.Errorf("exit code %d with failed items, want 1", sum.Code())
	}
	// Again: only what failed or was deferred runs, and a rejected build is not tried again.
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple no avocado later banana broke zoo zebra panic")
	if diff := cmp.Diff([]string{"check later", "check broke", "check panic"}, p.calls); diff != "" {
		t.Errorf("second run (-want +got):\n%s", diff)
	}
	if p.build != 0 {
		t.Errorf("second run built %d times", p.build)
	}
}

func TestRunRedoesWhatDependsOnAChange(t *testing.T) {
	t.Parallel()
	p := &plant{}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple banana")
	run(t, t.Context(), p, s, "2", pipeline.RunOptions{}, "apple banana")
	if diff := cmp.Diff([]string{"check apple", "check banana"}, p.calls); diff != "" {
		t.Errorf("new version of check (-want +got):\n%s", diff)
	}
	if p.build != 0 {
		t.Errorf("equal output was built again %d times", p.build) // early cut-off
	}
	p.prefix = "x"
	run(t, t.Context(), p, s, "3", pipeline.RunOptions{}, "apple banana")
	if p.build != 1 {
		t.Errorf("changed output gave %d builds, want 1", p.build)
	}
	if diff := cmp.Diff([]string{"Xapple", "Xbanana"}, p.out); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &plant{cancel: cancel}
	s := open(t)
	sum := run(t, ctx, p, s, "1", pipeline.RunOptions{}, "apple stop banana")
	if sum.Code() != 130 || p.out != nil {
		t.Errorf("code %d, drained %v; want 130 and nothing", sum.Code(), p.out)
	}
	if _, ok, _ := s.Step("check", "stop"); ok {
		t.Error("the interrupted item was stored as settled")
	}
	p.cancel = nil
	sum = run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "apple stop banana")
	if diff := cmp.Diff([]string{"check stop", "check banana"}, p.calls); diff != "" || sum.Code() != 0 {
		t.Errorf("resumed with code %d (-want +got):\n%s", sum.Code(), diff)
	}
}

func TestRunOnlyAndUntil(t *testing.T) {
	t.Parallel()
	p := &plant{}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{Only: map[string]bool{"banana": true}}, "apple banana")
	if diff := cmp.Diff([]string{"split apple banana", "check banana"}, p.calls); diff != "" {
		t.Errorf("only (-want +got):\n%s", diff)
	}
	p = &plant{}
	run(t, t.Context(), p, open(t), "1", pipeline.RunOptions{Until: "check"}, "apple banana")
	if p.build != 0 || p.out != nil {
		t.Errorf("until check: %d builds, drained %v", p.build, p.out)
	}
}

func TestRetryAsksAgain(t *testing.T) {
	t.Parallel()
	p := &plant{bad: map[string]error{"no": reject(schemas.NoCode, "x")}}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "no")
	step, _, err := s.Step("check", "no")
	if err != nil {
		t.Fatal(err)
	}
	step.Again = true
	if err := s.Put(step); err != nil {
		t.Fatal(err)
	}
	p.bad = nil
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "no")
	if diff := cmp.Diff([]string{"No"}, p.out); diff != "" {
		t.Errorf("after retry (-want +got):\n%s", diff)
	}
}

func TestSharedBuildIsNotSettledByOneOddMember(t *testing.T) {
	t.Parallel()
	p := &plant{}
	s := open(t)
	run(t, t.Context(), p, s, "1", pipeline.RunOptions{}, "odd other old")
	if diff := cmp.Diff([]string{"Old", "Other"}, p.out); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shout/odd rejected provision/no_tests_ran"}, p.ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if p.build != 2 {
		t.Errorf("%d builds, want one by the odd member and one for the others", p.build)
	}
}

func reject(reason schemas.Reason, format string, args ...any) error {
	return &pipeline.Rejected{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}
