package syntax

import (
	"bytes"
	"errors"
)

// ErrHeredoc is given for Ruby whose heredocs have names that its grammar's scanner
// cannot write down: it keeps their length in one byte and all that are open in 1,024,
// and ends the process where that does not come out.
var ErrHeredoc = errors.New("the name of a heredoc is too long for the parser")

// What heredocs may take: each, and all that begin in one line.
const (
	maxHeredoc  = 200
	maxHeredocs = 800
)

// heredocs gives Ruby as its scanner can take it: of the same length, and without the
// beginnings of heredocs whose quoted name goes over lines. No Ruby reads those as
// heredocs (they are the end of a text, "#<<", a comment, or a shift by a long text), and
// its scanner may. A name that is too long in one line is an error.
func heredocs(source []byte) ([]byte, error) {
	given, sum := source, 0
	for at := 0; ; {
		i := bytes.Index(source[at:], []byte("<<"))
		if i < 0 {
			return given, nil
		}
		if bytes.IndexByte(source[at:at+i], '\n') >= 0 {
			sum = 0
		}
		at += i + 2
		n, lines := heredocName(source[at:])
		switch {
		case n == 0:
			continue
		case lines:
			if &given[0] == &source[0] {
				given = bytes.Clone(source)
			}
			given[at-1] = ' '
			continue
		}
		const other = 4 // bytes beside the name
		if sum += n + other; n > maxHeredoc || sum > maxHeredocs {
			return nil, ErrHeredoc
		}
	}
}

// heredocName is the length of what may be the name of a heredoc at the head of a text,
// and whether a line ends in it.
func heredocName(text []byte) (n int, lines bool) {
	if len(text) > 0 && (text[0] == '~' || text[0] == '-') {
		text = text[1:]
	}
	if len(text) > 0 && bytes.IndexByte([]byte("'\"`"), text[0]) >= 0 {
		if n = bytes.IndexByte(text[1:], text[0]); n < 0 {
			n = len(text) - 1
		}
		return n, bytes.IndexByte(text[1:1+n], '\n') >= 0
	}
	for n < len(text) && (text[n] == '_' || text[n] >= 0x80 || '0' <= text[n] && text[n] <= '9' || 'a' <= text[n]|0x20 && text[n]|0x20 <= 'z') {
		n++
	}
	return n, false
}
