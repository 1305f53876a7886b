package contract

import "strings"

// Answers looks up references among the exchanges of one run. Besides the places of Answer.At it
// knows those of requests: request/params, request/query, request/headers and request/body, with
// every reference in them resolved.
func Answers(cases []Case, answered func(id string) (Answer, bool)) Lookup {
	l := newLookup(cases, answered)
	return func(ref string) (any, error) {
		if v, ok := l.at(ref); ok {
			return v, nil
		}
		id, place, _ := SplitRef(ref)
		if _, ok := answered(id); !ok {
			return nil, &RefError{ref, id + " has no answer"}
		}
		return nil, &RefError{ref, "the answer of " + id + " has no " + place}
	}
}

// lookup keeps what it decoded.
type lookup struct {
	cases    map[string]*Case
	answered func(id string) (Answer, bool)
	bodies   map[string]any
	sent     map[string]any
}

func newLookup(cases []Case, answered func(id string) (Answer, bool)) *lookup {
	l := &lookup{cases: map[string]*Case{}, answered: answered, bodies: map[string]any{}, sent: map[string]any{}}
	for i := range cases {
		l.cases[cases[i].ID] = &cases[i]
	}
	return l
}

func (l *lookup) at(ref string) (any, bool) {
	id, place, _ := SplitRef(ref)
	root, rest, _ := strings.Cut(place, "/")
	if root == "request" {
		v, ok := l.request(id)
		if !ok {
			return nil, false
		}
		return member(v, rest)
	}
	a, ok := l.answered(id)
	if !ok || root != "body" {
		v, ok2 := a.At(place)
		return v, ok && ok2
	}
	v, known := l.bodies[id]
	if !known {
		if v, ok = a.Parsed(); !ok {
			return nil, false
		}
		l.bodies[id] = v
	}
	return member(v, rest)
}

// request is what a case sent, as an object.
func (l *lookup) request(id string) (any, bool) {
	if v, ok := l.sent[id]; ok {
		return v, true
	}
	c := l.cases[id]
	if c == nil {
		return nil, false
	}
	v, err := sent(c.Request, l.answered)
	if err != nil {
		return nil, false
	}
	l.sent[id] = v
	return v, true
}

// sent is a request with every reference resolved, in plain values.
func sent(q Request, answered func(id string) (Answer, bool)) (any, error) {
	r := resolver{answered: answered}
	object := func(m map[string]any) any {
		if m == nil {
			return map[string]any{}
		}
		return r.value(m, 0)
	}
	v := map[string]any{"params": object(q.Params), "query": object(q.Query), "headers": object(q.Headers), "body": r.value(q.Body, 0)}
	if r.err != nil {
		return nil, r.err
	}
	return Plain(v)
}
