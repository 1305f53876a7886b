package scenario

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

// Who sends a request.
const (
	nobody = ""
	first  = "first"
	second = "second"
)

// form is how the request of an endpoint is built. Finding a request that works is changing
// its form until an answer is 2xx.
type form struct {
	as       string // nobody, first, second
	minimal  bool   // only what is required
	empty    bool   // no body at all
	guess    bool   // a body by the names of others, where none is known
	encoding string // "" is that of the route
	wrap     string // one more object around the body
	sets     []set  // what an answer asked for
	query    map[string]any
	asEmail  bool // a user name is an e-mail address
	basic    bool // credentials in the header
	fresh    int  // number of an identity that nobody has yet; 0: that of who it is about
	other    bool // what the path names is the second's
	skip     int  // candidates of the last parameter that did not work
}

// set is a member of a body that an answer asked for.
type set struct {
	path  []string
	value any
}

// built is a request with what it rests on.
type built struct {
	request contract.Request
	needs   []string
	body    bool // there is one
	choices int  // candidates of the last parameter
}

// nothing is the body of a first request: what the handler reads of it is told. It is not empty, as many handlers take an empty
// one for none.
var nothing = map[string]any{"benchmint": ""}

// bare reports whether nothing is sent in a body.
func (b built) bare() bool {
	m, ok := b.request.Body.(map[string]any)
	return !b.body || ok && (len(m) == 0 || b.first())
}

// first reports whether it is the body of a first request.
func (b built) first() bool {
	m, ok := b.request.Body.(map[string]any)
	return ok && maps.Equal(m, nothing)
}

func (b *built) need(id string) {
	if id != "" && !slices.Contains(b.needs, id) {
		b.needs = append(b.needs, id)
	}
}

// build makes the request of a route in a form. who is the identity that its body is about.
func (s *session) build(r *route, f form, who identity) built {
	b := built{request: contract.Request{Path: r.Path}}
	for i, name := range r.params {
		v, from, n := s.param(r, name, f, i == len(r.params)-1)
		if b.request.Params == nil {
			b.request.Params = map[string]any{}
		}
		b.request.Params[name] = v
		b.need(from)
		if i == len(r.params)-1 {
			b.choices = n
		}
	}
	for _, q := range r.Query {
		v, from, ok := s.posted(r, q.Name, who)
		if !ok && q.Required {
			v, ok = s.scalar(q, who, f, false), true
		}
		if ok {
			setKey(&b.request.Query, q.Name, v)
			b.need(from)
		}
	}
	for k, v := range f.query {
		setKey(&b.request.Query, k, s.settled(v, who, f))
	}
	if r.Method != "GET" && !f.empty {
		s.body(&b, r, f, who)
	}
	s.authorize(&b, f, who)
	return b
}

func setKey(m *map[string]any, k string, v any) {
	if *m == nil {
		*m = map[string]any{}
	}
	(*m)[k] = v
}

// param is the value of a path parameter, the case that it is from, and how many others there are.
func (s *session) param(r *route, name string, f form, last bool) (v any, from string, choices int) {
	if v, from, ok := s.posted(r, name, s.who(f)); ok {
		return v, from, 0
	}
	w := r.wantOf(name)
	w.second = f.other
	if f.other {
		s.login(second)
	}
	all, sure := s.candidates(w)
	if !sure {
		if s.provide(r, w) {
			all, _ = s.candidates(w)
		}
	}
	if len(all) == 0 {
		who := s.who(f)
		if f.other {
			who = s.options.identity(2)
		}
		if v, ok := identityValue(name, who, false); ok && !passWord.MatchString(w.name) {
			return v, s.registered(f.other), 0
		}
		spec := w.spec
		spec.Name = name
		if spec.Type == "" && w.field == "id" {
			spec.Type = "integer"
		}
		return sample(spec, false), "", 0
	}
	k := all[0]
	if last && f.skip > 0 {
		k = all[min(f.skip, len(all)-1)]
	}
	return k.expr, k.from, len(all)
}

// provide sends what makes a thing that is wanted, and reports whether it sent something.
func (s *session) provide(r *route, w want) bool {
	if w.second {
		return false // the second identity makes nothing but itself
	}
	if userWord.MatchString(w.name) || w.name == "email" {
		s.login(first)
		if all, sure := s.candidates(w); sure || len(all) > 0 {
			return true
		}
	}
	for _, p := range s.providers(r, w) {
		if s.perform(p) {
			if all, _ := s.candidates(w); len(all) > 0 {
				return true
			}
		}
	}
	return false
}

