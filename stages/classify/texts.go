package classify

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// texts are a change's own words, without labels and markup.
type texts struct {
	title  string   // of the pull request, or the commit's subject
	notes  []string // entries of release notes
	branch string   // that was merged
	body   string

	emoji       string // that the title began with
	emojiLabel  schemas.Label
	commit      string // type and scope that the title began with
	commitLabel schemas.Label
}

var mergeSubject = lazyregexp.New(`^Merge (?:pull request #\d+ from [^/\s]+/(\S+)|branch '([^']+)'|remote-tracking branch '([^']+)')`)

// maintenance is the subject of a merge that brings a branch for old versions forward.
var maintenance = lazyregexp.New(`^Merge (?:remote-tracking )?branch '(?:\w+/)?(?:stable|maint\S*|v?\d+(?:\.\d+)*(?:\.[xX])|v?\d+\.\d+|release[-/]\S+)'`)

func textsOf(c schemas.Change) texts {
	var t texts
	t.title, t.body = c.Written()
	if m := mergeSubject.FindStringSubmatch(c.Subject); m != nil {
		t.branch = m[1] + m[2] + m[3]
		if c.Pull == nil {
			t.title, _, _ = strings.Cut(strings.TrimLeft(c.Body, "\n "), "\n")
		}
	}
	t.title = strings.TrimSpace(t.title)
	// An emoji stands before or after the type: "🐛 fix(api): …", "fix: 🐛 …".
	for range 2 {
		if label, sign := emojiOf(t.title); sign != "" && t.emoji == "" {
			t.emoji, t.emojiLabel = sign, label
			t.title = strings.TrimLeft(strings.TrimPrefix(t.title, sign), "\ufe0f\u200d ")
		}
		if label, quote, text := commitType(t.title); quote != "" && t.commit == "" {
			t.commit, t.commitLabel, t.title = quote, label, text
		}
	}
	t.title = plain(t.title)
	for _, n := range c.Notes {
		if n.Form != schemas.NoteSubject {
			t.notes = append(t.notes, plain(untyped(n.Text)))
		}
	}
	return t
}

var boldScope = lazyregexp.New(`^\*\*[^*\s]+\*\*:\s*`)

// untyped removes emoji, type and scope from an entry that was generated from commits.
func untyped(text string) string {
	_, _, text = entryType(text)
	return boldScope.ReplaceAllString(text, "")
}

var (
	role    = lazyregexp.New(":[a-z:]+:`([^`<]*?)(?:\\s*<[^`]*>)?`")
	link    = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)
	address = lazyregexp.New(`<?https?://\S+/(?:issues|pull|pulls|merge_requests)/(\d+)[^\s)>]*>?`)
	// closing is a reference behind a verb that closes it: what the change does stands behind
	// the reference ("Fixes acme#465 - Allow widgets").
	closing = lazyregexp.New(`(?i)\(?\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|see)(?: for)?:?[ /-]*(?:(?:issues?|bugs?|pr|tickets?) #?\d+|(?:(?:issues?|bugs?|pr|tickets?) )?(?:(?:[\w.-]+/)?[\w.-]+)?#\d+|gh-\d+)(?:(?:,| and|, and) #\d+)*\b\)?`)
	issue   = lazyregexp.New(`(?i)\(?\b(?:issues?|pr|gh|for)?:?[ -]*(?:[\w.-]+/[\w.-]+)?#\d+\b\)?|\[?\bgh-\d+\b\]?|\(\s*\)`)
	hashRef = lazyregexp.New(`\(?\[?#\d+\]?(\[[^\]]*\])?(\([^)]*\))?\)?|\[[A-Z][A-Z\d]*-\d+\]`)
	credits = lazyregexp.New(`(?i)\b(thanks( to)?|by|patch (by|from)|contributed by|reported by|courtesy of)[ :]+[\[:@].*$`)
	url     = lazyregexp.New(`\(?<?https?://[^\s)>]+>?\)?`)
	front   = lazyregexp.New(`^(?:[\s*•\-–:,.;\[\]()])+`)
)

// plain removes markup, references and thanks: "(fixes #12)" does not mean that the
// change is a fix.
func plain(text string) string {
	const most = 2000 // bytes; what matters comes early
	text = strings.ToValidUTF8(text[:min(most, len(text))], "")
	text = role.ReplaceAllString(text, "`$1`")
	text = link.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, "#$1")
	text = url.ReplaceAllString(text, " ")
	text = credits.ReplaceAllString(text, "")
	text = closing.ReplaceAllString(text, " ")
	text = issue.ReplaceAllString(text, " ")
	text = hashRef.ReplaceAllString(text, " ")
	text = strings.Join(strings.Fields(text), " ")
	return front.ReplaceAllString(text, "")
}
