package syntax

import (
	"bytes"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	enumeration = lazyregexp.New(`(?m)^[ \t]*enum\s+\w+`)
	constant    = lazyregexp.New(`(?m)^[ \t]*(?:#\[.*\][ \t]*)?((?:(?:final|public|private|protected)\s+)*const\s)`)
)

// bridgePHP leaves out constants, from the first enumeration on, for in those the grammar knows
// none. No constant of a type runs code. Where one seems to hold a function, its end was not
// found (a quote in a comment), and it stays: a function that is not seen would not be masked.
func bridgePHP(t *Tree) [][]byte {
	first := enumeration.FindIndex(t.Source)
	if first == nil {
		return nil
	}
	out := bytes.Clone(t.Source)
	for _, found := range constant.FindAllSubmatchIndex(t.Source[first[0]:], -1) {
		text := out[first[0]+found[2]:]
		if text = text[:statement(text)]; !bytes.Contains(bytes.ToLower(text), []byte("function")) {
			blank(text)
		}
	}
	return [][]byte{out}
}

// statement is how long the statement is that a text begins with; 0 where it does not end.
func statement(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; b {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth--
		case '\'', '"':
			for i++; i < len(text) && text[i] != b; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ';':
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
