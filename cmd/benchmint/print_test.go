package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/benchmint/benchmint/internal/config"
)

// TestMessages: an address, a name or what others said stands in a message; none of them
// drives the terminal.
func TestMessages(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b]0;x\ab\u202ec\r"
	const want = "a·]0;x·b·c·"
	for name, c := range map[string]struct {
		write func(b *bytes.Buffer)
		want  string
	}{
		"error":   {func(b *bytes.Buffer) { report(b, errors.New("opening "+hostile+"\nsecond "+hostile)) }, "benchmint: opening " + want + "\nsecond " + want + "\n"},
		"problem": {func(b *bytes.Buffer) { report(b, config.Problems{{Where: hostile, Text: hostile}}) }, "benchmint: " + want + ": " + want + "\n"},
		"say": {func(b *bytes.Buffer) {
			t := &terminal{world: &world{stderr: b}}
			t.say("%s is deferred\n%s", hostile, hostile)
		}, want + " is deferred\n" + want + "\n"},
	} {
		var b bytes.Buffer
		c.write(&b)
		if b.String() != c.want {
			t.Errorf("%s: %q, want %q", name, b.String(), c.want)
		}
	}
}
