package release

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output"
)

// Freshness is how new the public tasks of a version are.
type Freshness struct {
	Tasks  []Dated `json:"tasks"`  // in order of ID
	Models []After `json:"models"` // in the order of their file
}

// Dated is the first day on which a task's solution was public.
type Dated struct {
	ID   string `json:"id"`
	Date string `json:"date"` // YYYY-MM-DD, "" where none is known
	From string `json:"from"` // commit, release or pull_request
}

// After is how many tasks were first public after a model's cut-off.
type After struct {
	output.CutOff
	Tasks int     `json:"tasks"`
	Share float64 `json:"share"` // of the version's tasks, 0 where it has none
}

func freshness(d *output.Dataset) *Freshness {
	f := &Freshness{[]Dated{}, []After{}}
	for _, r := range d.Rows {
		day, from := r.FirstPublic()
		f.Tasks = append(f.Tasks, Dated{r.InstanceID, day, from})
	}
	slices.SortFunc(f.Tasks, func(a, b Dated) int { return strings.Compare(a.ID, b.ID) })
	for _, c := range d.Manifest.Release.CutOffs {
		a := After{CutOff: c}
		for _, t := range f.Tasks {
			if c.After(t.Date) {
				a.Tasks++
			}
		}
		a.Share = float64(a.Tasks) / float64(max(1, len(f.Tasks)))
		f.Models = append(f.Models, a)
	}
	return f
}

// CutOffs are those of models, and which of them have a configuration of their own: since names these.
func CutOffs(all modelfile.Models, since []string) (out []output.CutOff, err error) {
	configs, known := map[string]string{}, []string{}
	for _, m := range all {
		if m.CutOff.IsZero() {
			continue
		}
		known = append(known, m.Name)
		out = append(out, output.CutOff{Model: m.Name, CutOff: m.CutOff.UTC().Format(time.DateOnly), Source: m.Source, Config: slices.Contains(since, m.Name)})
	}
	for _, name := range since {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--since-cutoff %q: the file of models has no cut-off of it%s", name, cmp.Or(nearest.Hint(name, known), " (known: "+strings.Join(known, ", ")+")"))
		}
		config := output.SinceConfig(name)
		if other := configs[config]; other != "" && other != name {
			return nil, fmt.Errorf("--since-cutoff: %s and %s have one configuration, %s", other, name, config)
		}
		configs[config] = name
	}
	return out, nil
}

// cutOffs are those of the version. A correction keeps those of the version that it corrects.
func (c *Candidate) cutOffs() []output.CutOff {
	if c.Work == nil {
		return c.Previous.Manifest.Release.CutOffs
	}
	return c.CutOffs
}

// fresh refuses a configuration that has no task.
func (c *Candidate) fresh() error {
	for _, cut := range c.CutOffs {
		if cut.Config && !c.secret && !slices.ContainsFunc(c.Tasks, func(t Task) bool {
			day, _ := t.Row.FirstPublic()
			return cut.After(day)
		}) {
			return fmt.Errorf("--since-cutoff %s: no task was first public after %s", cut.Model, cut.CutOff)
		}
	}
	return nil
}
