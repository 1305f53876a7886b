package spec

import (
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// What stands in a line of Markdown: code, a role of MyST, a picture, a link, a link by
// reference, a tag.
var spanned = lazyregexp.New("\\{([A-Za-z][\\w:+-]*)\\}`([^`\\n]+)`|(``.+?``|`[^`\\n]+`)" +
	`|!\[([^\]\n]*)\]\(([^)\s]+)[^)\n]*\)(?:\{[^}\n]*\})?` +
	`|\[((?:[^\[\]]|\[[^\[\]\n]*\]\([^)\n]*\)|!?\[[^\[\]\n]*\])*)\]\(<?([^)\s>]+)>?[^)\n]*\)` +
	`|(!?)\[([^\[\]]+)\](?:\[([^\[\]]*)\])?` +
	`|(</?[a-zA-Z][^<>\n]*>|<!--.*?-->)`)

// defines remembers the addresses that references of a document stand for.
func (p *page) defines(lines []string) {
	for _, l := range lines {
		if m := defineLine.FindStringSubmatch(l); m != nil {
			if _, ok := p.links[reference(m[1])]; !ok {
				p.links[reference(m[1])] = m[2]
			}
		}
	}
}

// spans rewrites what stands in lines, a paragraph at a time. Lines of indented code stay.
func (p *page) spans(lines []string) []string {
	out := make([]string, 0, len(lines))
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			text := p.spanText(strings.Join(paragraph, "\n"))
			if indent(paragraph[0]) == 0 { // a badge that is gone leaves blanks
				text = strings.TrimLeft(text, " ")
			}
			out = append(out, text)
		}
		paragraph = nil
	}
	listed := false // the last line at the left side is of a list
	for i, l := range lines {
		indentedCode := strings.HasPrefix(l, "    ") && !listed && (i == 0 || blank(lines[i-1]) || len(paragraph) == 0)
		switch {
		case blank(l), indentedCode:
			flush()
			out = append(out, l)
			continue
		case indent(l) < 2:
			listed = bulletLine.MatchString(l) || numberLine.MatchString(l)
		}
		paragraph = append(paragraph, l)
	}
	flush()
	return out
}

func (p *page) spanText(line string) string {
	var b strings.Builder
	last := 0
	for _, m := range spanned.FindAllStringSubmatchIndex(line, -1) {
		sub := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return line[m[2*n]:m[2*n+1]]
		}
		b.WriteString(line[last:m[0]])
		last = m[1]
		switch {
		case m[2] >= 0:
			b.WriteString(p.role(sub(1), sub(2)))
		case m[6] >= 0:
			b.WriteString(sub(3))
		case m[8] >= 0:
			b.WriteString(p.picture(sub(4), p.relative(sub(5)), sub(5)))
		case m[12] >= 0:
			b.WriteString(p.mdLink(sub(6), sub(7)))
		case m[18] >= 0:
			b.WriteString(p.byReference(line[m[0]:m[1]], sub(8) == "!", sub(9), sub(10)))
		default:
			b.WriteString(p.tag(sub(11)))
		}
	}
	b.WriteString(line[last:])
	return b.String()
}

// mdLink is a link; one to another document leads to its place in the text.
func (p *page) mdLink(text, url string) string {
	if p.nested++; p.nested <= maxNesting {
		text = p.spanText(text)
	}
	p.nested--
	if strings.TrimSpace(text) == "" {
		return "" // a badge
	}
	return p.linked(text, url)
}

func (p *page) linked(text, url string) string {
	file, fragment, _ := strings.Cut(url, "#")
	switch {
	case strings.Contains(url, "://"), strings.HasPrefix(url, "mailto:"):
		return link(text, url)
	case file == "" && fragment != "":
		return link(text, opens+"ref:"+reference(fragment)+closes)
	case path.Ext(file) == "" || isMarkdown(file) || path.Ext(file) == ".rst" || path.Ext(file) == ".html":
		return link(text, opens+"doc:"+p.relative(file)+closes)
	}
	return text
}

// byReference is a link whose address stands elsewhere in the document.
func (p *page) byReference(whole string, picture bool, text, name string) string {
	if name == "" {
		name = text
	}
	url, ok := p.links[reference(name)]
	switch {
	case !ok:
		return whole
	case picture:
		return p.picture(text, p.relative(url), url)
	}
	return p.linked(p.withoutReferences(text), url)
}

func (p *page) withoutReferences(text string) string { return strings.Trim(text, "[]") }

// tag is what a tag of HTML comes to in Markdown.
func (p *page) tag(s string) string {
	if strings.Contains(s, "@") || strings.HasPrefix(s, "<http") { // a link
		return s
	}
	t := html.NewTokenizer(strings.NewReader(s))
	if kind := t.Next(); kind == html.CommentToken {
		return ""
	}
	token := t.Token()
	closing := token.Type == html.EndTagToken
	attribute := func(key string) string {
		for _, a := range token.Attr {
			if a.Key == key {
				return a.Val
			}
		}
		return ""
	}
	switch token.Data {
	case "img":
		return p.picture(attribute("alt"), p.relative(attribute("src")), attribute("src"))
	case "code", "tt", "kbd", "samp":
		return "`"
	case "b", "strong":
		return "**"
	case "i", "em":
		return "*"
	case "br":
		return "\n"
	case "summary", "dt":
		return "**"
	case "li":
		if !closing {
			return "- "
		}
		return ""
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return "**"
	case "p", "div", "a", "span", "center", "details", "ul", "ol", "table", "tr", "td", "th", "tbody", "thead", "picture", "source", "sup", "sub", "br/", "hr", "dl", "dd", "pre", "blockquote",
		"small", "font", "u", "script", "style", "svg", "path", "figure", "figcaption", "video", "iframe", "section", "nav", "link", "meta", "input", "button", "label", "colgroup", "col":
		return ""
	}
	return strings.ReplaceAll(s, "<", `\<`)
}

// markupBlock is a block of HTML: a comment is left out, the text of others stays.
func (p *page) markupBlock(lines []string, i int) (blocks, keep []string, next int) {
	first := strings.TrimSpace(lines[i])
	if strings.HasPrefix(first, "<!--") {
		for next = i; next < len(lines) && !strings.Contains(lines[next], "-->"); next++ {
			continue
		}
		rest := ""
		if next < len(lines) {
			_, rest, _ = strings.Cut(lines[next], "-->")
		}
		if !blank(rest) {
			return p.within([]string{rest}), nil, next + 1
		}
		return nil, []string{}, min(next+1, len(lines))
	}
	for _, name := range []string{"script", "style", "svg", "video", "iframe"} {
		if !strings.HasPrefix(strings.ToLower(first), "<"+name) {
			continue
		}
		for next = i; next < len(lines) && !strings.Contains(strings.ToLower(lines[next]), "</"+name); next++ {
			continue
		}
		return nil, []string{}, min(next+1, len(lines))
	}
	return nil, nil, i
}
