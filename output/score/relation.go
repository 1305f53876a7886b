package score

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchmint/benchmint/internal/modelfile"
)

// Relation is how one figure goes with another: Pearson's r, over answers or over models.
type Relation struct {
	Of   string `json:"of"`   // tokens, input_tokens, output_tokens, turns, cost, or another benchmark
	With string `json:"with"` // resolved
	N    int    `json:"n"`
	// R is between -1 and 1; a relation without one, because a figure is the same everywhere, is not listed.
	R float64 `json:"r"`
	// P is the two-sided chance of an r as far from 0 if there were no relation (Student's t); nil below leastForP pairs.
	P *float64 `json:"p,omitempty"`
}

const leastForP = 10

// relation is that of pairs; false where there is none to be known.
func relation(of, with string, x, y []float64) (Relation, bool) {
	out := Relation{Of: of, With: with, N: len(x)}
	if len(x) < 3 || stat.Variance(x, nil) == 0 || stat.Variance(y, nil) == 0 {
		return out, false
	}
	out.R = max(-1, min(1, stat.Correlation(x, y, nil)))
	if n := float64(out.N); out.N >= leastForP {
		p := 0.
		if left := 1 - out.R*out.R; left > 0 {
			p = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 2}.Survival(math.Abs(out.R)*math.Sqrt((n-2)/left))
		}
		out.P = &p
	}
	return out, true
}

// efforts are the figures of what an answer took.
var efforts = []struct {
	name string
	of   func(Answer) float64
	mean func(MeanEffort) float64
}{
	{"tokens", func(a Answer) float64 { return float64(a.Grade.Prediction.Tokens) }, func(e MeanEffort) float64 { return e.Tokens }},
	{"input_tokens", func(a Answer) float64 { return float64(a.Grade.Prediction.InputTokens) }, func(e MeanEffort) float64 { return e.InputTokens }},
	{"output_tokens", func(a Answer) float64 { return float64(a.Grade.Prediction.OutputTokens) }, func(e MeanEffort) float64 { return e.OutputTokens }},
	{"turns", func(a Answer) float64 { return float64(a.Grade.Prediction.Turns) }, func(e MeanEffort) float64 { return e.Turns }},
	{"cost", func(a Answer) float64 { return a.Grade.Prediction.Cost }, func(e MeanEffort) float64 { return e.Cost }},
}

// relationsOf hold what the answers of a model took against whether they resolve. Those that do not say a figure are left out of it.
func relationsOf(all []Answer) (out []Relation) {
	for _, e := range efforts {
		var x, y []float64
		for _, a := range all {
			if v := e.of(a); v > 0 {
				x, y = append(x, v), append(y, float64(one(resolved(a))))
			}
		}
		if r, ok := relation(e.name, "resolved", x, y); ok {
			out = append(out, r)
		}
	}
	return out
}

// modelRelations hold the mean of what models took against the rate that they resolve (ABC-Bench's Figure 5, FeatBench's Figure 7), and
// what other benchmarks say of them (RES-Q's correlations).
func modelRelations(models []Model, known modelfile.Models) []Relation {
	out := []Relation{}
	scores, rates := map[string][]float64{}, map[string][]float64{}
	for _, m := range models {
		k, _ := known.Of(m.Model)
		for name, v := range k.Scores {
			scores[name], rates[name] = append(scores[name], v), append(rates[name], m.Metrics.Resolved.Rate)
		}
	}
	for _, name := range sortedKeys(scores) {
		if r, ok := relation(name, "resolved", scores[name], rates[name]); ok {
			out = append(out, r)
		}
	}
	for _, e := range efforts {
		var x, y []float64
		for _, m := range models {
			if v := e.mean(m.Metrics.MeanEffort); v > 0 {
				x, y = append(x, v), append(y, m.Metrics.Resolved.Rate)
			}
		}
		if r, ok := relation(e.name, "resolved", x, y); ok {
			out = append(out, r)
		}
	}
	return out
}
