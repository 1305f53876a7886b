package scenario

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/routes"
)

var caseForm = regexp.MustCompile(`^[a-z0-9_]{3,80}$`)

// conduit is a service with nested bodies, slugs and the scheme Token.
func conduit(now func() time.Time) http.Handler {
	type article struct {
		slug, title, body, author string
		comments                  map[int]string
	}
	users, tokens := map[string]map[string]any{}, map[string]string{}
	follows := map[string]bool{}
	articles, next := map[string]*article{}, 0
	mux := http.NewServeMux()
	who := func(w http.ResponseWriter, r *http.Request) string {
		t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Token ")
		if r.Header.Get("Authorization") == "" {
			reply(w, 401, map[string]any{"msg": "Missing Authorization Header"})
			return ""
		}
		if !ok || tokens[t] == "" {
			reply(w, 422, map[string]any{"msg": "Bad Authorization header"})
			return ""
		}
		return tokens[t]
	}
	show := func(w http.ResponseWriter, name string) {
		token := random()
		tokens[token] = name
		reply(w, 200, map[string]any{"user": map[string]any{"username": name, "email": users[name]["email"], "bio": users[name]["bio"], "token": token}})
	}
	mux.HandleFunc("POST /api/users", func(w http.ResponseWriter, r *http.Request) {
		u := sub(decode(r), "user")
		name := str(u, "username")
		switch {
		case name == "" || str(u, "email") == "" || str(u, "password") == "":
			reply(w, 422, map[string]any{"errors": map[string]any{"username": []string{"can't be blank"}}})
		case users[name] != nil:
			reply(w, 422, map[string]any{"errors": map[string]any{"username": []string{"is already taken"}}})
		default:
			users[name] = u
			show(w, name)
		}
	})
	mux.HandleFunc("POST /api/users/login", func(w http.ResponseWriter, r *http.Request) {
		u := sub(decode(r), "user")
		for name, have := range users {
			if have["email"] == u["email"] && have["password"] == u["password"] {
				show(w, name)
				return
			}
		}
		reply(w, 422, map[string]any{"errors": map[string]any{"email or password": []string{"is invalid"}}})
	})
	mux.HandleFunc("GET /api/user", func(w http.ResponseWriter, r *http.Request) {
		if name := who(w, r); name != "" {
			show(w, name)
		}
	})
	mux.HandleFunc("PUT /api/user", func(w http.ResponseWriter, r *http.Request) {
		if name := who(w, r); name != "" {
			if bio := str(sub(decode(r), "user"), "bio"); bio != "" {
				users[name]["bio"] = bio
			}
			show(w, name)
		}
	})
	profile := func(f func(me, other string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			me, other := who(w, r), r.PathValue("username")
			switch {
			case me == "":
			case users[other] == nil:
				reply(w, 404, map[string]any{"message": "User not found"})
			case me == other && r.Method != "GET":
				reply(w, 403, map[string]any{"message": "you cannot follow yourself"})
			default:
				f(me, other)
				reply(w, 200, map[string]any{"profile": map[string]any{"username": other, "following": follows[me+" "+other]}})
			}
		}
	}
	mux.HandleFunc("GET /api/profiles/{username}", profile(func(string, string) {}))
	mux.HandleFunc("POST /api/profiles/{username}/follow", profile(func(a, b string) { follows[a+" "+b] = true }))
	mux.HandleFunc("DELETE /api/profiles/{username}/follow", profile(func(a, b string) { delete(follows, a+" "+b) }))
	view := func(a *article) map[string]any {
		return map[string]any{"article": map[string]any{"slug": a.slug, "title": a.title, "body": a.body, "createdAt": now().Format(time.RFC3339Nano), "author": map[string]any{"username": a.author}}}
	}
	mux.HandleFunc("POST /api/articles", func(w http.ResponseWriter, r *http.Request) {
		me := who(w, r)
		in := sub(decode(r), "article")
		switch {
		case me == "":
		case str(in, "title") == "" || str(in, "body") == "":
			reply(w, 422, map[string]any{"errors": map[string]any{"title": []string{"can't be blank"}}})
		default:
			next++
			slug := strings.ReplaceAll(strings.ToLower(str(in, "title")), " ", "-") + "-" + random()[:6]
			a := &article{slug: slug, title: str(in, "title"), body: str(in, "body"), author: me, comments: map[int]string{}}
			articles[slug] = a
			reply(w, 201, view(a))
		}
	})
	mux.HandleFunc("GET /api/articles", func(w http.ResponseWriter, r *http.Request) {
		list := []any{}
		for _, a := range articles {
			list = append(list, view(a)["article"])
		}
		reply(w, 200, map[string]any{"articles": list, "articlesCount": len(list)})
	})
	get := func(f func(w http.ResponseWriter, r *http.Request, a *article)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if a := articles[r.PathValue("slug")]; a != nil {
				f(w, r, a)
				return
			}
			reply(w, 404, map[string]any{"message": "Article not found"})
		}
	}
	mine := func(f func(w http.ResponseWriter, r *http.Request, a *article)) http.HandlerFunc {
		return get(func(w http.ResponseWriter, r *http.Request, a *article) {
			if me := who(w, r); me == a.author {
				f(w, r, a)
			} else if me != "" {
				reply(w, 403, map[string]any{"message": "not yours"})
			}
		})
	}
	mux.HandleFunc("GET /api/articles/{slug}", get(func(w http.ResponseWriter, _ *http.Request, a *article) { reply(w, 200, view(a)) }))
	mux.HandleFunc("PUT /api/articles/{slug}", mine(func(w http.ResponseWriter, r *http.Request, a *article) {
		in := sub(decode(r), "article")
		if v := str(in, "title"); v != "" {
			a.title = v
			delete(articles, a.slug)
			a.slug = "new-" + a.slug
			articles[a.slug] = a
		}
		reply(w, 200, view(a))
	}))
	mux.HandleFunc("DELETE /api/articles/{slug}", mine(func(w http.ResponseWriter, _ *http.Request, a *article) {
		delete(articles, a.slug)
		w.WriteHeader(204)
	}))
	mux.HandleFunc("POST /api/articles/{slug}/comments", get(func(w http.ResponseWriter, r *http.Request, a *article) {
		if who(w, r) == "" {
			return
		}
		next++
		a.comments[next] = str(sub(decode(r), "comment"), "body")
		reply(w, 200, map[string]any{"comment": map[string]any{"id": next, "body": a.comments[next]}})
	}))
	mux.HandleFunc("DELETE /api/articles/{slug}/comments/{id}", get(func(w http.ResponseWriter, r *http.Request, a *article) {
		for id := range a.comments {
			if fmt.Sprint(id) == r.PathValue("id") {
				delete(a.comments, id)
				w.WriteHeader(204)
				return
			}
		}
		reply(w, 404, nil)
	}))
	return mux
}

