package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// settings are what a model stage is made of.
type settings struct{ Prompt, Model, Tool string }

// item is what the stages of shape pass on.
type item struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Letter string `json:"letter,omitempty"`
}

func (i item) ID() string { return i.Name }

// shape is a plan with one stage of each kind, and all that its fingerprints are
// made of.
type shape struct {
	version  map[string]string
	config   settings
	suffix   string // of filter's output
	reword   string // of expand's output, in a field that work does not depend on
	got      []string
	executed map[string]int
	mu       sync.Mutex
}

func (s *shape) ran(stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executed[stage]++
}

type (
	shapeExpand struct{ *shape }
	shapeFilter struct{ *shape }
	shapeShare  struct{ *shape }
	shapeWork   struct{ *shape }
	shapeDrain  struct{ *shape }
)

func (s shapeExpand) Run(_ context.Context, in item) ([]item, error) {
	s.ran("expand")
	var out []item
	for i := range 20 {
		out = append(out, item{Name: fmt.Sprintf("%s-%02d", in.Name, i), Text: s.reword})
	}
	return out, nil
}

func (s shapeFilter) Run(_ context.Context, in item) (item, error) {
	s.ran("filter")
	if strings.HasSuffix(in.Name, "7") {
		return in, pipeline.Reject(schemas.NoCode, "seven")
	}
	in.Text = in.Name + s.suffix
	return in, nil
}

func (s shapeFilter) Depends(in item) any { return in.Name }

func (shapeShare) Key(in item) string { return in.Name[len(in.Name)-1:] }
func (s shapeShare) Build(_ context.Context, in item) (built, error) {
	s.ran("share.build")
	return built{in.Name[len(in.Name)-1:]}, nil
}

func (s shapeShare) Run(_ context.Context, in item, b built) (item, error) {
	s.ran("share")
	in.Letter = b.Letter
	return in, nil
}

func (s shapeWork) Run(ctx context.Context, in item) (item, error) {
	s.ran("work")
	pipeline.Provide(ctx, s.config)
	pipeline.Charge(ctx, 0.25)
	pipeline.Charge(ctx, 0.5)
	in.Text = strings.ToUpper(in.Text)
	return in, nil
}

func (s shapeDrain) Run(_ context.Context, in iter.Seq2[item, error], e pipeline.Ended) error {
	s.ran("end")
	s.got = nil
	for i, err := range in {
		if err != nil {
			return err
		}
		s.got = append(s.got, i.Text+i.Letter)
	}
	for step, err := range e.Steps {
		if err != nil {
			return err
		}
		s.got = append(s.got, step.Key+string(step.Reason))
	}
	return nil
}

func (s *shape) plan() *pipeline.Plan {
	o := func(stage string) pipeline.Options { return pipeline.Options{Version: s.version[stage]} }
	expanded := pipeline.Expand(pipeline.New[item](), "expand", pipeline.Expander[item, item](shapeExpand{s}), o("expand"))
	filtered := pipeline.Then(expanded, "filter", pipeline.Stage[item, item](shapeFilter{s}), o("filter"))
	shared := pipeline.Share(filtered, "share", pipeline.Sharer[item, built, item](shapeShare{s}), o("share"))
	work := o("work")
	work.Config, work.Reads = s.config, []string{"expand"}
	worked := pipeline.Then(shared, "work", pipeline.Stage[item, item](shapeWork{s}), work)
	return pipeline.Drain(worked, "end", pipeline.Drainer[item](shapeDrain{s}), o("end"))
}

