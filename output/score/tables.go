package score

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// TablesFile holds the results in the forms of the published tables.
const TablesFile = "tables.md"

// table is one of them: rows are models, and what is in a row is of the tasks of one kind.
type table struct {
	kind  schemas.Kind
	title string
	print func(b *bytes.Buffer, e Evaluation, models []modelOf)
}

var tables = []table{
	{schemas.KindFeature, "Features, as FeatBench's Table 2", features},
	{schemas.KindLibrary, "Libraries, as Commit0's Table 1", libraries},
	{schemas.KindService, "Services, as ABC-Bench's Table 2", services},
	{schemas.KindEdit, "Edits, as RES-Q's Table 2", edits},
}

// modelOf is a model with its answers for the tasks of one kind.
type modelOf struct {
	name    string
	tasks   []Task
	answers []Answer
}

func (m modelOf) metrics() Metrics { return Of(m.tasks, m.answers) }

// tables are all of them that have a task, in Markdown.
func (e Evaluation) tables() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: results in the forms of the published tables\n\n", cell(e.Dataset))
	over := "over all tasks of the kind; one without an answer counts as not resolved"
	if e.Answered {
		over = "over the tasks of the kind that the model answers, and not over all"
	}
	fmt.Fprintf(&b, "Shares are %s. Intervals stand in %s.\n", over, MetricsFile)
	for _, t := range tables {
		var models []modelOf
		n := 0
		for _, task := range e.Tasks {
			n += one(task.Kind == t.kind)
		}
		for _, name := range e.models() {
			answers, tasks, _, _ := e.of(name)
			m := modelOf{name: name, tasks: slices.DeleteFunc(tasks, func(x Task) bool { return x.Kind != t.kind })}
			m.answers = slices.DeleteFunc(answers, func(a Answer) bool { return a.Task.Kind != t.kind })
			if len(m.tasks) > 0 {
				models = append(models, m)
			}
		}
		if len(models) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n%d of the dataset's tasks.\n\n", t.title, n)
			t.print(&b, e, models)
		}
	}
	return b.Bytes()
}

// head writes the first two lines of a table of figures.
func head(b *bytes.Buffer, columns ...string) {
	fmt.Fprintf(b, "| Model | %s |\n| --- |%s\n", strings.Join(columns, " | "), strings.Repeat(" ---: |", len(columns)))
}

func row(b *bytes.Buffer, name string, cells ...string) {
	fmt.Fprintf(b, "| %s | %s |\n", cell(name), strings.Join(cells, " | "))
}

// percent is a share as the papers print it.
func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

// dash stands where there is no figure.
const dash = "–"

// features are FeatBench's columns. Tokens are those of a prediction that says them, in millions.
func features(b *bytes.Buffer, _ Evaluation, models []modelOf) {
	head(b, "Resolved %", "Applied %", "RT %", "FV %", "File %", "Tokens (millions)")
	for _, m := range models {
		x := m.metrics()
		tokens := dash
		if x.Tokens > 0 {
			const million = 1e6
			tokens = fmt.Sprintf("%.2f", x.Tokens/million)
		}
		row(b, m.name, percent(x.Resolved.Rate), percent(x.Applied.Rate), percent(x.RT.Rate), percent(x.FV.Rate), percent(x.File.Rate), tokens)
	}
}

// settings splits models by what stands in brackets after their names (their agent and setting): the names and the settings,
// both sorted, and the model of each pair.
func settings(models []modelOf) (names, with []string, of map[[2]string]modelOf) {
	of = map[[2]string]modelOf{}
	for _, m := range models {
		name, setting, bracket := strings.Cut(strings.TrimSuffix(m.name, ")"), " (")
		if !bracket || !strings.HasSuffix(m.name, ")") {
			name, setting = m.name, ""
		}
		names, with = append(names, name), append(with, setting)
		of[[2]string{name, setting}] = m
	}
	slices.Sort(names)
	slices.Sort(with)
	return slices.Compact(names), slices.Compact(with), of
}

