package changelog

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// block is a bullet or a paragraph, with the blocks nested in it.
type block struct {
	line     int
	indent   int
	bullet   bool
	counted  bool // the bullet is a number
	version  string
	released bool
	heading  string
	group    int // number of the heading above
	pieces   []piece
	children []block
}

// piece is a run of lines without blank lines.
type piece struct {
	lines   []string
	literal bool
	after   int // number of children before it
}

// own returns the text of a block without its children.
func (b block) own() string { return joinPieces(b.pieces) }

// whole returns the text of a block, with a line "- …" for each child.
func (b block) whole() string {
	if len(b.children) == 0 {
		return b.own()
	}
	var out []string
	next := 0
	for i := 0; i <= len(b.children); i++ {
		for ; next < len(b.pieces) && b.pieces[next].after == i; next++ {
			out = append(out, joinPieces(b.pieces[next:next+1]))
		}
		if i < len(b.children) {
			out = append(out, "- "+strings.ReplaceAll(b.children[i].whole(), "\n", "\n  "))
		}
	}
	return strings.Join(out, "\n")
}

func joinPieces(pieces []piece) string {
	var out []string
	for _, p := range pieces {
		if p.literal {
			out = append(out, strings.Join(p.lines, "\n"))
			continue
		}
		var trimmed []string
		for _, l := range p.lines {
			if l = strings.TrimSpace(l); l != "" {
				trimmed = append(trimmed, l)
			}
		}
		out = append(out, strings.Join(trimmed, " "))
	}
	return strings.TrimSpace(strings.Join(out, "\n\n"))
}

// scanner splits the lines of one text into blocks.
type scanner struct {
	lines   []string
	ignored []bool // comments, directives, link definitions, front matter
	rest    bool
	// releases says that the text is in the form of Sphinx's releases (see releaseRole).
	releases bool
	manual   bool // a page of the documentation, which without versions is not a changelog
	// fragment says that the text is of one change: a line above a list begins a sentence,
	// and is not a heading.
	fragment bool
	links    map[string]string
	levels   []string // underlines in order of appearance

	blocks      []block
	open        []*block // bullets, outermost first, or one paragraph
	blank       bool     // the line before is blank
	fence       string
	afterHead   bool
	wide        bool // the open entry is a heading with a reference, and includes all text below
	group       int
	version     string
	released    bool
	versionAt   int // level of the version's heading, 0 for none
	headings    []heading
	anyVersion  bool
	groupHeads  map[int]bool // groups directly below the heading of a version
	groupParent map[int]int
	versionHead int // group of the version's heading
}

type heading struct {
	level int
	text  string
}

var (
	bulletShape = lazyregexp.New(`^(\s*)([-*+•–‣]|\d{1,3}[.)]|#\.)(\s+)(\S.*)$`)
	fenceShape  = lazyregexp.New("^\\s*(```+|~~~+)")
	ruleShape   = lazyregexp.New(`^\s?(={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|"{3,}|'{3,}|\+{3,}|#{3,}|\.{3,}|:{3,}|_{3,}|` + "`{3,}" + `)\s*$`)
	htmlLine    = lazyregexp.New(`^\s*(?:</?[A-Za-z][^>]*>\s*)+$`)
	tabs        = strings.NewReplacer("\t", "    ")
)

func scan(name, text string, fragment bool) *scanner {
	ext := strings.ToLower(path.Ext(name))
	s := &scanner{fragment: fragment, links: map[string]string{}, rest: ext == ".rst" || ext == ".rest", group: 1, blank: true, groupHeads: map[int]bool{}, groupParent: map[int]int{}}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		s.lines = append(s.lines, strings.TrimRight(tabs.Replace(line), " \r"))
	}
	s.manual = inManual(name)
	s.ignored = make([]bool, len(s.lines))
	s.ignore()
	digestLinks(s.links)
	if strings.Contains(text, ":release:`") {
		s.releases, s.version, s.versionAt, s.anyVersion = true, "Unreleased", plainLevel, true
	}
	for i := 0; i < len(s.lines); {
		i += s.step(i)
	}
	return s
}

