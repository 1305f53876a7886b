package prose

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	// oneName matches one token: a dotted name, a flag, a number, a version, a path, a
	// quoted word, an operator.
	oneName = lazyregexp.New(`^(?:\*{0,2}[\w.]*\w\*?|@[\w.]+|-{1,2}[A-Za-z][\w-]*|\$?[\w-]+|[\w.*?~-]*[/\\][\w./\\*?~:-]*|v?\d[\w.+-]*|[A-Za-z_][\w.]*\(\)|[^\w\s()]{1,3}|"[^"]*"|'[^']*'|\.[\w.*-]+|[A-Za-z][\w.+-]*[+#*]*|https?://\S+|[<>=~!]=?\s?[\d.]+|\{[\w.]*\}|%[\w.]+|\\\w+|<\w+>|\[\w+\]|[\w-]+:)$`)
	// leadName matches a call, an index or an annotation, which its first name stands for.
	leadName = lazyregexp.New(`^@?((?:[A-Za-z_][\w-]*\.)*[A-Za-z_]\w*)\s*(?:\(.*\)|\[.*\]|:\s*[^=\s].*|<\w.*>)$`)
	// valued matches a call with plain values: it stands for its result, not for its name.
	valued = lazyregexp.New(`\((?:[^()=]*["'][^()=]*|[\d.,\s+-]+)\)$`)
	// setTo matches an assignment of one token to one token.
	setTo = lazyregexp.New(`^((?:[A-Za-z_][\w-]*\.)*[A-Za-z_]\w*|--?[A-Za-z][\w-]*)\s*=\s*([^=\s].*)$`)
	// command matches a command with options.
	command = lazyregexp.New(`^[\w./-]+(?: --?[\w-]+)+$`)
	// message matches plain words: a message or a label, not code.
	message = lazyregexp.New(`^[A-Za-z][A-Za-z'’]*(?:,? [A-Za-z0-9'’-]+){2,}[.!?]?$`)
	invoked = lazyregexp.New(`^(?:pip|python3?|go|git|npm|uv|make|pytest|tox|nox|docker|apt|import|from|def|class|func|type|var|const|return|if|for|while|with|lambda|assert|raise|del|async|await|yield|x|a|b)\b`)
	// requirement matches a package and a version.
	requirement = lazyregexp.New(`^([\w.-]+?)\s*(>=|<=|==|~=|<|>)\s*(\d[\w.]*)$`)
	setting     = lazyregexp.New(`(?i)\bset(?:s|ting)?(?: (?:the|a|an))?\s*$`)
	// keywords matches phrases of a language: "async with".
	keywords = lazyregexp.New(`^(?:async|not|is|yield|await|else|if|from|for|go|select|raise|import) [a-z]+$`)

	bareCall  = lazyregexp.New(`\b([A-Za-z_](?:[\w.]*\w)?)\(([^()]*)\)`)
	markup    = lazyregexp.New(`<\w+[^>]*=["']|</\w+>`)
	bareIf    = lazyregexp.New(`((?:when|if|where|unless|while) )([A-Za-z_][\w.]*)=([\w.-]*\w|"[^"\s]*"|'[^'\s]*')`)
	bareSet   = lazyregexp.New(`(^|[\s(])(--?[A-Za-z][\w-]*|[A-Za-z_][\w.]*)=([\w.-]*\w|"[^"\s]*"|'[^'\s]*')`)
	assign    = lazyregexp.New(`(?:^|\s)(?:[A-Za-z_][\w.\[\]"']*)\s?(?:[+\-*/|&:]?=|==|!=|<=|>=|:=|=>)\s?\S`)
	operators = lazyregexp.New(`&&|\|\||==|!=|:=|=>|\+=|-=|->\s*\w+:|;\s*$|\)\.\w+\(|[\w\])]\{|\}\)|\{\{|%\}|<\w+[^>]*="[^"]*"|</\w+>|\bfor \w+ in [\w.]+:|^\s*(?:def|class|func|import|from \S+ import|return|var|type \w+ struct)\b.*[:({]`)
	plural    = lazyregexp.New(`^(?:s|es|ies|n|d|ed|a|an|un|re|or|and|\d+|i|ii|O|n²)$`)
)

// Named reduces code in a sentence to names: `f(x)` becomes `f`. ok is false where code is
// left, or where two pieces of code became the same name: the sentence then says something
// else.
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

// remark reports whether word(inside) is not a call: "argument(s)", "fix(scope)".
func remark(word, inside string) bool {
	return fragment.MatchString(word+":") || plural.MatchString(inside) && english.MatchString(word)
}

var english = lazyregexp.New(`^[A-Za-z]?[a-z]+$`)

// verbFor returns the words between the two sides of an assignment, by the words before
// it: "set x to", "when x is set to", "with x set to".
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

// reduce returns the name of a piece of code, in backticks. set stands between the two
// sides of an assignment. It returns false where there is no such name.
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

// compared returns a comparison in words. A value with a full stop is a version.
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

// Code returns the code in a text: blocks, and expressions of more than one token, with
// or without backticks. A bare name is not code.
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

// Messages and literals in quotation marks. Curly marks are used around text that contains
// straight ones or backticks.
var (
	straight = lazyregexp.New(`"[^"\n]*"`)
	curly    = lazyregexp.New(`“[^”\n]*”`)
)
