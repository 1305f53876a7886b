package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox/proxy"
)

// serve starts a proxy and gives a client that goes through it.
func serve(t *testing.T, p *proxy.Proxy) (*http.Client, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	through := &url.URL{Scheme: "http", Host: l.Addr().String()}
	transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the test server's own certificate
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, through.Host
}

func get(c *http.Client, url string) string {
	res, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s", res.StatusCode, strings.TrimSpace(string(body)))
}

func answer(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text, " ", r.URL.Path) })
}

func TestAllowedHostsOnly(t *testing.T) {
	t.Parallel()
	plain, other := httptest.NewServer(answer("plain")), httptest.NewServer(answer("other"))
	secure, secureOther := httptest.NewTLSServer(answer("secure")), httptest.NewTLSServer(answer("other"))
	for _, s := range []*httptest.Server{plain, other, secure, secureOther} {
		t.Cleanup(s.Close)
	}
	p := proxy.New([]string{plain.Listener.Addr().String(), secure.Listener.Addr().String()}, nil)
	c, _ := serve(t, p)
	for url, want := range map[string]string{
		plain.URL + "/a":       "200 plain /a",
		secure.URL + "/b":      "200 secure /b",
		other.URL + "/c":       "403 ",
		secureOther.URL + "/d": "Forbidden",
		"http://localhost:" + strings.Split(plain.URL, ":")[2] + "/e": "403 ", // another name, though the same place
	} {
		if got := get(c, url); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if denied := p.Denied(); len(denied) != 3 || !slices.Contains(denied, other.Listener.Addr().String()) {
		t.Errorf("denied: %q", denied)
	}
}

func TestPortsOfAHostWithoutOne(t *testing.T) {
	t.Parallel()
	p := proxy.New([]string{"127.0.0.1"}, nil)
	c, _ := serve(t, p)
	if got := get(c, "http://127.0.0.1:22/"); !strings.HasPrefix(got, "403") {
		t.Errorf("port 22: %q", got)
	}
	if got := get(c, "http://127.0.0.1/"); strings.HasPrefix(got, "403") {
		t.Errorf("port 80: %q", got)
	}
}

// TestRawRequests: what no client library sends.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(private.Close)
	public := httptest.NewServer(answer("public"))
	t.Cleanup(public.Close)
	secret, allowed := private.Listener.Addr().String(), public.Listener.Addr().String()
	_, address := serve(t, proxy.New([]string{allowed}, nil))
	for name, request := range map[string]string{
		"host_header_lies":    "GET http://" + secret + "/ HTTP/1.1\r\nHost: " + allowed + "\r\n\r\n",
		"connect_header_lies": "CONNECT " + secret + " HTTP/1.1\r\nHost: " + allowed + "\r\n\r\n",
		"user_in_target":      "GET http://" + allowed + "@" + secret + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"origin_form":         "GET / HTTP/1.1\r\nHost: " + secret + "\r\n\r\n",
		"options_of_all":      "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"other_scheme":        "GET ftp://" + secret + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"no_request":          "\x16\x03\x01\x00\x05hello\r\n\r\n",
		"smuggled":            "GET http://" + allowed + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://" + secret + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(500 * time.Millisecond))
		fmt.Fprint(conn, request)
		said, _ := io.ReadAll(conn)
		conn.Close()
		if name != "smuggled" && strings.Contains(string(said), "200 OK") {
			t.Errorf("%s: %q", name, said)
		}
	}
	if n := visits.Load(); n > 0 {
		t.Errorf("the private server was visited %d times", n)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(private.Close)
	public := httptest.NewServer(http.RedirectHandler(private.URL, http.StatusFound))
	t.Cleanup(public.Close)
	c, _ := serve(t, proxy.New([]string{public.Listener.Addr().String()}, nil))
	if got := get(c, public.URL); !strings.HasPrefix(got, "302") || visits.Load() > 0 {
		t.Errorf("%q, %d visits", got, visits.Load())
	}
}

// TestUpstream: the machine's own proxy is used, with its password, which the build
// never sees.
func TestUpstream(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(answer("secure"))
	t.Cleanup(target.Close)
	host := target.Listener.Addr().String()
	inner := proxy.New([]string{host}, nil)
	var authorised atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:secret")) {
			http.Error(w, "who are you", http.StatusProxyAuthRequired)
			return
		}
		authorised.Add(1)
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	via, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	via.User = url.UserPassword("me", "secret")
	c, _ := serve(t, proxy.New([]string{host}, func(*http.Request) (*url.URL, error) { return via, nil }))
	if got := get(c, target.URL+"/x"); got != "200 secure /x" || authorised.Load() != 1 {
		t.Errorf("%q, %d authorised", got, authorised.Load())
	}
	via.User = nil
	c, _ = serve(t, proxy.New([]string{host}, func(*http.Request) (*url.URL, error) { return via, nil }))
	if got := get(c, target.URL+"/x"); !strings.Contains(got, "Bad Gateway") {
		t.Errorf("without a password: %q", got)
	}
}

// TestEndCutsTunnels: when a build is over, nothing of it goes on.
func TestEndCutsTunnels(t *testing.T) {
	t.Parallel()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	far := make(chan net.Conn, 1)
	go func() {
		if c, err := target.Accept(); err == nil {
			far <- c
		}
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = proxy.New([]string{target.Addr().String()}, nil).Serve(ctx, l) }()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	fmt.Fprintf(near, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", target.Addr())
	c := <-far
	defer c.Close()
	cancel()
	for name, conn := range map[string]net.Conn{"near": near, "far": c} {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("the %s end is still open", name)
		}
	}
}

