package nearest

import "testing"

func TestWord(t *testing.T) {
	t.Parallel()
	known := []string{"since", "until", "only", "git", "acme__widget-12"}
	for _, tt := range []struct {
		name, word, want string
		ok               bool
	}{
		{"swapped_letters", "sinec", "since", true},
		{"missing_letter", "untl", "until", true},
		{"short_word_swapped", "gti", "git", true},
		{"short_word_two_off", "gxx", "", false},
		{"short_word_one_off", "got", "git", true},
		{"far_away", "sandbox", "", false},
		{"long_id", "acme__widgt-12", "acme__widget-12", true},
		{"exact", "only", "only", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := Word(tt.word, known)
			if got != tt.want || ok != tt.ok {
				t.Errorf("Word(%q) = %q, %v; want %q, %v", tt.word, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	if got := Hint("statsu", []string{"status", "show"}); got != "; did you mean status?" {
		t.Errorf("Hint = %q", got)
	}
	if got := Hint("nothing", []string{"status"}); got != "" {
		t.Errorf("Hint of a far word = %q", got)
	}
}