// providers are routes whose answer has a thing that is wanted: those that make it, then those
// that list it.
func (s *session) providers(r *route, w want) []*route {
	prefix := ""
	if i := strings.Index(r.Path, "{"); i >= 0 {
		prefix = trimmed(r.Path[:i])
	}
	for _, name := range r.params {
		if plain(name) == w.name {
			prefix = trimmed(r.Path[:strings.Index(r.Path, "{"+name+"}")])
		}
	}
	rank := func(p *route) int {
		if p == r || p.endsInParam() || len(p.statics) == 0 {
			return 0
		}
		here := trimmed(p.Path) == prefix
		names := slices.ContainsFunc(p.nouns(), func(n string) bool { return n == w.noun || n == w.nameNoun() && n != "" })
		switch {
		case p.Method == "POST" && here:
			return 6
		case p.Method == "POST" && names && noun(p.last()) == w.noun:
			return 5
		case p.Method == "POST" && names:
			return 4
		case p.Method == "GET" && here:
			return 3
		case p.Method == "GET" && names:
			return 2
		}
		return 0
	}
	out := slices.DeleteFunc(slices.Clone(s.routes), func(p *route) bool { return rank(p) == 0 })
	slices.SortStableFunc(out, func(a, b *route) int {
		if c := rank(b) - rank(a); c != 0 {
			return c
		}
		return len(a.params) - len(b.params)
	})
	return out[:min(len(out), 4)]
}

// body puts a body into a request, where one is known or guessed.
func (s *session) body(b *built, r *route, f form, who identity) {
	encoding := "json"
	var v any
	switch {
	case r.Body != nil && len(r.Body.Fields) > 0:
		if r.Body.Encoding != "" {
			encoding = r.Body.Encoding
		}
		v = s.object(b, r, r.Body.Fields, f, who, 0)
	case f.guess:
		v = s.guessed(b, r, f, who)
	case r.Method != "DELETE" && s.options.Look != nil && !r.asked:
		v = maps.Clone(nothing)
	case r.Method != "DELETE" && r.Body != nil:
		v = map[string]any{}
	}
	if f.encoding != "" {
		encoding = f.encoding
	}
	if m, ok := v.(map[string]any); ok && f.wrap != "" {
		if _, has := m[f.wrap]; !has {
			v = map[string]any{f.wrap: m}
		}
	}
	for _, one := range f.sets {
		v = put(v, one.path, s.settled(one.value, who, f), 0)
	}
	if v == nil {
		return
	}
	b.body = true
	b.request.Encoding, b.request.Body = encoding, v
}

// settled is a value of a repair for one identity. It is a copy: a request is its own.
func (s *session) settled(v any, who identity, f form) any {
	switch t := v.(type) {
	case asIdentity:
		if id, ok := identityValue(t.name, who, f.asEmail); ok {
			return id
		}
		return s.settled(t.other, who, f)
	case map[string]any:
		return maps.Clone(t)
	case []any:
		return slices.Clone(t)
	}
	return v
}

// put sets a member of an object at a path.
func put(v any, path []string, value any, depth int) any {
	if len(path) == 0 || depth > maxNested {
		return value
	}
	if list, ok := v.([]any); ok && digits.MatchString(path[0]) {
		if len(list) > 0 {
			list[0] = put(list[0], path[1:], value, depth+1)
		}
		return list
	}
	m, ok := v.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m[path[0]] = put(m[path[0]], path[1:], value, depth+1)
	return m
}

// guessed is a body for a route of which none is known: that of the route beside it, or the
// fields of a login.
func (s *session) guessed(b *built, r *route, f form, who identity) any {
	if isLogin(r) || isRegister(r) {
		m := map[string]any{"email": who.email, "password": who.password}
		if isRegister(r) || !f.asEmail {
			m["username"] = who.user
		}
		return m
	}
	for _, p := range s.routes {
		beside := trimmed(p.Path) == trimmed(r.Path) || r.endsInParam() && trimmed(p.Path) == trimmed(r.parent()) ||
			p.endsInParam() && trimmed(p.parent()) == trimmed(r.Path)
		if p != r && beside && p.Body != nil && len(p.Body.Fields) > 0 {
			return s.object(b, r, p.Body.Fields, f, who, 0)
		}
	}
	return map[string]any{}
}

// object is a body, or a member of one.
func (s *session) object(b *built, r *route, fields []routes.Field, f form, who identity, depth int) map[string]any {
	out := map[string]any{}
	if depth > maxNested {
		return out
	}
	some := slices.ContainsFunc(fields, func(x routes.Field) bool { return x.Required })
	for _, x := range fields {
		if x.Name == "" || !x.Required && !s.byMail(x.Name) && s.leaves(r, x, f, some) {
			continue
		}
		if v, ok := s.value(b, r, x, f, who, depth); ok {
			out[x.Name] = v
		}
	}
	return out
}

