package score

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/schemas"
)

// rowsOf are tasks, and answers of a model: a word for each task, a letter for each sample: + resolved, - not.
func rowsOf(model string, words ...string) (tasks []Task, out []Answer) {
	for i, word := range words {
		id := fmt.Sprintf("x__y-%d", i+1)
		t := Task{Instance: id, Kind: schemas.KindFeature, Language: "go"}
		tasks = append(tasks, t)
		for n, c := range word {
			v := schemas.VerdictFail
			if c == '+' {
				v = schemas.VerdictPass
			}
			out = append(out, Answer{Task: t, Grade: schemas.Grade{Prediction: schemas.Prediction{Instance: id, Model: model, Sample: n}, Verdict: v}})
		}
	}
	return tasks, out
}

func evaluationOf(tasks []Task, answers ...Answer) Evaluation {
	e := Evaluation{Tasks: map[string]Task{}, Answers: answers}
	for _, t := range tasks {
		e.Tasks[t.Instance] = t
	}
	return e
}

// TestAllTasksCount: one answer of four is one of four, and not all of one; a task whose prediction the machine failed on is no task that was
// missed.
func TestAllTasksCount(t *testing.T) {
	t.Parallel()
	tasks, answers := rowsOf("m", "+", "", "", "")
	e := evaluationOf(tasks, answers...)
	e.Faults = []Fault{{Prediction: schemas.Prediction{Instance: "x__y-4", Model: "m"}, Why: "disk full"}}
	got := e.Figures()
	m := got.Models[0]
	if s := m.Metrics.Resolved; got.Over != OverAll || got.Tasks != 4 || m.Metrics.Answered != 1 || m.LeftOut != 1 || s.Part != 1 || s.Whole != 3 || math.Abs(s.Rate-1./3) > 1e-12 || m.Metrics.FV.Whole != 3 {
		t.Errorf("over all: %+v", m)
	}
	e.Answered = true
	if s := e.Figures().Models[0].Metrics.Resolved; s.Part != 1 || s.Whole != 1 || e.Figures().Over != OverAnswered {
		t.Errorf("over those answered: %+v", s)
	}
}

// TestSamplesDepend: three samples of each of four tasks that agree with each other tell no more than one sample of each, so the
// interval is that of four tasks; where samples differ as chance has it, it is that of twelve.
func TestSamplesDepend(t *testing.T) {
	t.Parallel()
	of := func(words ...string) Metrics { return Of(rowsOf("m", words...)) }
	alike, single := of("+++", "+++", "---", "---"), of("+", "+", "-", "-")
	if alike.Resolved.Low != single.Resolved.Low || alike.Resolved.High != single.Resolved.High {
		t.Errorf("alike: %.3f to %.3f, of one sample each %.3f to %.3f", alike.Resolved.Low, alike.Resolved.High, single.Resolved.Low, single.Resolved.High)
	}
	even, apart := of("+-", "+-", "-+", "-+"), ShareOf(4, 8)
	if even.Resolved.Low != apart.Low || even.Resolved.High != apart.High {
		t.Errorf("even: %.3f to %.3f, of eight tasks %.3f to %.3f", even.Resolved.Low, even.Resolved.High, apart.Low, apart.High)
	}
	if diff := cmp.Diff([]float64{0.75, 2.0 / 3, 0.5}, of("+++", "++", "+", "").Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got := of("+++", "--+", "").PassAt[3]; got.Tasks != 3 || math.Abs(got.Rate-2./3) > 1e-12 {
		t.Errorf("pass@3 %+v: the task without an answer counts", got)
	}
}

// TestPooledError reproduces the ± of ABC-Bench's Table 2: 224 tasks with three samples each.
func TestPooledError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		model     string
		rate, err float64
	}{
		{"Qwen3-8B", 8.3, 1.1}, {"Qwen3-32B", 8.9, 1.1}, {"Qwen3-Coder-30B-A3B", 28.6, 1.7}, {"Qwen3-Coder-480B-A35B", 43.1, 1.9}, {"Nex-N1-32B", 34.5, 1.8}, {"Nex-N1-671B", 42.1, 1.9},
		{"DeepSeek-V3.2", 50.1, 1.9}, {"GLM 4.7", 40.1, 1.9}, {"GPT-5", 49.4, 1.9}, {"Gemini 2.5 Pro", 25.0, 1.7}, {"Claude Sonnet 4.5", 63.2, 1.9},
	} {
		words := make([]string, 224)
		left := int(math.Round(row.rate / 100 * 672))
		for i := range words {
			for range 3 {
				c := "-"
				if left > 0 {
					c, left = "+", left-1
				}
				words[i] += c
			}
		}
		m := Of(rowsOf(row.model, words...))
		if got := math.Round(1000*m.PooledError) / 10; got != row.err || math.Abs(100*m.Resolved.Rate-row.rate) > 0.08 {
			t.Errorf("%s: %.2f ± %.1f, the paper has %.1f ± %.1f", row.model, 100*m.Resolved.Rate, got, row.rate, row.err)
		}
	}
}

