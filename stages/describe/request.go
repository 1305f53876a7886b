package describe

import (
	"slices"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	conventional = lazyregexp.New(`(?i)^\W*\[?(feat|feature|features|fix|bugfix|bug|hotfix|chores?|docs?|refactor|perf|tests?|build|ci|style|revert|enhancement|improvement|deprecation|security|internal|misc|miscellaneous|trivial|maintenance|(?-i:ENH|EHN|MAINT|MNT|PI|API|DEP|ROB|SEC|TST|STY|BLD|DX)|breaking|breaking change|backwards?[- ]incompati?ble)\]?(?:\s*\(([^()]*)\)|/(\w+))?!?\s*(?::|\]|-\s)\s*`)
	branch       = lazyregexp.New(`(?i)^(fix|feat|feature|bugfix|hotfix|enhancement)/(?:(?:issue|gh)[ -]?\d*[ -]?|\d{2,6}[ /-])?`)
	ticket       = lazyregexp.New(`^\d{1,6}/([A-Za-z])`) // "182/pickleable exceptions", of a branch's name
	done         = lazyregexp.New(`(?i)^(\S.*?) (?:has|have) (?:now |also )*been (\w+)(.*)$`)
	slashed      = lazyregexp.New(`^([A-Za-z]+)/([A-Za-z].*)$`)
	fixed        = lazyregexp.New(`(?i)^(.+\S) (?:bug ?)?fix(?:es)?$`)
	adverb       = lazyregexp.New(`(?i)^((?:(?:just|also|now|simply|always|\w+ly) )+)(\w+)( .*)$`)
	scoped       = lazyregexp.New("^((?:`[^`]+`|[A-Za-z_][\\w./-]*)(?: [\\w./-]+){0,2})\\s*: +(\\S.*)$")
	bracketed    = lazyregexp.New(`^\s*(?:\[[^\[\]]{1,30}\]|\([a-z -]{1,20}\)|\*\*[^*]{1,40}\*\*:?)\s*`)
	possible     = lazyregexp.New(`(?i)^(?:it is|it's|it was)(?: (?:now|also))* possible to (?:also )?(.+)$`)
	canNow       = lazyregexp.New(`(?i)^(?:you|users?|one|we|developers|callers|applications) (?:can|may|could) (?:now |also )*(.+)$`)
	thisChange   = lazyregexp.New(`(?i)^(?:this|the|my)(?: (?:pr|pull request|change|changeset|commit|patch|mr|branch|feature|fix|release))?(?: now| also| simply| just)? (\w+)((?: .*)?)$`)
	withChange   = lazyregexp.New(`(?i)^(?:with|after|as of|by|in) (?:this|the|these) (?:proposed )?(?:pr|pull request|changes?|commit|patch|release|feature|fix),? +`)
	nowWord      = lazyregexp.New(`\b((?:is|are|can|will|does|has|have|was|were|should|may|do|must)(?: not|n't)?) now\b|\bnow ((?:` + "`" + `|\w))`)
	endingNow    = lazyregexp.New(` now([.,;]?)$`)
	dont         = lazyregexp.New(`(?i)^(?:don't|do not|don’t|never) (.+)$`)
	// earlier matches a sentence about what was: nobody wants that.
	earlier = lazyregexp.New(`(?i)^(?:previously|formerly|before this|currently|at the moment|until now|so far|right now|historically|as it (?:is|stands))\b`)
	// risk matches a sentence about what can happen: nobody wants that either.
	risk    = lazyregexp.New(`(?i)^[^,;:]* (?:may not|might) `)
	allowed = lazyregexp.New(`(?i)\bnow\b|no longer`)
	// gained matches a sentence about what a thing has got.
	gained = lazyregexp.New(`(?i)^(\S.*?) (?:have |has |also )*(?:gained|gains) (.+)$`)
	bullet = lazyregexp.New(`^[*•-]\s+`)
	sure   = lazyregexp.New(`(?i)^(?:make|making|made|makes) sure (?:that )?(.+)$`)
)

// howDone is the order of a sentence that begins with an adverb and a verb, "" for any other.
func howDone(s string) string {
	m := adverb.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	v, ok := verbs()[strings.ToLower(m[2])]
	if !ok || v.form == gerund {
		return ""
	}
	how := strings.ToLower(m[1])
	if !strings.HasSuffix(how, "ly ") || how == "simply " {
		how = ""
	}
	return how + verbal(v, m[3][1:])
}

