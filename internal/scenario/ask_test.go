package scenario

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/routes"
)

// hooked is a toy whose handlers tell what they read: of a request that credentials let in, the body of its route.
type hooked struct {
	toy
	all []routes.Route
}

func (s *hooked) Fresh(ctx context.Context, shifted bool) (contract.Client, func() ([]byte, error), error) {
	c, stop, err := s.toy.Fresh(ctx, shifted)
	return &hookedClient{Client: c, all: s.all}, stop, err
}

type hookedClient struct {
	contract.Client
	all  []routes.Route
	told look.Report
}

func (c *hookedClient) Do(ctx context.Context, w contract.Wire) (contract.Answer, error) {
	a, err := c.Client.Do(ctx, w)
	path, _, _ := strings.Cut(w.Target, "?")
	for _, r := range c.all {
		if r.Method == w.Method && r.Body != nil && (r.Auth == "" || w.Headers["Authorization"] != "") && fits(r.Path, path) {
			c.told.Reads = append(c.told.Reads, look.Fact{Fact: "body", Method: w.Method, Path: path, In: "json", Fields: r.Body.Fields})
		}
	}
	return a, err
}

func (c *hookedClient) Told(context.Context) (look.Report, error) { return c.told, nil }

func (c *hookedClient) Port() int { return 0 }

// fits reports whether a path is one of a template.
func fits(template, path string) bool {
	a, b := strings.Split(template, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}
	return true
}

// TestToldBodies: of a service whose handlers tell what they read, the scenario is the one of a table that knows it before.
func TestToldBodies(t *testing.T) {
	t.Parallel()
	all := conduitRoutes()
	known := record(t, &toy{handler: conduit}, Options{}, all...)
	bare := slices.Clone(all)
	for i := range bare {
		bare[i].Body, bare[i].Auth = nil, ""
	}
	server := &hooked{toy: toy{handler: conduit}, all: all}
	table, unready, err := Ask(t.Context(), server, routes.Table{Routes: bare})
	if err != nil || len(unready) > 0 {
		t.Fatal(unready, err)
	}
	for _, r := range table.Routes {
		if strings.HasPrefix(r.Path, "/api/user") && r.Method == http.MethodPost && r.Body == nil {
			t.Errorf("%s %s: its handler read a body, and none is known", r.Method, r.Path)
		}
		if r.Path == "/api/user" && r.Auth != "required" {
			t.Errorf("%s %s asks for credentials", r.Method, r.Path)
		}
	}
	told := record(t, &toy{handler: conduit}, Options{Look: server}, table.Routes...)
	for _, g := range known.Groups {
		ids := func(g *Group) (out []string) {
			for _, c := range g.Cases {
				out = append(out, c.ID)
			}
			slices.Sort(out)
			return out
		}
		got := group(t, told, g.Name)
		if diff := cmp.Diff(ids(g), ids(got)); diff != "" {
			t.Errorf("group %s (-a table that knows +told):\n%s", g.Name, diff)
		}
		if g.ReadBack() != got.ReadBack() {
			t.Errorf("group %s: %d read back, %d of a table that knows", g.Name, got.ReadBack(), g.ReadBack())
		}
	}
}

// TestAskAnyMethod: a route of any method becomes one for each method that it does not refuse.
func TestAskAnyMethod(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/items", func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			reply(w, 200, []any{})
		case http.MethodPost:
			reply(w, 400, nil)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	mux.HandleFunc("/same", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, nil) })
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { reply(w, 500, nil) })
	server := &hooked{toy: toy{handler: func(func() time.Time) http.Handler { return mux }}}
	got, unready, err := Ask(t.Context(), server, routes.Table{Routes: []routes.Route{{Path: "/items"}, {Path: "/same"}, {Method: "GET", Path: "/bad"}}})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range got.Routes {
		all = append(all, r.Method+" "+r.Path)
	}
	if diff := cmp.Diff([]string{"GET /bad", "GET /items", "POST /items", "GET /same"}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/bad"}, unready); diff != "" {
		t.Errorf("unready (-want +got):\n%s", diff)
	}
}
