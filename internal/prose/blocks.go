package prose

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Kind is the kind of a block.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Item           // of a list
	Listing        // a fenced, indented or literal block, a table, a picture
)

// Block is a paragraph or a list item on one line, its markup kept, or a listing.
type Block struct {
	Kind  Kind
	Text  string // the lines of a listing are unchanged
	Under string // the nearest heading above, with its markup
}

var (
	fence     = lazyregexp.New("^\\s*(```+|~~~+)")
	atx       = lazyregexp.New(`^\s{0,3}#{1,6}\s+(.*?)\s*#*$`)
	underline = lazyregexp.New(`^(=+|-+|~+|\^+|\*+|"+|\++)\s*$`)
	boldLine  = lazyregexp.New(`^\s*(?:\*\*|__)([^*_]+)(?:\*\*|__):?\s*$`)
	label     = lazyregexp.New(`^\s{0,3}([A-Z][\w/'&-]*(?: [\w/'&-]+){0,3}):\s*$`)
	directive = lazyregexp.New(`^(\s*)\.\. `)
	marker    = lazyregexp.New(`^(\s*)([-*+•]|\d{1,2}[.)])(\s+)(\S.*)$`)
	checkbox  = lazyregexp.New(`^\[[ xX*]?\]`)
	table     = lazyregexp.New(`^\s*(\|.*|\+[-=+]+\+|=+( +=+)+|[-:| ]{5,})\s*$`)
	doctest   = lazyregexp.New(`^\s*(>>>|\.\.\. |\$ )`)
	quote     = lazyregexp.New(`^\s{0,3}>`)
)

// reader splits a text into blocks, line by line.
type reader struct {
	out     []Block
	lines   []string // of the open paragraph or item
	item    bool
	indent  int // of the content of the open list item; 0 outside lists
	heading string
	blank   bool            // the line before was empty
	literal bool            // a paragraph ended in "::"
	listing strings.Builder // text of the last block, where it is a listing
}

// Blocks splits a text. Headings, check boxes, quotations and comments are not blocks; a
// heading is in Under of the blocks below it.
func Blocks(text string) []Block {
	text = comments.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	r := &reader{blank: true}
	for i := 0; i < len(lines); i++ {
		i = r.line(lines, i)
	}
	r.flush()
	return r.out
}

// line reads the line at i, and returns the index of the last line that belongs to it.
func (r *reader) line(lines []string, i int) int {
	s := lines[i]
	depth := len(s) - len(strings.TrimLeft(s, " "))
	open := len(r.lines) > 0
	switch {
	case strings.TrimSpace(s) == "":
		r.flush()
		r.blank = true
		return i
	case fence.MatchString(s):
		r.flush()
		end := closing(lines, i)
		r.code(lines[i:min(end, len(lines))])
		return end
	case directive.MatchString(s):
		r.flush()
		end := indented(lines, i, depth)
		if strings.Contains(s, "code") {
			r.code(lines[i:min(end+1, len(lines))])
		}
		return end
	case (r.literal || r.blank && !open && depth >= r.indent+4) && depth > 0 && !(r.indent > 0 && marker.MatchString(s)):
		r.literal = false
		end := indented(lines, i, depth-1)
		r.code(lines[i:min(end+1, len(lines))])
		return end
	case doctest.MatchString(s), table.MatchString(s) && !underline.MatchString(s):
		r.flush()
		r.code(lines[i : i+1])
	case quote.MatchString(s):
		r.flush()
		for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" { // its further lines may lack the mark
			i++
		}
	case underline.MatchString(s) && len(strings.TrimSpace(s)) > 2:
		if len(r.lines) == 1 && !r.item {
			r.heading, r.lines = r.lines[0], nil
		}
		r.flush()
	case atx.MatchString(s):
		r.head(atx.FindStringSubmatch(s)[1])
	case !open && boldLine.MatchString(s):
		r.head(boldLine.FindStringSubmatch(s)[1])
	case !open && label.MatchString(s):
		r.head(label.FindStringSubmatch(s)[1])
	case marker.MatchString(s):
		m := marker.FindStringSubmatch(s)
		r.flush()
		r.item, r.lines, r.indent = true, []string{m[4]}, len(m[1])+len(m[2])+len(m[3])
	default:
		if depth == 0 && r.blank {
			r.indent = 0
		}
		r.lines = append(r.lines, strings.TrimSpace(s))
	}
	r.blank = false
	return i
}