// doneTo turns "X has been renamed to y" into "rename X to y", "" where it says something else.
func doneTo(s string) string {
	m := done.FindStringSubmatch(s)
	if m == nil || clause(m[1]) || subordinate.MatchString(m[1]) {
		return ""
	}
	v := verbs()[strings.ToLower(m[2])]
	if v.form != past || !slices.Contains(makers, v.base) {
		return ""
	}
	return v.base + " " + article(v.base, lower(m[1])) + m[3]
}

var subordinate = lazyregexp.New(`(?i)\b(?:that|which|who|when|if|because|where|while|after)\b`)

// makers are verbs of which "X has been …" says what the change is.
var makers = strings.Fields(`add fix remove rename change deprecate implement introduce improve replace extend drop move`)

// longGain matches what goes on after the thing that is gained.
var longGain = lazyregexp.New(`(?i) (?:so|when|where|which|that|if|because|to) `)

// request rewords a note, a subject or an author's sentence as what follows "I want to".
// certain is false where nothing in the text says how it is meant: a bare noun then
// becomes something to have.
//
// The cases, in order: "You can now V" and "It is possible to V" → be able to V; a verb
// first, in any form ("Added", "Fixes", "Allow") → the verb; a whole sentence ("X no longer
// raises") → make sure that X …; else a noun → the verb that its heading suggests.
func request(sentence, heading string) (text string, certain bool) {
	s, scope, kind := unscoped(bullet.ReplaceAllString(strings.TrimSpace(sentence), ""))
	if heading == "" {
		heading = kind
	}
	s = strings.TrimRight(strings.TrimSpace(s), ".!…;:, ")
	if s == "" {
		return "", false
	}
	text, certain = want(s, heading)
	if scope != "" && !strings.Contains(text, strings.Trim(scope, "`")) {
		text += " in " + scope
	}
	return text, certain
}

func want(s, heading string) (string, bool) {
	s = withChange.ReplaceAllString(s, "")
	if earlier.MatchString(s) {
		return "", false
	}
	as := func(text string) string { return text }
	for _, form := range []struct {
		of    *lazyregexp.Regexp
		begin string
		rest  func(string) string
	}{{possible, "be able to ", as}, {canNow, "be able to ", as}, {dont, "not ", lower}, {sure, "make sure that ", lower}} {
		if m := form.of.FindStringSubmatch(s); m != nil {
			return form.begin + form.rest(m[1]), true
		}
	}
	if m := thisChange.FindStringSubmatch(s); m != nil && verbs()[strings.ToLower(m[1])].form == third && verbs()[strings.ToLower(m[1])].base != "" {
		s = m[1] + m[2]
	}
	if order := howDone(s); order != "" {
		return order, true
	}
	if m := slashed.FindStringSubmatch(s); m != nil && isVerb(strings.ToLower(m[1])) {
		if next, _, _ := strings.Cut(m[2], " "); isVerb(strings.ToLower(next)) {
			return lower(s), true // "Add/remove hooks"
		}
		s = m[1] + " " + m[2] // a title made from a branch's name
	}
	if order := doneTo(s); order != "" {
		return order, true
	}
	first, rest, _ := strings.Cut(s, " ")
	word := strings.ToLower(first)
	if v, ok := verbOf(word); ok && rest != "" && !noun(word, v, rest) {
		return verbal(v, rest), true
	}
	if m := gained.FindStringSubmatch(s); m != nil {
		if strings.Contains(m[2], ", ") || longGain.MatchString(m[2]) {
			return "make sure that " + lower(s), true // what it is gained by would part the two
		}
		return "add " + article("add", m[2]) + " to " + lower(m[1]), true
	}
	if risk.MatchString(s) && !allowed.MatchString(s) {
		return "", false
	}
	if clause(s) {
		return "make sure that " + lower(withoutNow(s)), true
	}
	if m := fixed.FindStringSubmatch(s); m != nil {
		return "fix " + article("fix", lower(m[1])), true
	}
	if m := nameDoes.FindStringSubmatch(s); m != nil && verbs()[m[2]].form == base && verbs()[m[2]].base == m[2] && !slices.Contains(nouny, m[2]) {
		return "make sure that " + m[1] + " " + thirdOf(m[2]) + m[3], true // whose author left the "s" out
	}
	return nominal(s, heading)
}

// nameDoes matches a name of the code and what it does.
var nameDoes = lazyregexp.New("^(`[^`]+`|\\w+(?:[._]\\w+)+) ([a-z]+)( \\S.*)$")