// open asks for a tunnel and gives the connection behind the answer.
func open(t *testing.T, address, target string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", target)
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // it is the connection
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT: %v, %v", res, err)
	}
	return conn
}

// TestTunnelsAreTLSToTheirHost: what a front with many names would serve for another
// name, and what is not TLS, does not get through.
func TestTunnelsAreTLSToTheirHost(t *testing.T) {
	t.Parallel()
	var hellos atomic.Int64
	front := httptest.NewUnstartedServer(answer("front"))
	front.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		hellos.Add(1)
		return nil, nil
	}}
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	_, port, _ := net.SplitHostPort(front.Listener.Addr().String())
	target := "localhost:" + port
	p := proxy.New([]string{target}, nil)
	_, address := serve(t, p)
	for name, tc := range map[string]struct {
		asked string
		want  bool
	}{
		"same":         {"localhost", true},
		"other_case":   {"LocalHost", true},
		"other":        {"www.example.org", false},
		"none":         {"", false},
		"longer":       {"localhost.example.org", false},
		"with_its_dot": {"localhost.", true},
	} {
		before := hellos.Load()
		conn := tls.Client(open(t, address, target), &tls.Config{ServerName: tc.asked, InsecureSkipVerify: true}) //nolint:gosec // the test server's own certificate
		err := conn.Handshake()
		if (err == nil) != tc.want || (hellos.Load() > before) != tc.want {
			t.Errorf("%s: %v, %d hellos", name, err, hellos.Load()-before)
		}
	}
	for name, said := range map[string]string{
		"plain_http": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"ssh":        "SSH-2.0-x\r\n",
		"endless":    "\x16\x03\x01\x40\x00\x01\x00\xff\xff" + strings.Repeat("\x00", 1<<17),
	} {
		before := hellos.Load()
		conn := open(t, address, target)
		go func() { _, _ = io.WriteString(conn, said) }()
		got, _ := io.ReadAll(conn)
		if len(got) > 0 || hellos.Load() > before {
			t.Errorf("%s: answered %q, %d hellos", name, got, hellos.Load()-before)
		}
	}
	if denied := fmt.Sprint(p.Denied()); !strings.Contains(denied, `"www.example.org" through `+target) || !strings.Contains(denied, target+" (without TLS)") {
		t.Errorf("denied: %s", denied)
	}
}

// TestHelloInPieces: a hello comes in as many packets and records as its sender likes.
func TestHelloInPieces(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(answer("secure"))
	t.Cleanup(server.Close)
	target := server.Listener.Addr().String()
	_, address := serve(t, proxy.New([]string{target}, nil))
	conn := tls.Client(slowly{open(t, address, target)}, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the test server's own certificate
	fmt.Fprintf(conn, "GET /x HTTP/1.0\r\n\r\n")
	if got, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(got), "secure /x") {
		t.Errorf("%q, %v", got, err)
	}
}

// slowly writes byte by byte.
type slowly struct{ net.Conn }

func (s slowly) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := s.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// TestUnfinishedHeaders: connections that never say all cost little memory, and leave
// room for the next one when they end.
func TestUnfinishedHeaders(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	public := httptest.NewServer(answer("public"))
	t.Cleanup(public.Close)
	c, address := serve(t, proxy.New([]string{public.Listener.Addr().String()}, nil))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const crowd = 400
	header := []byte("GET http://x/ HTTP/1.1\r\nX: " + strings.Repeat("x", 1_000_000))
	var conns []net.Conn
	var sent sync.WaitGroup
	for range crowd {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		sent.Go(func() { _, _ = conn.Write(header) })
	}
	sent.Wait()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("%d connections took %d MiB", crowd, grown>>20)
	}
	for _, conn := range conns {
		conn.Close()
	}
	if got := get(c, public.URL+"/a"); got != "200 public /a" {
		t.Errorf("after them: %q", got)
	}
}

// TestConnectionsWaitForTheirTurn: more than may be served at a time are served one
// after the other.
func TestConnectionsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(50 * time.Millisecond)
		now.Add(-1)
		fmt.Fprint(w, "public")
	}))
	t.Cleanup(public.Close)
	c, _ := serve(t, proxy.New([]string{public.Listener.Addr().String()}, nil))
	c.Transport.(*http.Transport).DisableKeepAlives = true
	var asked sync.WaitGroup
	for range 200 {
		asked.Go(func() {
			if got := get(c, public.URL); got != "200 public" {
				t.Error(got)
			}
		})
	}
	asked.Wait()
	if most.Load() > 64 {
		t.Errorf("%d at a time", most.Load())
	}
}

func BenchmarkTunnel(b *testing.B) {
	const size = 16 << 20
	body := make([]byte, size)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	b.Cleanup(server.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	go func() { _ = proxy.New([]string{server.Listener.Addr().String()}, nil).Serve(ctx, l) }()
	c := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()}), DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the test server's own certificate
	}}
	b.SetBytes(size)
	for b.Loop() {
		res, err := c.Get(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
			b.Fatal(n, err)
		}
		res.Body.Close()
	}
}
