// Package report makes one HTML page of a dataset, and of grades where there are some: what
// somebody reads to review it.
//
// It never runs anything and never asks a network, and neither does the page: its style and
// script stand in it, named by their digests in its Content-Security-Policy, and every word
// of the dataset is escaped by html/template. Equal inputs give equal bytes.
package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"sync"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	styleText string
	//go:embed page.js
	scriptText string
	//go:embed review.css
	reviewStyle string
	//go:embed review.js
	reviewScript string
)

// pageTemplate is parsed where a page is made: no start waits for it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"plural": plural, "plus": func(a, b int) int { return a + b }}).Parse(pageText))
})

// What the page shows at most; what is cut says where the whole is.
const (
	mostPatch  = 64 << 10 // bytes of one patch
	mostAnswer = 8 << 10  // bytes of the patch of an answer
	mostText   = 32 << 10 // bytes of a statement
	mostLock   = 8 << 10  // bytes of a lock file
	mostTests  = 200      // of one class in one task
	mostName   = 300      // bytes of a test's, file's or model's name
	mostWhy    = 600      // bytes of a failing assertion
	mostMiss   = 20       // tests that an answer misses
)

// Write writes the page of a dataset; grades may be nil. What cannot be read of a task's
// folder, and grades of other tasks, are errors that name the file.
func Write(w io.Writer, d *output.Dataset, grades *score.Grades) error {
	p, err := newPage(d, grades)
	if err != nil {
		return err
	}
	return p.write(w)
}

// WriteForm writes the page of a dataset with a form for a reviewer in each task, which makes a file of reviews. It
// does not show what others say of a task.
func WriteForm(w io.Writer, d *output.Dataset) error {
	p, err := newPage(d, nil)
	if err != nil {
		return err
	}
	p.Form = &reviewForm{schemas.ReviewColumns, schemas.Refusals}
	p.Style, p.StyleHash = template.CSS(styleText+reviewStyle), hash(styleText+reviewStyle)
	p.Script, p.ScriptHash = template.JS(scriptText+reviewScript), hash(scriptText+reviewScript)
	return p.write(w)
}

func (p *page) write(w io.Writer) error {
	d := p.dataset
	if err := pageTemplate().ExecuteTemplate(w, "begin", p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	for i := range d.Rows { // one task at a time in memory
		v, err := p.task(i)
		if err != nil {
			return err
		}
		if err := pageTemplate().ExecuteTemplate(w, "task", v); err != nil {
			return fmt.Errorf("writing %s: %w", d.Rows[i].InstanceID, err)
		}
	}
	if err := pageTemplate().ExecuteTemplate(w, "end", p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// page is what the template reads of the dataset as a whole.
type page struct {
	Form        *reviewForm // nil in a report
	Style       template.CSS
	Script      template.JS
	StyleHash   string
	ScriptHash  string
	Name        string
	Format      string
	Graded      bool
	Counts      []fact
	Tools       []fact
	Settings    string // the configuration as JSON
	Funnel      []plot
	Statistics  []output.Statistic
	Tasks       []plot
	Models      []modelRow
	Over        string // which tasks the figures are over
	Comparisons []comparisonRow
	Relations   []fact // over models
	Review      []reviewRow
	Failures    []table
	Breakdowns  []table
	Rows        []listRow
	Kinds       []string
	Languages   []string
	Verdicts    []string
	dataset     *output.Dataset
	modelNames  []string // in the order of Models
	linesOfTask map[string][]score.Line
	patchOf     func(schemas.Digest) ([]byte, error)
}

// reviewForm is what a reviewer can say.
type reviewForm struct {
	Columns  []string
	Refusals []schemas.RefusalText
}

// reviewRow is one answer that passes and uses what can reach the tests.
type reviewRow struct {
	Anchor, Name, Model string
	Sample              int
	Uses                []string
}

// comparisonRow is one model held against another.
type comparisonRow struct {
	Models string
	Cells  []string
}

// fact is a name and its value.
type fact struct{ Name, Value string }

func newPage(d *output.Dataset, grades *score.Grades) (*page, error) {
	p := &page{
		Style: template.CSS(styleText), Script: template.JS(scriptText), StyleHash: hash(styleText), ScriptHash: hash(scriptText),
		Name: short(d.Manifest.Name, mostName), Format: d.Manifest.Format, dataset: d, Funnel: funnel(d.Manifest), Tasks: tasksBy(d.Rows),
	}
	seen := map[string]bool{}
	for _, r := range d.Rows {
		if seen[r.InstanceID] {
			return nil, fmt.Errorf("%s:%d: %s is given more than once", filepath.Join(d.Dir, r.File), r.Line, r.InstanceID)
		}
		seen[r.InstanceID] = true
	}
	if grades != nil {
		if err := p.grade(grades, seen); err != nil {
			return nil, err
		}
	}
	p.overview()
	p.list()
	return p, nil
}

// hash names a style or script in a Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// grade takes the grades in. Those of another dataset are refused.
func (p *page) grade(g *score.Grades, tasks map[string]bool) error {
	p.Graded, p.linesOfTask, p.patchOf = true, map[string][]score.Line{}, g.PatchOf
	models := map[string]bool{}
	for _, m := range g.Models {
		models[m.Model] = true
		p.modelNames = append(p.modelNames, m.Model)
		p.Models = append(p.Models, modelOf(m))
	}
	for i, l := range g.Lines {
		if !tasks[l.Instance] {
			return fmt.Errorf("%s:%d: %s is not a task of the dataset%s", score.ResultsFile, i+1, l.Instance, nearest.Hint(l.Instance, sortedKeys(tasks)))
		}
		if !models[l.Model] {
			return fmt.Errorf("%s:%d: model %q is not in %s%s", score.ResultsFile, i+1, l.Model, score.MetricsFile, nearest.Hint(l.Model, p.modelNames))
		}
		p.linesOfTask[l.Instance] = append(p.linesOfTask[l.Instance], l)
	}
	p.Over = "Rates are over all tasks of the dataset: one without an answer counts as not resolved."
	if g.Over == score.OverAnswered {
		p.Over = "Rates are over the tasks that a model answers, not over all of the dataset."
	}
	for _, x := range g.Relations {
		p.Relations = append(p.Relations, fact{visible(x.Of) + " with " + x.With, relationText(x)})
	}
	for _, c := range g.Comparisons {
		p.Comparisons = append(p.Comparisons, comparisonOf(c))
	}
	for _, l := range g.ToReview() {
		p.Review = append(p.Review, reviewRow{anchor(l.Instance), short(l.Instance, mostName), short(l.Model, mostName), l.Sample, usesOf(l)})
	}
	of := map[string][]score.Line{}
	for _, l := range g.Lines {
		of[l.Model] = append(of[l.Model], l)
	}
	for i, name := range p.modelNames {
		p.Models[i].Dots = dotsOf(of[name])
	}
	p.Failures = failures(g.Models)
	p.Breakdowns = resolvedBy(g.Models, p.Tasks)
	for _, v := range schemas.Verdicts {
		p.Verdicts = append(p.Verdicts, string(v))
	}
	p.Verdicts = append(p.Verdicts, noVerdict, noAnswer)
	for _, c := range score.Causes {
		p.Verdicts = append(p.Verdicts, string(c))
	}
	return nil
}

// What a filter asks for beside verdicts.
const (
	noVerdict = "FAULT" // of the harness
	noAnswer  = "NONE"  // the model has no prediction for the task
)