// TestRedoIsExactlyAsPredicted: engine, test 5: 3 seeds make 60 items; six of them
// (…7) are rejected; nine letters share a build.
func TestRedoIsExactlyAsPredicted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*shape)
		want   map[string]int
	}{
		"nothing":        {func(*shape) {}, map[string]int{}},
		"version_expand": {func(s *shape) { s.version["expand"] = "2" }, map[string]int{"expand": 3}},
		"version_filter": {func(s *shape) { s.version["filter"] = "2" }, map[string]int{"filter": 60}},
		"version_share":  {func(s *shape) { s.version["share"] = "2" }, map[string]int{"share": 54, "share.build": 9}},
		"version_drain":  {func(s *shape) { s.version["end"] = "2" }, map[string]int{"end": 1}},
		"prompt":         {func(s *shape) { s.config.Prompt = "sha256:other" }, map[string]int{"work": 54}},
		"model":          {func(s *shape) { s.config.Model = "other" }, map[string]int{"work": 54}},
		"tool":           {func(s *shape) { s.config.Tool = "other" }, map[string]int{"work": 54}},
		"other_output": {func(s *shape) { s.version["filter"], s.suffix = "2", "!" },
			map[string]int{"filter": 60, "share": 54, "work": 54, "end": 1}},
		// Filter does not depend on the text; work reads it beside its input.
		"output_read_elsewhere": {func(s *shape) { s.version["expand"], s.reword = "2", "told otherwise" },
			map[string]int{"expand": 3, "work": 54}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(s *shape, st pipeline.Store) {
				t.Helper()
				s.executed = map[string]int{}
				sum, err := s.plan().Run(t.Context(), st, []pipeline.Record{item{Name: "a"}, item{Name: "b"}, item{Name: "c"}}, silent{}, pipeline.RunOptions{Slots: 8, Now: time.Now})
				if err != nil || sum.Code() != 0 {
					t.Fatalf("%v, code %d", err, sum.Code())
				}
			}
			s := &shape{version: map[string]string{}}
			st := open(t)
			run(s, st)
			c.change(s)
			run(s, st)
			// Another drain is no fault where a stage was done again: what stands beside
			// the results may be another.
			if c.want["end"] == 0 && len(c.want) > 0 {
				delete(s.executed, "end")
			}
			equal(t, "executed", c.want, s.executed)
			kept := s.got
			run(s, open(t))
			equal(t, "the dataset of a fresh run", s.got, kept)
		})
	}
}

func TestProvenanceStandsBesideTheResult(t *testing.T) {
	t.Parallel()
	s, st := &shape{version: map[string]string{}, config: settings{Prompt: "sha256:one", Model: "m"}, executed: map[string]int{}}, open(t)
	if _, err := s.plan().Run(t.Context(), st, []pipeline.Record{item{Name: "a"}}, silent{}, pipeline.RunOptions{Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	step, _, err := st.Step("work", "a-01")
	var got settings
	if err != nil || json.Unmarshal(step.Provenance, &got) != nil || got != s.config || step.Cost != 0.75 {
		t.Errorf("provenance %s, cost %v, %v", step.Provenance, step.Cost, err)
	}
}

// TestOneBuildForAThousand: engine, test 11; more of them than a page of the drain.
func TestOneBuildForAThousand(t *testing.T) {
	t.Parallel()
	var builds atomic.Int32
	var words []string
	for i := range 1100 {
		words = append(words, fmt.Sprintf("w%04d", i))
	}
	out := &sink{}
	flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	flow = pipeline.Then(flow, "arrive", pipeline.Stage[word, word](then(same)), pipeline.Options{}) // members come while the build ends
	flow = pipeline.Share(flow, "env", pipeline.Sharer[word, built, word](share{
		key:   func(word) string { return "one" },
		build: func(context.Context, word) (built, error) { builds.Add(1); return built{"x"}, nil },
		run:   func(_ context.Context, in word, b built) (word, error) { return word{in.Text + b.Letter}, nil },
	}), pipeline.Options{})
	plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
	s := open(t)
	sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 16}, strings.Join(words, " "))
	if builds.Load() != 1 || len(out.got) != 1100 || sum.Code() != 0 {
		t.Errorf("%d builds, %d drained, code %d", builds.Load(), len(out.got), sum.Code())
	}
	tallies, err := s.Tallies(t.Context())
	for _, x := range tallies {
		if err != nil || x.N > 0 && (x.State == schemas.StepWaiting || x.State == schemas.StepReady || x.State == schemas.StepRunning) {
			t.Errorf("%d of %s are %s", x.N, x.Stage, x.State)
		}
	}
}

