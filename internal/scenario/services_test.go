package scenario

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