// leaves reports whether an optional field is left out.
func (s *session) leaves(r *route, x routes.Field, f form, some bool) bool {
	if x.Type == "file" || x.Format == "binary" {
		return true
	}
	if serverWord.MatchString(plain(x.Name)) && x.Example == nil {
		return true
	}
	if x.Type == "object" || x.Type == "array" && x.Items != nil && x.Items.Type == "object" {
		return f.minimal && some
	}
	if passWord.MatchString(plain(x.Name)) && !isLogin(r) && r.Method != "POST" && !newPassWord.MatchString(plain(x.Name)) {
		return true // a change of another thing leaves the password as it is
	}
	if f.minimal {
		return some || !wellKnown(x.Name)
	}
	return some && !wellKnown(x.Name) && x.Example == nil && len(x.Enum) == 0
}

// value is that of one field; false leaves it out.
func (s *session) value(b *built, r *route, x routes.Field, f form, who identity, depth int) (any, bool) {
	update := r.Method == "PUT" || r.Method == "PATCH"
	switch {
	case x.Type == "object":
		if len(x.Fields) == 0 && x.Example != nil {
			return s.example(x.Example, who, f, 0), true
		}
		return s.object(b, r, x.Fields, f, who, depth+1), true
	case x.Type == "array" && x.Items != nil && x.Items.Type == "object" && depth < maxNested:
		if !x.Required && x.Example == nil && len(x.Items.Fields) == 0 {
			return []any{}, true
		}
		return []any{s.object(b, r, x.Items.Fields, f, who, depth+1)}, true
	}
	for name, v := range b.request.Params {
		if plain(name) == plain(x.Name) {
			return v, true // the path names the same
		}
	}
	if v, from, ok := s.posted(r, x.Name, who); ok {
		b.need(from)
		return v, true
	}
	if v, from, ok := s.referred(r, x); ok {
		b.need(from)
		return v, true
	} else if refers(x) && !x.Required {
		return nil, false
	}
	if plain(x.Name) == "id" && !x.Required {
		return nil, false
	}
	return s.scalar(x, who, f, update), true
}

// refers reports whether a field names another thing: article_id, ownerId.
func refers(x routes.Field) bool {
	return len(x.Enum) == 0 && (strings.HasSuffix(x.Name, "_id") || strings.HasSuffix(x.Name, "Id") || strings.HasSuffix(x.Name, "ID")) && len(x.Name) > 3
}

func (s *session) referred(r *route, x routes.Field) (v any, from string, ok bool) {
	if !refers(x) {
		return nil, "", false
	}
	name := plain(x.Name)
	w := want{noun: strings.TrimSuffix(name, "id"), field: "id", name: name, spec: x}
	switch w.noun {
	case "owner", "author", "creator", "assignee", "createdby", "userid", "member":
		w.noun = "user"
	case "parent":
		w.noun = noun(r.last())
	}
	all, sure := s.candidates(w)
	if !sure && x.Required && s.provide(r, w) {
		all, _ = s.candidates(w)
	}
	if len(all) == 0 {
		return nil, "", false
	}
	return all[0].expr, all[0].from, true
}

// scalar is a value that no answer has.
func (s *session) scalar(x routes.Field, who identity, f form, update bool) any {
	if x.Type == "" || x.Type == "string" {
		if v, ok := identityValue(x.Name, who, f.asEmail); ok && len(x.Enum) == 0 {
			return v
		}
		if x.Format == "email" {
			return who.email
		}
		if x.Format == "password" {
			return who.password
		}
	}
	if x.Example != nil {
		v := s.example(x.Example, who, f, 0)
		if text, ok := v.(string); !ok || text != "" {
			return v
		}
	}
	return sample(x, update)
}

// example is a literal of the code, with the values of an identity in place of its own.
func (s *session) example(v any, who identity, f form, depth int) any {
	if depth > maxNested {
		return nil
	}
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if text, ok := t[k].(string); ok || t[k] == nil {
				if id, ok := identityValue(k, who, f.asEmail); ok {
					out[k] = id
					continue
				}
				if text == "" {
					out[k] = sample(routes.Field{Name: k}, false)
					continue
				}
			}
			out[k] = s.example(t[k], who, f, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = s.example(e, who, f, depth+1)
		}
		return out
	case []string:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = e
		}
		return out
	case string, bool, nil, json.Number:
		return v
	case int, int64, float64:
		return json.Number(strings.TrimSuffix(fmt.Sprintf("%v", v), ".0"))
	}
	return contract.Text(v)
}

// authorize adds the credentials of who sends a request.
func (s *session) authorize(b *built, f form, who identity) {
	if f.basic {
		setKey(&b.request.Headers, "Authorization", basicHeader(who, f.asEmail))
		return
	}
	if f.as == nobody {
		return
	}
	token := s.login(f.as)
	if !token.ok {
		return
	}
	for name, v := range token.headers(s.auth, s.actor(f.as), f.asEmail) {
		setKey(&b.request.Headers, name, v)
	}
	b.need(token.from)
}

func basicHeader(who identity, asEmail bool) string {
	user := who.user
	if asEmail {
		user = who.email
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+who.password))
}