// TestBadBuildEndsItsMembers: what a build comes to is each member's end.
func TestBadBuildEndsItsMembers(t *testing.T) {
	t.Parallel()
	var fail error
	builds, out := 0, &sink{}
	flow := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	flow = pipeline.Share(flow, "env", pipeline.Sharer[word, built, word](share{
		key:   func(word) string { return "one" },
		build: func(context.Context, word) (built, error) { builds++; return built{"x"}, fail },
		run:   func(_ context.Context, in word, b built) (word, error) { return in, nil },
	}), pipeline.Options{})
	plan := pipeline.Drain(flow, "end", pipeline.Drainer[word](drain(out.drain)), pipeline.Options{})
	s := open(t)
	for _, c := range []struct {
		err            error
		builds         int
		failed, done   int
		rejected, late int
		code           int
	}{
		{errors.New("disk full"), 1, 3, 0, 0, 0, 1},
		{&pipeline.Deferred{Resource: "registry", Err: errors.New("503")}, 1, 0, 0, 0, 3, 3}, // a failed one is tried again
	} {
		builds, fail = 0, c.err
		sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 2}, "a b c")
		n := count(sum, "env")
		if builds != c.builds || n.Failed != c.failed || n.Done != c.done || n.Deferred != c.late || sum.Code() != c.code {
			t.Errorf("%v: %d builds, %+v, code %d", c.err, builds, n, sum.Code())
		}
	}
}

// TestDrainSeesWhatChangedMeanwhile: engine, test 15.
func TestDrainSeesWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := open(t)
	text := "old"
	var drained [][]string
	words := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	worked := pipeline.Then(words, "work", pipeline.Stage[word, word](then(func(_ context.Context, in word) (word, error) {
		return word{in.Text + text}, nil
	})), pipeline.Options{})
	plan := pipeline.Drain(worked, "end", pipeline.Drainer[word](drain(func(_ context.Context, in iter.Seq2[word, error], _ pipeline.Ended) error {
		var got []string
		for w, err := range in {
			if err != nil {
				return err
			}
			got = append(got, w.Text)
		}
		if drained = append(drained, got); len(drained) == 1 {
			text = "new"
			return s.Retry("work", "a") // somebody asks for it while the dataset is written
		}
		return nil
	})), pipeline.Options{})
	sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 4}, "a b")
	equal(t, "drained", [][]string{{"aold", "bold"}, {"anew", "bold"}}, drained)
	if !sum.Drained || sum.Code() != 0 {
		t.Errorf("drained %t, code %d", sum.Drained, sum.Code())
	}
}

// TestDrainIsDoneAgainAfterAnInterruption: engine, test 15: the same bytes.
func TestDrainIsDoneAgainAfterAnInterruption(t *testing.T) {
	t.Parallel()
	s, out := open(t), &sink{}
	ctx, cancel := context.WithCancel(t.Context())
	words := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	plan := pipeline.Drain(words, "end", pipeline.Drainer[word](drain(func(inner context.Context, in iter.Seq2[word, error], e pipeline.Ended) error {
		err := out.drain(inner, in, e)
		if out.runs == 1 {
			cancel()
			<-inner.Done()
			return inner.Err()
		}
		return err
	})), pipeline.Options{})
	if sum := mustRun(t, ctx, plan, s, silent{}, pipeline.RunOptions{}, "b a"); sum.Code() != 130 || sum.Drained {
		t.Errorf("code %d, drained %t", sum.Code(), sum.Drained)
	}
	before := out.got
	if sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "b a"); sum.Code() != 0 || !sum.Drained {
		t.Errorf("code %d, drained %t", sum.Code(), sum.Drained)
	}
	equal(t, "drained again", before, out.got)
	// Nothing has changed: nothing is done, unless it is asked for.
	mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "b a")
	mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Redrain: true}, "b a")
	if out.runs != 3 {
		t.Errorf("drained %d times", out.runs)
	}
}

