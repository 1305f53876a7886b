package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchmint/benchmint/schemas"
)

// maxDepth bounds how deep a value of a request or an answer is followed.
const maxDepth = 64

// Parsed is the JSON of an answer, with numbers as json.Number; ok is false where the body
// is not one JSON value.
func (a Answer) Parsed() (v any, ok bool) {
	if !utf8.Valid(a.Body) {
		return nil, false
	}
	v, err := decode(a.Body)
	return v, err == nil
}

// At is the value at a place of an answer:
//
//	body/article/slug     a member of the JSON body; body/0/id has an index; in a key "~1" is a "/" and "~0" a "~"
//	header/Location       a header
//	header/Location/last  the last segment of the path that is in a header
//	cookie/session        the value of a cookie that the answer sets
func (a Answer) At(place string) (any, bool) {
	kind, rest, _ := strings.Cut(place, "/")
	switch kind {
	case "body":
		v, ok := a.Parsed()
		if !ok {
			return nil, false
		}
		return member(v, rest)
	case "header":
		name, part, _ := strings.Cut(rest, "/")
		v, ok := a.Headers[strings.ToLower(name)]
		if !ok || part != "last" {
			return v, ok
		}
		return lastSegment(v)
	case "cookie":
		return cookie(a.Headers["set-cookie"], rest)
	}
	return nil, false
}

func member(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	parts := strings.Split(path, "/")
	if len(parts) > maxDepth {
		return nil, false
	}
	for _, p := range parts {
		switch t := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = t[unescapeStep.Replace(p)]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.ParseUint(p, 10, 31)
			if err != nil || int(i) >= len(t) || strconv.FormatUint(i, 10) != p {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

var (
	unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")
	escapeStep   = strings.NewReplacer("~", "~0", "/", "~1")
)

// Place is a place as references write it: Place("body", "a/b", "0") is body/a~1b/0.
func Place(root string, steps ...string) string {
	for _, s := range steps {
		root += "/" + escapeStep.Replace(s)
	}
	return root
}

func lastSegment(location string) (any, bool) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	last := parts[len(parts)-1]
	return last, last != ""
}

// cookie finds a cookie by its name in the Set-Cookie headers of an answer, one a line.
func cookie(header, name string) (any, bool) {
	for line := range strings.SplitSeq(header, "\n") {
		pair, _, _ := strings.Cut(line, ";")
		if n, v, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && n == name {
			return v, true
		}
	}
	return nil, false
}

// RefError is a reference that has no value.
type RefError struct {
	Ref string // CASE:PLACE
	Why string
}

func (e *RefError) Error() string { return e.Why }

// RequestError is a request that cannot be sent as it stands.
type RequestError struct{ Why string }

func (e *RequestError) Error() string { return e.Why }

// Resolve fills the references of a case with values of earlier answers. A *RefError says which
// value is not there: the case cannot be sent then. A *RequestError is of a request that nobody
// could send.
//
// A request without an Accept header asks for application/json, and one with a body says its
// content type.
func Resolve(c Case, answered func(id string) (Answer, bool)) (Wire, error) {
	r := resolver{answered: answered}
	w := Wire{Method: c.Endpoint.Method, Headers: map[string]string{"Accept": "application/json"}}
	if c.Kind == Mail {
		w.Port = schemas.MailPort
	}
	w.Target = r.path(c.Request)
	if len(c.Request.Query) > 0 {
		w.Target += "?" + r.values(c.Request.Query).Encode()
	}
	switch c.Request.Encoding {
	case "":
	case "json":
		w.Headers["Content-Type"] = "application/json"
		w.Body = r.json(c.Request.Body)
	case "form":
		w.Headers["Content-Type"] = "application/x-www-form-urlencoded"
		if m, ok := c.Request.Body.(map[string]any); ok {
			w.Body = []byte(r.values(m).Encode())
		}
	case "raw":
		w.Body = []byte(r.text(c.Request.Body))
	default:
		r.fail(&RequestError{fmt.Sprintf("the encoding %q is not json, form or raw", c.Request.Encoding)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Request.Headers)) {
		for have := range w.Headers {
			if strings.EqualFold(have, name) {
				delete(w.Headers, have)
			}
		}
		w.Headers[name] = strings.NewReplacer("\r", "", "\n", "").Replace(r.text(c.Request.Headers[name]))
	}
	return w, r.err
}

// path is the path of a request with its parameters, each in one segment.
func (r *resolver) path(q Request) string {
	var b strings.Builder
	rest := q.Path
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, tail, closed := strings.Cut(after, "}")
		value, given := q.Params[name]
		if !closed || !given {
			r.fail(&RequestError{fmt.Sprintf("the path %s has a parameter without a value", q.Path)})
			return ""
		}
		text := r.text(value)
		if r.err == nil && (text == "" || text == "." || text == "..") {
			r.fail(&RequestError{fmt.Sprintf("the parameter %s is %q, which would be another path", name, text)})
		}
		b.WriteString(escape(text))
		rest = tail
	}
}

// escape writes all but the unreserved characters of RFC 3986 as percent and two digits.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

type resolver struct {
	answered func(id string) (Answer, bool)
	err      error
}

// SplitRef cuts a reference into the ID of its case and the place in it.
func SplitRef(ref string) (id, place string, ok bool) { return strings.Cut(ref, ":") }

// AsRef reports whether a value of a request is a reference, and what it says.
func AsRef(v any) (ref, form string, ok bool) {
	m, isMap := v.(map[string]any)
	if !isMap || len(m) == 0 || len(m) > 2 {
		return "", "", false
	}
	if ref, ok = m[RefKey].(string); !ok {
		return "", "", false
	}
	if form, isMap = m[FormKey].(string); len(m) == 2 && !isMap {
		return "", "", false
	}
	return ref, form, true
}

// value is v with every reference in it replaced.
func (r *resolver) value(v any, depth int) any {
	if depth > maxDepth {
		r.fail(&RequestError{"the request is too deep"})
		return nil
	}
	if ref, form, ok := AsRef(v); ok {
		return r.reference(ref, form)
	}
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, m := range t {
			out[k] = r.value(m, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, m := range t {
			out[i] = r.value(m, depth+1)
		}
		return out
	}
	return v
}

func (r *resolver) reference(ref, form string) any {
	id, place, _ := SplitRef(ref)
	a, ok := r.answered(id)
	if !ok {
		r.fail(&RefError{ref, id + " has no answer"})
		return nil
	}
	v, ok := a.At(place)
	if !ok {
		r.fail(&RefError{ref, "the answer of " + id + " has no " + place})
		return nil
	}
	if form != "" {
		return strings.Replace(form, "%s", Text(v), 1)
	}
	return v
}

func (r *resolver) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *resolver) text(v any) string { return Text(r.value(v, 0)) }

func (r *resolver) values(m map[string]any) url.Values {
	out := url.Values{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v := r.value(m[k], 0)
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, e := range list {
			out.Add(k, Text(e))
		}
	}
	return out
}

func (r *resolver) json(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.value(v, 0)); err != nil {
		r.fail(&RequestError{err.Error()})
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Text is a value as it stands in a path, a query, a form or a header.
func Text(v any) string {
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		return t
	case json.Number:
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	case float64:
		return strconv.FormatFloat(t, 'f', -1, 64)
	case int:
		return strconv.Itoa(t)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
