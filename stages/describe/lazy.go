package describe

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/prose"
)

// Lazy drafts the instruction of an edit by the rules: the first wish as an order, and
// nothing else, as somebody says it who has the code open.
type Lazy struct{}

var _ Drafter = Lazy{}

// Draft implements Drafter.
func (Lazy) Draft(ctx context.Context, m Material) (Draft, error) {
	d, err := Rules{}.Draft(ctx, m)
	if err != nil {
		return d, err
	}
	text, _, _ := strings.Cut(d.Text, "\n")
	text = strings.TrimPrefix(text, first)
	if at := strings.Index(text, ". "); at > 0 {
		text = text[:at+1]
	}
	r, n := utf8.DecodeRuneInString(text)
	d.Text, d.Hints = string(unicode.ToUpper(r))+text[n:], ""
	if text == "" {
		d.Text = ""
	}
	return d, nil
}

// mostWords bounds an instruction (the paper's mean is 70 tokens, deviation 37).
const mostWords = 80

// ordered checks what holds of every instruction of an edit: an order in words, and a short
// one. What stands below it (names and values of the tests) does not count.
func ordered(text string) error {
	order, _, _ := strings.Cut(text, "\n")
	word, _, _ := strings.Cut(order, " ")
	if v, ok := verbs()[strings.ToLower(word)]; !ok || v.form != base {
		return fmt.Errorf("does not begin with an order: %.60q", order)
	}
	if n := len(strings.Fields(order)); n > mostWords {
		return fmt.Errorf("has %d words, and is to be short", n)
	}
	if code := prose.Code(text); len(code) > 0 {
		return fmt.Errorf("holds code: %.60q", code[0])
	}
	return nil
}

// lazyThin reports whether an instruction does not even say what is to be edited: one needs
// two words with meaning, or one beside names that stand below it.
func lazyThin(text string, stated int) bool {
	words := len(content(text)) + len(prose.Names(text))
	return words == 0 || words+min(stated, 1) < 2
}
