package scenario

import (
	"maps"
	"slices"

	"github.com/benchmint/benchmint/internal/contract"
)

// variants sends the same without what made it work.
func (s *session) variants(st *step) {
	if !st.ok || !s.room() {
		return
	}
	r := st.route
	now := s.again(st)
	request, needs := now.request, now.needs
	if bare, had := anonymous(request); had && !s.refused[r.key()] {
		s.also(st, contract.Anonymous, "_anonymous", bare, s.needsOf(bare))
	}
	final := phase(r) >= phasePassword // nobody may be known after it
	if request.Encoding != "" && request.Encoding != "raw" && !final {
		empty := request
		empty.Body = map[string]any{}
		s.also(st, contract.Empty, "_empty", empty, needs)
	}
	if len(r.params) > 0 && !final {
		gone := s.missing(r, request)
		s.also(st, contract.Missing, "_missing", gone, needs)
		if bad, ok := malformed(r, gone); ok {
			s.also(st, contract.Malformed, "_malformed", bad, needs)
		}
	}
	if r.Method == "PUT" || r.Method == "PATCH" {
		s.others(st, now)
	}
}

// anonymous is a request without credentials, and whether it had some.
func anonymous(q contract.Request) (contract.Request, bool) {
	had := false
	headers := map[string]any{}
	for k, v := range q.Headers {
		if slices.Contains(credentialHeaders, k) {
			had = true
			continue
		}
		headers[k] = v
	}
	if len(headers) == 0 {
		headers = nil
	}
	q.Headers = headers
	return q, had
}

// missing is a request for something that is not there.
func (s *session) missing(r *route, q contract.Request) contract.Request {
	params := map[string]any{}
	for k, v := range q.Params {
		params[k] = v
	}
	name := r.params[len(r.params)-1]
	v := params[name]
	if ref, _, ok := contract.AsRef(v); ok {
		id, place, _ := contract.SplitRef(ref)
		v, _ = s.answers[id].At(place)
	}
	params[name] = absent(v, r.wantOf(name).spec)
	q.Params = params
	return q
}

// malformed is a request whose last parameter is a word where missing has a number or a UUID, and
// whether it has one: a name or slug can be any word.
func malformed(r *route, gone contract.Request) (contract.Request, bool) {
	name := r.params[len(r.params)-1]
	params := maps.Clone(gone.Params)
	switch v := params[name]; {
	case v == absentUUID:
		params[name] = "not-a-uuid"
	case v == absentNumber:
		params[name] = "not-a-number"
	default:
		return gone, false
	}
	gone.Params = params
	return gone, true
}

// needsOf are the cases that a request refers to.
func (s *session) needsOf(q contract.Request) []string {
	var out []string
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if depth > maxNested*2 {
			return
		}
		if ref, _, ok := contract.AsRef(v); ok {
			if id, _, _ := contract.SplitRef(ref); !slices.Contains(out, id) {
				out = append(out, id)
			}
			return
		}
		switch t := v.(type) {
		case map[string]any:
			for _, e := range t {
				walk(e, depth+1)
			}
		case []any:
			for _, e := range t {
				walk(e, depth+1)
			}
		}
	}
	for _, m := range []map[string]any{q.Params, q.Query, q.Headers} {
		walk(map[string]any(m), 0)
	}
	walk(q.Body, 0)
	slices.Sort(out)
	return out
}

// others sends a change by the second identity of what the first has made.
func (s *session) others(st *step, now built) contract.Answer {
	if len(st.route.params) == 0 || st.form.as != first || s.auth.register == nil || st.form.other {
		return contract.Answer{Failed: "not sent"}
	}
	t := s.login(second)
	if !t.ok {
		return contract.Answer{Failed: "not sent"}
	}
	request, _ := anonymous(now.request)
	request.Headers = t.withHeaders(s, request.Headers)
	return s.also(st, contract.Other, "_other", request, append(s.needsOf(request), now.needs...))
}

func (t token) withHeaders(s *session, headers map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range headers {
		out[k] = v
	}
	for k, v := range t.headers(s.auth, s.actor(second), false) {
		out[k] = v
	}
	return out
}

