package syntax

import "github.com/benchmint/benchmint/internal/lazyregexp"

var (
	enumeration = lazyregexp.New(`(?m)^[ \t]*enum\s+\w+`)
	constant    = lazyregexp.New(`(?m)^[ \t]*(?:#\[.*\][ \t]*)?((?:(?:final|public|private|protected)\s+)*const\s)`)
)

// bridgePHP leaves out constants, from the first enumeration on, for in those the grammar knows
// none. No constant of a type runs code.
func bridgePHP(t *Tree) [][]byte {
	first := enumeration.FindIndex(t.Source)
	if first == nil {
		return nil
	}
	d := draft{source: t.Source}
	for _, found := range constant.FindAllSubmatchIndex(t.Source[first[0]:], -1) {
		start := first[0] + found[2]
		for i, b := range t.Source[start : start+statement(t.Source[start:])] {
			if b != '\n' && b != '\r' {
				d.put(start+i, " ")
			}
		}
	}
	if d.changed == nil {
		return nil
	}
	return [][]byte{d.changed}
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
