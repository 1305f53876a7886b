package report

import (
	"fmt"
	"math"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// bar is one bar of a plot in thousandths of its width: whole numbers, so that equal
// figures give equal bytes.
type bar struct {
	Of   int // the grey part behind it
	Part int
	// Low and Width are the interval of a rate; Width is 0 where there is none.
	Low, Width int
}

// plotRow is one line of a plot: a bar with its figure in words.
type plotRow struct {
	Title string
	Bar   bar
	Text  string
	Lost  string // what a level of the funnel lost
}

// plot is a table whose rows have bars.
type plot struct {
	By    string // the property of score, "" for none
	Title string
	Unit  string // of the figure
	Rows  []plotRow
}

// table is a plot with a column for each model.
type table struct {
	Title string
	Heads []string
	Rows  []tableRow
}

type tableRow struct {
	Title string
	Cells []plotRow
}

// dot is one point of a plot, in thousandths of its width and height, from the left and the top.
type dot struct{ X, Y int }

// mostDots bounds the plot of one model.
const mostDots = 1500

// dotsOf are the functions of the solutions by their length (on a logarithmic scale, 1000 words at the right end) and by what
// the answers have of them, the whole at the top: Commit0's Figure 5.
func dotsOf(lines []score.Line) (out []dot) {
	for _, l := range lines {
		for _, o := range l.Overlaps {
			if len(out) == mostDots {
				return out
			}
			x := math.Log10(float64(max(1, min(o.Words, 1000)))) / 3
			out = append(out, dot{thousandths(x), full - thousandths(o.Share)})
		}
	}
	return out
}

const full = 1000

func part(n, of int) int {
	if of <= 0 {
		return 0
	}
	return n * full / of
}

func thousandths(rate float64) int { return int(math.Round(rate * full)) }

func percent(rate float64) string { return fmt.Sprintf("%.1f %%", 100*rate) }

// shareRow is a rate with its interval.
func shareRow(title string, s score.Share) plotRow {
	r := plotRow{Title: title, Bar: bar{Of: full, Part: thousandths(s.Rate)}, Text: "none"}
	if s.Whole > 0 {
		low, high := thousandths(s.Low), thousandths(s.High)
		r.Bar.Low, r.Bar.Width = low, high-low
		r.Text = fmt.Sprintf("%d of %d, %s (%.1f–%.1f)", s.Part, s.Whole, percent(s.Rate), 100*s.Low, 100*s.High)
	}
	return r
}

// funnel has a plot of repositories and one of what was found in them: two units.
func funnel(m output.Manifest) []plot {
	out := []plot{{Title: "Repositories", Unit: "repositories"}, {Title: "Funnel: from changes to tasks", Unit: "items"}}
	most := []int{1, 1}
	levels := m.Levels()
	kind := func(l output.Level) int {
		if l.Sources {
			return 0
		}
		return 1
	}
	for _, l := range levels {
		most[kind(l)] = max(most[kind(l)], l.Count, l.Of)
	}
	for _, l := range levels {
		k := kind(l)
		text := fmt.Sprint(l.Count)
		if l.Of > 0 {
			text += fmt.Sprintf(" (%s)", percent(float64(l.Count)/float64(l.Of)))
		}
		out[k].Rows = append(out[k].Rows, plotRow{Title: l.Title, Bar: bar{Of: part(l.Of, most[k]), Part: part(l.Count, most[k])}, Text: text, Lost: l.Lost})
	}
	return filled(out)
}

func filled(all []plot) []plot {
	var out []plot
	for _, p := range all {
		if len(p.Rows) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// tasksBy counts tasks in the classes that grades are broken down by.
func tasksBy(rows []output.Located) []plot {
	tasks := make([]score.Task, 0, len(rows))
	for _, r := range rows {
		tasks = append(tasks, score.TaskOf(r))
	}
	var out []plot
	for _, by := range score.Properties(tasks) {
		p, most := plot{By: by.By, Title: by.Title, Unit: "tasks"}, 1
		for _, x := range by.Classes {
			most = max(most, len(x.Tasks))
		}
		for _, x := range by.Classes {
			n := len(x.Tasks)
			p.Rows = append(p.Rows, plotRow{Title: visible(x.Value), Bar: bar{Part: part(n, most)}, Text: fmt.Sprint(n)})
		}
		out = append(out, p)
	}
	return filled(out)
}

// resolvedBy is the resolved rate of each model in each class, in the order in which the
// dataset has the classes.
func resolvedBy(models []score.Model, tasks []plot) []table {
	heads := make([]string, 0, len(models))
	for _, m := range models {
		heads = append(heads, short(m.Model, mostName))
	}
	var out []table
	for _, p := range tasks {
		t := table{Title: p.Title, Heads: heads}
		for _, r := range p.Rows {
			t.row(r.Title, len(models))
		}
		for i, m := range models {
			for _, b := range m.Breakdowns {
				if b.By != p.By {
					continue
				}
				for _, x := range b.Parts {
					t.row(visible(x.Value), len(models)).Cells[i] = shareRow("", x.Metrics.Resolved)
				}
			}
		}
		out = append(out, t)
	}
	return out
}

// failures say of each model why its answers are not resolved: by cause (FeatBench's Figure 9) and by error (ABC-Bench's Figure 8), each
// as a share of these answers.
func failures(models []score.Model) []table {
	causes, errors := table{Title: "Cause"}, table{Title: "Error"}
	for i, m := range models {
		name := short(m.Model, mostName)
		causes.Heads, errors.Heads = append(causes.Heads, name), append(errors.Heads, name)
		of := 0
		for _, n := range m.Metrics.Causes {
			of += n
		}
		count := func(t *table, title string, n int) {
			r := t.row(title, len(models))
			if of > 0 {
				r.Cells[i] = plotRow{Bar: bar{Of: full, Part: part(n, of)}, Text: fmt.Sprintf("%d of %d", n, of)}
			}
		}
		for _, c := range score.Causes {
			count(&causes, string(c), m.Metrics.Causes[c])
		}
		for _, c := range schemas.ErrorClasses {
			count(&errors, string(c), m.Metrics.Errors[c])
		}
	}
	return []table{causes, errors}
}

// row finds the row of a value, or adds it.
func (t *table) row(value string, cells int) *tableRow {
	for i := range t.Rows {
		if t.Rows[i].Title == value {
			return &t.Rows[i]
		}
	}
	r := tableRow{Title: value, Cells: make([]plotRow, cells)}
	for i := range r.Cells {
		r.Cells[i].Text = "none"
	}
	t.Rows = append(t.Rows, r)
	return &t.Rows[len(t.Rows)-1]
}
