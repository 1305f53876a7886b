package python

import (
	"strings"
	"testing"
)

func TestEraOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines, want string
	}{
		"pins":            {"flask==1.0.2,click==8", "2019 2019"},
		"a_bound":         {"werkzeug>=0.15,<0.16|jinja2", "2019 2019"},
		"a_bound_of_a_0":  {"flask>=1.1,<2.0", "2021 2021"},
		"the_newest_pin":  {"flask<2|django==4.1|werkzeug<0.16", "2022 2019"},
		"compatible":      {"aiohttp~=3.6.2", "2020 2020"},
		"a_lock":          {"flask<2|-c flask==0.12", "2021 2018"},
		"of_today":        {"flask<9", ""},
		"a_lower_bound":   {"flask>=1.0", ""},
		"of_a_marker":     {"flask ; python_version < '3.4'", ""},
		"below_the_first": {"flask<0", ""},
	} {
		var all []requirement
		for line := range strings.SplitSeq(c.lines, "|") {
			all = append(all, requirement{line, "requirements.txt"})
		}
		got := ""
		if last, first, ok := eraOf(all); ok {
			got = last.Format("2006") + " " + first.Format("2006")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
