package scenario

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// Auth is how a service knows who is calling.
type Auth struct {
	Scheme   string // Bearer, Token, JWT, bare (the token alone), X-Api-Key, cookie, basic; "": no credentials are sent
	From     string // endpoint whose answer has the token
	Place    string // of the token in it, as contract.Answer.At has it
	Register string // endpoint that makes a user
	Verified bool   // an endpoint that refuses without credentials does not refuse with them
	Reason   string // why there are none, where an endpoint asks for them
}

// auth is Auth while it is found.
type auth struct {
	found    bool
	verified bool
	scheme   string
	place    string
	cookie   string
	register *route
	login    *route
	byLogin  bool // the token is in the answer of login, else in that of register
	reason   string
}

func (a auth) public() Auth {
	out := Auth{Verified: a.verified, Reason: a.reason}
	if a.register != nil {
		out.Register = a.register.key()
	}
	if !a.found {
		return out
	}
	out.Scheme, out.Place = a.scheme, a.place
	switch {
	case a.scheme == "basic":
	case a.byLogin:
		out.From = a.login.key()
	case a.register != nil:
		out.From = a.register.key()
	}
	return out
}

// token is what one identity's requests carry.
type token struct {
	ok   bool
	from string // case
}

// schemes in the order in which they are tried.
var schemes = []string{"Bearer", "Token", "JWT", "bare", "X-Api-Key"}

// headers are those that carry a token.
func (t token) headers(a auth, who identity, asEmail bool) map[string]any {
	ref := t.from + ":" + a.place
	with := func(form string) any { return map[string]any{contract.RefKey: ref, contract.FormKey: form} }
	switch a.scheme {
	case "basic":
		return map[string]any{"Authorization": basicHeader(who, asEmail)}
	case "cookie":
		return map[string]any{"Cookie": with(a.cookie + "=%s")}
	case "bare":
		return map[string]any{"Authorization": map[string]any{contract.RefKey: ref}}
	case "X-Api-Key":
		return map[string]any{"X-Api-Key": map[string]any{contract.RefKey: ref}}
	}
	return map[string]any{"Authorization": with(a.scheme + " %s")}
}

// credentialHeaders are those that an anonymous request has not.
var credentialHeaders = []string{"Authorization", "Cookie", "X-Api-Key"}

var (
	loginWord    = lazyregexp.New(`(?i)(^|[/_-])(log-?_?in|sign-?_?in|tokens?|access-?_?tokens?|auth|authenticate|authentication|sessions?|jwt)/?([?#].*)?$`)
	notLoginWord = lazyregexp.New(`(?i)refresh|log-?_?out|sign-?_?out|revoke|reset|verif|test|recover|forgot|confirm|sign-?_?up|regist`)
	registerWord = lazyregexp.New(`(?i)(^|[/_-])(sign-?_?up|register|registration|(users?|accounts?)(/(create|new|add))?)/?$`)
	signupWord   = lazyregexp.New(`(?i)sign-?_?up|regist`)
	loginName    = lazyregexp.New(`(?i)(log_?in|sign_?in|authenticate)(_?(user|access_?token|handler|for_access_token|account))*$`)
	signupName   = lazyregexp.New(`(?i)(sign_?up|register|registration)(_?(user|handler|account))*$`)
)

func isLogin(r *route) bool {
	if r.Method != "POST" || len(r.params) > 0 {
		return false
	}
	if notLoginWord.MatchString(r.Path) || notLoginWord.MatchString(r.Handler.Name) {
		return false
	}
	return loginWord.MatchString(r.Path) || loginName.MatchString(r.Handler.Name)
}

func isRegister(r *route) bool {
	if r.Method != "POST" || len(r.params) > 0 || isLogin(r) {
		return false
	}
	if signupWord.MatchString(r.Path) || signupName.MatchString(r.Handler.Name) {
		return !strings.Contains(strings.ToLower(r.Path), "confirm")
	}
	return registerWord.MatchString(r.Path) && (r.Body == nil || namesUser(r.Body.Fields, 0))
}

// namesUser reports whether a body has a password.
func namesUser(fields []routes.Field, depth int) bool {
	return depth < maxNested && slices.ContainsFunc(fields, func(f routes.Field) bool {
		k := plain(f.Name)
		return f.Type != "object" && passWord.MatchString(k) && !newPassWord.MatchString(k) || namesUser(f.Fields, depth+1)
	})
}

// byAuth orders routes that register or log in: those that say so in their path come first.
func (r *recorder) byAuth(is func(*route) bool, word *lazyregexp.Regexp) []*route {
	out := slices.DeleteFunc(slices.Clone(r.routes), func(x *route) bool { return !is(x) })
	rank := func(x *route) int {
		n := 0
		if word.MatchString(x.Path) {
			n -= 2
		}
		if x.Body != nil && namesUser(x.Body.Fields, 0) {
			n--
		}
		if x.Auth == "required" {
			n += 4
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b *route) int { return rank(a) - rank(b) })
	return out[:min(len(out), 4)]
}

