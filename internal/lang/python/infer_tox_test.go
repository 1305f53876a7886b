package python

import (
	"strings"
	"testing"
)

// Lists of names with braces are expanded to a bound, and no further.
func TestExpandBraces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"plain":      {"py310, py311-{a,b}\nlint", 4},
		"nested":     {"py{310,31{1,2}}-{a,b}", 8},
		"many":       {"py" + strings.Repeat("{a,b}", 60), 256},
		"too_long":   {"py" + strings.Repeat("{a,b}", 4000), 1},
		"unclosed":   {strings.Repeat("{a,", 4000), 1},
		"one_by_one": {strings.Repeat("{a,b},", 100), 200},
	} {
		if got := expandBraces(c.text); len(got) != c.want {
			t.Errorf("%s: %d names, want %d", name, len(got), c.want)
		}
	}
}
