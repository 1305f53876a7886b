package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// Shares are those of the values of properties, 0 to 1, by property; nil for balance.Even.
type Shares map[string]map[string]float64

const shareSample = "{language: {python: 0.5, go: 0.5}, category: even}"

// String is the shares as a file has them.
func (s Shares) String() string {
	var out []string
	for _, p := range balance.Properties {
		values, asked := s[p]
		switch {
		case !asked:
		case values == nil:
			out = append(out, p+": "+balance.Even)
		default:
			var of []string
			for _, v := range slices.Sorted(maps.Keys(values)) {
				of = append(of, quote(v)+": "+strconv.FormatFloat(values[v], 'g', -1, 64))
			}
			out = append(out, p+": {"+strings.Join(of, ", ")+"}")
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// json is the shares as JSON has them.
func (s Shares) json() map[string]any {
	out := map[string]any{}
	for p, values := range s {
		if out[p] = values; values == nil {
			out[p] = balance.Even
		}
	}
	return out
}

// parseShares reads the shares of a variable or a flag, in one line as a file has them.
func parseShares(text string) (Shares, error) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%q is not YAML of shares (%s)", text, shareSample)
	}
	r := &reader{}
	out := r.shares("balance.by", file.Docs[0].Body)
	var problems []string
	for _, p := range r.problems {
		problems = append(problems, p.Text)
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	return out, nil
}

// shares reads shares by property.
func (r *reader) shares(path string, n ast.Node) Shares {
	properties, ok := pairsOf(n)
	if !ok {
		r.problem(n, "%s must hold properties, such as %s", path, shareSample)
		return nil
	}
	out := Shares{}
	for _, p := range properties {
		name := p.Key.GetToken().Value
		if !slices.Contains(balance.Properties, name) {
			r.problem(p.Key, "unknown property %q of %s%s", name, path, hintOr(name, balance.Properties))
			continue
		}
		if word, scalar := scalarOf(p.Value); scalar && word == balance.Even {
			out[name] = nil
			continue
		}
		values, ok := pairsOf(p.Value)
		if !ok {
			r.problem(p.Value, "%s.%s must be %s, or shares by value such as {python: 0.5, go: 0.5}", path, name, balance.Even)
			continue
		}
		out[name] = r.sharesOf(path+"."+name, p.Key, values, shareWords[name])
	}
	return out
}

// shareWords are the values of the properties that have a closed set.
var shareWords = map[string][]string{balance.Language: languages.Built(), balance.Kind: madeKinds, balance.Framework: append([]string{balance.None}, schemas.Frameworks...)}

// sharesOf reads the shares of one property's values; known is nil for any value.
func (r *reader) sharesOf(path string, key ast.Node, values []*ast.MappingValueNode, known []string) map[string]float64 {
	out, sum := map[string]float64{}, 0.0
	before := len(r.problems)
	for _, v := range values {
		name := v.Key.GetToken().Value
		if known != nil && !slices.Contains(known, name) {
			r.problem(v.Key, "%s: %q is not one of %s%s", path, name, strings.Join(known, ", "), nearest.Hint(name, known))
		}
		text, _ := scalarOf(v.Value)
		share, err := parseFloat(text)
		if err != nil || share <= 0 || share > 1 {
			r.problem(v.Value, "%s.%s: %q is not a share (above 0, at most 1)", path, name, text)
		}
		out[name] = share
		sum += share
	}
	if len(r.problems) == before && math.Abs(sum-1) > 0.015 {
		r.problem(key, "%s: the shares sum to %g, not to 1", path, math.Round(1000*sum)/1000)
	}
	return out
}

func sharesSchema() map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for _, p := range balance.Properties {
		above := 0.0
		out[p] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Enum: []any{balance.Even}},
			{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "number", ExclusiveMinimum: &above}},
		}}
	}
	return out
}
