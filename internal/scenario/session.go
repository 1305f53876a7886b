package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// session is one running service that is asked until a scenario is found.
type session struct {
	*recorder
	ctx    context.Context
	client contract.Client
	group  string // whose scenario it is
	any    bool   // no group's: nothing is kept for good

	cases   []contract.Case
	answers map[string]contract.Answer
	pool    []known
	dead    map[string]bool   // values of things that were deleted
	done    map[string]*step  // by endpoint, with a suffix for the second identity
	said    map[string]string // what endpoints answered last that did not work
	refused map[string]bool   // endpoints that were asked before their happy case by who may not
	tokens  map[string]token
	mails   []post
	left    []Left
	freshes int // identities that were given out beyond the first two

	final    bool // nothing begins again after it: no proposal is sent
	verdicts []Verdict
	spoilt   bool // a proposal was not answered

	asked        string // target of the last request
	sent, silent int    // requests; those without an answer in a row
	failures     int    // all without an answer
	suspect      string // endpoint of the first of them
	over         string // why no more is sent
	err          error  // a fault of the machine
}

// step is the happy case of an endpoint.
type step struct {
	route  *route
	id     string // of its case; "" where none is kept
	ok     bool   // 2xx or 3xx
	status int
	form   form
	who    identity
	built  built
}

func (r *recorder) session(ctx context.Context, c contract.Client, group string) *session {
	return &session{
		recorder: r, ctx: ctx, client: c, group: group, answers: map[string]contract.Answer{}, dead: map[string]bool{},
		done: map[string]*step{}, said: map[string]string{}, refused: map[string]bool{}, tokens: map[string]token{}, freshes: 2,
	}
}

// send sends one request. No answer comes where the session is over.
func (s *session) send(r *route, c contract.Case) contract.Answer {
	if s.err != nil || s.over != "" {
		return contract.Answer{Failed: "not sent"}
	}
	if s.sent >= s.options.Limits.Requests {
		s.over = fmt.Sprintf("%d requests were sent", s.sent)
		return contract.Answer{Failed: "not sent"}
	}
	w, err := contract.Resolve(c, func(id string) (contract.Answer, bool) {
		a, ok := s.answers[id]
		return a, ok
	})
	if err != nil {
		return contract.Answer{Failed: "not sent: " + err.Error()}
	}
	s.sent++
	s.asked = w.Target
	a, err := s.client.Do(s.ctx, w)
	if err != nil {
		s.err = err
		return contract.Answer{Failed: "not sent"}
	}
	if a.Failed == "" {
		s.silent = 0
		s.said[r.key()] = inShort(w, a)
		return a
	}
	s.failures++
	if s.silent++; s.silent == 1 {
		s.suspect = r.key()
	}
	if s.silent >= 3 || s.failures >= s.options.Limits.Failures {
		s.over = "nobody answers after " + s.suspect
		s.killers[s.suspect] = true
	}
	return a
}

// inShort is what was asked and answered, for people.
func inShort(w contract.Wire, a contract.Answer) string {
	if a.Failed != "" {
		return "nobody answers: " + a.Failed
	}
	sent := ""
	if len(w.Body) > 0 {
		sent = "sent " + cut(w.Body) + ", "
	}
	return fmt.Sprintf("%sit answers %d %s", sent, a.Status, cut(a.Body))
}

// cut is the begin of a text, in one line.
func cut(text []byte) string {
	const most = 160
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " ")
	if short := []rune(s); len(short) > most {
		return string(short[:most]) + "…"
	}
	return s
}

// unanswered says of the endpoints of the group that did not work what they answered last.
func (s *session) unanswered() []Left {
	var out []Left
	for _, r := range s.routes {
		if done := s.done[r.key()]; r.group == s.group && (done == nil || !done.ok) && s.said[r.key()] != "" {
			out = append(out, Left{r.key(), s.said[r.key()]})
		}
	}
	return out
}

// who is the identity that sends a request.
func (s *session) who(f form) identity { return s.actor(f.as) }

func (s *session) actor(as string) identity {
	switch {
	case as == second:
		return s.options.identity(2)
	case s.options.Login != nil:
		return s.options.seeded()
	}
	return s.options.identity(1)
}

