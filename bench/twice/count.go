package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/hosts"
)

// The names that the counting server answers to. Builds run where the loopback of
// this machine is not theirs, so a mirror needs a name and the machine's proxy.
const (
	gitHost   = "git.test"
	indexHost = "index.test"
	goHost    = "modules.test"
)

// Kinds of requests.
const (
	gitKind    = "git"
	indexKind  = "Python index"
	filesKind  = "Python files"
	goKind     = "Go modules"
	sumsKind   = "Go checksums"
	debianKind = "Debian"
	elsewhere  = "elsewhere (refused)"
)

var kinds = []string{gitKind, indexKind, filesKind, goKind, sumsKind, debianKind, elsewhere}

// Where files of the Python index lie, and where a module proxy stands for the
// checksum database as well.
const (
	filesPath = "/packages/"
	sumsPath  = "/sumdb/"
)

// traffic is what went through.
type traffic struct{ requests, bytes int64 }

// counter is an HTTP proxy that stands for the registries and for the sources, and
// counts each request.
type counter struct {
	sources map[string]string // path under gitHost → repository, by path or URL
	client  http.Client
	address string

	mu      sync.Mutex
	seen    map[string]traffic
	refused []string
}

// serve starts the counter on the loopback; stop ends it.
func (c *counter) serve() (stop func() error, err error) {
	c.seen = map[string]traffic{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.address = "http://" + l.Addr().String()
	server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	return func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

// environ is what a machine behind these mirrors has in its environment.
func (c *counter) environ() []string {
	return []string{
		"http_proxy=" + c.address, "HTTP_PROXY=" + c.address, "https_proxy=" + c.address, "HTTPS_PROXY=" + c.address,
		"no_proxy=", "NO_PROXY=", "all_proxy=", "ALL_PROXY=",
		"UV_DEFAULT_INDEX=http://" + indexHost + "/simple", "PIP_INDEX_URL=http://" + indexHost + "/simple",
		"UV_INDEX_URL=", "UV_INDEX=", "UV_EXTRA_INDEX_URL=", "PIP_EXTRA_INDEX_URL=",
		"GOPROXY=http://" + goHost, "GOSUMDB=" + hosts.GoSum, "GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=", "GOFLAGS=",
	}
}

// take gives what was counted since it was last called.
func (c *counter) take() (map[string]traffic, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, refused := c.seen, c.refused
	c.seen, c.refused = map[string]traffic{}, nil
	return seen, refused
}

func (c *counter) add(kind string, t traffic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.seen[kind]
	c.seen[kind] = traffic{was.requests + t.requests, was.bytes + t.bytes}
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, serve := c.route(r)
	body := &measured{ReadCloser: r.Body}
	r.Body = body
	answer := &meter{ResponseWriter: w}
	c.add(kind, traffic{requests: 1})                                 // before the answer: a client that has it may be the last
	defer func() { c.add(kind, traffic{bytes: body.n + answer.n}) }() // of one that broke off too
	serve(answer, r)
}

// route says what a request is and who answers it.
func (c *counter) route(r *http.Request) (string, http.HandlerFunc) {
	if r.Method == http.MethodConnect {
		return elsewhere, c.refuse
	}
	switch r.URL.Hostname() {
	case gitHost:
		return gitKind, c.git
	case indexHost:
		if strings.HasPrefix(r.URL.Path, filesPath) {
			return filesKind, c.from(hosts.PyPIFiles)
		}
		return indexKind, c.page
	case goHost:
		if strings.HasPrefix(r.URL.Path, sumsPath) {
			return sumsKind, c.from(hosts.GoProxy)
		}
		return goKind, c.from(hosts.GoProxy)
	case hosts.Debian, hosts.DebianSec:
		return debianKind, c.pass
	}
	return elsewhere, c.refuse
}

func (c *counter) refuse(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.refused = append(c.refused, r.Method+" "+r.Host+r.URL.Path)
	c.mu.Unlock()
	http.Error(w, "only what is counted by its kind is let through", http.StatusForbidden)
}

// git serves a repository of this machine with git's own server, and passes on what
// is for one elsewhere.
func (c *counter) git(w http.ResponseWriter, r *http.Request) {
	for prefix, source := range c.sources {
		rest, ok := strings.CutPrefix(r.URL.Path, prefix+"/")
		if !ok {
			continue
		}
		if far, err := url.Parse(source); err == nil && far.Host != "" {
			far.Path, far.RawQuery = far.Path+"/"+rest, r.URL.RawQuery
			c.forward(w, r, far)
			return
		}
		program, err := exec.LookPath("git")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		(&cgi.Handler{Path: program, Args: []string{"http-backend"}, Root: prefix, Env: []string{
			"GIT_PROJECT_ROOT=" + source, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		}}).ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// public is the same path on a public host.
func public(host string, r *http.Request) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
}

func (c *counter) from(host string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { c.forward(w, r, public(host, r)) }
}

func (c *counter) pass(w http.ResponseWriter, r *http.Request) { c.forward(w, r, r.URL) }

// page is a page of the index, whose links to files lead through here.
func (c *counter) page(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding") // the page is read here
	answer, err := c.ask(r, public(hosts.PyPI, r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	text = bytes.ReplaceAll(text, []byte("https://"+hosts.PyPIFiles+filesPath), []byte("http://"+indexHost+filesPath))
	maps.Copy(w.Header(), answer.Header)
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text) // the client is gone
}

func (c *counter) forward(w http.ResponseWriter, r *http.Request, to *url.URL) {
	answer, err := c.ask(r, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	relay(w, answer)
}

func relay(w http.ResponseWriter, answer *http.Response) {
	defer answer.Body.Close()
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		panic(http.ErrAbortHandler) // half a file must not look whole
	}
}

// ask follows redirects itself: the client would leave the counter.
func (c *counter) ask(r *http.Request, to *url.URL) (*http.Response, error) {
	body := io.Reader(r.Body)
	if r.ContentLength == 0 {
		body = nil // with one, not every redirect is followed
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), body)
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	for _, hop := range []string{"Connection", "Proxy-Authorization", "Proxy-Connection"} {
		out.Header.Del(hop)
	}
	out.ContentLength = r.ContentLength
	return c.client.Do(out)
}

// measured and meter count the bytes of bodies.
type measured struct {
	io.ReadCloser
	n int64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.n += int64(n)
	return n, err
}

type meter struct {
	http.ResponseWriter
	n int64
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.ResponseWriter.Write(p)
	m.n += int64(n)
	return n, err
}

// place is where a source is found under gitHost: owner/name.git of its path or URL.
func place(source string) (string, error) {
	text := source
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		text = u.Path
	}
	text = strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(text), "/"), ".git")
	owner, name := path.Base(path.Dir(text)), path.Base(text)
	if owner == "/" || owner == "." {
		return "", fmt.Errorf("%s does not end in owner/name", source)
	}
	return "/" + owner + "/" + name + ".git", nil
}
