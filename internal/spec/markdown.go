package spec

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return true
	}
	return false
}

var (
	fenceLine     = lazyregexp.New("^( *)(`{3,}|~{3,}|:{3,}) *(\\{[\\w:+.-]+\\}|[^`]*)(.*)$")
	atxLine       = lazyregexp.New(`^ {0,3}(#{1,6})(?: +(.*?))?(?: +#+)? *$`)
	labelLine     = lazyregexp.New(`^\(([\w.:-]+)\)= *$`)
	snippetLine   = lazyregexp.New(`^ *(?:-{1,}8<-{1,} +"([^"]+)"|\{!>? *([^ !]+) *!\}|\{% include-markdown "([^"]+)".*%\}) *$`)
	boxLine       = lazyregexp.New(`^( *)(?:!!!|\?\?\?\+?) +([\w-]+)[^"]*(?:"([^"]*)")?.*$`)
	tabLine       = lazyregexp.New(`^( *)===[!+]? +"([^"]+)" *$`)
	apiLine       = lazyregexp.New(`^::: +([\w.]+) *$`)
	defineLine    = lazyregexp.New(`^ {0,3}\[([^\]^]+)\]: *<?(\S+?)>?(?: +["'(].*)?$`)
	attributeLine = lazyregexp.New(`^\{[.#:%][^}]*\} *$`)
	attributes    = lazyregexp.New(` *\{ *[:#.][^}\n]*\}`)
)

// markdown reads Markdown, with what MyST and Material add to it, into blocks of plain
// Markdown. Code stays as it is.
func (p *page) markdown(lines []string) []string {
	if p.nested++; p.nested > maxNesting {
		p.nested--
		return []string{fence("text", lines)}
	}
	defer func() { p.nested-- }()
	lines = frontMatter(lines)
	var out, text []string
	flush := func() {
		if len(text) > 0 {
			if block := strings.Trim(strings.Join(p.spans(text), "\n"), "\n"); block != "" {
				out = append(out, block)
				p.used(len(block))
			}
		}
		text = nil
	}
	p.defines(lines)
	for i := 0; i < len(lines) && p.room(); {
		blocks, keep, next := p.construct(lines, i)
		switch {
		case next <= i && keep == nil: // an ordinary line
			text = append(text, lines[i])
			next = i + 1
		case keep != nil: // code within text
			flush()
			out = append(out, keep...)
			p.used(len(strings.Join(keep, "\n")))
		default:
			flush()
			out = append(out, blocks...)
		}
		i = next
	}
	flush()
	return out
}

// frontMatter takes off settings before the text.
func frontMatter(lines []string) []string {
	if len(lines) == 0 || lines[0] != "---" {
		return lines
	}
	for i := 1; i < len(lines); i++ {
		if lines[i] == "---" {
			return lines[i+1:]
		}
	}
	return lines
}

// construct is what begins at a line and is no ordinary text: blocks that were read of it,
// or code to keep, and the line after it; next is i where there is none.
func (p *page) construct(lines []string, i int) (blocks, keep []string, next int) {
	line := lines[i]
	if m := fenceLine.FindStringSubmatch(line); m != nil && (m[2][0] != ':' || strings.HasPrefix(m[3], "{")) {
		return p.fenced(lines, i, m)
	}
	if m := atxLine.FindStringSubmatch(line); m != nil {
		return []string{p.mdHeading(len(m[1]), m[2])}, nil, i + 1
	}
	if level := setext(lines, i); level > 0 {
		return []string{p.mdHeading(level, line)}, nil, i + 2
	}
	if m := labelLine.FindStringSubmatch(line); m != nil {
		p.label = append(p.label, reference(m[1]))
		return nil, []string{}, i + 1
	}
	if m := snippetLine.FindStringSubmatch(line); m != nil {
		return p.snippet(m[1] + m[2] + m[3]), nil, i + 1
	}
	if m := boxLine.FindStringSubmatch(line); m != nil {
		body, next := indented(atMost(lines[i:], len(m[1])), 1)
		return []string{prefixed(m[1], p.box(m[2], m[3], dedent(body)))}, nil, i + next
	}
	if m := tabLine.FindStringSubmatch(line); m != nil {
		body, next := indented(atMost(lines[i:], len(m[1])), 1)
		return append([]string{m[1] + bold(m[2])}, prefixed(m[1], p.within(dedent(body)))), nil, i + next
	}
	if m := apiLine.FindStringSubmatch(line); m != nil {
		_, next := indented(lines, i+1)
		return p.autodoc("", m[1], options{"members": " "}), nil, next
	}
	if defineLine.MatchString(line) || attributeLine.MatchString(line) {
		return nil, []string{}, i + 1
	}
	if strings.HasPrefix(strings.TrimLeft(line, " "), "<") {
		return p.markupBlock(lines, i)
	}
	return nil, nil, i
}

