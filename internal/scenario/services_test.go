package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

func missingField(w http.ResponseWriter, names ...string) {
	var list []any
	for _, n := range names {
		list = append(list, map[string]any{"loc": []string{"body", n}, "msg": "Field required", "type": "missing"})
	}
	reply(w, 422, map[string]any{"detail": list})
}

// template is a service with a user from its start, an OAuth2 form and 422 with places.
func template(func() time.Time) http.Handler {
	type user struct{ id, email, password string }
	users := map[string]*user{"admin@example.com": {uuid(), "admin@example.com", "changethis"}}
	tokens := map[string]*user{}
	items := map[string]map[string]any{}
	mux := http.NewServeMux()
	who := func(w http.ResponseWriter, r *http.Request) *user {
		u := tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if u == nil {
			reply(w, 401, map[string]any{"detail": "Not authenticated"})
		}
		return u
	}
	mux.HandleFunc("POST /api/v1/login/access-token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") != "" && r.FormValue("grant_type") != "password" || r.FormValue("username") == "" {
			missingField(w, "username", "password")
			return
		}
		u := users[r.FormValue("username")]
		if u == nil || u.password != r.FormValue("password") {
			reply(w, 400, map[string]any{"detail": "Incorrect email or password"})
			return
		}
		t := random()
		tokens[t] = u
		reply(w, 200, map[string]any{"access_token": t, "token_type": "bearer"})
	})
	mux.HandleFunc("POST /api/v1/users/signup", func(w http.ResponseWriter, r *http.Request) {
		in := decode(r)
		switch {
		case str(in, "email") == "" || str(in, "password") == "":
			missingField(w, "email", "password")
		case users[str(in, "email")] != nil:
			reply(w, 400, map[string]any{"detail": "The user with this email already exists in the system"})
		default:
			u := &user{uuid(), str(in, "email"), str(in, "password")}
			users[u.email] = u
			reply(w, 200, map[string]any{"id": u.id, "email": u.email})
		}
	})
	mux.HandleFunc("POST /api/v1/users/", func(w http.ResponseWriter, r *http.Request) {
		u, in := who(w, r), decode(r)
		switch {
		case u == nil:
		case u.email != "admin@example.com":
			reply(w, 403, map[string]any{"detail": "The user doesn't have enough privileges"})
		case users[str(in, "email")] != nil:
			reply(w, 400, map[string]any{"detail": "The user with this email already exists in the system"})
		default:
			made := &user{uuid(), str(in, "email"), str(in, "password")}
			users[made.email] = made
			reply(w, 200, map[string]any{"id": made.id, "email": made.email})
		}
	})
	mux.HandleFunc("PATCH /api/v1/users/me", func(w http.ResponseWriter, r *http.Request) {
		if u := who(w, r); u != nil {
			reply(w, 200, map[string]any{"id": u.id, "email": u.email})
		}
	})
	mux.HandleFunc("PATCH /api/v1/users/{user_id}", func(w http.ResponseWriter, r *http.Request) {
		switch u, in := who(w, r), decode(r); {
		case u == nil:
		case users[str(in, "email")] != nil:
			reply(w, 409, map[string]any{"detail": "User with this email already exists"})
		default:
			reply(w, 200, map[string]any{"id": r.PathValue("user_id"), "email": in["email"]})
		}
	})
	mux.HandleFunc("DELETE /api/v1/users/{user_id}", func(w http.ResponseWriter, r *http.Request) {
		u := who(w, r)
		if u == nil {
			return
		}
		for _, other := range users {
			if other.id == r.PathValue("user_id") && other != u && u.email == "admin@example.com" {
				delete(users, other.email)
				reply(w, 200, map[string]any{"message": "deleted"})
				return
			}
		}
		reply(w, 403, map[string]any{"detail": "not allowed"})
	})
	mux.HandleFunc("GET /api/v1/users/me", func(w http.ResponseWriter, r *http.Request) {
		if u := who(w, r); u != nil {
			reply(w, 200, map[string]any{"id": u.id, "email": u.email})
		}
	})
	mux.HandleFunc("DELETE /api/v1/users/me", func(w http.ResponseWriter, r *http.Request) {
		switch u := who(w, r); {
		case u == nil:
		case u.email == "admin@example.com":
			reply(w, 403, map[string]any{"detail": "Super users are not allowed to delete themselves"})
		default:
			delete(users, u.email)
			reply(w, 200, map[string]any{"message": "deleted"})
		}
	})
	mux.HandleFunc("PATCH /api/v1/users/me/password", func(w http.ResponseWriter, r *http.Request) {
		u, in := who(w, r), decode(r)
		switch {
		case u == nil:
		case str(in, "current_password") != u.password:
			reply(w, 400, map[string]any{"detail": "Incorrect password"})
		default:
			u.password = str(in, "new_password")
			reply(w, 200, map[string]any{"message": "updated"})
		}
	})
	mux.HandleFunc("POST /api/v1/items/", func(w http.ResponseWriter, r *http.Request) {
		u, in := who(w, r), decode(r)
		switch {
		case u == nil:
		case str(in, "title") == "":
			missingField(w, "title")
		case str(in, "weight_class") == "":
			missingField(w, "weight_class") // nothing in the code says so
		default:
			id := uuid()
			items[id] = map[string]any{"id": id, "title": in["title"], "owner_id": u.id}
			reply(w, 200, items[id])
		}
	})
	mux.HandleFunc("GET /api/v1/items/", func(w http.ResponseWriter, r *http.Request) {
		if who(w, r) != nil {
			reply(w, 200, map[string]any{"data": slices.Collect(maps.Values(items)), "count": len(items)})
		}
	})
	mux.HandleFunc("GET /api/v1/items/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch it := items[r.PathValue("id")]; {
		case who(w, r) == nil:
		case it == nil:
			reply(w, 404, map[string]any{"detail": "Item not found"})
		default:
			reply(w, 200, it)
		}
	})
	return mux
}

