package mask

import (
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// Count says how one kind of node counts for the shape of a body.
type Count uint8

// The counts, to be added up.
const (
	Branch Count = 1 << iota
	Call
	Nest    // what is inside of it lies a level deeper
	Comment // its text is no line of code
	Logic   // a binary expression: a branch where its operator is and/or
)

// Counter is a grammar's kinds of nodes that count.
type Counter map[string]Count

// Shape counts within a body; fan-in is the engine's to count.
func (c Counter) Shape(body syntax.Node, at Range) Shape {
	var s Shape
	var open []syntax.Node
	var comments []Range
	for n := range body.Within() {
		count := c[n.Kind()]
		// In some grammars a keyword has the name of what it begins.
		if count == 0 || !n.Named() || n.Start() < at.Start || n.End() > at.End {
			continue
		}
		if count&Branch != 0 || count&Logic != 0 && logical(n) {
			s.Branches++
		}
		if count&Call != 0 {
			s.Calls++
		}
		if count&Comment != 0 {
			comments = append(comments, Range{n.Start(), n.End()})
		}
		if count&Nest != 0 {
			for len(open) > 0 && !open[len(open)-1].Holds(n) {
				open = open[:len(open)-1]
			}
			open = append(open, n)
			s.Depth = max(s.Depth, len(open))
		}
	}
	s.Lines = lines(body.Tree().Source, at, comments)
	return s
}

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
