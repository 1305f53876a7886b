package prose

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	bareCall = lazyregexp.New(`\b([A-Za-z_](?:[\w.]*\w)?)\(([^()]*)\)`)
	// statement matches what only a line of code has: a keyword and its block, the end of a
	// statement, an HTML element with attributes, a template's tag.
	statement = lazyregexp.New(`;\s*$|\{\{|\}\}|\{%|%\}|<\w+ [^<>]*=|</\w+>|\bfor \w+ in [\w.()]+:|^\s*(?:def|class|func|import|from \S+ import|return|var|type \w+ struct)\b.*[:({]\s*$`)
	plural    = lazyregexp.New(`^(?:s|es|ies|n|d|ed|a|an|un|re|or|and|\d+|i|ii|O|n²)$`)
	english   = lazyregexp.New(`^[A-Za-z]?[a-z]+$`)
)

// remark reports whether word(inside) is not a call: "argument(s)", "fix(scope)".
func remark(word, inside string) bool {
	return fragment.MatchString(word+":") || plural.MatchString(inside) && english.MatchString(word)
}

// Code returns the code in a text that is not part of a sentence: blocks, and lines of code
// without marks around them. Code in backticks or quotation marks, calls, types and markup
// within a sentence are part of it.
func Code(text string) []string {
	var out []string
	for _, b := range Blocks(text) {
		if b.Kind == Listing {
			out = append(out, "a block")
		}
	}
	plain := straight.ReplaceAllString(span.ReplaceAllString(curly.ReplaceAllString(text, "x"), "x"), "x")
	for _, line := range strings.Split(plain, "\n") {
		out = append(out, definition.FindAllString(line, -1)...)
		if found := statement.FindAllString(line, -1); len(found) > 0 && !sentenceAround(line, found) {
			out = append(out, found...)
		}
	}
	return out
}

// sentenceAround reports whether a line is a sentence even without the code that was found in it.
func sentenceAround(line string, found []string) bool {
	const enough = 4 // words of English
	for _, code := range found {
		if strings.HasSuffix(code, ":") { // the head of a block
			return false
		}
		line = strings.ReplaceAll(line, code, " ")
	}
	words := 0
	for _, w := range strings.Fields(line) {
		if plainWord.MatchString(w) {
			words++
		}
	}
	return sentenceStart.MatchString(line) && words >= enough
}

// definition is code wherever it stands: no sentence needs it without marks.
var definition = lazyregexp.New(`\b(?:def|func) \w+\([^)]*\).*[:{]`)

var (
	sentenceStart = lazyregexp.New(`^\s*(?:[-*] )?(?:[A-Z][a-z]*|x)[ ,]`) // x stands for what was in marks
	plainWord     = lazyregexp.New(`^[a-z]+[,.;:]?$`)
)

// Messages and literals in quotation marks. Curly marks are used around text that contains
// straight ones or backticks.
var (
	straight = lazyregexp.New(`"[^"\n]*"`)
	curly    = lazyregexp.New(`“[^”\n]*”`)
)
