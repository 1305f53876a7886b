package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kinds of JSON values, as Matcher.Type names them.
const (
	kindString  = "string"
	kindInteger = "integer" // a number without fraction and exponent
	kindNumber  = "number"
	kindBoolean = "boolean"
	kindArray   = "array"
	kindObject  = "object"
	kindNull    = "null"
)

// BodyValue is what a body says: its JSON value where the whole of it is JSON, whatever its media
// type, and else its text. An empty body is an empty text. Numbers are json.Number.
func BodyValue(b []byte) any {
	if utf8.Valid(b) {
		if v, err := decode(b); err == nil {
			return v
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the value")
	}
	return v, nil
}

// Plain gives a value in the types of decoded JSON: nil, bool, string, json.Number, []any and
// map[string]any.
func Plain(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number:
		return v, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decode(b)
}

// kindOf is the JSON type of a plain value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case string:
		return kindString
	case json.Number:
		if whole(v) {
			return kindInteger
		}
		return kindNumber
	case []any:
		return kindArray
	}
	return kindObject
}

func whole(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// same reports whether two plain values are equal. Numbers are equal by value: 1 and 1.0 are.
func same(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && sameNumber(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			other, ok := y[k]
			if !ok || !same(x[k], other) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case json.Number, []any, map[string]any:
		return false
	}
	return a == b
}

// sameNumber compares as Python does: whole numbers exactly, others as 64-bit floats.
func sameNumber(a, b json.Number) bool {
	x, y := exact(a), exact(b)
	if x == nil || y == nil {
		return a == b
	}
	return x.Cmp(y) == 0
}

// maxDigits is the longest whole number that is compared by its value.
const maxDigits = 1000

func exact(n json.Number) *big.Rat {
	if whole(n) {
		if len(n) > maxDigits {
			return nil
		}
		i, ok := new(big.Int).SetString(string(n), 10)
		if !ok {
			return nil
		}
		return new(big.Rat).SetInt(i)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil
	}
	return new(big.Rat).SetFloat64(f)
}

// brief is a value in a message.
func brief(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return kindOf(v)
	}
	const most = 200
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}
