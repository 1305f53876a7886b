package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// maxHello bounds the first message of TLS, in bytes: with keys of every kind it is
// some 2 KB.
const maxHello = 32 << 10

// errHeard ends a handshake of which only the client's first message is wanted.
var errHeard = errors.New("heard")

// readHello reads a client's first message of TLS: all bytes that were read, and the
// host that it asks for, "" where it names none. Nothing is answered.
func readHello(r io.Reader) (read []byte, host string, err error) {
	var all bytes.Buffer
	l := &listening{Reader: io.TeeReader(io.LimitReader(r, maxHello), &all)}
	err = tls.Server(l, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		host = hello.ServerName
		return nil, errHeard
	}}).Handshake()
	if !errors.Is(err, errHeard) {
		return nil, "", fmt.Errorf("reading the client's hello: %w", err)
	}
	return all.Bytes(), host, nil
}

// sameHost reports whether a hello's host is that of host:port. Addresses are not named
// in a hello (RFC 6066, section 3).
func sameHost(asked, target string) bool {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return false
	}
	if net.ParseIP(host) != nil {
		return asked == ""
	}
	return strings.EqualFold(strings.TrimSuffix(asked, "."), strings.TrimSuffix(host, "."))
}

// listening is a connection that only listens.
type listening struct{ io.Reader }

// Write implements net.Conn, as do those below; what a handshake says is dropped.
func (*listening) Write(p []byte) (int, error)      { return len(p), nil }
func (*listening) Close() error                     { return nil }
func (*listening) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*listening) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*listening) SetDeadline(time.Time) error      { return nil }
func (*listening) SetReadDeadline(time.Time) error  { return nil }
func (*listening) SetWriteDeadline(time.Time) error { return nil }