func TestFailedDrainIsTheRunsError(t *testing.T) {
	t.Parallel()
	s, bad := open(t), true
	words := pipeline.Expand(pipeline.New[word](), "words", pipeline.Expander[word, word](expand(fields)), pipeline.Options{})
	plan := pipeline.Drain(words, "end", pipeline.Drainer[word](drain(func(context.Context, iter.Seq2[word, error], pipeline.Ended) error {
		if bad {
			return errors.New("disk full")
		}
		return nil
	})), pipeline.Options{})
	sum, err := plan.Run(t.Context(), s, records("a"), silent{}, pipeline.RunOptions{Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "end: disk full") || sum.Drained || sum.Code() != 1 {
		t.Errorf("%v, drained %t, code %d", err, sum.Drained, sum.Code())
	}
	bad = false
	if sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "a"); !sum.Drained || sum.Code() != 0 {
		t.Errorf("drained %t, code %d", sum.Drained, sum.Code())
	}
}

// TestAnswersAreNotAskedForTwice: engine, test 16: the process dies between a
// provider's answer and the end of the step.
func TestAnswersAreNotAskedForTwice(t *testing.T) {
	t.Parallel()
	dir, out, asked := t.TempDir(), &sink{}, 0
	start := func(crash func(string) error) (*store.Store, *pipeline.Plan) {
		s, err := store.Open(t.Context(), dir, store.Options{Crash: crash})
		if err != nil {
			t.Fatal(err)
		}
		request := schemas.DigestBytes([]byte("what is it?"))
		return s, line(then(func(ctx context.Context, in word) (word, error) {
			a, err := s.Intend(ctx, request)
			if err != nil {
				return in, err
			}
			if !a.Answered {
				asked++
				if a.Blob, err = s.Blobs.Put([]byte("an answer")); err != nil {
					return in, err
				}
				if err := s.Pay(ctx, pipeline.Payment{Request: request, Answer: &a}); err != nil {
					return in, err
				}
			}
			text, err := s.Blobs.Get(a.Blob)
			return word{string(text)}, err
		}), pipeline.Options{}, out)
	}
	answered := false
	s, plan := start(func(point string) error {
		answered = answered || point == "pay/after"
		if answered && point == "settle/before" {
			return errors.New("killed")
		}
		return nil
	})
	if _, err := plan.Run(t.Context(), s, records("a"), silent{}, pipeline.RunOptions{Now: time.Now}); err == nil || out.runs > 0 {
		t.Fatalf("the store died and the run did not: %v", err)
	}
	_ = s.Close() // as the end of the process does
	s, plan = start(nil)
	defer func() { _ = s.Close() }()
	mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{}, "a")
	equal(t, "drained", []string{"an answer"}, out.got)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// TestOnlyTheGuiltySettlementFails: a group that the store refuses is settled one
// by one.
func TestOnlyTheGuiltySettlementFails(t *testing.T) {
	t.Parallel()
	s, out := refusing{virtual(t)}, &sink{}
	gate := make(chan struct{})
	plan := line(then(func(_ context.Context, in word) (word, error) {
		<-gate
		return in, nil
	}), pipeline.Options{}, out)
	var words []string
	for i := range 40 {
		words = append(words, fmt.Sprintf("w%02d", i))
	}
	time.AfterFunc(50*time.Millisecond, func() { close(gate) })
	sum := mustRun(t, t.Context(), plan, s, silent{}, pipeline.RunOptions{Slots: 64}, "odd "+strings.Join(words, " "))
	equal(t, "drained", words, out.got)
	if n := count(sum, "work"); n.Failed != 1 || n.Done != 40 {
		t.Errorf("%+v", n)
	}
	if step, _, _ := s.Step("work", "odd"); !strings.Contains(step.Detail, "storing the result") {
		t.Errorf("detail %q", step.Detail)
	}
}

