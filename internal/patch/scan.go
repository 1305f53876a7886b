package patch

import (
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// section is what a text says of one file.
type section struct {
	at       int       // its first line, from 1
	old, new string    // names as written: with their prefix, or devNull; "" where they are not said
	heads    [2]string // the names in git's line
	folders  bool      // the names begin with the folders that were compared (git diff --no-index)
	bare     bool      // the names are those of a rename or copy, which have no prefix
	git      bool      // it begins with git's line
	named    bool      // the two lines that name a file were read
	verb     string    // "rename" or "copy"; "" for neither
	oldMode  string
	newMode  string
	created  bool
	deleted  bool
	stub     string   // git's or diff's line that stands for content that is not there
	binary   []string // the lines of git's form of binary content
	combined bool     // a diff of a merge, with two old sides
	hunks    []hunk
}

// hunk is one change, with what its header says.
type hunk struct {
	at       int // line of its header, from 1
	place    int // first line of the old side, from 1; 0 where it is not said
	counted  bool
	old, new int // lines, where they are counted
	lines    []line
	// fits reports whether lines are as many as the header says.
	fits bool
	// more are lines after those that the header counts, with changes among them; apart reports
	// whether an empty line stands between.
	more  []line
	apart bool
	last  bool // nothing follows it in the text
}

// line is one of a hunk. text has its carriage return, but no line end.
type line struct {
	op    byte // ' ', '+' or '-'
	text  string
	noEnd bool // "\ No newline at end of file" follows it
}

const devNull = "/dev/null"

var (
	hunkHeader = lazyregexp.New(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@`)
	hunkPlace  = lazyregexp.New(`^@@+ *-(\d{1,9})`)
	stubLine   = lazyregexp.New(`^(?:Binary files|Files) (.+) and (.+) differ$`)
	onlyLine   = lazyregexp.New(`^Only in (\S+): (\S+)$`)
	mailStart  = lazyregexp.New(`^From [0-9a-f]{40} `)
	gitVersion = lazyregexp.New(`^\d+\.\d+`)
	epochTime  = lazyregexp.New(`\t(1970-01-01 00:00:00|1969-12-31 \d\d:\d\d:00)`)
)

// scan reads the sections of a text; whatever stands between them is left alone.
func scan(text string) []section {
	s := scanner{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for s.i < len(s.lines) {
		s.next()
	}
	return s.out
}

type scanner struct {
	lines []string
	i     int
	out   []section
}

// line is a line without its carriage return; "" past the end.
func (s *scanner) line(i int) string {
	if i >= len(s.lines) {
		return ""
	}
	return strings.TrimSuffix(s.lines[i], "\r")
}

func (s *scanner) begin(x section) *section {
	x.at = s.i + 1
	s.out = append(s.out, x)
	return &s.out[len(s.out)-1]
}

// open is the section that a line belongs to; nil where there is none.
func (s *scanner) open() *section {
	if len(s.out) == 0 {
		return nil
	}
	return &s.out[len(s.out)-1]
}

func (s *scanner) next() {
	l, cur := s.line(s.i), s.open()
	switch {
	case strings.HasPrefix(l, "diff --git "):
		x := section{git: true}
		x.old, x.new = gitNames(l[len("diff --git "):])
		x.heads = [2]string{x.old, x.new}
		cur = s.begin(x)
		for s.i++; s.i < len(s.lines) && cur.extended(s.line(s.i)); s.i++ {
		}
	case strings.HasPrefix(l, "diff --cc "), strings.HasPrefix(l, "diff --combined "):
		s.begin(section{combined: true})
		s.i++
	case s.names(s.i):
		if cur == nil || cur.named || len(cur.hunks) > 0 || cur.stub != "" || cur.binary != nil {
			cur = s.begin(section{})
		}
		cur.named = true
		before, after := s.line(s.i), s.line(s.i+1)
		if !cur.bare {
			cur.old, cur.new = fileName(before[4:]), fileName(after[4:])
		}
		cur.created = cur.created || cur.old == devNull || !cur.git && epochTime.MatchString(before)
		cur.deleted = cur.deleted || cur.new == devNull || !cur.git && epochTime.MatchString(after)
		s.i += 2
	case strings.HasPrefix(l, "@@") && cur != nil:
		s.hunk(cur)
	case l == "GIT binary patch" && cur != nil:
		s.binary(cur)
	case stubLine.MatchString(l):
		if cur == nil || !cur.git || len(cur.hunks) > 0 || cur.stub != "" {
			m := stubLine.FindStringSubmatch(l)
			cur = s.begin(section{old: fileName(m[1]), new: fileName(m[2])})
		}
		cur.stub = l
		s.i++
	case onlyLine.MatchString(l):
		m := onlyLine.FindStringSubmatch(l)
		s.begin(section{old: m[1] + "/" + m[2], new: m[1] + "/" + m[2], stub: l})
		s.i++
	default:
		s.i++
	}
}

// names reports whether the two lines that name a file begin at a line. Without git's line above,
// a hunk has to follow.
func (s *scanner) names(i int) bool {
	if !strings.HasPrefix(s.line(i), "--- ") || !strings.HasPrefix(s.line(i+1), "+++ ") {
		return false
	}
	for i += 2; i < len(s.lines) && s.line(i) == ""; i++ {
	}
	return strings.HasPrefix(s.line(i), "@@")
}

// extended reads a line between git's first one and the names; false for any other line.
func (x *section) extended(l string) bool {
	key, rest, ok := strings.Cut(l, " ")
	if !ok {
		return false
	}
	second, value, _ := strings.Cut(rest, " ")
	switch {
	case key == "old" && second == "mode":
		x.oldMode = value
	case key == "new" && second == "mode":
		x.newMode = value
	case key == "new" && strings.HasPrefix(value, "mode "):
		x.created, x.newMode = true, value[len("mode "):]
	case key == "deleted" && strings.HasPrefix(value, "mode "):
		x.deleted, x.oldMode = true, value[len("mode "):]
	case (key == "rename" || key == "copy") && (second == "from" || second == "old"):
		x.verb, x.bare, x.old = key, true, unquoted(value)
	case (key == "rename" || key == "copy") && (second == "to" || second == "new"):
		x.verb, x.bare, x.new = key, true, unquoted(value)
	case key == "index":
		if strings.HasPrefix(value, "1") && x.oldMode == "" {
			x.oldMode = value
		}
	case key == "similarity", key == "dissimilarity":
	default:
		return false
	}
	return true
}

// hunk reads one: as many lines as its header says where these are there, and all that look like its own
// else.
func (s *scanner) hunk(x *section) {
	h := hunk{at: s.i + 1}
	head := s.line(s.i)
	if m := hunkHeader.FindStringSubmatch(head); m != nil {
		h.counted, h.place, h.old, h.new = true, number(m[1], 0), number(m[2], 1), number(m[3], 1)
	} else if m := hunkPlace.FindStringSubmatch(head); m != nil {
		h.place = number(m[1], 0)
	}
	s.i++
	start := s.i
	old, made := 0, 0
	for h.counted && (old < h.old || made < h.new) && s.body(s.i) {
		had := len(h.lines)
		h.take(s.lines[s.i])
		o, m := sides(h.lines[had:])
		old, made, s.i = old+o, made+m, s.i+1
	}
	if h.fits = h.counted && old == h.old && made == h.new && len(h.lines) > 0; h.fits {
		if strings.HasPrefix(s.line(s.i), `\`) {
			h.take(s.lines[s.i])
			s.i++
		}
		after := s.i
		if rest, upto := s.rest(); hasChange(rest) && !signature(s.line(after)) {
			h.more, h.apart = rest, s.line(after) == ""
			s.i = upto
		}
	} else {
		s.i = start
		h.lines, s.i = s.rest()
	}
	h.last = strings.TrimSpace(strings.Join(s.lines[min(s.i, len(s.lines)):], "")) == ""
	x.hunks = append(x.hunks, h)
}

// rest are the lines from here on that look like those of a hunk, without empty ones at their
// end, and where they end.
func (s *scanner) rest() ([]line, int) {
	var h hunk
	i, full, upto := s.i, 0, s.i
	for ; s.body(i) && !s.bound(i); i++ {
		h.take(s.lines[i])
		if s.line(i) != "" {
			full, upto = len(h.lines), i+1
		}
	}
	return h.lines[:full], upto
}

// body reports whether a line can be one of a hunk.
func (s *scanner) body(i int) bool {
	if i >= len(s.lines) {
		return false
	}
	l := s.line(i)
	return l == "" || strings.IndexByte(" +-\\", l[0]) >= 0
}

// bound reports whether a line that could be one of a hunk begins something else: the next file, or the
// signature of a mail.
func (s *scanner) bound(i int) bool {
	if s.names(i) {
		return true
	}
	l := s.line(i)
	return signature(l) && (i+1 >= len(s.lines) || gitVersion.MatchString(s.line(i+1)))
}

// signature reports whether a line is the one before the signature of a mail.
func signature(l string) bool { return l == "-- " || l == "--" }

func (h *hunk) take(l string) {
	switch {
	case l == "" || l == "\r":
		h.lines = append(h.lines, line{op: ' ', text: l})
	case l[0] == '\\':
		if n := len(h.lines); n > 0 {
			h.lines[n-1].noEnd = true
		}
	default:
		h.lines = append(h.lines, line{op: l[0], text: l[1:]})
	}
}

// sides counts the lines of the old and the new side.
func sides(lines []line) (old, made int) {
	for _, l := range lines {
		if l.op != '+' {
			old++
		}
		if l.op != '-' {
			made++
		}
	}
	return old, made
}

func hasChange(lines []line) bool {
	for _, l := range lines {
		if l.op != ' ' {
			return true
		}
	}
	return false
}

// binary reads git's form of binary content: the new one, and the old one that may follow it.
func (s *scanner) binary(x *section) {
	for s.i++; s.i < len(s.lines); s.i++ {
		l := s.line(s.i)
		if mailStart.MatchString(l) || strings.HasPrefix(l, "diff --git ") || l != "" && strings.Contains(l, " ") && !strings.HasPrefix(l, "literal ") && !strings.HasPrefix(l, "delta ") {
			break
		}
		x.binary = append(x.binary, l)
	}
	if x.binary == nil {
		x.binary = []string{}
	}
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return otherwise
	}
	return n
}

// fileName is the name in one of the two lines that name a file, without what diff writes
// behind it.
func fileName(s string) string {
	if strings.HasPrefix(s, `"`) {
		return unquoted(s)
	}
	name, _, _ := strings.Cut(s, "\t")
	return strings.TrimRight(name, " ")
}

// unquoted is a name without git's quotes.
func unquoted(s string) string {
	s = strings.TrimRight(s, " \t")
	if q, err := strconv.QuotedPrefix(s); err == nil && strings.HasPrefix(s, `"`) {
		if name, err := strconv.Unquote(q); err == nil {
			return name
		}
	}
	return s
}

// gitNames are the two names of git's line; both are "" where it does not say where the first
// one ends.
func gitNames(s string) (old, made string) {
	if strings.HasPrefix(s, `"`) {
		if q, err := strconv.QuotedPrefix(s); err == nil {
			return unquoted(q), unquoted(strings.TrimLeft(s[len(q):], " "))
		}
	}
	if at := strings.Index(s, ` "`); at >= 0 && strings.HasSuffix(s, `"`) {
		return s[:at], unquoted(s[at+1:])
	}
	s = strings.TrimRight(s, " \t")
	for at := range s {
		if s[at] != ' ' {
			continue
		}
		a, b := s[:at], s[at+1:]
		if _, x, ok := strings.Cut(a, "/"); a == b || ok && strings.HasSuffix(b, "/"+x) && !strings.Contains(strings.TrimSuffix(b, "/"+x), "/") {
			return a, b
		}
	}
	if strings.Count(s, " ") == 1 {
		old, made, _ = strings.Cut(s, " ")
	}
	return old, made
}