func conduitRoutes() []routes.Route {
	user := obj("user", req("username", "string"), req("email", "string"), req("password", "string"))
	return []routes.Route{
		rt("POST", "/api/users", "", user),
		rt("POST", "/api/users/login", "", obj("user", req("email", "string"), req("password", "string"))),
		rt("GET", "/api/user", "required"),
		rt("PUT", "/api/user", "required", obj("user", opt("email", "string"), opt("bio", "string"), opt("password", "string"))),
		rt("GET", "/api/profiles/{username}", "optional"),
		rt("POST", "/api/profiles/{username}/follow", "required"),
		rt("DELETE", "/api/profiles/{username}/follow", "required"),
		rt("POST", "/api/articles", "required", obj("article", req("title", "string"), req("body", "string"), opt("tagList", "array"))),
		rt("GET", "/api/articles", ""),
		rt("GET", "/api/articles/{slug}", ""),
		rt("PUT", "/api/articles/{slug}", "required", obj("article", opt("title", "string"), opt("body", "string"))),
		rt("DELETE", "/api/articles/{slug}", "required"),
		rt("POST", "/api/articles/{slug}/comments", "required", obj("comment", req("body", "string"))),
		rt("DELETE", "/api/articles/{slug}/comments/{id}", "required"),
	}
}

