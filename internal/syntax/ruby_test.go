package syntax

import (
	"errors"
	"strings"
	"testing"
)

// The scanner of the grammar would end the process.
func TestLongHeredoc(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	for source, want := range map[string]error{
		"x <<~EOS\n  a\nEOS\n":  nil,
		"x <<" + long + "\n":    ErrHeredoc,
		"x <<-'" + long + "'\n": ErrHeredoc,
		"x <<~\"one\n" + long:   ErrHeredoc, // nothing ends it
		"x(" + strings.Repeat("<<"+long[:150]+", ", 6) + ")\n": ErrHeredoc,
		strings.Repeat("x <<A\nA\n", 300):                      nil,
		"a << '" + long + "'\n1 << 2\n":                        nil, // no heredoc: there is a blank
	} {
		if _, err := ParseTree(Ruby, []byte(source)); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", source, err, want)
		}
	}
}
