package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// modelRow is the figures of one model.
type modelRow struct {
	Dots     []dot // a function of a solution in an answer each
	Name     string
	Rates    []plotRow
	Figures  []fact
	Verdicts string
}

func modelOf(m score.Model) modelRow {
	x := m.Metrics
	r := modelRow{Name: short(m.Model, mostName), Rates: []plotRow{
		shareRow("Resolved", x.Resolved), shareRow("Applied", x.Applied), shareRow("FAIL_TO_PASS (FV)", x.FV), shareRow("PASS_TO_PASS (RT)", x.RT), shareRow("Files", x.File),
	}}
	add := func(name, form string, args ...any) {
		r.Figures = append(r.Figures, fact{name, fmt.Sprintf(form, args...)})
	}
	add("Predictions", "%d for %d of %s", x.Predictions, x.Answered, plural(x.Tasks, "task"))
	if m.LeftOut > 0 {
		add("Tasks left out: the machine failed on each prediction", "%d", m.LeftOut)
	}
	if len(x.Runs) > 0 {
		add("Resolved by sample", "%s", strings.Join(percents(x.Runs), ", "))
	}
	add("Pooled standard error (ABC-Bench's ±)", "±%s", percent(x.PooledError))
	for _, v := range schemas.Verdicts {
		if n := x.Verdicts[v]; n > 0 {
			add(string(v), "%d", n)
		}
	}
	add("Faults of the harness", "%d", m.Faults)
	add("Predictions that touch tests", "%d", x.Tampered)
	add("Predictions to look at (they pass and use what can reach the tests)", "%d", x.ToReview)
	add("Predictions that were mended", "%d", x.Mended)
	add("Predictions with files left out", "%d", x.LeftOut)
	add("Mean share of FAIL_TO_PASS", "%s", percent(x.FVRate))
	add("Mean share of PASS_TO_PASS", "%s", percent(x.RTRate))
	add("Files: precision, recall", "%s, %s", percent(x.FilePrecision), percent(x.FileRecall))
	for _, k := range slices.Sorted(maps.Keys(x.PassAt)) {
		e := x.PassAt[k]
		add(fmt.Sprintf("pass@%d", k), "%s (%.1f–%.1f, %s)", percent(e.Rate), 100*e.Low, 100*e.High, plural(e.Tasks, "task"))
	}
	r.signs(m, add)
	r.kinds(x, add)
	for _, f := range []struct {
		name, form string
		value      float64
	}{
		{"Tokens a prediction", "%.0f", x.Tokens}, {"Input tokens a prediction", "%.0f", x.InputTokens}, {"Output tokens a prediction", "%.0f", x.OutputTokens},
		{"Turns a prediction", "%.1f", x.Turns}, {"Cost a prediction", "$%.4f", x.Cost}, {"Cost in all", "$%.2f", x.TotalCost},
	} {
		if f.value > 0 {
			add(f.name, f.form, f.value)
		}
	}
	return r
}

func relationText(r score.Relation) string {
	if r.P == nil {
		return fmt.Sprintf("%.2f over %d", r.R, r.N)
	}
	return fmt.Sprintf("%.2f over %d (p = %.2g)", r.R, r.N, *r.P)
}

// adder adds a figure in words.
type adder func(name, form string, args ...any)

// signs are what speaks for or against a model's having seen the tasks, and what goes with resolving them.
func (r *modelRow) signs(m score.Model, add adder) {
	x := m.Metrics
	if c := m.CutOff; c != nil {
		r.Rates = append(r.Rates, shareRow("Before the cut-off ("+c.Model.CutOff.Format(time.DateOnly)+")", c.Before), shareRow("After the cut-off", c.After))
		add("Resolved before less after the cut-off", "%+.1f %% (%+.1f to %+.1f)", 100*c.Difference, 100*c.Low, 100*c.High)
		add("Says the cut-off", "%s", visible(c.Source))
		for _, x := range c.Months {
			add("Resolved of "+x.Month, "%s", shareRow("", x.Resolved).Text)
		}
	}
	for _, x := range m.Relations {
		add("r of "+visible(x.Of)+" with "+x.With, "%s", relationText(x))
	}
	if o := x.Memory; o != nil {
		add("Memorisation: phrases of the solutions' functions", "%s of %s, %s whole", percent(o.Overlap), plural(o.Functions, "function"), percent(o.Full))
		for _, part := range o.ByLength {
			add("Memorisation, functions of "+part.Words+" words", "%s of %s, %s whole", percent(part.Overlap), plural(part.Functions, "function"), percent(part.Full))
		}
	}
}

// kinds are the figures of libraries and services.
func (r *modelRow) kinds(x score.Metrics, add adder) {
	if l := x.Library; l != nil {
		r.Rates = append(r.Rates, rateRow("Libraries: score", l.Score, plural(l.Tasks, "task")), rateRow("Libraries: pass rate", l.PassRate, plural(l.Tasks, "task")))
		add("Libraries: pass rate with nothing done", "%s", percent(l.ZeroWork))
	}
	if s := x.Service; s != nil {
		r.stages("Services", s.All)
		if s.Environment != nil {
			r.stages("Services whose environment the solver makes", *s.Environment)
		}
	}
}

// comparisonOf is one model held against another.
func comparisonOf(c score.Comparison) comparisonRow {
	return comparisonRow{short(c.Model, mostName) + " less " + short(c.With, mostName), []string{
		fmt.Sprintf("%+.1f %%", 100*c.Difference), fmt.Sprintf("%+.1f to %+.1f", 100*c.Low, 100*c.High),
		fmt.Sprint(c.Ahead), fmt.Sprint(c.Behind), fmt.Sprint(c.Tasks), fmt.Sprintf("%.2g", c.P),
	}}
}

