package prose

import (
	"html"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// gone marks where a reference or a person was removed, until tidy removes the mark.
const gone = "\x00"

// torn marks where a reference was removed from the middle of a sentence.
const torn = "\x01"

// emptyRound, emptySquare and dotted stand for the author's own "()", "[]" and "(...)" while
// the brackets that lost a reference are removed.
const emptyRound, emptySquare, dotted = "\x02", "\x03", "\x04"

var (
	hideEmpty = strings.NewReplacer("()", emptyRound, "[]", emptySquare, "(...)", dotted)
	showEmpty = strings.NewReplacer(emptyRound, "()", emptySquare, "[]", dotted, "(...)")
)

// Torn returns the sentence without the mark, and whether it lost a reference that it
// needs.
func Torn(sentence string) (string, bool) {
	if !strings.Contains(sentence, torn) {
		return sentence, false
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(sentence, torn, " ")), " "), true
}

var (
	role      = lazyregexp.New("(?:\\{([\\w:+-]+)\\}|:([\\w:+-]+):)`([^`\n]*)`")
	titled    = lazyregexp.New(`^(.*\S)\s*<([^<>]*)>$`)
	hyperlink = lazyregexp.New("`([^`<\n]+?)\\s*<[^`<>\n]+>`__?")
	named     = lazyregexp.New("(^|[\\s(])`([^`\n]+)`__?($|[\\s).,;:!?])")
	double    = lazyregexp.New("``([^`\n]+)``")
	picture   = lazyregexp.New(`!\[[^\]]*\]\([^)]*\)`)
	link      = lazyregexp.New("(^|[^\\w\\]`])\\[((?:[^\\[\\]`]|`[^`]*`)+)\\]\\((?:[^()\\s]|\\([^()]*\\))*(?:\\s+\"[^\"]*\")?\\)")
	linkRef   = lazyregexp.New("(^|[^\\w\\]`])\\[((?:[^\\[\\]`]|`[^`]*`)+)\\]\\[[^\\[\\]]*\\]")
	refLink   = lazyregexp.New(`\[(?:#|!|GH-|gh-)\d+\]`)
	url       = lazyregexp.New(`<?https?://[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*>?`)
	urlTail   = lazyregexp.New(`[.,;:!?'"]+$`)
	number    = lazyregexp.New(`(?:\b[\w.-]+(?:/[\w.-]+)?)?#\d+\b|\b(?:GH|gh)-\d+\b|\bbpo-\d+\b`)
	hash      = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)
	mention   = lazyregexp.New(`(^|[\s(,/])@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9-]+|\[bot\])?`)
	// decorator matches a name at its beginning that is no person's.
	decorator = lazyregexp.New(`(?i)^@(?:[\w-]+(?:[_(]|\.\w)|[\w./-]+(?:'s)? (?:[\w-]+ )?(?:decorat|annotat|handles?\b|macros?\b|directives?\b|rules?\b|tags?\b)|(?:property|staticmethod|classmethod|overload|dataclass|cached_property|contextmanager|final|override|abstractmethod)\b)`)
	// decorates matches the words before one.
	decorates = lazyregexp.New(`(?i)\b(?:decorat|annotat|handle|macro|directive)\w*(?: (?:with|by|as|like|named|called|using|such as|in))?[ (]*$`)
	strong    = lazyregexp.New(`\*\*(\S|\S[^*]*?\S)\*\*`)
	emphasis  = lazyregexp.New(`(^|[\s("])[*](\S[^*\n]*?\S|\w)[*]($|[\s)".,;:!?'’])`)
	under     = lazyregexp.New(`(^|[\s("])_([A-Za-z][^_\n]*[A-Za-z]|[A-Za-z])_($|[\s)".,;:!?])`)
	tag       = lazyregexp.New(`(?i)</?(?:br|b|i|em|strong|details|summary|sub|sup|p|kbd|a|img|h[1-6]|center|ins|u)(?:\s[^<>]*)?/?>`)
	codeTag   = lazyregexp.New(`(?i)<(?:code|tt)>([^<>` + "`" + `]*)</(?:code|tt)>`)
	emoji     = lazyregexp.New(`[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{FE0F}\x{200D}]+\s*|(?:^|\s):[a-z][a-z_]+:(?:\s|$)`)
)

// personal are the roles that name an issue or a person, not something in a program.
var personal = strings.Fields("issue pr user gh ghuser ghissue ghpr commit pull bpo cve cwe contributor author pypi gh-issue github pullreq bug ticket")

