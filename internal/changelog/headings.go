package changelog

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	atx       = lazyregexp.New(`^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?$`)
	boldLine  = lazyregexp.New(`^ {0,3}(?:\*\*([^*]+)\*\*|__([^_]+)__)\s*:?$`)
	labelLine = lazyregexp.New(`^ {0,3}([^\s:][^:]{0,40}):$`)
)

// releaseRole ends a section in the form of Sphinx's releases extension: the entries above
// it came after that release.
var releaseRole = lazyregexp.New("^:release:`([^ <`]+)[^`]*`")

// longestPlain is how many bytes a heading without markup may have.
const longestPlain = 120

// Levels of headings without a level in the markup: below all others.
const (
	plainLevel = 40
	boldLevel  = 50
	labelLevel = 60
)

// heading reads a heading that begins at line i: its text, its level, and its number of
// lines, 0 where there is none.
func (s *scanner) heading(i int) (string, int, int) {
	line := s.lines[i]
	if strings.HasPrefix(strings.TrimLeft(line, " "), "#") && !s.rest {
		if m := atx.FindStringSubmatch(line); m != nil {
			return m[2], len(m[1]), 1
		}
	}
	if text, level, took := s.underlined(i); took > 0 {
		return text, level, took
	}
	if m := bulletOf(line); m != nil {
		return s.bulletHeading(i, m[4], len(m[1]))
	}
	if !s.blank && !s.afterHead || len(line) > longestPlain {
		return "", 0, 0
	}
	if strings.Contains(line, "**") || strings.Contains(line, "__") {
		if m := boldLine.FindStringSubmatch(line); m != nil {
			return m[1] + m[2], boldLevel, 1
		}
	}
	if indentOf(line) == 0 {
		if v := readVersion(line); v.ok && v.plain && !v.named {
			return line, plainLevel, 1
		}
	}
	if !strings.HasSuffix(line, ":") || s.fragment {
		return "", 0, 0
	}
	if m := labelLine.FindStringSubmatch(line); m != nil && len(strings.Fields(m[1])) <= 5 && s.listBelow(i) {
		return m[1], labelLevel, 1
	}
	return "", 0, 0
}

// bulletHeading is the heading that the text of a bullet is, at a depth.
func (s *scanner) bulletHeading(i int, text string, depth int) (string, int, int) {
	if r := releaseRole.FindStringSubmatch(text); r != nil {
		return r[1], plainLevel, 1
	}
	// "* 1.2.0 (date)", with its entries nested below.
	if (s.blank || len(s.open) == 0) && len(text) <= longestPlain && s.deeperBelow(i, depth) {
		if v := readVersion(text); v.ok && !v.named && v.plain {
			return text, plainLevel, 1
		}
	}
	return "", 0, 0
}

// underlined reads setext and reST titles. A reST title can have a line above it too.
func (s *scanner) underlined(i int) (string, int, int) {
	rule := func(j int) string {
		if j >= len(s.lines) || s.ignored[j] {
			return ""
		}
		return isRule(s.lines[j])
	}
	if over := rule(i); over != "" {
		if under := rule(i + 2); i+1 < len(s.lines) && s.lines[i+1] != "" && rule(i+1) == "" && under != "" && under[0] == over[0] && bulletOf(s.lines[i+1]) == nil {
			return strings.TrimSpace(s.lines[i+1]), s.levelOf(over[:1] + "over"), 3
		}
		return "", 0, 0
	}
	under := rule(i + 1)
	if under == "" || indentOf(s.lines[i]) > 1 || bulletOf(s.lines[i]) != nil || strings.HasPrefix(s.lines[i], "|") {
		return "", 0, 0
	}
	text := strings.TrimSpace(s.lines[i])
	// Without a blank line above, it can be the end of a paragraph with a rule below.
	if !s.blank && !s.afterHead && len(s.open) > 0 && !readVersion(text).ok {
		return "", 0, 0
	}
	if !s.rest && under[0] != '=' && under[0] != '-' && len(under)+2 < len([]rune(text)) {
		return "", 0, 0
	}
	return text, s.levelOf(under[:1]), 2
}

// levelOf ranks underlines by appearance, as reST does.
func (s *scanner) levelOf(style string) int {
	i := slices.Index(s.levels, style)
	if i < 0 {
		i = len(s.levels)
		s.levels = append(s.levels, style)
	}
	return i + 1
}

func (s *scanner) listBelow(i int) bool {
	for _, line := range s.lines[i+1:] {
		if line != "" {
			return bulletOf(line) != nil
		}
	}
	return false
}

