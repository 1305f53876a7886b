package javascript

import (
	"bytes"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// expects is a comment by which the compiler wants an error in the line of code behind it, and complains where it finds none: its last
// line. Behind the other word it does not look.
var expects = lazyregexp.New(`(?:^//+|^/\*+|\n[ \t]*\**)[ \t]*@ts-(expect-error)[^\n]*$`)

// expected is a place where an error is wanted.
type expected struct {
	word mask.Range // the last part of the comment's word
	line mask.Range // the line of code that it is about
}

// expecting notes such a comment, and what it is about.
func (r *reader) expecting(comment syntax.Node) {
	all := expects.FindStringSubmatchIndex(comment.Text())
	if all == nil {
		return
	}
	word := mask.Range{Start: comment.Start() + all[2], End: comment.Start() + all[3]}
	at := comment.End()
	for line := range bytes.Lines(r.source[at:]) {
		if text := bytes.TrimSpace(line); at > comment.End() && len(text) > 0 && !bytes.HasPrefix(text, []byte("//")) {
			r.expected = append(r.expected, expected{word, mask.Range{Start: at, End: at + len(line)}})
			return
		}
		at += len(line)
	}
}

// unexpect gives the edits after which nobody wants an error where the code that had it may be gone. What lies in a masked body is gone
// itself.
func unexpect(all []expected, functions []mask.Function) func(masked func(int) bool) []mask.Edit {
	bodies := make([]mask.Range, len(functions))
	for i, f := range functions {
		bodies[i] = f.Body
	}
	return func(masked func(int) bool) []mask.Edit {
		var edits []mask.Edit
		for _, e := range all {
			gone, inside := false, false
			for i, b := range bodies {
				if b.Len() > 0 && masked(i) {
					inside = inside || b.Holds(e.word)
					gone = gone || b.Start < e.line.End && e.line.Start < b.End
				}
			}
			if gone && !inside {
				edits = append(edits, mask.Edit{Range: e.word, Text: "ignore"})
			}
		}
		return edits
	}
}

// tested mentions the name of which a condition asks whether it is there, where a function stands behind it and uses it: of a function that
// is never missing, the compiler takes the condition for a call that was forgotten unless it is used there.
func (t types) tested(fn syntax.Node) string {
	for at := fn; ; at = at.Parent() {
		up, asks := at.Parent(), syntax.Node{}
		switch left := up.Child("left"); {
		case !up.Is(), isFunction(up), up.Is("class_body", "program"):
			return ""
		case up.Is("ternary_expression", "if_statement") && up.Child("consequence") == at:
			asks = inParentheses(up.Child("condition"))
		case up.Is("binary_expression") && up.Child("right") == at && strings.TrimSpace(string(t.source[left.End():at.Start()])) == "&&":
			asks = inParentheses(left)
		}
		if asks.Is("identifier", "member_expression") && mentions(fn.Child("body"), asks.Text()) {
			return "void " + oneLine(asks.Text()) + "; "
		}
	}
}

// mentions reports whether a name stands in code as it does elsewhere.
func mentions(code syntax.Node, name string) bool {
	for n := range code.Within() {
		if n.Is("identifier", "member_expression") && n.Text() == name {
			return true
		}
	}
	return false
}