func TestNestedBodiesTokensAndSlugs(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: conduit, shifts: true}, Options{}, conduitRoutes()...)
	if got, want := rec.Auth, (Auth{Scheme: "Token", From: "POST /api/users/login", Place: "body/user/token", Register: "POST /api/users", Verified: true}); got != want {
		t.Errorf("auth %+v, want %+v", got, want)
	}
	for _, g := range rec.Groups {
		if n, of := g.Answered(); n != of {
			t.Errorf("group %s: %d of %d endpoints answered", g.Name, n, of)
		}
		if len(g.Replays) != 4 {
			t.Errorf("group %s: %d replays", g.Name, len(g.Replays))
		}
	}
	g := group(t, rec, "articles")
	for id, want := range map[string]int{
		"create_article": 201, "list_articles": 200, "get_article": 200, "get_article_missing": 404, "update_article": 200,
		"create_article_anonymous": 401, "create_article_empty": 422, "update_article_other": 403, "delete_article_other": 403,
		"delete_article": 204, "list_articles_after_delete": 200, "create_article_duplicate": 201,
		"create_article_comment": 200, "delete_article_comment": 204, "get_article_after_update": 200, "get_article_after_delete": 404,
	} {
		if got := status(g, id); got != want {
			t.Errorf("%s answers %d, want %d", id, got, want)
		}
	}
	if c := find(g, "get_article_after_delete"); c.Kind != "deleted" {
		t.Errorf("the read of what was deleted is a case of kind %s", c.Kind)
	}
	if find(g, "get_article_malformed").ID != "" {
		t.Error("a slug can be any word")
	}
	if g.ReadBack() == 0 {
		t.Error("no create is read back")
	}
	if needs := find(group(t, rec, "users"), "post_user_login").Needs; !slices.Equal(needs, []string{"create_user"}) {
		t.Errorf("a login needs %v", needs)
	}
	if group(t, rec, "profiles").ReadBack() == 0 {
		t.Error("that somebody is followed is not read back")
	}
	for _, e := range group(t, rec, "user").Endpoints {
		if e.Method == "PUT" && (!e.ReadBack || e.Create) {
			t.Errorf("the update: %+v", e)
		}
	}
	if got := status(group(t, rec, "profiles"), "post_profile_follow"); got != 200 {
		t.Errorf("follow answers %d: it has to be somebody else", got)
	}
	users := group(t, rec, "users")
	if got := status(users, "create_user_duplicate"); got != 422 || users.ReadBack() != 1 {
		t.Errorf("the same registration answers %d, and %d endpoints show what they made", got, users.ReadBack())
	}
	if rec.Independent("articles", "users") || !rec.Independent("articles", "profiles") || rec.Independent("profiles", "users") {
		t.Error("articles and profiles need users, and articles do not need profiles")
	}
	if want := []bool{false, false, true, false}; !slices.Equal(g.Shifted, want) {
		t.Errorf("shifted %v", g.Shifted)
	}
}

// TestDeterministic: two recordings ask the same.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	a := record(t, &toy{handler: conduit}, Options{}, conduitRoutes()...)
	b := record(t, &toy{handler: conduit}, Options{}, conduitRoutes()...)
	for i := range a.Groups {
		if d := cmp.Diff(a.Groups[i].Cases, b.Groups[i].Cases); d != "" {
			t.Errorf("group %s: %s", a.Groups[i].Name, d)
		}
	}
}
