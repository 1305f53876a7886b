package syntax

import "bytes"

// bridged gives Python of a tree with a syntax error as its grammar can read it, of the same
// length; nil where there is nothing to change. Two things are known that Python reads and
// the grammar does not: a comment between a decorator and what it decorates that stands
// further left than both, and a star in a value of a formatted string, f"{a, *b}".
func bridged(t *Tree) []byte {
	var out []byte
	blank := func(from, to int) {
		if out == nil {
			out = bytes.Clone(t.Source)
		}
		copy(out[from:to], bytes.Repeat([]byte(" "), to-from))
	}
	end := -1 // of an error, and of comments behind it
	for n := range t.All() {
		switch {
		case n.Is("ERROR"):
			end = n.End()
			if n.Parent().Is("interpolation") && isStarred(t.Source, n.Start()) {
				blank(n.Start(), n.Start()+1)
			}
		case n.Is("comment") && end >= 0 && len(bytes.TrimSpace(t.Source[end:max(end, n.Start())])) == 0:
			blank(n.Start(), n.End())
			end = n.End()
		}
	}
	return out
}

// isStarred tells whether a value *x begins at a place in braces.
func isStarred(source []byte, at int) bool {
	before, behind := bytes.TrimSpace(source[:at]), bytes.TrimSpace(source[at+1:])
	return source[at] == '*' && bytes.ContainsAny(before[len(before)-1:], "{,") && len(behind) > 0 && !bytes.ContainsAny(behind[:1], "*}")
}