// TestCompare: two models that differ on two of ten tasks, and the limits of the figures.
func TestCompare(t *testing.T) {
	t.Parallel()
	tasks, a := rowsOf("a", "+", "+", "+", "+", "+", "-", "-", "-", "-", "-")
	_, b := rowsOf("b", "+", "+", "+", "-", "-", "-", "-", "-", "-", "-")
	c := evaluationOf(tasks, append(a, b...)...).Figures().Comparisons
	if len(c) != 1 || c[0].Model != "a" || c[0].With != "b" || c[0].Tasks != 10 || c[0].Ahead != 2 || c[0].Behind != 0 || math.Abs(c[0].Difference-0.2) > 1e-12 || math.Abs(c[0].P-0.5) > 1e-9 {
		t.Fatalf("%+v", c)
	}
	// Agresti and Min: b = 2.5, c = 0.5, n = 12.
	middle := 2. / 12
	half := z * math.Sqrt((2.5+0.5)-2.*2./12) / 12
	if math.Abs(c[0].Low-(middle-half)) > 1e-9 || math.Abs(c[0].High-(middle+half)) > 1e-9 {
		t.Errorf("interval %.4f to %.4f, want %.4f to %.4f", c[0].Low, c[0].High, middle-half, middle+half)
	}
	if same := compare(tasks, a, a); same.Difference != 0 || same.P != 1 || same.Low >= 0 || same.High <= 0 {
		t.Errorf("with itself: %+v", same)
	}
	if p := signTest(1, 9); math.Abs(p-22./1024) > 1e-9 {
		t.Errorf("1 against 9: p = %v", p)
	}
}

// TestCutOff: of two models one knows what came before its cut-off.
func TestCutOff(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 1, 31, 23, 59, 59, 0, time.UTC)
	words := make([]string, 20)
	for i := range words {
		words[i] = "-+"[i%2 : i%2+1]
	}
	tasks, fair := rowsOf("fair", words...)
	for i := range words {
		words[i] = map[bool]string{true: "+", false: "-"}[i < 10]
	}
	_, knows := rowsOf("knows (agent)", words...)
	e := evaluationOf(tasks, append(fair, knows...)...)
	for i, task := range tasks {
		task.CreatedAt = at.AddDate(0, 0, i-9)
		e.Tasks[task.Instance] = task
	}
	e.Tasks["undated"] = Task{Instance: "undated"}
	e.Known = modelfile.Models{{Name: "fair", CutOff: at}, {Name: "knows", CutOff: at}}
	models := e.Figures().Models
	got := models[0].CutOff
	if got.Before.Part != 5 || got.After.Part != 5 || got.Before.Whole != 10 || got.After.Whole != 10 || got.Difference != 0 || got.Low >= 0 || got.High <= 0 || got.Undated != 1 {
		t.Errorf("fair: %+v", got)
	}
	// 10 of 10 against 0 of 10: Wilson's 0.7225 to 1 and 0 to 0.2775.
	got = models[1].CutOff
	if low := 1 - math.Hypot(1-0.7225, 0.2775); got.Difference != 1 || math.Abs(got.Low-low) > 1e-3 || got.High != 1 {
		t.Errorf("knows: %+v, want from %.4f", got, low)
	}
	if m := got.Months; len(m) != 2 || m[0].Month != "2025-01" || m[0].Resolved.Part != 10 || m[1].Resolved.Whole != 10 {
		t.Errorf("months: %+v", m)
	}
	e.Known = nil
	if e.Figures().Models[0].CutOff != nil {
		t.Error("a cut-off that nobody gave")
	}
}

