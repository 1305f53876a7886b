package classify

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

const (
	feature     = schemas.LabelFeature
	improvement = schemas.LabelImprovement
	fix         = schemas.LabelFix
	other       = schemas.LabelOther
)

// phrase is a pattern of words that speaks for a label.
type phrase struct {
	label  schemas.Label
	weight int
	words  *lazyregexp.Regexp
}

func begins(label schemas.Label, weight int, alternatives string) phrase {
	return phrase{label, weight, lazyregexp.New(`(?i)^(?:` + alternatives + `)(?:$|[^\pL\pN])`)}
}

func has(label schemas.Label, weight int, alternatives string) phrase {
	return phrase{label, weight, word(alternatives)}
}

// leads match the words at the start of a text. Only the first match counts.
var leads = []phrase{
	// Traps come first: text that says "add" and means a fix, a test or documentation.
	begins(other, 70, `add(s|ed|ing)? (a |an |some |more |the |few |new |missing |extra |additional |simple |basic |unit |regression |failing )*(tests?|test cases?|testing|unit ?tests?|regression tests?|docs?|documentation|docstrings?|doc ?strings?|comments?|examples?|benchmarks?|changelog|news|readme|badges?|links?|notes?|type[ -]?hints?|type annotations?|annotations?|typing|types|stubs?|ci|workflow|github actions?|pre-commit|codecov|coverage|licen[cs]e|authors?|sponsors?|contribut\S*|\.gitignore|dependabot|python \d[\d.]* to|py\d+)`),
	begins(other, 70, `add(s|ed|ing)? (\S+ ){0,4}(integration|unit|smoke|functional|regression|end-to-end|e2e)[ -]tests?$`),
	begins(other, 65, `(more |some |further |minor |general |code |internal )+(\S+ ){0,2}clean-?ups?$`),
	begins(fix, 60, `\S+ (for|of|in|to|with) .*\b(was|were|is|are) (broken|ignored|missing|lost|wrong|incorrect\S*|not)`),
	begins(fix, 60, `add(s|ed|ing)? (a |an |some |the )?(missing|guard|safeguard|workaround|work-around|fix|(nil|null|none|bounds?|sanity|safety)[ -]checks?)\S*( back)?`),
	begins(fix, 50, "add(s|ed|ing)? .* back|rais(e|es|ed|ing) (an? |the )?`?[\\w.]*(error|exception)s?`?"),
	begins(other, 60, `(docs?|documentation|readme|changelog|tests?|typo|typos|lint|linting|ci|chore|release|version|bump\S*|pin\S*|prepare\S*|format\S*|reformat\S*|clean(ed|s|ing)?[ -]?up|cleanups?|tidy\S*|blacken\S*|style|mypy|flake8|ruff|pyupgrade|pre-commit|annotat\S+|typing|type hints?|spelling|grammar|clarif\S+|reword\S*|document(s|ed|ing)?|mention(s|ed)?|refactor\S*|rewrite|rewrote|restructure\S*|reorgani[sz]e\S*|consolidate\S*|extract\S*|inline\S*|modernis\S*|moderniz\S*|upgrade\S*|backport\S*|merge[sd]? (branch|pull|remote|upstream|main|master|stable|\S+ into)|sync\S*|start|back to|test(s|ed|ing)?)`),
	begins(other, 55, `updat(e|es|ed|ing) (the )?(\S+ )?(deps|dependenc\S+|docs?|documentation|readme\S*|changelog\S*|version\S*|copyright|licen[cs]e|tests?|ci|workflows?|requirements\S*|benchmarks?|authors?|contribut\S*|links?|examples?|go\.mod|actions?|pre-commit|badges?|python|go|golang|year)`),
	begins(other, 50, `(fix(es|ed|ing)?|correct(s|ed|ing)?|improv(e|es|ed|ing)|updat(e|es|ed|ing)|simplif\S+|remov\S+|mov(e|es|ed|ing)) (up |a |an |some |the |few |several |minor |small |more |broken |failing |flaky |various )*(\S+ )?(typos?|docs?|documentation|docstrings?|doc ?strings?|comments?|readme\S*|changelog\S*|links?|lint\S*|tests?|test suite|test cases?|ci|coverage|mypy|flake8|spelling|grammar|formatting|whitespace|examples?|badges?|workflows?|wording|type[ -]?hints?|type annotations?|typing|annotations?|warnings? in tests?)`),
	begins(other, 50, `(drop(s|ped|ping)?|remov(e|es|ed|ing|al)|delet(e|es|ed|ing)) (the |all |some |an? )?(\S+ )?(supports?|deprecat\S*|unused|unneeded|unnecessary|redundant|obsolete|legacy|old|dead|dependenc\S*|code|python\S*|go|py\d+|compat\S*|files?|imports?|hacks?|shims?|pins?|usages?|uses?|references?)`),
	begins(fix, 30, `(drop(s|ped|ping)?|remov(e|es|ed|ing)|delet(e|es|ed|ing)|strip(s|ped|ping)?) .*(from|when|if|on|in)`),
	begins(other, 45, `(drop(s|ped|ping)?|remov(e|es|ed|ing|al)|delet(e|es|ed|ing)|deprecat\S+|unused|kill|get rid|discontinue\S*)`),
	begins(fix, 55, `(fix(es|ed|ing|up)?|bug ?fix\S*|bug|correct(s|ed|ing|ly)?|prevent(s|ed|ing)?|handl(e|es|ed|ing)|avoid(s|ed|ing)?|don'?t|do not|doesn'?t|stop(s|ped|ping)?|never|revert(s|ed|ing)?|restor(e|es|ed|ing)|resolv(e|es|ed|ing)|repair\S*|ensur(e|es|ed|ing)|make sure|respect(s|ed|ing)?|hono(u)?r(s|ed|ing)?|work(ed)? ?-?around|guard\S*|protect\S*|crash\S*|regression|patch(ed|es)?|race|properly|catch\S*|ignor(e|es|ed|ing)|escap(e|es|ed|ing)|reject(s|ed|ing)?|address\S*|solv(e|es|ed|ing)|no longer|account for|forbid|disallow\S*|bring back|re-?add\S*|re-?enable\S*|reset\S*|preserv\S+)`),
	begins(feature, 45, `(make|makes|made|making) .*(configurable|optional|available|public|possible|customi[sz]able|accessible|extensible|iterable|generic|callable|chainable|hashable|pickl\S+)`),
	begins(improvement, 45, `(improv(e|es|ed|ing|ement|ements)|speed(s|ed|ing)?[ -]?up|sped up|optimi[sz]\S+|simplif\S+|enhanc\S+|better|reduc(e|es|ed|ing)|refin\S+|faster|mak(e|es|ing)|made|cach(e|es|ed|ing)|increas\S+|tweak\S*|rework\S*|chang(e|es|ed|ing)|switch\S*|rais(e|es|ed|ing)|renam\S+|prefer\S*|lazy|lazily|relax\S*|loosen\S*|more|less|use(s|d)?|using|return(s|ed|ing)?|mov(e|es|ed|ing)|replac\S+|updat(e|es|ed|ing)|adjust\S*|tun(e|es|ed|ing)|performance|convert\S*|unify\S*|unifies|minimi[sz]e\S*|defer\S*|rewor\S*|keep(s|ing)?|default(s)?|treat\S*|let|show\S*|display\S*|set(s)?|emit\S*|pass|include\S*|print\S*)`),
	begins(feature, 50, `(add(s|ed|ing|itions?)?|support(s|ed|ing)?|allow(s|ed|ing)?|enabl(e|es|ed|ing)|implement\S*|introduc\S+|expos(e|es|ed|ing)|accept(s|ed|ing)?|provid\S+|new|creat(e|es|ed|ing)|initial|first|feature|permit\S*|extend\S*|export(s|ed|ing)?|offer\S*|publish\S*|give|opt-in|optional|configurable|custom\S*)`),
}

