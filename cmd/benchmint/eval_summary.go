package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/overlap"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// evalResult is the end of an evaluation for scripts.
type evalResult struct {
	Output string `json:"output"`
	score.Figures
	// Unread counts entries that could not be read or have no task in the dataset.
	Unread int `json:"unread,omitempty"`
}

// sumUp prints the table of models, and gives the exit code.
func (e evaluator) sumUp(bad int, summary pipeline.Summary) error {
	r := evalResult{Output: e.output, Unread: bad, Figures: score.Figures{Models: []score.Model{}, Comparisons: []score.Comparison{}, Relations: []score.Relation{}}}
	if b, err := os.ReadFile(filepath.Join(e.output, score.MetricsFile)); err == nil && summary.Drained {
		if err := json.Unmarshal(b, &r.Figures); err != nil {
			return err
		}
	}
	if e.json {
		if err := e.writeJSON(r); err != nil {
			return err
		}
	} else if err := r.print(e.out(), summary); err != nil {
		return err
	}
	code := summary.Code()
	if code == exitOK && bad > 0 {
		code = exitFailed
	}
	if code != exitOK {
		return &ended{code: code}
	}
	return nil
}

func (r evalResult) print(t *printer, summary pipeline.Summary) error {
	if len(r.Models) > 0 {
		t.line("%-24s %12s %15s %8s %6s %6s %7s", "model", "resolved", "95 %", "applied", "FV", "RT", "faults")
	}
	for _, m := range r.Models {
		x := m.Metrics
		t.line("%-24s %4d of %4d %6.1f–%5.1f %% %6.1f %% %4.0f %% %4.0f %% %7d", visible(m.Model), x.Resolved.Part, x.Resolved.Whole,
			100*x.Resolved.Low, 100*x.Resolved.High, 100*x.Applied.Rate, 100*x.FV.Rate, 100*x.RT.Rate, m.Faults)
	}
	for _, m := range r.Models {
		r.model(t, m)
	}
	for _, c := range r.Comparisons {
		if c.Tasks == 0 {
			continue
		}
		t.line("against  %s less %s: %+.1f %% (%+.1f to %+.1f) over %s; ahead in %d, behind in %d (p = %.2g)", visible(c.Model), visible(c.With),
			100*c.Difference, 100*c.Low, 100*c.High, plural(c.Tasks, "task"), c.Ahead, c.Behind, c.P)
	}
	if len(r.Relations) > 0 {
		t.line("relation over models: %s", relations(r.Relations))
	}
	if r.Unread > 0 {
		t.line("unread   %s (said above)", plural(r.Unread, "prediction"))
	}
	if summary.Drained {
		t.line("report   %s (%s, %s)", r.Output, score.ReportFile, score.ResultsFile)
	} else {
		t.line("report   not written: the same command goes on")
	}
	return t.err
}

// model prints what the row of a model in the table leaves out.
func (r evalResult) model(t *printer, m score.Model) {
	x, name := m.Metrics, visible(m.Model)
	switch missing := x.Tasks - x.Answered; {
	case r.Over == score.OverAnswered && x.Tasks < r.Tasks:
		t.line("tasks    %s: over the %d of %s that it answers, not over all (--answered)", name, x.Tasks, plural(r.Tasks, "task"))
	case missing > 0:
		t.line("tasks    %s: %s without an answer of %d, each counts as not resolved (--answered leaves them out)", name, plural(missing, "task"), x.Tasks)
	}
	if m.LeftOut > 0 {
		t.line("tasks    %s: %s left out, since none of the predictions has a verdict", name, plural(m.LeftOut, "task"))
	}
	if len(x.Runs) > 0 {
		t.line("runs     %s: mean over tasks %.1f %%; by sample %s; pooled standard error (ABC-Bench's) ±%.1f%s", name, 100*x.Resolved.Rate, percents(x.Runs), 100*x.PooledError, passAts(x))
	}
	if s := x.Service; s != nil {
		stages := func(of string, s score.Stages) {
			t.line("service  %s: S1 %.1f %% (%d of %d start), S2 %.1f %% of these, %.1f %% of the endpoints work, over %s", name, 100*s.S1, s.Starts, s.Answers, 100*s.S2, 100*s.Endpoints, of)
		}
		stages("all services", s.All)
		if s.Environment != nil {
			stages("those whose environment the solver makes", *s.Environment)
		}
	}
	if l := x.Library; l != nil {
		t.line("library  %s: score %.1f %% (pass rate %.1f %%, with nothing done %.1f %%; means over %s)", name, 100*l.Score, 100*l.PassRate, 100*l.ZeroWork, plural(l.Tasks, "task"))
	}
	if c := m.CutOff; c != nil {
		t.line("cut-off  %s (%s): %.1f %% of %s before it, %.1f %% of %d after it: %+.1f %% (%+.1f to %+.1f)", name, c.Model.CutOff.Format(time.DateOnly),
			100*c.Before.Rate, plural(c.Before.Tasks, "task"), 100*c.After.Rate, c.After.Tasks, 100*c.Difference, 100*c.Low, 100*c.High)
	}
	if len(m.Relations) > 0 {
		t.line("relation %s: %s", name, relations(m.Relations))
	}
	if o := x.Memory; o != nil {
		t.line("memory   %s: has %.1f %% of the solutions' phrases of %d words (%s, %.1f %% whole)", name, 100*o.Overlap, overlap.Words, plural(o.Functions, "function"), 100*o.Full)
	}
	if why := counted(score.Causes, x.Causes); why != "" {
		t.line("causes   %s: %s; errors: %s", name, why, counted(schemas.ErrorClasses, x.Errors))
	}
	if x.Mended+x.LeftOut > 0 {
		t.line("mended   %s: %s; %s with files left out (mended and left_out in %s)", name, plural(x.Mended, "prediction"), plural(x.LeftOut, "prediction"), score.ResultsFile)
	}
	if x.ToReview > 0 {
		t.line("look at  %s: %s with PASS that can reach the tests (uses in %s)", name, plural(x.ToReview, "prediction"), score.ResultsFile)
	}
}

// relations are Pearson's r of each.
func relations(all []score.Relation) string {
	var out []string
	for _, r := range all {
		one := fmt.Sprintf("%s with %s r = %.2f (n = %d", r.Of, r.With, r.R, r.N)
		if r.P != nil {
			one += fmt.Sprintf(", p = %.2g", *r.P)
		}
		out = append(out, one+")")
	}
	return strings.Join(out, "; ")
}

func percents(rates []float64) string {
	var out []string
	for _, r := range rates {
		out = append(out, fmt.Sprintf("%.1f", 100*r))
	}
	return strings.Join(out, ", ")
}

// passAts are pass@k from k = 2 on; pass@1 is the rate of tasks resolved.
func passAts(x score.Metrics) (out string) {
	for k := 2; k <= len(x.Runs); k++ {
		if e, ok := x.PassAt[k]; ok {
			out += fmt.Sprintf("; pass@%d %.1f %% (%.1f–%.1f)", k, 100*e.Rate, 100*e.Low, 100*e.High)
		}
	}
	return out
}

// counted are the counts of words, in the order of the words.
func counted[W ~string](words []W, counts map[W]int) string {
	var parts []string
	for _, w := range words {
		if n := counts[w]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", w, n))
		}
	}
	return strings.Join(parts, ", ")
}
