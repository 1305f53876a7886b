package scenario

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

// toy is a contract.Server of a handler in this process, made anew for each start.
type toy struct {
	handler func(now func() time.Time) http.Handler
	shifts  bool
	starts  int
	stops   int
	sent    int
	clock   time.Time
	log     []string // method, target and status of every request
	fail    error    // of each start
}

func (s *toy) Shifts() bool { return s.shifts }

func (s *toy) Fresh(_ context.Context, shifted bool) (contract.Client, func() ([]byte, error), error) {
	if s.fail != nil {
		return nil, nil, s.fail
	}
	s.starts++
	if s.clock.IsZero() {
		s.clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	now := func() time.Time {
		s.clock = s.clock.Add(time.Millisecond)
		if shifted {
			return s.clock.AddDate(0, 0, 37)
		}
		return s.clock
	}
	return &toyClient{server: s, handler: s.handler(now)}, func() ([]byte, error) { s.stops++; return nil, nil }, nil
}

type toyClient struct {
	server  *toy
	handler http.Handler
}

// limited is a response that keeps a bounded body.
type limited struct {
	*httptest.ResponseRecorder
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return l.ResponseRecorder.Write(b)
}

func (c *toyClient) Do(ctx context.Context, w contract.Wire) (a contract.Answer, err error) {
	c.server.sent++
	defer func() {
		if recover() != nil {
			a = contract.Answer{Failed: "reset"}
		}
		c.server.log = append(c.server.log, fmt.Sprintf("%s %s %d %s", w.Method, w.Target, a.Status, w.Body))
	}()
	host := "toy"
	if w.Port > 0 {
		host = fmt.Sprintf("toy:%d", w.Port)
	}
	q, err := http.NewRequestWithContext(ctx, w.Method, "http://"+host+w.Target, bytes.NewReader(w.Body))
	if err != nil {
		return contract.Answer{Failed: err.Error()}, nil
	}
	for k, v := range w.Headers {
		q.Header.Set(k, v)
	}
	rec := &limited{httptest.NewRecorder(), 1 << 20}
	c.handler.ServeHTTP(rec, q)
	a = contract.Answer{Status: rec.Code, Headers: map[string]string{}, Body: rec.Body.Bytes()}
	for k, v := range rec.Header() {
		a.Headers[strings.ToLower(k)] = strings.Join(v, "\n")
	}
	return a, nil
}

func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func uuid() string {
	h := random()
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:]
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func decode(r *http.Request) map[string]any {
	var m map[string]any
	_ = json.NewDecoder(r.Body).Decode(&m)
	if m == nil {
		m = map[string]any{}
	}
	return m
}

func sub(m map[string]any, k string) map[string]any {
	v, _ := m[k].(map[string]any)
	if v == nil {
		v = map[string]any{}
	}
	return v
}

func str(m map[string]any, k string) string { v, _ := m[k].(string); return v }

func obj(name string, fields ...routes.Field) routes.Field {
	return routes.Field{Name: name, Type: "object", Required: true, Fields: fields}
}

func req(name, typ string) routes.Field { return routes.Field{Name: name, Type: typ, Required: true} }

func opt(name, typ string) routes.Field { return routes.Field{Name: name, Type: typ} }

func rt(method, path, auth string, body ...routes.Field) routes.Route {
	r := routes.Route{Method: method, Path: path, Auth: auth, Handler: routes.Function{Path: "app", Name: strings.ToLower(method)}}
	if body != nil {
		r.Body = &routes.Body{Encoding: "json", Fields: body}
	}
	return r
}

func noSleep(context.Context, time.Duration) error { return nil }

func record(t *testing.T, s *toy, o Options, all ...routes.Route) *Recording {
	t.Helper()
	o.Sleep = noSleep
	rec, err := Record(t.Context(), routes.Table{Routes: all}, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.starts != s.stops {
		t.Errorf("%d starts, %d stops", s.starts, s.stops)
	}
	for _, g := range rec.Groups {
		checkGroup(t, g)
	}
	if testing.Verbose() {
		t.Logf("auth %+v", rec.Auth)
		for _, g := range rec.Groups {
			t.Log(describe(g))
		}
	}
	return rec
}

// checkGroup is what holds of every recorded group.
func checkGroup(t *testing.T, g *Group) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range g.Cases {
		if seen[c.ID] || !caseForm.MatchString(c.ID) {
			t.Errorf("case ID %q", c.ID)
		}
		for _, n := range c.Needs {
			if !seen[n] {
				t.Errorf("%s needs %s, which is not before it", c.ID, n)
			}
		}
		seen[c.ID] = true
	}
	for _, r := range g.Replays {
		if len(r) != len(g.Cases) {
			t.Errorf("a replay of %d has %d answers for %d cases", len(g.Replays), len(r), len(g.Cases))
		}
	}
}

func describe(g *Group) string {
	var b strings.Builder
	n, of := g.Answered()
	own, others := g.Own()
	fmt.Fprintf(&b, "== %s: %d/%d answered, %d read back, cases %d own + %d others, %d requests\n", g.Name, n, of, g.ReadBack(), own, others, g.Sent)
	for i, c := range g.Cases {
		var all []string
		for _, r := range g.Replays {
			all = append(all, fmt.Sprint(r[i].Answer.Status)+r[i].Answer.Failed)
		}
		w := contract.Wire{}
		if len(g.Replays) > 0 {
			w = g.Replays[0][i].Wire
		}
		fmt.Fprintf(&b, "  %-40s %-9s %s %s %s needs %v %s\n", c.ID, c.Kind, strings.Join(all, " "), w.Method, w.Target, c.Needs, w.Body)
	}
	for _, l := range g.Left {
		fmt.Fprintf(&b, "  left: %s\n", l)
	}
	return b.String()
}

func group(t *testing.T, r *Recording, name string) *Group {
	t.Helper()
	for _, g := range r.Groups {
		if g.Name == name {
			return g
		}
	}
	t.Fatalf("no group %q", name)
	return nil
}

// status is that of a case in the first replay; 0 where there is no such case.
func status(g *Group, id string) int {
	for i, c := range g.Cases {
		if c.ID == id && len(g.Replays) > 0 {
			return g.Replays[0][i].Answer.Status
		}
	}
	return 0
}

func find(g *Group, id string) contract.Case {
	for _, c := range g.Cases {
		if c.ID == id {
			return c
		}
	}
	return contract.Case{}
}
