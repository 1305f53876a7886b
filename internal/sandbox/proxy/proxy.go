// Package proxy lets builds reach package registries and nothing else: an HTTP
// proxy with a list of allowed hosts, served on a listener inside a sandbox.
//
// It never resolves or dials a host that is not on the list, never opens TLS, never
// passes on what is not TLS to the host that was asked for, and never adds a credential.
// Connections, headers and waiting are bounded, since a stranger's code is the client.
package proxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Upstream gives the machine's own proxy for a request, as http.ProxyFromEnvironment does.
type Upstream func(*http.Request) (*url.URL, error)

// Proxy answers CONNECT and absolute-form requests for allowed hosts.
type Proxy struct {
	allowed  map[string]bool // host:port
	upstream Upstream
	plain    *http.Transport
	local    http.Handler

	mu        sync.Mutex
	denied    []string
	unreached []string
}

const (
	dialTimeout = 30 * time.Second
	// maxConnections are served at a time; more wait. uv opens 50, others fewer.
	maxConnections = 64
	maxHeader      = 64 << 10 // bytes
	// idleTimeout ends a connection on which nothing moves. A registry's answer to a slow
	// question takes seconds.
	idleTimeout = 2 * time.Minute
)

// New allows the given hosts; one without a port is allowed at 443 and 80.
func New(hosts []string, upstream Upstream) *Proxy {
	p := &Proxy{allowed: map[string]bool{}, upstream: upstream}
	for _, host := range hosts {
		host = strings.ToLower(host)
		if _, _, err := net.SplitHostPort(host); err == nil {
			p.allowed[host] = true
			continue
		}
		p.allowed[net.JoinHostPort(host, "443")] = true
		p.allowed[net.JoinHostPort(host, "80")] = true
	}
	p.plain = &http.Transport{
		Proxy: upstream, MaxResponseHeaderBytes: maxHeader, IdleConnTimeout: dialTimeout,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &moving{Conn: conn, last: newStamp()}, nil
		},
	}
	return p
}

// For is a proxy whose requests are all answered by local, and that reaches no host; New where
// local is nil.
func For(local http.Handler, hosts []string, upstream Upstream) *Proxy {
	if local == nil {
		return New(hosts, upstream)
	}
	p := New(nil, nil)
	p.local = local
	return p
}

// Denied are the hosts that were asked for in vain: often the cause of a failed build.
func (p *Proxy) Denied() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.denied)
}

// Unreached are the allowed hosts that no connection came about to, with the reason:
// the way out of this machine, or the registry, is at fault and no client.
func (p *Proxy) Unreached() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.unreached)
}

// Serve answers on l until it is closed or ctx ends; then every connection is cut.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: dialTimeout, IdleTimeout: dialTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is refused like the rest
		BaseContext:                  func(net.Listener) context.Context { return ctx },
	}
	l = bound(l, maxConnections)
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	defer p.plain.CloseIdleConnections()
	defer cancel() // tunnels are out of the server's hands
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, standard := r.Host, "80"
	if r.Method == http.MethodConnect {
		standard = "443"
	} else if r.URL.Host == "" || r.URL.Scheme != "http" {
		http.Error(w, "benchmint: this is a proxy", http.StatusBadRequest)
		return
	} else {
		target = r.URL.Host // the Host header may say another name
	}
	if _, _, err := net.SplitHostPort(target); err != nil {
		target = net.JoinHostPort(strings.Trim(target, "[]"), standard)
	}
	target = strings.ToLower(target)
	if p.local != nil && r.Method != http.MethodConnect {
		p.local.ServeHTTP(w, r)
		return
	}
	if !p.allowed[target] {
		p.note(&p.denied, target)
		http.Error(w, fmt.Sprintf("benchmint: builds may reach package registries only; %s is not one", target), http.StatusForbidden)
		return
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, r, target)
		return
	}
	p.forward(w, r, target)
}

