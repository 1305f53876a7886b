package httpsuite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// toy is a small service: items with an owner, behind a token.
type toy struct {
	mu     sync.Mutex
	tokens map[string]string
	items  []map[string]any
	lists  int    // where lists begin
	broken string // METHOD /path that answers otherwise
	how    string
}

func (s *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != "" && r.Method+" "+r.URL.Path == s.broken {
		switch s.how {
		case "reset":
			c, _, _ := http.NewResponseController(w).Hijack()
			c.Close()
		case "empty":
			say(w, 200, map[string]any{})
		case "fault":
			say(w, 500, map[string]any{})
		case "hang":
			time.Sleep(6 * time.Second)
		}
		return
	}
	who := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Token ")]
	switch path := r.URL.Path; {
	case r.Method == "POST" && path == "/login":
		if r.ParseForm() != nil || r.PostForm.Get("name") == "" {
			say(w, 422, map[string]any{"error": "name is missing"})
			return
		}
		token := rand.Text()
		s.tokens[token] = r.PostForm.Get("name")
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: token})
		say(w, 200, map[string]any{"token": token, "at": time.Now().UTC().Format(time.RFC3339)})
	case path == "/items" && who == "":
		say(w, 401, map[string]any{"error": "who are you?"})
	case r.Method == "POST" && path == "/items":
		item := map[string]any{}
		if b, _ := io.ReadAll(r.Body); json.Unmarshal(b, &item) != nil {
			say(w, 400, map[string]any{"error": "not an object"})
			return
		}
		item["id"], item["owner"], item["n"] = rand.Text(), who, len(s.items)+1
		s.items = append(s.items, item)
		w.Header().Set("Location", "/items/"+item["id"].(string))
		say(w, 201, map[string]any{"item": item})
	case r.Method == "GET" && path == "/items":
		out, first := []any{}, 0
		if len(s.items) > 0 {
			first = s.lists % len(s.items) // an order that nobody asked for
		}
		for i := range s.items {
			out = append(out, s.items[(i+first)%len(s.items)])
		}
		if r.URL.Query().Get("q") != "" {
			out = out[:0]
		}
		say(w, 200, map[string]any{"items": out, "count": len(out)})
	case r.Method == "GET" && strings.HasPrefix(path, "/items/"):
		for _, i := range s.items {
			if i["id"] == strings.TrimPrefix(path, "/items/") {
				say(w, 200, i)
				return
			}
		}
		http.Error(w, "no such item", 404)
	case path == "/":
		fmt.Fprint(w, "toy")
	default:
		http.NotFound(w, r)
	}
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// fresh starts the service with its fresh state.
func fresh(t *testing.T, broken, how string) string { return start(t, &toy{broken: broken, how: how}) }

func start(t *testing.T, service *toy) string {
	service.tokens = map[string]string{}
	s := httptest.NewServer(service)
	t.Cleanup(s.Close)
	return s.URL
}

// ask asks a service as a recording does.
func ask(ctx context.Context, base string, w contract.Wire) contract.Answer {
	r, err := http.NewRequestWithContext(ctx, w.Method, base+w.Target, strings.NewReader(string(w.Body)))
	if err != nil {
		return contract.Answer{Failed: err.Error()}
	}
	for k, v := range w.Headers {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return contract.Answer{Failed: err.Error()}
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	a := contract.Answer{Status: res.StatusCode, Headers: map[string]string{}, Body: b}
	for k, v := range res.Header {
		a.Headers[strings.ToLower(k)] = strings.Join(v, "\n")
	}
	return a
}

func step(id, method, path string, needs ...string) contract.Case {
	return contract.Case{
		ID: id, Kind: contract.Happy, Group: "items", Needs: needs,
		Endpoint: schemas.Endpoint{Method: method, Path: path}, Request: contract.Request{Path: path},
	}
}

func ref(place string) map[string]any { return map[string]any{contract.RefKey: place} }

// scenario is what the toy is asked.
func scenario() []contract.Case {
	login := step("login", "POST", "/login")
	login.Request.Encoding, login.Request.Body = "form", map[string]any{"name": "Casey Stone"}
	auth := map[string]any{"Authorization": map[string]any{contract.RefKey: "login:body/token", contract.FormKey: "Token %s"}}
	create := step("create_item", "POST", "/items", "login")
	create.Request.Headers, create.Request.Encoding, create.Request.Body = auth, "json", map[string]any{"title": "Ü & more", "tags": []any{"a", "b"}}
	second := step("create_second", "POST", "/items", "login")
	second.Request.Headers, second.Request.Encoding, second.Request.Body = auth, "json", map[string]any{"title": "Second", "tags": []any{}}
	get := step("get_item", "GET", "/items/{id}", "create_item")
	get.Request.Params = map[string]any{"id": ref("create_item:body/item/id")}
	byLocation := step("get_second", "GET", "/items/{id}", "create_second")
	byLocation.Request.Params = map[string]any{"id": ref("create_second:header/Location/last")}
	list := step("list_items", "GET", "/items", "login", "create_item")
	list.Request.Headers = map[string]any{"authorization": map[string]any{contract.RefKey: "login:cookie/sid", contract.FormKey: "Token %s"}}
	search := step("search_items", "GET", "/items", "login")
	search.Request.Headers, search.Request.Query = auth, map[string]any{"q": "a b&c", "page": json.Number("2")}
	anonymous := step("list_anonymous", "GET", "/items")
	missing := step("get_missing", "GET", "/items/{id}")
	missing.Request.Params = map[string]any{"id": "not/there ü"}
	return []contract.Case{login, create, second, get, byLocation, list, search, anonymous, missing}
}

// record is the suite of the toy.
func record(t *testing.T) (contract.Suite, contract.Report) {
	t.Helper()
	cases := scenario()
	var replays [][]contract.Exchanged
	for i := range 4 {
		base := start(t, &toy{lists: i})
		answers := map[string]contract.Answer{}
		var replay []contract.Exchanged
		for _, c := range cases {
			w, err := contract.Resolve(c, func(id string) (contract.Answer, bool) { a, ok := answers[id]; return a, ok })
			if err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			answers[c.ID] = ask(t.Context(), base, w)
			replay = append(replay, contract.Exchanged{Case: c.ID, Wire: w, Answer: answers[c.ID]})
		}
		replays = append(replays, replay)
	}
	m, err := contract.Merge(cases, replays)
	if err != nil {
		t.Fatal(err)
	}
	return contract.Suite{Format: contract.Format, Ready: []string{"/", "/items"}, Groups: []*contract.Group{{Name: "items", Cases: m.Cases}}}, m.Report
}

// interpreter is a Python that has pytest and requests.
func interpreter(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import pytest, requests").Run()
	}
	if err != nil {
		t.Skip("SKIP: no python3 with pytest and requests here")
	}
	return python
}