func (r *reader) head(text string) {
	r.flush()
	r.heading, r.indent = strings.Trim(text, " *_:"), 0
}

func (r *reader) code(lines []string) {
	if n := len(r.out); n == 0 || r.out[n-1].Kind != Listing {
		r.out, r.listing = append(r.out, Block{Kind: Listing, Under: r.heading}), strings.Builder{}
	}
	r.listing.WriteString(strings.Join(lines, "\n") + "\n")
	r.out[len(r.out)-1].Text = r.listing.String() // a view, which copies nothing
	r.blank = false
}

func (r *reader) flush() {
	text := strings.Join(r.lines, " ")
	kind := Paragraph
	if r.item {
		kind = Item
	}
	r.lines, r.item, r.literal = nil, false, false
	if text == "" || checkbox.MatchString(text) {
		return
	}
	if strings.HasSuffix(text, "::") {
		text, r.literal = strings.TrimSuffix(text, ":"), true
	}
	r.out = append(r.out, Block{Kind: kind, Text: text, Under: r.heading})
}

// closing returns the line that closes the fence at i, or the last line.
func closing(lines []string, i int) int {
	mark := strings.TrimSpace(fence.FindString(lines[i]))
	for j := i + 1; j < len(lines); j++ {
		if rest := strings.TrimSpace(lines[j]); strings.HasPrefix(rest, mark) && strings.Trim(rest, mark[:1]) == "" {
			return j
		}
	}
	return len(lines)
}

// indented returns the last line of those after i that are indented deeper than depth or
// empty.
func indented(lines []string, i, depth int) int {
	for j := i + 1; j < len(lines); j++ {
		s := lines[j]
		if strings.TrimSpace(s) != "" && len(s)-len(strings.TrimLeft(s, " ")) <= depth {
			return j - 1
		}
	}
	return len(lines)
}

var (
	squashed = lazyregexp.New(`(?m)^\* \S`)
	rule     = lazyregexp.New(`(?m)^-{3,}\s*$`)
)

// Squashed removes the list of commits that forges write into the body of a squash commit,
// one bullet each between empty lines. It keeps the words before the list, those of the
// first commit, and the lines of commits that add something ("feat: …"), as a list. The others
// are about the work on the change ("fix lint", "review").
func Squashed(title, body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	at := squashed.FindAllStringIndex(body, -1)
	if title != "" && strings.HasPrefix(body, "* "+title) {
		first, _, _ := strings.Cut(body, "\n* ")
		_, first, _ = strings.Cut(first, "\n")
		return strings.TrimSpace(first) + features(title, body, at)
	}
	for _, m := range at {
		before, rest := body[:m[0]], body[m[0]:]
		line, after, _ := strings.Cut(rest, "\n")
		lone := strings.TrimSpace(before) == "" || strings.HasSuffix(before, "\n\n")
		lone = lone && (strings.TrimSpace(after) == "" || strings.HasPrefix(after, "\n") || continues(after))
		if !lone || line == "" {
			return body // a list that somebody wrote
		}
	}
	if len(at) == 0 {
		return body
	}
	end := len(body)
	if len(at) > 1 {
		end = at[1][0]
	}
	first := body[at[0][0]:end]
	_, first, _ = strings.Cut(first, "\n\n")
	if m := rule.FindStringIndex(first); m != nil {
		first = first[:m[0]]
	}
	return strings.TrimSpace(body[:at[0][0]]) + "\n\n" + strings.TrimSpace(first) + features(title, body, at)
}

var feature = lazyregexp.New(`(?i)^\* (?:feat|feature|perf|enhancement|improvement)(?:\([^()]*\))?!?: *(\S.*)$`)

// features are the commits of a squash that add something and do not say its title again.
func features(title, body string, at [][]int) string {
	var out []string
	for _, m := range at {
		line, _, _ := strings.Cut(body[m[0]:], "\n")
		f := feature.FindStringSubmatch(strings.TrimSpace(line))
		if f != nil && !strings.Contains(strings.ToLower(title), strings.ToLower(f[1])) {
			out = append(out, "\n* "+f[1])
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "\n" + strings.Join(out, "")
}

// continues reports whether a bullet has further, indented lines up to an empty one.
func continues(after string) bool {
	for _, line := range strings.Split(after, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			return true
		case !strings.HasPrefix(line, "  "):
			return false
		}
	}
	return true
}
