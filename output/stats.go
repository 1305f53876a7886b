package output

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Base is what a row says of the base tree as a whole.
type Base struct {
	Archive schemas.Digest // names the blob
	// Files and Lines count the source files of the task's language, tests and all.
	Files, Lines int
}

// Statistics are the figures that FeatBench prints of its tasks, of one row.
type Statistics struct {
	RepositoryFiles int `json:"repository_files"` // source files of the row's language in the base tree
	RepositoryLines int `json:"repository_lines"`
	PatchFiles      int `json:"patch_files"` // of the code part, as in sizes
	PatchHunks      int `json:"patch_hunks"`
	PatchLines      int `json:"patch_lines"` // added and removed
	FailToPass      int `json:"fail_to_pass"`
	PassToPass      int `json:"pass_to_pass"`
	StatementWords  int `json:"statement_words"` // of problem_statement, between blanks
}

func statistics(r Row, b Base) Statistics {
	s := r.Benchmint.Sizes
	return Statistics{
		RepositoryFiles: b.Files, RepositoryLines: b.Lines,
		PatchFiles: s.SourceFiles, PatchHunks: s.SourceHunks, PatchLines: s.SourceAdded + s.SourceRemoved,
		FailToPass: len(r.FailToPass), PassToPass: len(r.PassToPass), StatementWords: len(strings.Fields(r.ProblemStatement)),
	}
}

// code counts the source files of a language and their lines.
func code(t *tree.Tree, language string) (files, lines int) {
	for _, p := range t.Paths() {
		e, _ := t.Entry(p)
		if e.Mode == tree.ModeSymlink || !languages.IsSource(language, p) {
			continue
		}
		files++
		lines += bytes.Count(e.Data, []byte("\n"))
		if n := len(e.Data); n > 0 && e.Data[n-1] != '\n' {
			lines++
		}
	}
	return files, lines
}

// metric is one figure of the table of statistics.
type metric struct {
	name, title string
	unit        string // of its values
	of          func(Statistics) int
}

var metrics = []metric{
	{"repository_files", "Repository: source files at base", "source files", func(s Statistics) int { return s.RepositoryFiles }},
	{"repository_lines", "Repository: source lines at base", "source lines", func(s Statistics) int { return s.RepositoryLines }},
	{"patch_files", "Gold patch: files", "files", func(s Statistics) int { return s.PatchFiles }},
	{"patch_hunks", "Gold patch: hunks", "hunks", func(s Statistics) int { return s.PatchHunks }},
	{"patch_lines", "Gold patch: lines", "lines", func(s Statistics) int { return s.PatchLines }},
	{"fail_to_pass", "FAIL_TO_PASS tests", "tests", func(s Statistics) int { return s.FailToPass }},
	{"pass_to_pass", "PASS_TO_PASS tests", "tests", func(s Statistics) int { return s.PassToPass }},
	{"statement_words", "Statement: words", "words", func(s Statistics) int { return s.StatementWords }},
}

// Statistic is one figure over all rows.
type Statistic struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"` // to two places
	Median float64 `json:"median"`
	Min    int     `json:"min"`
	Max    int     `json:"max"`
}

// Title says in words what the figure is; its name where it has none.
func (s Statistic) Title() string {
	for _, m := range metrics {
		if m.name == s.Name {
			return m.title
		}
	}
	return s.Name
}

// tally is what the card says of the rows; it keeps eight numbers of each.
type tally struct {
	files     map[string]schemas.Digest // digests of the files of rows
	figures   [][]int                   // by metric
	languages map[string]int
	labels    map[string]int
	licences  map[string]int
	repos     map[string]int
	// categories are empty where no repository came from a list.
	categories map[string]int
	hunks      int // of the code parts, tried by the adequacy check
	noticed    int
	findings   map[schemas.HunkFinding]int
	byHand     int      // whose statement or interface somebody wrote
	listed     []listed // the first tableRows tasks
	edits      *editTally
	services   *serviceTally
	libraries  *libraryTally
	slices     *libraryTally
	of         []schemas.Kind // of each task, as figures
	months     map[string]int // by created_at; of releases, as are windows and kinds
	days       []string       // of FirstPublic, of releases
	windows    map[string]int // by the version that they came with
	kinds      map[string]int
	lite       int // libraries of Lite
	reviews    reviewTally
	values     map[string]map[string]int // of balance.Properties
}

