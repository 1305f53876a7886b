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
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Lazy drafts the instruction of an edit by the rules: its wish as an order, as somebody gives it who has the code open,
// and what else its author says is wanted, in one paragraph.
type Lazy struct{}

var _ Drafter = Lazy{}

// Draft implements Drafter. The commits of an edit are of one wish: a later one's order stands behind the first where it
// says something else.
func (Lazy) Draft(ctx context.Context, m Material) (Draft, error) {
	pipeline.Provide(ctx, prompts.ByRules())
	const most, alike = 3, 0.6
	all := []schemas.Change{m.Change}
	for _, c := range m.Change.Range[min(1, len(m.Change.Range)):] { // the first one's message is the change's
		all = append(all, schemas.Change{Kind: schemas.KindEdit, Subject: c.Subject})
	}
	var orders, rest []piece
	var seen map[string]bool
	for _, c := range all {
		d := read(c).withoutCode().without(m.Forbidden).draft().testable()
		if len(d.wishes) == 0 || orderOf(d.wishes[0].text) == "" || len(orders) == most || tidying.MatchString(c.Subject) {
			continue
		}
		order := d.wishes[0]
		order.text = orderOf(order.text)
		if words := content(order.text); len(orders) == 0 || share(words, seen) <= alike {
			orders, rest, seen = append(orders, order), append(rest, d.rest...), union(seen, words)
		}
	}
	text, from := paragraph(orders, rest)
	return Draft{Provider: prompts.Rules, Text: text, From: from}, nil
}

// besides matches sentences of an author's that are about something else, or about the text itself.
var besides = lazyregexp.New(`(?i)^(?:--|also|additionally|in addition|(?:in|while) (?:doing|the process|passing)|along the way|at the same time|besides|furthermore|moreover|while (?:here|at it|we|i)|drive-?by|unrelated|note|nb|todo|see|cc|thanks|this (?:commit|patch|pr|pull request|change) (?:also|was|is|has)|for (?:example|instance)|as (?:an example|mentioned|discussed))\b`)

// paragraph is the orders, and of the rest as many sentences as an instruction holds. from names their sources.
func paragraph(orders, rest []piece) (text string, from []string) {
	const related = 0.3
	words := 0
	for i, p := range slices.Concat(orders, rest) {
		s, order := sentence(p), i < len(orders)
		if !order {
			if p.item || p.example || strings.HasSuffix(s, ":") || besides.MatchString(s) {
				continue
			}
			if order = strings.HasPrefix(s, first); order {
				if s = orderOf(s) + "."; share(content(s), content(text)) < related {
					continue // another wish, or how this one is done
				}
			}
		}
		if words += len(strings.Fields(s)); words > mostWords && i > 0 {
			break
		}
		if r, n := utf8.DecodeRuneInString(s); order { // an author's sentence may begin with a name
			s = string(unicode.ToUpper(r)) + s[n:]
		}
		text += " " + s
		if !slices.Contains(from, p.from) {
			from = append(from, p.from)
		}
	}
	return strings.TrimSpace(text), from
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
