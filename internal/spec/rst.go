package spec

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// maxNesting bounds how deep lists, quotes and directives lie in one another; what lies
// deeper is given as it stands.
const maxNesting = 24

// heading opens a line that is a heading: its level follows as one digit. Lines and link
// targets with marks are made into Markdown when the documents are joined.
const (
	heading = "\x01"
	opens   = "\x02" // a target that another document decides: doc:PATH, ref:LABEL
	closes  = "\x03"
)

// page reads one document into blocks of Markdown.
type page struct {
	*book
	path        string // of the document, for what is relative to it
	links       map[string]string
	subs        map[string]string
	styles      []string // adornments of titles, outermost first
	level       int      // of the last title
	module      string
	class       string
	inside      bool // in a list, a quote or a docstring: titles are bold there
	nested      int
	substituted int      // how often a name was replaced by a text
	including   []string // files, outermost first
	toctree     []string
	label       []string // labels that the next title gets
	title       string
}

var (
	directiveLine = lazyregexp.New(`^\.\. +([A-Za-z][\w:+.-]*) ?::(?: +(.*))?$`)
	subLine       = lazyregexp.New(`^\.\. +\|([^|]+)\| +([\w-]+):: ?(.*)$`)
	targetLine    = lazyregexp.New("^\\.\\. +_(`[^`]+`|[^:]+|(?:\\\\:|[^:])+):(?: +(.*))?$")
	anonymousLine = lazyregexp.New(`^__ +(\S.*)$`)
	footnoteLine  = lazyregexp.New(`^\.\. +\[([^\]]+)\] +(.*)$`)
	bulletLine    = lazyregexp.New(`^([-*+•])(?: +|$)`)
	numberLine    = lazyregexp.New(`^\(?(?:\d{1,4}|[a-zA-Z]|#|[ivxIVX]{1,6})[.)] +`)
	fieldLine     = lazyregexp.New(`^:((?:[^:\\` + "`" + `]|\\.|:[\w-]+:` + "`[^`]*`" + `)+):(?: +(.*))?$`)
	optionLine    = lazyregexp.New(`^((?:--?|/)[A-Za-z0-9][\w-]*(?:[ =]<?[A-Za-z_][\w-]*>?)?(?:, --?[A-Za-z0-9][\w-]*(?:[ =]<?[A-Za-z_][\w-]*>?)?)*)(?:  +(\S.*))?$`)
	simpleTable   = lazyregexp.New(`^=+(?: +=+)+ *$`)
	gridTable     = lazyregexp.New(`^\+(?:[-=]+\+)+ *$`)
)

// rest reads reStructuredText.
func (p *page) rest(lines []string) []string {
	if p.nested++; p.nested > maxNesting {
		p.nested--
		return []string{fence("text", lines)}
	}
	defer func() { p.nested-- }()
	var out []string
	for i := 0; i < len(lines) && p.room(); {
		if blank(lines[i]) {
			i++
			continue
		}
		block, next := p.block(lines, i)
		if next <= i {
			next = i + 1
		}
		for _, b := range block {
			p.used(len(b))
		}
		out = append(out, block...)
		i = next
	}
	return out
}

// block is the Markdown of what begins at a line, and the line after it.
func (p *page) block(lines []string, i int) ([]string, int) {
	line := lines[i]
	if indent(line) > 0 {
		body, next := indented(lines, i)
		return quoted(p.deeper(body)), next
	}
	if out, next, ok := p.titled(lines, i); ok {
		return out, next
	}
	switch {
	case line == ".." || strings.HasPrefix(line, ".. "):
		return p.explicit(lines, i)
	case anonymousLine.MatchString(line):
		return nil, i + 1
	case strings.HasPrefix(line, ">>>"):
		end := i
		for end < len(lines) && !blank(lines[end]) {
			end++
		}
		return []string{fence("pycon", lines[i:end])}, end
	case bulletLine.MatchString(line):
		return p.list(lines, i, func(s string) bool { return bulletLine.MatchString(s) && s[0] == line[0] }, func(int) string { return "- " })
	case numberLine.MatchString(line):
		return p.list(lines, i, numberLine.MatchString, func(n int) string { return number(n) })
	case fieldLine.MatchString(line):
		return p.fields(lines, i)
	case strings.HasPrefix(line, "| ") || line == "|":
		return p.lineBlock(lines, i)
	case gridTable.MatchString(line):
		return p.grid(lines, i)
	case simpleTable.MatchString(line):
		return p.simple(lines, i)
	case optionLine.MatchString(line):
		return p.options(lines, i)
	case i+1 < len(lines) && indent(lines[i+1]) > 0 && !strings.HasSuffix(line, "::"):
		return p.definitions(lines, i)
	}
	return p.paragraph(lines, i)
}

// deeper reads a body that lies in something.
func (p *page) deeper(lines []string) []string {
	was := p.inside
	p.inside = true
	defer func() { p.inside = was }()
	return p.rest(dedent(lines))
}

