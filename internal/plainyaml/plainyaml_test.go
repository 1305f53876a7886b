package plainyaml_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"

	"github.com/benchmint/benchmint/internal/plainyaml"
)

func TestDeepAndAliased(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text          string
		deep, aliased bool
	}{
		"plain":        {"a: [b, {c: d}]\ne:\n  - f\n", false, false},
		"wide":         {"a: [" + strings.Repeat("[b], ", 1000) + "]\n" + strings.Repeat("- a\n", 1000), false, false},
		"brackets":     {strings.Repeat("[", 65), true, false},
		"braces":       {"a: " + strings.Repeat("{a: ", 65), true, false},
		"on_a_line":    {strings.Repeat("- ", 65) + "a\n", true, false},
		"anchor_alone": {"a: &b c\n", false, false},
		"alias":        {"a: &b c\nd: *b\n", false, true},
		"merge":        {"a: &b {c: d}\ne:\n  <<: *b\n", false, true},
		"star_in_text": {"a: \"*b\"\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := lexer.Tokenize(c.text)
			if deep, aliased := plainyaml.Deep(tokens), plainyaml.Aliased(tokens); deep != c.deep || aliased != c.aliased {
				t.Errorf("deep %v, aliased %v", deep, aliased)
			}
		})
	}
}
