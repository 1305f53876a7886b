package describe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// The texts that a statement is made of, as Statement.From names them.
const (
	fromNote    = "note"
	fromSubject = "subject"
	fromBody    = "body"
	fromTests   = "literals" // what the tests compare with, stated by rule
	fromRuns    = "tests"    // the tests themselves: a model was shown them, or the text has examples of them
)

// piece is one sentence or list item of one text.
type piece struct {
	text    string
	source  string // the sentence as its author wrote it, without its markup
	from    string
	group   int    // pieces of one paragraph have one group
	note    int    // which note, from 1
	heading string // of the note's section
	item    bool
	lead    bool // the first of its note
	example bool // it ends in a line of code that stood below it
}

// texts is a change's own text, cleaned, best source first: its notes, its title, and the
// rest of its message.
type texts struct {
	notes []piece
	title piece
	body  []piece
	hints []piece // how it was done
}

// pieces returns every piece of t.
func (t texts) pieces() []piece { return slices.Concat(t.notes, []piece{t.title}, t.body, t.hints) }

// words returns the text without hints, on one line.
func (t texts) words() string {
	var out []string
	for _, p := range slices.Concat(t.notes, []piece{t.title}, t.body) {
		out = append(out, p.text)
	}
	return strings.Join(out, " ")
}

// read splits the texts of a change into pieces.
func read(c schemas.Change) texts {
	var t texts
	group := 0
	title, body := titleOf(c)
	for i, n := range notesOf(c) {
		pieces := sentences(prose.Plain("", n.Text), fromNote, &group)
		for j, p := range pieces {
			if !prose.Bot(p.text) {
				p.note, p.heading, p.lead = i+1, n.Heading, j == 0
				t.notes = append(t.notes, p)
			}
		}
	}
	text, _ := prose.Torn(prose.Inline(title))
	t.title = piece{text: text, source: text, from: fromSubject}
	if prose.Noise(t.title.text) && !conventional.MatchString(t.title.text) || upkeep.MatchString(t.title.text) || prose.Bot(t.title.text) {
		t.title.text = ""
	}
	for _, p := range sentences(body, fromBody, &group) {
		switch {
		case prose.Noise(p.text) || p.item && chore.MatchString(p.text):
		case howTo(p) && !(p.example && usage.MatchString(p.text)):
			t.hints = append(t.hints, p)
		default:
			t.body = append(t.body, p)
		}
	}
	t.body = unlisted(t.body)
	return t
}

var order = map[schemas.NoteForm]int{schemas.NoteFragment: 0, schemas.NoteChangelog: 1, schemas.NoteRelease: 2, schemas.NoteTag: 3}

// notesOf returns the notes that somebody wrote, best first, without repetitions. It
// leaves out notes that only repeat the subject.
func notesOf(c schemas.Change) []schemas.Note {
	const most = 5 // a change with more notes is several changes
	var out []schemas.Note
	var seen []map[string]bool
	all := slices.Clone(c.Notes)
	slices.SortStableFunc(all, func(a, b schemas.Note) int { return cmp.Compare(order[a.Form], order[b.Form]) })
	for _, n := range all {
		if len(all) > 1 && aside.MatchString(n.Heading) {
			continue
		}
		words := content(n.Text)
		again := slices.ContainsFunc(seen, func(s map[string]bool) bool { return share(words, s) > 0.8 })
		if n.Form == schemas.NoteSubject || again || len(out) == most {
			continue
		}
		out, seen = append(out, n), append(seen, words)
	}
	return out
}

// upkeep matches the types of conventional commits that no user would ask for.
var upkeep = lazyregexp.New(`(?i)^\W*(?:docs?|tests?|ci|style|build|chore|deps|typo|lint|release)(?:\([^)]*\))?!?: `)

// aside matches headings of notes that are not about behaviour. A change can have such
// notes beside others.
var aside = lazyregexp.New(`(?i)^(?:docs?|documentation|misc|miscellaneous|packaging|internal|contrib\w*|trivial|maintenance|chores?|tests?|ci|dependencies)\b`)

var mergeSubject = lazyregexp.New(`^(?i:merge (?:pull request|branch|remote|commit|tag|changes|from)|merged in)\b`)

// titleOf returns the title of a change and the rest of its message. The title of a merge
// is in its first paragraph, and forges break long titles with "…".
func titleOf(c schemas.Change) (title, body string) {
	title, body = c.Written()
	title, body = strings.TrimSpace(title), strings.TrimSpace(prose.Plain("", body))
	if mergeSubject.MatchString(title) {
		title, body, _ = strings.Cut(body, "\n\n")
		title = strings.Join(strings.Fields(title), " ")
	}
	title, body = whole(title, body)
	return title, prose.Squashed(bare.ReplaceAllString(title, ""), body)
}

