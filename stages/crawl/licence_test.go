package crawl

import "testing"

func TestLicence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed []string
		found   string
		want    bool
	}{
		"same":            {[]string{"Apache-2.0", "MIT"}, "MIT", true},
		"lower_case":      {[]string{"mit"}, "MIT", true},
		"one_of_a_choice": {[]string{"MIT"}, "Apache-2.0 OR MIT", true},
		"another":         {[]string{"MIT"}, "GPL-3.0", false},
		"part_of_a_name":  {[]string{"MIT"}, "MIT-0", false},
		"none":            {[]string{"MIT"}, "", false},
		"no_gate":         {nil, "", true},
	} {
		if got := (&Gate{config: Config{Licences: c.allowed}}).licence(c.found) == nil; got != c.want {
			t.Errorf("%s: let in is %t", name, got)
		}
	}
}
