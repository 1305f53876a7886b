package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
)

// restarts is how often finding the scenario of a group begins again without an endpoint that
// ends the service.
const restarts = 3

// find finds the scenario of a group on fresh instances.
func (r *recorder) find(ctx context.Context, g *Group) error {
	for n := 0; ; n++ {
		var s *session
		err := r.looked(ctx, func(c contract.Client) error {
			s = r.session(ctx, c, g.Name)
			s.final = n+1 == restarts
			s.scenario()
			return s.err
		})
		var not *contract.NotReady
		if errors.As(err, &not) {
			g.Left = append(g.Left, Left{"the group", not.Error()})
			return nil
		}
		if err != nil {
			return err
		}
		g.Sent += s.sent
		if n+1 < restarts && (s.spoilt || s.over != "" && len(r.killers) > 0 && strings.HasPrefix(s.over, "nobody")) {
			continue
		}
		g.Left = append(append(g.Left, s.left...), s.unanswered()...)
		if s.over != "" {
			g.Left = append(g.Left, Left{"the rest of the group", s.over})
		}
		g.Endpoints = r.endpoints(g.Name)
		if !slices.ContainsFunc(s.cases, func(c contract.Case) bool {
			return c.Group == g.Name && c.Kind == contract.Happy && worked(s.answers[c.ID])
		}) {
			g.Left = append(g.Left, Left{"the group", "none of its endpoints answers with 2xx or 3xx"})
			g.Proposed = s.judged(nil)
			return nil
		}
		g.Cases = s.frozen()
		g.Proposed = s.judged(g.Cases)
		return nil
	}
}

func (r *recorder) endpoints(group string) []Endpoint {
	var out []Endpoint
	for _, x := range r.routes {
		if x.group == group {
			out = append(out, Endpoint{Endpoint: x.endpoint()})
		}
	}
	return out
}

// Phases of a scenario. Within one, routes are by depth, length and name.
const (
	phaseRegister = iota
	phaseLogin
	phaseCreate
	phaseList
	phaseCreateNested
	phasePost
	phaseItem
	phaseUpdate
	phaseDuplicate // of all creates
	phaseDelete
	phasePassword
	phaseLogout
	phaseDeleteOwn
)

var (
	passwordPath = lazyregexp.New(`(?i)pass(word|wd)`)
	logoutPath   = lazyregexp.New(`(?i)log-?_?out|sign-?_?out|revoke|deactivate|disable`)
	deletePath   = lazyregexp.New(`(?i)/(delete|remove|destroy)(/|$)`)
)

// phase is when a route is sent.
func phase(r *route) int {
	switch {
	case r.Method == "DELETE" && r.own && len(r.statics) == 1+max(0, slices.IndexFunc(r.statics, ownWord.MatchString)), r.Method == "DELETE" && r.own && ownWord.MatchString(r.last()):
		return phaseDeleteOwn
	case logoutPath.MatchString(r.Path), r.Method == "DELETE" && len(r.params) == 0 && loginWord.MatchString(r.Path):
		return phaseLogout
	case isRegister(r):
		return phaseRegister
	case isLogin(r):
		return phaseLogin
	case passwordPath.MatchString(r.Path):
		return phasePassword
	case r.Method == "DELETE" || deletePath.MatchString(r.Path):
		return phaseDelete
	case r.Method == "PUT" || r.Method == "PATCH":
		return phaseUpdate
	case r.Method == "GET" && len(r.params) == 0:
		return phaseList
	case r.Method == "GET":
		return phaseItem
	case len(r.params) == 0:
		return phaseCreate
	case r.endsInParam():
		return phasePost
	}
	return phaseCreateNested
}

// ordered are the routes of a group in the order in which they are sent.
func (r *recorder) ordered(group string) []*route {
	out := slices.DeleteFunc(slices.Clone(r.routes), func(x *route) bool { return x.group != group })
	slices.SortStableFunc(out, func(a, b *route) int {
		pa, pb := phase(a), phase(b)
		if pa != pb {
			return pa - pb
		}
		depth, length := len(a.params)-len(b.params), len(a.statics)-len(b.statics)
		if pa == phaseDelete {
			depth, length = -depth, -length
		}
		if depth != 0 {
			return depth
		}
		if length != 0 {
			return length
		}
		return strings.Compare(a.key(), b.key())
	})
	return out
}

