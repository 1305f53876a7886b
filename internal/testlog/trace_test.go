package testlog_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/testlog"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, want string }{
		"nothing":        {"\n", ""},
		"lines":          {"\n    a.go:3: no\r\n\tb\n\n", "    a.go:3: no\n\tb"},
		"drives_screens": {"a\x1b[2Jb\u202ec\x00", `a\u001b[2Jb\u202ec\u0000`},
		"no_utf8":        {"a\xffb", "a\uFFFDb"},
	} {
		if got := testlog.Trace(c.said); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTraceIsBounded(t *testing.T) {
	t.Parallel()
	for name, middle := range map[string]string{"lines": "line of a log\n", "one_line": "é", "drives_screens": "\x1b"} {
		got := testlog.Trace("first\n" + strings.Repeat(middle, 20_000) + "\nassert 1 == 2")
		if len(got) > testlog.MaxTrace+40 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nassert 1 == 2") || !strings.Contains(got, " bytes left out]\n") {
			t.Errorf("%s: %.40q … %q", name, got, got[max(0, len(got)-40):])
		}
	}
}
