package scenario

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

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
