package score

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/schemas"
)

func wantLines(t *testing.T, e Evaluation, want ...string) {
	t.Helper()
	text := string(e.tables())
	for _, w := range want {
		if !slices.Contains(strings.Split(text, "\n"), w) {
			t.Errorf("no line %q:\n%s", w, text)
		}
	}
}

// TestFeatBenchTable: two rows of FeatBench's Table 2 (GPT-5 with both agents) from grades with their counts of 157 tasks. Its File
// column is no count of tasks, so that of ours has a count of its own.
func TestFeatBenchTable(t *testing.T) {
	t.Parallel()
	e := Evaluation{Dataset: "made", Tasks: map[string]Task{}}
	for n := range 157 {
		task := Task{Instance: fmt.Sprintf("x__y-%03d", n), Kind: schemas.KindFeature, Files: []string{"a.py"}}
		e.Tasks[task.Instance] = task
		for model, c := range map[string]struct {
			resolved, applied, rt, fv, file int
			tokens                          int64
		}{"GPT-5 (Trae)": {47, 157, 79, 88, 100, 2_900_000}, "GPT-5 (Agentless)": {26, 154, 56, 54, 80, 70_000}} {
			score := func(passes bool) *schemas.Score { return &schemas.Score{Passed: one(passes), Want: 1} }
			g := schemas.Grade{Verdict: schemas.VerdictFail, Prediction: schemas.Prediction{Instance: task.Instance, Model: model, Effort: schemas.Effort{Tokens: c.tokens}}}
			if n < c.resolved {
				g.Verdict = schemas.VerdictPass
			}
			if n < c.file {
				g.Files = []string{"a.py"}
			}
			if n < c.applied {
				g.Applied = "git"
				// Those that pass the one list beyond the resolved ones are not those that pass the other.
				g.F2P, g.P2P = score(n < c.fv), score(n < c.resolved || n >= c.applied-(c.rt-c.resolved))
			}
			e.Answers = append(e.Answers, Answer{Task: task, Grade: g})
		}
	}
	wantLines(t, e, "157 of the dataset's tasks.", "| Model | Resolved % | Applied % | RT % | FV % | File % | Tokens (millions) |",
		"| GPT-5 (Trae) | 29.94 | 100.00 | 50.32 | 56.05 | 63.69 | 2.90 |", "| GPT-5 (Agentless) | 16.56 | 98.09 | 35.67 | 34.39 | 50.96 | 0.07 |")
}

// TestABCTable: a row of ABC-Bench's Table 2 (Claude Sonnet 4.5) from its counts: three runs of 224 tasks in eight languages.
func TestABCTable(t *testing.T) {
	t.Parallel()
	e := Evaluation{Tasks: map[string]Task{}}
	for language, c := range map[string]struct{ tasks, passed int }{
		"python": {10, 22}, "go": {29, 66}, "javascript": {38, 79}, "java": {34, 69}, "ruby": {33, 51}, "csharp": {43, 60}, "php": {33, 74}, "rust": {4, 4},
	} {
		for n := range 3 * c.tasks {
			task := Task{Instance: fmt.Sprintf("%s-%d", language, n%c.tasks), Kind: schemas.KindService, Language: language}
			e.Tasks[task.Instance] = task
			v := schemas.VerdictFail
			if n < c.passed {
				v = schemas.VerdictPass
			}
			e.Answers = append(e.Answers, Answer{Task: task, Grade: schemas.Grade{Verdict: v, Prediction: schemas.Prediction{Instance: task.Instance, Model: "claude", Sample: n / c.tasks}}})
		}
	}
	wantLines(t, e, "| Model | csharp | go | java | javascript | php | python | ruby | rust | Overall |", "| claude | 46.5 | 75.9 | 67.6 | 69.3 | 74.7 | 73.3 | 51.5 | 33.3 | 63.2 ± 1.9 |")
}

// TestCommit0Table: the form of Commit0's Table 1 from the counts of its Table 2: sixteen libraries in three stages.
func TestCommit0Table(t *testing.T) {
	t.Parallel()
	e := Evaluation{Tasks: map[string]Task{}}
	cost := []float64{1.55, 12.47, 99.39}
	for n, c := range [][4]int{
		{5663, 0, 0, 0}, {215, 173, 179, 179}, {376, 3, 25, 3}, {367, 108, 102, 16}, {171, 73, 80, 151}, {267, 0, 0, 31}, {851, 0, 0, 0}, {1229, 456, 338, 456},
		{230, 0, 0, 0}, {206, 10, 10, 0}, {36, 15, 1, 15}, {259, 11, 11, 128}, {140, 20, 17, 94}, {201, 27, 38, 64}, {149, 0, 0, 0}, {38, 6, 6, 1},
	} {
		task := Task{Instance: fmt.Sprint(n), Kind: schemas.KindLibrary}
		e.Tasks[task.Instance] = task
		for stage := range 3 {
			p := schemas.Prediction{Instance: task.Instance, Model: fmt.Sprintf("sonnet (stage %d)", stage+1), Effort: schemas.Effort{Cost: cost[stage] / 16}}
			e.Answers = append(e.Answers, Answer{Task: task, Grade: schemas.Grade{Verdict: schemas.VerdictFail, Prediction: p, F2P: &schemas.Score{Passed: c[stage+1], Want: c[0]}}})
		}
	}
	e.Answers = append(e.Answers, Answer{Task: e.Tasks["0"], Grade: schemas.Grade{Verdict: schemas.VerdictFail, Prediction: schemas.Prediction{Instance: "0", Model: "nop (stage 1)"}}})
	wantLines(t, e, "| Model | stage 1: pass rate % | stage 1: $ | stage 2: pass rate % | stage 2: $ | stage 3: pass rate % | stage 3: $ |",
		"| sonnet | 17.80 | 1.55 | 15.67 | 12.47 | 26.13 | 99.39 |", "| nop | 0.00 | – | – | – | – | – |")
}

// TestRESQTable: two rows of RES-Q's Table 2, one model in two settings and one in one.
func TestRESQTable(t *testing.T) {
	t.Parallel()
	e := Evaluation{Dataset: "a|b", Tasks: map[string]Task{}, Known: modelfile.Models{{Name: "Claude 3.5 Sonnet", Scores: map[string]float64{"MMLU": 88.3, "HumanEval": 92}}}}
	for n := range 100 {
		task := Task{Instance: fmt.Sprint(n), Kind: schemas.KindEdit}
		e.Tasks[task.Instance] = task
		for model, passed := range map[string]int{"Claude 3.5 Sonnet": 58, "Claude 3.5 Sonnet (8K)": 51, "GPT-4 (8K)": 30} {
			v := schemas.VerdictFail
			if n < passed {
				v = schemas.VerdictPass
			}
			e.Answers = append(e.Answers, Answer{Task: task, Grade: schemas.Grade{Verdict: v, Prediction: schemas.Prediction{Instance: task.Instance, Model: model}}})
		}
	}
	wantLines(t, e, "| Model | pass@1 % | 8K: pass@1 % | HumanEval | MMLU |", "| Claude 3.5 Sonnet | 58.00 | 51.00 | 92 | 88.3 |", "| GPT-4 | – | 30.00 | – | – |")
	if text := string(e.tables()); !strings.HasPrefix(text, `# a\|b:`) || strings.Contains(text, "FeatBench") {
		t.Errorf("the head, or a table without tasks:\n%s", text)
	}
}
