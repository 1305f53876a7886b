package describe

import (
	"encoding/json"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
)

// sentText says what a request is sent of its own, with … for values of earlier answers.
func sentText(q contract.Request) string {
	var parts []string
	add := func(what string, v any) {
		b, err := json.Marshal(withoutRefs(v, 0))
		if err == nil && len(b) <= shapeLength {
			parts = append(parts, what+" `"+strings.ReplaceAll(string(b), "`", "'")+"`")
		}
	}
	if len(q.Params) > 0 {
		add("path parameters", q.Params)
	}
	if len(q.Query) > 0 {
		add("query parameters", q.Query)
	}
	if q.Encoding != "" {
		add("the body", q.Body)
	}
	text := "Asked"
	if len(parts) > 0 {
		text += " with " + strings.Join(parts, " and ")
	}
	if len(q.Headers) == 0 {
		return text + " without credentials"
	}
	return text + " by a user"
}

// withoutRefs is a value of a request with … for its references.
func withoutRefs(v any, depth int) any {
	if _, _, ok := contract.AsRef(v); ok || depth > shapeDepth {
		return "…"
	}
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			out[k] = withoutRefs(e, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = withoutRefs(e, depth+1)
		}
		return out
	}
	return v
}
