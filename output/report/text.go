package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible shows what a reader would not see, or what would change the order of what he
// sees: control characters as their pictures (␛), format characters (bidi, zero width) and
// line separators by their code points, bytes that are not UTF-8 by their values. Tabs and
// line feeds stay.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r < 0x20 && hidden(r):
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		case hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func hidden(r rune) bool {
	return r != '\t' && r != '\n' && (r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
}

// excerpt is the part of a text that the page shows.
type excerpt struct {
	Text string
	// Note says that there is more, and where; "" where this is all.
	Note string
}

// cut shows at most limit bytes of a text, whole lines where there are some; where names
// the file that has the rest.
func cut(text string, limit int, where string) excerpt {
	head := headOf(text, limit)
	if len(head) == len(text) {
		return excerpt{Text: visible(text)}
	}
	return excerpt{Text: visible(head), Note: fmt.Sprintf("Cut: %s of %s are shown; the whole is in %s.", size(len(head)), size(len(text)), visible(where))}
}

// headOf is the beginning of a text, at most limit bytes: to the end of a line, else to the
// end of a character.
func headOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := text[:limit]
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		return head[:i+1]
	}
	for i := range utf8.UTFMax - 1 { // a character that the limit divides
		if at := len(head) - 1 - i; at >= 0 && utf8.RuneStart(head[at]) {
			if !utf8.FullRuneInString(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}

// size is a number of bytes for a reader.
func size(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// short is one line of at most limit bytes.
func short(s string, limit int) string {
	if head := headOf(s, limit); len(head) < len(s) {
		s = head + "…"
	}
	return strings.ReplaceAll(visible(s), "\n", "␊")
}

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