// about is the identity that the body of a request is about.
func (s *session) about(r *route, f form) identity {
	switch {
	case f.fresh > 0:
		return s.options.identity(f.fresh)
	case isLogin(r):
		return s.actor(first)
	case isRegister(r):
		return s.options.identity(1)
	case r.Method == "POST" && r.Body != nil && namesUser(r.Body.Fields, 0):
		return s.options.identity(3)
	}
	return s.actor(f.as)
}

// perform sends the happy case of an endpoint, once, and reports whether it answered.
func (s *session) perform(r *route) bool {
	return s.performAs(r, "", s.start(r), nil)
}

// start is the form that an endpoint is tried with first.
func (s *session) start(r *route) form {
	if f, ok := s.known[r.key()]; ok {
		return f
	}
	f := form{}
	switch {
	case isLogin(r) || isRegister(r):
	case r.Auth != "" || r.own:
		f.as = first
	}
	if socialWord.MatchString(r.Path) && len(r.params) > 0 && s.auth.register != nil {
		f.other = true
	}
	return f
}

// socialWord marks what is done to somebody else.
var socialWord = lazyregexp.New(`(?i)/(follow|unfollow|block|mute|friends?|invite|subscribe|followers|following|befriend)s?(/|$)`)

// performAs is perform in a form of its own, for the case of another identity.
func (s *session) performAs(r *route, suffix string, f form, who *identity) bool {
	key := r.key() + suffix
	if st, ok := s.done[key]; ok {
		return st.ok // nil-safe: a step that is under way is not ok yet
	}
	st := &step{route: r}
	s.done[key] = st
	if s.killers[r.key()] {
		s.leave(r, "nobody answered after it")
		return false
	}
	best, a := s.try(r, f, who)
	st.form, st.built, st.who, st.status = best.form, best.built, best.who, a.Status
	st.ok = worked(a)
	if st.ok && suffix == "" {
		s.known[r.key()] = best.form
	}
	switch {
	case s.err != nil:
		return false
	case a.Failed != "":
		s.leave(r, "there was no answer: "+a.Failed)
		return false
	case a.Status >= 500:
		s.leave(r, fmt.Sprintf("it answers %d", a.Status))
		return false
	case len(a.Body) > s.options.Limits.Body:
		s.leave(r, "its answer is too large")
		return false
	case !st.ok && (r.group != s.group || s.any || suffix != ""):
		return false
	}
	c := contract.Case{
		ID: s.freeID(r.caseID() + suffix), Endpoint: r.endpoint(), Group: r.group, Kind: contract.Happy,
		Needs: best.built.needs, Request: best.built.request,
	}
	if isLogin(r) && suffix == "" && s.options.Login == nil {
		if id := s.registered(false); id != "" && !slices.Contains(c.Needs, id) {
			c.Needs = append(slices.Clone(c.Needs), id)
		}
	}
	st.id = c.ID
	s.keep(c, a)
	if st.ok {
		s.learn(r, c, a, suffix != "")
		s.bury(r, c, a)
		s.mailed(r, c.ID)
	}
	return st.ok
}

func (s *session) keep(c contract.Case, a contract.Answer) {
	s.cases = append(s.cases, c)
	s.answers[c.ID] = a
}

func (s *session) leave(r *route, why string) {
	if r.group == s.group && !s.any {
		s.left = append(s.left, Left{r.key(), why})
	}
}

// bury marks what a DELETE has removed.
func (s *session) bury(r *route, c contract.Case, _ contract.Answer) {
	if r.Method != "DELETE" || !r.endsInParam() {
		return
	}
	v := c.Request.Params[r.params[len(r.params)-1]]
	if ref, _, ok := contract.AsRef(v); ok {
		id, place, _ := contract.SplitRef(ref)
		v, _ = s.answers[id].At(place)
	}
	s.dead[contract.Text(v)] = true
}

func (s *session) freeID(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(s.cases, func(c contract.Case) bool { return c.ID == id })
	}
	if !taken(id) {
		return id
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s_%d", id, n); !taken(next) {
			return next
		}
	}
}

// worked reports whether an answer is the one that a happy case is after. A redirect to a
// login, or to the same path with another slash, is not.
func worked(a contract.Answer) bool {
	if a.Failed != "" || a.Status < 200 || a.Status >= 400 {
		return false
	}
	return !(a.Status >= 300 && loginWord.MatchString(a.Headers["location"]))
}

// attempt is one request of an endpoint in one form.
type attempt struct {
	form  form
	built built
	who   identity
}

