package prose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	marked   = lazyregexp.New("`[^`\n]+`|\"[^\"\n]*\"|“[^”\n]*”")
	codeMark = lazyregexp.New(`[_()\[\]{}<>=/\\*&|#@$%^~+]|\w[.:]\w|[a-z0-9][A-Z]|[A-Za-z]\d|^\.\w|^--?[a-z]`)
)

// Tokens returns what a sentence must not reword, in its order: text in backticks or
// quotation marks, without the marks, and bare words that look like code.
func Tokens(sentence string) []string {
	var out []string
	bareWords := func(s string) {
		for _, w := range strings.Fields(s) {
			w = strings.TrimLeft(strings.TrimRight(w, `.,;:!?'"’”`), `'"‘“`)
			if !strings.Contains(w, "(") {
				w = strings.TrimRight(w, ".,;:!?)")
			}
			if !strings.Contains(w, ")") {
				w = strings.TrimLeft(w, "(")
			}
			if codeMark.MatchString(w) {
				out = append(out, w)
			}
		}
	}
	at := 0
	for _, m := range marked.FindAllStringIndex(sentence, -1) {
		bareWords(sentence[at:m[0]])
		content := []rune(sentence[m[0]:m[1]])
		out = append(out, string(content[1:len(content)-1]))
		at = m[1]
	}
	bareWords(sentence[at:])
	return out
}

// Worded reports whether a sentence has at least two words that are not tokens; what has
// fewer is a line of code, or a name.
func Worded(sentence string) bool {
	for _, t := range Tokens(sentence) {
		sentence = strings.ReplaceAll(sentence, t, " ")
	}
	words := 0
	for _, w := range strings.Fields(sentence) {
		if len(w) > 1 && strings.IndexFunc(strings.TrimRight(w, ".,;:!?"), unicode.IsLetter) >= 0 {
			words++
		}
	}
	return words > 1
}

// Strays returns the tokens of a text (Tokens) that no source has, or that no source has in
// the order of their sentence. The marks of a source's markup do not count.
func Strays(text string, sources ...string) []string {
	plain := make([]string, len(sources))
	for i, s := range sources {
		plain[i] = unmarked(s)
	}
	var out []string
	for _, paragraph := range strings.Split(text, "\n") {
		for _, s := range Sentences(strings.TrimPrefix(paragraph, "- ")) {
			tokens := Tokens(s)
			if !slices.ContainsFunc(plain, func(source string) bool { return inOrder(tokens, source) }) {
				out = append(out, strayOf(tokens, plain))
			}
		}
	}
	return out
}

// inOrder reports whether a source has all tokens, each after the one before. The last may
// be the scope of a title ("parser: add x" → "add x in `parser`"), which comes first there.
func inOrder(tokens []string, source string) bool {
	rest := source
	for i, t := range tokens {
		t = unmarked(t)
		at := strings.Index(rest, t)
		if at < 0 {
			return i == len(tokens)-1 && strings.HasPrefix(strings.TrimLeft(source, " ["), t) || i == len(tokens)-1 && strings.Contains(source, "("+t+")")
		}
		rest = rest[at+len(t):]
	}
	return true
}

// strayOf names the first token that no source has, else all of them: their order is new.
func strayOf(tokens, sources []string) string {
	for _, t := range tokens {
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, unmarked(t)) }) {
			return t
		}
	}
	return strings.Join(tokens, " … ")
}

var marks = strings.NewReplacer("`", "", "\\", "", "“", `"`, "”", `"`, "’", "'", "‘", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&quot;", `"`, "*", "")

// unmarked returns a text on one line without the marks of Markdown and reStructuredText.
func unmarked(s string) string { return strings.Join(strings.Fields(marks.Replace(s)), " ") }
