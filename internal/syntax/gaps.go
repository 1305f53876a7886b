package syntax

import "bytes"

// bridges give texts by which a grammar may read a file in which it finds a syntax error, of
// the same length. They are for what the language has and the grammar does not know.
var bridges = map[Language]func(*Tree) [][]byte{
	Python: bridgePython,
	PHP:    bridgePHP,
	CSharp: bridgeCSharp,
}

// blank makes a text empty but for the ends of its lines.
func blank(text []byte) {
	for i, b := range text {
		if b != '\n' && b != '\r' {
			text[i] = ' '
		}
	}
}

// bridgePython is for a comment between a decorator and what it decorates that stands further
// left than both, and for a star in a value of a formatted string, f"{a, *b}".
func bridgePython(t *Tree) [][]byte {
	out := bytes.Clone(t.Source)
	end := -1 // of an error, and of comments behind it
	for n := range t.All() {
		switch {
		case n.Is("ERROR"):
			end = n.End()
			if n.Parent().Is("interpolation") && isStarred(t.Source, n.Start()) {
				out[n.Start()] = ' '
			}
		case n.Is("comment") && end >= 0 && len(bytes.TrimSpace(t.Source[end:max(end, n.Start())])) == 0:
			blank(out[n.Start():n.End()])
			end = n.End()
		}
	}
	return [][]byte{out}
}

// isStarred reports whether a value *x begins at a place in braces.
func isStarred(source []byte, at int) bool {
	before, behind := bytes.TrimSpace(source[:at]), bytes.TrimSpace(source[at+1:])
	return source[at] == '*' && bytes.ContainsAny(before[len(before)-1:], "{,") && len(behind) > 0 && !bytes.ContainsAny(behind[:1], "*}")
}
