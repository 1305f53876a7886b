package spec

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// markup is what stands in a line of reStructuredText: literal, role, reference,
// interpreted text, strong, emphasis, substitution, footnote, name, address, escape.
var markup = lazyregexp.New("(?s)``(.+?)``" +
	"|:([A-Za-z][\\w:.+-]*):`([^`]+)`" +
	"|`([^`]+?)`__?" +
	"|_?`([^`]+)`(?::[\\w:-]+:)?" +
	`|\*\*([^*\s](?:.*?[^\s])??)\*\*` +
	`|\*([^*\s](?:[^*]*?[^*\s])??)\*` +
	`|\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}` +
	`|\[([#\w*.-]+)\]_` +
	`|([A-Za-z0-9]+(?:[-_.+][A-Za-z0-9]+)*)__?` +
	`|(https?://[^\s<>` + "`" + `]+)` +
	`|\\(.)`)

var explicitTarget = lazyregexp.New(`(?s)^(.*?)\s*<([^<>]+)>$`)

// prose is a paragraph: what would begin a block of Markdown does not.
func (p *page) prose(text string) string {
	lines := strings.Split(p.inline(text), "\n")
	for i, l := range lines {
		l = strings.TrimLeft(l, " ")
		if blockStart.MatchString(l) {
			if d := strings.IndexAny(l, ".)"); d > 0 && l[0] >= '0' && l[0] <= '9' {
				l = l[:d] + `\` + l[d:]
			} else {
				l = `\` + l
			}
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

var blockStart = lazyregexp.New(`^(?:#{1,6} |[-+] |\d{1,9}[.)] |>|={3,}$|-{2,}$|~~~)`)

// maxRefused bounds what looks like markup of one text and is none; what follows is text.
const maxRefused = 2000

// inline is the Markdown of text.
func (p *page) inline(text string) string {
	var b strings.Builder
	last, from := 0, 0
	for refused := 0; refused < maxRefused; {
		m := markup.FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
		group := 1
		for m[2*group] < 0 {
			group++
		}
		out, ok := p.span(text, m, group)
		if !ok { // a later beginning may be one
			_, size := utf8.DecodeRuneInString(text[m[0]:])
			if group == 10 {
				size = m[2*group+1] - m[0]
			}
			from = m[0] + size
			refused++
			continue
		}
		b.WriteString(escape(text[last:m[0]]))
		b.WriteString(out)
		last, from = m[1], m[1]
	}
	b.WriteString(escape(text[last:]))
	return b.String()
}

// span is the Markdown of one piece of markup; false where it is text.
func (p *page) span(text string, m []int, group int) (string, bool) {
	sub := func(n int) string { return text[m[2*n]:m[2*n+1]] }
	if group != 1 && group < 9 && group != 4 && !opened(text, m[0]) {
		return "", false
	}
	switch group {
	case 1:
		return code(sub(1)), true
	case 2:
		return p.role(sub(2), sub(3)), true
	case 4:
		return p.referred(sub(4)), true
	case 5:
		return code(p.target(sub(5))), true
	case 6:
		return "**" + p.inline(sub(6)) + "**", true
	case 7:
		return "*" + escape(sub(7)) + "*", true
	case 8:
		if known, ok := p.subs[sub(8)]; ok {
			p.substituted++ // one may name itself, or others that multiply
			if p.substituted > maxRefused {
				return "", false
			}
			return p.inline(known), p.used(len(known))
		}
		if sub(8) == "release" || sub(8) == "version" {
			return p.version, true
		}
		return "", false
	case 9:
		return `\[` + strings.TrimLeft(sub(9), "#") + `\]`, true
	case 10:
		url, ok := p.links[reference(sub(10))]
		next, _ := utf8.DecodeRuneInString(text[m[1]:])
		if !ok || unicode.IsLetter(next) || unicode.IsDigit(next) {
			return "", false
		}
		return link(escape(sub(10)), url), true
	case 11:
		return sub(11), true
	}
	switch c, _ := utf8.DecodeRuneInString(sub(12)); {
	case unicode.IsSpace(c):
		return "", true
	case unicode.IsLetter(c), unicode.IsDigit(c): // of a pattern, or a path
		return sub(0), true
	}
	return escape(sub(12)), true
}

// opened reports whether markup may begin here: at a blank or an opening mark.
func opened(text string, at int) bool {
	r, size := utf8.DecodeLastRuneInString(text[:at])
	return size == 0 || unicode.IsSpace(r) || strings.ContainsRune(`'"([{<-/:.,;!?—–‘“«|\`, r)
}

// escape keeps text from being read as markup of Markdown.
func escape(s string) string {
	return special.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasSuffix(m, ">") {
			return m
		}
		return `\` + m
	})
}

// special are marks of Markdown, and addresses in angle brackets, which are links there too.
var special = lazyregexp.New("<[\\w.+-]+@[\\w.-]+>|[*`<]|\\b_|_\\b|\\](?:\\(|\\[)")

func link(text, url string) string {
	url = strings.TrimSpace(url)
	if !strings.HasPrefix(url, opens) && strings.ContainsAny(url, " ()<>\n") {
		url = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "").Replace(url)
	}
	if url == "" {
		return text
	}
	return "[" + text + "](" + url + ")"
}

// referred is a reference by name, or with its address.
func (p *page) referred(text string) string {
	if m := explicitTarget.FindStringSubmatch(text); m != nil {
		name := m[1]
		if name == "" {
			name = m[2]
		}
		target := m[2]
		if known, ok := p.links[reference(strings.TrimSuffix(target, "_"))]; ok && strings.HasSuffix(target, "_") {
			target = known
		}
		p.links[reference(name)] = target
		return link(escape(name), target)
	}
	if url, ok := p.links[reference(text)]; ok {
		return link(escape(text), url)
	}
	if strings.ContainsAny(text, "=()") {
		return code(text)
	}
	return link(escape(text), opens+"ref:"+reference(text)+closes)
}

// target is what a role names, as it is shown: of ~a.b.c the last name.
func (p *page) target(text string) string {
	text = strings.TrimPrefix(text, "!")
	if m := explicitTarget.FindStringSubmatch(text); m != nil && m[1] != "" {
		return m[1]
	}
	if rest, ok := strings.CutPrefix(text, "~"); ok {
		return rest[strings.LastIndexByte(rest, '.')+1:]
	}
	return strings.TrimPrefix(text, ".")
}

// plain are roles that are text, without markup.
var plain = lazyregexp.New(`^(?:abbr|guilabel|menuselection|dfn|sub|sup|subscript|superscript|title|term|raw-html|bdg.*|octicon|fa)$`)

// role is text with a role, which may have a domain before it.
func (p *page) role(role, text string) string {
	name := role[strings.LastIndexByte(role, ':')+1:]
	shown := p.target(text)
	switch {
	case name == "func" || name == "meth" || name == "method" || name == "function":
		if !strings.HasSuffix(shown, ")") && explicitTarget.FindString(text) == "" {
			shown += "()"
		}
		return code(shown)
	case name == "doc", name == "download":
		path := text
		if m := explicitTarget.FindStringSubmatch(text); m != nil {
			path = m[2]
		} else {
			shown = ""
		}
		if name == "download" || strings.Contains(role, ":") && !strings.HasPrefix(role, "std:") {
			return escape(p.target(text))
		}
		return link(escape(shown), opens+"doc:"+p.relative(path)+closes)
	case name == "ref", name == "numref", name == "any":
		label := text
		if m := explicitTarget.FindStringSubmatch(text); m != nil {
			label = m[2]
		} else if shown = ""; name == "any" {
			return code(p.target(text))
		}
		return link(escape(shown), opens+"ref:"+reference(strings.TrimPrefix(label, "!"))+closes)
	case name == "pep", name == "rfc":
		return strings.ToUpper(name) + " " + escape(shown)
	case name == "issue", name == "pr", name == "gh", name == "pull":
		return "#" + escape(strings.TrimPrefix(shown, "#"))
	case name == "strong":
		return "**" + escape(shown) + "**"
	case name == "emphasis":
		return "*" + escape(shown) + "*"
	case plain.MatchString(name):
		return escape(shown)
	}
	return code(shown)
}
