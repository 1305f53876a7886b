package prose

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible writes the control and bidirectional characters of a text as escapes
// (\u001b, \u202e): they would drive a reader's terminal, or show lines in another order
// than they have. Line ends and tabs stay.
func Visible(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
