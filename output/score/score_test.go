package score

import (
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/schemas"
)

// TestPassAt compares the formula with a count over all draws of k of n samples.
func TestPassAt(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 9; n++ {
		for passed := 0; passed <= n; passed++ {
			for k := 1; k <= n; k++ {
				hit, all := 0, 0
				for draw := range uint(1) << n {
					if bits.OnesCount(draw) != k {
						continue
					}
					all++
					if draw&(1<<passed-1) != 0 { // the first ones pass
						hit++
					}
				}
				if got, want := PassAt(n, passed, k), float64(hit)/float64(all); math.Abs(got-want) > 1e-12 {
					t.Errorf("pass@%d of %d with %d passed: %v, want %v", k, n, passed, got, want)
				}
			}
		}
	}
}

// TestShareOf: intervals of Wilson's formula as published tables give them.
func TestShareOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		part, whole int
		low, high   float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {81, 263, 0.2553, 0.3662}} {
		s := ShareOf(tc.part, tc.whole)
		if math.Abs(s.Low-tc.low) > 5e-5 || math.Abs(s.High-tc.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.part, tc.whole, s.Low, s.High, tc.low, tc.high)
		}
	}
}

func answer(id, model string, sample int, v schemas.Verdict, f2p, p2p *schemas.Score, files ...string) Answer {
	g := schemas.Grade{Prediction: schemas.Prediction{Instance: id, Model: model, Sample: sample}, Verdict: v, F2P: f2p, P2P: p2p, Files: files}
	if f2p != nil {
		g.Applied = schemas.AppliedExact
	}
	task := Task{Instance: id, Language: "python", Kind: schemas.KindFeature, Files: []string{"a.py", "b.py"}, Lines: 12, CreatedAt: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	if id == "x__y-2" {
		task.Language, task.Files, task.Lines, task.CreatedAt = "go", []string{"c.go"}, 400, time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)
	}
	return Answer{Task: task, Grade: g}
}

func of(passed, want int, missed ...string) *schemas.Score {
	return &schemas.Score{Passed: passed, Want: want, Missed: missed}
}

// made are five predictions of one model: two of task 1, three of task 2.
func made() []Answer {
	a := []Answer{
		answer("x__y-1", "m", 0, schemas.VerdictPass, of(2, 2), of(8, 8), "a.py", "b.py"),
		answer("x__y-1", "m", 1, schemas.VerdictFail, of(1, 2, "t1"), of(8, 8), "a.py"),
		answer("x__y-2", "m", 0, schemas.VerdictFail, of(4, 4), of(6, 8, "t2", "t3"), "c.go", "d.go"),
		answer("x__y-2", "m", 1, schemas.VerdictPatch, nil, nil),
		answer("x__y-2", "m", 2, schemas.VerdictEmpty, nil, nil),
	}
	a[0].Grade.Prediction.Effort, a[1].Grade.Prediction.Effort = schemas.Effort{Tokens: 100, InputTokens: 90, OutputTokens: 10, Turns: 4, Cost: 0.5}, schemas.Effort{Tokens: 300, Turns: 8}
	a[0].Grade.Uses = []schemas.Use{{Path: "a.py", Line: 3, What: "gc", Why: "finds every object"}}
	a[1].Grade.Uses = a[0].Grade.Uses // does not pass
	a[1].Grade.Tampered, a[1].Grade.Why = []string{"conftest.py"}, map[string]string{"t1": "assert 1 == 2"}
	return a
}

// over are the figures of answers over their tasks alone, and evaluation has no others.
func over(answers []Answer) Metrics {
	e := evaluation(answers)
	var tasks []Task
	for _, id := range sortedKeys(e.Tasks) {
		tasks = append(tasks, e.Tasks[id])
	}
	return Of(tasks, answers)
}

func evaluation(answers []Answer) Evaluation {
	e := Evaluation{Tasks: map[string]Task{}, Answers: answers}
	for _, a := range answers {
		e.Tasks[a.Task.Instance] = a.Task
	}
	return e
}