// Inline turns the markup of one paragraph into plain words. Links become their text, and
// roles and double backticks become names in backticks. References to issues, commits and
// people are removed, with the words that only lead to them.
func Inline(text string) string {
	text = strings.NewReplacer(gone, "", torn, "", emptyRound, "", emptySquare, "", dotted, "").Replace(text)
	text = role.ReplaceAllStringFunc(text, roleText)
	text = hyperlink.ReplaceAllString(text, "$1")
	text = double.ReplaceAllStringFunc(text, func(s string) string {
		return "`" + strings.TrimSpace(strings.Trim(s, "`")) + "`"
	})
	text = named.ReplaceAllString(text, "$1$2$3")
	text = picture.ReplaceAllString(text, "")
	text = link.ReplaceAllString(text, "$1$2")
	text = linkRef.ReplaceAllString(text, "$1$2")
	text = codeTag.ReplaceAllString(text, "`$1`")
	text = outside(text, hideEmpty.Replace)
	text = outside(text, func(s string) string {
		s = tag.ReplaceAllString(s, " ")
		s = url.ReplaceAllStringFunc(s, func(u string) string { return gone + urlTail.FindString(u) })
		s = addresses(s)
		s = strings.ReplaceAll(s, "<address>", gone)
		s = refLink.ReplaceAllString(s, gone)
		s = number.ReplaceAllString(s, gone)
		s = numbered.ReplaceAllString(numberFirst.ReplaceAllString(s, ""), "$1"+gone)
		s = hash.ReplaceAllStringFunc(s, commitHash)
		s = withoutPeople(s)
		return html.UnescapeString(emoji.ReplaceAllString(s, " "))
	})
	text = strong.ReplaceAllString(text, "$1")
	text = emphasis.ReplaceAllString(text, "$1$2$3")
	text = under.ReplaceAllString(text, "$1$2$3")
	return tidy(text)
}

// withoutPeople takes the people out that a text names, and leaves decorators and the like.
func withoutPeople(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range mention.FindAllStringSubmatchIndex(s, -1) {
		if name := m[3]; !decorator.MatchString(s[name:]) && !decorates.MatchString(s[:name]) {
			b.WriteString(s[at:name] + gone)
			at = m[1]
		}
	}
	return b.String() + s[at:]
}

// outside applies a function to the text outside of backticks.
func outside(text string, change func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range span.FindAllStringIndex(text, -1) {
		b.WriteString(change(text[at:m[0]]) + text[m[0]:m[1]])
		at = m[1]
	}
	return b.String() + change(text[at:])
}

func roleText(s string) string {
	m := role.FindStringSubmatch(s)
	name, content := m[1]+m[2], m[3]
	name = name[strings.LastIndexByte(name, ':')+1:]
	if t := titled.FindStringSubmatch(content); t != nil && !slices.Contains(personal, name) {
		return t[1]
	}
	switch {
	case slices.Contains(personal, name):
		return gone
	case name == "pep" || name == "rfc":
		return strings.ToUpper(name) + " " + content
	case name == "doc" || name == "ref" || name == "term" || name == "abbr":
		return content
	}
	if rest, ok := strings.CutPrefix(content, "~"); ok {
		content = rest[strings.LastIndexByte(rest, '.')+1:]
	}
	return "`" + strings.TrimLeft(content, ".!") + "`"
}

// commitHash reports whether a word is an abbreviated commit, not a word or a number.
func commitHash(s string) string {
	if strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef") {
		return gone
	}
	return s
}

const refs = gone + `(?:[,;&\s/]*(?:and|or|et al\.?)?\s*` + gone + `)*`

