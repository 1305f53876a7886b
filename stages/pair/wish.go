package pair

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
)

// message is what a commit says: of a merge, what the pull request is called.
type message struct {
	title, body string
	numbers     map[string]bool // the issues and pull requests that it names
	words       map[string]bool // of the title, that say what it is about
}

// said reads a commit's message. A merge without a title of its own has no words: what was merged has many.
func said(subject, body string) message {
	m := message{title: subject, body: body, numbers: found(number, subject+"\n"+body)}
	if !merges.MatchString(subject) {
		m.words = wordsOf(subject)
		return m
	}
	m.body = ""
	if title, rest, _ := strings.Cut(strings.TrimSpace(body), "\n"); title != "" && !strings.HasPrefix(title, "#") { // "# Conflicts:" is git's
		m.title, m.body, m.words = strings.TrimSpace(title), strings.TrimSpace(rest), wordsOf(title)
	}
	return m
}

// tidies reports whether a commit only works on what another began: it has no words and no number of its own.
func (m message) tidies() bool { return len(m.words)+len(m.numbers) == 0 }

// wishes reports whether a commit says what it is for, and one thing alone.
func (m message) wishes() bool {
	return len(m.words)+len(wordsOf(m.body)) > 0 && !several(m.title) && !prose.Release(bare.ReplaceAllString(m.title, ""))
}

var (
	merges = lazyregexp.New(`(?i)^merg(?:e[ds]?|ing) (?:in|issue|pull request|(?:remote-tracking )?branch|remote|tag|commit|changes|from|[\w./-]+ (?:branch )?(?:in)?to)\b`)
	bare   = lazyregexp.New(`\s*\(#\d+\)\s*$`) // the number that a forge appends
	number = lazyregexp.New(`(?i)(?:#|\bgh-|\b(?:issues?|bug|ticket|pull|pr|merge_requests)[ /#-]{1,2})(\d{1,6})\b`)
	word   = lazyregexp.New(`([\pL_][\pL\d_]{2,})`)
)

// generic words are those of any commit.
var generic = wordSet(`add allow also and another argument attribute avoid back better black branch bug change changelog check class clean cleanup code comment commit correct coverage default deprecate deprecation doc docstring documentation error feature feedback
	few file fix flake8 for format from function gofmt handle implement improve into introduce isort issue lint linter linting make merge method minor missing more move mypy new nit not old option parameter pull readme refactor refactoring remove
	request review ruff simplify small some style support test testcase testing that the this tidy tweak type typo unit unittest update use value version warning when whitespace wip with work`)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[stem(w)] = true
	}
	return out
}

func wordsOf(title string) map[string]bool {
	out := map[string]bool{}
	for w := range found(word, title) {
		if w = stem(w); !generic[w] {
			out[w] = true
		}
	}
	return out
}

// stem takes off the endings that turn "readers", "reading" and "reads" into "read" and its like.
func stem(w string) string {
	for _, end := range []string{"ings", "ing", "ers", "er", "ies", "es", "ed", "s", "e", "y"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) > 2 {
			return s
		}
	}
	return w
}

// found are the first groups of all matches, in lower case.
func found(of *lazyregexp.Regexp, text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range of.FindAllStringSubmatch(strings.ToLower(text), -1) {
		out[m[1]] = true
	}
	return out
}

// together reports whether two commits are of one wish: they name a common issue or pull request or, where one of them
// names none, their titles share two words at least and three quarters of the shorter's. What takes away is not
// together with what adds.
func together(a, b message) bool {
	const removal = "removal"
	if (Class(a.title) == removal) != (Class(b.title) == removal) {
		return false
	}
	if len(a.numbers) > 0 && len(b.numbers) > 0 {
		return common(a.numbers, b.numbers) > 0
	}
	n := common(a.words, b.words)
	return n >= 2 && 4*n >= 3*min(len(a.words), len(b.words))
}

func common(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

var (
	// second is where another order begins behind the first one's verb and object. Verbs that say how a thing behaves
	// (return, raise, set) are not among them: "catch the error and return nil" is one wish.
	second = lazyregexp.New(`(?i)^(?:[^\s:]+: +)?[\w-]+ .*?\S(?:[;,.]| \+| &|,? and|,? also)+ (?:also )?((?:add|fix|remov|drop|deprecat|renam|mov|updat|chang|support|allow|implement|introduc|improv|replac|refactor|bump|rewrit|extend|enabl|disabl|convert|clean|simplif|switch|delet)(?:e|es|ed|s|d|ing|ping|ped|y|ies|ied)?) (.+)`)
	// sundry are the subjects of many small changes: "Slice improvements", "Update project files", "various fixes".
	sundry    = lazyregexp.New(`(?i)^(?:[^\s:]+: +)?(?:[\w-]+ ){0,3}(?:improvements|fixes|changes|updates|tweaks|enhancements|adjustments|clean-?ups|things|stuff)[.!]?(?: \(#\d+\))?$|\b(?:various|several|misc|miscellaneous|sundry|a lot of)\b`)
	twoIssues = lazyregexp.New(`#\d+(?:,| and| &|, and) #\d+`)
)

// several reports whether a title names more than one wish, or none in particular. Tests and documents of the first are no second one.
func several(title string) bool {
	if twoIssues.MatchString(title) || sundry.MatchString(title) {
		return true
	}
	for rest := title; ; {
		m := second.FindStringSubmatch(rest)
		if m == nil {
			return false
		}
		if len(wordsOf(m[2])) > 0 {
			return true
		}
		rest = m[1] + " " + m[2]
	}
}
