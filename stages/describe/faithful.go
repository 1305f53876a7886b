package describe

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
)

// ours are the words that the rules may add to an author's: those of their templates
// (request.go), articles, and what stands for a removed reference (prose.Inline).
var ours = strings.Fields(`i want to also be able make sure that not use add support for in have fix improve remove a an the an earlier change`)

var anyWord = lazyregexp.New(`[\p{L}]+`)

// faithful reports whether a sentence of a draft says what its author said: it keeps code
// and quotations unchanged and in order, and each other word is the author's, another form
// of a verb of his, or one of ours. source is the author's sentence, and what it stands
// under.
func faithful(text string, source ...string) bool {
	all := strings.Join(source, " ")
	if len(prose.Strays(text, source[0], all)) > 0 {
		return false
	}
	said := map[string]bool{}
	for _, w := range anyWord.FindAllString(strings.ToLower(all), -1) {
		said[w] = true
		if v, ok := verbOf(w); ok {
			said[v.base] = true
		}
	}
	return !slices.ContainsFunc(anyWord.FindAllString(strings.ToLower(text), -1), func(w string) bool {
		v, _ := verbOf(w)
		return !said[w] && !slices.Contains(ours, w) && !(v.base != "" && said[v.base])
	})
}