// unscoped cuts the type of a conventional commit, tags in brackets and a scope
// ("hooks/slog: …") from the head of a sentence. kind is the type or tag.
func unscoped(s string) (rest, scope, kind string) {
	for range 3 {
		before := s
		if m := conventional.FindStringSubmatch(s); m != nil {
			scope, kind = m[2]+m[3], m[1]
			s = s[len(m[0]):]
		}
		s = ticket.ReplaceAllString(s, "$1")
		if m := branch.FindStringSubmatch(s); m != nil {
			kind, s = m[1], s[len(m[0]):]
		}
		if m := bracketed.FindString(s); m != "" {
			kind, s = m, s[len(m):]
		}
		if s == before {
			break
		}
	}
	if strings.ContainsAny(scope, " ,") || isVerb(scope) || !strings.ContainsAny(scope, "abcdefghijklmnopqrstuvwxyz") {
		scope = ""
	}
	m := scoped.FindStringSubmatch(s)
	if m == nil {
		return s, marked(scope), kind
	}
	first := strings.ToLower(strings.Fields(m[1])[0])
	next := strings.ToLower(strings.Fields(m[2])[0])
	switch {
	case m[1] == strings.Fields(m[1])[0] && isVerb(first) && !isVerb(next): // "add: X"
		return m[1] + " " + m[2], marked(scope), kind
	case isVerb(first) && len(strings.Fields(m[1])) > 1: // "Fix a thing: it does"
		return s, marked(scope), kind
	}
	return m[2], marked(m[1]), kind
}

func isVerb(word string) bool { _, ok := verbs()[word]; return ok }

// marked puts a scope of one word into backticks.
func marked(scope string) string {
	if scope == "" || strings.ContainsAny(scope, "` ") {
		return scope
	}
	return "`" + scope + "`"
}

// noun reports whether a word that can be a verb is a noun before rest.
func noun(word string, v verb, rest string) bool {
	next, _, _ := strings.Cut(rest, " ")
	switch {
	case v.form == past && (next == "is" || next == "are"):
		return true
	case v.form == third || v.form == past:
		return v.form == third && slices.Contains(finite, next)
	case v.form == gerund:
		return clause(word+" "+rest) || next == "of" || next == "for"
	case next == "for" || next == "of" || slices.Contains(finite, next):
		return slices.Contains(nouny, word)
	}
	// "Log messages now include": the verb comes after a noun in the plural.
	return slices.Contains(nouny, word) && plainWord(next) && strings.HasSuffix(next, "s") && !slices.Contains(determiners, next) && clause(word+" "+rest)
}

// verbal returns the request of a sentence that begins with a verb.
func verbal(v verb, rest string) string {
	next, after, _ := strings.Cut(rest, " ")
	switch v.base {
	case "add", "introduce", "implement", "include", "provide", "offer", "extend", "improve", "have":
		if m := supportFor.FindStringSubmatch(rest); m != nil && v.base != "extend" && v.base != "improve" {
			return able(m[1])
		}
		if m := ability.FindStringSubmatch(rest); m != nil {
			return "be able to " + m[1]
		}
		if what, ok := strings.CutPrefix(rest, "support "); ok && !unsupported.MatchString(what) && !slices.Contains(prepositions, strings.Fields(what)[0]) {
			return able(what) // whose author left "for" out
		}
	case "support":
		return able(rest)
	case "allow", "permit", "enable", "let":
		if g, ok := verbs()[strings.ToLower(next)]; ok && g.form == gerund && after != "" {
			return "be able to " + g.base + " " + after
		}
		if m := allowTo.FindStringSubmatch(rest); m != nil {
			return "be able to " + m[1]
		}
	}
	return v.base + " " + article(v.base, rest)
}

var (
	supportFor = lazyregexp.New(`(?i)^(?:(?:basic|built-?in|initial|full|native|official|experimental|optional|first-class|the|some|new|missing) )*support (?:for|of) (.+)$`)
	// unsupported matches what "support" is an attribute of.
	unsupported = lazyregexp.New(`(?i)^(?:\S+ )?(?:code|files?|librar(?:y|ies)|modules?|methods?|functions?|scripts?|packages?|pages?|tools?|class(?:es)?|is|has)\b`)
	ability     = lazyregexp.New(`(?i)^(?:the |an? )?(?:ability|possibility|option|way) to (.+)$`)
	allowTo     = lazyregexp.New(`(?i)^(?:(?:users?|you|us|callers?|one|developers?) )?to (.+)$`)
	toWhat      = lazyregexp.New(" to (?:the |[`A-Z])")
	agreed      = lazyregexp.New(`(?i)\b(?:spec|specification|standard|protocol)$`)
	overly      = lazyregexp.New(`^(?:the )?(?:use|usage) of (.+)$`)
)

