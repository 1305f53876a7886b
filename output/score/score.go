// Package score turns grades into figures and files: the metrics of the published systems, a
// report as SWE-bench's own, a line for each prediction, and RES-Q's results.
//
// It never runs anything and never changes a verdict: every figure is a pure function of
// grades and of what their tasks are.
package score

import (
	"cmp"
	"maps"
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
	CreatedAt time.Time
	Files     []string // code files of the gold patch
	Lines     int      // added and removed lines of code of the gold patch
	// ZeroWork is the share of the tests that count which pass with nothing done, 0 to 1; of a
	// library only.
	ZeroWork float64
	// Counted are the tests of PASS_TO_PASS that count for a slice of a library; nil where all do.
	Counted *schemas.Counted `json:",omitempty"`
}

// Answer is a graded prediction beside its task.
type Answer struct {
	Task  Task
	Grade schemas.Grade
}

// Share is a part of a whole.
type Share struct {
	Part  int     `json:"part"`
	Whole int     `json:"whole"`
	Rate  float64 `json:"rate"` // 0 where the whole is
	// Low and High bound the rate with 95 % confidence (Wilson 1927); 0 and 1 where
	// nothing is known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z is that of 95 %.
const z = 1.959963984540054

// ShareOf is part of whole, with its Wilson score interval.
func ShareOf(part, whole int) Share {
	s := Share{Part: part, Whole: whole, High: 1}
	if whole == 0 {
		return s
	}
	n, p := float64(whole), float64(part)/float64(whole)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	s.Rate, s.Low, s.High = p, max(0, middle-half), min(1, middle+half)
	return s
}

// Metrics are the figures of some answers: of a model, or of a part of its answers.
type Metrics struct {
	Tasks       int `json:"tasks"`
	Predictions int `json:"predictions"`
	// Resolved: every test of both lists passes (SWE-bench; FeatBench Resolved%).
	Resolved Share `json:"resolved"`
	// Applied: the patch applies (FeatBench Applied%). An empty patch does not.
	Applied Share `json:"applied"`
	// FV and RT are FeatBench's feature validation and regression tests in both readings:
	// predictions whose whole FAIL_TO_PASS (PASS_TO_PASS) list passes, and the mean share
	// of the list that passes; a prediction that was not run has none.
	FV     Share   `json:"fv"`
	FVRate float64 `json:"fv_rate"`
	RT     Share   `json:"rt"`
	RTRate float64 `json:"rt_rate"`
	// File: the code files of the answer are those of the gold patch (FeatBench File%), and
	// the means of precision and recall over answers.
	File          Share   `json:"file"`
	FilePrecision float64 `json:"file_precision"`
	FileRecall    float64 `json:"file_recall"`
	// Tokens and Cost are means over predictions that say them; 0 where none does.
	Tokens float64 `json:"tokens"`
	Cost   float64 `json:"cost"` // dollars
	// PassAt is the unbiased pass@k (Chen et al. 2021) by k: the mean over tasks with at
	// least k samples. PassAtTasks counts these.
	PassAt      map[int]float64         `json:"pass_at"`
	PassAtTasks map[int]int             `json:"pass_at_tasks"`
	Verdicts    map[schemas.Verdict]int `json:"verdicts"`
	Tampered    int                     `json:"tampered"`
	// ToReview counts the predictions that pass and use what can reach the tests' own process.
	ToReview int `json:"to_review"`
	// Mended and LeftOut count predictions whose text had to be mended, and those that name files without
	// their content.
	Mended  int      `json:"mended"`
	LeftOut int      `json:"left_out"`
	Library *Library `json:"library,omitempty"` // nil where no task is one
	Service *Service `json:"service,omitempty"` // likewise
}

// ks are the k of pass@k.
var ks = []int{1, 2, 3, 5, 10, 20, 50, 100}

// Of gives the figures of answers.
func Of(answers []Answer) Metrics {
	m := Metrics{PassAt: map[int]float64{}, PassAtTasks: map[int]int{}, Verdicts: map[schemas.Verdict]int{}, Predictions: len(answers), Library: libraryOf(answers), Service: serviceOf(answers)}
	type samples struct{ n, passed int }
	tasks := map[string]samples{}
	var resolved, applied, fv, rt, file, told, priced int
	for _, a := range answers {
		g := a.Grade
		m.Verdicts[g.Verdict]++
		t := tasks[a.Task.Instance]
		t.n++
		if g.Verdict == schemas.VerdictPass {
			resolved++
			t.passed++
		}
		tasks[a.Task.Instance] = t
		applied += one(g.Applied != "")
		fv += one(full(g.F2P))
		rt += one(full(g.P2P))
		m.FVRate += rate(g.F2P)
		m.RTRate += rate(g.P2P)
		precision, recall := overlap(g.Files, a.Task.Files)
		file += one(precision == 1 && recall == 1)
		m.FilePrecision += precision
		m.FileRecall += recall
		m.Tampered += one(len(g.Tampered) > 0)
		m.ToReview += one(g.Verdict == schemas.VerdictPass && len(g.Uses) > 0)
		m.Mended += one(len(g.Mended) > 0)
		m.LeftOut += one(len(g.Left) > 0)
		if n := g.Prediction.Tokens; n > 0 {
			told, m.Tokens = told+1, m.Tokens+float64(n)
		}
		if c := g.Prediction.Cost; c > 0 {
			priced, m.Cost = priced+1, m.Cost+c
		}
	}
	n := len(answers)
	m.Tasks, m.Resolved, m.Applied, m.FV, m.RT, m.File = len(tasks), ShareOf(resolved, n), ShareOf(applied, n), ShareOf(fv, n), ShareOf(rt, n), ShareOf(file, n)
	m.FVRate, m.RTRate, m.FilePrecision, m.FileRecall = mean(m.FVRate, n), mean(m.RTRate, n), mean(m.FilePrecision, n), mean(m.FileRecall, n)
	m.Tokens, m.Cost = mean(m.Tokens, told), mean(m.Cost, priced)
	for _, k := range ks {
		for _, id := range slices.Sorted(maps.Keys(tasks)) {
			if t := tasks[id]; t.n >= k {
				m.PassAt[k] += PassAt(t.n, t.passed, k)
				m.PassAtTasks[k]++
			}
		}
		if m.PassAtTasks[k] > 0 {
			m.PassAt[k] = mean(m.PassAt[k], m.PassAtTasks[k])
		}
	}
	return m
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

// Part is the figures of the answers that have one value of a breakdown.
type Part struct {
	Value   string  `json:"value"`
	Metrics Metrics `json:"metrics"`
}

// Breakdown is the figures by one property of tasks, in the order of its values.
type Breakdown struct {
	By    string `json:"by"`
	Parts []Part `json:"parts"`
}

// Breakdowns are the figures by language, kind, size of the gold patch (files and lines) and
// date of creation, as FeatBench's Figures 4 to 7 and 9 show them.
func Breakdowns(answers []Answer) []Breakdown {
	var out []Breakdown
	for _, by := range []struct {
		name  string
		value func(Task) (order int, value string)
	}{
		{"language", func(t Task) (int, string) { return 0, t.Language }},
		{"kind", func(t Task) (int, string) { return 0, string(t.Kind) }},
		{"files", func(t Task) (int, string) { return within(len(t.Files), fileBounds) }},
		{"lines", func(t Task) (int, string) { return within(t.Lines, lineBounds) }},
		{"created", func(t Task) (int, string) { return 0, quarter(t.CreatedAt) }},
	} {
		type key struct {
			order int
			value string
		}
		groups := map[key][]Answer{}
		for _, a := range answers {
			order, value := by.value(a.Task)
			groups[key{order, value}] = append(groups[key{order, value}], a)
		}
		b := Breakdown{By: by.name}
		for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.value, b.value))
		}) {
			b.Parts = append(b.Parts, Part{Value: k.value, Metrics: Of(groups[k])})
		}
		out = append(out, b)
	}
	return out
}

// bound is the largest number of a class of sizes, and its name.
type bound struct {
	most int
	name string
}

var (
	fileBounds = []bound{{1, "1"}, {2, "2"}, {3, "3"}, {5, "4-5"}, {math.MaxInt, "6+"}}
	lineBounds = []bound{{10, "1-10"}, {30, "11-30"}, {50, "31-50"}, {100, "51-100"}, {200, "101-200"}, {math.MaxInt, "201+"}}
)

func within(n int, bounds []bound) (int, string) {
	i := slices.IndexFunc(bounds, func(b bound) bool { return n <= b.most })
	return i, bounds[i].name
}

func quarter(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	t = t.UTC()
	return t.Format("2006") + "-Q" + string(rune('1'+(int(t.Month())-1)/3))
}
