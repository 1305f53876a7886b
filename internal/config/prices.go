package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/nearest"
)

// Prices are what models cost, by name.
type Prices map[string]llm.Price

// rates are the words of both a price and a tier; cached_input is input where it is not set.
var rates = []struct {
	name string
	ptr  func(*llm.Rates) *float64
}{
	{"input", func(r *llm.Rates) *float64 { return &r.Input }},
	{"cached_input", func(r *llm.Rates) *float64 { return &r.Cached }},
	{"output", func(r *llm.Rates) *float64 { return &r.Output }},
}

// rateWords are those of rates and others.
func rateWords(others ...string) []string {
	var out []string
	for _, r := range rates {
		out = append(out, r.name)
	}
	return append(out, others...)
}

// String is the prices as a file has them.
func (p Prices) String() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		entry := rateText(p[name].Rates)
		var tiers []string
		for _, t := range p[name].Tiers {
			tiers = append(tiers, "{"+strings.Join(tierText(t), ", ")+"}")
		}
		if len(tiers) > 0 {
			entry = append(entry, "tiers: ["+strings.Join(tiers, ", ")+"]")
		}
		words = append(words, quote(name)+": {"+strings.Join(entry, ", ")+"}")
	}
	return "{" + strings.Join(words, ", ") + "}"
}

func rateText(of llm.Rates) []string {
	var out []string
	for _, r := range rates {
		if r.name != "cached_input" || of.Cached != of.Input {
			out = append(out, r.name+": "+format(r.ptr(&of)))
		}
	}
	return out
}

func tierText(t llm.Tier) []string {
	var out []string
	if t.Above > 0 {
		out = append(out, "above: "+strconv.FormatInt(t.Above, 10))
	}
	if len(t.Hours) > 0 {
		words := make([]string, len(t.Hours))
		for i, h := range t.Hours {
			words[i] = strconv.Quote(h.String())
		}
		out = append(out, "hours: ["+strings.Join(words, ", ")+"]")
	}
	return append(out, rateText(t.Rates)...)
}

// json is the prices as JSON has them.
func (p Prices) json() map[string]any {
	out := map[string]any{}
	for name, price := range p {
		entry := map[string]any{}
		putRates(entry, price.Rates)
		var tiers []any
		for _, t := range price.Tiers {
			tier := map[string]any{}
			putRates(tier, t.Rates)
			if t.Above > 0 {
				tier["above"] = t.Above
			}
			if len(t.Hours) > 0 {
				var hours []string
				for _, h := range t.Hours {
					hours = append(hours, h.String())
				}
				tier["hours"] = hours
			}
			tiers = append(tiers, tier)
		}
		if len(tiers) > 0 {
			entry["tiers"] = tiers
		}
		out[name] = entry
	}
	return out
}

func putRates(into map[string]any, of llm.Rates) {
	for _, r := range rates {
		into[r.name] = *r.ptr(&of)
	}
}

// parsePrices reads the prices of a variable or a flag, in one line as a file has them.
func parsePrices(text string) (Prices, error) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%q is not YAML of prices (%s)", text, priceSample)
	}
	r := &reader{}
	out := r.prices(file.Docs[0].Body)
	var problems []string
	for _, p := range r.problems {
		problems = append(problems, p.Text)
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	return out, nil
}

const priceSample = "{small-model: {input: 0.10, output: 0.50}}"

// prices reads prices by model.
func (r *reader) prices(n ast.Node) Prices {
	models, ok := pairsOf(n)
	if !ok {
		r.problem(n, "model.prices must hold prices by model, such as %s", priceSample)
		return nil
	}
	out := Prices{}
	for _, model := range models {
		name := model.Key.GetToken().Value
		var price llm.Price
		words := r.priceWords("model.prices."+name, model.Value, &price.Rates, "tiers")
		if tiers := words["tiers"]; tiers != nil {
			price.Tiers = r.tiers("model.prices."+name+".tiers", tiers)
		}
		out[name] = price
	}
	return out
}

func (r *reader) tiers(path string, n ast.Node) (out []llm.Tier) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.problem(n, "%s must be a list, such as [{above: 100000, input: 0.50, output: 2.50}]", path)
		return nil
	}
	for i, entry := range list.Values {
		var tier llm.Tier
		at := fmt.Sprintf("%s[%d]", path, i)
		words := r.priceWords(at, entry, &tier.Rates, "above", "hours")
		if words == nil {
			continue
		}
		if above := words["above"]; above != nil {
			text, _ := scalarOf(above)
			var err error
			if tier.Above, err = strconv.ParseInt(text, 10, 64); err != nil || tier.Above < 1 {
				r.problem(above, "%s.above: %q is not a number of input tokens", at, text)
			}
		}
		if hours := words["hours"]; hours != nil {
			tier.Hours = r.hours(at+".hours", hours)
		}
		if words["above"] == nil && words["hours"] == nil {
			r.problem(entry, "%s: above (input tokens) or hours (of the day in UTC) is missing: it would hold always", at)
		}
		out = append(out, tier)
	}
	return out
}

