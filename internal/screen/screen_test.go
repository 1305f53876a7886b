package screen_test

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/screen"
)

func TestMask(t *testing.T) {
	t.Parallel()
	keep := func(address string) bool { return address == "kept@box.io" }
	for _, tc := range []struct{ text, want, rules string }{
		{"Reported by jane@corp.io.", "Reported by <email>.", "email"},
		{"Signed-off-by: Jane van Doe <jane@corp.co.uk>", "Signed-off-by: Jane van <name> <<email>>", "name email"},
		{"Thanks to Zoë O'Hara (zoe+x@corp.io)!\nAnd\nÉmile <e@corp.io>", "Thanks to <name> (<email>)!\nAnd\n<name> <<email>>", "name email name email"},
		{"see user@example.com, a@sub.example.org, x@host.test, git@corp.io:a/b.git, noreply@corp.io", "", ""},
		{"ssh://jane@corp.io/x and <https://jane@corp.io>", "", ""},
		{"the decorator a@b and 1@2.3 and @jane and x @ y.com", "", ""},
		{"Kept <kept@box.io> and Other <other@box.io>", "Kept <kept@box.io> and <name> <<email>>", "name email"},
		{"This Shitty thing; shitake and class_shit stay", "This <word> thing; shitake and class_shit stay", "word"},
		{"fuck@corp.io", "<email>", "email"},
		{"nothing", "", ""},
	} {
		want := tc.want
		if want == "" {
			want = tc.text
		}
		got, found := screen.Mask(tc.text, keep)
		var rules []string
		for _, f := range found {
			rules = append(rules, f.Rule)
			if f.Line != 1 && !strings.Contains(tc.text, "\n") {
				t.Errorf("%q: line %d", tc.text, f.Line)
			}
		}
		if got != want || strings.Join(rules, " ") != tc.rules {
			t.Errorf("%q: %q by %v, want %q", tc.text, got, rules, want)
		}
	}
	if found := screen.Find("x\ny\na@corp.io\n", keep); len(found) != 1 || found[0].Line != 3 {
		t.Errorf("%+v", found)
	}
}