// whole joins a title that a forge cut ("Add pxssh.login require… (#12)") with the rest of it, which the
// body begins with: behind "…", or as the whole title of the first commit in a list. One without a rest
// says nothing that is whole.
func whole(title, body string) (string, string) {
	begin, cut := strings.CutSuffix(bare.ReplaceAllString(title, ""), "…")
	if !cut {
		return title, body
	}
	line, after, _ := strings.Cut(body, "\n")
	if more, ok := strings.CutPrefix(line, "…"); ok {
		return begin + more, after
	}
	if line = bullet.ReplaceAllString(line, ""); strings.HasPrefix(line, strings.TrimSpace(begin)) {
		return line, after
	}
	return "", body
}

// bare matches the number that a forge appends to a title.
var bare = lazyregexp.New(`\s*\(#\d+\)\s*$`)

// maxSource is how many bytes of one text are read.
const maxSource = 64 << 10

// sentences splits one text. A sentence that only introduces a block of code is dropped
// with the block.
func sentences(text, from string, group *int) []piece {
	var out []piece
	var shown []string // names that listings define
	listings, lastListing := false, false
	text = strings.ToValidUTF8(text[:min(len(text), maxSource)], "")
	for _, b := range prose.Blocks(text) {
		*group++
		if b.Kind == prose.Listing {
			listings, lastListing = true, true
			n := len(out)
			leads := n > 0 && out[n-1].group == *group-1 && (prose.Points(out[n-1].text) || prose.Leads(out[n-1].text))
			if code := exampleOf(b.Text); leads && code != "" && strings.HasSuffix(out[n-1].text, ":") && !otherBlock.MatchString(out[n-1].text) {
				out[n-1].text += " `" + code + "`"
				out[n-1].source, out[n-1].example = out[n-1].text, true
				continue
			}
			shown = append(shown, prose.Defines(b.Text)...)
			if leads {
				out = out[:n-1]
			}
			continue
		}
		if from == fromBody && skipped(b.Under) {
			continue
		}
		after := lastListing
		lastListing = false
		for i, s := range prose.Sentences(prose.Inline(b.Text)) {
			s, broken := prose.Torn(s)
			first, _, _ := strings.Cut(s, " ")
			if from == fromBody && (broken || i == 0 && after && plainWord(first)) { // the rest of a sentence that began before the listing
				continue
			}
			out = append(out, piece{text: s, source: s, from: from, group: *group, item: b.Kind == prose.Item})
		}
	}
	return slices.DeleteFunc(out, func(p piece) bool {
		return listings && !p.example && (prose.Points(p.text) && !strings.HasSuffix(p.text, ":") || speaksOf(p.text, shown)) || !strings.ContainsFunc(p.text, isLetter)
	})
}

var (
	fenced = lazyregexp.New("(?m)^\\s*(?:```|~~~).*$")
	// otherBlock matches a sentence that is about more than the block next to it.
	otherBlock = lazyregexp.New(`(?i)\b(?:first|second|last|former|latter|other|these|above)\b`)
	usage      = lazyregexp.New(`(?i)^(?:use (?:it|this|them)|usage|(?:for )?example|e\.g)\b`)
	prompt     = lazyregexp.New(`^(?:>>>|\$) +`)
	// programLine matches lines that are no example of a use: tables, and pieces of a program.
	programLine = lazyregexp.New("^(?:[|+=]|(?:return|if|for|def|class|func|import|from|var|const|type|raise|package)\\b)|`|:=|[{:,;(]$")
)

// exampleOf is the code of a listing of one line that shows a use, "" where it does not.
func exampleOf(listing string) string {
	const longest = 100
	code := prompt.ReplaceAllString(strings.TrimSpace(fenced.ReplaceAllString(listing, "")), "")
	if strings.Contains(code, "\n") || len(code) > longest || programLine.MatchString(code) {
		return ""
	}
	return code
}