// TestOf: the published definitions, worked out by hand.
func TestOf(t *testing.T) {
	t.Parallel()
	m := over(made())
	got := map[string]float64{
		"tasks": float64(m.Tasks), "predictions": float64(m.Predictions), "resolved": m.Resolved.Rate, "applied": m.Applied.Rate, "fv": m.FV.Rate, "fv_rate": m.FVRate,
		"rt": m.RT.Rate, "rt_rate": m.RTRate, "file": m.File.Rate, "precision": m.FilePrecision, "recall": m.FileRecall, "tokens": m.Tokens, "input": m.InputTokens, "output": m.OutputTokens, "turns": m.Turns, "cost": m.Cost, "total_cost": m.TotalCost,
		"pass@1": m.PassAt[1].Rate, "pass@2": m.PassAt[2].Rate, "pass@3": m.PassAt[3].Rate, "tampered": float64(m.Tampered), "to_review": float64(m.ToReview),
	}
	want := map[string]float64{
		"tasks": 2, "predictions": 5, "resolved": (1. / 2) / 2, "applied": (2./2 + 1./3) / 2, "fv": (1./2 + 1./3) / 2, "fv_rate": ((1+0.5)/2 + 1./3) / 2,
		"rt": (2. / 2) / 2, "rt_rate": (1 + 0.75/3) / 2, "file": (1. / 2) / 2, "precision": (1 + 1 + 0.5) / 5, "recall": (1 + 0.5 + 1) / 5, "tokens": 200, "input": 90, "output": 10, "turns": 6, "cost": 0.5, "total_cost": 0.5,
		"pass@1": (0.5 + 0) / 2, "pass@2": (1. + 0) / 2, "pass@3": 0, "tampered": 1, "to_review": 1,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if m.PassAt[2].Tasks != 2 || m.PassAt[3].Tasks != 1 || m.PassAt[5].Tasks != 0 {
		t.Errorf("tasks of pass@k: %v", m.PassAt)
	}
	if empty := Of(nil, nil); empty.Resolved.Rate != 0 || empty.FVRate != 0 || math.IsNaN(empty.Tokens) {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestBreakdowns(t *testing.T) {
	t.Parallel()
	got := map[string]map[string]int{}
	tasks := []Task{made()[0].Task, made()[2].Task}
	for _, b := range Breakdowns(tasks, made()) {
		got[b.By] = map[string]int{}
		for _, p := range b.Parts {
			got[b.By][p.Value] = p.Metrics.Predictions
		}
	}
	want := map[string]map[string]int{
		"language": {"python": 2, "go": 3}, "kind": {"feature": 5}, "files": {"2": 2, "1": 3}, "lines": {"11-30": 2, "201+": 3}, "created": {"2026-Q2": 2, "2025-Q4": 3}, "repository_files": {"below 200": 5}, "repository_lines": {"below 50,000": 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWrite: of several samples the best one counts for SWE-bench, a fault is an error there
// and never a line with a verdict, and each model has files of its own.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := evaluation(append(made(), answer("x__y-1", "x/m", 0, schemas.VerdictTimeout, nil, nil)))
	e.Faults = []Fault{{Prediction: schemas.Prediction{Instance: "x__y-3", Model: "m"}, Why: "the disk is full"}}
	e.Tasks["x__y-3"], e.Tasks["x__y-4"] = Task{Instance: "x__y-3"}, Task{Instance: "x__y-4"}
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	var report SWEBench
	read(t, filepath.Join(dir, "report.m.json"), &report)
	want := SWEBench{
		Total: 4, Submitted: 3, Completed: 2, Resolved: 1, Unresolved: 1, Errors: 1, CompletedIDs: []string{"x__y-1", "x__y-2"}, IncompleteIDs: []string{"x__y-4"}, EmptyIDs: []string{},
		SubmittedIDs: []string{"x__y-1", "x__y-2", "x__y-3"}, ResolvedIDs: []string{"x__y-1"}, UnresolvedIDs: []string{"x__y-2"}, ErrorIDs: []string{"x__y-3"}, SchemaVersion: 2,
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	var results []RESQ
	read(t, filepath.Join(dir, "resq.m.json"), &results)
	if len(results) != 5 || results[1].Feedback != "t1: assert 1 == 2" || results[2].Feedback != "t2\nt3" || results[4].Message != "PATCH FAILED" || results[0].Feedback != "" {
		t.Errorf("results %+v", results)
	}
	var figures Figures
	read(t, filepath.Join(dir, MetricsFile), &figures)
	models := figures.Models
	if len(models) != 2 || models[0].Model != "m" || models[0].Faults != 1 || models[0].Metrics.Predictions != 5 {
		t.Errorf("models %+v", models)
	}
	lines := e.Lines()
	if len(lines) != 7 || lines[6].Fault == "" || lines[6].Verdict != "" || lines[2].Model != "x/m" {
		t.Errorf("lines %+v", lines)
	}
}

func read(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
