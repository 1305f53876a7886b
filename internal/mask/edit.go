package mask

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Apply makes the edits in a source, everything else to the byte. Texts are written
// with the line ends of the source: those of its first line.
func Apply(source []byte, edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	crlf := LineEnd(source) == "\r\n"
	var out bytes.Buffer
	out.Grow(len(source))
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(source) {
			return nil, fmt.Errorf("edit of bytes %d to %d: out of place after %d of %d", e.Start, e.End, at, len(source))
		}
		out.Write(source[at:e.Start])
		if crlf {
			e.Text = strings.ReplaceAll(e.Text, "\n", "\r\n")
		}
		out.WriteString(e.Text)
		at = e.End
	}
	out.Write(source[at:])
	return out.Bytes(), nil
}

// LineEnd is how the first line ends; "\n" where none does.
func LineEnd(source []byte) string {
	if i := bytes.IndexByte(source, '\n'); i > 0 && source[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
