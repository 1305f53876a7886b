package predictions

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// row is a JSON object. Its values stay text: what is beside an answer may be anything.
type row map[string]json.RawMessage

// plain turns what other writers of JSON put into a text into what encoding/json reads: Python
// writes NaN and Infinity, people leave a comma before a closing bracket, and tools write control characters
// into strings. Strings stay as they are otherwise, and so do the lines.
func plain(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			n := stringEnd(text[i:])
			for _, c := range text[i : i+n] {
				if c < ' ' && c != '\n' {
					fmt.Fprintf(&out, `\u%04x`, c)
				} else {
					out.WriteByte(c)
				}
			}
			i += n
		case c == ',' && closes(text[i+1:]):
			i++
		case letter(c) || c == '-':
			n := 1
			for i+n < len(text) && letter(text[i+n]) {
				n++
			}
			if word := string(text[i : i+n]); word == "NaN" || word == "Infinity" || word == "-Infinity" {
				out.WriteString("null")
			} else {
				out.WriteString(word)
			}
			i += n
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.Bytes()
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// stringEnd is the length of the string that text begins with, up to the end of its line.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(text)
}

func closes(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == ']' || text[0] == '}')
}

func rowOf(raw json.RawMessage) (row, error) {
	var r row
	if err := json.Unmarshal(raw, &r); err != nil {
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			return nil, fmt.Errorf("a %s where an object belongs", typed.Value)
		}
		return nil, err
	}
	if r == nil {
		return nil, errors.New("null where an object belongs")
	}
	return r, nil
}

// at is the value at a path of keys; nil where there is none.
func (r row) at(path string) json.RawMessage {
	key, rest, deeper := strings.Cut(path, ".")
	raw := r[key]
	if !deeper || raw == nil {
		return raw
	}
	below, err := rowOf(raw)
	if err != nil {
		return nil
	}
	return below.at(rest)
}

// word is the first of some paths that holds a string or a number, as text.
func (r row) word(paths ...string) string {
	for _, path := range paths {
		raw := r.at(path)
		if s, _, ok := text(raw); ok && len(s) > 0 {
			return string(s)
		}
		if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return string(raw)
		}
	}
	return ""
}

// number is the first of some paths that holds a number; it may be written as a string.
func (r row) number(paths ...string) (float64, bool) {
	for _, path := range paths {
		n, err := strconv.ParseFloat(strings.Trim(string(r.at(path)), `" `), 64)
		if err == nil && n == n { // not a NaN
			return n, true
		}
	}
	return 0, false
}

// text is the bytes of a JSON string, and how many characters of it had none. encoding/json
// replaces bytes that are not UTF-8 and surrogates without their pair; Python's
// surrogateescape writes a byte that is not UTF-8 as one of U+DC80 to U+DCFF, and these are bytes again here.
func text(raw json.RawMessage) (out []byte, replaced int, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, 0, false
	}
	in := raw[1 : len(raw)-1]
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' || i+1 == len(in) {
			out = append(out, in[i])
			continue
		}
		i++
		if short := strings.IndexByte(`"\/bfnrt`, in[i]); short >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[short])
			continue
		}
		r := unit(in[i:])
		i += 4
		if second := rune(-1); utf16.IsSurrogate(r) {
			if i+2 < len(in) && in[i+1] == '\\' {
				second = unit(in[i+2:])
			}
			pair := utf16.DecodeRune(r, second)
			switch {
			case pair != utf8.RuneError:
				r = pair
				i += 6
			case r >= 0xdc80 && r <= 0xdcff:
				out = append(out, byte(r-0xdc00))
				continue
			default:
				r = utf8.RuneError
				replaced++
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out, replaced, true
}

// unit is the number of an escape, after its backslash; -1 where it is none.
func unit(in []byte) rune {
	if len(in) < 5 || in[0] != 'u' {
		return -1
	}
	var two [2]byte
	if _, err := hex.Decode(two[:], in[1:5]); err != nil {
		return -1
	}
	return rune(two[0])<<8 | rune(two[1])
}
