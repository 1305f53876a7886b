package plaintoml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/plaintoml"
)

func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		costly bool
	}{
		"manifest":        {"[project]\nname = 'a'\ndependencies = ['b', 'c']\n[tool.x.y]\nz = {a = 1, b = [{c = 2}]}\n", false},
		"many_keys":       {repeated(9_000, "k%d = 1\n"), false},
		"lock":            {repeated(20_000, "[[package]]\nname = 'p%d'\nversion = '1'\nwheels = [{url = 'u', hash = 'h'}, {url = 'u', hash = 'h'}]\n[package.metadata]\nx = 1\n[[package.extra]]\ny = 1\n"), false},
		"too_many_keys":   {repeated(20_000, "k%d = 1\n"), true},
		"tables":          {repeated(20_000, "[t%d]\n"), true},
		"lists":           {repeated(20_000, "[[t%d]]\n"), true},
		"inline":          {"a = {" + strings.TrimSuffix(repeated(20_000, "k%d = 1, "), ", ") + "}\n", true},
		"in_a_list":       {"a = [" + repeated(20_000, "{k = %d}, ") + "]\n", true},
		"dotted":          {"a" + strings.Repeat(".a", 20_000) + " = 1\n", true},
		"forgets_a_bit":   {repeated(20_000, "[[a]]\n[[b]]\n[b.t%d]\nk = 1\n[[c%[1]d]]\n"), true},
		"forgets_often":   {repeated(5_000, "k%d = 1\n") + strings.Repeat("[[a]]\n", 40_000), true},
		"broken":          {"a = \n" + repeated(20_000, "k%d = 1\n"), false},
		"below_one_name":  {repeated(20_000, "[[a]]\n[a.t%d]\nk = 1\n"), false},
		"beside_one_name": {repeated(20_000, "[[a]]\n[ab.t%d]\nk = 1\n"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out map[string]any
			err := plaintoml.Decode([]byte(c.text), &out)
			if errors.Is(err, plaintoml.ErrCostly) != c.costly || err == nil && len(out) == 0 {
				t.Errorf("%v, %d keys", err, len(out))
			}
		})
	}
}
