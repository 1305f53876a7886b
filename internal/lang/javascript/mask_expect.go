package javascript

import (
	"bytes"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
)

// expects is a comment by which the compiler wants an error in the line of code behind it,
// and complains where it finds none: its last line. Behind the other word it does not look.
var expects = lazyregexp.New(`(?:^//+|^/\*+|\n[ \t]*\**)[ \t]*@ts-(expect-error)[^\n]*$`)

// expected is a place where an error is wanted.
type expected struct {
	word mask.Range // the last part of the comment's word
	line mask.Range // the line of code that it is about
}

// expecting notes the comment, and what it is about.
func (r *reader) expecting(comment mask.Range) {
	all := expects.FindAllSubmatchIndex(r.source[comment.Start:comment.End], 1)
	if len(all) == 0 {
		return
	}
	e := expected{word: mask.Range{Start: comment.Start + all[0][2], End: comment.Start + all[0][3]}}
	for at := comment.End; at < len(r.source); {
		end := bytes.IndexByte(r.source[at:], '\n')
		if end < 0 {
			end = len(r.source) - at - 1
		}
		if text := bytes.TrimSpace(r.source[at : at+end+1]); at > comment.End && len(text) > 0 && !bytes.HasPrefix(text, []byte("//")) {
			e.line = mask.Range{Start: at, End: at + end}
			r.expected = append(r.expected, e)
			return
		}
		at += end + 1
	}
}

// unexpect gives the edits after which nobody wants an error where the code that had it may
// be gone. What lies in a masked body is gone itself.
func unexpect(expected []expected, bodies []mask.Range) func(masked func(int) bool) []mask.Edit {
	return func(masked func(int) bool) []mask.Edit {
		var edits []mask.Edit
		for _, e := range expected {
			gone, inside := false, false
			for i, b := range bodies {
				holds, meets := b.Holds(e.word), b.Start < e.line.End && e.line.Start < b.End
				if b.Len() > 0 && (holds || meets) && masked(i) {
					inside, gone = inside || holds, gone || meets
				}
			}
			if gone && !inside {
				edits = append(edits, mask.Edit{Range: e.word, Text: "ignore"})
			}
		}
		return edits
	}
}
