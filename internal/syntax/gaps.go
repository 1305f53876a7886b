package syntax

import (
	"bytes"
	"strings"
)

// bridges give texts by which a grammar may read a file in which it finds a syntax error, of
// the same length. They are for what the language has and the grammar does not know.
var bridges = map[Language]func(*Tree) [][]byte{
	Python: bridgePython,
	PHP:    bridgePHP,
	CSharp: func(t *Tree) [][]byte { return readings(t.Source) },
}

// draft is a source that is changed in places, copied when the first of them is.
type draft struct{ source, changed []byte }

func (d *draft) put(at int, text string) {
	if d.changed == nil {
		d.changed = bytes.Clone(d.source)
	}
	copy(d.changed[at:], text)
}

// bridgePython is for a comment between a decorator and what it decorates that stands further
// left than both, and for a star in a value of a formatted string, f"{a, *b}".
func bridgePython(t *Tree) [][]byte {
	d := draft{source: t.Source}
	end := -1 // of an error, and of comments behind it
	for n := range t.All() {
		switch {
		case n.Is("ERROR"):
			end = n.End()
			if n.Parent().Is("interpolation") && isStarred(t.Source, n.Start()) {
				d.put(n.Start(), " ")
			}
		case n.Is("comment") && end >= 0 && len(bytes.TrimSpace(t.Source[end:max(end, n.Start())])) == 0:
			d.put(n.Start(), strings.Repeat(" ", n.End()-n.Start()))
			end = n.End()
		}
	}
	if d.changed == nil {
		return nil
	}
	return [][]byte{d.changed}
}

// isStarred tells whether a value *x begins at a place in braces.
func isStarred(source []byte, at int) bool {
	before, behind := bytes.TrimSpace(source[:at]), bytes.TrimSpace(source[at+1:])
	return source[at] == '*' && bytes.ContainsAny(before[len(before)-1:], "{,") && len(behind) > 0 && !bytes.ContainsAny(behind[:1], "*}")
}
