package describe

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// literal is one string of a program; neighbours that the language joins are one.
type literal struct {
	raw   string // between the quotation marks, as it is written
	value string // the same with what a program puts in shown as "…"
	path  string // of its file
}

var (
	opened      = lazyregexp.New("^([A-Za-z]{0,2})(\"\"\"|'''|\"|'|`)")
	placed      = lazyregexp.New(`\{\{|\}\}|\{[^{}]*\}`)
	escapedMark = lazyregexp.New(`\\(["'` + "`" + `\\])`)
)

func literalOf(text, content string) literal {
	m := opened.FindStringSubmatch(text)
	if m == nil || len(text) < len(m[0])+len(m[2]) {
		return literal{raw: content, value: content}
	}
	raw := text[len(m[0]) : len(text)-len(m[2])]
	value := raw
	if strings.ContainsAny(m[1], "fF") {
		value = placed.ReplaceAllStringFunc(value, func(s string) string {
			if s == "{{" || s == "}}" {
				return s[:1]
			}
			return "…"
		})
	}
	return literal{raw: raw, value: escapedMark.ReplaceAllString(value, "$1")}
}

// hole is what a program puts into a message, in the forms of both languages.
var hole = lazyregexp.New(`…|\{[^{}]*\}|%[-+#0-9.*]*[a-zA-Z]|%\(\w+\)[a-z]|\.\*\??|\.\+`)

// wanted are the literals of the solution that the tests compare with or pass in,
// and that exist only there, as the statement has to give them.
func (s *solution) wanted() []string {
	var out []string
	for _, l := range s.texts {
		if strings.TrimSpace(l.value) == "" || slices.Contains(out, l.value) || s.known(l) {
			continue
		}
		// A key of settings is a string in the code and a keyword in the tests.
		asKeyword := s.tests.keywords[l.value] && len(s.declared[l.value]) == 0
		if asKeyword || slices.ContainsFunc(s.tests.literals, func(t string) bool { return sameText(l.value, t) && !s.base.holds(t) }) {
			out = append(out, l.value)
		}
	}
	slices.Sort(out)
	return out
}

// known: all that the literal is made of stands in the base. A short one that is
// only a word counts by its quotation marks, or it would be found in any comment.
func (s *solution) known(l literal) bool {
	for _, part := range strings.Split(l.raw, "\x00") {
		if english.MatchString(part) {
			if s.base.holds(`"`+part+`"`) || s.base.holds(`'`+part+`'`) || s.base.holds("`"+part+"`") {
				continue
			}
			return false
		}
		// Most stood in the same file before.
		if !bytes.Contains(s.base.read(l.path), []byte(part)) && !s.base.holds(part) {
			return false
		}
	}
	return true
}

const (
	pieceLetters = 8  // of a message's fixed parts: fewer are found anywhere
	partLetters  = 12 // of a test's literal within a message
)

// sameText reports whether a test's literal is a literal of the code: the same, a
// part of it, or it with its holes filled in. Patterns of tests (match=) are read
// as the text they stand for.
func sameText(code, test string) bool {
	if code == test {
		return true
	}
	pattern := strings.Trim(unescape(test), "^$")
	if len(pattern) >= partLetters && strings.Contains(pattern, " ") && strings.Contains(code, pattern) {
		return true
	}
	return filled(code, pattern) || hole.MatchString(pattern) && filled(pattern, code)
}

// filled reports whether text holds the fixed parts of a message in their order.
func filled(message, text string) bool {
	fixed, words := 0, false
	for _, part := range hole.Split(message, -1) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
		fixed += len(strings.TrimSpace(part))
		words = words || strings.Contains(strings.TrimSpace(part), " ")
	}
	return fixed >= pieceLetters && words
}

var escaped = lazyregexp.New(`\\([^\w\s])`)

func unescape(pattern string) string { return escaped.ReplaceAllString(pattern, "$1") }

var nameShape = lazyregexp.New(`^[A-Za-z_][\w.-]*\w$`)

// maxLiterals bounds a list: a table of a hundred messages is data.
const maxLiterals = 100

// spell states the literals that the tests need and that text does not say yet.
func spell(text string, literals []string) string {
	var messages, exact, flags, words []string
	for _, l := range literals[:min(len(literals), maxLiterals)] {
		switch {
		case strings.Contains(text, l):
		case flagShape.MatchString(l):
			flags = append(flags, "`"+l+"`")
		case nameShape.MatchString(l):
			words = append(words, "`"+l+"`")
		case strings.Count(strings.TrimSpace(l), " ") >= 2:
			messages = append(messages, quotation(l))
		default:
			exact = append(exact, quotation(l))
		}
	}
	var out []string
	out = append(out, state("The option is spelled ", "The options are spelled ", flags)...)
	out = append(out, state("The exact name ", "The exact names ", words)...)
	out = append(out, state("The message is ", "The messages are ", messages)...)
	out = append(out, state("The exact text ", "The exact texts ", exact)...)
	return strings.Join(out, " ")
}

func state(one, many string, what []string) []string {
	if len(what) == 0 {
		return nil
	}
	head, tail := one, ""
	if len(what) > 1 {
		head = many
	}
	if strings.HasPrefix(one, "The exact") {
		tail = " matters"
		if len(what) > 1 {
			tail = " matter"
		}
	}
	list := strings.Join(what, ", ")
	if n := len(what); n > 1 {
		list = strings.Join(what[:n-1], ", ") + " and " + what[n-1]
	}
	return []string{head + list + tail + "."}
}

// quotation marks are those that the text itself does not use.
func quotation(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "\"`") {
		return "“" + s + "”"
	}
	return `"` + s + `"`
}