func templateRoutes() []routes.Route {
	form := rt("POST", "/api/v1/login/access-token", "", routes.Field{Name: "grant_type", Type: "string", Pattern: "^password$"}, req("username", "string"), req("password", "string"), opt("scope", "string"), opt("client_id", "string"))
	form.Body.Encoding = "form"
	return []routes.Route{
		form,
		rt("POST", "/api/v1/users/signup", "", routes.Field{Name: "email", Type: "string", Format: "email", Required: true}, req("password", "string"), opt("full_name", "string")),
		rt("POST", "/api/v1/users/", "required", routes.Field{Name: "email", Type: "string", Format: "email", Required: true}, req("password", "string")),
		rt("GET", "/api/v1/users/me", "required"),
		rt("PATCH", "/api/v1/users/me", "required", opt("email", "string")),
		rt("DELETE", "/api/v1/users/me", "required"),
		rt("PATCH", "/api/v1/users/{user_id}", "required", opt("email", "string")),
		rt("DELETE", "/api/v1/users/{user_id}", "required"),
		rt("PATCH", "/api/v1/users/me/password", "required", req("current_password", "string"), req("new_password", "string")),
		rt("POST", "/api/v1/items/", "required", req("title", "string"), opt("description", "string")),
		rt("GET", "/api/v1/items/", "required"),
		rt("GET", "/api/v1/items/{id}", "required"),
	}
}

func TestSeededUserFormAndRepair(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: template}, Options{Login: &schemas.Login{User: "admin@example.com", Password: "changethis"}}, templateRoutes()...)
	if rec.Auth.Scheme != "Bearer" || !rec.Auth.Verified || rec.Auth.From != "POST /api/v1/login/access-token" {
		t.Errorf("auth %+v", rec.Auth)
	}
	for _, g := range rec.Groups {
		if n, of := g.Answered(); n != of {
			t.Errorf("group %s: %d of %d endpoints answered", g.Name, n, of)
		}
	}
	items := group(t, rec, "items")
	if _, ok := find(items, "create_item").Request.Body.(map[string]any)["weight_class"]; !ok {
		t.Error("the field that the answer names is not sent")
	}
	if got := status(items, "get_item_missing"); got != 404 {
		t.Errorf("an item that is not there: %d", got)
	}
	if ref := find(items, "get_item").Request.Params["id"]; fmt.Sprint(ref) != "map[$ref:create_item:body/id]" {
		t.Errorf("the item is taken from %v", ref)
	}
	users := group(t, rec, "users")
	if h := find(users, "delete_user_me").Request.Headers["Authorization"]; !strings.Contains(fmt.Sprint(h), "_second") {
		t.Errorf("who may delete the own account: %v", h)
	}
	if n := slices.IndexFunc(users.Cases, func(c contract.Case) bool { return c.ID == "patch_user_me_password" }); n < 0 || n < slices.IndexFunc(users.Cases, func(c contract.Case) bool { return c.ID == "get_user_me" }) {
		t.Error("the password is changed before the end")
	}
}

