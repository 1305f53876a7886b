package prose

import "testing"

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext\nof two lines, naïve": "plain\ttext\nof two lines, naïve",
		"a\x1b]0;PWNED\x07b":               `a\u001b]0;PWNED\u0007b`,
		"a\u202eb\u2066c\u200fd":           `a\u202eb\u2066c\u200fd`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