// try sends an endpoint's request in one form after the other, until one works. What it gives
// is the request that came furthest.
func (s *session) try(r *route, f form, who *identity) (attempt, contract.Answer) {
	var best attempt
	var answer contract.Answer
	rank, told := -1, 0
	used := map[string]bool{}
	scheme := s.auth.scheme
	for range s.options.Limits.Tries {
		one := attempt{form: f, who: s.about(r, f)}
		if who != nil && f.fresh == 0 {
			one.who = *who
		}
		one.built = s.build(r, f, one.who)
		a := s.send(r, contract.Case{Endpoint: r.endpoint(), Request: one.built.request})
		n := ranked(a)
		if n > rank || n == rank && told > 0 && best.built.bare() {
			rank, best, answer = n, one, a
		}
		if told < maxTold && s.tells(r, one.built, a) && s.over == "" && s.err == nil {
			told++
			continue
		}
		if worked(a) || s.err != nil || s.over != "" {
			break
		}
		next, ok := s.adapt(r, one, a, used)
		if !ok {
			break
		}
		f = next
	}
	if best.built.first() && s.err == nil && s.over == "" { // no scenario sends it
		r.asked = true
		best.built = s.build(r, best.form, best.who)
		if !worked(answer) { // what worked may not work twice: a user is followed once
			answer = s.send(r, contract.Case{Endpoint: r.endpoint(), Request: best.built.request})
			rank = ranked(answer)
		}
	}
	switch {
	case s.auth.scheme == scheme:
	case rank == 5 && best.form.as != nobody:
		s.auth.verified = true
	default:
		s.auth.scheme = scheme
	}
	return best, answer
}

// tells reports whether the next request of an endpoint is another because of what its handler was seen to read of this one: that is
// sent before anything is guessed.
func (s *session) tells(r *route, b built, a contract.Answer) bool {
	news := s.listen(r)
	// Who is refused does not reach the handler.
	r.asked = r.asked || a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden
	return news && (!worked(a) || b.bare() && r.Body != nil && len(r.Body.Fields) > 0)
}

// ranked says how far a request came.
func ranked(a contract.Answer) int {
	switch {
	case worked(a):
		return 5
	case a.Failed != "":
		return 0
	case a.Status >= 500:
		return 1
	case a.Status == 401 || a.Status == 405 || a.Status == 415:
		return 2
	case a.Status == 403 || a.Status == 404 || a.Status < 400:
		return 3
	}
	return 4
}

var (
	takenWord = lazyregexp.New(`(?i)exist|taken|already|in use|duplicate|unique|conflict`)
	tokenWord = lazyregexp.New(`(?i)token|auth|credential|jwt|log ?in|bearer|session|permission`)
)

// turn is what an answer that did not work is taken for, while the next form is chosen.
type turn struct {
	attempt
	answer  contract.Answer
	refused bool // who sends it
	invalid bool // what is sent
	broken  bool // the server is
	used    map[string]bool
}

// once reports whether a change is due that was not tried yet.
func (t turn) once(name string, when bool) bool {
	if !when || t.used[name] {
		return false
	}
	t.used[name] = true
	return true
}

// says reports whether the answer has a word.
func (t turn) says(word *lazyregexp.Regexp) bool {
	return word.Match(t.answer.Body[:min(len(t.answer.Body), 4096)])
}

// adapt is the next form to try after an answer that did not work. Each change is tried once.
func (s *session) adapt(r *route, one attempt, a contract.Answer, used map[string]bool) (form, bool) {
	f := one.form
	t := turn{
		attempt: one, answer: a, used: used, broken: a.Status >= 500 && a.Failed == "",
		refused: a.Status == 401 || a.Status == 403 || a.Status >= 300 && a.Status < 400,
		invalid: a.Status == 400 || a.Status == 422 || a.Status == 415 || a.Status == 409 || a.Status == 406,
	}
	if a.Failed != "" {
		return f, !strings.HasPrefix(a.Failed, "not sent") && t.once("silence", true) // the machine may be busy
	}
	if isLogin(r) {
		if next, ok := t.login(); ok {
			return next, true
		}
	}
	if f.as != nobody && !s.auth.verified && (t.refused || t.invalid) && s.nextScheme(used) {
		return f, true
	}
	if next, ok := s.adaptBody(r, t); ok {
		return next, true
	}
	return s.adaptWho(r, t)
}