// refusing is a store that takes no group with an odd record of work.
type refusing struct{ *store.Store }

func (r refusing) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	for _, s := range all {
		if len(s.Outputs) == 1 && s.Outputs[0].Key == "odd" {
			return nil, errors.New("a record too odd")
		}
	}
	return r.Store.Settle(ctx, all)
}

// TestFaultsOfTheStoreEndTheRun: whichever method it is, the run ends with the
// cause, and the next one makes the same of it.
func TestFaultsOfTheStoreEndTheRun(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Begin", "Seed", "Claim", "ClaimSuspect", "Settle", "Due", "Resources", "Tallies", "Built", "Held", "Ended", "Pause", "Leave"} {
		for at := 1; at <= 40; at += 3 {
			p, s, calls := &plant{bad: map[string]error{"later": &pipeline.Deferred{Resource: "r", Until: time.Now().Add(time.Hour), Err: errors.New("429")}}}, &faulty{Store: virtual(t)}, 0
			broken := errors.New("broken pipe")
			s.fail = func(m string) error {
				if m == method {
					if calls++; calls == at || method == "Settle" && calls > at {
						return broken
					}
				}
				return nil
			}
			sum, err := p.plan("1").Run(t.Context(), s, records("apple later banana", "zoo avocado"), silent{}, pipeline.RunOptions{Now: time.Now, Slots: 3})
			if calls < at {
				break // it was never called so often
			}
			if err == nil && sum.Code() != 1 && sum.Code() != 3 { // a drain or a stage may have got the fault
				t.Errorf("%s, call %d: ended with code %d and no error", method, at, sum.Code())
			}
			s.fail, p.bad = nil, nil
			_ = s.Store.Retry("check", "later") // where it came so far
			if sum := run(t, t.Context(), p, s, "1", pipeline.RunOptions{Slots: 3}, "apple later banana", "zoo avocado"); sum.Code() != 0 || !sum.Drained {
				t.Errorf("%s, call %d: resumed with code %d: %+v", method, at, sum.Code(), sum)
			}
			equal(t, fmt.Sprintf("%s, call %d: drained", method, at), []string{"Apple", "Avocado", "Banana", "Later"}, p.out)
		}
	}
}