// able returns the request of a sentence that says what is supported.
func able(what string) string {
	first, rest, _ := strings.Cut(what, " ")
	if v, ok := verbs()[strings.ToLower(first)]; ok && v.form == gerund && rest != "" {
		return "be able to " + v.base + " " + rest
	}
	if m := overly.FindStringSubmatch(what); m != nil {
		what = m[1]
	}
	if toWhat.MatchString(what) { // "of `Path` to `edit`"
		return "add support for " + lower(what)
	}
	if agreed.MatchString(what) { // nobody uses a specification
		if !slices.Contains(determiners, strings.ToLower(first)) {
			what = "the " + what
		}
		return "add support for " + what
	}
	return "be able to use " + lower(what)
}

// article adds an article where a short entry leaves it out.
func article(verb, what string) string {
	first, rest, _ := strings.Cut(what, " ")
	switch {
	case rest == "" || slices.Contains(determiners, strings.ToLower(first)):
		return what
	case verb == "fix":
		if v, isV := verbs()[first]; plainWord(first) && !strings.HasSuffix(first, "ing") && !strings.HasSuffix(first, "ly") && (!isV || v.form == base) {
			return "the " + what
		}
		return what
	case verb != "add" && verb != "introduce" && verb != "implement" && verb != "provide" && verb != "expose" && verb != "have" && verb != "create":
		return what
	case first == "missing":
		return "the " + what
	}
	if !slices.Contains(countable, head(what)) {
		return what
	}
	what = lower(what)
	if bare := strings.TrimLeft(what, "`"); spokenVowel.MatchString(bare) && !spokenYou.MatchString(bare) {
		return "an " + what
	}
	return "a " + what
}

// A word that begins with a vowel, or with a consonant that is spelled out: "ndigits", "HTTP".
var (
	spokenVowel = lazyregexp.New(`(?i)^(?:[aeio]|u(?:n[^i]|p)|x|[lmn][bcdfghjkmpqrstvwxz]|f[bcdfghjkmnpqstvwxz]|r[bcdfgjklmnpqrstvwxz]|h[tm]|s(?:ql|sl|sh|vg|dk|mtp)\b)`)
	spokenYou   = lazyregexp.New(`(?i)^(?:eu|on(?:e|ce)\b)`)
)

func plainWord(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLower(r) && r != '-' }) < 0
}

// head returns the noun that a phrase is about: "option" of "new `x` option to foo".
func head(phrase string) string {
	last := ""
	for _, w := range strings.Fields(phrase) {
		bare := strings.TrimRight(w, ",.;:")
		if !plainWord(bare) && !strings.HasPrefix(bare, "`") && bare != strings.ToUpper(bare) && !strings.Contains(bare, "_") && !hasInner(bare) {
			bare = strings.ToLower(bare)
		}
		if slices.Contains(prepositions, bare) || slices.Contains(finite, bare) || slices.Contains(relative, bare) || slices.Contains(countable, last) && strings.HasPrefix(bare, "`") {
			break // "validator `ne`"
		}
		last = bare
		if bare != w {
			break
		}
	}
	return last
}

func hasInner(w string) bool {
	return strings.IndexFunc(w[1:], unicode.IsUpper) >= 0
}

var prepositions = strings.Fields(`for to of on in with by from at as into over under between without per via through across when and or (not`)

// clause reports whether s is a sentence with a verb, not a noun with its attributes.
func clause(s string) bool {
	fields := strings.Fields(quietSpans(s))
	begins := len(fields) > 0 && slices.Contains(relative, strings.ToLower(fields[0])) // "When X, Y does"
	prev, within := "", false
	for i, w := range fields {
		bare := strings.ToLower(strings.Trim(w, ",.;:()"))
		next := ""
		if i+1 < len(fields) {
			next = strings.ToLower(fields[i+1])
		}
		switch {
		case i == 0:
		case bare == "no" && strings.HasPrefix(next, "longer"):
			return true
		case slices.Contains(relative, bare) && !begins:
			// "An error raised while … no longer …"
			return strings.Contains(s, " no longer ") || strings.Contains(s, " now ") || i > 1 && mainVerb(fields)
		case verbs()[bare].form == third && bare != "" && (slices.Contains(determiners, next) || next == "`"):
			return true // "marks its", "renders `x`"
		case verbs()[bare].base == bare && bare != "" && i > 2 && prev == "`" && (fields[i-2] == "and" || fields[i-2] == "or"):
			return true // "`a` and `b` strip"
		case slices.Contains(finite, bare):
			return true
		case slices.Contains(prepositions, bare):
			within = true
		case !within && verbs()[bare].base == bare && bare != "" && (strings.HasSuffix(prev, "s") && len(prev) > 3) && !strings.HasSuffix(prev, ",") && !slices.Contains(nouny, bare):
			return true // "hooks accept"
		}
		prev = strings.ToLower(w)
	}
	return false
}

