// Package score turns grades into figures and files: the metrics of the published systems, a
// report as SWE-bench's own, a line for each prediction, and RES-Q's results.
//
// It never runs anything and never changes a verdict: every figure is a pure function of
// grades and of what their tasks are.
package score

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Task is what figures need to know of a task.
type Task struct {
	Instance  string
	Language  string
	Kind      schemas.Kind
	Repo      string
	CreatedAt time.Time
	Files     []string // code files of the gold patch
	Lines     int      // added and removed lines of code of the gold patch
	RepoFiles int      // source files of the base tree
	RepoLines int
	// Domain is that of the list which the repository came from, Release that of a dataset which is one, and Split the
	// data file of the task; "" where there is none.
	Domain, Release, Split string
	// Part is that of a release in which the task came: public, held_out or private.
	Part string `json:",omitempty"`
	// Framework, Category and Variant are those of a service. The variant is schemas.VariantEnv where the solver makes the
	// environment.
	Framework, Category, Variant string
	// Endpoints are the judged tests of each endpoint of a service's group.
	Endpoints map[string][]string `json:",omitempty"`
	// ZeroWork is the share of the tests that count which pass with nothing done, 0 to 1; of a
	// library only.
	ZeroWork float64
	// Specification is what that of a library is made of: docs, readme or signatures.
	Specification string `json:",omitempty"`
	// Counted are the tests of PASS_TO_PASS that count for a slice of a library; nil where all do.
	Counted *schemas.Counted `json:",omitempty"`
}

// Answer is a graded prediction beside its task.
type Answer struct {
	Task   Task
	Grade  schemas.Grade
	Review Review // of a person
}

// Metrics are the figures of a model over some tasks: those of the dataset, or a part of them. Each task counts once, however
// many answers it has, and one without an answer counts as one that is not resolved.
type Metrics struct {
	Tasks       int `json:"tasks"`
	Answered    int `json:"answered"` // tasks with an answer
	Predictions int `json:"predictions"`
	// Resolved: every test of both lists passes (SWE-bench; FeatBench Resolved%).
	Resolved Share `json:"resolved"`
	// PooledError is the standard error of Resolved as ABC-Bench's Table 2 gives it (its ±): each answer counts as if it were
	// of another task. With several answers a task it is too small; the interval of Resolved is not.
	PooledError float64 `json:"pooled_standard_error"`
	// Runs are the rates of tasks resolved by the first, second, … sample of each; nil where no task has two. A task that has answers,
	// but no such sample, is not in the rate; one without any answer is.
	Runs []float64 `json:"runs,omitempty"`
	// Applied: the patch applies (FeatBench Applied%). An empty patch does not.
	Applied Share `json:"applied"`
	// FV and RT are FeatBench's feature validation and regression tests in both readings:
	// tasks whose whole FAIL_TO_PASS (PASS_TO_PASS) list passes, and the mean share of the list
	// that passes; an answer that was not run has none.
	FV     Share   `json:"fv"`
	FVRate float64 `json:"fv_rate"`
	RT     Share   `json:"rt"`
	RTRate float64 `json:"rt_rate"`
	// File: the code files of the answer are those of the gold patch (FeatBench File%), and
	// the means of precision and recall over answers, with none for tasks without one.
	File          Share   `json:"file"`
	FilePrecision float64 `json:"file_precision"`
	FileRecall    float64 `json:"file_recall"`
	MeanEffort
	// PassAt is the unbiased pass@k (Chen et al. 2021) by k, for each k up to the most samples of a task: the mean over
	// tasks with at least k samples, and those without an answer.
	PassAt   map[int]Estimate        `json:"pass_at"`
	Verdicts map[schemas.Verdict]int `json:"verdicts"`
	// Errors counts the answers that are not resolved by what went wrong, in the classes of ABC-Bench's Table 5.
	Errors map[schemas.ErrorClass]int `json:"errors"`
	// Causes counts them by why they are not resolved (FeatBench's Figure 9).
	Causes   map[Cause]int `json:"causes"`
	Tampered int           `json:"tampered"`
	// ToReview counts the predictions that pass and use what can reach the tests' own process.
	ToReview int `json:"to_review"`
	// Mended and LeftOut count predictions whose text had to be mended, and those that name files without
	// their content.
	Mended  int      `json:"mended"`
	LeftOut int      `json:"left_out"`
	Memory  *Memory  `json:"memory,omitempty"`  // nil where no answer is compared
	Library *Library `json:"library,omitempty"` // nil where no task is one
	Service *Service `json:"service,omitempty"` // likewise
}