// speaksOf reports whether a text uses one of these names.
func speaksOf(text string, shown []string) bool {
	for _, name := range prose.Names(text) {
		first, _, _ := strings.Cut(name, ".")
		if slices.Contains(shown, first) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }

// sections matches headings of templates whose text does not say what a change does:
// kinds to tick, tests, lists of files, things to read.
var sections = lazyregexp.New(`(?i)\b(?:types? of|check ?lists?|related|tickets?|issues?|test(?:s|ed|ing)?|test plan|screenshots?|validation|verification|verified|verify|benchmarks?|performance results|files?|reviewers?|review|licen[cs]e|documentation|docs|changelog|to-?dos?|disclosure|before (?:submitting|you)|dependencies|deploy\w*|gif|ci|acknowledge?ments?|credits?|references?|links?|ai|steps to reproduce|reproduc\w+|environment|results?|example\w*|usage|how to|implementation|technical details|approach|alternatives?|out of scope|follow[- ]?ups?|future work|open questions?)\b`)

func skipped(heading string) bool { return sections.MatchString(heading) }

var (
	// chore matches list items about work on the code, not about what the code does.
	chore = lazyregexp.New(`(?i)^(?:refactor|clean|move|extract|rename|reformat|simplif|inline|split|rework|bump|lint|typo|format|use |update (?:docs|tests|changelog|readme|_)|add(?:s|ed)? (?:tests?|docs?|changelog|comment|news|type|test)|remove (?:unused|dead|unneeded|duplicate)|fix(?:es|ed)? (?:lint|tests?|ci|typo|docs?|format|pre-commit|mypy|merge|style)|test|docs?\b|ci\b|style|chore|wip|code review|address|review|apply|revert|merge|minor|more |better|tweak|small|some |be more|adapt|adjust|polish|streamline)`)
	// private matches names and files of the code: they say how a thing was done, not what
	// is wanted.
	private = lazyregexp.New("(?:^|[\\s`(.])_[a-z]\\w*|\\b[\\w/]+\\.(?:py|go|pyx|c|h)\\b")
	doing   = lazyregexp.New(`(?i)^(?:(?:fix|solution|implementation|approach|root cause|details?|technically|internally|under the hood|instead)\b[:,]|(?:the|this) (?:[\w-]+ )?(?:fix|solution|approach|implementation|helper)\b|in the [\w ]+, (?:treat|use|move|call|add|check)\b|i (?:decided|chose|opted|moved|refactored|extracted|replaced|also moved)\b|(?:move|retire|capture|extract|refactor|rename|inline|replace|swap|route|look up|rewrite|reuse|hoist|wrap|split|switch|convert|use|copy|copies|call|store|cache)s? )`)
)

// howTo reports whether a sentence says how the change was made. Nobody would ask for
// that; it is kept as a hint.
func howTo(p piece) bool {
	s := p.text
	if m := thisChange.FindStringSubmatch(s); m != nil {
		s = m[1] + m[2]
	}
	return private.MatchString(s) || doing.MatchString(s) || doing.MatchString(p.text)
}

// unlisted drops the introduction of a list that has no items left.
func unlisted(in []piece) []piece {
	var out []piece
	for i, p := range in {
		leads := strings.HasSuffix(p.text, ":")
		if leads && (i+1 == len(in) || !in[i+1].item) {
			continue
		}
		out = append(out, p)
	}
	return out
}

var (
	letters = lazyregexp.New(`[A-Za-z][A-Za-z'-]*[A-Za-z]`)
	// empty words do not say what is wanted.
	empty = strings.Fields(`the and for with from that this when then than not now are was were has have had can could will would should may might must its into
		only also any all some each per via one two new use used uses using add adds added support supports supported allow allows make makes made
		want able sure been being but does did doing done just like more most other such them they there these those which while where who how what
		you your our his her out off over under about after before between both few same too very still never longer fix fixed fixes fixing change changes
		changed update updated updates improve improved implement implemented be is it in on of to as at by an or if so no do we us he up issue bug please etc`)
)

// content returns the stems of the words of a text that carry meaning. Names do not
// count: they say where, not what.
func content(text string) map[string]bool {
	out := map[string]bool{}
	for _, name := range prose.Names(text) {
		text = strings.ReplaceAll(text, name, " ")
	}
	for _, w := range letters.FindAllString(text, -1) {
		w = strings.ToLower(strings.TrimSuffix(w, "'s"))
		if len(w) > 2 && !slices.Contains(empty, w) {
			out[stem(w)] = true
		}
	}
	return out
}

func stem(w string) string {
	if v, ok := verbs()[w]; ok {
		return v.base
	}
	for _, end := range []string{"ies", "es", "s", "ly"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) > 2 && !strings.HasSuffix(s, "s") {
			return strings.TrimSuffix(s, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}

// share returns how many of a's words b has, from 0 to 1.
func share(a, b map[string]bool) float64 {
	if len(a) == 0 {
		return 0
	}
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}
