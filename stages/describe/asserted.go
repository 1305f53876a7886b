package describe

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
)

// assertions are the lines that a change adds to the sources of its tests, with the names of the
// tests, and the stems of their words.
type assertions struct {
	text  string
	words map[string]bool
}

// asserts reads what the tests assert, once.
func (s *solution) asserts() assertions {
	if s.asserting != nil {
		return *s.asserting
	}
	a := assertions{words: map[string]bool{}}
	for _, id := range s.failing {
		a.text += testName(id) + "\n"
	}
	for _, p := range s.start.TestPaths() {
		if _, source := grammar(p); !source {
			continue
		}
		before := map[string]bool{}
		for line := range strings.Lines(string(s.base.read(p))) {
			before[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(string(s.after.read(p))) {
			if !before[strings.TrimSpace(line)] {
				a.text += line
			}
		}
	}
	for _, name := range letters.FindAllString(strings.ReplaceAll(a.text, "_", " "), -1) {
		a.words[stem(strings.ToLower(name))] = true
		for _, part := range humps.FindAllString(name, -1) {
			a.words[stem(strings.ToLower(part))] = true
		}
	}
	for _, word := range []string{"test", "assert", "def", "func", "expect", "want", "got", "self"} { // in any test
		delete(a.words, word)
	}
	s.asserting = &a
	return a
}

// testName is the name of a test without the path of its file and without its case.
func testName(id string) string {
	id, _, _ = strings.Cut(id, "[")
	return id[strings.LastIndex(id, ":")+1:]
}

var (
	humps = lazyregexp.New(`[A-Z]?[a-z]{2,}`)
	// nameForm are words with a sign, a digit or a capital within: no English words.
	nameForm = lazyregexp.New(`[\pL\d]+(?:[-_.][\pL\d]+)+|\pL*\p{Ll}\p{Lu}[\pL\d]*|\pL+\d[\pL\d]*`)
	// hyphenated is an English word of that form.
	hyphenated = lazyregexp.New(`^\w?\p{Ll}+(?:-\p{Ll}+)+$`)
)

// asserted counts the names and words of a text that what the tests assert has too: who says "add
// Retry-After to the answer" says what is asserted. Of a text with words that have the form of
// a name, only those count. Else words count, and as names those that the tests ask the changed
// files for. Words that fit any program never do.
func (s *solution) asserted(text string) (names, words int) {
	a := s.asserts()
	formed := slices.DeleteFunc(nameForm.FindAllString(text, -1), func(w string) bool { return hyphenated.MatchString(w) })
	if len(formed) > 0 {
		for _, name := range formed {
			if prose.Says(a.text, name) {
				names++
			}
		}
		return names, 0
	}
	for word := range content(text) {
		if !anywhere()[word] && a.has(word) {
			words++
		}
	}
	for _, word := range letters.FindAllString(text, -1) {
		_, verb := verbs()[word]
		if s.tests.asked[word] && len(s.declared[word]) > 0 && !verb && !anywhere()[word] && !slices.Contains(countable, word) {
			names++
		}
	}
	return names, words
}

// has reports whether a word, or another form of it, is asserted.
func (a assertions) has(word string) bool {
	const sure = 5                                                       // letters that two forms of a word share
	root := func(w string) string { return strings.TrimRight(w, "eiy") } // lazy, lazily
	for other := range a.words {
		if root(other) == root(word) || len(other) >= sure && strings.HasPrefix(word, other) || len(word) >= sure && strings.HasPrefix(other, word) {
			return true
		}
	}
	return false
}
