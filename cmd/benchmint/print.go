package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// printer writes text; the first fault of the writer is kept and given by end.
type printer struct {
	w     io.Writer
	color bool
	err   error
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (t *printer) line(form string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, form+"\n", args...)
	}
}

// The colours of ends.
const (
	green  = "32"
	red    = "31"
	yellow = "33"
	bold   = "1"
)

func (t *printer) in(color, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// block prints a text of strangers indented, its control characters made visible:
// a log must not drive the reader's terminal.
func (t *printer) block(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		t.line("    %s", visible(line))
	}
}

func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, s)
}

// lines is a text of several lines, visible: addresses, names and what others said stand
// in messages.
func lines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = visible(all[i])
	}
	return strings.Join(all, "\n")
}

// tail is the end of a log, for a page that is to be read.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) <= lines {
		return strings.Join(all, "\n")
	}
	return fmt.Sprintf("[%d lines before this]\n%s", len(all)-lines, strings.Join(all[len(all)-lines:], "\n"))
}

// plural is "1 row", "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
