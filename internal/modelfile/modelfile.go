// Package modelfile reads what is known of models: until when they have seen the world, and what other benchmarks say of them.
//
//	# models.yaml
//	- name: gpt-5           # as predictions name it; agents and settings in brackets after it are left out
//	  cutoff: 2024-10-01    # the last day of the training data; a month (2024-10) is its last day
//	  released: 2025-08-07  # may be left out
//	  scores: {mmlu: 88.7}  # of other benchmarks; may be left out
//	  source: https://example.com/model-card   # who says so
//
// An entry has a cutoff, or scores, or both.
//
// It never looks a model up: what the file does not say is not known.
package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/plainyaml"
)

// Model is one entry.
type Model struct {
	Name     string             `json:"name"`
	CutOff   time.Time          `json:"cutoff,omitzero"`   // the end of the last day, UTC; zero where it is not said
	Released time.Time          `json:"released,omitzero"` // zero where it is not said
	Source   string             `json:"source"`
	Scores   map[string]float64 `json:"scores,omitempty"`
}

// Models are the entries of a file.
type Models []Model

// Read reads a file. An error names file, line and key.
func Read(name string) (Models, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	fail := func(line int, form string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(form, args...))
	}
	if tokens := lexer.Tokenize(string(data)); plainyaml.Deep(tokens) || plainyaml.Aliased(tokens) {
		return nil, fail(1, "aliases and deep nesting are not read")
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(file.Docs) != 1 {
		return nil, fail(1, "a list of models is wanted, not %d documents", len(file.Docs))
	}
	list, ok := file.Docs[0].Body.(*ast.SequenceNode)
	if !ok {
		return nil, fail(1, "a list of models is wanted: - {name: …, cutoff: 2024-10, source: …}")
	}
	var out Models
	for _, entry := range list.Values {
		line := entry.GetToken().Position.Line
		m, at, err := modelOf(entry)
		if err != nil {
			return nil, fail(max(at, line), "%s", err)
		}
		if _, twice := out.find(m.Name); twice {
			return nil, fail(line, "%s is given more than once", m.Name)
		}
		out = append(out, m)
	}
	return out, nil
}

var keys = []string{"name", "cutoff", "released", "scores", "source"}

// modelOf reads one entry. line is that of what is wrong.
func modelOf(n ast.Node) (m Model, line int, err error) {
	pairs := pairsOf(n)
	if pairs == nil {
		return m, 0, errors.New("an entry has name, cutoff and source")
	}
	values := map[string]string{}
	for _, p := range pairs {
		key, at := p.Key.GetToken().Value, p.Key.GetToken().Position.Line
		if !slices.Contains(keys, key) {
			return m, at, fmt.Errorf("unknown key %q%s", key, cmp.Or(nearest.Hint(key, keys), " (known: "+strings.Join(keys, ", ")+")"))
		}
		if key == "scores" {
			if m.Scores, err = scoresOf(p.Value); err != nil {
				return m, at, err
			}
			continue
		}
		if values[key], err = m.take(key, p.Value); err != nil {
			return m, at, err
		}
	}
	m.Name, m.Source = values["name"], values["source"]
	for _, key := range []string{"name", "source"} {
		if values[key] == "" {
			return m, 0, fmt.Errorf("%s is missing", key)
		}
	}
	if m.CutOff.IsZero() && len(m.Scores) == 0 {
		return m, 0, errors.New("cutoff is missing, and so are scores")
	}
	return m, 0, nil
}

// take reads a word or a date.
func (m *Model) take(key string, n ast.Node) (string, error) {
	value, ok := n.(ast.ScalarNode)
	if !ok {
		return "", fmt.Errorf("%s is a word or a date", key)
	}
	text := value.GetToken().Value
	into := map[string]*time.Time{"cutoff": &m.CutOff, "released": &m.Released}[key]
	if into == nil {
		return text, nil
	}
	day, err := dayOf(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	*into = day
	return text, nil
}

// scoresOf are the figures of other benchmarks, by name.
func scoresOf(n ast.Node) (map[string]float64, error) {
	out := map[string]float64{}
	for _, p := range pairsOf(n) {
		name := p.Key.GetToken().Value
		v, err := strconv.ParseFloat(p.Value.GetToken().Value, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("scores: %s: %q is no number", name, p.Value.GetToken().Value)
		}
		out[name] = v
	}
	if len(out) == 0 {
		return nil, errors.New("scores holds figures by the name of a benchmark: {mmlu: 88.7}")
	}
	return out, nil
}

func pairsOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// dayOf is the end of a day, or of the last day of a month.
func dayOf(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	if t, err := time.Parse("2006-01", text); err == nil {
		return t.AddDate(0, 1, 0).Add(-time.Second), nil
	}
	return time.Time{}, fmt.Errorf("%q is no date (2024-10-01, or the month 2024-10)", text)
}

// Of is the entry of a model of predictions: the name itself, else without what stands in brackets after it.
func (all Models) Of(model string) (Model, bool) {
	if m, ok := all.find(model); ok {
		return m, true
	}
	name, _, ok := strings.Cut(model, " (")
	if !ok {
		return Model{}, false
	}
	return all.find(name)
}

func (all Models) find(name string) (Model, bool) {
	i := slices.IndexFunc(all, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return all[i], true
}