// within reads Markdown that lies in something.
func (p *page) within(lines []string) []string {
	was := p.inside
	p.inside = true
	defer func() { p.inside = was }()
	return p.markdown(lines)
}

func (p *page) mdHeading(level int, text string) string {
	text = strings.TrimSpace(attributes.ReplaceAllString(strings.Join(p.spans([]string{text}), ""), ""))
	if p.inside {
		return bold(text)
	}
	return p.section(level, text)
}

// setext is the level of a title that a line of = or - stands below.
func setext(lines []string, i int) int {
	if i+1 >= len(lines) || blank(lines[i]) || indent(lines[i]) > 3 || strings.ContainsAny(lines[i][:1], "|>-*+") || i > 0 && !blank(lines[i-1]) {
		return 0
	}
	under := strings.TrimSpace(lines[i+1])
	switch {
	case len(under) >= 3 && strings.Trim(under, "=") == "":
		return 1
	case len(under) >= 3 && strings.Trim(under, "-") == "":
		return 2
	}
	return 0
}

// fenced is a block between fences: code, or a directive of MyST.
func (p *page) fenced(lines []string, i int, m []string) (blocks, keep []string, next int) {
	pad, mark, info := len(m[1]), m[2], m[3]
	end := i + 1
	for end < len(lines) {
		l := strings.TrimSpace(lines[end])
		if len(l) >= len(mark) && strings.Trim(l, mark[:1]) == "" {
			break
		}
		end++
	}
	body := atMost(lines[i+1:min(end, len(lines))], pad)
	next = min(end+1, len(lines))
	name, directive := strings.CutPrefix(info, "{")
	if !directive {
		language, _, _ := strings.Cut(strings.TrimSpace(info), " ")
		language = strings.Trim(strings.SplitN(language, ",", 2)[0], "{}.")
		return nil, []string{prefixed(m[1], []string{fence(language, body)})}, next
	}
	name = strings.TrimSuffix(name, "}")
	args := strings.TrimSpace(m[4])
	if name == "eval-rst" {
		return p.rest(body), nil, next
	}
	lower := strings.ToLower(name)
	o, rest := mystOptions(body)
	switch {
	case slices.Contains(admonitions, lower):
		return []string{prefixed(m[1], p.box(lower, args, rest))}, nil, next
	case slices.Contains([]string{"figure", "image"}, lower):
		return []string{p.picture(o["alt"], p.relative(args), args)}, nil, next
	case slices.Contains([]string{"tab", "tab-item"}, lower):
		return append([]string{bold(args)}, p.within(rest)...), nil, next
	case !p.restructured(lower):
		return p.within(rest), nil, next
	}
	return p.directive(lower, args, body), nil, next
}

// restructured reports whether a directive is read alike in both forms: its body is code, or
// data, or reStructuredText. The text of others is Markdown.
func (p *page) restructured(name string) bool {
	_, isCode := codes[name]
	bare := strings.TrimPrefix(name, "py:")
	return isCode || strings.HasPrefix(bare, "auto") || slices.Contains(dropped, name) || slices.Contains(objects, bare) ||
		slices.Contains(strings.Fields("toctree include literalinclude list-table csv-table module currentmodule py:module py:currentmodule rubric"), name)
}

// mystOptions are lines of :key: value, or keys between dashes.
func mystOptions(body []string) (options, []string) {
	if len(body) > 0 && body[0] == "---" {
		return options{}, frontMatter(body)
	}
	return optionsOf(body)
}

// box is an admonition whose text is Markdown.
func (p *page) box(name, title string, body []string) []string {
	if title == "" {
		title = strings.ToUpper(name[:1]) + name[1:]
		if name == "seealso" {
			title = "See also"
		}
	}
	switch name {
	case "versionadded":
		title = "New in version " + title
	case "versionchanged":
		title = "Changed in version " + title
	case "deprecated":
		title = "Deprecated since version " + title
	}
	blocks := p.within(body)
	head := "**" + strings.Trim(strings.Join(p.spans([]string{title}), ""), "*") + ":**"
	if len(blocks) > 0 && plainText(blocks[0]) {
		blocks[0] = head + " " + blocks[0]
	} else {
		blocks = append([]string{head}, blocks...)
	}
	return []string{prefixed("> ", blocks)}
}

// snippet is another file in the place of a line.
func (p *page) snippet(name string) []string {
	for _, from := range []string{p.relative(name), path.Clean(name), path.Join(p.root, name)} {
		if _, ok := p.file(from); ok {
			return p.include("/"+strings.TrimPrefix(from, p.root+"/"), options{})
		}
	}
	return []string{p.missed("snippet", name)}
}