// note remembers a line once; the bound keeps a loop of a stranger's from filling memory.
func (p *Proxy) note(list *[]string, line string) {
	const enough = 100
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(*list) < enough && !slices.Contains(*list, line) {
		*list = append(*list, line)
	}
}

// missed notes that a host was not reached, unless the client gave up.
func (p *Proxy) missed(ctx context.Context, target string, err error) {
	if ctx.Err() == nil {
		p.note(&p.unreached, fmt.Sprintf("%s: %v", target, err))
	}
}

// forward passes on a request without TLS.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, target string) {
	out := r.Clone(r.Context())
	out.RequestURI, out.Host = "", target
	out.URL.Host = target
	out.URL.User = nil
	for _, hop := range []string{"Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		out.Header.Del(hop)
	}
	control := http.NewResponseController(w)
	// What it sends has to come at once: requests to registries are short.
	_ = control.SetReadDeadline(time.Now().Add(idleTimeout)) // a writer of a test has none
	// No redirect is followed: the client asks again, and the list is asked again.
	answer, err := p.plain.RoundTrip(out)
	if err != nil {
		p.missed(r.Context(), target, err)
		http.Error(w, "benchmint: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	_ = control.SetWriteDeadline(time.Now().Add(idleTimeout))
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(&patient{w, control}, answer.Body) // the client sees a cut body
}

func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, target string) {
	far, err := p.dial(r.Context(), target)
	if err != nil {
		p.missed(r.Context(), target, err)
		http.Error(w, "benchmint: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "benchmint: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer near.Close()
	stop := context.AfterFunc(r.Context(), func() { near.Close(); far.Close() })
	defer stop()
	if err := near.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	first, asked, err := readHello(buffered)
	if err != nil {
		p.note(&p.denied, target+" (without TLS)")
		return
	}
	if !sameHost(asked, target) {
		p.note(&p.denied, fmt.Sprintf("%.255q through %s", asked, target))
		return
	}
	if _, err := far.Write(first); err != nil {
		return
	}
	splice(near, far, buffered)
}

// splice passes bytes on in both directions until both ends have said all, or nothing
// moves in either direction for too long.
func splice(near, far net.Conn, buffered io.Reader) {
	last := newStamp()
	a, b := &moving{Conn: near, last: last}, &moving{Conn: far, last: last}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(b, &movingReader{a, buffered})
		closeWrite(far)
	}()
	_, _ = io.Copy(a, b)
	closeWrite(near)
	<-done
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	c.Close()
}

// dial goes to the host, or to it through the machine's own proxy.
func (p *Proxy) dial(ctx context.Context, target string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	via, err := p.via(target)
	if err != nil {
		return nil, err
	}
	if via == nil {
		return dialer.DialContext(ctx, "tcp", target)
	}
	address := via.Host
	if via.Port() == "" {
		address = net.JoinHostPort(via.Hostname(), "80")
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the machine's proxy: %w", err)
	}
	if err := connect(conn, via, target); err != nil {
		conn.Close()
		return nil, fmt.Errorf("the machine's proxy: %w", err)
	}
	return conn, nil
}

func (p *Proxy) via(target string) (*url.URL, error) {
	if p.upstream == nil {
		return nil, nil
	}
	via, err := p.upstream(&http.Request{URL: &url.URL{Scheme: "https", Host: target}})
	if err != nil || via == nil {
		return nil, err
	}
	if via.Scheme != "http" {
		return nil, fmt.Errorf("the machine's proxy: scheme %s is not known", via.Scheme)
	}
	return via, nil
}

func connect(conn net.Conn, via *url.URL, target string) error {
	if err := conn.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if via.User != nil {
		password, _ := via.User.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return err
	}
	// One byte at a time: what follows the answer belongs to the tunnel.
	answer, err := http.ReadResponse(bufio.NewReaderSize(oneByte{conn}, 1), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return conn.SetDeadline(time.Time{})
}

// oneByte keeps a buffered reader from reading ahead.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
