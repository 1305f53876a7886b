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
)

// piece is one sentence or list item of one text.
type piece struct {
	text    string
	from    string
	group   int    // pieces of one paragraph have one group
	note    int    // which note, from 1
	heading string // of the note's section
	item    bool
	lead    bool // the first of its note
}

// told is everything that a change says of itself, cleaned, best first: its notes,
// its title, and the rest of its message.
type told struct {
	notes []piece
	title piece
	body  []piece
	hints []piece // how it was done
}

// pieces is all of t.
func (t told) pieces() []piece { return slices.Concat(t.notes, []piece{t.title}, t.body, t.hints) }

// words is the text on one line.
func (t told) words() string {
	var out []string
	for _, p := range slices.Concat(t.notes, []piece{t.title}, t.body) {
		out = append(out, p.text)
	}
	return strings.Join(out, " ")
}

// read takes the texts of a change apart.
func read(c schemas.Change) told {
	var t told
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
	t.title = piece{text: text, from: fromSubject}
	if prose.Noise(t.title.text) && !conventional.MatchString(t.title.text) || upkeep.MatchString(t.title.text) || prose.Bot(t.title.text) {
		t.title.text = ""
	}
	for _, p := range sentences(body, fromBody, &group) {
		switch {
		case prose.Noise(p.text) || p.item && chore.MatchString(p.text):
		case howTo(p):
			t.hints = append(t.hints, p)
		default:
			t.body = append(t.body, p)
		}
	}
	t.body = unlisted(t.body)
	return t
}

var order = map[schemas.NoteForm]int{schemas.NoteFragment: 0, schemas.NoteChangelog: 1, schemas.NoteTag: 2}