func (r *reader) hours(path string, n ast.Node) (out []llm.Hours) {
	var words []string
	list, ok := n.(*ast.SequenceNode)
	if !ok || r.words(&words, list) != nil || len(words) == 0 {
		r.problem(n, `%s must be a list, such as ["01:00-04:00"]`, path)
		return nil
	}
	for _, word := range words {
		h, err := llm.ParseHours(word)
		if err != nil {
			r.problem(n, "%s: %v", path, err)
			continue
		}
		out = append(out, h)
	}
	return out
}

// priceWords reads the rates of a price or a tier, and gives the values of the other words. It
// is nil where there are none to be read.
func (r *reader) priceWords(path string, n ast.Node, into *llm.Rates, others ...string) map[string]ast.Node {
	pairs, ok := pairsOf(n)
	if !ok {
		r.problem(n, "%s must hold input and output, in dollars per million tokens", path)
		return nil
	}
	known, words := rateWords(others...), map[string]ast.Node{}
	for _, p := range pairs {
		name := p.Key.GetToken().Value
		if !slices.Contains(known, name) {
			r.problem(p.Key, "unknown key %q%s", path+"."+name, cmp.Or(nearest.Hint(name, known), " (known: "+strings.Join(known, ", ")+")"))
			continue
		}
		words[name] = p.Value
	}
	for _, rate := range rates {
		value := words[rate.name]
		if value == nil {
			if rate.name != "cached_input" {
				r.problem(n, "%s: %s is missing, in dollars per million tokens", path, rate.name)
			}
			continue
		}
		text, _ := scalarOf(value)
		if v, err := parseFloat(text); err != nil || v < 0 {
			r.problem(value, "%s.%s: %q is not a number of dollars", path, rate.name, text)
		} else {
			*rate.ptr(into) = v
		}
	}
	if words["cached_input"] == nil {
		into.Cached = into.Input
	}
	return words
}

// pricesSchema is the JSON Schema of prices.
func pricesSchema() *jsonschema.Schema {
	number := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "number", Minimum: new(float64)} }
	entry := func(doc string) *jsonschema.Schema {
		s := object(doc)
		for _, r := range rates {
			s.Properties[r.name] = number()
		}
		s.Required = []string{"input", "output"}
		return s
	}
	tier := entry("rates that hold instead, for the whole request, above so many input tokens and at hours of the day in UTC; the last that applies holds")
	least := 1.0
	tier.Properties["above"] = &jsonschema.Schema{Type: "integer", Minimum: &least}
	tier.Properties["hours"] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: `^[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}$`}}
	price := entry("dollars per million tokens; cached_input is input where it is not set")
	price.Properties["tiers"] = &jsonschema.Schema{Type: "array", Items: tier}
	return price
}

// Priced are the models' prices: those of prices, and price_input with price_output for the
// first model.
func (m Model) Priced() map[string]llm.Price {
	out := map[string]llm.Price{m.Name: {Rates: llm.Rates{Input: m.PriceInput, Cached: m.PriceInput, Output: m.PriceOutput}}}
	maps.Copy(out, m.Prices)
	return out
}

// prices checks that each model that may be asked has one price.
func (k *checker) prices() {
	m := k.c.Model
	names := m.Names()
	for _, name := range slices.Sorted(maps.Keys(m.Prices)) {
		if !slices.Contains(names, name) {
			k.at("model.prices", "%q is neither model.name nor in model.fallback%s", name, nearest.Hint(name, names))
		}
	}
	plain := m.PriceInput != 0 || m.PriceOutput != 0
	if _, both := m.Prices[m.Name]; both && plain {
		k.at("model.prices", "%q has a price in model.price_input and model.price_output as well", m.Name)
	}
	if m.Local() && !plain && len(m.Prices) == 0 {
		return
	}
	priced := m.Priced()
	for i, name := range names {
		_, listed := m.Prices[name]
		price := priced[name]
		switch {
		case !listed && (i > 0 || m.Local() && !plain):
			k.at("model.prices", "the price of %q is missing: model.price_input and model.price_output are those of model.name alone", name)
		case !m.Local() && (price.Input == 0 || price.Output == 0):
			k.at("model.price_output", "the prices of an endpoint elsewhere are needed: without them model.max_cost holds nothing back")
		}
	}
}