// stages adds S1 and S2 of ABC-Bench.
func (r *modelRow) stages(of string, s score.Stages) {
	r.Rates = append(r.Rates,
		rateRow(of+": S1", s.S1, fmt.Sprintf("%d of %d build, start and answer", s.Starts, s.Answers)),
		rateRow(of+": S2", s.S2, fmt.Sprintf("%d of these %d pass every case", s.Functional, s.Starts)),
		rateRow(of+": endpoints", s.Endpoints, "of a task, whose cases all pass"))
}

// rateRow is a rate without an interval.
func rateRow(title string, rate float64, of string) plotRow {
	return plotRow{Title: title, Bar: bar{Of: full, Part: thousandths(rate)}, Text: percent(rate) + ", " + of}
}

func percents(rates []float64) []string {
	out := make([]string, len(rates))
	for i, r := range rates {
		out[i] = percent(r)
	}
	return out
}

// overview is what the manifest says.
func (p *page) overview() {
	m := p.dataset.Manifest
	add := func(name string, n int) { p.Counts = append(p.Counts, fact{name, fmt.Sprint(n)}) }
	add("tasks", m.Counts.Tasks)
	for _, x := range []struct {
		name string
		n    int
	}{{"rejected", m.Counts.Rejected}, {"deferred", m.Counts.Deferred}, {"failed", m.Counts.Failed}, {"open", m.Counts.Open}, {"releases", m.Releases}, {"flaky tests", len(p.dataset.Flakes)}} {
		add(x.name, x.n)
	}
	repos := map[string]bool{}
	for _, r := range p.dataset.Rows {
		repos[r.Repo] = true
	}
	add("repositories", len(repos))
	for _, name := range sortedKeys(m.Tools) {
		p.Tools = append(p.Tools, fact{visible(name), visible(m.Tools[name])})
	}
	var b bytes.Buffer
	if json.Indent(&b, m.Configuration, "", "  ") != nil {
		b.Reset()
		b.Write(m.Configuration)
	}
	p.Settings = visible(b.String())
	p.Statistics = slices.Clone(m.Statistics)
	for i := range p.Statistics {
		p.Statistics[i].Name = visible(p.Statistics[i].Title())
	}
}

// listRow is one task in the table.
type listRow struct {
	Instance              string // the ID as it is
	Anchor, Name, Subject string
	Kind, Language        string
	Created               string // day
	Lines, F2P, P2P       int
	// Resolved counts the predictions with PASS, of Answers.
	Resolved, Answers int
	// Verdicts are words MODEL:VERDICT for the filter, MODEL a number from 0.
	Verdicts string
	Cells    []string // the verdict of each model, where there are few of them
}

// mostColumns is how many models have a column of their own in the table.
const mostColumns = 4

func (p *page) list() {
	kinds, languages := map[string]bool{}, map[string]bool{}
	for _, r := range p.dataset.Rows {
		e := r.Benchmint
		l := listRow{
			Instance: r.InstanceID, Anchor: anchor(r.InstanceID), Name: short(r.InstanceID, mostName), Kind: visible(string(e.Kind)), Language: visible(e.Language), Created: day(r.CreatedAt),
			Lines: e.Sizes.SourceAdded + e.Sizes.SourceRemoved, F2P: len(r.FailToPass), P2P: len(r.PassToPass),
		}
		if e.Change != nil {
			l.Subject = short(e.Change.Subject, mostName)
		}
		kinds[l.Kind], languages[l.Language] = true, true
		p.verdicts(&l, r.InstanceID)
		p.Rows = append(p.Rows, l)
	}
	p.Kinds, p.Languages = sortedKeys(kinds), sortedKeys(languages)
}

// day is the date of a time.
func day(at string) string {
	date, _, _ := strings.Cut(at, "T")
	return short(date, mostName)
}

// verdicts are those of every model on one task.
func (p *page) verdicts(l *listRow, id string) {
	var words []string
	for i, m := range p.modelNames {
		count := map[string]int{}
		for _, x := range p.linesOfTask[id] {
			if x.Model != m {
				continue
			}
			count[verdictOf(x)]++
			if x.Cause != "" {
				words = append(words, fmt.Sprintf("%d:%s", i, x.Cause))
			}
			l.Answers++
			if x.Resolved {
				l.Resolved++
			}
		}
		if len(count) == 0 {
			count[noAnswer] = 0
		}
		var told []string
		for _, v := range sortedKeys(count) {
			words = append(words, fmt.Sprintf("%d:%s", i, strings.ReplaceAll(v, " ", "_")))
			if count[v] > 1 {
				told = append(told, fmt.Sprintf("%s ×%d", v, count[v]))
			} else {
				told = append(told, v)
			}
		}
		if len(p.modelNames) <= mostColumns {
			l.Cells = append(l.Cells, strings.Join(told, ", "))
		}
	}
	l.Verdicts = strings.Join(words, " ")
}

func verdictOf(l score.Line) string {
	if l.Verdict == "" {
		return noVerdict
	}
	return string(l.Verdict)
}

// Columns are the models that have a column.
func (p *page) Columns() []string {
	if len(p.Models) > mostColumns {
		return nil
	}
	out := make([]string, 0, len(p.Models))
	for _, m := range p.Models {
		out = append(out, m.Name)
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