// A changelog is read at every commit that touches it, so cheap checks rule out most lines
// before any pattern is tried.

func isFence(line string) bool {
	return (strings.Contains(line, "```") || strings.Contains(line, "~~~")) && fenceShape.MatchString(line)
}

func isRule(line string) string {
	first := strings.TrimLeft(line, " ")
	if len(first) < 3 || isWord(first[0]) || first[0] != first[1] {
		return ""
	}
	if m := ruleShape.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

func bulletOf(line string) []string {
	first := strings.TrimLeft(line, " ")
	if first == "" || strings.IndexByte("-*+0123456789#", first[0]) < 0 && first[0] < 0x80 {
		return nil
	}
	return bulletShape.FindStringSubmatch(line)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// step reads the line at i, and returns how many lines it read.
func (s *scanner) step(i int) int {
	line := s.lines[i]
	switch {
	case s.fence != "" || !s.ignored[i] && isFence(line):
		s.literal(line)
		return 1
	case s.ignored[i]:
		return 1
	case line == "":
		s.blank = true
		return 1
	}
	if text, level, took := s.heading(i); took > 0 {
		s.enter(text, level, i+1)
		return took
	}
	defer func() { s.blank, s.afterHead = false, false }()
	if isRule(line) != "" || strings.Contains(line, "<") && htmlLine.MatchString(line) {
		s.close(0)
		return 1
	}
	if m := bulletOf(line); m != nil && s.beginsItem(m) {
		s.item(i+1, len(m[1]), m[4])
		s.last().counted = strings.ContainsAny(m[2], "0123456789")
		return 1
	}
	s.words(i, line)
	return 1
}

// beginsItem reports whether a line begins a bullet, and is not a wrapped line that looks
// like one. A number is a bullet only where a list can begin or continue.
func (s *scanner) beginsItem(m []string) bool {
	if m[2] == "#." || !strings.ContainsAny(m[2], "0123456789") {
		// "- " in the middle of an unindented paragraph is text.
		return s.blank || s.afterHead || len(s.open) == 0 || s.open[0].bullet || m[2] != "-" && m[2] != "–"
	}
	sibling := slices.ContainsFunc(s.open, func(b *block) bool { return b.counted && b.indent == len(m[1]) })
	return s.blank || s.afterHead || len(s.open) == 0 || sibling
}

func (s *scanner) literal(line string) {
	mark := fenceShape.FindStringSubmatch(line)
	switch {
	case s.fence == "":
		s.fence = mark[1][:3]
		s.add(piece{literal: true})
	case mark != nil && strings.HasPrefix(mark[1], s.fence):
		s.fence = ""
	}
	if b := s.last(); b != nil && len(b.pieces) > 0 {
		p := &b.pieces[len(b.pieces)-1]
		p.lines = append(p.lines, strings.TrimPrefix(line, strings.Repeat(" ", min(indentOf(line), b.indent+2))))
	}
	s.blank = s.fence == ""
}

// close ends all open blocks from a depth on, and records the outermost.
func (s *scanner) close(depth int) {
	for len(s.open) > depth {
		b := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if len(s.open) > 0 {
			parent := s.open[len(s.open)-1]
			parent.children = append(parent.children, *b)
			continue
		}
		s.blocks = append(s.blocks, *b)
	}
	if depth == 0 {
		s.wide = false
	}
}

func (s *scanner) last() *block {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

func (s *scanner) add(p piece) {
	if b := s.last(); b != nil {
		p.after = len(b.children)
		b.pieces = append(b.pieces, p)
	}
}

// maxDepth is how deep bullets nest: what is indented deeper stands beside. A block's text
// is made again on each level.
const maxDepth = 16

// item opens a bullet, nested if it is indented deeper than the one above.
func (s *scanner) item(line, indent int, text string) {
	depth := 0
	if s.wide {
		depth = 1
	}
	for depth < min(len(s.open), maxDepth-1) && s.open[depth].bullet && indent >= s.open[depth].indent+2 {
		depth++
	}
	if depth > 0 && s.wide && depth < len(s.open) && !s.open[depth].bullet {
		depth = 1
	}
	s.close(depth)
	s.open = append(s.open, &block{
		line: line, indent: indent, bullet: true, version: s.version, released: s.released, heading: s.headingText(), group: s.group,
		pieces: []piece{{lines: []string{text}}},
	})
}

// words continues the open block, or begins a paragraph.
func (s *scanner) words(i int, line string) {
	indent := indentOf(line)
	if !s.blank && !s.afterHead && len(s.open) > 0 {
		b := s.last()
		b.pieces[len(b.pieces)-1].lines = append(b.pieces[len(b.pieces)-1].lines, line)
		return
	}
	// After a blank line, indented text belongs to the bullet above.
	depth := len(s.open)
	for depth > 0 && (!s.open[depth-1].bullet || indent <= s.open[depth-1].indent) && (!s.wide || depth > 1) {
		depth--
	}
	if depth > 0 {
		s.close(depth)
		s.add(piece{lines: []string{line}})
		return
	}
	s.close(0)
	s.open = append(s.open, &block{
		line: i + 1, indent: indent, version: s.version, released: s.released, heading: s.headingText(), group: s.group,
		pieces: []piece{{lines: []string{line}}},
	})
}

func (s *scanner) headingText() string {
	var all []string
	for _, h := range s.headings {
		all = append(all, h.text)
	}
	return strings.Join(all, " / ")
}

var (
	meta = lazyregexp.New(`(?i)^[*_\[(]*(?:release[ds]?(?: on| date)?\b.{0,60}|unreleased|released?:? .{0,40}|no (?:significant |notable |user-facing )?changes.{0,40}|` +
		`nothing.{0,30}|full change ?log.{0,200}|see .{0,200}|to be released.{0,30}|not yet released.{0,30}|tbd|tba|in development|under development|date: .{0,40})[*_\])]*\.?$`)
	onlyDate = lazyregexp.New(`(?i)^[*_(]*(?:released? )?(?:on )?(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:\d{1,2}(?:st|nd|rd|th)? )?[a-z]{3,9} (?:\d{1,2}(?:st|nd|rd|th)?,? )?\d{4})[*_)]*\.?$`)
	// pointers match entries that only link to another page.
	pointers = lazyregexp.New(`(?i)^[*_` + "`" + `\[]*(?:full change ?log|all changes|compare|diff)\b|\bmade (?:their|his|her|its) first contribution\b`)
)

// entries returns the blocks about changes. fallback is the version of text that is not
// below the heading of a version.
func (s *scanner) entries(fallback string) []block {
	s.close(0)
	listed := map[int]bool{}
	for _, b := range s.blocks {
		if b.bullet {
			listed[b.group] = true
			listed[s.groupParent[b.group]] = true
		}
	}
	var out []block
	for _, b := range s.blocks {
		text := b.whole()
		if text == "" || meta.MatchString(text) || onlyDate.MatchString(text) || pointers.MatchString(text) {
			continue
		}
		if b.version == "" {
			// In a file without versions all bullets count. In a file with versions, text
			// outside of their sections is an introduction.
			if b.version = fallback; fallback == "" && (s.anyVersion || !b.bullet || s.manual) {
				continue
			}
			b.released = fallback != ""
		}
		if !b.bullet && listed[b.group] && !pointsAtNumber.MatchString(text) {
			continue // the introduction of a list
		}
		out = append(out, b)
	}
	return out
}

var pointsAtNumber = lazyregexp.New(`(?i)(?:^|[\s(\[])#\d+\b|/(?:pull|issues|merge_requests)/\d+|(?::|\{)(?:pr|issue|pull|gh)(?::|\})` + "`" + `|\bgh-\d+`)
