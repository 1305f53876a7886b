package secrets

import (
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("aB3", 40)
	for _, tc := range []struct{ text, want string }{
		{"no secret: ghp_short, sk-test, AKIA, pypi-token, xoxb-1", "no secret: ghp_short, sk-test, AKIA, pypi-token, xoxb-1"},
		{"it is ghp_" + a[:36] + ".", "it is <secret>."},
		{"gho_" + a[:40] + " and ghs_" + a[:36], "<secret> and <secret>"},
		{"github_pat_" + a[:82], "<secret>"},
		{"key=sk-proj-" + a[:60] + "&x", "key=<secret>&x"},
		{"AKIA" + strings.Repeat("Q", 16), "<secret>"},
		{"xoxb" + "-123456789012-" + a[:24], "<secret>"},
		{"pypi-" + a[:100], "<secret>"},
		{"the password hunter2 is known", "the password <secret> is known"},
	} {
		if got := Scrub(tc.text, "hunter2", ""); got != tc.want {
			t.Errorf("%q: %q", tc.text, got)
		}
	}
	if Find("x ghp_"+a[:36]) != "ghp_"+a[:36] || Find("ghost") != "" {
		t.Error("Find")
	}
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("the ghost asks for a token of high quality. ", 500)
	for b.Loop() {
		Scrub(text)
	}
}
