package python

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// layout is how the body of a function lies in the text: what may be cut, and how to
// write in its place.
type layout struct {
	doc        syntax.Node   // the statement that is the docstring; none
	statements []syntax.Node // after the docstring
	// cut is what stands after the docstring, comments of the body included. It is
	// empty, and where to put something in, for a docstring alone.
	cut mask.Range
	// lead and between are written before the first new statement and between two.
	lead, between string
	indent        string // of a body on lines of its own
	inline        bool   // on the line of the head
}

// text writes statements in the place of cut.
func (l layout) text(statements ...string) string {
	return l.lead + strings.Join(statements, l.between)
}

// lay looks at the body of a definition; false where there is none that could be
// written anew.
func lay(def syntax.Node) (layout, bool) {
	block := def.Child("body")
	all := statements(block)
	if len(all) == 0 {
		return layout{}, false
	}
	src := block.Tree().Source
	var l layout
	l.statements = all
	if isDocstring(all[0]) {
		l.doc, l.statements = all[0], all[1:]
	}
	head := headEnd(def)
	if head > all[0].Start() {
		return layout{}, false
	}
	if inline(src[head:all[0].Start()]) {
		l.between, l.inline = "; ", true
		l.cut = mask.Range{Start: all[0].Start(), End: all[len(all)-1].End()}
		if l.doc.Is() {
			l.cut.Start, l.lead = l.doc.End(), "; "
		}
		return l, true
	}
	l.indent = indentAt(src, all[0].Start())
	l.between = "\n" + l.indent
	from := head
	if l.doc.Is() {
		from = l.doc.End()
	}
	end := tail(src, all[len(all)-1].End(), width(l.indent))
	switch eol := lineEnd(src, from); {
	case l.doc.Is() && len(l.statements) > 0 && l.statements[0].Start() < eol: // """doc"""; return 1
		l.cut, l.lead = mask.Range{Start: from, End: end}, "; "
	case end <= eol: // the docstring alone
		l.cut, l.lead = mask.Range{Start: eol, End: eol}, l.between
	default:
		l.cut = mask.Range{Start: firstLine(src, eol), End: end}
		if after, ok := bytes.CutPrefix(src[l.cut.Start:end], []byte(l.indent)); ok && !strings.ContainsRune(" \t\f", rune(after[0])) {
			l.cut.Start += len(l.indent)
		} else { // a comment that stands elsewhere
			l.lead = l.indent
		}
	}
	return l, true
}

// statements are those of a block: no comments.
func statements(block syntax.Node) []syntax.Node {
	var out []syntax.Node
	for c := range block.Children() {
		if c.Named() && c.Kind() != "comment" {
			out = append(out, c)
		}
	}
	return out
}

// isDocstring is CPython's rule: an expression that is one constant string, in
// parentheses or not; never an f-string, bytes, or a tuple of one.
func isDocstring(n syntax.Node) bool {
	inner := n.First()
	return n.Kind() == "expression_statement" && inner.Is() && inner.End() == n.End() && constantString(inner)
}

func constantString(n syntax.Node) bool {
	switch n.Kind() {
	case "string":
		return !strings.ContainsAny(n.First("string_start").Text(), "bBfFtT")
	case "concatenated_string", "parenthesized_expression":
		all := statements(n)
		return len(all) > 0 && !slices.ContainsFunc(all, func(c syntax.Node) bool { return !constantString(c) })
	}
	return false
}

// headEnd is the byte after the colon of a definition's head.
func headEnd(def syntax.Node) int {
	at := def.Start()
	for c := range def.Children() {
		switch c.Field() {
		case "name", "parameters", "return_type", "superclasses", "type_parameters":
			at = c.End()
		}
	}
	src := def.Tree().Source
	if i := bytes.IndexByte(src[at:def.End()], ':'); i >= 0 {
		return at + i + 1
	}
	return at
}

// inline reports whether what stands between a head and the first statement leaves the
// statement on the same line.
func inline(between []byte) bool {
	for i, c := range between {
		if c == '\n' && !bytes.HasSuffix(bytes.TrimSuffix(between[:i], []byte("\r")), []byte(`\`)) {
			return false
		}
	}
	return true
}

// lineStart is the first byte of the line that a place is in; of the first of several
// that are joined by backslashes.
func lineStart(src []byte, at int) int {
	for {
		at = bytes.LastIndexByte(src[:at], '\n') + 1
		if at == 0 || !bytes.HasSuffix(bytes.TrimSuffix(src[:at-1], []byte("\r")), []byte(`\`)) {
			return at
		}
		at--
	}
}

// lineEnd is the byte after the last of the line, its line end not included.
func lineEnd(src []byte, at int) int {
	i := bytes.IndexByte(src[at:], '\n')
	if i < 0 {
		return len(src)
	}
	end := at + i
	if end > at && src[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine is the first byte of the line after the one that ends at end.
func nextLine(src []byte, end int) int {
	if end < len(src) && src[end] == '\r' {
		end++
	}
	return min(end+1, len(src))
}

// firstLine is the start of the first line after the one that ends at eol that is not blank.
func firstLine(src []byte, eol int) int {
	for at := nextLine(src, eol); at < len(src); {
		end := lineEnd(src, at)
		if len(bytes.TrimSpace(src[at:end])) > 0 {
			return at
		}
		at = nextLine(src, end)
	}
	return eol
}

// indentAt is the blank start of the line of a place; what is before a form feed does
// not count.
func indentAt(src []byte, at int) string {
	line := src[lineStart(src, at):at]
	blank := line[:len(line)-len(bytes.TrimLeft(line, " \t\f"))]
	return string(blank[bytes.LastIndexByte(blank, '\f')+1:])
}

// width is the column of an indentation, as CPython counts.
func width(indent string) int {
	w := 0
	for _, c := range indent {
		switch c {
		case '\t':
			w = w/8*8 + 8
		case '\f':
			w = 0
		default:
			w++
		}
	}
	return w
}

// tail is the end of a body whose last statement ends at a place: with the rest of the
// line, and with comments on lines of their own that are not dedented.
func tail(src []byte, at, column int) int {
	end := lineEnd(src, at)
	for end < len(src) && bytes.HasSuffix(src[at:end], []byte(`\`)) && !bytes.Contains(src[at:end], []byte("#")) {
		at = nextLine(src, end)
		end = lineEnd(src, at)
	}
	for at = nextLine(src, end); at < len(src); {
		eol := lineEnd(src, at)
		line := src[at:eol]
		text := bytes.TrimLeft(line, " \t\f\r")
		if len(text) > 0 {
			if text[0] != '#' || width(string(line[:len(line)-len(text)])) < column {
				break
			}
			end = eol
		}
		at = nextLine(src, eol)
	}
	return end
}
