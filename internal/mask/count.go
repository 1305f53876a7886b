package mask

import (
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// logical reports whether a binary expression is one of those that leave out their right
// side. Operators are no nodes in every grammar: it is what stands between the sides.
func logical(n syntax.Node) bool {
	left, right := n.Child("left"), n.Child("right")
	if !left.Is() || !right.Is() || left.End() > right.Start() {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(string(n.Tree().Source[left.End():right.Start()]))) {
	case "&&", "||", "and", "or", "??":
		return true
	}
	return false
}

// lines counts those that hold more than blanks and comments. Comments are in order.
func lines(source []byte, at Range, comments []Range) int {
	count, code := 0, false
	for i := at.Start; i < at.End; i++ {
		for len(comments) > 0 && comments[0].End <= i {
			comments = comments[1:]
		}
		switch b := source[i]; {
		case b == '\n':
			if code {
				count++
			}
			code = false
		case b == ' ', b == '\t', b == '\r', b == '\f':
		case len(comments) == 0 || i < comments[0].Start:
			code = true
		}
	}
	if code {
		count++
	}
	return count
}