func (s *scanner) deeperBelow(i, indent int) bool {
	for _, line := range s.lines[i+1:] {
		if line != "" {
			return indentOf(line) > indent && bulletOf(line) != nil
		}
	}
	return false
}

// enter begins the section below a heading.
func (s *scanner) enter(text string, level, line int) {
	s.close(0)
	s.blank, s.afterHead = true, true
	s.group++
	v := readVersion(text)
	deeper := s.versionAt > 0 && level > s.versionAt
	// A deeper heading with the name of a package or a language is not a version of this
	// project. A bold line is one only if the file writes versions in bold lines.
	if v.ok && (!deeper || !v.named && (level < boldLevel || s.versionAt >= plainLevel)) {
		s.version, s.released, s.versionAt, s.headings = v.text, v.released, level, nil
		s.anyVersion, s.versionHead = true, s.group
		return
	}
	if s.versionAt > 0 && !deeper && !isCategory(text) {
		s.version, s.released, s.versionAt, s.headings = "", false, 0, nil
		if s.releases {
			s.version, s.versionAt = "Unreleased", plainLevel
		}
	}
	if s.versionAt == 0 {
		s.headings = nil
	}
	for len(s.headings) > 0 && s.headings[len(s.headings)-1].level >= level {
		s.headings = s.headings[:len(s.headings)-1]
	}
	if s.version != "" {
		s.groupParent[s.group] = s.versionHead
	}
	// A heading that names a pull request is an entry, and the text below belongs to it.
	if s.versionAt > 0 && level < boldLevel && pointsAtNumber.MatchString(text) {
		s.open = append(s.open, &block{
			line: line, indent: -2, bullet: true, version: s.version, released: s.released, heading: s.headingText(), group: s.group,
			pieces: []piece{{lines: []string{text}}},
		})
		s.wide = true
		return
	}
	s.headings = append(s.headings, heading{level, cleanHeading(text)})
}

func isCategory(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })), " ")
	return slices.Contains(categories, strings.TrimRight(first, ":"))
}

var categories = strings.Fields(`added changed deprecated removed fixed security features feature bug bugs bugfixes bugfix fixes enhancements
	improvements improvement documentation docs performance breaking deprecations removals miscellaneous misc internal dependencies`)

var (
	mdTarget  = lazyregexp.New(`\]\([^)]*\)|\]\[[^\]]*\]`)
	restLink  = lazyregexp.New("`([^`<]*?)\\s*<[^>`]*>`_{1,2}")
	htmlTag   = lazyregexp.New(`</?[A-Za-z][^>]*>|\{#[^}]*\}|\{[a-z-]+\}`)
	shortcode = lazyregexp.New(`:[a-z0-9_+-]+:`)
)

// cleanHeading returns the text of a heading without the markup around it, but with emoji.
func cleanHeading(text string) string {
	text = htmlTag.ReplaceAllString(restLink.ReplaceAllString(mdTarget.ReplaceAllString(text, "]"), "$1"), "")
	text = strings.TrimSpace(strings.TrimRight(strings.Trim(strings.TrimSpace(text), "*_"), "*_:"))
	return strings.Join(strings.Fields(strings.NewReplacer("**", "", "[", "", "]", "", "`", "").Replace(text)), " ")
}

// version is a version in a heading.
type version struct {
	text     string
	ok       bool
	named    bool // the name of a package stands before it
	plain    bool // only a date stands beside it, so that it is a heading without any markup
	released bool
}

