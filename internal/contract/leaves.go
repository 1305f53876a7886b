package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// How a leaf is matched, for the count.
const (
	byEqual = "equal"
	byRef   = "ref"
	byForm  = "form"
	byType  = "type"
)

func (m *merger) count(kind string) {
	switch kind {
	case byEqual:
		m.leaves.Equal++
	case byRef:
		m.leaves.Ref++
	case byForm:
		m.leaves.Form++
	case byType:
		m.leaves.Type++
	}
}

// leaf matches values that are neither objects nor lists, one of each replay. key is their name
// in the object that holds them. nil: they have nothing in common.
func (m *merger) leaf(all []any, key string) (*Matcher, string) {
	first := all[0]
	equal, volatile := true, false
	for _, v := range all {
		equal = equal && same(first, v)
		volatile = volatile || m.volatile(v, key)
	}
	if equal && !volatile {
		return equalTo(first), byEqual
	}
	if ref := m.ref(all, key); ref != "" {
		return &Matcher{Ref: ref}, byRef
	}
	if form := commonForm(all); form != "" {
		return &Matcher{Form: form}, byForm
	}
	if kind := commonKind(all); kind != "" {
		return &Matcher{Type: kind}, byType
	}
	return nil, ""
}

// equalTo is the matcher of one value. null is a type: JSON cannot tell it from a matcher that
// is left out.
func equalTo(v any) *Matcher {
	if v == nil {
		return &Matcher{Type: kindNull}
	}
	return &Matcher{Equal: &v}
}

// commonForm is the form that all texts have, "" where there is none.
func commonForm(all []any) string {
	for _, name := range []string{formUUID, formTime, formJWT, formInteger} {
		fits := true
		for _, v := range all {
			text, ok := v.(string)
			fits = fits && ok && forms[name].MatchString(text)
		}
		if fits {
			return name
		}
	}
	return ""
}

// commonKind is the type that all values have, "" where they differ. An integer is a number.
func commonKind(all []any) string {
	kind := kindOf(all[0])
	for _, v := range all[1:] {
		other := kindOf(v)
		switch {
		case kind == other:
		case (kind == kindInteger || kind == kindNumber) && (other == kindInteger || other == kindNumber):
			kind = kindNumber
		default:
			return ""
		}
	}
	return kind
}