// plainCRUD has integer IDs, two nouns that refer to each other, and no users.
func plainCRUD(func() time.Time) http.Handler {
	owners, pets := map[int]map[string]any{}, map[int]map[string]any{}
	next := 40
	mux := http.NewServeMux()
	table := func(path string, all map[int]map[string]any, valid func(map[string]any) string) {
		id := func(r *http.Request) int { n, _ := strconv.Atoi(r.PathValue("id")); return n }
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			in := decode(r)
			if why := valid(in); why != "" {
				reply(w, 400, map[string]any{"error": why})
				return
			}
			next++
			in["id"] = next
			all[next] = in
			reply(w, 201, in)
		})
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			list := []any{} // in the order of the map
			for _, v := range all {
				list = append(list, v)
			}
			reply(w, 200, list)
		})
		one := func(f func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if all[id(r)] == nil {
					reply(w, 404, map[string]any{"error": "not found"})
					return
				}
				f(w, r)
			}
		}
		mux.HandleFunc("GET "+path+"/{id}", one(func(w http.ResponseWriter, r *http.Request) { reply(w, 200, all[id(r)]) }))
		mux.HandleFunc("PATCH "+path+"/{id}", one(func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(all[id(r)], decode(r))
			reply(w, 200, all[id(r)])
		}))
		mux.HandleFunc("DELETE "+path+"/{id}", one(func(w http.ResponseWriter, r *http.Request) { delete(all, id(r)); w.WriteHeader(204) }))
	}
	table("/owners", owners, func(in map[string]any) string {
		if str(in, "name") == "" {
			return "name is required"
		}
		return ""
	})
	table("/pets", pets, func(in map[string]any) string {
		n, _ := in["owner_id"].(float64)
		switch {
		case owners[int(n)] == nil:
			return "owner_id is invalid"
		case in["kind"] != "cat" && in["kind"] != "dog":
			return "kind must be cat or dog"
		}
		return ""
	})
	return mux
}

func crudRoutes() []routes.Route {
	var out []routes.Route
	for path, fields := range map[string][]routes.Field{
		"/owners": {req("name", "string")},
		"/pets":   {req("owner_id", "integer"), {Name: "kind", Type: "string", Required: true, Enum: []string{"cat", "dog"}}},
	} {
		out = append(out, rt("POST", path, "", fields...), rt("GET", path, ""), rt("GET", path+"/{id}", ""), rt("PATCH", path+"/{id}", "", fields...), rt("DELETE", path+"/{id}", ""))
	}
	return out
}