// titled is a title with its adornment, or a transition.
func (p *page) titled(lines []string, i int) (out []string, next int, ok bool) {
	at := func(n int) string {
		if n < len(lines) {
			return strings.TrimRight(lines[n], " ")
		}
		return ""
	}
	over := adornment(at(i))
	switch {
	case over != 0 && !blank(at(i+1)) && adornment(at(i+2)) == over && len(at(i+2)) == len(at(i)):
		return p.heading(strings.TrimSpace(at(i+1)), string([]rune{over, over})), i + 3, true
	case over != 0 && len(at(i)) >= 4 && blank(at(i+1)):
		return []string{"---"}, i + 1, true
	case over != 0 || blank(at(i)) || at(i+1) == "":
		return nil, i, false
	}
	if under := adornment(at(i + 1)); under != 0 && (len(at(i+1)) >= 4 || len(at(i+1)) >= len([]rune(at(i)))) {
		return p.heading(at(i), string(under)), i + 2, true
	}
	return nil, i, false
}

// adornment is the character that a line is made of, 0 for any other line.
func adornment(line string) rune {
	if len(line) < 2 || !strings.ContainsRune("=-`:'\"~^_*+#<>.", rune(line[0])) || line == "::" || line == ".." || line == "..." {
		return 0
	}
	if strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return rune(line[0])
}

// heading is a title at the level of its adornment.
func (p *page) heading(text, style string) []string {
	text = p.inline(text)
	if p.inside {
		return []string{"**" + strings.Trim(text, "*") + "**"}
	}
	level := 0
	for level < len(p.styles) && p.styles[level] != style {
		level++
	}
	if level == len(p.styles) {
		p.styles = append(p.styles, style)
	}
	return []string{p.section(level+1, text)}
}

// section marks a heading, and gives it the labels before it.
func (p *page) section(level int, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if p.title == "" {
		p.title = text
	}
	p.level = min(max(level, 1), 9)
	for _, l := range p.label {
		p.labels[l] = text
	}
	p.label = nil
	return heading + string(rune('0'+p.level)) + text
}

// explicit is what begins with two full stops: a directive, a target, a substitution, a
// footnote, or a comment.
func (p *page) explicit(lines []string, i int) ([]string, int) {
	body, next := indented(lines, i+1)
	line := lines[i]
	if m := directiveLine.FindStringSubmatch(line); m != nil {
		return p.directive(strings.ToLower(m[1]), strings.TrimSpace(m[2]), dedent(lines[i+1:next])), next
	}
	if m := subLine.FindStringSubmatch(line); m != nil {
		p.substitute(m, body)
		return nil, next
	}
	if m := footnoteLine.FindStringSubmatch(line); m != nil {
		text := append([]string{m[2]}, dedent(body)...)
		return []string{prefixed("", []string{"\\[" + m[1] + "\\] " + strings.Join(p.deeper(text), "\n\n")})}, next
	}
	if m := targetLine.FindStringSubmatch(line); m != nil {
		name, url := reference(m[1]), strings.Join(strings.Fields(m[2]+" "+strings.Join(trimmed(body), " ")), "")
		if url == "" {
			p.label = append(p.label, name)
		} else {
			p.links[name] = url
		}
		return nil, next
	}
	return nil, next
}

// substitute remembers what stands for a name: text, or nothing for a picture, which is a
// badge in most places.
func (p *page) substitute(m, body []string) {
	switch m[2] {
	case "replace":
		p.subs[m[1]] = strings.TrimSpace(m[3] + " " + strings.Join(trimmed(body), " "))
	case "image", "unicode", "date":
		p.subs[m[1]] = ""
	}
}

// quoted are blocks in a quote; code that is indented is no quote of anybody.
func quoted(blocks []string) []string {
	for _, b := range blocks {
		if !strings.HasPrefix(b, "```") {
			return []string{prefixed("> ", blocks)}
		}
	}
	return blocks
}