var (
	versionWord = lazyregexp.New(`^[\[(]?((?:[A-Za-z@][\w./@-]*(?:@|/|==|-))?)[vV]?\.?(\d+(?:\.\d+)+(?:[.-]?[A-Za-z]+[.-]?\d*)*(?:-\d+)?(?:\+[0-9A-Za-z.-]+)?|\d{4}-\d{2}-\d{2})[\]),:;]*$`)
	wholeNumber = lazyregexp.New(`^[\[(]?[vV]?(\d{1,4})[\]),:;]*$`)
	toCome      = lazyregexp.New(`(?i)^(?:(?:the )?(?:unreleased|not yet released|to be released|upcoming|next|forthcoming|in development|in progress|under development|development|develop|dev|master|main|head|trunk|tip|tbd|tba|current|wip|pending)` +
		`(?: (?:changes|version|release|master|main|dev))*)(?:\s*[-–—:/(\[]*\s*(?:unreleased|not yet released|tbd|tba|x+|in development|dev|master|main|date|\?+|yyyy-mm-dd|[-–—)\]])*)*$`)
	unreleasedWord = lazyregexp.New(`(?i)\b(?:unreleased|not (?:yet )?released|to be released|in development|under development|tbd|tba|upcoming|wip|yyyy-mm-dd|x{4}-x{2}-x{2}|20xx-xx-xx)\b|\?\?`)
	dateWord       = lazyregexp.New(`(?i)^(?:\d{1,4}(?:st|nd|rd|th)?|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|mon\w*|tue\w*|wed\w*|thu\w*|fri\w*|sat\w*|sun\w*|released?|on|date|of|unreleased|yanked|not|yet|tbd|tba|latest|lts|x+|xx+-xx-xx|20xx-xx-xx|yyyy-mm-dd|\?+(?:-\?+)*|in|development|dev|final|stable|the|to|be|soon)$`)
	toComeNamed    = lazyregexp.New(`(?i)^unreleased ?[:–—-] ?[\w.-]+(?: (?:next|dev|main|master|head|[xX.\d]+))?$`)
	leadingDate    = lazyregexp.New(`^(?:\d{1,2}(?:st|nd|rd|th)? [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}[-/.]\d{2}[-/.]\d{2}) ?[:,–—-] `)
	beforeVersion  = strings.Fields("version release releases ver v changes change in what's new whats what’s changelog for notes note of the announcing since")
)

// readVersion reads a version from a heading: "1.2.0", "[1.2.0] - 2024-01-01",
// "Version 2.1.0", "pkg 1.2 (2024-01-01)", "2 January 2024: pkg 1.2", "Unreleased",
// "master (unreleased)".
func readVersion(heading string) version {
	text := strings.TrimFunc(shortcode.ReplaceAllString(cleanHeading(heading), ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Mn, r) || r == '\u200d' || r == '#' || r == '='
	})
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && !strings.Contains(text[1:], "(") {
		text = text[1 : len(text)-1]
	}
	if toCome.MatchString(text) {
		return version{text: text, ok: true, plain: strings.EqualFold(text, "unreleased") || strings.EqualFold(text, "dev")}
	}
	if toComeNamed.MatchString(text) {
		return version{text: text, ok: true}
	}
	if date := leadingDate.FindString(text); date != "" {
		if v := readVersion(text[len(date):]); v.ok {
			return v
		}
	}
	words := strings.Fields(text)
	const names = 2 // words before the version that may name a package
	v, named := version{}, 0
	for i, w := range words {
		before := strings.ToLower(strings.TrimRight(w, ":"))
		if m := versionWord.FindStringSubmatch(w); m != nil {
			v.text, v.named = m[2], named > 0 || m[1] != ""
		} else if m := wholeNumber.FindStringSubmatch(w); m != nil && named == 0 && (i > 0 && slices.Contains(beforeVersion, strings.ToLower(words[i-1])) || strings.ContainsAny(w[:1], "vV")) {
			v.text = m[1]
		} else if slices.Contains(beforeVersion, before) || w == "-" || w == "–" || w == "—" {
			continue
		} else if named++; named > names {
			return version{}
		} else {
			continue
		}
		rest := strings.Join(words[i+1:], " ")
		v.ok, v.plain = closes(rest)
		v.plain = v.plain && i < 3 && !strings.HasSuffix(w, ":")
		v.released = !unreleasedWord.MatchString(rest)
		return v
	}
	return version{}
}

// closes reports whether a heading can end like this after its version: in nothing, a
// date, something in parentheses or behind a dash.
func closes(rest string) (ok, plain bool) {
	onlyDates := true
	for _, w := range strings.FieldsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[],:;/|-–—*_\"'“”", r) }) {
		onlyDates = onlyDates && dateWord.MatchString(w)
	}
	if rest == "" || onlyDates {
		return true, true
	}
	const longest = 8
	first := []rune(rest)[0]
	return strings.ContainsRune("(-–—:/|,\"“'", first) && len(strings.Fields(rest)) <= longest || unicode.Is(unicode.So, first), false
}

// versionOfPath returns the version in the name of a file: docs/releases/4.2.txt.
func versionOfPath(name string) string {
	dir, file := path.Split(name)
	stem := strings.TrimSuffix(file, path.Ext(file))
	if m := versionWord.FindStringSubmatch(stem); m != nil && m[1] == "" && slices.Contains(versionDirs, strings.ToLower(path.Base(dir))) {
		return m[2]
	}
	if m := versionWord.FindStringSubmatch(file); m != nil && m[1] == "" && slices.Contains(versionDirs, strings.ToLower(path.Base(dir))) {
		return m[2]
	}
	return ""
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // larger than any number in use
	}
	return n
}