// scenario sends all routes of the group with their variants.
func (s *session) scenario() {
	all := s.ordered(s.group)
	duplicated, proposed := false, false
	for _, r := range all {
		if len(s.cases) >= s.options.Limits.Cases && s.over == "" {
			s.over = fmt.Sprintf("there are %d cases", len(s.cases))
		}
		if s.err != nil || s.over != "" {
			break
		}
		if p := phase(r); p > phaseDuplicate && !duplicated {
			duplicated = true
			s.duplicates(all)
		}
		if phase(r) >= phasePassword && !proposed {
			proposed = true
			s.propose()
		}
		if s.spoilt {
			return
		}
		if r.Method == "DELETE" {
			s.beforeDelete(r)
		}
		s.perform(r)
		st := s.done[r.key()]
		if r.Method == "DELETE" && !st.ok {
			st = s.deleteAnother(st)
		}
		if st.id == "" {
			continue
		}
		s.reads(st)
		s.filtered(st)
		s.variants(st)
	}
	if !duplicated && s.err == nil && s.over == "" {
		s.duplicates(all)
	}
	if !proposed {
		s.propose()
	}
}

// room reports whether the group may have more cases.
func (s *session) room() bool {
	return len(s.cases) < s.options.Limits.Cases && s.over == "" && s.err == nil
}

// also sends a case that follows from a happy one, and keeps it where the answer can be judged.
func (s *session) also(st *step, kind contract.Kind, suffix string, request contract.Request, needs []string) contract.Answer {
	if !s.room() {
		return contract.Answer{Failed: "not sent"}
	}
	c := contract.Case{
		ID: s.freeID(st.route.caseID() + suffix), Endpoint: st.route.endpoint(), Group: st.route.group, Kind: kind,
		Needs: slices.Clone(needs), Request: request,
	}
	a := s.send(st.route, c)
	if a.Failed == "" && a.Status < 500 && len(a.Body) <= s.options.Limits.Body {
		s.keep(c, a)
	}
	return a
}

// reads reads what a write has changed: the thing itself, the collection that it is in, or the
// thing that something was done to.
func (s *session) reads(st *step) {
	r := st.route
	if !st.ok || phase(r) >= phasePassword {
		return
	}
	suffix := "_after_" + map[string]string{"POST": "post", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]
	var paths []string
	switch {
	case r.Method == "PUT" || r.Method == "PATCH", r.Method == "DELETE":
		paths = []string{r.Path, r.parent()}
	case r.Method == "POST" && len(r.params) > 0 && !r.endsInParam():
		paths = []string{r.parent()}
	default:
		return
	}
	if !r.endsInParam() && len(r.params) > 0 {
		suffix += "_" + strings.Trim(notID.ReplaceAllString(strings.ToLower(r.last()), "_"), "_")
	}
	for _, path := range paths {
		read := s.route("GET", path)
		if read == nil || len(read.params) == 0 && r.Method == "POST" {
			continue
		}
		if before := s.done[read.key()]; before != nil && !before.ok {
			continue
		}
		now := s.again(st)
		b := s.build(read, form{as: st.form.as, query: s.known[read.key()].query}, st.who)
		for name := range b.request.Params {
			if v, ok := now.request.Params[name]; ok {
				b.request.Params[name] = v
			}
		}
		kind := contract.Happy
		if r.Method == "DELETE" && path == r.Path {
			kind = contract.Deleted
		}
		s.also(&step{route: read}, kind, suffix, b.request, append(s.needsOf(b.request), st.id))
	}
}

// maxFilters bounds the cases of one list that ask for a part of it.
const maxFilters = 4