// TestOrderOfWorkDecidesNothing: the same dataset and the same ends, however many
// work on it.
func TestOrderOfWorkDecidesNothing(t *testing.T) {
	t.Parallel()
	var want []string
	for _, slots := range []int{1, 2, 7, 64} {
		s := &shape{version: map[string]string{}, executed: map[string]int{}}
		if _, err := s.plan().Run(t.Context(), open(t), []pipeline.Record{item{Name: "a"}, item{Name: "b"}}, silent{}, pipeline.RunOptions{Slots: slots, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = slices.Clone(s.got)
		}
		equal(t, fmt.Sprintf("with %d slots", slots), want, s.got)
	}
}

func TestLiveKnowsWhatRuns(t *testing.T) {
	t.Parallel()
	j, gate, out := newJournal(), make(chan struct{}), &sink{}
	live := pipeline.NewLive(j, time.Now)
	var seen []pipeline.Running
	plan := line(then(func(ctx context.Context, in word) (word, error) {
		pipeline.Doing(ctx, "half of %s", in.Text)
		if in.Text == "b" {
			seen = live.Running()
			close(gate)
		}
		<-gate
		return in, nil
	}), pipeline.Options{}, out)
	begun := time.Now()
	mustRun(t, t.Context(), plan, open(t), live, pipeline.RunOptions{Slots: 4}, "a b")
	names := []string{}
	for _, r := range seen {
		if r.Since.Before(begun) {
			t.Errorf("%s runs since %s", r.Key, r.Since)
		}
		if r.Key == "b" && r.Doing != "half of b" {
			t.Errorf("b is doing %q", r.Doing)
		}
		names = append(names, r.Stage+"/"+r.Key)
	}
	pipeline.Doing(t.Context(), "a step of no run") // says nothing, and may be called
	if !slices.Contains(names, "work/b") || len(live.Running()) != 0 {
		t.Errorf("saw %v, at the end %v", names, live.Running())
	}
	for _, stage := range []string{"words", "work", "end"} {
		if len(j.ends[stage]) == 0 {
			t.Errorf("no end of %s was passed on", stage)
		}
	}
}

// TestSuspectsRunAlone: what ran when the process died runs one at a time, and is
// Failed only after five deaths over it alone.
func TestSuspectsRunAlone(t *testing.T) {
	t.Parallel()
	out, dir := &sink{}, storetest.Dir(t)
	deaths, most := 0, 0
	var s *store.Store
	for ; deaths < 20; deaths++ {
		var dead atomic.Bool
		if s != nil {
			_ = s.Close()
		}
		var err error
		s, err = store.Open(t.Context(), dir, store.Options{Crash: func(string) error {
			if dead.Load() { // from here on nothing that this process says counts
				return errors.New("killed")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		running, suspects := 0, 0
		ctx, cancel := context.WithCancel(t.Context())
		plan := line(then(func(inner context.Context, in word) (word, error) {
			step, _, _ := s.Step("work", in.Text)
			mu.Lock()
			running++
			if step.Crashes > 0 {
				suspects++
				most = max(most, suspects)
			}
			mu.Unlock()
			if in.Text == "poison" {
				dead.Store(true)
				cancel()
				<-inner.Done()
				return in, inner.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			if step.Crashes > 0 {
				suspects--
			}
			return in, nil
		}), pipeline.Options{}, out)
		o := pipeline.RunOptions{Now: time.Now, Slots: 4, Worker: fmt.Sprint("run", deaths)}
		_, err = plan.Run(ctx, s, records("a poison b c d e f g h"), silent{}, o)
		cancel()
		if !errors.Is(err, store.ErrDead) {
			break
		}
	}
	defer func() { _ = s.Close() }()
	step, _, _ := s.Step("work", "poison")
	if deaths != 5 || step.State != schemas.StepFailed || step.Reason != schemas.Crashed || most > 1 {
		t.Errorf("%d deaths, %s %s, %d suspects at once", deaths, step.State, step.Reason, most)
	}
	equal(t, "bystanders", []string{"a", "b", "c", "d", "e", "f", "g", "h"}, out.got)
}

// losing is a store to which a step is given back before its first result comes.
type losing struct {
	*store.Store
	done bool
}

func (l *losing) Settle(ctx context.Context, all []pipeline.Settlement) ([]pipeline.Settled, error) {
	if !l.done && all[0].Outputs != nil && all[0].Outputs[0].Key == "stale" {
		l.done = true
		if err := l.Release(ctx, all[0].Owner, []int64{all[0].ID}); err != nil {
			return nil, err
		}
	}
	return l.Store.Settle(ctx, all)
}

// TestResultOfALostStepIsDropped: a step that is no longer its run's when it ends is done
// again: what its first run brings counts for nothing.
func TestResultOfALostStepIsDropped(t *testing.T) {
	t.Parallel()
	s, out, j, calls := &losing{Store: virtual(t)}, &sink{}, newJournal(), 0
	plan := line(then(func(_ context.Context, in word) (word, error) {
		if calls++; calls == 1 {
			return word{"stale"}, nil
		}
		return word{"new"}, nil
	}), pipeline.Options{}, out)
	sum := mustRun(t, t.Context(), plan, s, j, pipeline.RunOptions{}, "a")
	equal(t, "drained", []string{"new"}, out.got)
	equal(t, "ends", []schemas.StepState{schemas.StepInterrupted, schemas.StepDone}, j.ends["work"])
	if n := count(sum, "work").Executed; n != 1 {
		t.Errorf("%d executed", n)
	}
}