// findAuth finds out how a service knows who is calling, on an instance of its own.
func (r *recorder) findAuth(ctx context.Context) error {
	return r.looked(ctx, func(c contract.Client) error {
		s := r.session(ctx, c, "")
		s.any = true
		s.discover()
		clear(r.killers) // what was asked here was asked without order
		if s.err != nil {
			return s.err
		}
		return r.probe(ctx, c)
	})
}

// probe asks Options.Probes once, as whoever waits for the service does. It comes last: one that
// ends the service is found, and ends only the probing.
func (r *recorder) probe(ctx context.Context, c contract.Client) error {
	for _, p := range r.options.Probes {
		a, err := c.Do(ctx, contract.Wire{Method: http.MethodGet, Target: p, Headers: map[string]string{"Accept": "application/json"}})
		if err != nil {
			return err
		}
		if a.Failed != "" || a.Status >= http.StatusInternalServerError {
			r.unready = append(r.unready, p)
		}
		if a.Failed != "" {
			return nil
		}
	}
	return nil
}

func (s *session) discover() {
	registers, logins := s.byAuth(isRegister, signupWord), s.byAuth(isLogin, loginWord)
	if s.options.Login == nil {
		s.registerFirst(registers)
	}
	if s.options.Mail && s.options.Login == nil && s.auth.register == nil && len(s.options.Addresses) > 0 {
		s.options.Login = &schemas.Login{User: s.options.Addresses[0]}
	}
	tried := ""
	for _, r := range logins {
		if !s.perform(r) {
			if tried == "" {
				tried = "no form of " + r.key() + " is accepted"
			}
			continue
		}
		if s.tokenOf(s.done[r.key()]) {
			s.auth.login, s.auth.byLogin = r, true
			break
		}
		tried = "the answer of " + r.key() + " has no token: perhaps it is sent by e-mail"
	}
	if !s.auth.found && s.auth.register != nil {
		s.tokenOf(s.done[s.auth.register.key()])
	}
	if s.auth.found {
		s.tokens[first] = token{ok: true, from: s.done[s.source().key()].id}
	}
	if refusing := s.verify(); refusing != "" && !s.auth.found {
		if tried == "" {
			tried = "no endpoint that gives a token is known"
		}
		s.auth.reason = refusing + " refuses who is not known; " + tried
	}
	if s.options.Login != nil && s.auth.found {
		s.registerFirst(registers)
	}
}

// registerFirst finds the endpoint that makes a user.
func (s *session) registerFirst(all []*route) {
	for _, r := range all {
		if s.perform(r) {
			s.auth.register = r
			return
		}
	}
}

func (s *session) source() *route {
	if s.auth.byLogin {
		return s.auth.login
	}
	return s.auth.register
}

var (
	tokenKey  = lazyregexp.New(`^(token|accesstoken|jwt|jwttoken|idtoken|authtoken|access|sessiontoken|apikey|apitoken|bearer|bearertoken|sessionid|authorization|usertoken)$`)
	cookieKey = lazyregexp.New(`(?i)sess|sid|token|auth|jwt|user|remember|login`)
)

// tokenOf looks for a token in the answer of a step.
func (s *session) tokenOf(st *step) bool {
	if st == nil || st.id == "" {
		return false
	}
	a := s.answers[st.id]
	v, _ := a.Parsed()
	for _, l := range leaves(v) {
		text, ok := l.value.(string)
		if ok && len(text) >= 6 && (tokenKey.MatchString(l.key) || len(l.path) == 0 && len(text) >= 16 && !strings.Contains(text, " ")) {
			s.auth.found, s.auth.place, s.auth.scheme = true, strings.TrimSuffix(l.place(), "/"), "Bearer"
			return true
		}
	}
	if h := a.Headers["authorization"]; h != "" {
		s.auth.found, s.auth.place, s.auth.scheme = true, "header/Authorization", "Bearer"
		if strings.Contains(h, " ") {
			s.auth.scheme = "bare"
		}
		return true
	}
	name := ""
	for line := range strings.SplitSeq(a.Headers["set-cookie"], "\n") {
		n, _, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.Contains(strings.ToLower(n), "csrf") && (name == "" || cookieKey.MatchString(n) && !cookieKey.MatchString(name)) {
			name = n
		}
	}
	if name == "" {
		return false
	}
	s.auth.found, s.auth.place, s.auth.cookie, s.auth.scheme = true, "cookie/"+name, name, "cookie"
	return true
}

// verify finds the scheme by which a refused request is answered. It gives an endpoint that
// refuses who is not known.
func (s *session) verify() (refusing string) {
	asked := 0
	for _, r := range s.guarded() {
		if asked++; asked > 8 || s.err != nil || s.over != "" {
			break
		}
		plain := form{query: nil}
		a := s.send(r, contract.Case{Endpoint: r.endpoint(), Request: s.build(r, plain, s.actor(first)).request})
		if a.Failed != "" || worked(a) || a.Status >= 500 || a.Status == 404 || a.Status == 405 {
			continue
		}
		if a.Status == 401 || a.Status == 403 {
			refusing = r.key()
		}
		if s.schemeFor(r, a) {
			return refusing
		}
	}
	return refusing
}

