package survey_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/survey"
)

// app is what the history declares; notes is the same as it answers.
const app = `-- commit: Notes --
-- app.py --
from flask import Flask, jsonify, request

app = Flask(__name__)
notes = {}


@app.get("/api/notes")
def list_notes():
    return jsonify(list(notes.values()))


@app.post("/api/notes")
def add_note():
    note = {"id": len(notes) + 1, "text": request.json["text"]}
    notes[note["id"]] = note
    return jsonify(note), 201


@app.get("/api/notes/<int:number>")
def get_note(number):
    if number not in notes:
        return jsonify(error="no such note"), 404
    return jsonify(notes[number])


@app.get("/api/tags")
def list_tags():
    return jsonify([])


@app.get("/api/mail")
def list_mail():
    return jsonify([]), 503


@app.post("/api/mail")
def send_mail():
    return jsonify(error="no server"), 503
`

// notes is a service that starts anew each time.
type notes struct{ starts *int }

func (notes) Shifts() bool { return false }

func (n notes) Fresh(context.Context, bool) (contract.Client, func() ([]byte, error), error) {
	*n.starts++
	var mu sync.Mutex
	var all []map[string]any
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /api/notes", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("turn") != "" && *n.starts%3 == 0 { // it differs from start to start
			answer(w, 202, []any{})
			return
		}
		answer(w, 200, append([]map[string]any{}, all...))
	})
	mux.HandleFunc("POST /api/notes", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if json.NewDecoder(r.Body).Decode(&in) != nil || in["text"] == nil {
			answer(w, 400, map[string]any{"error": "text is missing"})
			return
		}
		note := map[string]any{"id": len(all) + 1, "text": in["text"]}
		all = append(all, note)
		answer(w, 201, note)
	})
	mux.HandleFunc("GET /api/notes/{number}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("number"))
		if n == 500 {
			answer(w, 500, map[string]any{"error": "out of range"})
			return
		}
		if err != nil || n < 1 || n > len(all) {
			answer(w, 404, map[string]any{"error": "no such note"})
			return
		}
		answer(w, 200, all[n-1])
	})
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, []any{}) })
	mux.HandleFunc("/api/mail", func(w http.ResponseWriter, _ *http.Request) { answer(w, 503, map[string]any{"error": "no server"}) })
	return client(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		mux.ServeHTTP(w, r)
	}), func() ([]byte, error) { return nil, nil }, nil
}

type client http.HandlerFunc

func (c client) Do(ctx context.Context, w contract.Wire) (contract.Answer, error) {
	r := httptest.NewRequestWithContext(ctx, w.Method, w.Target, strings.NewReader(string(w.Body)))
	for k, v := range w.Headers {
		r.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	c(rec, r)
	headers := map[string]string{}
	for k := range rec.Header() {
		headers[strings.ToLower(k)] = rec.Header().Get(k)
	}
	return contract.Answer{Status: rec.Code, Headers: headers, Body: rec.Body.Bytes()}, nil
}

// starter starts notes at the commits that ends does not name.
type starter struct {
	ends    map[string]error // by subject of the commit
	begun   []string
	starts  int
	stopped int
}

func (s *starter) Start(_ context.Context, c survey.Commit, framework string) (survey.Started, func() error, error) {
	out := survey.Started{Recipe: schemas.Recipe{Service: &schemas.Service{Port: 8000}}, Server: notes{&s.starts}, Table: routes.Table{Framework: framework}}
	s.begun = append(s.begun, c.Release.Tag)
	for _, p := range c.Tree.Paths() {
		data, err := c.Tree.Read(p)
		if err != nil {
			return out, nil, err
		}
		for word, err := range s.ends {
			if strings.Contains(string(data), word) {
				return out, nil, err
			}
		}
		for _, m := range declaration.FindAllStringSubmatch(string(data), -1) {
			r := routes.Route{Method: strings.ToUpper(m[1] + m[4]), Path: routes.Template(m[2] + m[5])}
			if m[3] != "" {
				r.Handler = routes.Function{Path: p, Name: m[3]}
			}
			out.Table.Routes = append(out.Table.Routes, r)
		}
	}
	return out, func() error { s.stopped++; return nil }, nil
}

// declaration is how the histories here declare their routes, which starter tells.
var declaration = regexp.MustCompile(`@app\.(\w+)\(["'](.*?)["']\)\ndef (\w+)|HandleFunc\("(\w+) (.*?)"`)

func (s *starter) Variant(r schemas.Recipe) (schemas.Deploy, []byte, error) {
	return schemas.Deploy{Image: "benchmint/base:ab12", Port: r.Service.Port}, []byte("[]"), nil
}

type one struct{ *gitrepo.Repo }

func (o one) Open(context.Context, schemas.Repo) (*gitrepo.Repo, func(), error) {
	return o.Repo, func() {}, nil
}

func run(t *testing.T, history string, s *starter, c survey.Config, only ...string) ([]schemas.Cut, *blob.Store, error) {
	t.Helper()
	repo, err := gitrepo.Open(t.Context(), gitrepotest.New(t, history), "acme/notes", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	releases, err := repo.Releases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Languages = []string{"go", "python"}
	cuts, err := survey.New(one{repo}, s, blobs, c).Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: repo.Info(), Only: only}, Releases: releases})
	return cuts, blobs, err
}

