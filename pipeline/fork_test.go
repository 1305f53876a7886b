package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline"
)

// repo is a seed of two kinds of words: those of letters in Kinds are made of it.
type repo struct{ Name, Kinds string }

func (r repo) ID() string { return r.Name }

type crawler struct{}

func (crawler) Run(_ context.Context, r repo) (repo, error) { return r, nil }

// miner makes two words of a repository.
type miner struct{ suffix string }

func (m miner) Run(_ context.Context, r repo) ([]word, error) {
	return []word{{r.Name + "-1" + m.suffix}, {r.Name + "-2" + m.suffix}}, nil
}

// forked is a plan of two kinds: crawl → harvest → link for repositories with an f, crawl
// → mask for those with an l, and prove for what both make.
func forked(s *sink, version, suffix string) *pipeline.Plan {
	wants := func(kind string) func(repo) bool {
		return func(r repo) bool { return strings.Contains(r.Kinds, kind) }
	}
	o := pipeline.Options{Version: version}
	crawled := pipeline.Then(pipeline.New[repo](), "crawl", pipeline.Stage[repo, repo](crawler{}), pipeline.Options{})
	changes := pipeline.Expand(pipeline.Where(crawled, wants("f")), "harvest", pipeline.Expander[repo, word](miner{}), o)
	linked := pipeline.Then(changes, "link", pipeline.Stage[word, word](then(same)), o)
	masked := pipeline.Expand(pipeline.Where(crawled, wants("l")), "mask", pipeline.Expander[repo, word](miner{suffix}), o)
	proved := pipeline.Share(pipeline.Merge(linked, masked), "prove", pipeline.Sharer[word, built, word](share{
		key:   func(w word) string { return w.Text[:1] },
		build: func(_ context.Context, w word) (built, error) { return built{w.Text[:1]}, nil },
		run:   func(_ context.Context, w word, _ built) (word, error) { return w, nil },
	}), pipeline.Options{Reads: []string{"crawl"}})
	return pipeline.Drain(proved, "export", pipeline.Drainer[word](drain(s.drain)), pipeline.Options{})
}

func TestForkedPlan(t *testing.T) {
	t.Parallel()
	s, out := open(t), &sink{}
	both, feature, other := repo{"a", "fl"}, repo{"a", "f"}, repo{"b", "l"}
	for _, c := range []struct {
		what, version, until string
		seeds                []pipeline.Record
		want                 string
	}{
		{"until is by what leads to it", "1", "mask", []pipeline.Record{both, other}, "crawl++ mask++ :"},
		{"the rest", "1", "", []pipeline.Record{both, other}, "harvest+ link++ prove++++++ export+ : a-1 a-1L a-2 a-2L b-1L b-2L"},
		{"again", "1", "", []pipeline.Record{both, other}, ":"},
		{"a branch beside stands", "2", "mask", []pipeline.Record{both, other}, "mask++ :"},
		{"and is done by the run that comes to it", "2", "", []pipeline.Record{both, other}, "harvest+ link++ :"},
		{"a kind is withdrawn", "2", "", []pipeline.Record{feature, other}, "crawl+ harvest+ export+ : a-1 a-2 b-1L b-2L"},
		{"and comes back", "2", "", []pipeline.Record{both, other}, "crawl+ harvest+ export+ : a-1 a-1L a-2 a-2L b-1L b-2L"},
		{"a record that nobody takes", "2", "", []pipeline.Record{repo{"a", "x"}, other}, "crawl failed crawl+ export+ : b-1L b-2L"},
	} {
		out.got = nil
		sum, err := forked(out, c.version, "L").Run(t.Context(), s, c.seeds, silent{}, pipeline.RunOptions{Now: time.Now, Slots: 4, Until: c.until})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.what, c.want, told(sum, out))
	}
	step, _, err := s.Step("crawl", "a")
	if err != nil || !strings.Contains(step.Detail, "no stage behind crawl takes a") {
		t.Errorf("%q, %v", step.Detail, err)
	}
}

// told is which stages failed and executed something, and what was drained.
func told(sum pipeline.Summary, out *sink) string {
	var words []string
	for _, c := range sum.Stages {
		if c.Failed > 0 {
			words = append(words, c.Stage+" failed")
		}
		if c.Executed > 0 {
			words = append(words, c.Stage+strings.Repeat("+", c.Executed))
		}
	}
	return strings.Join(append(append(words, ":"), out.got...), " ")
}

// Branches that make one key: the second step is Failed, whichever it is.
func TestBranchesThatContest(t *testing.T) {
	t.Parallel()
	s, out := open(t), &sink{}
	sum, err := forked(out, "1", "").Run(t.Context(), s, []pipeline.Record{repo{"a", "fl"}}, silent{}, pipeline.RunOptions{Now: time.Now, Slots: 4})
	if err != nil || sum.Code() != 1 {
		t.Fatalf("code %d, %v", sum.Code(), err)
	}
	equal(t, "drained", []string{"a-1", "a-2"}, out.got)
}

func TestForksAreChecked(t *testing.T) {
	t.Parallel()
	stage := func(f pipeline.Flow[word], name string, reads ...string) pipeline.Flow[word] {
		return pipeline.Then(f, name, pipeline.Stage[word, word](then(same)), pipeline.Options{Reads: reads})
	}
	all := func(word) bool { return true }
	for name, c := range map[string]struct {
		build func(first pipeline.Flow[word]) pipeline.Flow[word]
		want  string
	}{
		"right": {func(f pipeline.Flow[word]) pipeline.Flow[word] {
			return stage(pipeline.Merge(pipeline.Where(pipeline.Where(f, all), all), stage(f, "left", "first")), "x", "left")
		}, ""},
		"nobody_takes": {func(f pipeline.Flow[word]) pipeline.Flow[word] { stage(f, "left"); return stage(f, "x") }, "no stage takes what stage left makes"},
		"taken_twice": {func(f pipeline.Flow[word]) pipeline.Flow[word] {
			return stage(pipeline.Merge(f, pipeline.Where(f, all)), "x")
		}, "stage x takes what first makes twice"},
		"two_plans": {func(f pipeline.Flow[word]) pipeline.Flow[word] {
			return stage(pipeline.Merge(f, stage(pipeline.New[word](), "y")), "x")
		}, "of two plans"},
		"reads_a_branch": {func(f pipeline.Flow[word]) pipeline.Flow[word] {
			return pipeline.Merge(stage(f, "left"), stage(f, "x", "left"))
		}, "stage x reads left, which does not lead to it"},
	} {
		plan := pipeline.Drain(c.build(stage(pipeline.New[word](), "first")), "end", pipeline.Drainer[word](drain(nil)), pipeline.Options{})
		if err := plan.Check(); err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	seeds := pipeline.New[word]()
	stage(seeds, "one")
	plan := pipeline.Drain(stage(pipeline.Where(seeds, all), "two"), "end", pipeline.Drainer[word](drain(nil)), pipeline.Options{})
	for _, want := range []string{"stages one and two both take the seeds", "one stage takes all seeds"} {
		if err := plan.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