// listed is a task as the card lists it.
type listed struct {
	id, language, label string
	failToPass          int
	wish                string // the statement's first sentence
}

func newTally() *tally {
	return &tally{files: map[string]schemas.Digest{}, figures: make([][]int, len(metrics)), languages: map[string]int{}, labels: map[string]int{}, licences: map[string]int{}, repos: map[string]int{}, categories: map[string]int{}, findings: map[schemas.HunkFinding]int{}, edits: newEditTally(), services: newServiceTally(), libraries: newLibraryTally(false), slices: newLibraryTally(true), months: map[string]int{}, windows: map[string]int{}, kinds: map[string]int{}, values: map[string]map[string]int{}}
}

func (t *tally) add(r Row) {
	e := r.Benchmint
	for i, m := range metrics {
		t.figures[i] = append(t.figures[i], m.of(e.Statistics))
	}
	t.of = append(t.of, e.Kind)
	t.languages[e.Language]++
	if e.Change != nil {
		t.labels[string(e.Change.Label)]++
	}
	t.licences[orUnknown(e.Licence)]++
	t.repos[r.Repo]++
	if e.Category != "" {
		t.categories[e.Category]++
	}
	t.hunks += e.Adequacy.Tried
	t.noticed += e.Adequacy.Noticed
	t.findings[e.Adequacy.Finding]++
	if e.Kind == schemas.KindEdit {
		t.edits.add(r)
	}
	t.services.add(r)
	t.libraries.add(r)
	t.slices.add(r)
	if e.Release != nil {
		t.months[r.Created().UTC().Format("2006-01")]++
		t.windows[windowOf(r)]++
		day, _ := r.FirstPublic()
		t.days = append(t.days, day)
		t.kinds[string(e.Kind)]++
		if r.In(Lite) {
			t.lite++
		}
	}
	if e.WrittenBy == schemas.Hand {
		t.byHand++
	}
	t.reviews.add(e.Reviews)
	t.count(r)
	if len(t.listed) < tableRows {
		l := listed{id: r.InstanceID, language: e.Language, failToPass: len(r.FailToPass)}
		if e.Change != nil {
			l.label = string(e.Change.Label)
		}
		text, _ := prose.Split(r.ProblemStatement)
		l.wish, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		if all := prose.Sentences(l.wish); len(all) > 0 {
			l.wish = all[0]
		}
		t.listed = append(t.listed, l)
	}
}

// tasks is how many rows there were.
func (t *tally) tasks() int { return len(t.figures[0]) }

// statistics is the table; of no rows there is none.
func (t *tally) statistics() []Statistic {
	out := []Statistic{}
	for i, m := range metrics {
		if t.tasks() > 0 {
			out = append(out, statistic(m.name, t.figures[i]))
		}
	}
	return out
}

// statistic is a figure of some tasks, at least one.
func statistic(name string, figures []int) Statistic {
	values := slices.Sorted(slices.Values(figures))
	sum := 0
	for _, v := range values {
		sum += v
	}
	n := len(values)
	return Statistic{
		Name: name, Mean: math.Round(100*float64(sum)/float64(n)) / 100,
		Median: float64(values[(n-1)/2]+values[n/2]) / 2, Min: values[0], Max: values[n-1],
	}
}

// kind are the figures of the tasks of one kind, by metric.
func (t *tally) kind(k schemas.Kind) [][]int {
	out := make([][]int, len(metrics))
	for i, of := range t.of {
		if of != k {
			continue
		}
		for m := range metrics {
			out[m] = append(out[m], t.figures[m][i])
		}
	}
	return out
}
