package javascript

import (
	"bytes"

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