// anywhere match words anywhere in a text. Every match counts.
var anywhere = []phrase{
	has(fix, 30, `bugs?|bug ?fix(es)?|regressions?|crash(es|ed|ing)?|broken|broke|wrong|wrongly|incorrect|incorrectly|erroneous(ly)?|mistaken(ly)?|dead-?lock(s|ed)?|race conditions?|data races?|memory leaks?|leak(s|ed|ing)?|infinite (loop|recursion)|panic(s|ked|king)?|hang(s|ing)?|segfault\S*|unexpected(ly)?|accidental(ly)?|corrupt\S*|vulnerab\S+|cve-\S+|traceback`),
	has(fix, 20, `no longer|not being|was(n't| not)|were(n't| not)|did(n't| not)|would(n't| not)|failed to|failing|fails?( to| when| if| on)|failure|when (the )?\S+ (is|was|are|were) (not|missing|empty|none|nil|null)|properly|correctly|(raises?|raised|raising) (an? )?\S*(error|exception)|(type|attribute|value|key|index|name|import|runtime|unicode\w*|assertion|recursion)error|edge[ -]case|issue (where|with|when|in)|problems?|previously|mishandl\S+|lost|missing|invalid`),
	has(fix, 15, `fix(es|ed|ing)?|handling of|work(s)? (again|correctly|properly|as expected)|instead of (raising|crash\S*|fail\S*|panic\S*)|was (broken|ignored|lost|missing|wrong|incorrect\S*|raised|set|called|used|being)|were (broken|ignored|lost|missing|raised|being)|could (cause|lead|result|raise)|caus(e|es|ed|ing)`),
	has(feature, 20, `now (also )?(supports?|accepts?|allows?|takes?|provides?|offers?|has|have|can)|can now|(it is|it's|is) now possible|new (\S+ )?(option|argument|parameter|function|method|class|flag|keyword|attribute|feature|api|decorator|type|setting|command|hook|module|validators?|processor|column|field|property|context manager|exception)|support(s)? for|added support|ability to|opt-in|option to|optional(ly)?`),
	has(feature, 15, `(arguments?|parameters?|options?|flags?|methods?|functions?|class|setting|keyword|attribute|property|validators?|tag|hook) (to|for|that|which)|added|allow(s|ing)?|introduc\S+`),
	has(improvement, 20, `faster|speed(s|ed)?|performance|perf|efficien\S+|improv\S+|better|optimi[sz]\S+|more (\S+ )?(readable|precise|helpful|robust|consistent|informative|accurate|flexible|useful|efficient)|simpl(er|ify|ified|ifies)|error messages?|reduce\S*|less memory|allocations?|enhanc\S+|nicer|cleaner`),
	has(fix, 10, `instead of`),
	has(improvement, 5, `(is|are) now`),
	has(improvement, 12, `now (uses?|returns?|raises?|defaults?|shows?|includes?|works?)|by default|renamed|changed|rather than|default (value|to)|consistent(ly)?`),
	has(other, 25, `documentation|docs|docstrings?|readme|typos?|unit ?tests?|test suite|tests|pre-commit|github actions?|linter|linting|mypy|flake8|ruff|type[ -]?hints?|type annotations?|coverage|refactor\S*|drop(s|ped|ping)? (support|python|go)|end[ -]of[ -]life|eol|deprecat\S+|copyright|dependabot|packaging|setup\.py|pyproject\S*|sdist|wheels?|py\.typed|cleanup|benchmarks?`),
}

