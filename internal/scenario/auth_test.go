package scenario

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

// sessions knows who is calling by a cookie, and sends others to its login.
func sessions(now func() time.Time) http.Handler {
	users, live := map[string]string{}, map[string]string{}
	var posts []any
	mux := http.NewServeMux()
	who := func(w http.ResponseWriter, r *http.Request) string {
		c, err := r.Cookie("session_id")
		if err != nil || live[c.Value] == "" {
			w.Header().Set("Location", "/login?next="+r.URL.Path)
			w.WriteHeader(302)
			return ""
		}
		return live[c.Value]
	}
	mux.HandleFunc("POST /signup", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("username") == "" {
			reply(w, 400, map[string]any{"ok": false})
			return
		}
		users[r.FormValue("username")] = r.FormValue("password")
		reply(w, 201, map[string]any{"ok": true})
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if p, ok := users[r.FormValue("username")]; !ok || p != r.FormValue("password") {
			reply(w, 401, map[string]any{"ok": false})
			return
		}
		t := random()
		live[t] = r.FormValue("username")
		http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: "x"})
		http.SetCookie(w, &http.Cookie{Name: "session_id", Value: t, Path: "/", HttpOnly: true})
		reply(w, 200, map[string]any{"ok": true})
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		if who(w, r) != "" {
			clear(live)
			reply(w, 200, map[string]any{"ok": true})
		}
	})
	mux.HandleFunc("POST /posts", func(w http.ResponseWriter, r *http.Request) {
		if me := who(w, r); me != "" {
			posts = append(posts, map[string]any{"id": len(posts) + 1, "title": str(decode(r), "title"), "by": me, "at": now().Unix()})
			reply(w, 201, posts[len(posts)-1])
		}
	})
	mux.HandleFunc("GET /posts", func(w http.ResponseWriter, r *http.Request) {
		if who(w, r) != "" {
			reply(w, 200, map[string]any{"posts": posts, "today": now().Format(time.DateOnly)})
		}
	})
	return mux
}

func TestCookiesFormsAndClock(t *testing.T) {
	t.Parallel()
	creds := []routes.Field{req("username", "string"), req("password", "string")}
	rec := record(t, &toy{handler: sessions, shifts: true}, Options{},
		rt("POST", "/signup", "", creds...), rt("POST", "/login", "", creds...), rt("POST", "/logout", ""),
		rt("POST", "/posts", "", req("title", "string")), rt("GET", "/posts", ""))
	if rec.Auth.Scheme != "cookie" || rec.Auth.Place != "cookie/session_id" || !rec.Auth.Verified {
		t.Errorf("auth %+v", rec.Auth)
	}
	posts := group(t, rec, "posts")
	if status(posts, "create_post") != 201 || status(posts, "list_posts") != 200 || status(posts, "list_posts_anonymous") != 302 {
		t.Error(describe(posts))
	}
	if e := find(posts, "create_post"); e.Request.Encoding != "json" {
		t.Errorf("posts are sent as %s", e.Request.Encoding)
	}
	if got := status(group(t, rec, "logout"), "post_logout"); got != 200 {
		t.Errorf("logout: %d", got)
	}
	m, err := contract.Merge(posts.Cases, posts.Replays)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cases {
		if c.ID == "list_posts" && (c.Expect == nil || c.Expect.Body == nil || c.Expect.Body.Object["today"].Equal != nil) {
			t.Errorf("the day of the recording is expected: %+v", c.Expect)
		}
	}
}

// basic gives a token to who sends a password in the header, and wants it under another scheme.
func basic(func() time.Time) http.Handler {
	users, tokens := map[string]string{}, map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/users", func(w http.ResponseWriter, r *http.Request) {
		in := decode(r)
		if str(in, "username") == "" || str(in, "password") == "" {
			reply(w, 400, map[string]any{"message": "username and password are required"})
			return
		}
		users[str(in, "username")] = str(in, "password")
		reply(w, 201, map[string]any{"id": len(users), "username": in["username"]})
	})
	mux.HandleFunc("POST /api/tokens", func(w http.ResponseWriter, r *http.Request) {
		u, p, ok := r.BasicAuth()
		if !ok || users[u] != p || p == "" {
			w.Header().Set("WWW-Authenticate", "Basic")
			reply(w, 401, map[string]any{"error": "Unauthorized"})
			return
		}
		t := random()
		tokens[t] = true
		reply(w, 200, map[string]any{"access_token": t})
	})
	mux.HandleFunc("GET /api/me", func(w http.ResponseWriter, r *http.Request) {
		if !tokens[r.Header.Get("X-Api-Key")] {
			reply(w, 401, map[string]any{"error": "Unauthorized"})
			return
		}
		reply(w, 200, map[string]any{"ok": true})
	})
	return mux
}

func TestPasswordInTheHeader(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: basic}, Options{}, rt("POST", "/api/users", ""), rt("POST", "/api/tokens", ""), rt("GET", "/api/me", ""))
	if got := status(group(t, rec, "me"), "get_me"); got != 200 {
		t.Errorf("own account: %d; auth %+v", got, rec.Auth)
	}
	if rec.Auth.Scheme != "X-Api-Key" {
		t.Errorf("auth %+v", rec.Auth)
	}
}

// mailed sends its token by e-mail.
func TestTokenByMail(t *testing.T) {
	t.Parallel()
	mailed := func(func() time.Time) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /auth/login", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
		mux.HandleFunc("GET /things", func(w http.ResponseWriter, _ *http.Request) { reply(w, 401, nil) })
		return mux
	}
	rec := record(t, &toy{handler: mailed}, Options{}, rt("POST", "/auth/login", "", req("email", "string")), rt("GET", "/things", ""))
	if !strings.Contains(rec.Auth.Reason, "e-mail") {
		t.Errorf("auth %+v", rec.Auth)
	}
	rec = record(t, &toy{handler: mailed}, Options{}, rt("POST", "/auth/login", "", req("email", "string")), rt("POST", "/auth/token", "", req("token", "string")), rt("GET", "/things", ""))
	if !strings.Contains(rec.Auth.Reason, "e-mail") {
		t.Errorf("auth %+v", rec.Auth)
	}
	if n, of := group(t, rec, "things").Answered(); n != 0 || of != 1 {
		t.Errorf("%d of %d answered", n, of)
	}
}
