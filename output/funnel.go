package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// level is one line of the funnel as FeatBench prints it: what is left after a
// filter, and what the filter took.
type level struct {
	title string
	count int
	of    int // the level before that this one is a share of; 0 where it is none
	// sources says that it counts repositories, and not what was found in them.
	sources bool
	// Lost are the ends of what came in and did not get here.
	rejected map[schemas.Reason]int
	deferred int
	failed   int
}

// branch is the part of the funnel that one kind has for itself: the stage that makes
// its items, and what that stage filters out.
type branch struct {
	stage string
	title string // of all that came in
	// filters are the levels behind it, in order. One takes the rejects of its reasons;
	// one without reasons takes everything that no other one takes.
	filters []filter
}

type filter struct {
	title   string
	reasons []schemas.Reason
	// key is the setting that turns it on; "" for what is always on. A filter that was off
	// took nothing and checked nothing: it has no level.
	key string
}

// off reports whether a configuration turns the filter off.
func (x filter) off(configuration map[string]any) bool {
	on, set := configuration[x.key].(bool)
	return x.key != "" && set && !on
}

// levels are those of a branch, and how many items it made.
func (b branch) levels(f Funnel, configuration map[string]any) ([]level, int) {
	rest := Funnel{Rejected: maps.Clone(f.Rejected), Deferred: f.Deferred, Failed: f.Failed}
	taken := make([]Funnel, len(b.filters))
	for i, x := range b.filters {
		taken[i].Rejected = map[schemas.Reason]int{}
		for _, r := range x.reasons {
			if n := rest.Rejected[r]; n > 0 {
				taken[i].Rejected[r] = n
				delete(rest.Rejected, r)
			}
		}
	}
	last := total(f)
	out := []level{{title: b.title, count: last}}
	for i, x := range b.filters {
		if x.off(configuration) {
			continue
		}
		if len(x.reasons) == 0 {
			taken[i] = rest
		}
		l := lost(level{title: x.title, count: last - total(taken[i]), of: last}, taken[i])
		out, last = append(out, l), l.count
	}
	return out, last
}

// met are the levels behind the branches: each is over when all its stages are.
var met = []struct {
	title  string
	stages []string
}{
	{"with a label that is asked for", []string{"classify"}},
	{"with an environment", []string{"resolve", "provision"}},
	{"proved", []string{suited, "validate"}},
	{"with a statement", []string{"assess", "describe", documented}},
	{"in the dataset", []string{exported}},
}

// suited is the stage that edits without tests alone come to.
const suited = "suite"

// documented is the stage that libraries alone come to.
const documented = "document"

// surveyed is the stage that sources of services come to.
const surveyed = "survey"

// levels is the funnel of a manifest, from repositories over the branch of each kind to
// rows. A stage that was not in the plan has no level.
func levels(m Manifest) []level {
	stages := map[string]Funnel{}
	for _, f := range m.Funnel {
		stages[f.Stage] = f
	}
	var configuration map[string]any
	_ = json.Unmarshal(m.Configuration, &configuration) // one that cannot be read turns nothing off
	var out []level
	if crawl, ok := stages["crawl"]; ok {
		sources := total(crawl)
		out = append(out, level{title: "Repositories", count: sources, sources: true}, lost(level{title: "that pass the gates", count: crawl.Done, of: sources, sources: true}, crawl))
	}
	if survey, ok := stages[surveyed]; ok && total(survey) > 0 {
		out = append(out, lost(level{title: "whose service starts", count: survey.Done, of: total(survey), sources: true}, survey))
	}
	last, made := 0, false
	for _, k := range kinds {
		f, ok := stages[k.funnel.stage]
		if ok && (total(f) > 0 || k.name == schemas.KindFeature) {
			own, n := k.funnel.levels(f, configuration)
			out, last, made = append(out, own...), last+n, true
		}
	}
	if !made {
		return out
	}
	for _, l := range met {
		next, in := level{title: l.title, count: last, of: last}, false
		for _, name := range l.stages {
			if f, ok := stages[name]; ok {
				next, in = lost(next, f), true
				if name == documented || name == suited {
					next.count -= total(f) - f.Done
				} else {
					next.count = f.Done
				}
			}
		}
		if in {
			out, last = append(out, next), next.count
		}
	}
	return out
}

func total(f Funnel) int {
	n := f.Done + f.Deferred + f.Failed
	for _, k := range f.Rejected {
		n += k
	}
	return n
}

func lost(l level, f Funnel) level {
	reasons := map[schemas.Reason]int{}
	maps.Copy(reasons, l.rejected)
	for r, n := range f.Rejected {
		reasons[r] += n
	}
	l.rejected, l.deferred, l.failed = reasons, l.deferred+f.Deferred, l.failed+f.Failed
	return l
}

// share is of the level before, in percent; "" where there is none.
func (l level) share() string {
	if l.of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(l.count)/float64(l.of))
}

// gone says what was taken, most first.
func (l level) gone() string {
	reasons := slices.SortedFunc(maps.Keys(l.rejected), func(a, b schemas.Reason) int {
		return cmp.Or(l.rejected[b]-l.rejected[a], strings.Compare(string(a), string(b)))
	})
	var out []string
	for _, r := range reasons {
		if n := l.rejected[r]; n > 0 {
			out = append(out, fmt.Sprintf("%d `%s`", n, r))
		}
	}
	if l.deferred > 0 {
		out = append(out, fmt.Sprintf("%d deferred", l.deferred))
	}
	if l.failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", l.failed))
	}
	return strings.Join(out, ", ")
}

// Level is one line of the funnel for a reader.
type Level struct {
	Title string
	Count int
	Of    int // the level before that this one is a share of; 0 where it is none
	// Sources says that it counts repositories, and not what was found in them.
	Sources bool
	Lost    string // what did not get here, most first: "3 link/no_tests, 1 failed"
}

// Levels is the funnel of a manifest, from repositories to rows.
func (m Manifest) Levels() []Level {
	var out []Level
	for _, l := range levels(m) {
		out = append(out, Level{Title: l.title, Count: l.count, Of: l.of, Sources: l.sources, Lost: strings.ReplaceAll(l.gone(), "`", "")})
	}
	return out
}
