package testlog

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/prose"
)

// MaxTrace bounds a trace in bytes, beside the note of what is left out.
const MaxTrace = 8 << 10

// Trace makes of what a runner printed of one failure a text that people can read: UTF-8, control characters written
// as escapes, and no middle where it is longer than MaxTrace. It is cut at line ends where there are any.
func Trace(said string) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(said, "\uFFFD"), "\r\n", "\n")
	text = prose.Visible(strings.Trim(text, "\n"))
	if len(text) <= MaxTrace {
		return text
	}
	head, tail := text[:MaxTrace/2], text[len(text)-MaxTrace/2:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if _, rest, ok := strings.Cut(tail, "\n"); ok && rest != "" {
		tail = rest
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// Untraced is a report without its traces.
func (r Report) Untraced() Report {
	for i := range r.Units {
		r.Units[i].Trace = ""
	}
	for i := range r.Tests {
		r.Tests[i].Trace = ""
	}
	return r
}
