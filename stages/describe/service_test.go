package describe

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// TestInstruction: each endpoint is told with what it is sent and must answer; a value that was
// sent, or that differs from run to run, is told by its type, and a constant as it is.
func TestInstruction(t *testing.T) {
	t.Parallel()
	value := func(v any) *contract.Matcher { return &contract.Matcher{Equal: &v} }
	post := schemas.Endpoint{Method: "POST", Path: "/api/books", Handler: "app.py::add_book"}
	post.Takes = routes.Route{Auth: "required", Body: &routes.Body{Encoding: "json", Fields: []routes.Field{{Name: "title", Type: "string", Required: true}}}}.Takes()
	get := schemas.Endpoint{Method: "GET", Path: "/api/books/{id}", Handler: "app.go::setup:12"}
	i := instruction{
		start: schemas.Start{Repo: "acme/shelf", Group: &schemas.Group{Name: "books", Framework: "flask", Endpoints: []schemas.Endpoint{post, get}}},
		suite: contract.Suite{Groups: []*contract.Group{
			{Name: "books", Cases: []contract.Case{
				{ID: "add", Group: "books", Kind: contract.Happy, Endpoint: post, Request: contract.Request{Body: map[string]any{"title": "Sent title"}}, Expect: &contract.Expect{Status: 201, Body: &contract.Matcher{Object: map[string]*contract.Matcher{
					"title": value("Sent title"), "id": {Form: "uuid"}, "state": value("on the shelf"), "lent": value(false),
				}}}},
				{ID: "add_anonymous", Group: "books", Kind: contract.Anonymous, Endpoint: post, Expect: &contract.Expect{Status: 401}},
				{ID: "get", Group: "books", Kind: contract.Happy, Endpoint: get, Expect: &contract.Expect{Status: 200, Body: &contract.Matcher{Object: map[string]*contract.Matcher{"title": value("Sent title")}}}},
				{ID: "get_zero", Group: "books", Kind: contract.Extra, Endpoint: get, Request: contract.Request{Params: map[string]any{"id": "0"}, Query: map[string]any{"of": map[string]any{contract.RefKey: "add:body/id"}}}, Expect: &contract.Expect{Status: 404}},
				{ID: "add_long", Group: "books", Kind: contract.Extra, Endpoint: post, Request: contract.Request{Encoding: "json", Body: map[string]any{"pages": []any{-1}}, Headers: map[string]any{"Authorization": "x"}}, Expect: &contract.Expect{Status: 422}},
				{ID: "list_plain", Group: "books", Kind: contract.Extra, Endpoint: get, Expect: &contract.Expect{Status: 400}},
				{ID: "get_after_delete", Group: "books", Kind: contract.Deleted, Endpoint: get, Expect: &contract.Expect{Status: 410}},
				{ID: "silent", Group: "books", Kind: contract.Happy, Endpoint: get},
			}},
			{Name: "tags", Cases: []contract.Case{{ID: "tags", Group: "tags", Kind: contract.Happy, Endpoint: schemas.Endpoint{Method: "GET", Path: "/api/tags"}, Expect: &contract.Expect{Status: 200, Body: &contract.Matcher{Object: map[string]*contract.Matcher{"tags": {Type: "array"}}}}}}},
		}},
		service: &schemas.Service{Port: 5000, Start: schemas.Command{Argv: []string{"flask", "run"}}},
	}
	got := i.text()
	for _, want := range []string{
		"Implement the 2 endpoints of the group `books` of acme/shelf, a web service written with Flask.",
		"- `setup:12` in `app.go`, a function without a name: there `masked: setup:12` stands\n- `add_book` in `app.py`\n", "\nPOST /api/books\n- It asks for the credentials of a user.\n- The body (JSON) has: `title` (string, required).\n",
		"- It answers 201 Created: `{\"id\": uuid, \"lent\": boolean, \"state\": \"on the shelf\", \"title\": string}`.\n",
		"- Without credentials it answers 401 Unauthorized.\n", "- It answers 200 OK: `{\"title\": string}`.\n", "- Asked for what was deleted, it answers 410 Gone.\n",
		"- Asked with path parameters `{\"id\":\"0\"}` and query parameters `{\"of\":\"…\"}` without credentials it answers 404 Not Found.\n",
		"- Asked with the body `{\"pages\":[-1]}` by a user it answers 422 Unprocessable Entity.\n", "- Asked without credentials it answers 400 Bad Request.\n",
		"For example, GET /api/tags of another group answers 200: `{\"tags\": array}`.", "The service is started with `flask run` and asked on port 5000.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Sent title") {
		t.Errorf("a value that was sent is told:\n%s", got)
	}
	for bare, notes := range map[bool]int{false: 4, true: 1} { // the image that must be used is none
		i.start.Deploy = &schemas.Deploy{Image: "base:1", Port: 5000, Bare: bare}
		_, asked, _ := strings.Cut(i.text(), "The service has no environment yet")
		if got := strings.Count(asked, "\n- "); got != notes || !strings.Contains(asked, "`FROM base:1`") {
			t.Errorf("bare %t: %d notes in\n%s", bare, got, asked)
		}
	}
}
