package ruby

import (
	"bytes"
	"iter"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// body finds what is replaced of one method.
type body struct {
	node    syntax.Node
	source  []byte
	message string
}

// replacement gives the bytes and the text for them; false where a heredoc lies so that
// no one range holds the body and nothing else.
func (b body) replacement() (mask.Range, string, bool) {
	at, endless := b.plain()
	statement := "raise NotImplementedError, " + b.message
	if endless {
		statement = "raise(NotImplementedError, " + b.message + ")"
	}
	if at.Len() == 0 {
		return at, statement, true
	}
	if bytes.HasPrefix(b.source[at.Start:], []byte("=begin")) { // always at the margin
		statement = b.margin() + "  " + statement
	}
	begun, bodies := b.heredocs(at)
	// What was begun before the body (a default value, an argument beside a def) may
	// have its text at the head of it.
	for len(bodies) > begun {
		if rest := b.source[at.Start:max(at.Start, bodies[0].Start)]; len(bytes.TrimLeft(rest, blank)) > 0 {
			return at, statement, false
		}
		at, bodies = b.trimmed(mask.Range{Start: bodies[0].End, End: at.End}), bodies[1:]
	}
	if begun > len(bodies) {
		return b.stretched(at, statement, begun-len(bodies))
	}
	return at, statement, true
}

// blank is white space, and the semicolon, which is as good as a line's end.
const blank = " \t\r\n\f\v;"

// plain is the body with no regard for heredocs: what stands between the signature and
// the end, or the one expression.
func (b body) plain() (at mask.Range, endless bool) {
	var end syntax.Node
	start := b.node.Start()
	for c := range b.node.Children() {
		switch {
		case c.Field() == "name", c.Field() == "parameters", c.Field() == "object":
			start = c.End()
		case c.Is("end") && !c.Named():
			end = c
		}
	}
	if !end.Is() {
		of := b.node.Child("body")
		if !of.Is() {
			return mask.Range{Start: b.node.End(), End: b.node.End()}, true
		}
		return mask.Range{Start: of.Start(), End: of.End()}, true
	}
	at = mask.Range{Start: start, End: max(start, end.Start())}
	// A comment behind the signature belongs to it: # :nodoc:, # rubocop:disable …
	head, _, more := bytes.Cut(b.source[at.Start:at.End], []byte("\n"))
	if more && bytes.HasPrefix(bytes.TrimLeft(head, blank), []byte("#")) {
		at.Start += len(head)
	}
	return b.trimmed(at), false
}

// trimmed leaves out the blanks at both ends.
func (b body) trimmed(at mask.Range) mask.Range {
	at.End = max(at.Start, at.End) // a heredoc without an end reaches further than it may
	text := b.source[at.Start:at.End]
	inner := bytes.TrimLeft(text, blank)
	at.Start += len(text) - len(inner)
	at.End = at.Start + len(bytes.TrimRight(inner, blank))
	return at
}

// margin is what stands before the line of the method.
func (b body) margin() string {
	line := b.source[bytes.LastIndexByte(b.source[:b.node.Start()], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// heredocs counts those begun in a range, and gives the texts that lie in it.
func (b body) heredocs(at mask.Range) (begun int, bodies []mask.Range) {
	for n := range b.node.Within() {
		if n.Start() >= at.End || n.End() <= at.Start {
			continue
		}
		switch n.Kind() {
		case "heredoc_beginning":
			begun++
		case "heredoc_body":
			bodies = append(bodies, mask.Range{Start: n.Start(), End: n.End()})
		}
	}
	return begun, bodies
}

// closing is all that may stand between a body and the heredocs of its last line.
var closing = lazyregexp.New(`^[ \t\r\n;]*(end)?[ \t\r\n;]*$`)

// stretched reaches to the texts of heredocs that lie behind the method: they go with
// it, what stands between stays.
func (b body) stretched(at mask.Range, statement string, missing int) (mask.Range, string, bool) {
	last, between := at.End, ""
	for n := range b.after() {
		if missing == 0 {
			break
		}
		if !n.Is("heredoc_body") {
			if n.Named() && !n.Is("comment") {
				return at, statement, false
			}
			continue
		}
		gap := string(b.source[last:n.Start()])
		if !closing.MatchString(gap) {
			return at, statement, false
		}
		between += strings.TrimRight(gap, "\r\n")
		last, missing = n.End(), missing-1
	}
	return mask.Range{Start: at.Start, End: last}, statement + between, missing == 0
}

// after are the nodes behind the method, those beside it first.
func (b body) after() iter.Seq[syntax.Node] {
	return func(yield func(syntax.Node) bool) {
		for up := b.node.Parent(); up.Is(); up = up.Parent() {
			for c := range up.Children() {
				if c.Start() >= b.node.End() && !yield(c) {
					return
				}
			}
		}
	}
}
