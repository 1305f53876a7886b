// Package githubtest is a GitHub for tests: the GraphQL questions of package github over
// HTTP, and the faults of the real one.
//
// It never holds a repository: git serves code.
package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// Fault is said in place of an answer. A zero Status is 200.
type Fault struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`
	Most   int               `json:"most"` // only to questions of more pull requests than this
	Times  int               `json:"times"`
}

// Server is one GitHub. Its API is at URL().
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	pulls    map[string]map[int]schemas.Pull
	faults   []Fault
	requests int
	tokens   map[string]bool
}

// Start serves the pull requests of repositories by name and number. Faults come first, in
// order, each as often as it says.
func Start(pulls map[string]map[int]schemas.Pull, faults ...Fault) *Server {
	s := &Server{pulls: pulls, faults: faults, tokens: map[string]bool{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// URL is the base of the API.
func (s *Server) URL() string { return s.http.URL }

// Close ends it.
func (s *Server) Close() { s.http.Close() }

// Requests is how often it was asked.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Heard reports whether a token was sent.
func (s *Server) Heard(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

var alias = regexp.MustCompile(`(p\d+): pullRequest\(number: (\d+)\)`)

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.tokens[strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")] = true
	var in struct {
		Query     string
		Variables struct{ Owner, Name string }
	}
	if req.URL.Path != "/graphql" || json.NewDecoder(req.Body).Decode(&in) != nil {
		http.NotFound(w, req)
		return
	}
	asked := alias.FindAllStringSubmatch(in.Query, -1)
	w.Header().Set("Content-Type", "application/json")
	if f, ok := s.fault(len(asked)); ok {
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		if f.Status != 0 {
			w.WriteHeader(f.Status)
		}
		_, _ = w.Write([]byte(f.Body))
		return
	}
	_, _ = w.Write(s.answer(in.Variables.Owner+"/"+in.Variables.Name, asked))
}

// fault is the next one that is due.
func (s *Server) fault(asked int) (Fault, bool) {
	for i := range s.faults {
		f := &s.faults[i]
		if f.Times <= 0 || asked <= f.Most {
			continue
		}
		f.Times--
		return *f, true
	}
	return Fault{}, false
}

func (s *Server) answer(name string, asked [][]string) []byte {
	pulls, known := s.pulls[name]
	var errs []any
	var repository map[string]any
	if !known {
		errs = append(errs, map[string]any{"type": "NOT_FOUND", "path": []any{"repository"}, "message": "Could not resolve to a Repository with the name '" + name + "'."})
	} else {
		repository = map[string]any{}
	}
	for _, a := range asked {
		if !known {
			break
		}
		n, _ := strconv.Atoi(a[2])
		p, ok := pulls[n]
		if !ok {
			repository[a[1]] = nil
			errs = append(errs, map[string]any{"type": "NOT_FOUND", "path": []any{"repository", a[1]}, "message": fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", n)})
			continue
		}
		labels := []any{}
		for _, l := range p.Labels {
			labels = append(labels, map[string]string{"name": l})
		}
		entry := map[string]any{"number": n, "title": p.Title, "body": p.Body, "labels": map[string]any{"nodes": labels}, "mergeCommit": nil}
		if p.Merge != "" {
			entry["mergeCommit"] = map[string]string{"oid": p.Merge}
		}
		repository[a[1]] = entry
	}
	// GitHub's price: one point for each hundred connections that are read, at least one.
	cost := max(1, len(asked)/100)
	out := map[string]any{"data": map[string]any{"repository": repository, "rateLimit": map[string]any{"cost": cost, "remaining": 5000 - s.requests*cost, "resetAt": "2026-01-02T04:00:00Z"}}}
	if errs != nil {
		out["errors"] = errs
	}
	b, err := json.Marshal(out)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}
