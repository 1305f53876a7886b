package describe

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// literal is one string of a program. Adjacent strings that the language joins are one.
type literal struct {
	raw   string // the source between the quotation marks
	value string // the same, with "…" for each value that the program inserts
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

// placeholder is one in a message, in the forms of both languages.
const placeholder = `…|\{[^{}]*\}|%[-+#0-9.*]*(?:\[\d+\])?[a-zA-Z]|%\(\w+\)[a-z]|\.\*\??|\.\+`

var hole = lazyregexp.New(placeholder)

// holes are such placeholders with nothing between them.
var holes = lazyregexp.New(`(?:` + placeholder + `)+`)

// wanted returns the literals that exist only in the solution and that the tests compare
// with or pass in. The statement has to give them. A message has "…" for each value that the
// program inserts; shown has, by such a message, how the tests fill it.
func (s *solution) wanted() (out []string, shown map[string]string) {
	shown = map[string]string{}
	for _, l := range s.texts {
		if strings.TrimSpace(l.value) == "" || slices.Contains(out, l.value) || s.inBase(l) {
			continue
		}
		// The key of a setting is a string in the code and a keyword in the tests.
		if s.tests.keywords[l.value] && len(s.declared[l.value]) == 0 || slices.Contains(s.tests.literals, l.value) && !s.base.holds(l.value) {
			out = append(out, l.value)
			continue
		}
		if t := s.inTests(func(t string) bool { return sameText(l.value, t) }); t != "" {
			form, example := holes.ReplaceAllString(l.value, "…"), strings.TrimSuffix(strings.Trim(unescape(t), "^$"), `\n`)
			out = append(out, form)
			if hole.MatchString(l.value) && !hole.MatchString(example) && filled(l.value, example) && len(example) < len(l.value)+longest {
				shown[form] = example
			}
			continue
		}
		// What writes a text may change its case: the tests decide.
		if t := s.inTests(func(t string) bool { return strings.EqualFold(l.value, t) && !english.MatchString(t) }); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), shown
}

// longest is how many bytes the values of a message may add where it is shown filled.
const longest = 80

// inTests is the first such literal of the tests that the base lacks, "" where there is none.
func (s *solution) inTests(such func(literal string) bool) string {
	i := slices.IndexFunc(s.tests.literals, func(t string) bool { return such(t) && !s.base.holds(t) })
	if i < 0 {
		return ""
	}
	return s.tests.literals[i]
}

// inBase reports whether every part of the literal is in the base. A part that could be an
// English word has to stand in quotation marks there: any comment may hold the word.
func (s *solution) inBase(l literal) bool {
	for _, part := range strings.Split(l.raw, "\x00") {
		if english.MatchString(part) {
			if s.base.holds(`"`+part+`"`) || s.base.holds(`'`+part+`'`) || s.base.holds("`"+part+"`") {
				continue
			}
			return false
		}
		// Look in the same file first: most literals were there before.
		if !bytes.Contains(s.base.read(l.path), []byte(part)) && !s.base.holds(part) {
			return false
		}
	}
	return true
}

const (
	pieceLetters = 8  // of a message's fixed parts; fewer would match by chance
	partLetters  = 12 // of a test's literal within a message
)

// sameText reports whether a test's literal is a literal of the code: equal to it, a part
// of it, or the same with its placeholders filled in. A pattern in a test (match=) is
// compared by the text that it matches.
func sameText(code, test string) bool {
	if code == test {
		return true
	}
	pattern := strings.Trim(unescape(test), "^$")
	if len(pattern) >= partLetters && strings.Contains(pattern, " ") && strings.Contains(code, pattern) {
		return true
	}
	return filled(code, pattern) || hole.MatchString(pattern) && (filled(pattern, code) || common(code, pattern) >= partLetters)
}

// common returns how many letters of its fixed parts a message shares with a pattern where one
// text matches both, and -1 where none does: each side's placeholders stand for any text of the
// other ("no %s (one of %v)" and "no .*one of 'a'"). The pattern may begin and end anywhere.
func common(message, pattern string) int {
	const most = 512
	if len(message) > most || len(pattern) > most {
		return -1
	}
	const any = '…'
	a, b := []rune(hole.ReplaceAllString(message, "…")), []rune("…"+hole.ReplaceAllString(pattern, "…")+"…")
	// best[i][j] is for a[i:] and b[j:], row by row from the end.
	below := make([]int, len(b)+1)
	for i := len(a); i >= 0; i-- {
		row := make([]int, len(b)+1)
		for j := len(b); j >= 0; j-- {
			best := -1
			switch {
			case i == len(a) && j == len(b):
				best = 0
			case i < len(a) && j < len(b) && a[i] == b[j] && a[i] != any:
				if best = below[j+1]; best >= 0 && a[i] != ' ' {
					best++
				}
			}
			if i < len(a) && (j < len(b) && b[j] == any || a[i] == any) {
				best = max(best, below[j])
			}
			if j < len(b) && (i < len(a) && a[i] == any || b[j] == any) {
				best = max(best, row[j+1])
			}
			row[j] = best
		}
		below = row
	}
	return below[0]
}

// filled reports whether text contains the fixed parts of a message in order.
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

// maxLiterals bounds how many literals a statement gives; a longer table is data.
const maxLiterals = 100

// stateLiterals returns sentences that state the literals which text does not contain, filled or
// not. shown has a filled form of messages.
func stateLiterals(text string, literals []string, shown map[string]string) string {
	var messages, exact, flags, words []string
	lines := strings.Split(text, "\n")
	for _, l := range literals[:min(len(literals), maxLiterals)] {
		switch {
		case strings.Contains(text, l), hole.MatchString(l) && slices.ContainsFunc(lines, func(line string) bool { return filled(l, line) }):
		case flagShape.MatchString(l):
			flags = append(flags, "`"+l+"`")
		case nameShape.MatchString(l):
			words = append(words, "`"+l+"`")
		case strings.Count(strings.TrimSpace(l), " ") >= 2 && shown[l] != "":
			messages = append(messages, quotation(l)+", such as "+quotation(shown[l]))
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

// quotation puts s into quotation marks that s itself does not use.
func quotation(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "\"`") {
		return "“" + s + "”"
	}
	return `"` + s + `"`
}
