package routes_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/users/:id":                        "/users/{id} [id]",
		"/users/:id<int>/posts/:post?":      "/users/{id}/posts/{post} [id integer post]",
		"/files/*path":                      "/files/{path...} [path]",
		"/files/*":                          "/files/{rest...} [rest]",
		"/files/<path:name>":                "/files/{name...} [name]",
		"/users/<int:id>":                   "/users/{id} [id integer]",
		"/users/<name>/<uuid:key>/":         "/users/{name}/{key}/ [name key string uuid]",
		"/articles/{slug}":                  "/articles/{slug} [slug]",
		"/articles/{id:[0-9]+}":             "/articles/{id} [id integer]",
		"/articles/{id:[a-z]{2}}/{rest...}": "/articles/{id}/{rest...} [id rest]",
		"/articles/{$}":                     "/articles/ []",
		"users":                             "/users []",
		"/time/12:30":                       "/time/12:30 []",
	} {
		template, params := routes.Parameters(path)
		var said []string
		for _, p := range params {
			said = append(said, p.Name)
			for _, s := range []string{p.Type, p.Format} {
				if s != "" {
					said = append(said, s)
				}
			}
		}
		if got := fmt.Sprintf("%s %v", template, said); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// What a configuration may name is what is hooked.
func TestFrameworks(t *testing.T) {
	t.Parallel()
	var hooked []string
	for _, f := range routes.Frameworks {
		if f.Hooked {
			hooked = append(hooked, f.Name)
		}
	}
	slices.Sort(hooked)
	if diff := cmp.Diff(slices.Sorted(slices.Values(schemas.Frameworks)), hooked); diff != "" {
		t.Errorf("schemas.Frameworks and those that are hooked (-want +got):\n%s", diff)
	}
}

type tree map[string]string

func (t tree) Paths() (out []string) {
	for p := range t {
		out = append(out, p)
	}
	return out
}

func (t tree) Read(p string) ([]byte, error) { return []byte(t[p]), nil }

func TestGate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		language string
		files    tree
		want     routes.Guess
	}{
		"gin": {"go", tree{
			"main.go": "package main\nimport (\n\t\"net/http\"\n\t\"github.com/gin-gonic/gin\"\n)\nfunc main() { g := gin.New(); v := g.Group(\"/api/v1\"); v.GET(\"/users/:id\", get); v.POST(`/items`, post) }\n",
		}, routes.Guess{Framework: "gin", Hooked: true, Declared: 3, Groups: []string{"items", "users"}}},
		"net_http": {"go", tree{
			"main.go":      "package main\nimport \"net/http\"\nfunc main() { http.HandleFunc(\"GET /tasks\", get) }\n",
			"main_test.go": "package main\nimport \"github.com/gin-gonic/gin\"\n",
		}, routes.Guess{Framework: "net/http", Hooked: true, Declared: 1, Groups: []string{"tasks"}}},
		"known_and_not_hooked": {"go", tree{"main.go": "package main\nimport (\n\t\"net/http\"\n\t\"github.com/kataras/iris/v12\"\n)\n"}, routes.Guess{Framework: "Iris"}},
		"flask": {"python", tree{
			"app.py":        "from flask import Blueprint\nbp = Blueprint('x', url_prefix='/orders')\n@bp.route('/<int:id>')\ndef one(id): pass\n",
			"tests/test.py": "import django\n",
		}, routes.Guess{Framework: "flask", Hooked: true, Declared: 2, Groups: []string{"orders"}}},
		"django":  {"python", tree{"urls.py": "from django.urls import path\nurlpatterns = [path('books/<int:pk>/', view)]\n"}, routes.Guess{Framework: "django", Hooked: true, Declared: 1, Groups: []string{"books"}}},
		"client":  {"python", tree{"x.py": "import aiohttp\n"}, routes.Guess{}},
		"aiohttp": {"python", tree{"x.py": "from aiohttp import web\napp.router.add_get('/a', h)\n"}, routes.Guess{Framework: "aiohttp", Hooked: true, Declared: 1, Groups: []string{"a"}}},
		"nothing": {"go", tree{"x.go": "package x\n"}, routes.Guess{}},
	} {
		if diff := cmp.Diff(c.want, routes.Gate(c.files, c.language)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