// reference is a name by which targets are found.
func reference(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(strings.Trim(s, "`"), `\`, "")), " "))
}

// paragraph is text up to a blank line, with the literal block that two colons announce.
func (p *page) paragraph(lines []string, i int) ([]string, int) {
	end := i
	for end < len(lines) && !blank(lines[end]) && (end == i || indent(lines[end]) == 0 && !strings.HasPrefix(lines[end], ".. ")) {
		end++
	}
	text := strings.TrimRight(strings.Join(lines[i:end], "\n"), " \n")
	if !strings.HasSuffix(text, "::") {
		return []string{p.prose(text)}, end
	}
	var out []string
	switch text = strings.TrimSuffix(text, "::"); {
	case strings.TrimSpace(text) == "":
	case strings.HasSuffix(text, " "), strings.HasSuffix(text, "\n"):
		out = append(out, p.prose(strings.TrimRight(text, " \n")))
	default:
		out = append(out, p.prose(text+":"))
	}
	body, next := indented(lines, end)
	if len(body) == 0 {
		return out, end
	}
	return append(out, fence(p.highlight, dedent(body))), next
}

// list is one of bullets or numbers.
func (p *page) list(lines []string, i int, item func(string) bool, mark func(int) string) ([]string, int) {
	var items []string
	loose := false
	for n := 1; i < len(lines) && item(lines[i]); n++ {
		width := len(bulletLine.FindString(lines[i]) + numberLine.FindString(lines[i]))
		_, next := indented(lines, i+1)
		// A line that goes on with less indent than the text is of the item all the same.
		text := append([]string{lines[i][width:]}, atMost(lines[i+1:next], width)...)
		blocks := p.deeper(text)
		items = append(items, hanging(mark(n), blocks))
		loose = loose || len(blocks) > 1
		i = next
	}
	if loose {
		return []string{strings.Join(items, "\n\n")}, i
	}
	return []string{strings.Join(items, "\n")}, i
}

// definitions are terms, each with an indented body.
func (p *page) definitions(lines []string, i int) ([]string, int) {
	var items []string
	for i+1 < len(lines) && !blank(lines[i]) && indent(lines[i]) == 0 && indent(lines[i+1]) > 0 && !blank(lines[i+1]) && !strings.HasPrefix(lines[i], "..") {
		term := p.prose(lines[i])
		body, next := indented(lines, i+1)
		items = append(items, hanging("- ", append([]string{bold(term)}, p.deeper(body)...)))
		i = next
	}
	return []string{strings.Join(items, "\n\n")}, i
}

func bold(s string) string {
	if strings.Contains(s, "**") || strings.HasPrefix(s, "`") && strings.HasSuffix(s, "`") {
		return s
	}
	return "**" + strings.TrimSpace(s) + "**"
}

// fields are a field list: what a docstring says of parameters, or settings of a document.
func (p *page) fields(lines []string, i int) ([]string, int) {
	var items []string
	for i < len(lines) {
		m := fieldLine.FindStringSubmatch(lines[i])
		if m == nil {
			break
		}
		text, next := entry(m[2], lines, i)
		i = next
		for i < len(lines) && blank(lines[i]) && i+1 < len(lines) && fieldLine.MatchString(lines[i+1]) {
			i++
		}
		if !p.inside && p.title == "" {
			continue // a setting of the document
		}
		blocks := p.deeper(text)
		if len(blocks) == 0 {
			continue
		}
		name := fieldName(m[1])
		if head := blocks[0]; !strings.HasPrefix(head, "```") && !strings.HasPrefix(head, "- ") && !strings.HasPrefix(head, "|") {
			blocks[0] = name + " " + head
		} else {
			blocks = append([]string{name}, blocks...)
		}
		items = append(items, hanging("- ", blocks))
	}
	if len(items) == 0 {
		return nil, i
	}
	return []string{strings.Join(items, "\n")}, i
}

// fieldName gives the fields of docstrings in words.
func fieldName(field string) string {
	word, rest, _ := strings.Cut(strings.TrimSpace(field), " ")
	switch word {
	case "param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "cvar", "ivar", "var":
		fields := strings.Fields(rest)
		if len(fields) > 1 {
			return "`" + fields[len(fields)-1] + "` (" + strings.Join(fields[:len(fields)-1], " ") + "):"
		}
		return "`" + rest + "`:"
	case "type", "vartype":
		return "type of `" + rest + "`:"
	case "return", "returns":
		return "returns:"
	case "rtype":
		return "return type:"
	case "raise", "raises", "except", "exception":
		return "raises `" + rest + "`:"
	}
	return strings.TrimSpace(field) + ":"
}

// lineBlock keeps the breaks of its lines.
func (p *page) lineBlock(lines []string, i int) ([]string, int) {
	var out []string
	for i < len(lines) && (strings.HasPrefix(lines[i], "| ") || lines[i] == "|") {
		out = append(out, p.inline(strings.TrimPrefix(strings.TrimPrefix(lines[i], "|"), " ")))
		i++
	}
	return []string{strings.Join(out, "\\\n")}, i
}

// entry is the text of a list's entry: what stands behind its name, and what is indented below.
func entry(first string, lines []string, i int) (text []string, next int) {
	body, next := indented(lines, i+1)
	if text = dedent(body); first != "" {
		text = append([]string{first}, text...)
	}
	return text, next
}

// options are those of a program.
func (p *page) options(lines []string, i int) ([]string, int) {
	var items []string
	for i < len(lines) {
		m := optionLine.FindStringSubmatch(lines[i])
		if m == nil {
			break
		}
		text, next := entry(m[2], lines, i)
		items = append(items, hanging("- ", append([]string{"`" + m[1] + "`"}, p.deeper(text)...)))
		i = next
	}
	return []string{strings.Join(items, "\n\n")}, i
}