// guarded are endpoints that can be asked without changing anything, those that ask for
// credentials first.
func (s *session) guarded() []*route {
	out := slices.DeleteFunc(slices.Clone(s.routes), func(r *route) bool {
		return len(r.params) > 0 || r.Method != "GET" && !(r.Method == "POST" && r.Auth == "required") || isLogin(r) || isRegister(r) || notLoginWord.MatchString(r.Path)
	})
	rank := func(r *route) int {
		n := 0
		if r.Auth == "required" {
			n -= 4
		}
		if r.own {
			n -= 2
		}
		if r.Method == "GET" {
			n--
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b *route) int { return rank(a) - rank(b) })
	return out
}

// schemeFor tries the schemes on an endpoint that answered anonymous requests with a.
func (s *session) schemeFor(r *route, a contract.Answer) bool {
	if !s.auth.found {
		return s.basicFor(r, a)
	}
	list := schemes
	if s.auth.scheme == "cookie" || s.auth.scheme == "bare" {
		list = []string{s.auth.scheme}
	}
	otherwise := ""
	before := s.auth.scheme
	for _, scheme := range list {
		s.auth.scheme = scheme
		b := s.send(r, contract.Case{Endpoint: r.endpoint(), Request: s.build(r, form{as: first}, s.actor(first)).request})
		if worked(b) {
			s.auth.verified = true
			return true
		}
		if otherwise == "" && accepted(a, b) {
			otherwise = scheme
		}
	}
	s.auth.scheme = before
	if otherwise != "" {
		s.auth.scheme, s.auth.verified = otherwise, true
	}
	return s.auth.verified
}

// basicFor tries the credentials themselves, where no token is given.
func (s *session) basicFor(r *route, a contract.Answer) bool {
	if s.options.Login == nil && s.auth.register == nil {
		return false
	}
	b := s.send(r, contract.Case{Endpoint: r.endpoint(), Request: s.build(r, form{basic: true}, s.actor(first)).request})
	if !accepted(a, b) {
		return false
	}
	s.auth.found, s.auth.verified, s.auth.scheme = true, true, "basic"
	s.tokens[first] = token{ok: true}
	return true
}

// accepted reports whether credentials made a refusal something else. A wrong scheme is a 422
// for some (flask-jwt-extended), and a right one is a 422 where the request lacks something.
func accepted(refused, a contract.Answer) bool {
	if worked(a) {
		return true
	}
	refusal := refused.Status == 401 || refused.Status == 403
	return refusal && a.Failed == "" && a.Status < 500 && a.Status != refused.Status && a.Status != 401 && a.Status != 403
}

// nextScheme takes the next scheme, where none is verified. The last that is tried stays.
func (s *session) nextScheme(used map[string]bool) bool {
	if s.auth.scheme == "cookie" || s.auth.scheme == "basic" {
		return false
	}
	for _, scheme := range schemes {
		if name := "scheme " + scheme; !used[name] && scheme != s.auth.scheme {
			used["scheme "+s.auth.scheme], used[name] = true, true
			s.auth.scheme = scheme
			return true
		}
	}
	return false
}

// login makes sure that somebody has a token in this session.
func (s *session) login(as string) token {
	if t, ok := s.tokens[as]; ok || !s.auth.found {
		return t
	}
	s.tokens[as] = token{} // what follows may ask again
	if as == second && s.auth.register == nil {
		return token{}
	}
	from := ""
	if s.options.Login == nil || as == second {
		from = s.registerAs(as)
		if from == "" {
			return token{}
		}
	}
	if s.auth.byLogin {
		if from = s.loginAs(as, from); from == "" {
			return token{}
		}
	}
	t := token{ok: true, from: from}
	s.tokens[as] = t
	return t
}

func (s *session) registerAs(as string) string { return s.account(s.auth.register, as, "") }

func (s *session) loginAs(as, registered string) string {
	return s.account(s.auth.login, as, registered)
}

// account sends a register or a login for an identity, and gives the ID of its case.
func (s *session) account(r *route, as, registered string) string {
	suffix, f := "", s.start(r)
	var who *identity
	if as == second {
		suffix = "_second"
		two := s.options.identity(2)
		who = &two
	}
	f.fresh = 0
	if !s.performAs(r, suffix, f, who) {
		return ""
	}
	st := s.done[r.key()+suffix]
	if registered != "" {
		for i := range s.cases {
			if s.cases[i].ID == st.id && !slices.Contains(s.cases[i].Needs, registered) {
				s.cases[i].Needs = append(s.cases[i].Needs, registered)
			}
		}
	}
	return st.id
}

// registered is the case that made an identity, "" where none did.
func (s *session) registered(other bool) string {
	suffix := ""
	if other {
		suffix = "_second"
	}
	if s.auth.register == nil {
		return ""
	}
	if st := s.done[s.auth.register.key()+suffix]; st != nil && st.ok {
		return st.id
	}
	return ""
}
