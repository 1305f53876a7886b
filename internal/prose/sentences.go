package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var shortened = strings.Fields("e.g. i.e. vs. cf. etc. approx. resp. incl. a.k.a. w.r.t. no. fig. mr. dr. st. al. ca. esp. eg. ie.")

// Sentences splits one plain paragraph. It never splits inside backticks, quotation marks
// or brackets.
func Sentences(text string) []string {
	var out []string
	start, depth, code, quoted := 0, 0, false, false
	for i, r := range text {
		switch {
		case r == '`':
			code = !code
		case code:
		case r == '"':
			quoted = !quoted
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth = max(0, depth-1)
		case (r == '.' || r == '!' || r == '?') && depth == 0 && !quoted && ends(text, i):
			out = append(out, strings.TrimSpace(text[start:i+1]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// ends reports whether the mark at i ends a sentence: a blank and a capital, a digit or a
// name follow, and it does not belong to a known abbreviation.
func ends(text string, i int) bool {
	rest := text[i+1:]
	if rest == "" {
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	if !unicode.IsUpper(next) && !unicode.IsDigit(next) && !strings.ContainsRune("`\"'(", next) && unicode.IsLetter(next) {
		return false
	}
	word := text[:i+1]
	word = word[strings.LastIndexAny(word, " (")+1:]
	return !slices.Contains(shortened, strings.ToLower(word))
}

var (
	boilerplate = lazyregexp.New(`(?i)^(?:(?:and|also|but|so|then)?,? ?)(?:make sure|this reverts commit|no other\b|this is an? (?:alternative|follow|first|quick|simple|small|backport|draft)|for (?:(?:more|further) )?(?:info|information|details)\b|please|ps:|by submitting|i (?:have|'ve) (?:read|checked|added tests|tested|run)|i confirm|if you need help|just ask|thanks|thank you|kudos|hello|hi\b|hey\b|lgtm|wip\b|nit\b|todo\b|tbd\b|n/?a\b|none\b|summary by|generated (?:with|by)|auto-?generated|assisted|sorry|not sure|feel free|let me know|what do you think|closes?\b.?$|fix(?:es)?\.?$|update\.?$|for more information|squash|rebase|merge branch|merged?\.?$|apply suggestions|co-?authored|see (?:the )?(?:issue|discussion|linked|above|below)|it was reported|reported by|(?:this|the) (?:bug|issue) was (?:reported|introduced))`)
	bots        = lazyregexp.New(`(?i)pre-commit\.ci|pre-commit (?:autoupdate|hooks|modules|config)|dependabot|renovate|github-actions|copilot|coderabbit|claude|chatgpt|codex|cursor bot|auto fixes from|\[bot\]|skip[- ]ci|ci skip|codecov|sonarcloud`)
	process     = lazyregexp.New(`(?i)^(?:(?:and|also|then)\s+)?(?:(?:this|the) (?:pr|pull request|change|commit|patch) (?:also )?)?(?:i(?:'ve)? )?(?:(?:also|just) )?(?:add(?:s|ed|ing)?|updat(?:e|es|ed|ing)|includ(?:e|es|ed|ing)|improv(?:e|es|ed|ing)|increas(?:e|es|ed|ing)|writ(?:e|es|ing)|wrote|fix(?:es|ed|ing)?|adjust(?:s|ed|ing)?|adapt(?:s|ed|ing)?|creat(?:e|es|ed|ing)|extend(?:s|ed|ing)?|mov(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|rework(?:s|ed|ing)?|rewrit(?:e|es|ing)|simplif(?:y|ies|ied)|clean(?:s|ed|ing)?(?: up)?|rais(?:e|es|ed|ing)d?|bump(?:s|ed|ing)?|run(?:s|ning)?|tweak(?:s|ed|ing)?|correct(?:s|ed|ing)?|document(?:s|ed|ing)?|mention(?:s|ed|ing)?|polish|rephrase)\b[^.]{0,60}\b(?:tests?|test[- ]cases?|unit ?tests?|testing|coverage|test suite|changelog|change ?log|news ?fragments?|news|release notes?|docs?|docstrings?|documentation|readme|typos?|lint(?:er|ing)?|mypy|ruff|flake8|black|isort|pylint|type hints?|typing|ci|workflow|pre-commit|formatting|code style|whitespace|benchmarks?|golden files?|snapshots?|review comments?|pr feedback|versionadded|versionchanged|comments?)\b`)
	aboutTests  = lazyregexp.New(`(?i)^(?:(?:and|also) )?(?:negative|new|all|existing|extensive|comprehensive|unit|regression|more|some|missing|an?|the|test)\b[^.]{0,40}\b(?:tests|test[- ]cases?|unit ?tests?|testing|test coverage|test suite)\b`)
	upkeep      = lazyregexp.New(`(?i)\b(?:regression tests?|unit tests?|test coverage|tests? (?:pass(?:es|ed)?|continue|cover|case|verif|exist|have been|has been|were|was|is|are|fail)|go test|git diff|pytest -|news fragment|changelog entry|code review|pre-existing|flak(?:e|y)|no (?:new )?(?:behaviou?r|functional) changes?|ci (?:jobs?|failures?|run)|bench(?:mark)?stat|ns/op|allocs?/op|\btest_\w+|\.github\b|golangci|addressed? (?:review|comments?|feedback|pr|copilot)|pr feedback|pr title|this pr is|test names?|doctests?)\b`)
	pointing    = lazyregexp.New(`(?i)\b(?:the following|following (?:code|example|snippet|test|script|program|output|error|traceback|command|table|config)\w*|as follows|shown (?:above|below)|(?:code|example|snippet|script|output|traceback|table|program|test)s? (?:above|below)|(?:above|below) (?:code|example|snippet|script|output|program|table)|example usage|usage example|for example:|e\.g\.:|like (?:this|so|that)[.:]?$|(?:this|that|these) (?:code|example|snippet|script|program)s?)\b`)
	aside       = lazyregexp.New(`^\([^()]*\)\.?$`)
	fragment    = lazyregexp.New(`(?i)^(?:(?:feat|fix|chore|docs?|refactor|perf|tests?|build|ci|style|revert|deps)(?:\([^)]*\))?!?:)`)
)

// Noise reports whether a sentence does not say what a change does for a user: greetings,
// thanks, bots, and remarks about the work on it (tests, changelog, review).
func Noise(sentence string) bool {
	words := strings.FieldsFunc(sentence, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) < 2 || aside.MatchString(sentence) || boilerplate.MatchString(sentence) || bots.MatchString(sentence) || process.MatchString(sentence) || aboutTests.MatchString(sentence) ||
		upkeep.MatchString(sentence) || fragment.MatchString(sentence)
}

// Bot reports whether a text was written by a machine or for one.
func Bot(sentence string) bool { return bots.MatchString(sentence) || thanks.MatchString(sentence) }

var thanks = lazyregexp.New(`(?i)^(?:thanks|thank you|kudos|contributed by|patch by|reported by|pr by|by\b|see\b|refer to\b|read more\b)[^.]{0,60}\.?$`)

// Leads reports whether a sentence is incomplete without the block next to it.
func Leads(sentence string) bool { return leads.MatchString(sentence) }

var leads = lazyregexp.New(`(?i)(?:\b(?:do|does|did|example|this|that|these|those|with|use it|like|run|running|be|is|was|now|becomes?|output|returns?|prints?|shows?|gives?|raises?|error|usage)[.:…]*$)|^(?:e\.g|for (?:example|instance)|given|consider|for)\b`)

// Points reports whether a sentence refers to the block next to it ("as shown below").
func Points(sentence string) bool {
	return strings.HasSuffix(sentence, ":") || pointing.MatchString(sentence)
}

var defines = lazyregexp.New(`(?m)^[\s>.]*(?:(?:class|def|func|type|var|const)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?::=|=[^=]))`)

// Defines returns the names that a listing defines: a sentence with such a name is about
// the listing.
func Defines(listing string) []string {
	var out []string
	for _, m := range defines.FindAllStringSubmatch(listing, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}