var (
	// Words that only lead to a reference, a person or an address.
	// "Issue 900: Replace x" is "Replace x", and no part of the program called Issue 900.
	numberFirst = lazyregexp.New(`^(?:[Ii]ssue|PR|[Pp]ull [Rr]equest|[Bb]ug|[Tt]icket) \d{1,6}(?::| [-–—]) +`)
	numbered    = lazyregexp.New(`\b((?:[Ii]n|[Ff]rom|[Pp]er|[Ss]ee|[Ff]ix(?:es)?|[Cc]loses?) (?:[Ii]ssue|PR|[Pp]ull [Rr]equest|[Bb]ug|[Tt]icket) )\d{1,6}\b`)
	credit      = lazyregexp.New(`(?i)[,;:–—-]*\s*\b(?:(?:thanks|kudos|patch|pr|contributed|implemented|reported|requested|suggested|added|fixed|written|provided|made|done|authored|thank you|courtesy|original(?:ly)?)\s+(?:(?:by|to|goes to|go to|from|of)\s+)?|(?:see|see also|cf\.?|refs?|via|by|in|from|since|per|as of|through)\s+)(?:(?:the|issue|issues|pr|prs|pull request|discussion|ticket|bug|commit|also|for|details)\s+)*` + refs)
	closes      = lazyregexp.New(`(?i)[,;:–—-]*\s*\b(?:(?:also|partially|hopefully|this|should)\s+)*(?:fix(?:es|ed|ing)?|clos(?:es|ed|e)|resolv(?:es|ed|e)|refs?|references|related to|relates to|part of|addresses|implements|supersedes|replaces|reverts|follow[- ]?ups? (?:to|from|of|on)|issues?|prs?|pull requests?|gh|bug|ticket|link|cc|re|tracked (?:in|by))\b(?:\s+(?:the\s+)?(?:issues?|prs?|pull requests?|bugs?|tickets?))?\s*:?\s*` + refs)
	thankful    = lazyregexp.New(`(?i)(^|[.!?,;]\s+)(?:special |many |big )?(?:thanks|thank you|kudos)(?: to)?[^.]*` + gone + `[^.]*(?:\.|$)`)
	inside      = lazyregexp.New(`([a-z,]\s*)` + refs + `(\s+[a-z])`)
	// A reference that is the subject of a sentence is somebody's earlier work.
	subject      = lazyregexp.New(`\b((?:when|because|that|until|while|where|than|as|since|after|before) )(?:(?:PR|issue|pull request|commit) )?` + refs + `\s+([a-z-]+(?:ed|es|s|gan|de)\b)`)
	subjectFirst = lazyregexp.New(`^(?:(?:PR|Issue|Pull request|Commit) )?` + refs + `\s+([a-z-]+(?:ed|es|s|gan|de)\b)`)
	inBrackets   = lazyregexp.New(`\([^()` + "`" + `]*\)`)
	loneRefs     = lazyregexp.New(`\s*` + refs)
	empties      = lazyregexp.New(`\(\s*[,;:.\s]*\s*\)|\[\s*\]`)
	joint        = lazyregexp.New(`(?i)([.!?])\s+(?:and|or|by|with|via|also)[.,;:]*$`) // what joined two references
	headless     = lazyregexp.New(`\(\s*[,;]\s*`)
	spaces       = lazyregexp.New(`\s+`)
	before       = lazyregexp.New(`\s+([.,;:!?)](?:\s|$))`)
	stops        = lazyregexp.New(`(?:\s*[,;:])+\s*\.(\s|$)|\.\s*\.(\s|$)`)
	leading      = lazyregexp.New(`^(?:[\s,;:)\]–—]|\.(?:\s|$))+|^-+\s+`)
	leftover     = lazyregexp.New(`(?i)\b(?:and|or|by|pr|prs|see|also|issue|issues|fix|fixes|fixed|closes?|resolves?|resolved|refs?|thanks|to|for|the|pull request|via|in|gh|contributed|patch|reported|based on|part of|from|with|of|help)\b|[\s,;:.&#!]|` + gone)
)

// tidy removes the marks that gone left, and the words that only lead to them.
func tidy(text string) string {
	if strings.Contains(text, gone) {
		text = inBrackets.ReplaceAllStringFunc(text, func(s string) string {
			if strings.Contains(s, gone) && leftover.ReplaceAllString(s[1:len(s)-1], "") == "" {
				return ""
			}
			return s
		})
		text = subject.ReplaceAllString(text, "${1}an earlier change $2")
		text = subjectFirst.ReplaceAllString(text, "An earlier change $1")
		for again := ""; again != text; { // one match can consume the blank before the next
			again, text = text, thankful.ReplaceAllString(text, "$1")
		}
		text = credit.ReplaceAllString(text, "")
		text = closes.ReplaceAllString(text, "")
		text = inside.ReplaceAllString(text, "$1"+torn+"$2")
		text = strings.TrimRight(loneRefs.ReplaceAllString(text, ""), ",;: ")
		text = joint.ReplaceAllString(text, "$1")
	}
	text = outside(text, func(s string) string { return headless.ReplaceAllString(empties.ReplaceAllString(s, ""), "(") })
	text = showEmpty.Replace(spaces.ReplaceAllString(text, " "))
	text = before.ReplaceAllString(text, "$1")
	text = stops.ReplaceAllString(text, ".$1$2")
	if i := strings.LastIndexByte(text, '`'); strings.Count(text, "`")%2 == 1 { // an unpaired backtick
		text = text[:i] + text[i+1:]
	}
	return strings.TrimSpace(leading.ReplaceAllString(text, ""))
}
