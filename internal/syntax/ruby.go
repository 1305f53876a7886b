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

// longHeredoc finds what may be the beginning of a heredoc with such a name; a shift by
// a long text looks the same.
func longHeredoc(source []byte) bool {
	sum := 0
	for {
		i := bytes.Index(source, []byte("<<"))
		if i < 0 {
			return false
		}
		if bytes.IndexByte(source[:i], '\n') >= 0 {
			sum = 0
		}
		source = source[i+2:]
		name := source
		if len(name) > 0 && (name[0] == '~' || name[0] == '-') {
			name = name[1:]
		}
		n := 0
		if len(name) > 0 && bytes.IndexByte([]byte("'\"`"), name[0]) >= 0 {
			if n = bytes.IndexByte(name[1:], name[0]); n < 0 {
				n = len(name) - 1
			}
		} else {
			for n < len(name) && (name[n] == '_' || name[n] >= 0x80 || '0' <= name[n] && name[n] <= '9' || 'a' <= name[n]|0x20 && name[n]|0x20 <= 'z') {
				n++
			}
		}
		if n == 0 {
			continue
		}
		const other = 4 // bytes beside the name
		if sum += n + other; n > maxHeredoc || sum > maxHeredocs {
			return true
		}
	}
}
