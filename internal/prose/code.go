package prose

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	// oneName is one token: a dotted name, a flag, a number, a version, a path, a
	// quoted word, an operator.
	oneName = lazyregexp.New(`^(?:\*{0,2}[\w.]*\w\*?|@[\w.]+|-{1,2}[A-Za-z][\w-]*|\$?[\w-]+|[\w.*?~-]*[/\\][\w./\\*?~:-]*|v?\d[\w.+-]*|[A-Za-z_][\w.]*\(\)|[^\w\s()]{1,3}|"[^"]*"|'[^']*'|\.[\w.*-]+|[A-Za-z][\w.+-]*[+#*]*|https?://\S+|[<>=~!]=?\s?[\d.]+|\{[\w.]*\}|%[\w.]+|\\\w+|<\w+>|\[\w+\]|[\w-]+:)$`)
	// A call, an index, an assignment or an annotation is named by what it begins with.
	leadName = lazyregexp.New(`^@?((?:[A-Za-z_][\w-]*\.)*[A-Za-z_]\w*)\s*(?:\(.*\)|\[.*\]|:\s*[^=\s].*|<\w.*>)$`)
	// A call with plain values stands for what it gives, and is not what it is called.
	valued = lazyregexp.New(`\((?:[^()=]*["'][^()=]*|[\d.,\s+-]+)\)$`)
	// An assignment says what is set to what, if both are one token.
	setTo = lazyregexp.New(`^((?:[A-Za-z_][\w-]*\.)*[A-Za-z_]\w*|--?[A-Za-z][\w-]*)\s*=\s*([^=\s].*)$`)
	// A command line of a command and its options.
	command = lazyregexp.New(`^[\w./-]+(?: --?[\w-]+)+$`)
	// A message or a label, not code: plain words.
	message = lazyregexp.New(`^[A-Za-z][A-Za-z'’]*(?:,? [A-Za-z0-9'’-]+){2,}[.!?]?$`)
	invoked = lazyregexp.New(`^(?:pip|python3?|go|git|npm|uv|make|pytest|tox|nox|docker|apt|import|from|def|class|func|type|var|const|return|if|for|while|with|lambda|assert|raise|del|async|await|yield|x|a|b)\b`)
	// A requirement: a package and a version.
	requirement = lazyregexp.New(`^([\w.-]+?)\s*(>=|<=|==|~=|<|>)\s*(\d[\w.]*)$`)
	setting     = lazyregexp.New(`(?i)\bset(?:s|ting)?(?: (?:the|a|an))?\s*$`)
	// keywords are phrases of a language: "async with".
	keywords = lazyregexp.New(`^(?:async|not|is|yield|await|else|if|from|for|go|select|raise|import) [a-z]+$`)

	bareCall  = lazyregexp.New(`\b([A-Za-z_](?:[\w.]*\w)?)\(([^()]*)\)`)
	markup    = lazyregexp.New(`<\w+[^>]*=["']|</\w+>`)
	bareIf    = lazyregexp.New(`((?:when|if|where|unless|while) )([A-Za-z_][\w.]*)=([\w.-]*\w|"[^"\s]*"|'[^'\s]*')`)
	bareSet   = lazyregexp.New(`(^|[\s(])(--?[A-Za-z][\w-]*|[A-Za-z_][\w.]*)=([\w.-]*\w|"[^"\s]*"|'[^'\s]*')`)
	assign    = lazyregexp.New(`(?:^|\s)(?:[A-Za-z_][\w.\[\]"']*)\s?(?:[+\-*/|&:]?=|==|!=|<=|>=|:=|=>)\s?\S`)
	operators = lazyregexp.New(`&&|\|\||==|!=|:=|=>|\+=|-=|->\s*\w+:|;\s*$|\)\.\w+\(|[\w\])]\{|\}\)|\{\{|%\}|<\w+[^>]*="[^"]*"|</\w+>|\bfor \w+ in [\w.]+:|^\s*(?:def|class|func|import|from \S+ import|return|var|type \w+ struct)\b.*[:({]`)
	plural    = lazyregexp.New(`^(?:s|es|ies|n|d|ed|a|an|un|re|or|and|\d+|i|ii|O|n²)$`)
)

