package score

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/modelfile"
)

// CutOff is what a model resolves of the tasks from before the end of its training data, and of those from after it. The date of a
// task is that of its work (created_at).
type CutOff struct {
	modelfile.Model
	Before Share `json:"before"`
	After  Share `json:"after"`
	// Difference is the rate before less that after, Low and High its interval of 95 % (Newcombe 1998, method 10). An interval
	// above 0 says that the model is better at what it may have seen; it does not say why.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Months     []Month `json:"months"`            // by date
	Undated    int     `json:"undated,omitempty"` // tasks without a date, which count for neither
}

// Month is what is resolved of the tasks of one month.
type Month struct {
	Month    string `json:"month"` // 2025-03
	Resolved Share  `json:"resolved"`
}

// cutOff is that of a model, nil where the file has no entry for it.
func cutOff(all modelfile.Models, model string, tasks []Task, answers []Answer) *CutOff {
	m, ok := all.Of(model)
	if !ok || m.CutOff.IsZero() {
		return nil
	}
	out := &CutOff{Model: m, Months: []Month{}}
	g := group(tasks, answers)
	share := func(keep func(time.Time) bool) Share {
		return g.only(func(t Task) bool { return !t.CreatedAt.IsZero() && keep(t.CreatedAt) }).share(resolved)
	}
	out.Before, out.After = share(func(at time.Time) bool { return !at.After(m.CutOff) }), share(func(at time.Time) bool { return at.After(m.CutOff) })
	a, b := out.Before.Estimate, out.After.Estimate
	out.Difference = a.Rate - b.Rate
	out.Low = out.Difference - math.Hypot(a.Rate-a.Low, b.High-b.Rate)
	out.High = out.Difference + math.Hypot(a.High-a.Rate, b.Rate-b.Low)
	months := map[string]bool{}
	for _, t := range tasks {
		if t.CreatedAt.IsZero() {
			out.Undated++
			continue
		}
		months[month(t.CreatedAt)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(months)) {
		out.Months = append(out.Months, Month{name, share(func(at time.Time) bool { return month(at) == name })})
	}
	return out
}

func month(t time.Time) string { return t.UTC().Format("2006-01") }