func TestIntegersAndNeedsOfAnotherGroup(t *testing.T) {
	t.Parallel()
	all := crudRoutes()
	for i := range all {
		if all[i].Method == "GET" && all[i].Path == "/pets" {
			all[i].Query = []routes.Field{opt("limit", "integer"), opt("kind", "string"), opt("frob", "string"), opt("token", "string")}
		}
	}
	broken := func(now func() time.Time) http.Handler {
		service := plainCRUD(now)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/broken":
				reply(w, 500, nil)
			case "/end":
				panic("the end")
			default:
				service.ServeHTTP(w, r)
			}
		})
	}
	rec := record(t, &toy{handler: broken}, Options{Probes: []string{"/pets", "/broken", "/end", "/broken"}}, all...)
	if !slices.Equal(rec.Unready, []string{"/broken", "/end"}) {
		t.Errorf("%q never answer well, want /broken and /end, and none behind these", rec.Unready)
	}
	pets := group(t, rec, "pets")
	for id, want := range map[string]int{"create_owner": 201, "create_pet": 201, "get_pet": 200, "patch_pet": 200, "delete_pet": 204, "get_pet_after_delete": 404, "create_pet_empty": 400, "get_pet_missing": 404} {
		if got := status(pets, id); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	for id, want := range map[string]string{"list_pets_by_limit": "map[limit:1]", "list_pets_by_kind": "map[kind:map[$ref:create_pet:body/kind]]", "list_pets_by_frob": "map[]", "list_pets_by_token": "map[]"} {
		if got := fmt.Sprint(find(pets, id).Request.Query); got != want {
			t.Errorf("%s asks for %s, want %s", id, got, want)
		}
	}
	if own, others := pets.Own(); others != 1 || own < 10 {
		t.Errorf("%d own cases, %d of others", own, others)
	}
	if rec.Independent("pets", "owners") || !rec.Independent("owners", "pets") {
		t.Error("pets need owners, and owners need no pets")
	}
	if rec.Auth.Scheme != "" || rec.Auth.Reason != "" {
		t.Errorf("auth %+v", rec.Auth)
	}
	if p := find(pets, "get_pet_missing").Request.Params["id"]; fmt.Sprint(p) != "999999" {
		t.Errorf("what is not there is %v", p)
	}
	if c := find(pets, "get_pet_malformed"); c.Kind != contract.Malformed || c.Request.Params["id"] != "not-a-number" {
		t.Errorf("no number is %v in %s", c.Request.Params["id"], c.Kind)
	}
	// The lists have another order each time, which the merge takes for a set.
	g := group(t, rec, "owners")
	if _, err := contract.Merge(g.Cases, g.Replays); err != nil {
		t.Error(err)
	}
}

// located answers a create with a Location and nothing else.
func located204(func() time.Time) http.Handler {
	notes := map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/notes", func(w http.ResponseWriter, r *http.Request) {
		id := uuid()
		notes[id] = str(decode(r), "text")
		w.Header().Set("Location", "http://service.example/v2/notes/"+id)
		w.WriteHeader(201)
	})
	mux.HandleFunc("GET /v2/notes/{note_id}", func(w http.ResponseWriter, r *http.Request) {
		text, ok := notes[r.PathValue("note_id")]
		if !ok {
			reply(w, 404, nil)
			return
		}
		reply(w, 200, map[string]any{"text": text})
	})
	return mux
}

func TestLocationOnly(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: located204}, Options{}, rt("POST", "/v2/notes", "", req("text", "string")), rt("GET", "/v2/notes/{note_id}", ""))
	g := group(t, rec, "notes")
	if got := status(g, "get_note"); got != 200 {
		t.Errorf("the note that was made: %d", got)
	}
	if g.ReadBack() != 1 {
		t.Error("the create is not read back")
	}
	if p := find(g, "get_note_missing").Request.Params["note_id"]; p != "00000000-0000-4000-8000-000000000000" {
		t.Errorf("what is not there is %v", p)
	}
	if p := find(g, "get_note_malformed").Request.Params["note_id"]; p != "not-a-uuid" {
		t.Errorf("no UUID is %v", p)
	}
}

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

// TestOthersMayDelete: where anybody may delete, the variant goes and the happy case stays.
func TestOthersMayDelete(t *testing.T) {
	t.Parallel()
	open := func(now func() time.Time) http.Handler {
		inner := conduit(now)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "DELETE" && strings.Count(r.URL.Path, "/") == 3 && r.Header.Get("Authorization") != "" {
				// Everybody is the author here.
				copied := r.Clone(r.Context())
				if rec := probe(inner, copied); rec.Code == 403 {
					w.WriteHeader(204)
					return
				}
				w.WriteHeader(204)
				return
			}
			inner.ServeHTTP(w, r)
		})
	}
	rec := record(t, &toy{handler: open}, Options{}, conduitRoutes()...)
	g := group(t, rec, "articles")
	if status(g, "delete_article_other") != 0 {
		t.Error("the variant that deletes stays, and leaves nothing to delete")
	}
	if got := status(g, "delete_article"); got != 204 {
		t.Errorf("delete: %d", got)
	}
}