// written puts a suite into a folder.
func written(t *testing.T, s contract.Suite) string {
	t.Helper()
	files, err := Files(s)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pytest runs the suite in dir as a person does.
func pytest(t *testing.T, dir, base string, env []string, words ...string) (string, int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), interpreter(t), append([]string{"-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", schemas.SuiteFolder}, words...)...)
	c.Dir, c.Env = dir, append(append(os.Environ(), "SERVICE_URL="+base), env...)
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func TestSuiteOfTheOriginal(t *testing.T) {
	t.Parallel()
	s, report := record(t)
	if report.Judged != 9 || len(report.Dropped) != 0 {
		t.Errorf("report: %+v", report)
	}
	out, status := pytest(t, written(t, s), fresh(t, "", ""), nil)
	if status != 0 || !strings.Contains(out, "10 passed") {
		t.Errorf("status %d\n%s", status, out)
	}
}

// What is not as it was recorded fails with the request, what came back and what was expected.
func TestSuiteOfABrokenService(t *testing.T) {
	t.Parallel()
	s, _ := record(t)
	dir := written(t, s)
	for name, c := range map[string]struct {
		broken, how string
		passed      int
		says        []string
	}{
		"answers_nothing": {"GET /items", "empty", 7, []string{
			"FAILED tests_benchmint/test_func.py::test_case[items-list_items]",
			"sent      GET /items", "got       status 200, application/json", "expected  in the body, at the whole: the key \"count\", which is missing",
		}},
		"server_fault": {"POST /items", "fault", 5, []string{
			`sent      POST /items`, `{"tags":["a","b"],"title":"Ü & more"}`, "got       status 500", "expected  status 201",
			"This case needs create_item, which did not go as recorded: its status is 500, not 201.",
		}},
		"closes_the_connection": {"POST /login", "reset", 3, []string{"got       the connection was closed without a whole answer", "This case needs login"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, status := pytest(t, dir, fresh(t, c.broken, c.how), nil)
			if status != 1 || !strings.Contains(out, fmt.Sprintf("%d passed", c.passed)) {
				t.Errorf("status %d, want 1 with %d passed\n%s", status, c.passed, out)
			}
			for _, want := range c.says {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// A person can choose one test: what it builds on is asked first.
func TestSuiteOfOneCase(t *testing.T) {
	t.Parallel()
	s, _ := record(t)
	dir := written(t, s)
	if out, status := pytest(t, dir, fresh(t, "", ""), nil, "-k", "get_second"); status != 0 || !strings.Contains(out, "1 passed") {
		t.Errorf("status %d\n%s", status, out)
	}
	if out, status := pytest(t, dir, fresh(t, "", ""), []string{"BENCHMINT_GROUP=others"}); status != 0 || !strings.Contains(out, "1 passed") {
		t.Errorf("another group: status %d\n%s", status, out)
	}
}

// Where no service is, no test can say more than that.
func TestSuiteWithoutService(t *testing.T) {
	t.Parallel()
	s, _ := record(t)
	dir := written(t, s)
	base := fresh(t, "", "")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	env := []string{"BENCHMINT_READY_SECONDS=0.3"}
	if out, status := pytest(t, dir, gone.URL, env, "-k", "test_case"); status != notReady || !strings.Contains(out, notReadyText+"port ") {
		t.Errorf("status %d\n%s", status, out)
	}
	if out, status := pytest(t, dir, gone.URL, env, "-k", "test_connect"); status != 1 || !strings.Contains(out, notReadyText+"port ") {
		t.Errorf("connect: status %d\n%s", status, out)
	}
	if out, status := pytest(t, dir, fresh(t, "GET /items", "fault"), nil, "-k", "test_connect"); status != 0 {
		t.Errorf("one path of two has a fault: status %d\n%s", status, out)
	}
	s.Ready = s.Ready[1:]
	out, status := pytest(t, written(t, s), fresh(t, "GET /items", "fault"), nil, "-k", "test_connect")
	if status != 1 || !strings.Contains(out, "GET /items: status 500") {
		t.Errorf("the only path has a fault: status %d\n%s", status, out)
	}
	if err := os.Remove(filepath.Join(dir, schemas.SuiteFolder, CasesFile)); err != nil {
		t.Fatal(err)
	}
	if out, status := pytest(t, dir, base, nil, "-k", "test_connect"); status != 0 {
		t.Errorf("a suite without cases: status %d\n%s", status, out)
	}
}
