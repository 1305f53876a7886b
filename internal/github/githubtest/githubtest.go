// Package githubtest is a GitHub for tests: its REST and GraphQL API over HTTP, its prices and
// limits, its faults, and git. Each question is checked against the schema that GitHub
// publishes, and each answer against its description of the REST API: what does not fit is
// answered with status 500 and kept for Bad.
//
// It never knows more of a repository than it was given, and git serves code.
package githubtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/schemas"
)

// Repository is one repository as GitHub has it.
type Repository struct {
	schemas.Forge
	Created  time.Time           `json:"created"`
	Releases []github.Release    `json:"releases"`
	Pulls    map[int]github.Pull `json:"pulls"` // merged; other numbers are issues
	Disabled bool                `json:"disabled"`
}

// Repositories are those of a Server, by owner/name.
type Repositories map[string]*Repository

// Of gives repositories the pull requests of a map, and nothing else.
func Of(pulls map[string]map[int]schemas.Pull) Repositories {
	out := Repositories{}
	for name, all := range pulls {
		out.Add(name, all)
	}
	return out
}

// Add puts pull requests to a repository.
func (r Repositories) Add(name string, pulls map[int]schemas.Pull) {
	if r[name] == nil {
		r[name] = &Repository{}
	}
	if r[name].Pulls == nil {
		r[name].Pulls = map[int]github.Pull{}
	}
	for n, p := range pulls {
		p.Number = n
		r[name].Pulls[n] = github.Pull{Pull: p, Updated: started.Add(time.Duration(n) * time.Minute)}
	}
}

// started is when the tests' world began.
var started = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// Fault is said in place of an answer. A zero Status is 200.
type Fault struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`
	Most   int               `json:"most"`  // only to questions of more pull requests than this
	Token  string            `json:"token"` // only to this one
	Path   string            `json:"path"`  // only where the path holds it
	Of     string            `json:"of"`    // only to questions of this owner/name, and what else they ask of
	Times  int               `json:"times"`
	After  int               `json:"after"` // so many fitting questions are answered first
}

// Server is one GitHub. Its API is at URL().
type Server struct {
	http *httptest.Server
	git  string // folder of bare repositories, owner/name.git
	spec *spec

	mu       sync.Mutex
	all      Repositories
	renamed  map[string]string
	faults   []Fault
	requests int
	points   int
	paths    []string
	tokens   map[string]bool
	bad      []string
	noGraph  bool
}

// Start serves repositories. Faults come first, in order, each as often as it says.
func Start(all Repositories, faults ...Fault) *Server {
	s := &Server{all: all.named(), renamed: map[string]string{}, faults: faults, tokens: map[string]bool{}, spec: published()}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Rename gives a repository another name; the old one leads to it.
func (s *Server) Rename(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renamed[from] = to
	delete(s.renamed, to) // it may have its old name again
	s.all[to] = s.all[from]
	s.all[to].Name = to
	delete(s.all, from)
}

// Replace gives it other repositories and faults.
func (s *Server) Replace(all Repositories, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.faults = all.named(), faults
}

// named gives repositories without a name the one that they stand under.
func (r Repositories) named() Repositories {
	for name, one := range r {
		if one.Name == "" {
			one.Name = name
		}
	}
	return r
}

// Change lets a function change the repositories while nobody is served.
func (s *Server) Change(change func(Repositories)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.all)
}

// NoGraphQL serves the REST API alone from now on.
func (s *Server) NoGraphQL() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noGraph = true
}

// ServeGit serves the bare repositories below a folder, owner/name.git, by git's smart HTTP.
func (s *Server) ServeGit(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git = folder
}

// URL is the base of the API, and of git.
func (s *Server) URL() string { return s.http.URL }

// Close ends it.
func (s *Server) Close() { s.http.Close() }

// Requests is how often the API was asked.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Points is what the questions of GraphQL cost together.
func (s *Server) Points() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.points
}

// Paths are the paths and questions that were asked, in order.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.paths...)
}

// Bad is what was not as GitHub describes itself.
func (s *Server) Bad() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.bad...)
}

// Heard reports whether a token was sent.
func (s *Server) Heard(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if strings.Contains(req.URL.Path, ".git/") {
		s.serveGit(w, req)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	s.requests++
	s.tokens[token] = true
	s.paths = append(s.paths, req.URL.RequestURI())
	if req.URL.Path == "/graphql" && !s.noGraph {
		s.graph(w, req, token)
		return
	}
	if s.failed(w, req, question{token: token, of: []string{strings.ToLower(req.URL.Path)}}) {
		return
	}
	s.rest(w, req)
}

// question is what decides whether a fault fits.
type question struct {
	token string
	asked int      // pull requests or repositories, by name
	of    []string // lower case: owner/name, or the path that holds it
}

// names reports whether a question is of a repository; "" is any.
func (q question) names(repository string) bool {
	return slices.ContainsFunc(q.of, func(of string) bool { return strings.Contains(of, strings.ToLower(repository)) })
}

// failed answers with the next fault that is due.
func (s *Server) failed(w http.ResponseWriter, req *http.Request, q question) bool {
	for i := range s.faults {
		f := &s.faults[i]
		switch {
		case f.Times <= 0, f.Most > 0 && q.asked <= f.Most, f.Token != "" && f.Token != q.token, !strings.Contains(req.URL.Path, f.Path), f.Of != "" && !q.names(f.Of):
			continue
		case f.After > 0:
			f.After--
			continue
		}
		f.Times--
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		if f.Status != 0 {
			w.WriteHeader(f.Status)
		}
		_, _ = w.Write([]byte(f.Body))
		return true
	}
	return false
}

// limits are the headers of every answer.
func (s *Server) limits(w http.ResponseWriter, resource string, limit, used int) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(limit-used, 1)))
	h.Set("X-RateLimit-Used", strconv.Itoa(used))
	h.Set("X-RateLimit-Resource", resource)
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
}

// reset is when the hour of every limit ends.
var reset = time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)

func (s *Server) serveGit(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	folder := s.git
	s.mu.Unlock()
	program, err := exec.LookPath("git")
	if folder == "" || err != nil {
		http.NotFound(w, req)
		return
	}
	(&cgi.Handler{Path: program, Args: []string{"http-backend"}, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Clean(folder), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}}).ServeHTTP(w, req)
}

// of finds a repository, under an old name as well.
func (s *Server) of(name string) *Repository {
	if to, ok := s.renamed[name]; ok {
		name = to
	}
	for have, r := range s.all {
		if strings.EqualFold(have, name) {
			return r
		}
	}
	return nil
}

// wrong keeps what is not as GitHub describes itself, and says so.
func (s *Server) wrong(w http.ResponseWriter, what string, err error) {
	text, _, _ := strings.Cut(err.Error(), "\n")
	s.bad = append(s.bad, what+": "+text)
	http.Error(w, fmt.Sprintf(`{"message": %q}`, text), http.StatusInternalServerError)
}