// Named reduces code in a sentence to the names that it is about: `f(x)` becomes
// `f`, `strict=True` becomes `strict`. ok is false where a piece of code is left,
// or where two pieces became one name: without them the sentence says something else.
func Named(sentence string) (text string, ok bool) {
	ok = true
	var made []string
	var b strings.Builder
	at := 0
	for _, m := range span.FindAllStringIndex(sentence, -1) {
		code := strings.TrimSpace(strings.Trim(sentence[m[0]:m[1]], "`"))
		b.WriteString(sentence[at:m[0]])
		at = m[1]
		name, fine := reduce(code, verbFor(sentence[:m[0]]))
		if name != "`"+code+"`" && slices.Contains(made, name) && !strings.HasSuffix(code, "()") {
			fine = false
		}
		if name != "`"+code+"`" {
			made = append(made, name)
		}
		ok = ok && fine
		b.WriteString(name)
	}
	text = b.String() + sentence[at:]
	rest := outside(text, func(s string) string {
		ok = ok && !markup.MatchString(s)
		s = bareIf.ReplaceAllString(s, "${1}`$2` is set to `$3`")
		s = bareSet.ReplaceAllString(s, "${1}`$2` set to `$3`")
		return bareCall.ReplaceAllStringFunc(s, func(call string) string {
			m := bareCall.FindStringSubmatch(call)
			switch {
			case m[2] == "":
				return "`" + m[1] + "`"
			case remark(m[1], m[2]):
				return call
			case slices.Contains(made, m[1]) || m[2] != "" && valued.MatchString(call):
				ok = false
			}
			made = append(made, m[1])
			return "`" + m[1] + "`"
		})
	})
	return rest, ok && len(Code(rest)) == 0
}

// remark tells "argument(s)" and "fix(scope)" from calls.
func remark(word, inside string) bool {
	return fragment.MatchString(word+":") || plural.MatchString(inside) && english.MatchString(word)
}

var english = lazyregexp.New(`^[A-Za-z]?[a-z]+$`)

// verbFor is what an assignment needs after the words before it: "set x", "when x is
// set", "with x set".
func verbFor(words string) string {
	switch {
	case setting.MatchString(words):
		return " to "
	case condition.MatchString(words):
		return " is set to "
	}
	return " set to "
}

var condition = lazyregexp.New(`(?i)\b(?:when|if|where|unless|while|whenever)(?: the)?\s*$`)

// reduce gives what a piece of code is called, in backticks; set stands between
// what is assigned and its value.
func reduce(code, set string) (string, bool) {
	switch {
	case strings.HasSuffix(code, "()") && oneName.MatchString(strings.TrimSuffix(code, "()")):
		return "`" + strings.TrimSuffix(code, "()") + "`", true
	case oneName.MatchString(code) || keywords.MatchString(code):
		return "`" + code + "`", true
	case command.MatchString(code):
		words := strings.Fields(code)
		return "`" + words[0] + "` with `" + strings.Join(words[1:], "` and `") + "`", true
	}
	if message.MatchString(code) && !invoked.MatchString(code) {
		return `"` + code + `"`, true
	}
	if m := requirement.FindStringSubmatch(code); m != nil {
		return "`" + m[1] + "` " + compared(m[2], m[3]), true
	}
	if m := setTo.FindStringSubmatch(code); m != nil {
		switch value := m[2]; {
		case value == "…" || value == "...":
			return "`" + m[1] + "`", true
		case !oneName.MatchString(value):
			return "`" + code + "`", false
		}
		return "`" + m[1] + "`" + set + "`" + m[2] + "`", true
	}
	if m := leadName.FindStringSubmatch(code); m != nil && !valued.MatchString(code) {
		return "`" + m[1] + "`", true
	}
	return "`" + code + "`", false
}

// compared says a comparison in words: of versions where there is a full stop.
func compared(operator, value string) string {
	version := strings.Contains(value, ".")
	switch operator {
	case ">=", "~=":
		if version {
			return value + " or later"
		}
		return "of at least " + value
	case "<=":
		if version {
			return "up to " + value
		}
		return "of at most " + value
	case "<":
		if version {
			return "before " + value
		}
		return "less than " + value
	case ">":
		if version {
			return "after " + value
		}
		return "greater than " + value
	}
	return value
}

// Code lists what is code in a text: blocks, expressions of more than one token
// between backticks, and the like without them. A bare name is not code.
func Code(text string) []string {
	var out []string
	for _, b := range Blocks(text) {
		if b.Kind == Listing {
			out = append(out, "a block")
		}
	}
	text = curly.ReplaceAllString(text, "x")
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		code := strings.TrimSpace(m[1])
		if !oneName.MatchString(code) && !keywords.MatchString(code) {
			out = append(out, code)
		}
	}
	plain := straight.ReplaceAllString(span.ReplaceAllString(text, "x"), "x")
	for _, m := range bareCall.FindAllStringSubmatch(plain, -1) {
		if m[2] != "" && !remark(m[1], m[2]) {
			out = append(out, m[0])
		}
	}
	out = append(out, operators.FindAllString(plain, -1)...)
	out = append(out, assign.FindAllString(plain, -1)...)
	return out
}

// Messages and literals in quotation marks; curly ones stand around those that hold
// straight ones or backticks.
var (
	straight = lazyregexp.New(`"[^"\n]*"`)
	curly    = lazyregexp.New(`“[^”\n]*”`)
)
