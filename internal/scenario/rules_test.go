package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

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
		{routes.Field{Name: "user_role", Type: "string"}, "user", "user"},
		{routes.Field{Name: "homeCity", Type: "string"}, "Madison", "Salem"},
		{routes.Field{Name: "payrole", Type: "string"}, "text", "other text"},
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
		{`{"error":{"code":"bad_request","message":"Request validation has failed","fields":{"people":["Missing data for required field."]}}}`, nil, "people"},
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

// TestRelated: a list that names what does not exist is sent empty, and a key of another thing is a number.
func TestRelated(t *testing.T) {
	t.Parallel()
	body := map[string]any{"tags": []any{1}, "owner": 1}
	f := form{}.repair(repairs(contract.Answer{Status: 400, Body: []byte(`{"tags":["Invalid pk \"1\" - object does not exist."],"shop":["Incorrect type. Expected pk value, received str."]}`)}, body))
	got := fmt.Sprint(f.sets)
	if want := "[{[shop] 1} {[tags] []}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