// MeanEffort is what answers took: means over the predictions that say it, 0 where none does.
type MeanEffort struct {
	Tokens       float64 `json:"tokens"`
	InputTokens  float64 `json:"input_tokens"`
	OutputTokens float64 `json:"output_tokens"`
	Turns        float64 `json:"turns"`
	Cost         float64 `json:"cost"`       // dollars
	TotalCost    float64 `json:"total_cost"` // dollars, of all predictions that say it
}

// ks are the k of pass@k.
var ks = []int{1, 2, 3, 5, 10, 20, 50, 100}

// answers are those of each task.
type answers struct {
	tasks []Task
	of    map[string][]Answer
}

func group(tasks []Task, all []Answer) answers {
	g := answers{tasks: tasks, of: map[string][]Answer{}}
	for _, a := range all {
		g.of[a.Task.Instance] = append(g.of[a.Task.Instance], a)
	}
	return g
}

// share is how often something holds: of a task the share of its answers, and of one without an answer 0.
func (g answers) share(holds func(Answer) bool) Share {
	var s Share
	rates := make([]float64, len(g.tasks))
	for i, t := range g.tasks {
		part := 0
		for _, a := range g.of[t.Instance] {
			part += one(holds(a))
		}
		whole := max(1, len(g.of[t.Instance]))
		s.Part, s.Whole, rates[i] = s.Part+part, s.Whole+whole, float64(part)/float64(whole)
	}
	s.Estimate = clustered(rates, s.Whole)
	return s
}

// mean is the mean over tasks of a figure of their answers, of one without an answer 0.
func (g answers) mean(figure func(Answer) float64) float64 {
	sum := 0.
	for _, t := range g.tasks {
		of := 0.
		for _, a := range g.of[t.Instance] {
			of += figure(a)
		}
		sum += mean(of, len(g.of[t.Instance]))
	}
	return mean(sum, len(g.tasks))
}

// Of gives the figures of answers over tasks.
func Of(tasks []Task, all []Answer) Metrics {
	g := group(tasks, all)
	m := Metrics{
		Tasks: len(tasks), Answered: len(g.of), Predictions: len(all), Resolved: g.share(resolved), Runs: g.runs(),
		Applied: g.share(func(a Answer) bool { return a.Grade.Applied != "" }),
		FV:      g.share(func(a Answer) bool { return full(a.Grade.F2P) }), FVRate: g.mean(func(a Answer) float64 { return rate(a.Grade.F2P) }),
		RT: g.share(func(a Answer) bool { return full(a.Grade.P2P) }), RTRate: g.mean(func(a Answer) float64 { return rate(a.Grade.P2P) }),
		File: g.share(func(a Answer) bool {
			precision, recall := overlap(a.Grade.Files, a.Task.Files)
			return precision == 1 && recall == 1
		}),
		MeanEffort: effortOf(all), PassAt: g.passAt(), Verdicts: map[schemas.Verdict]int{}, Errors: map[schemas.ErrorClass]int{}, Causes: map[Cause]int{}, Memory: memoryOf(all), Library: g.library(), Service: g.service(),
	}
	m.PooledError = math.Sqrt(m.Resolved.Rate * (1 - m.Resolved.Rate) / float64(max(1, m.Resolved.Whole)))
	for _, a := range all {
		g := a.Grade
		m.Verdicts[g.Verdict]++
		if !resolved(a) {
			m.Errors[cmp.Or(g.Class, schemas.ClassOther)]++
			m.Causes[a.cause()]++
		}
		precision, recall := overlap(g.Files, a.Task.Files)
		m.FilePrecision += precision
		m.FileRecall += recall
		m.Tampered += one(len(g.Tampered) > 0)
		m.ToReview += one(resolved(a) && len(g.Uses) > 0)
		m.Mended += one(len(g.Mended) > 0)
		m.LeftOut += one(len(g.Left) > 0)
	}
	m.FilePrecision, m.FileRecall = mean(m.FilePrecision, len(all)), mean(m.FileRecall, len(all))
	return m
}