// beforeDelete lets nobody and the second identity try to delete what the first has made.
// Where they may, nothing is left to delete for the first: that case is left out, and the
// request of the first is taken as it is. The replays show what it answers.
func (s *session) beforeDelete(r *route) {
	if !s.room() || s.done[r.key()] != nil || !r.endsInParam() {
		return
	}
	f := s.start(r)
	if f.as == nobody && s.auth.found {
		f.as = first
	}
	if f.as != first || f.other {
		return
	}
	st := &step{route: r, form: f, who: s.about(r, f)}
	st.built = s.build(r, f, st.who)
	bare, had := anonymous(st.built.request)
	if len(st.built.needs) == 0 || !had {
		return
	}
	s.refused[r.key()] = true
	for _, ask := range []func() contract.Answer{
		func() contract.Answer {
			return s.also(st, contract.Anonymous, "_anonymous", bare, append(s.needsOf(bare), st.built.needs...))
		},
		func() contract.Answer { return s.others(st, st.built) },
	} {
		n := len(s.cases)
		a := ask()
		if !worked(a) || len(s.cases) == n {
			continue
		}
		s.cases = s.cases[:len(s.cases)-1]
		c := contract.Case{ID: s.freeID(r.caseID()), Endpoint: r.endpoint(), Group: r.group, Kind: contract.Happy, Needs: st.built.needs, Request: st.built.request}
		st.id, st.ok, st.status = c.ID, true, a.Status
		s.done[r.key()] = st
		s.keep(c, a)
		s.bury(r, c, a)
		return
	}
}

// deleteAnother makes another thing and deletes that: the first may have become something that
// cannot be deleted, because others refer to it.
func (s *session) deleteAnother(st *step) *step {
	r := st.route
	if !r.endsInParam() || !s.room() || st.status != 400 && st.status != 409 && st.status != 422 && st.status < 500 {
		return st
	}
	var made *step
	for _, p := range s.providers(r, r.wantOf(r.params[len(r.params)-1])) {
		if one := s.done[p.key()]; p.Method == "POST" && one != nil && one.ok && one.id != "" {
			made = one
			break
		}
	}
	if made == nil {
		return st
	}
	again := s.again(made)
	again.request.Body = varied(again.request.Body, 0)
	c := contract.Case{
		ID: s.freeID(made.route.caseID() + "_to_delete"), Endpoint: made.route.endpoint(), Group: made.route.group, Kind: contract.Happy,
		Needs: slices.Clone(again.needs), Request: again.request,
	}
	a := s.send(made.route, c)
	if !worked(a) {
		return st
	}
	kept, left := len(s.cases), len(s.left)
	s.keep(c, a)
	pool := s.pool
	s.pool = nil
	s.learn(made.route, c, a, false)
	s.pool = append(s.pool, slices.DeleteFunc(pool, func(k known) bool { return r.wantOf(r.params[len(r.params)-1]).score(k) > 0 })...)
	delete(s.done, r.key())
	s.performAs(r, "", st.form, nil)
	next := s.done[r.key()]
	s.pool = pool
	if !next.ok {
		s.cases, s.left = s.cases[:kept], s.left[:left]
		s.done[r.key()] = st
		return st
	}
	s.left = slices.DeleteFunc(s.left, func(l Left) bool { return l.What == r.key() })
	s.cases = slices.DeleteFunc(s.cases, func(c contract.Case) bool { return st.id != "" && c.ID == st.id })
	return next
}

// varied is a body with other names in it.
func varied(v any, depth int) any {
	if _, _, isRef := contract.AsRef(v); isRef || depth > maxNested {
		return v
	}
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			out[k] = varied(e, depth+1)
			text, ok := e.(string)
			switch plain(k) {
			case "title", "name", "label", "subject":
				if ok {
					out[k] = text + " again"
				}
			case "slug", "code", "key":
				if ok {
					out[k] = text + "2"
				}
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = varied(e, depth+1)
		}
		return out
	}
	return v
}

// duplicates sends every create of the group once more.
func (s *session) duplicates(all []*route) {
	for _, r := range all {
		st := s.done[r.key()]
		if r.Method != "POST" || st == nil || !st.ok || st.id == "" || !s.room() {
			continue
		}
		if p := phase(r); p == phaseLogin || p > phaseDuplicate || st.built.request.Encoding == "" && len(r.params) > 0 && !r.creates() {
			continue
		}
		now := s.again(st)
		s.also(st, contract.Duplicate, "_duplicate", now.request, append(slices.Clone(now.needs), st.id))
	}
}

// creates reports whether a POST makes something that can be read.
func (r *route) creates() bool { return r.Method == "POST" && !r.endsInParam() && plural(r.last()) }