func probe(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

func hostileRoutes() []routes.Route {
	var out []routes.Route
	for n := range 12 {
		path := fmt.Sprintf("/things%d", n)
		out = append(out, rt("POST", path, "", req("title", "string")), rt("GET", path, ""), rt("GET", path+"/{id}", ""), rt("PUT", path+"/{id}", "", req("title", "string")), rt("DELETE", path+"/{id}", ""))
	}
	return append(out, rt("POST", "/register", "", req("email", "string"), req("password", "string")), rt("POST", "/login", "", req("email", "string"), req("password", "string")))
}

func TestHostile(t *testing.T) {
	t.Parallel()
	deep := []byte(strings.Repeat(`{"a":[`, 9000) + strings.Repeat(`]}`, 9000))
	endless := []byte(strings.Repeat("x", 64<<10))
	wide := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"token":"aaaaaaaaaaaaaaaaaaaa"},`, 20000), ",") + "]")
	for name, h := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for {
				_, _ = w.Write(endless)
			}
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"resets":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"errors":    func(w http.ResponseWriter, _ *http.Request) { reply(w, 500, map[string]any{"error": "x"}) },
		"deep":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(deep) },
		"wide":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wide) },
		"complains": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 422, map[string]any{"a": map[string]any{"b": "is required"}, "detail": []any{map[string]any{"loc": []any{"body", 0, "x"}}}})
		},
		"refuses": func(w http.ResponseWriter, _ *http.Request) { reply(w, 401, nil) },
		"taken":   func(w http.ResponseWriter, _ *http.Request) { reply(w, 409, "already exists") },
		"no_json": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\xff\xfe{{{")) },
		"bad_header": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "%zz://\x01")
			w.Header().Set("Set-Cookie", "=;;;")
			w.WriteHeader(201)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &toy{handler: func(func() time.Time) http.Handler { return h }}
			o := Options{Limits: Limits{Requests: 60, Cases: 30}}
			rec := record(t, s, o, hostileRoutes()...)
			// Finding: 60 requests for the users and for each of 14 groups, three times at most;
			// replaying: 30 cases a group, four times.
			if s.sent > 15*60*3+14*30*4 {
				t.Errorf("%d requests", s.sent)
			}
			for _, g := range rec.Groups {
				if len(g.Cases) > 30 {
					t.Errorf("%d cases", len(g.Cases))
				}
				for i, c := range g.Cases {
					if st := g.Replays[0][i].Answer.Status; name == "errors" && st >= 500 {
						t.Errorf("%s keeps a %d", c.ID, st)
					}
				}
			}
		})
	}
}

// TestKiller: an endpoint after which nobody answers is left out, and the others are kept.
func TestKiller(t *testing.T) {
	t.Parallel()
	dies := func(now func() time.Time) http.Handler {
		dead, inner := false, plainCRUD(now)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if dead = dead || r.URL.Path == "/owners/crash"; dead {
				panic(http.ErrAbortHandler)
			}
			inner.ServeHTTP(w, r)
		})
	}
	rec := record(t, &toy{handler: dies}, Options{}, append(crudRoutes(), rt("GET", "/owners/crash", ""))...)
	g := group(t, rec, "owners")
	if n, of := g.Answered(); n != 5 || of != 6 {
		t.Errorf("%d of %d answered", n, of)
	}
	if !slices.ContainsFunc(g.Left, func(l Left) bool { return strings.Contains(l.What, "crash") }) {
		t.Errorf("left: %v", g.Left)
	}
}

func TestFaultsOfTheMachine(t *testing.T) {
	t.Parallel()
	fault := errors.New("no space left on device")
	if _, err := Record(t.Context(), routes.Table{Routes: crudRoutes()}, &toy{fail: fault}, Options{Sleep: noSleep}); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
	var not *contract.NotReady
	if _, err := Record(t.Context(), routes.Table{Routes: crudRoutes()}, &toy{fail: &contract.NotReady{Why: "it ended"}}, Options{Sleep: noSleep}); !errors.As(err, &not) {
		t.Errorf("error %v", err)
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	upload := rt("POST", "/files", "", routes.Field{Name: "file", Type: "file", Required: true})
	rec := record(t, &toy{handler: plainCRUD}, Options{}, append(crudRoutes(), rt("HEAD", "/owners", ""), rt("OPTIONS", "/owners", ""), rt("ANY", "/x", ""),
		rt("GET", "/ws", ""), rt("GET", "/events/stream", ""), rt("GET", "/static/{path...}", ""), rt("GET", "/docs", ""), upload)...)
	if len(rec.Left) != 8 {
		t.Errorf("left out: %v", rec.Left)
	}
	for _, g := range rec.Groups {
		for _, c := range g.Cases {
			if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, c.Endpoint.Method) {
				t.Errorf("%s is sent", c.Endpoint)
			}
		}
	}
}

// TestDeleteAnother: what others refer to cannot be deleted, so another one is made for that.
func TestDeleteAnother(t *testing.T) {
	t.Parallel()
	guarded := func(now func() time.Time) http.Handler {
		inner, used, names := plainCRUD(now), false, map[string]bool{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == "DELETE" && r.URL.Path == "/owners/41" && used:
				w.WriteHeader(500)
				return
			case strings.HasSuffix(r.URL.Path, "/notes"):
				used = true
				reply(w, 201, map[string]any{"id": 7})
				return
			case r.Method == "POST" && r.URL.Path == "/owners":
				body := decode(r)
				if names[str(body, "name")] {
					w.WriteHeader(409)
					return
				}
				names[str(body, "name")] = true
				r.Body = http.NoBody
				if name := str(body, "name"); name != "" {
					r.Body = io.NopCloser(strings.NewReader(`{"name":"` + name + `"}`))
				}
			}
			inner.ServeHTTP(w, r)
		})
	}
	rec := record(t, &toy{handler: guarded}, Options{}, append(crudRoutes(), rt("POST", "/owners/{id}/notes", "", req("text", "string")))...)
	g := group(t, rec, "owners")
	if n, of := g.Answered(); n != of {
		t.Errorf("%d of %d answered: %v", n, of, g.Left)
	}
	if status(g, "create_owner_to_delete") != 201 || status(g, "delete_owner") != 204 {
		t.Error(describe(g))
	}
}

// TestPathInBody: a body that names what its path names has the same value.
func TestPathInBody(t *testing.T) {
	t.Parallel()
	var s session
	b := built{}
	b.request.Params = map[string]any{"slug": "a-b"}
	v, ok := s.value(&b, newRoute(rt("PUT", "/articles/{slug}", "")), req("slug", "string"), form{}, identity{}, 0)
	if !ok || v != "a-b" {
		t.Errorf("%v %v", v, ok)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	rec := record(t, &toy{handler: conduit}, Options{Limits: Limits{Requests: 12}}, conduitRoutes()...)
	if g := group(t, rec, "articles"); g.Sent > 12 || len(g.Left) == 0 {
		t.Errorf("%d requests; left: %v", g.Sent, g.Left)
	}
	rec = record(t, &toy{handler: conduit}, Options{Limits: Limits{Cases: 9}}, conduitRoutes()...)
	if g := group(t, rec, "articles"); len(g.Cases) > 9 || len(g.Left) == 0 {
		t.Errorf("%d cases; left: %v", len(g.Cases), g.Left)
	}
	dead := func(func() time.Time) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}
	s := &toy{handler: dead}
	rec = record(t, s, Options{}, rt("GET", "/a/1", ""), rt("GET", "/a/2", ""), rt("GET", "/a/3", ""), rt("GET", "/a/4", ""), rt("GET", "/a/5", ""))
	if g := group(t, rec, "a"); g.Sent > 3*restarts || len(g.Cases) > 0 {
		t.Errorf("%d requests to nobody", g.Sent)
	}
}

// TestBusyMachine: what was not answered in time is asked once more.
func TestBusyMachine(t *testing.T) {
	t.Parallel()
	starts := 0
	slow := func(now func() time.Time) http.Handler {
		starts++
		here, first := starts, true
		inner := plainCRUD(now)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if here%4 == 0 && first && r.Method == "GET" {
				first = false
				panic(http.ErrAbortHandler)
			}
			inner.ServeHTTP(w, r)
		})
	}
	rec := record(t, &toy{handler: slow}, Options{}, crudRoutes()...)
	for _, g := range rec.Groups {
		for n, r := range g.Replays {
			if silences(r) > 0 {
				t.Errorf("group %s, replay %d: %d requests without an answer", g.Name, n, silences(r))
			}
		}
	}
}

// TestNoBodies: where the code says nothing of bodies, those of users are guessed.
func TestNoBodies(t *testing.T) {
	t.Parallel()
	all := conduitRoutes()
	for i := range all {
		if strings.HasPrefix(all[i].Path, "/api/users") {
			all[i].Body = nil
		}
	}
	rec := record(t, &toy{handler: conduit}, Options{}, all...)
	if n, _ := group(t, rec, "articles").Answered(); n != 7 || !rec.Auth.Verified {
		t.Errorf("%d answered, auth %+v", n, rec.Auth)
	}
}

// TestSomebodyElse: what is done to a user is done to another one, also where oneself is
// allowed, and where only the answer says that it must be.
func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	anybody := func(now func() time.Time) http.Handler {
		inner := conduit(now)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rest, follow := strings.CutSuffix(r.URL.Path, "/follow")
			name, rate := strings.CutSuffix(strings.TrimPrefix(rest, "/api/profiles/"), "/rating")
			switch {
			case follow && name != "":
				reply(w, 200, map[string]any{"followed": name})
			case rate && name == "casey1":
				reply(w, 403, map[string]any{"message": "not yourself"})
			case rate:
				reply(w, 200, map[string]any{"rated": name})
			default:
				inner.ServeHTTP(w, r)
			}
		})
	}
	rec := record(t, &toy{handler: anybody}, Options{}, append(conduitRoutes(), rt("POST", "/api/profiles/{username}/rating", "required"))...)
	g := group(t, rec, "profiles")
	for i, c := range g.Cases {
		if target := g.Replays[0][i].Wire.Target; c.Kind == contract.Happy && c.Endpoint.Method == "POST" && c.Group == "profiles" && !strings.Contains(target, "casey2") {
			t.Errorf("%s is done to %s", c.ID, target)
		}
	}
	if status(g, "post_profile_rating") != 200 {
		t.Errorf("rating: %d", status(g, "post_profile_rating"))
	}
}

// TestCandidates: a parameter takes the value of its own noun, from the first answer that has it.
func TestCandidates(t *testing.T) {
	t.Parallel()
	s := &session{answers: map[string]contract.Answer{}, dead: map[string]bool{}}
	learn := func(method, path, id, body string) {
		c := contract.Case{ID: id}
		s.learn(newRoute(rt(method, path, "")), c, contract.Answer{Status: 200, Headers: map[string]string{}, Body: []byte(body)}, false)
		s.cases = append(s.cases, c)
	}
	learn("GET", "/pets", "list_pets", `[{"id": 9, "owner": {"id": 8}}]`)
	learn("POST", "/owners", "create_owner", `{"id": 1, "name": "x"}`)
	learn("POST", "/pets", "create_pet", `{"id": 2, "owner_id": 1}`)
	learn("POST", "/pets/{id}/vaccinations", "create_vaccination", `{"pet": {"id": 2}, "id": 3}`)
	learn("POST", "/users", "create_user", `{"id": 4}`)
	learn("PATCH", "/users/me", "patch_me", `{"id": 5}`)
	for path, want := range map[string]string{"/users/{id}": "create_user:body/id", "/pets/{id}": "create_pet:body/id", "/pets/{petId}/x": "create_pet:body/id", "/owners/{owner_id}": "create_owner:body/id", "/vaccinations/{id}": "create_vaccination:body/id"} {
		r := newRoute(rt("GET", path, ""))
		all, sure := s.candidates(r.wantOf(r.params[0]))
		if len(all) == 0 || !sure || fmt.Sprint(all[0].expr) != "map[$ref:"+want+"]" {
			t.Errorf("%s takes %v", path, all)
		}
	}
}

// TestFrozen: cases of other groups stay only where one of the group needs them.
func TestFrozen(t *testing.T) {
	t.Parallel()
	s := &session{group: "a", answers: map[string]contract.Answer{}}
	one := func(id, group string, needs ...string) contract.Case {
		return contract.Case{ID: id, Group: group, Needs: needs, Endpoint: schemas.Endpoint{Method: "GET", Path: "/" + id}}
	}
	s.cases = []contract.Case{one("b1", "b"), one("b2", "b", "b1"), one("b3", "b", "b1"), one("a1", "a", "b2")}
	var got []string
	for _, c := range s.frozen() {
		got = append(got, c.ID)
	}
	if want := []string{"b1", "b2", "a1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	six, three, ten, hundred := 6.0, 3.0, 10.0, 100.0
	for _, c := range []struct {
		field  routes.Field
		want   any
		second any
	}{
		{routes.Field{Name: "title", Type: "string"}, "First title", "Second title"},
		{routes.Field{Name: "code", Type: "string", Pattern: `^[A-Z]{3}-\d{2}$`}, "AAA-11", "AAA-11"},
		{routes.Field{Name: "grant_type", Type: "string", Pattern: "^password$"}, "password", "password"},
		{routes.Field{Name: "tag", Type: "string", Min: &six}, "alphax", "betaxx"},
		{routes.Field{Name: "title", Type: "string", Max: &three}, "Fir", "Sec"},
		{routes.Field{Name: "level", Type: "integer", Min: &ten, Max: &hundred}, json.Number("11"), json.Number("11")},
		{routes.Field{Name: "level", Type: "integer", Enum: []string{"5", "7"}}, json.Number("5"), json.Number("7")},
		{routes.Field{Name: "x", Type: "string", Format: "uuid"}, "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"},
		{routes.Field{Name: "due_date"}, "2030-03-05T10:00:00Z", "2030-04-06T10:00:00Z"},
		{routes.Field{Name: "tagList", Type: "array"}, []any{"alpha"}, []any{"beta"}},
		{routes.Field{Name: "done"}, true, true},
		{routes.Field{Name: "quantity"}, json.Number("1"), json.Number("2")},
	} {
		if d := cmp.Diff(c.want, sample(c.field, false)); d != "" {
			t.Errorf("%+v: %s", c.field, d)
		}
		if d := cmp.Diff(c.second, sample(c.field, true)); d != "" {
			t.Errorf("%+v, second: %s", c.field, d)
		}
	}
}

// TestBodies: what is optional and unknown is left out, literals of the code come first, and
// the identity replaces their users.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := (&recorder{options: Options{}.filled()}).session(t.Context(), nil, "")
	who := s.options.identity(1)
	r := newRoute(rt("POST", "/users", "", req("email", "string"), opt("frobnication", "string"), opt("bio", "string"), opt("token", "string"),
		routes.Field{Name: "motto", Type: "string", Example: "per aspera"}, routes.Field{Name: "profile", Type: "object", Example: map[string]any{"username": "bob", "age": 7}}))
	var b built
	s.body(&b, r, form{}, who)
	want := map[string]any{"email": "casey1@example.com", "bio": "About me", "motto": "per aspera", "profile": map[string]any{"username": "casey1", "age": json.Number("7")}}
	if d := cmp.Diff(want, b.request.Body); d != "" {
		t.Error(d)
	}
	b = built{}
	s.body(&b, r, form{minimal: true}, who)
	if d := cmp.Diff(map[string]any{"email": "casey1@example.com"}, b.request.Body); d != "" {
		t.Error(d)
	}
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	nested := map[string]any{"user": map[string]any{"email": "a"}}
	for _, c := range []struct {
		answer string
		body   any
		want   string
	}{
		{`{"detail":[{"loc":["body","user","age"],"msg":"field required","type":"value_error.missing"}]}`, nested, "user/age"},
		{`{"detail":[{"loc":["query","q"],"msg":"field required","type":"missing"}]}`, nil, "?q"},
		{`{"errors":{"json":{"title":["Missing data for required field."]}}}`, map[string]any{}, "title"},
		{`{"errors":[{"source":{"pointer":"/data/attributes/title"},"detail":"can't be blank"}]}`, map[string]any{}, "data/attributes/title"},
		{`{"error":"Key: 'Article.Title' Error:Field validation for 'Title' failed on the 'required' tag"}`, map[string]any{"title": 1}, "title"},
		{`{"errors":{"Email":"{key: required}"}}`, nested, "user/email"},
		{`{"message":"username and password are required"}`, nil, "username password"},
		{`title is required`, nil, "title"},
		{`{"error":"missing required parameter: 'name'"}`, nil, "name"},
		{`{"error":"the request is not valid"}`, nil, ""},
	} {
		var got []string
		for _, r := range repairs(contract.Answer{Status: 422, Body: []byte(c.answer)}, c.body) {
			p := strings.Join(r.path, "/")
			if r.query {
				p = "?" + p
			}
			got = append(got, p)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.answer, s, c.want)
		}
	}
}
