package golang

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// assertion is a test's output without the framing lines.
func assertion(output string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(output, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(trimmed, "=== ") && !strings.HasPrefix(trimmed, "--- ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// withoutStarts is a test's output without the lines that say that it begins, waits or goes on.
func withoutStarts(output string) string { return starting.ReplaceAllString(output, "") }

var (
	starting = lazyregexp.New(`(?m)^ *=== (RUN|PAUSE|CONT|NAME) .*\n?`)
	endWords = lazyregexp.New(`(?m)^(panic: |fatal error: )`)
	saidAt   = lazyregexp.New(`(?m)^\s+\S+_test\.go:\d+: `)
)

// short is a message of a test's output. Of a long one it begins with the panic, or else with the last line that the
// test logged: that is the assertion, mostly.
func short(output string) string {
	if len(output) > maxMessage {
		if at := endWords.FindStringIndex(output); at != nil {
			output = output[at[0]:]
		} else if all := saidAt.FindAllStringIndex(output, -1); len(all) > 0 {
			output = output[all[len(all)-1][0]:]
		}
	}
	return cut(output)
}

// printed is the beginning and the end of what a test printed.
type printed struct {
	head, tail []byte
	lost       int // bytes between them
}

func (p *printed) add(text string) {
	room := min(len(text), maxKept-len(p.head))
	p.head, p.tail = append(p.head, text[:room]...), append(p.tail, text[room:]...)
	if over := len(p.tail) - maxKept; over > maxKept {
		p.tail, p.lost = slices.Clone(p.tail[over:]), p.lost+over
	}
}

func (p *printed) String() string {
	if p.lost == 0 {
		return string(p.head) + string(p.tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", p.head, p.lost, p.tail)
}

// keep appends what still has room.
func keep(b *bytes.Buffer, text string) {
	if room := maxKept - b.Len(); room > 0 {
		b.WriteString(text[:min(len(text), room)])
	}
}

// cut bounds a message, at a character.
func cut(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "")
}
