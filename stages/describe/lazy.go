package describe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// Lazy drafts the instruction of an edit by the rules: the first wish of each commit as an
// order, and nothing else, as somebody says it who has the code open.
type Lazy struct{}

var _ Drafter = Lazy{}

// Draft implements Drafter.
func (Lazy) Draft(ctx context.Context, m Material) (Draft, error) {
	d, err := Rules{}.Draft(ctx, m)
	if err != nil {
		return d, err
	}
	var drafts []Draft
	if !tidying.MatchString(m.Change.Subject) {
		drafts = append(drafts, d)
	}
	for i, c := range m.Change.Range {
		if i == 0 || tidying.MatchString(c.Subject) { // the first one's message is the change's
			continue
		}
		own := m
		own.Change = schemas.Change{Kind: schemas.KindEdit, Subject: c.Subject}
		more, err := Rules{}.Draft(ctx, own)
		if err != nil {
			return d, err
		}
		drafts = append(drafts, more)
	}
	d.Text, d.From = joined(drafts)
	d.Hints = ""
	return d, nil
}

// tidying recognises subjects of commits that tidy up after others of their range: they ask for
// nothing that a test could notice.
var tidying = lazyregexp.New(`(?i)^(?:wip\b|(?:(?:fix|correct|add|update|appease|please|run|apply|format|reformat|silence|address|mention)\w* (?:[\w'-]+ ){0,2})?(?:typos?|long lines?|lint(?:er|ing)?|flake8|black|isort|ruff|gofmt|whitespace|spelling|change ?log|review comments?|docs|documentation|docstrings?|pep ?8(?: fixes)?|(?:code |docs? |docstring |test )?clean ?ups?|(?:minor |small |more )?optimi[sz]ations?|refactoring)\.?$)`)

// orderOf is the first wish of a draft, without its opening and its full stop.
func orderOf(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimPrefix(text, first)
	if at := strings.Index(text, ". "); at > 0 {
		text = text[:at]
	}
	text = strings.TrimSuffix(text, ".")
	if what, ok := strings.CutPrefix(text, "not "); ok {
		return "do not " + what
	}
	// A subject without a verb names what is new, or what is wrong.
	if what, ok := strings.CutPrefix(text, "have "); ok {
		text = "add " + what
		if wrong.MatchString(what) {
			text = "fix " + what
		}
	}
	return text
}

// wrong distinguishes a fault that is named from a thing that is.
var wrong = lazyregexp.New(`(?i)\b(?:incorrect|missing|wrong|broken|fail(?:s|ed|ure|ing)?|errors?|crash(?:es)?|panics?|leaks?|bugs?|regressions?|issues?|problems?)\b`)

// joined is one sentence of the orders of the first few drafts that do not say the same, and
// the texts that these were made of.
func joined(drafts []Draft) (text string, from []string) {
	const most, alike = 3, 0.6
	var kept []string
	seen := map[string]bool{}
	for _, d := range drafts {
		o := orderOf(d.Text)
		words := content(o)
		if o == "" || len(kept) == most || len(kept) > 0 && share(words, seen) > alike {
			continue
		}
		kept, seen = append(kept, o), union(seen, words)
		for _, f := range d.From {
			if !slices.Contains(from, f) {
				from = append(from, f)
			}
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	text = kept[0]
	for i, o := range kept[1:] {
		text += map[bool]string{true: ", and ", false: ", "}[i == len(kept)-2] + o
	}
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:] + ".", from
}

// mostWords bounds an instruction (the paper's mean is 70 tokens, deviation 37).
const mostWords = 80

// ordered checks what holds of every instruction of an edit: an order in words, and a short
// one. What stands below it (names and values of the tests) does not count.
func ordered(text string) error {
	order, _, _ := strings.Cut(text, "\n")
	if !imperative(order) {
		return fmt.Errorf("does not begin with an order: %.60q", order)
	}
	if n := len(strings.Fields(order)); n > mostWords {
		return fmt.Errorf("has %d words, and is to be short", n)
	}
	if code := prose.Code(text); len(code) > 0 {
		return fmt.Errorf("holds code: %.60q", code[0])
	}
	return honest(text)
}

// imperative reports whether an order begins with a verb in the imperative, behind "do not",
// "never", "only" and other adverbs. A word counts as a verb that is no noun, pronoun or other
// form of a verb, as far as its looks tell.
func imperative(order string) bool {
	words := strings.Fields(strings.ToLower(order))
	for len(words) > 1 {
		word := strings.TrimRight(words[0], ",")
		v, known := verbs()[word]
		switch {
		case known:
			return v.form == base
		case adverbial.MatchString(word):
			words = words[1:]
		case slices.Contains(determiners, word) || slices.Contains(countable, word) || slices.Contains(prepositions, word) || slices.Contains(relative, word):
			return false
		default:
			return plainWord(word) && !slices.Contains(finite, word) && !noVerb.MatchString(word)
		}
	}
	return false
}

// adverbial matches words that an order may have before its verb.
var adverbial = lazyregexp.New(`^(?:do|don['’]t|not|never|always|(?:on|[a-z]{3,}[^pt])ly)$`)

// noVerb matches pronouns, and the endings of nouns, adjectives and other forms of verbs.
var noVerb = lazyregexp.New(`^(?:i|we|you|he|she|there|here|please)$|^[a-z]{2,}(?:[^s]s|ed|ing|[ts]ion|ness|ity|ism|able|ible|ful|less|ous|ance|ence)$`)

// lazyThin reports whether an instruction does not even say what is to be edited: one needs
// two words with meaning, or one beside names that stand below it.
func lazyThin(text string, stated int) bool {
	words := len(content(text)) + len(prose.Names(text))
	return words == 0 || words+min(stated, 1) < 2
}