func ends(cuts []schemas.Cut) map[string]schemas.Reason {
	out := map[string]schemas.Reason{}
	for _, c := range cuts {
		out[c.Group.Name] = c.Group.Refused
	}
	return out
}

// TestRun: a group that answers and reads back becomes a task with a suite of its own cases and
// of those that do not need it; each other one has its reason.
func TestRun(t *testing.T) {
	t.Parallel()
	s := &starter{}
	cuts, blobs, err := run(t, app, s, survey.Default())
	if err != nil {
		t.Fatal(err)
	}
	got := ends(cuts)
	want := map[string]schemas.Reason{"notes": "", "tags": schemas.SmallGroup, "mail": schemas.SilentGroup}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, want %v: %+v", got, want, cuts)
	}
	if s.stopped != 1 || len(s.begun) != 1 {
		t.Errorf("begun %v, stopped %d times", s.begun, s.stopped)
	}
	i := slices.IndexFunc(cuts, func(c schemas.Cut) bool { return c.Group.Name == "notes" })
	c := cuts[i]
	if !slices.Equal(c.Slice.Handlers, []string{"app.py::add_note", "app.py::get_note", "app.py::list_notes"}) || c.Kind() != schemas.KindService || !strings.HasSuffix(c.ID(), ".notes.service") {
		t.Errorf("%s: %+v", c.ID(), c.Slice)
	}
	raw, err := blobs.Get(c.Group.Suite)
	if err != nil {
		t.Fatal(err)
	}
	suite, err := contract.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/api/tags"}; !slices.Equal(suite.Ready, want) {
		t.Errorf("ready is told by %q, want %q: the mail never answers", suite.Ready, want)
	}
	var groups []string
	judged := 0
	for _, g := range suite.Groups {
		groups = append(groups, g.Name)
		for _, x := range g.Cases {
			if x.Expect != nil && g.Name == "notes" {
				judged++
			}
			if x.Expect != nil && x.Expect.Status >= 500 {
				t.Errorf("%s holds %d", x.ID, x.Expect.Status)
			}
		}
	}
	if !slices.Equal(groups, []string{"notes", "tags"}) || judged < 4 {
		t.Errorf("groups %v, %d judged cases of notes", groups, judged)
	}
}

var appBody = app[strings.Index(app, "from flask"):]

// TestWalkBack: a commit whose service does not start is passed over, as far as is asked for, and
// the reason of the newest one is told where none starts.
func TestWalkBack(t *testing.T) {
	t.Parallel()
	not := pipeline.Reject(schemas.NotStarted, "it ends")
	history := "-- commit: Start --\n-- app.py --\n# old\n" + appBody + "-- commit: Break --\n-- app.py --\n# broken\n" + appBody
	s := &starter{ends: map[string]error{"# broken": not}}
	cuts, _, err := run(t, history, s, survey.Default())
	if err != nil || len(s.begun) != 2 || ends(cuts)["notes"] != "" || len(cuts) == 0 {
		t.Errorf("%v, begun %v, %v", ends(cuts), s.begun, err)
	}
	s = &starter{ends: map[string]error{"# broken": not}}
	c := survey.Default()
	c.WalkBack = 0
	_, _, err = run(t, history, s, c)
	var rejected *pipeline.Rejected
	if !errors.As(err, &rejected) || rejected.Reason != schemas.NotStarted || len(s.begun) != 1 {
		t.Errorf("begun %v, %v", s.begun, err)
	}
	fault := errors.New("the disk is full")
	if _, _, err := run(t, history, &starter{ends: map[string]error{"# broken": fault}}, survey.Default()); !errors.Is(err, fault) {
		t.Errorf("a fault of the machine: %v", err)
	}
}