// filtered asks a list for parts of itself, one optional parameter at a time.
func (s *session) filtered(st *step) {
	r := st.route
	if r.Method != "GET" || !st.ok || r.endsInParam() {
		return
	}
	sent := 0
	for _, q := range r.Query {
		if q.Required || q.Name == "" || sent == maxFilters || !s.room() {
			continue
		}
		v, from := s.filter(q)
		if v == nil {
			continue
		}
		request := st.built.request
		request.Query = map[string]any{}
		for k, have := range st.built.request.Query {
			request.Query[k] = have
		}
		request.Query[q.Name] = v
		needs := slices.Clone(st.built.needs)
		if from != "" {
			needs = append(needs, from)
		}
		sent++
		s.also(st, contract.Happy, "_by_"+strings.Trim(notID.ReplaceAllString(strings.ToLower(q.Name), "_"), "_"), request, needs)
	}
}

var (
	amountWord = lazyregexp.New(`^(limit|pagesize|perpage|size|take|count|first|top|max)$`)
	skipWord   = lazyregexp.New(`^(offset|skip|page|start|from|pagenumber)$`)
)

// filter is a value that a list can be asked for: an amount, or one that something in it has.
func (s *session) filter(q routes.Field) (v any, from string) {
	k := plain(q.Name)
	switch {
	case amountWord.MatchString(k), skipWord.MatchString(k):
		return json.Number("1"), ""
	case len(q.Enum) > 0 || q.Example != nil && contract.Text(q.Example) != "":
		return s.scalar(q, s.actor(first), form{}, false), ""
	case q.Type == "boolean":
		return true, ""
	case tokenKey.MatchString(k):
		return nil, ""
	}
	if all, _ := s.candidates(want{field: k, name: k, noun: k, spec: q}); len(all) > 0 {
		return all[0].expr, all[0].from
	}
	for _, k2 := range s.pool { // a list of texts that is named for many of them
		if k2.sent && singular(strings.TrimSuffix(k2.key, "list")) == singular(k) {
			return k2.expr, k2.from
		}
	}
	if who, ok := map[string]bool{"author": true, "user": true, "owner": true, "favorited": true, "by": true, "creator": true}[k]; ok && who && s.tokens[first].ok {
		return s.actor(first).user, s.registered(false)
	}
	return nil, ""
}

// again is the request of a step with the values that things have by now: an update may have
// changed the name in their path.
func (s *session) again(st *step) built {
	r := st.route
	if r.Method == "DELETE" || len(r.params) == 0 {
		return st.built
	}
	f := st.form
	now := s.build(r, f, st.who)
	out := st.built
	out.request.Params = now.request.Params
	out.needs = now.needs
	return out
}

// frozen are the cases that the group's own need, in their order.
func (s *session) frozen() []contract.Case {
	needed := map[string]bool{}
	for i, c := range slices.Backward(s.cases) {
		if c.Group != s.group && !needed[c.ID] {
			continue
		}
		for _, id := range s.needsOf(c.Request) {
			if !slices.Contains(c.Needs, id) {
				c.Needs = append(c.Needs, id)
			}
		}
		c.Needs = append(c.Needs, s.made(c, i)...)
		slices.Sort(c.Needs)
		c.Needs = slices.Compact(c.Needs)
		c.Needs = slices.DeleteFunc(c.Needs, func(id string) bool { return id == "" || id == c.ID })
		s.cases[i].Needs = c.Needs
		for _, id := range c.Needs {
			needed[id] = true
		}
	}
	var out []contract.Case
	for _, c := range s.cases {
		if c.Group == s.group || needed[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

// made are the cases before a read of a collection that put something into it.
func (s *session) made(c contract.Case, at int) []string {
	if c.Endpoint.Method != "GET" || c.Kind == contract.Mail {
		return nil
	}
	var out []string
	for _, p := range s.cases[:at] {
		if p.Endpoint.Method == "POST" && p.Kind == contract.Happy && worked(s.answers[p.ID]) && trimmed(p.Endpoint.Path) == trimmed(c.Endpoint.Path) {
			out = append(out, p.ID)
		}
	}
	return out
}

// String is for messages.
func (st *step) String() string { return fmt.Sprintf("%s %d", st.route.key(), st.status) }
