package contract

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Forms of texts, as Matcher.Form names them.
const (
	formUUID    = "uuid"
	formTime    = "time"
	formJWT     = "jwt"
	formInteger = "integer"
)

// forms are the expressions of the forms. test_func.py has the same.
var forms = map[string]*lazyregexp.Regexp{
	formUUID: lazyregexp.New(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`),
	formTime: lazyregexp.New(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?(?: [A-Z]{3,4})?)?` +
		`|[A-Z][a-z]{2,8}, [0-9]{1,2}[ -][A-Z][a-z]{2}[ -][0-9]{2,4} [0-9]{2}:[0-9]{2}:[0-9]{2}(?: [A-Z]{3,4}| [+-][0-9]{4})?)$`),
	formJWT:     lazyregexp.New(`^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$`),
	formInteger: lazyregexp.New(`^-?[0-9]+$`),
}

// Lookup gives the value of a Ref.
type Lookup func(ref string) (any, error)

// Match reports whether a value (of BodyValue or Plain) is what m asks for, and if not, where and
// why not. A matcher without a field matches nothing. It means the same as matches in
// test_func.py.
func Match(m *Matcher, value any, refs Lookup) (ok bool, why string) {
	why = match(m, value, refs, "")
	return why == "", why
}

// PathOf is the value that a matcher of a Location header is asked with: the path of the header,
// and for a list the segments of it.
func (m *Matcher) PathOf(location string) any {
	if m == nil || len(m.List) == 0 {
		return pathOf(location)
	}
	return segments(pathOf(location))
}

// pathOf is the path of a URL or of a relative one, as it is written.
func pathOf(location string) string {
	location, _, _ = strings.Cut(location, "#")
	location, _, _ = strings.Cut(location, "?")
	if _, rest, ok := strings.Cut(location, "://"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		location = "/" + rest
	}
	return location
}

func segments(p string) []any {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	out := make([]any, len(parts))
	for i, s := range parts {
		out[i] = s
	}
	return out
}

func match(m *Matcher, value any, refs Lookup, at string) string {
	switch {
	case m == nil:
		return mismatch(at, "no matcher is given")
	case m.Equal != nil:
		want, err := Plain(*m.Equal)
		if err != nil || !same(want, value) {
			return mismatch(at, "got %s, expected %s", brief(value), brief(want))
		}
	case m.Type != "":
		if kind := kindOf(value); kind != m.Type && (kind != kindInteger || m.Type != kindNumber) {
			return mismatch(at, "got %s, expected any %s", brief(value), m.Type)
		}
	case m.Ref != "":
		want, err := refs(m.Ref)
		if err != nil {
			return mismatch(at, "%v", err)
		}
		if !same(want, value) {
			return mismatch(at, "got %s, expected %s, which is %s", brief(value), brief(want), m.Ref)
		}
	case m.Form != "":
		text, ok := value.(string)
		if form := forms[m.Form]; !ok || form == nil || !form.MatchString(text) {
			return mismatch(at, "got %s, expected a text like a %s", brief(value), m.Form)
		}
	case m.Object != nil:
		return matchObject(m.Object, value, refs, at)
	case m.List != nil:
		return matchList(m.List, value, refs, at)
	case m.Set != nil:
		return matchSet(m.Set, value, refs, at)
	default:
		return mismatch(at, "no matcher is given")
	}
	return ""
}

func mismatch(at, format string, args ...any) string {
	if at == "" {
		at = "the whole"
	}
	return at + ": " + fmt.Sprintf(format, args...)
}

func below(at, step string) string { return strings.TrimPrefix(at+"/"+escapeStep.Replace(step), "/") }

func matchObject(want map[string]*Matcher, value any, refs Lookup, at string) string {
	got, ok := value.(map[string]any)
	if !ok {
		return mismatch(at, "got %s, expected an object", brief(value))
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[k]; !ok {
			return mismatch(at, "the key %q is missing", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if want[k] == nil {
			return mismatch(at, "the key %q is not expected", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if why := match(want[k], got[k], refs, below(at, k)); why != "" {
			return why
		}
	}
	return ""
}

func list(value any, length int, at string) ([]any, string) {
	got, ok := value.([]any)
	if !ok {
		return nil, mismatch(at, "got %s, expected a list", brief(value))
	}
	if len(got) != length {
		return nil, mismatch(at, "got %d elements, expected %d", len(got), length)
	}
	return got, ""
}

func matchList(want []*Matcher, value any, refs Lookup, at string) string {
	got, why := list(value, len(want), at)
	for i := 0; why == "" && i < len(want); i++ {
		why = match(want[i], got[i], refs, below(at, strconv.Itoa(i)))
	}
	return why
}

// matchSet gives each element a matcher of its own, by augmenting paths.
func matchSet(want []*Matcher, value any, refs Lookup, at string) string {
	got, why := list(value, len(want), at)
	if why != "" {
		return why
	}
	fits := make([][]int, len(got)) // matchers that an element fits
	for i, v := range got {
		for j, m := range want {
			if match(m, v, refs, "") == "" {
				fits[i] = append(fits[i], j)
			}
		}
	}
	taken := make([]int, len(want)) // element of a matcher
	for j := range taken {
		taken[j] = -1
	}
	var place func(i int, tried map[int]bool) bool
	place = func(i int, tried map[int]bool) bool {
		for _, j := range fits[i] {
			if tried[j] {
				continue
			}
			tried[j] = true
			if taken[j] < 0 || place(taken[j], tried) {
				taken[j] = i
				return true
			}
		}
		return false
	}
	for i := range got {
		if !place(i, map[int]bool{}) {
			return mismatch(below(at, strconv.Itoa(i)), "%s is not expected in this list", brief(got[i]))
		}
	}
	return ""
}
