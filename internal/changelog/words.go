package changelog

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	roleName  = lazyregexp.New("(?::[A-Za-z:_-]+:|\\{[A-Za-z:_-]+\\})`")
	credit    = lazyregexp.New(`(?i)(?:\bpr by|\bby|\bthanks(?: to)?|\bcontributed by|\bpatch by|\breported by)\s+@?[\w-]+(?:\s+in\b)?|@[A-Za-z0-9-]+`)
	numberRef = lazyregexp.New("(?i)(?::[a-z_-]+:|\\{[a-z_-]+\\})`[#!]?\\d+`|\\bgh-\\d+|[#!]\\d+|\\b[0-9a-f]{7,40}\\b")
	word      = lazyregexp.New(`[\p{L}\p{N}]+`)
)

// Words returns the words of a text without markup, references and credits. Two entries
// with the same words are the same entry, wherever they stand and however they are wrapped.
func Words(text string) []string {
	text = mdTarget.ReplaceAllString(text, "]")
	text = restLink.ReplaceAllString(text, "$1")
	text = bareURL.ReplaceAllString(text, " ")
	text = numberRef.ReplaceAllString(text, " ")
	text = roleName.ReplaceAllString(text, "`")
	text = credit.ReplaceAllString(text, " ")
	return word.FindAllString(strings.ToLower(text), -1)
}

// Likeness returns how many words two texts have in common (Dice's coefficient): 1 for the
// same words, 0 for none.
func Likeness(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	counts := map[string]int{}
	for _, w := range a {
		counts[w]++
	}
	shared := 0
	for _, w := range b {
		if counts[w] > 0 {
			counts[w]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}
