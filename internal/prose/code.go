package prose

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// oneName is one token: a dotted name, a flag, a number, a version, a path, a
	// quoted word, an operator.
	oneName = regexp.MustCompile(`^(?:\*{0,2}[\w.]*\w\*?|@[\w.]+|-{1,2}[A-Za-z][\w-]*|\$?[\w-]+|[\w.*?~-]*[/\\][\w./\\*?~:-]*|v?\d[\w.+-]*|[A-Za-z_][\w.]*\(\)|[^\w\s()]{1,3}|"[^"]*"|'[^']*'|\.[\w.*-]+|[A-Za-z][\w.+-]*[+#*]*|https?://\S+|[<>=~!]=?\s?[\d.]+|\{[\w.]*\}|%[\w.]+|\\\w+|<\w+>|\[\w+\]|[\w-]+:)$`)
	// A call, an index, an assignment or an annotation is named by what it begins with.
	leadName = regexp.MustCompile(`^@?((?:[A-Za-z_][\w-]*\.)*[A-Za-z_]\w*|--?[A-Za-z][\w-]*)\s*(?:\(.*\)|\[.*\]|[=:]=?\s*[^=\s].*|<\w.*>)$`)
	// keywords are phrases of a language: "async with".
	keywords = regexp.MustCompile(`^(?:async|not|is|yield|await|else|if|from|for|go|select|raise|import) [a-z]+$`)

	bareCall  = regexp.MustCompile(`\b([A-Za-z_][\w.]*[\w])\(([^()]*)\)`)
	assign    = regexp.MustCompile(`(?:^|\s)(?:[A-Za-z_][\w.\[\]"']*)\s?(?:[+\-*/|&:]?=|==|!=|<=|>=|:=|=>)\s?\S`)
	operators = regexp.MustCompile(`&&|\|\||==|!=|:=|=>|\+=|-=|->\s*\w+:|;\s*$|\)\.\w+\(|[\w\])]\{|\}\)|\{\{|%\}|<\w+[^>]*="[^"]*"|</\w+>|^\s*(?:def|class|func|import|from \S+ import|return|var|type \w+ struct)\b.*[:({]`)
	plural    = regexp.MustCompile(`^(?:s|es|ies|n|d|ed|a|an|un|re|or|and|\d+|i|ii|O|n²)$`)
)

// Named reduces code in a sentence to the names that it is about: `f(x)` becomes
// `f`, `strict=True` becomes `strict`. ok is false where a piece of code is left,
// or where two pieces became one name: without them the sentence says something else.
func Named(sentence string) (text string, ok bool) {
	ok = true
	var made []string
	text = span.ReplaceAllStringFunc(sentence, func(s string) string {
		code := strings.TrimSpace(strings.Trim(s, "`"))
		name, fine := reduce(code)
		if name != code && slices.Contains(made, name) {
			fine = false
		}
		if name != code {
			made = append(made, name)
		}
		ok = ok && fine
		return "`" + name + "`"
	})
	rest := outside(text, func(s string) string {
		return bareCall.ReplaceAllStringFunc(s, func(call string) string {
			m := bareCall.FindStringSubmatch(call)
			switch {
			case m[2] == "":
				return "`" + m[1] + "`"
			case plural.MatchString(m[2]) || !compound.MatchString(m[1]) && !strings.ContainsAny(m[2], "=_\"'") && strings.Contains(m[2], " "):
				return call // "argument(s)", "word(with a remark)"
			}
			return "`" + m[1] + "`"
		})
	})
	return rest, ok && len(Code(rest)) == 0
}

func reduce(code string) (string, bool) {
	switch {
	case strings.HasSuffix(code, "()") && oneName.MatchString(code):
		return strings.TrimSuffix(code, "()"), true
	case oneName.MatchString(code) || keywords.MatchString(code):
		return code, true
	}
	if m := leadName.FindStringSubmatch(code); m != nil {
		return m[1], true
	}
	return code, false
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
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		code := strings.TrimSpace(m[1])
		if !oneName.MatchString(code) && !keywords.MatchString(code) {
			out = append(out, code)
		}
	}
	plain := quotes.ReplaceAllString(span.ReplaceAllString(text, "x"), "x")
	out = append(out, operators.FindAllString(plain, -1)...)
	out = append(out, assign.FindAllString(plain, -1)...)
	return out
}

// quotes are messages and literals in quotation marks.
var quotes = regexp.MustCompile(`"[^"\n]*"|“[^”\n]*”`)