func resolved(a Answer) bool { return a.Grade.Verdict == schemas.VerdictPass }

// effortOf is what answers took.
func effortOf(all []Answer) (e MeanEffort) {
	of := func(figure func(schemas.Prediction) float64) (sum float64, n int) {
		for _, a := range all {
			if x := figure(a.Grade.Prediction); x > 0 {
				sum, n = sum+x, n+1
			}
		}
		return sum, n
	}
	e.Tokens = mean(of(func(p schemas.Prediction) float64 { return float64(p.Tokens) }))
	e.InputTokens = mean(of(func(p schemas.Prediction) float64 { return float64(p.InputTokens) }))
	e.OutputTokens = mean(of(func(p schemas.Prediction) float64 { return float64(p.OutputTokens) }))
	e.Turns = mean(of(func(p schemas.Prediction) float64 { return float64(p.Turns) }))
	total, n := of(func(p schemas.Prediction) float64 { return p.Cost })
	e.Cost, e.TotalCost = mean(total, n), total
	return e
}

// runs are the rates of each sample; nil where no task has two.
func (g answers) runs() []float64 {
	var solved, of []int
	none := 0
	for _, t := range g.tasks {
		none += one(len(g.of[t.Instance]) == 0)
		for _, a := range g.of[t.Instance] {
			n := a.Grade.Prediction.Sample
			for len(of) <= n {
				solved, of = append(solved, 0), append(of, 0)
			}
			solved[n], of[n] = solved[n]+one(resolved(a)), of[n]+1
		}
	}
	if len(of) < 2 {
		return nil
	}
	out := make([]float64, len(of))
	for n := range of {
		out[n] = mean(float64(solved[n]), of[n]+none)
	}
	return out
}

// passAt is pass@k for each k that a task has samples for.
func (g answers) passAt() map[int]Estimate {
	out := map[int]Estimate{}
	for _, k := range ks {
		var rates []float64
		enough, whole := false, 0
		for _, t := range g.tasks {
			n, passed := len(g.of[t.Instance]), 0
			for _, a := range g.of[t.Instance] {
				passed += one(resolved(a))
			}
			if n > 0 && n < k {
				continue
			}
			r := 0.
			if n > 0 {
				r, enough = PassAt(n, passed, k), true
			}
			rates, whole = append(rates, r), whole+max(1, n)
		}
		if enough {
			out[k] = clustered(rates, whole)
		}
	}
	return out
}

// PassAt is the chance that k of n samples, drawn at random, hold one of the passed ones:
// 1 - C(n-passed, k) / C(n, k) (Chen et al. 2021, equation 1).
func PassAt(n, passed, k int) float64 {
	if n-passed < k {
		return 1
	}
	none := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-passed), int64(k)), new(big.Int).Binomial(int64(n), int64(k)))
	p, _ := new(big.Rat).Sub(big.NewRat(1, 1), none).Float64()
	return p
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func mean(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// full reports whether a list was run and passes whole.
func full(s *schemas.Score) bool { return s != nil && s.Full() }

// rate is the share of a list that passes; an empty list that was run passes.
func rate(s *schemas.Score) float64 {
	switch {
	case s == nil:
		return 0
	case s.Want == 0:
		return 1
	}
	return float64(s.Passed) / float64(s.Want)
}

// overlap is precision and recall of the files of an answer against those of the gold patch;
// 0 where there are none to divide by.
func overlap(got, want []string) (precision, recall float64) {
	hits := 0
	for _, p := range got {
		hits += one(slices.Contains(want, p))
	}
	return mean(float64(hits), len(got)), mean(float64(hits), len(want))
}