// login is the next form of a login: who it is may be a user name or an e-mail address, in
// JSON, in a form or in the header.
func (t turn) login() (form, bool) {
	f := t.form
	switch {
	case t.once("email", t.refused || t.invalid || t.answer.Status == 404):
		f.asEmail = !f.asEmail
	case t.built.body && t.once("login_encoding", t.refused):
		f.encoding, f.asEmail = otherEncoding(t.built), false
	case t.built.body && t.once("login_encoding_email", t.refused && f.encoding != ""):
		f.asEmail = true
	case t.once("basic", t.refused || strings.Contains(strings.ToLower(t.answer.Headers["www-authenticate"]), "basic")):
		f.basic, f.empty, f.asEmail, f.encoding = true, true, false, ""
	case f.basic && t.once("basic_email", t.refused):
		f.asEmail = true
	default:
		return f, false
	}
	return f, true
}

// anonymous reports whether a form may become one with credentials.
func (s *session) anonymous(r *route, f form) bool {
	return f.as == nobody && !f.basic && s.auth.found && !isLogin(r)
}

// adaptBody changes what is sent.
func (s *session) adaptBody(r *route, t turn) (form, bool) {
	f, b := t.form, t.built
	wrong := t.invalid || t.broken
	repairs := repairs(t.answer, b.request.Body)
	switch {
	case t.once("credentials", s.anonymous(r, f) && (t.refused || t.invalid && t.says(tokenWord))):
		f.as = first
	case !isLogin(r) && (r.Method == "POST" || !r.own && r.Method != "GET") && t.invalid && t.once("fresh", t.says(takenWord)):
		s.freshes++
		f.fresh = s.freshes
	case t.invalid && f.news(repairs) && len(f.sets) < 24 && repaired(t.used):
		f = f.repair(repairs)
	case t.once("guess", wrong && r.Method != "GET" && r.Method != "DELETE" && (!b.body || r.Body == nil) && !f.empty):
		f.guess = true
	case t.once("minimal", wrong && b.body):
		f.minimal = true
	case t.once("wrap", (t.invalid || t.broken && f.guess) && b.body && b.request.Encoding == "json" && wraps(r, b)):
		f.wrap = r.nouns()[len(r.nouns())-1]
	case t.once("encoding", wrong && b.body):
		f.encoding, f.wrap = otherEncoding(b), "" // a form has no objects
	default:
		return f, false
	}
	return f, true
}

// adaptWho changes who sends it, and what the path names.
func (s *session) adaptWho(r *route, t turn) (form, bool) {
	f := t.form
	denied := t.refused || t.invalid
	switch {
	case t.once("late_credentials", s.anonymous(r, f) && (t.answer.Status == 404 || t.broken || t.invalid) && !isRegister(r)):
		f.as = first
	case t.once("other", !f.other && len(r.params) > 0 && s.auth.register != nil && denied && f.as != nobody && userish(r)):
		f.other = true
	case t.once("second", t.refused && f.as == first && s.auth.register != nil && !isRegister(r)):
		f.as = second
	case f.skip+1 < t.built.choices && f.skip < 2 && (t.answer.Status == 404 || t.invalid || t.answer.Status == 403):
		f.skip++
	default:
		return f, false
	}
	return f, true
}

func otherEncoding(b built) string {
	if b.request.Encoding == "form" {
		return "json"
	}
	return "form"
}

// repaired counts the repairs of one endpoint.
func repaired(used map[string]bool) bool {
	for _, name := range [...]string{"repair1", "repair2", "repair3"} {
		if !used[name] {
			used[name] = true
			return true
		}
	}
	return false
}

// wraps reports whether a flat body may be wanted inside an object that is named for the thing.
func wraps(r *route, b built) bool {
	m, ok := b.request.Body.(map[string]any)
	n := r.nouns()[len(r.nouns())-1]
	if !ok || n == "" || len(m) == 0 {
		return false
	}
	for _, v := range m {
		if nested(v) && len(m) == 1 {
			return false
		}
	}
	return true
}

// userish reports whether the path names a user.
func userish(r *route) bool {
	return slices.ContainsFunc(r.params, func(p string) bool {
		w := r.wantOf(p)
		return userWord.MatchString(w.name) || w.name == "email" || w.noun == "user" || w.noun == "profile" || w.noun == "member" || w.nameNoun() == "user"
	})
}
