package main

import (
	"regexp"
	"strconv"
	"strings"
)

// change is the body of a handler with one change, and what that is.
type change struct{ text, what string }

// kinds are the ways to break a handler, in order. Each finds all places in a body.
var kinds = []struct {
	name string
	find func(language, body string) []change
}{
	{"constant_answer", constant},
	{"wrong_status", replaced(regexp.MustCompile(`\b(20[0-4]|StatusOK|StatusCreated|StatusNoContent|HTTP_20\d\w*)\b`), status)},
	{"dropped_field", dropped},
	{"other_order", replaced(regexp.MustCompile(`\.desc\(\)|\bDESC\b|\bdesc\b|\bASC\b|\.asc\(\)|reverse=True`), order)},
	{"off_by_one", replaced(regexp.MustCompile(`\b(limit|offset|skip|count|len)\b([^\n=<>]{0,12}?)\b(\d+)\b`), plusOne)},
	{"missing_check", check},
}

// body is where the statements of a function stand in a source: between the line of its
// signature and its end. Names are unique in the small files that are broken here; of several
// functions of one name the first is taken.
func body(file, source, name string) (from, to int, ok bool) {
	short := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasSuffix(file, ".go") {
		m := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + regexp.QuoteMeta(short) + `\(.*\{$`).FindStringIndex(source)
		if m == nil {
			return 0, 0, false
		}
		end := strings.Index(source[m[1]:], "\n}\n")
		if end < 0 {
			return 0, 0, false
		}
		return m[1], m[1] + end + 1, true
	}
	m := regexp.MustCompile(`(?m)^([ \t]*)(?:async )?def ` + regexp.QuoteMeta(short) + `\(`).FindStringSubmatchIndex(source)
	if m == nil {
		return 0, 0, false
	}
	indent := source[m[2]:m[3]]
	sig := regexp.MustCompile(`\)[^\n]*:[ \t]*\n`).FindStringIndex(source[m[1]:])
	if sig == nil {
		return 0, 0, false
	}
	from = m[1] + sig[1]
	to = from
	for _, line := range strings.SplitAfter(source[from:], "\n") {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent+" ") && !strings.HasPrefix(line, indent+"\t") {
			break
		}
		to += len(line)
	}
	return from, to, to > from
}

// What a Go handler answers with: its context (Gin), or the writer of the response.
var (
	goContext = regexp.MustCompile(`\b(\w+)\.JSON\((?:http\.|\d)`)
	goWriter  = regexp.MustCompile(`\b(\w+)\.(?:WriteHeader|Header)\(|\b(?:NewEncoder|render\.\w+|http\.Error|answer|respond\w*)\((w)\b`)
	goLiteral = regexp.MustCompile(`return [^\n]*func\([^\n]*\{\n`)
)

// constant answers the same to all: the function gives an empty object at once. In Go one that
// makes the handler has the handler do it.
func constant(language, body string) []change {
	if language == "go" {
		from := "\n"
		if m := goLiteral.FindString(body); m != "" {
			from = m
		}
		line := ""
		if m := goContext.FindStringSubmatch(body); m != nil {
			line = m[1] + ".JSON(200, map[string]any{})"
		} else if m := goWriter.FindStringSubmatch(body); m != nil {
			line = m[1] + m[2] + ".Write([]byte(`{}`))"
		}
		if line == "" || !strings.Contains(body, from) {
			return nil
		}
		return []change{{strings.Replace(body, from, from+line+"\nreturn\n", 1), "gives {} at once"}}
	}
	line := strings.TrimLeft(body, "\n")
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return []change{{indent + "return {}\n" + body, "gives {} at once"}}
}

func replaced(at *regexp.Regexp, by func(string) string) func(string, string) []change {
	return func(_, body string) []change {
		var out []change
		for _, m := range at.FindAllStringIndex(body, -1) {
			was := body[m[0]:m[1]]
			if now := by(was); now != was {
				out = append(out, change{body[:m[0]] + now + body[m[1]:], was + " is " + now})
			}
		}
		return out
	}
}

func status(was string) string {
	switch {
	case was == "StatusAccepted" || was == "202":
		return was
	case strings.HasPrefix(was, "HTTP_"):
		return "HTTP_202_ACCEPTED"
	case strings.HasPrefix(was, "Status"):
		return "StatusAccepted"
	}
	return "202"
}

func order(was string) string {
	switch was {
	case ".desc()":
		return ".asc()"
	case ".asc()":
		return ".desc()"
	case "DESC":
		return "ASC"
	case "ASC":
		return "DESC"
	case "desc":
		return "asc"
	}
	return "reverse=False"
}

var lastNumber = regexp.MustCompile(`\d+$`)

func plusOne(was string) string {
	return lastNumber.ReplaceAllStringFunc(was, func(n string) string {
		v, err := strconv.Atoi(n)
		if err != nil {
			return n
		}
		return strconv.Itoa(v + 1)
	})
}

// dropped takes one entry out of an answer: a key of a literal in Python, or of gin.H in Go.
func dropped(_, body string) []change {
	var out []change
	for _, m := range regexp.MustCompile(`(?m)"[a-zA-Z_]+": ?[^,{}()\n]+,[ \t]*`).FindAllStringIndex(body, -1) {
		out = append(out, change{body[:m[0]] + body[m[1]:], "without " + strings.TrimSpace(body[m[0]:m[1]])})
	}
	return out
}

// ofNoRequest are lines of an early end that no request leads to: what is logged is a fault of the
// service's own.
var ofNoRequest = regexp.MustCompile(`(?i)\blog|\.err\(|internal`)

// check takes away a condition that guards an early end.
func check(language, body string) []change {
	at := regexp.MustCompile(`(?m)^([ \t]*)if ([^\n]*):[ \t]*\n([ \t]*)(raise|return|abort)\b`)
	form := "${1}if False:\n${3}${4}"
	if language == "go" {
		at, form = regexp.MustCompile(`(?m)^([ \t]*)if ([^\n;]*) \{\n([ \t]*)([^\n]*(?:Abort|Error|JSON|Render|BadRequest|NotFound|Forbidden|Unauthorized|Conflict|WriteHeader)[^\n]*)`), "${1}if false && ($2) {\n${3}${4}"
	}
	var out []change
	for _, m := range at.FindAllStringSubmatchIndex(body, -1) {
		if language == "go" && ofNoRequest.MatchString(body[m[8]:m[9]]) {
			continue
		}
		now := at.ExpandString(nil, form, body, m)
		out = append(out, change{body[:m[0]] + string(now) + body[m[1]:], "never if " + body[m[4]:m[5]]})
	}
	return out
}