// mainVerb reports whether a sentence with subordinate clauses ("The x that y takes does
// not crash") has more verbs than these clauses.
func mainVerb(fields []string) bool {
	if first := strings.ToLower(fields[0]); !slices.Contains(determiners, first) && first != "`" {
		return false
	}
	spare := 0
	for i, w := range fields {
		bare := strings.ToLower(strings.Trim(w, ",.;:()"))
		switch {
		case slices.Contains(finite, bare):
			spare++
		case slices.Contains(relative, bare) && !(i+1 < len(fields) && verbs()[strings.ToLower(fields[i+1])].form == gerund): // "when using x"
			spare--
		}
	}
	return spare > 0
}

// quietSpans replaces each name in backticks by one backtick and drops brackets.
func quietSpans(s string) string {
	return inBrackets.ReplaceAllString(spans.ReplaceAllString(s, "`"), "")
}

var (
	spans      = lazyregexp.New("`[^`]*`")
	inBrackets = lazyregexp.New(`\([^()]*\)`)
)

// nominal returns the request of a noun, with the verb that its heading suggests.
func nominal(s, heading string) (string, bool) {
	h := strings.ToLower(heading)
	for _, row := range []struct{ word, verb string }{
		{"remov", "remove"}, {"deprecat", "deprecate"}, {"bug", "fix"}, {"fix", "fix"}, {"perform", "improve"}, {"improve", "improve"}, {"enhance", "improve"},
		{"add", "have"}, {"feature", "have"}, {"new", "have"},
	} {
		if strings.Contains(h, row.word) {
			return row.verb + " " + article(row.verb, lower(s)), row.verb != "have"
		}
	}
	return "have " + article("have", lower(s)), false
}

// lower makes the first letter of a sentence small, unless it belongs to a name.
func lower(s string) string {
	first, _, _ := strings.Cut(s, " ")
	word := strings.TrimRight(first, ",;:.'s’")
	runes := []rune(first)
	if len(runes) < 2 || strings.ContainsAny(first, "()[]{}=<>") || !unicode.IsUpper(runes[0]) || slices.Contains(proper, word) || strings.IndexFunc(string(runes[1:]), func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' || r == '.' && !strings.HasSuffix(first, ".")
	}) >= 0 {
		if first != "A" {
			return s
		}
	}
	return strings.ToLower(first) + s[len(first):]
}

// wish makes a sentence of a request.
func wish(opening, text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	end := "."
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, ".)") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, ":") {
		end = ""
	}
	return opening + text + end
}

// reworded rewords a sentence about the change itself ("This PR adds X"). Any other stays as
// its author wrote it.
func reworded(sentence string) string {
	s := withChange.ReplaceAllString(sentence, "")
	if s != sentence {
		r := []rune(s)
		if len(r) > 0 && r[0] != '`' {
			r[0] = unicode.ToUpper(r[0])
		}
		s = string(r)
	}
	if first, rest, _ := strings.Cut(s, " "); slices.Contains(orders, verbs()[strings.ToLower(first)].base) && rest != "" && !noun(strings.ToLower(first), verbs()[strings.ToLower(first)], rest) {
		return wish("I want to ", verbal(verbs()[strings.ToLower(first)], strings.TrimRight(rest, ".")))
	}
	m := thisChange.FindStringSubmatch(s)
	if m == nil || !ownChange.MatchString(s) {
		return s
	}
	v, ok := verbs()[strings.ToLower(m[1])]
	if !ok || v.form != third || m[2] == "" {
		return s
	}
	return wish("I want to ", verbal(v, strings.TrimRight(strings.TrimSpace(m[2]), ".")))
}

// orders are verbs that say what was done, at the head of an author's sentence. Other
// verbs ("Use x instead") tell a reader what to do.
var orders = strings.Fields(`add fix allow support make ensure improve introduce remove rename change deprecate implement prevent handle extend expose
	replace restore enable drop treat raise validate preserve respect accept adjust avoid`)

var ownChange = lazyregexp.New(`(?i)^(?:(?:this|the|my) (?:pr|pull request|change|changeset|commit|patch|mr)\b|this (?:adds|allows|introduces|enables|makes|changes|fixes|implements|moves|removes|improves|prevents|ensures|lets|provides|supports)\b)`)