// notesOf are the notes that somebody wrote, best first, none twice. A note that is
// only the subject again stands for itself.
func notesOf(c schemas.Change) []schemas.Note {
	const most = 5 // a change that tells more at once is many
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

// upkeep are the types of conventional commits that no user would ask for.
var upkeep = lazyregexp.New(`(?i)^\W*(?:docs?|tests?|ci|style|build|chore|deps|typo|lint|release)(?:\([^)]*\))?!?: `)

// aside are headings of what is no behaviour: a change may tell of it as well.
var aside = lazyregexp.New(`(?i)^(?:docs?|documentation|misc|miscellaneous|packaging|internal|contrib\w*|trivial|maintenance|chores?|tests?|ci|dependencies)\b`)

var mergeSubject = lazyregexp.New(`^(?i:merge (?:pull request|branch|remote|commit|tag|changes|from)|merged in)\b`)

// titleOf gives the title of a change and the rest of its message: a merge has its
// title in the first paragraph below, and a forge breaks long titles with "…".
func titleOf(c schemas.Change) (title, body string) {
	title, body = strings.TrimSpace(c.Subject), strings.TrimSpace(prose.Plain("", c.Body))
	if mergeSubject.MatchString(title) {
		title, body, _ = strings.Cut(body, "\n\n")
		title = strings.Join(strings.Fields(title), " ")
	}
	if rest, cut := strings.CutSuffix(title, "…"); cut && strings.HasPrefix(body, "…") {
		more, after, _ := strings.Cut(strings.TrimPrefix(body, "…"), "\n")
		title, body = rest+more, after
	}
	return title, prose.Squashed(bare.ReplaceAllString(title, ""), body)
}

// bare is a title without the number that a forge puts behind it.
var bare = lazyregexp.New(`\s*\(#\d+\)\s*$`)

// maxSource bounds what is read of one text: nobody asks for more.
const maxSource = 64 << 10

// sentences reads one text. A sentence that leads to a block of code goes with it.
func sentences(text, from string, group *int) []piece {
	var out []piece
	var shown []string // names that listings define
	listings, lastListing := false, false
	text = strings.ToValidUTF8(text[:min(len(text), maxSource)], "")
	for _, b := range prose.Blocks(text) {
		*group++
		if b.Kind == prose.Listing {
			listings, lastListing, shown = true, true, append(shown, prose.Defines(b.Text)...)
			if n := len(out); n > 0 && out[n-1].group == *group-1 && (prose.Points(out[n-1].text) || prose.Leads(out[n-1].text)) {
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
			if from == fromBody && (broken || i == 0 && after && plainWord(first)) { // it began before the listing
				continue
			}
			out = append(out, piece{text: s, from: from, group: *group, item: b.Kind == prose.Item})
		}
	}
	return slices.DeleteFunc(out, func(p piece) bool {
		return listings && (prose.Points(p.text) && !strings.HasSuffix(p.text, ":") || speaksOf(p.text, shown)) || !strings.ContainsFunc(p.text, isLetter)
	})
}

// speaksOf reports whether a text calls one of these by name.
func speaksOf(text string, shown []string) bool {
	for _, name := range names(text) {
		first, _, _ := strings.Cut(name, ".")
		if slices.Contains(shown, first) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }

// sections are the headings of a template below which nobody says what a change
// does: kinds to tick, tests, lists of files, things to read.
var sections = lazyregexp.New(`(?i)\b(?:types? of|check ?lists?|related|tickets?|issues?|test(?:s|ed|ing)?|test plan|screenshots?|validation|verification|verified|verify|benchmarks?|performance results|files?|reviewers?|review|licen[cs]e|documentation|docs|changelog|to-?dos?|disclosure|before (?:submitting|you)|dependencies|deploy\w*|gif|ci|acknowledge?ments?|credits?|references?|links?|ai|steps to reproduce|reproduc\w+|environment|results?|example\w*|usage|how to|implementation|technical details|approach|alternatives?|out of scope|follow[- ]?ups?|future work|open questions?)\b`)

func skipped(heading string) bool { return sections.MatchString(heading) }

var (
	// chore are list items of work on the code, not of what it does.
	chore = lazyregexp.New(`(?i)^(?:refactor|clean|move|extract|rename|reformat|simplif|inline|split|rework|bump|lint|typo|format|use |update (?:docs|tests|changelog|readme|_)|add(?:s|ed)? (?:tests?|docs?|changelog|comment|news|type|test)|remove (?:unused|dead|unneeded|duplicate)|fix(?:es|ed)? (?:lint|tests?|ci|typo|docs?|format|pre-commit|mypy|merge|style)|test|docs?\b|ci\b|style|chore|wip|code review|address|review|apply|revert|merge|minor|more |better|tweak|small|some |be more|adapt|adjust|polish|streamline)`)
	// private names and files of the code tell how a thing was done, not what is wanted.
	private = lazyregexp.New("(?:^|[\\s`(.])_[a-z]\\w*|\\b[\\w/]+\\.(?:py|go|pyx|c|h)\\b")
	doing   = lazyregexp.New(`(?i)^(?:(?:fix|solution|implementation|approach|root cause|details?|technically|internally|under the hood|instead)\b[:,]|(?:the|this) (?:[\w-]+ )?(?:fix|solution|approach|implementation|helper)\b|in the [\w ]+, (?:treat|use|move|call|add|check)\b|i (?:decided|chose|opted|moved|refactored|extracted|replaced|also moved)\b|(?:move|retire|capture|extract|refactor|rename|inline|replace|swap|route|look up|rewrite|reuse|hoist|wrap|split|switch|convert|use|copy|copies|call|store|cache)s? )`)
)

// howTo tells what a change's author says of the way it was done: no part of what
// somebody would ask for, kept as a hint.
func howTo(p piece) bool {
	s := p.text
	if m := thisChange.FindStringSubmatch(s); m != nil {
		s = m[1] + m[2]
	}
	return private.MatchString(s) || doing.MatchString(s) || doing.MatchString(p.text)
}

// unlisted drops what leads to a list of which nothing is left.
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
	// empty words carry nothing of what is wanted.
	empty = strings.Fields(`the and for with from that this when then than not now are was were has have had can could will would should may might must its into
		only also any all some each per via one two new use used uses using add adds added support supports supported allow allows make makes made
		want able sure been being but does did doing done just like more most other such them they there these those which while where who how what
		you your our his her out off over under about after before between both few same too very still never longer fix fixed fixes fixing change changes
		changed update updated updates improve improved implement implemented be is it in on of to as at by an or if so no do we us he up issue bug please etc`)
)

// content are the words of a text that carry meaning, by their stems. Names do not
// count: they say where, not what.
func content(text string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names(text) {
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

// share is the part of a's words that b has.
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