// TestOnly: a commit and a group can be chosen, by the ID of a task too, and a group that is not
// there is named with the nearest.
func TestOnly(t *testing.T) {
	t.Parallel()
	cuts, _, err := run(t, app, &starter{}, survey.Default(), "notes")
	if err != nil || len(cuts) != 1 {
		t.Fatalf("%v, %v", ends(cuts), err)
	}
	id, err := schemas.ParseInstanceID(cuts[0].ID())
	if err != nil {
		t.Fatal(err)
	}
	s := &starter{}
	again, _, err := run(t, app, s, survey.Default(), id.Key)
	if err != nil || len(again) != 1 || again[0].ID() != cuts[0].ID() {
		t.Errorf("%s: %v, %v", id.Key, ends(again), err)
	}
	_, _, err = run(t, app, &starter{}, survey.Default(), "ntoes")
	if err == nil || !strings.Contains(err.Error(), "did you mean notes?") {
		t.Errorf("%v", err)
	}
}

// TestDeclared: where no group can be masked, or all are too small, nothing is recorded; the
// commits before it are looked at all the same.
func TestDeclared(t *testing.T) {
	t.Parallel()
	const small = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/api/tags')\ndef tags():\n    return []\n"
	s := &starter{}
	cuts, _, err := run(t, "-- commit: One --\n-- app.py --\n"+small, s, survey.Default())
	if err != nil || s.starts != 0 || s.stopped != 1 || fmt.Sprint(ends(cuts)) != fmt.Sprint(map[string]schemas.Reason{"tags": schemas.SmallGroup}) {
		t.Errorf("%v, begun %v, %v", ends(cuts), s.begun, err)
	}
	const unnamed = "package main\n\nimport \"net/http\"\n\nfunc main() {\n\thttp.HandleFunc(\"GET /api/tags\", func(w http.ResponseWriter, r *http.Request) {})\n\thttp.HandleFunc(\"POST /api/tags\", func(w http.ResponseWriter, r *http.Request) {})\n\thttp.ListenAndServe(\":80\", nil)\n}\n"
	cuts, _, err = run(t, "-- commit: One --\n-- go.mod --\nmodule example.com/tags\n\ngo 1.22\n-- main.go --\n"+unnamed, s, survey.Default())
	if err != nil || s.starts != 0 || s.stopped != 2 || fmt.Sprint(ends(cuts)) != fmt.Sprint(map[string]schemas.Reason{"tags": schemas.NamelessGroup}) {
		t.Errorf("%v, begun %v, %v", ends(cuts), s.begun, err)
	}
	s = &starter{}
	if cuts, _, err = run(t, app+"-- commit: Less --\n-- app.py --\n"+small, s, survey.Default()); err != nil || len(s.begun) != 2 || len(cuts) != 3 {
		t.Errorf("%v, begun %v, %v", ends(cuts), s.begun, err)
	}
}

// TestKeyInTheTree: a tree that holds a key is not built, unless the key is allowed.
func TestKeyInTheTree(t *testing.T) {
	t.Parallel()
	history := app + "-- docs/use.md --\nAKIA" + "Q3EGTI4RZN7XW2LB\n"
	s := &starter{}
	_, _, err := run(t, history, s, survey.Default())
	var rejected *pipeline.Rejected
	if !errors.As(err, &rejected) || rejected.Reason != schemas.HoldsSecret || !strings.Contains(err.Error(), "docs/use.md") || len(s.begun) != 0 {
		t.Errorf("%v, begun %v", err, s.begun)
	}
	c := survey.Default()
	c.Allow = secrets.Allow{"docs/"}
	if _, _, err := run(t, history, s, c); err != nil || len(s.begun) != 1 {
		t.Errorf("%v, begun %v", err, s.begun)
	}
}

// TestOther: what is no service, or one in a framework that is left out, is rejected by name.
func TestOther(t *testing.T) {
	t.Parallel()
	c := survey.Default()
	c.Frameworks = []string{"gin"}
	for history, want := range map[string]string{
		app: "it is written with flask",
		"-- commit: One --\n-- lib.py --\ndef f():\n    return 1\n":                                      "no web framework",
		"-- commit: One --\n-- urls.py --\nfrom django.urls import path\nurlpatterns = [path('x', 1)]\n": "django",
	} {
		_, _, err := run(t, history, &starter{}, c)
		var rejected *pipeline.Rejected
		if !errors.As(err, &rejected) || rejected.Reason != schemas.NoFramework || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