// words reads entries of notes and the title. A note is what users are told, so beside
// a note the title counts half: titles such as "test fix" or "docs and rule" mislead.
func (f *findings) words(t texts) {
	const half = 2
	for _, n := range t.notes {
		f.say("note_words", n, 1)
	}
	if len(t.notes) == 0 {
		if m := swaps.FindString(t.title); m != "" {
			f.add(other, "title_words", m, 50)
		}
		f.say("title_words", t.title, 1)
		return
	}
	f.say("title_words", t.title, half)
}

// prefix matches what Go projects and others put before a title: "assert: …", "docs/x: …".
var prefix = lazyregexp.New("^[`\\w./*(),-]+(?: [`\\w./*-]+)?: +")

// swaps begin a title that tells how the code does the same in another way. What users notice
// of such a change stands in notes.
var swaps = lazyregexp.New(`(?i)^(?:replac(?:e|es|ed|ing)|switch(?:es|ed|ing)?|renam(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|us(?:e|es|ing))\b`)

func (f *findings) say(rule, text string, share int) {
	if s, quote := leading(text); s != nil {
		f.add(s.label, rule, quote, s.weight/share)
	}
	for _, s := range anywhere {
		if m := s.words.FindStringSubmatch(text); m != nil {
			f.add(s.label, rule, m[2], s.weight/share)
		}
	}
}

// leading is the first phrase that a text begins with, with or without its prefix.
func leading(text string) (*phrase, string) {
	for _, part := range []string{text, prefix.ReplaceAllString(text, "")} {
		for i, s := range leads {
			if m := s.words.FindString(part); m != "" {
				return &leads[i], m
			}
		}
	}
	return nil, ""
}

// lines reads the message below a title that has no word for a kind: its list of commits (of a
// squash), or its first sentence.
func (f *findings) lines(t texts) {
	const most = 8 // lines; what a change is for comes first
	if slices.ContainsFunc(*f, func(e schemas.LabelEvidence) bool { return e.Weight > weightTraces }) {
		return
	}
	n := 0
	for line := range strings.Lines(t.body) {
		m := commitLine.FindStringSubmatch(line)
		if m == nil {
			if strings.TrimSpace(line) == "" || n > 0 {
				continue
			}
			m = []string{line, line}
		}
		if n++; n > most {
			return
		}
		if label, quote, _ := commitType(m[1]); quote != "" {
			f.add(label, "commit_line", m[1], weightLine)
			continue
		}
		if s, quote := leading(plain(thisChange.ReplaceAllString(m[1], ""))); s != nil && (s.label != other || n == 1) {
			f.add(s.label, "commit_line", quote, s.weight/2)
		}
	}
}

// Weights of lines of a message, and the greatest of traces.
const (
	weightLine   = 40
	weightTraces = 20
)

var (
	commitLine = lazyregexp.New(`^\s*[*+-] (.+)`)
	thisChange = lazyregexp.New(`(?i)^\W*(?:this|the) (?:pr|pull request|patch|change|commit|mr)(?: also)? `)
)
