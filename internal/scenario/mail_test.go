package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
)

// byLink lets in who has the token of a link that is sent to a known address; each token is good once. What a sink would tell of
// the mails is at another port.
func byLink(func() time.Time) http.Handler {
	var unread []any
	sent, live := map[string]bool{}, map[string]bool{}
	mux := http.NewServeMux()
	sink := func(w http.ResponseWriter) {
		if len(unread) == 0 {
			reply(w, 404, nil)
			return
		}
		reply(w, 200, unread[len(unread)-1])
		unread = nil
	}
	mux.HandleFunc("POST /auth/login", func(w http.ResponseWriter, r *http.Request) {
		to := str(decode(r), "email")
		if to != "boss@example.com" {
			reply(w, 401, nil)
			return
		}
		token := random()[:7] + "aB3"
		sent[token] = true
		unread = append(unread, map[string]any{
			"to": []any{to}, "words": []any{"Hello", "2026", "Casey"},
			"links": []any{
				map[string]any{"url": "http://x/about", "last": "about", "query": map[string]any{}},
				map[string]any{"url": "http://x/login/" + token, "last": token, "query": map[string]any{}},
			},
		})
		w.WriteHeader(200)
	})
	mux.HandleFunc("POST /auth/token", func(w http.ResponseWriter, r *http.Request) {
		token := str(decode(r), "token")
		if !sent[token] {
			reply(w, 401, nil)
			return
		}
		delete(sent, token)
		session := random()
		live[session] = true
		reply(w, 200, map[string]any{"access_token": session})
	})
	mux.HandleFunc("GET /things", func(w http.ResponseWriter, r *http.Request) {
		if !live[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
			reply(w, 401, nil)
			return
		}
		reply(w, 200, map[string]any{"things": []int{1}})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "toy:1080" {
			sink(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func TestLoginByMail(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: byLink}, Options{Mail: true, Addresses: []string{"boss@example.com"}},
		rt("POST", "/auth/login", "", req("email", "string")), rt("POST", "/auth/token", "", opt("token", "string")), rt("GET", "/things", ""))
	if rec.Auth.From != "POST /auth/token" || !rec.Auth.Verified {
		t.Errorf("auth %+v", rec.Auth)
	}
	g := group(t, rec, "things")
	var ids []string
	for _, c := range g.Cases {
		ids = append(ids, c.ID)
	}
	for _, r := range g.Replays {
		for i, c := range g.Cases {
			if c.Kind != contract.Anonymous && r[i].Answer.Status != 200 {
				t.Errorf("%s: %d", c.ID, r[i].Answer.Status)
			}
		}
	}
	if got, want := fmt.Sprint(ids), "[post_auth_login post_auth_login_mail post_auth_token list_things list_things_anonymous]"; got != want {
		t.Errorf("got %s, want %s\n%s", got, want, describe(g))
	}
	m, err := contract.Merge(g.Cases, g.Replays)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cases {
		if c.Kind == contract.Mail && c.Expect != nil {
			t.Errorf("what was sent by mail is judged: %+v", c)
		}
	}
}

func TestSecretIn(t *testing.T) {
	t.Parallel()
	link := func(last string, query map[string]any) map[string]any {
		return map[string]any{"url": "http://x", "last": last, "query": query}
	}
	for name, c := range map[string]struct {
		links []any
		words []any
		field string
		want  string
	}{
		"the_member_of_that_name": {[]any{link("a1b2c3", map[string]any{"id": "a1b2c3d4", "token": "0a0b0c0d"})}, nil, "token", "body/links/0/query/token"},
		"another_secret":          {[]any{link("verify", map[string]any{"code": "123456"})}, nil, "token", "body/links/0/query/code"},
		"the_end_of_a_path":       {[]any{link("welcome", nil), link("aB3dE6gH", nil)}, []any{"aB3dE6gH"}, "token", "body/links/1/last"},
		"a_code_in_the_text":      {nil, []any{"In", "2026", "your", "code", "is", "4711"}, "otp", "body/words/5"},
		"a_long_text":             {nil, append(slicesOf("word", 30), "abcdefghijklmnopqrstuvwxyz"), "token", "body/words/30"},
		"nothing":                 {[]any{link("login", map[string]any{"next": "home"})}, []any{"Hello", "McDonald", "in", "2026"}, "token", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := secretIn(map[string]any{"links": c.links, "words": c.words}, c.field); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func slicesOf(word string, n int) (out []any) {
	for range n {
		out = append(out, word)
	}
	return out
}
