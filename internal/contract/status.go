package contract

// StatusOnly reports whether a judged case says no more than a status: its body is not judged,
// or only by its type, or it is an empty one. A stub passes it easily.
func (c Case) StatusOnly() bool {
	e := c.Expect
	return e != nil && e.Location == nil && (e.Body == nil || e.Body.empty())
}

// empty reports whether a matcher names no value at all: {}, [], "", null, or a type.
func (m *Matcher) empty() bool {
	if m.Equal == nil {
		return m.Type != ""
	}
	switch v := (*m.Equal).(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