var (
	// dateInside is a date within a longer text.
	dateInside = lazyregexp.New(`(?:^|[^0-9])(?:19[7-9][0-9]|20[0-9]{2})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:$|[^0-9])`)
	uuidInside = lazyregexp.New(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	epochYears = lazyregexp.New(`^(?:0000|0001|1970)-`)
	tokenName  = lazyregexp.New(`(?i)(?:^|[_-]|[a-z])(?:token|jwt|csrf|nonce|session|session_?id|secret|api_?key|otp|salt)$`)
	tokenLike  = lazyregexp.New(`^[A-Za-z0-9+/=._~-]{16,}$`)
	timeName   = lazyregexp.New(`(?i)(?:^exp$|^iat$|^nbf$|time|date|_at$|[a-z]At$|^at$|created|updated|modified|expires)`)
)

// volatile reports whether a value would be another one in a later run, whatever the replays say:
// two of them can agree on a time by chance. What a request was written with is not volatile:
// the service gives it back.
func (m *merger) volatile(v any, key string) bool {
	switch v := v.(type) {
	case json.Number:
		return timeName.MatchString(key) && epoch(v)
	case string:
		if m.literals[v] || epochYears.MatchString(v) || nilUUID(v) {
			return false
		}
		switch {
		case forms[formTime].MatchString(v), forms[formJWT].MatchString(v), tokenName.MatchString(key) && tokenLike.MatchString(v):
			return true
		case uuidInside.MatchString(v), dateInside.MatchString(v):
			return !m.quoted(v)
		}
	}
	return false
}

// quoted reports whether the date or UUID within a text is one that a request was written with.
func (m *merger) quoted(v string) bool {
	for _, at := range append(uuidInside.FindAllStringIndex(v, -1), dateInside.FindAllStringIndex(v, -1)...) {
		part := strings.TrimFunc(v[at[0]:at[1]], func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
		found := false
		for literal := range m.literals {
			found = found || strings.Contains(literal, part)
		}
		if !found {
			return false
		}
	}
	return true
}

func nilUUID(v string) bool { return strings.Trim(v, "0-") == "" }

// epoch reports whether a number can be a time in seconds or milliseconds since 1970: of the
// years 2001 to 2096.
func epoch(n json.Number) bool {
	f, err := strconv.ParseFloat(string(n), 64)
	return err == nil && (f >= 1e9 && f < 4e9 || f >= 1e12 && f < 4e12)
}

// source is a place that has a value.
type source struct {
	ref string // CASE:PLACE
	id  string
	key string // last step of the place
}

// Bounds of the search for references.
const (
	maxSources    = 64      // of one value
	maxIndex      = 1 << 16 // values
	specificText  = 4       // characters of a text that does not occur by chance
	specificInt   = 1000
	fineFractions = 4 // digits of a second that tell two times apart
)

var fraction = lazyregexp.New(`[.,]([0-9]+)`)

// specific reports whether a value names something, so that it is in two places for a reason.
func specific(v any) bool {
	switch v := v.(type) {
	case string:
		if forms[formJWT].MatchString(v) {
			return false // two of one second are equal
		}
		if forms[formTime].MatchString(v) {
			digits := fraction.FindStringSubmatch(v)
			return digits != nil && len(strings.TrimRight(digits[1], "0")) >= fineFractions
		}
		return len([]rune(v)) >= specificText
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		return err == nil && !epoch(v) && (f >= specificInt || f <= -specificInt || !whole(v))
	}
	return false
}

// ref is a place that has the values in every replay, "" where there is none. The request of the
// case comes first, then what it needs, then other cases; a case that is taken is needed.
func (m *merger) ref(all []any, key string) string {
	for _, v := range all {
		if !specific(v) {
			return ""
		}
	}
	found := slices.Clone(m.index[valueKey(all[0])])
	needed := m.closure()
	rank := func(s source) int {
		r := 4
		switch {
		case s.id == m.current.ID:
			r = 0
		case needed[s.id]:
			r = 2
		}
		if s.key != key {
			r++
		}
		return r
	}
	slices.SortStableFunc(found, func(a, b source) int { return rank(a) - rank(b) })
	for _, s := range found {
		if !m.holds(s.ref, all) {
			continue
		}
		if s.id != m.current.ID && !needed[s.id] {
			m.current.Needs = append(m.current.Needs, s.id)
			slices.SortFunc(m.current.Needs, func(a, b string) int { return m.order[a] - m.order[b] })
		}
		return s.ref
	}
	return ""
}

func (m *merger) holds(ref string, all []any) bool {
	for i, r := range m.replays {
		if v, ok := r.at(ref); !ok || !same(v, all[i]) {
			return false
		}
	}
	return true
}

// closure are the cases that the current one needs, directly or not.
func (m *merger) closure() map[string]bool {
	out := map[string]bool{}
	todo := slices.Clone(m.current.Needs)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !out[id] {
			out[id] = true
			todo = append(todo, m.needs[id]...)
		}
	}
	return out
}

func valueKey(v any) string {
	switch v := v.(type) {
	case string:
		return "s" + v
	case json.Number:
		if r := exact(v); r != nil {
			return "n" + r.String()
		}
		return "n" + string(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// learnRequest notes what the current request was written with, and its values as places.
func (m *merger) learnRequest() {
	q := m.current.Request
	for _, part := range []any{q.Params, q.Query, q.Body} {
		if plain, err := Plain(part); err == nil {
			m.learnLiterals(plain, 0)
		}
	}
	if v, ok := m.replays[0].request(m.current.ID); ok {
		object, _ := v.(map[string]any)
		for _, part := range []string{"params", "query", "body"} {
			m.learn(object[part], "request/"+part, "", 0)
		}
	}
}

func (m *merger) learnLiterals(v any, depth int) {
	if _, _, is := AsRef(v); is || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case string:
		m.literals[v] = true
	case []any:
		for _, e := range v {
			m.learnLiterals(e, depth+1)
		}
	case map[string]any:
		for _, e := range v {
			m.learnLiterals(e, depth+1)
		}
	}
}

func (m *merger) learnAnswer() {
	id := m.current.ID
	if v, ok := m.replays[0].at(id + ":body"); ok && m.answers[0].Status < 400 {
		m.learn(v, "body", "", 0)
	}
}

// learn notes the values below a place of the current case.
func (m *merger) learn(v any, place, key string, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			m.learn(v[k], Place(place, k), k, depth+1)
		}
	case []any:
		for i, e := range v {
			m.learn(e, Place(place, strconv.Itoa(i)), key, depth+1)
		}
	default:
		k := valueKey(v)
		if !specific(v) || len(m.index[k]) >= maxSources || len(m.index) >= maxIndex {
			return
		}
		m.index[k] = append(m.index[k], source{ref: m.current.ID + ":" + place, id: m.current.ID, key: key})
	}
}
