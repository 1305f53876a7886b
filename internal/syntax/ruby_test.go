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
		"x <<~\"one" + long:     ErrHeredoc, // nothing ends it
		"x <<~\"one\n" + long:   nil,        // nothing ends it, and nobody reads it as a name
		"x(" + strings.Repeat("<<"+long[:150]+", ", 6) + ")\n": ErrHeredoc,
		"x(" + strings.Repeat("<<A, ", 200) + ")\n":            ErrHeredoc,
		"x <<" + strings.Repeat("é_9", 60) + "\n":              ErrHeredoc,
		strings.Repeat("x <<A\nA\n", 300):                      nil,
		"a << '" + long + "'\n1 << 2\n":                        nil, // no heredoc: there is a blank
	} {
		if _, err := ParseTree(Ruby, []byte(source)); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", source, err, want)
		}
	}
}

// A text may end in <<, and what comes up to the next quote is no name.
func TestHeredocInText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"raise \"masked: Log#<<\"\nend\n" + strings.Repeat("# a comment\n", 30), "x <<\"one\n#{two}\"\nend\n"} {
		source := "def <<(x)\n  " + text + "x = [<<~ONE, \"two\"]\n  one\nONE\n"
		tree, err := ParseTree(Ruby, []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for n := range tree.All() {
			kinds[n.Kind()]++
		}
		if tree.Broken() || kinds["method"] != 1 || kinds["heredoc_body"] != 1 || string(tree.Source) != source {
			t.Errorf("%.30q: broken: %v, read: %v", text, tree.Broken(), kinds)
		}
	}
}
