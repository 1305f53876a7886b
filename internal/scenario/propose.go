package scenario

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/secrets"
)

// Proposer proposes further requests for the scenario of a group, once the rules have no more.
// It proposes requests only: what is expected of their answers comes from the recording.
type Proposer interface {
	// Propose may propose nothing. An error ends the recording.
	Propose(ctx context.Context, m Material) ([]Proposal, error)
}

// Material is what a proposal may use. Two recordings of one service give the same.
type Material struct {
	Group string
	Asked []Asked // the endpoints that may be asked
	Cases []Sent  // those of the rules, in their order
	Users []string
}

// Who a proposal may be sent as.
const (
	AsNobody = "none"
	AsFirst  = "first"
	AsSecond = "second"
	AsAdmin  = "admin" // the user that the service has from its start
)

// Asked is an endpoint that may be asked.
type Asked struct {
	routes.Route
	Status   int  // of the request by the rules; 0: it has none, or no answer
	Answered bool // with 2xx or 3xx
}

// Sent is a case of the rules.
type Sent struct {
	contract.Case // without headers
	Status        int
	Gives         []string // places of values in its answer
}

// Proposal is a request that somebody proposes. Its values are literals, or references as
// contract.Request has them.
type Proposal struct {
	ID       string
	Needs    []string
	Route    int // index of Material.Asked
	Params   map[string]any
	Query    map[string]any
	As       string
	Body     any    // nil sends none
	Encoding string // json, form or none
	Why      string
}

// Verdict is what became of a proposal.
type Verdict struct {
	Proposal
	Dropped string // why it is not in the scenario; "" where it is
}

// proposed is what was proposed for a group.
type proposed struct {
	routes  []*route
	users   []string
	all     []Proposal
	refused map[string]string // by ID: those that were not answered
}

// maxSilent is how many proposals of a group may be without an answer: each costs another start.
const maxSilent = 2

// propose asks for proposals, once for a group, and takes those that hold. They are sent before
// requests after which nobody may be known.
func (s *session) propose() {
	if s.options.Proposer == nil || s.any || !s.room() {
		return
	}
	p := s.proposals[s.group]
	if p == nil {
		p = &proposed{routes: s.offered(), users: s.users(), refused: map[string]string{}}
		if p.all, s.err = s.options.Proposer.Propose(s.ctx, s.material(p)); s.err != nil {
			return
		}
		s.proposals[s.group] = p
	}
	for _, one := range p.all {
		why := p.refused[one.ID]
		switch {
		case why != "" || s.err != nil:
		case s.final || len(p.refused) >= maxSilent:
			why = "the service was started too often for others that were not answered"
		default:
			why = s.take(one, p)
		}
		s.verdicts = append(s.verdicts, Verdict{one, why})
		if s.spoilt {
			return
		}
	}
}

// offered are the endpoints that a proposal may ask: the group's own, and those that its
// scenario asks anyway, so that it needs no other group than before.
func (s *session) offered() []*route {
	return slices.DeleteFunc(slices.Clone(s.routes), func(r *route) bool {
		if phase(r) >= phasePassword || s.killers[r.key()] {
			return true // nobody may be known after it, or nobody answers
		}
		return r.group != s.group && !slices.ContainsFunc(s.cases, func(c contract.Case) bool { return c.Endpoint.Method == r.Method && c.Endpoint.Path == r.Path })
	})
}

// maxGiven bounds the places that are told of one answer.
const maxGiven = 12

// users are those that a proposal may be sent as: who has credentials in the scenario anyway, and
// the second beside the first, which register at the same endpoint.
func (s *session) users() []string {
	out := []string{AsNobody}
	if !s.tokens[first].ok {
		return out
	}
	out = append(out, AsFirst)
	if s.auth.register != nil {
		out = append(out, AsSecond)
	}
	if s.options.Login != nil {
		out = append(out, AsAdmin)
	}
	return out
}

func (s *session) material(p *proposed) Material {
	m := Material{Group: s.group, Users: p.users}
	for _, r := range p.routes {
		a := Asked{Route: r.Route}
		if st := s.done[r.key()]; st != nil {
			a.Status, a.Answered = st.status, st.ok
		}
		m.Asked = append(m.Asked, a)
	}
	for _, c := range s.cases {
		c.Request.Headers = nil
		one := Sent{Case: c, Status: s.answers[c.ID].Status}
		v, _ := s.answers[c.ID].Parsed()
		for _, l := range leaves(v) {
			if len(one.Gives) < maxGiven {
				one.Gives = append(one.Gives, l.place())
			}
		}
		m.Cases = append(m.Cases, one)
	}
	return m
}

// take sends a proposal and keeps it, or says why it does not. One that reaches an endpoint that
// the rules did not is the happy case of that endpoint.
func (s *session) take(p Proposal, from *proposed) (dropped string) {
	if p.Route < 0 || p.Route >= len(from.routes) {
		return fmt.Sprintf("there is no endpoint %d", p.Route)
	}
	r := from.routes[p.Route]
	b, why := s.requestOf(p, r)
	if why == "" {
		why = s.sendAs(&b, p.As, from.users)
	}
	if why == "" && !s.room() {
		why = "the group has no room for it"
	}
	if why != "" {
		return why
	}
	c := contract.Case{ID: p.ID, Endpoint: r.endpoint(), Group: r.group, Kind: contract.Extra, Needs: b.needs, Request: b.request}
	a := s.send(r, c)
	switch {
	case strings.HasPrefix(a.Failed, "not sent"):
		return a.Failed
	case a.Failed != "":
		s.spoilt = true // the service may be gone: the group begins again without it
		delete(s.killers, r.key())
		from.refused[p.ID] = "there was no answer: " + a.Failed
		return from.refused[p.ID]
	case a.Status >= 500:
		return fmt.Sprintf("it answers %d", a.Status)
	case len(a.Body) > s.options.Limits.Body:
		return "its answer is too large"
	}
	if st := s.done[r.key()]; r.group == s.group && worked(a) && (st == nil || !st.ok) {
		s.reach(r, c, a, b, p.As)
		return ""
	}
	s.keep(c, a)
	if worked(a) {
		s.bury(r, c, a)
	}
	return ""
}

