// Package prose reads what people write about changes (commit messages, pull
// request texts, changelog entries, in Markdown or reStructuredText) as plain
// English sentences, and finds names and code in them.
//
// It never writes a sentence of its own, never rewords one beyond its markup, and knows
// nothing about the change.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Says reports whether a text holds a name as a word of its own.
func Says(text, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		// A literal may begin or end with a mark ("--flag"), which separates it from a word.
		if !(inWord(before) && inWord(first)) && !(inWord(after) && inWord(last)) {
			return true
		}
		from = i + len(name)
	}
	return false
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// opening is the beginning of each statement.
const opening = "I want to "

// Begins reports whether a statement begins with "I want to".
func Begins(text string) bool { return strings.HasPrefix(text, opening) }

const interfaceHead = "Interface:\n"

// Problem returns a problem statement: the text, and below it the names that tests need.
func Problem(text string, names []schemas.Name) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(text) + "\n")
	if len(names) == 0 {
		return b.String()
	}
	b.WriteString("\n" + interfaceHead)
	for _, n := range names {
		b.WriteString("- " + n.Kind + " `" + n.Name + "`")
		if n.Path != "" && n.Kind != "module" {
			b.WriteString(" in `" + n.Path + "`")
		}
		if n.Signature != "" && n.Signature != n.Name {
			b.WriteString(": " + quoted(n.Signature))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// quoted puts code into backticks, double ones if it contains a backtick (struct tags).
func quoted(code string) string {
	if strings.Contains(code, "`") {
		return "`` " + code + " ``"
	}
	return "`" + code + "`"
}

// Split undoes Problem: the text, and the list below it with its heading.
func Split(problem string) (text, list string) {
	if i := strings.Index(problem, "\n\n"+interfaceHead); i >= 0 {
		return problem[:i+1], problem[i+2:]
	}
	return problem, ""
}

// Plain returns a change's own text without trailers, mail addresses and comments of a
// template. It ends in a newline.
func Plain(subject, body string) string {
	text := comments.ReplaceAllString(strings.ReplaceAll(body, "\r\n", "\n"), "")
	text = strings.TrimSpace(subject + "\n\n" + strings.TrimSpace(trailers.ReplaceAllString(text, "")))
	return strings.ToValidUTF8(addresses(text), "\uFFFD") + "\n"
}

var (
	comments = lazyregexp.New(`(?s)<!--.*?(-->|\z)`)
	trailers = lazyregexp.New(`(?mi)^(?:[a-z]+(?:-[a-z]+)*-(?:by|to|with)|change-id|cc|pr-url|generated-with):[^\n]*\n?`)
	email    = lazyregexp.New(`<?[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}>?`)
	reserved = lazyregexp.New(`(?i)@(?:[a-z0-9-]+\.)*(?:example(?:\.[a-z]+)?|test|invalid)>?$`)
)

// addresses replaces mail addresses, except the reserved ones that belong to nobody.
func addresses(text string) string {
	return email.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "git@") || reserved.MatchString(found) { // the user of SSH remotes is not a person
			return found
		}
		return "<address>"
	})
}

var (
	span = lazyregexp.New("`([^`\n]+)`")
	// compound matches what is not an English word: an underscore inside, a
	// capital or digit after a small letter, a dotted name, a flag, a path.
	compound = lazyregexp.New(`^(?:--[a-z][\w-]+|_+\w+|\w+_\w*|[A-Za-z0-9]*[a-z][A-Z]\w*|[A-Z]+[A-Z][a-z]\w*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[\w.-]*/[\w./-]*\.\w+|\w+\.(?:py|go|toml|cfg|ini|yml|yaml|json))$`)
	bare     = lazyregexp.New(`[\w./-]*\w`)
)

// Names returns what a text uses as names: text in backticks, bare words that are called,
// and bare words that cannot be anything else. A dotted name is one name.
func Names(text string) []string {
	var out []string
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.TrimSuffix(strings.TrimSpace(m[1]), "()"))
	}
	text = span.ReplaceAllString(text, " ")
	for _, m := range bareCall.FindAllStringSubmatch(text, -1) {
		if !remark(m[1], m[2]) && !compound.MatchString(m[1]) {
			out = append(out, m[1])
		}
	}
	for _, w := range bare.FindAllString(text, -1) {
		if compound.MatchString(w) && !abbreviation.MatchString(w) {
			out = append(out, w)
		}
	}
	return out
}

var abbreviation = lazyregexp.New(`^(?:e\.g|i\.e|a\.k\.a|w\.r\.t|vs|etc|[A-Z]{2,}s|and/or|N/A)$`)