// TestRelation: RES-Q's correlation of its rates with MMLU, which the paper prints as 0.73 with p = 0.00054: 18 pairs, both settings
// pooled.
func TestRelation(t *testing.T) {
	t.Parallel()
	mmlu := []float64{88.3, 88.7, 86.5, 86.8, 86.4, 81.9, 79.2, 82, 82.3}
	resq := []float64{58, 46, 37, 36, 30, 30, 26, 20, 16}
	small := []float64{51, 36, 34, 32, 30, 27, 29, 20, 18}
	r, ok := relation("mmlu", "resolved", append(append([]float64{}, mmlu...), mmlu...), append(append([]float64{}, resq...), small...))
	if !ok || r.N != 18 || math.Abs(r.R-0.733) > 5e-4 || r.P == nil || math.Abs(*r.P-0.00054) > 5e-6 {
		t.Errorf("%+v (%v)", r, r.P)
	}
	if r, ok := relation("mmlu", "resolved", mmlu, resq); !ok || r.P != nil {
		t.Errorf("of nine: %+v", r)
	}
	if _, ok := relation("x", "y", []float64{1, 1, 1}, []float64{0, 1, 0}); ok {
		t.Error("a relation with what is the same everywhere")
	}
	tasks, answers := rowsOf("m", "+", "-", "+", "-")
	for i := range answers {
		answers[i].Grade.Prediction.Turns = int64(10 - 5*(i%2))
	}
	if got := evaluationOf(tasks, answers...).Figures().Models[0].Relations; len(got) != 1 || got[0].Of != "turns" || got[0].R != 1 {
		t.Errorf("turns: %+v", got)
	}
}

// TestMemory: each function counts once, by the length of the solution's.
func TestMemory(t *testing.T) {
	t.Parallel()
	tasks, answers := rowsOf("m", "+", "-")
	answers[0].Grade.Overlaps = []schemas.Overlap{{Function: "a", Words: 12, Share: 1}, {Function: "b", Words: 60, Share: 0.5}}
	answers[1].Grade.Overlaps = []schemas.Overlap{{Function: "a", Words: 19, Share: 0}}
	want := &Memory{Functions: 3, Overlap: 0.5, Full: 1. / 3, ByLength: []MemoryPart{{"below 20", 2, 0.5, 0.5}, {"50-99", 1, 0.5, 0}}}
	if diff := cmp.Diff(want, Of(tasks, answers).Memory); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m := Of(rowsOf("m", "+")).Memory; m != nil {
		t.Errorf("of nothing: %+v", m)
	}
}

func TestCauseOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g    schemas.Grade
		want Cause
	}{
		{schemas.Grade{Verdict: schemas.VerdictPass, F2P: of(1, 1), P2P: of(1, 1)}, ""},
		{schemas.Grade{Verdict: schemas.VerdictPatch}, CauseUnapplied},
		{schemas.Grade{Verdict: schemas.VerdictEmpty}, CauseUnapplied},
		{schemas.Grade{Verdict: schemas.VerdictTimeout}, CauseLimit},
		{schemas.Grade{Verdict: schemas.VerdictFail, Limit: schemas.Tampered}, CauseLimit},
		{schemas.Grade{Verdict: schemas.VerdictFail, F2P: of(0, 1), P2P: of(1, 1)}, CauseIncomplete},
		{schemas.Grade{Verdict: schemas.VerdictFail, F2P: of(1, 1), P2P: of(0, 1)}, CauseRegressive},
		{schemas.Grade{Verdict: schemas.VerdictFail, F2P: of(0, 1), P2P: of(0, 1)}, CauseBoth},
	} {
		if got := CauseOf(c.g); got != c.want {
			t.Errorf("%s, %v: cause %q, want %q", c.g.Verdict, c.g.F2P, got, c.want)
		}
	}
}
