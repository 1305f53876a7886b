package scenario

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// How many seconds a mail is waited for: while a scenario is found, where most requests send none, and when it is replayed.
const (
	mailSoon = "3"
	mailLate = "4"
)

// post is a mail that a request made the service send.
type post struct {
	id     string // of its case
	answer contract.Answer
}

// mailed looks for a mail that the request of a case made the service send, and keeps it as a case. An endpoint that sent none is not
// waited for again.
func (s *session) mailed(r *route, id string) {
	if sends, known := s.mailers[r.key()]; !s.options.Mail || r.Method == http.MethodGet || known && !sends {
		return
	}
	c := contract.Case{
		ID: s.freeID(id + "_mail"), Kind: contract.Mail, Needs: []string{id}, Endpoint: schemas.Endpoint{Method: http.MethodGet, Path: "/"},
		Request: contract.Request{Path: "/", Query: map[string]any{"wait": mailSoon}},
	}
	a := s.send(r, c)
	s.mailers[r.key()] = worked(a)
	if !worked(a) {
		return
	}
	c.Request.Query["wait"] = mailLate
	s.keep(c, a)
	s.mails = append(s.mails, post{c.ID, a})
}

// mailWord marks a field or parameter that may ask for what was sent by mail.
var mailWord = lazyregexp.New(`^(token|code|otp|pin|hash|uidb64|(login|auth|magic|e?mail|verif|confirm|activat|reset|password|invit|signup|regist|onetime)[a-z]*(token|code|key|hash|otp|pin))$`)

// byMail reports whether a value of a name may have been sent by mail.
func (s *session) byMail(name string) bool {
	return s.options.Mail && mailWord.MatchString(plain(name)) && slices.ContainsFunc(s.routes, func(r *route) bool { return s.mailers[r.key()] })
}

// posted is a value that somebody was sent by mail, and the case that read it. Where he was sent none, the endpoints are asked that
// send mails.
func (s *session) posted(r *route, name string, who identity) (v any, from string, ok bool) {
	if !s.byMail(name) {
		return nil, "", false
	}
	if v, from, ok = s.inMail(name, who); ok {
		return v, from, true
	}
	for _, p := range s.routes {
		if p == r || !s.mailers[p.key()] {
			continue
		}
		if two := s.options.identity(2); who == two {
			s.performAs(p, "_second", s.start(p), &two)
		} else {
			s.perform(p)
		}
		if v, from, ok = s.inMail(name, who); ok {
			return v, from, true
		}
	}
	return nil, "", false
}

// inMail looks for a value in the mails to somebody, the newest first.
func (s *session) inMail(name string, who identity) (v any, from string, ok bool) {
	for _, m := range slices.Backward(s.mails) {
		said, _ := m.answer.Parsed()
		if to, _ := m.answer.At("body/to/0"); !strings.EqualFold(contract.Text(to), who.email) {
			continue
		}
		if place := secretIn(said, plain(name)); place != "" {
			return reference(m.id, place), m.id, true
		}
	}
	return nil, "", false
}

var (
	madeUp  = lazyregexp.New(`^[A-Za-z0-9_.=-]*$`)
	number4 = lazyregexp.New(`^\d{4,8}$`)
	yearly  = lazyregexp.New(`^(19|20)\d\d$`)
)

// unwritten reports whether a word looks as if no person had written it: a code of digits, letters with digits, and in a link those of
// both cases, too.
func unwritten(word string, inLink bool) bool {
	if number4.MatchString(word) {
		return !yearly.MatchString(word)
	}
	mixed := inLink && strings.ToLower(word[1:]) != word[1:] || strings.ContainsAny(word, "0123456789")
	return len(word) >= 6 && madeUp.MatchString(word) && (mixed || len(word) >= 24)
}

// secretIn is the place of the value in a mail that a field of a name asks for: the member of a link's query that is called like it,
// another one, the end of a link's path, or a word. "" is none.
func secretIn(said any, name string) string {
	rank := func(l leaf) int {
		text, isText := l.value.(string)
		if !isText || text == "" || !unwritten(text, l.path[0] == "links") {
			return 0
		}
		kind := l.path[0]
		if kind == "links" && len(l.path) > 2 {
			kind = l.path[2]
		}
		switch {
		case kind == "query" && l.key == name:
			return 4
		case kind == "query" && mailWord.MatchString(l.key):
			return 3
		case kind == "last", kind == "query":
			return 2
		case kind == "words":
			return 1
		}
		return 0
	}
	best, most := "", 0
	for _, l := range mailLeaves(said) {
		if n := rank(l); n > most {
			best, most = l.place(), n
		}
	}
	return best
}

// mailLeaves are the texts of a mail in their order, without the bound of leaves on lists.
func mailLeaves(said any) (out []leaf) {
	m, _ := said.(map[string]any)
	for _, part := range []string{"links", "words"} {
		list, _ := m[part].([]any)
		for i, e := range list {
			for _, l := range leaves(e) {
				l.path = append([]string{part, strconv.Itoa(i)}, l.path...)
				out = append(out, l)
			}
		}
	}
	return out
}