// bySetting has a row for each model and, for each setting, the columns of figures.
func bySetting(b *bytes.Buffer, models []modelOf, columns []string, figures func(Metrics) []string, more []string, known func(name string) []string) {
	names, with, of := settings(models)
	var titles []string
	for _, setting := range with {
		for _, c := range columns {
			if setting != "" {
				c = cell(setting) + ": " + c
			}
			titles = append(titles, c)
		}
	}
	head(b, slices.Concat(titles, more)...)
	for _, name := range names {
		var cells []string
		for _, setting := range with {
			if m, ok := of[[2]string{name, setting}]; ok {
				cells = append(cells, figures(m.metrics())...)
			} else {
				cells = append(cells, slices.Repeat([]string{dash}, len(columns))...)
			}
		}
		row(b, name, slices.Concat(cells, known(name))...)
	}
}

// libraries are Commit0's columns for each setting, such as a stage: the mean pass rate of libraries, and all dollars.
func libraries(b *bytes.Buffer, _ Evaluation, models []modelOf) {
	bySetting(b, models, []string{"pass rate %", "$"}, func(x Metrics) []string {
		dollars := dash
		if x.TotalCost > 0 {
			dollars = fmt.Sprintf("%.2f", x.TotalCost)
		}
		return []string{percent(x.Library.PassRate), dollars}
	}, nil, func(string) []string { return nil })
	fmt.Fprintf(b, "\nTests that pass with nothing done are in the pass rate: %s has the score without them.\n", MetricsFile)
}

// services are ABC-Bench's columns: pass@1 as the mean of runs by language, and of all with the pooled standard error.
func services(b *bytes.Buffer, e Evaluation, models []modelOf) {
	var languages []string
	for _, t := range e.Tasks {
		if t.Kind == schemas.KindService {
			languages = append(languages, t.Language)
		}
	}
	slices.Sort(languages)
	languages = slices.Compact(languages)
	head(b, append(slices.Clone(languages), "Overall")...)
	for _, m := range models {
		var cells []string
		for _, l := range languages {
			of := slices.DeleteFunc(slices.Clone(m.tasks), func(t Task) bool { return t.Language != l })
			answers := slices.DeleteFunc(slices.Clone(m.answers), func(a Answer) bool { return a.Task.Language != l })
			x := dash
			if len(of) > 0 {
				x = fmt.Sprintf("%.1f", 100*Of(of, answers).Resolved.Rate)
			}
			cells = append(cells, x)
		}
		x := m.metrics()
		row(b, m.name, append(cells, fmt.Sprintf("%.1f ± %.1f", 100*x.Resolved.Rate, 100*x.PooledError))...)
	}
	fmt.Fprintf(b, "\n± is one pooled standard error, as in the paper: it takes each run for a task of its own.\n")
}

// edits are RES-Q's columns: pass@1 for each setting, and what --models knows of other benchmarks.
func edits(b *bytes.Buffer, e Evaluation, models []modelOf) {
	var others []string
	for _, m := range models {
		if k, ok := e.Known.Of(m.name); ok {
			others = append(others, sortedKeys(k.Scores)...)
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	var titles []string
	for _, o := range others {
		titles = append(titles, cell(o))
	}
	bySetting(b, models, []string{"pass@1 %"}, func(x Metrics) []string { return []string{percent(x.Resolved.Rate)} }, titles, func(name string) []string {
		var out []string
		k, _ := e.Known.Of(name)
		for _, o := range others {
			if score, ok := k.Scores[o]; ok {
				out = append(out, fmt.Sprintf("%g", score))
			} else {
				out = append(out, dash)
			}
		}
		return out
	})
}

// cell is a text of others in a table of Markdown.
func cell(s string) string {
	return cmp.Or(strings.TrimSpace(strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'", "[", `\[`).Replace(strings.ToValidUTF8(s, "?"))), dash)
}