// reach keeps the first request of an endpoint that worked.
func (s *session) reach(r *route, c contract.Case, a contract.Answer, b built, as string) {
	c.Kind = contract.Happy
	f := form{as: actorOf(as)}
	st := &step{route: r, id: c.ID, ok: true, status: a.Status, form: f, who: s.who(f), built: b}
	s.done[r.key()] = st
	s.left = slices.DeleteFunc(s.left, func(l Left) bool { return l.What == r.key() })
	s.keep(c, a)
	s.learn(r, c, a, f.as == second)
	s.bury(r, c, a)
	s.reads(st)
	s.variants(st)
}

// judged are the verdicts of a session whose cases are frozen: of another group's endpoints, those
// stay that a case of the group needs.
func (s *session) judged(cases []contract.Case) []Verdict {
	for i, v := range s.verdicts {
		if v.Dropped == "" && !slices.ContainsFunc(cases, func(c contract.Case) bool { return c.ID == v.ID }) {
			s.verdicts[i].Dropped = "no case of the group needs it"
		}
	}
	return s.verdicts
}

func actorOf(as string) string {
	switch as {
	case AsFirst, AsAdmin:
		return first
	case AsSecond:
		return second
	}
	return nobody
}

var caseID = lazyregexp.New(`^[a-z0-9_]{3,60}$`)

// requestOf makes the request of a proposal, or says why it cannot be one.
func (s *session) requestOf(p Proposal, r *route) (b built, why string) {
	kept := func(id string) bool {
		return slices.ContainsFunc(s.cases, func(c contract.Case) bool { return c.ID == id })
	}
	switch {
	case !caseID.MatchString(p.ID):
		return b, "its ID has another form"
	case kept(p.ID):
		return b, "another case is called so"
	case p.Encoding == "form" && !isObject(p.Body):
		return b, "a form that is not an object"
	case p.Body != nil && r.Method == "GET":
		return b, "a body for GET"
	}
	b = built{request: contract.Request{Path: r.Path, Params: p.Params, Query: p.Query}}
	if p.Body != nil && p.Encoding != "none" {
		b.body, b.request.Body, b.request.Encoding = true, p.Body, p.Encoding
	}
	for _, v := range []any{p.Params, p.Query, b.request.Body} {
		if why := s.foreign(v, "", 0); why != "" {
			return b, why
		}
	}
	for _, id := range slices.Concat(p.Needs, s.needsOf(b.request)) {
		if !kept(id) {
			return b, "there is no case " + id + " before it"
		}
		b.need(id)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		if !slices.Contains(r.params, name) {
			return b, "the path has no parameter " + name
		}
	}
	return b, ""
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// sendAs adds the credentials of who sends a proposal.
func (s *session) sendAs(b *built, as string, users []string) (why string) {
	if !slices.Contains(users, as) {
		return "nobody of the scenario is the user " + as
	}
	who := actorOf(as)
	if who == nobody {
		return ""
	}
	t := s.login(who)
	if !t.ok {
		return "there are no credentials of the user " + as
	}
	b.request.Headers = t.headers(s.auth, s.actor(who), false)
	b.need(t.from)
	return ""
}

// foreign says what a value has that no proposal may have: credentials or a host of its own, or a
// reference to nothing.
func (s *session) foreign(v any, key string, depth int) string {
	if depth > maxNested {
		return "it is too deep"
	}
	if ref, form, ok := contract.AsRef(v); ok {
		return s.nowhere(ref, form)
	}
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if k == contract.RefKey || k == contract.FormKey {
				return "a reference in another form"
			}
			if why := s.foreign(t[k], k, depth+1); why != "" {
				return why
			}
		}
	case []any:
		for _, e := range t {
			if why := s.foreign(e, key, depth+1); why != "" {
				return why
			}
		}
	case nil, bool:
	default:
		text := contract.Text(t)
		switch {
		case tokenKey.MatchString(plain(key)), len(secrets.ScanSpecific(text)) > 0:
			return "it has credentials of its own: " + key
		case !reserved(text):
			return "it names a host: " + key
		}
	}
	return ""
}

// nowhere says why a reference has no value.
func (s *session) nowhere(ref, form string) string {
	if form != "" {
		return "a reference in another form"
	}
	id, place, _ := contract.SplitRef(ref)
	a, sent := s.answers[id]
	if !sent {
		return "there is no case " + id + " before it"
	}
	v, ok := a.At(place)
	if !ok || nested(v) {
		return "the answer of " + id + " has no value " + place
	}
	return ""
}

// reserved reports whether a text names no host but those that are nobody's (RFC 2606).
func reserved(text string) bool {
	if !strings.Contains(text, "//") {
		return true
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return host == "." || slices.ContainsFunc([]string{".example.com", ".example.org", ".example.net", ".example", ".test", ".invalid"}, func(end string) bool { return strings.HasSuffix(host, end) })
}
