package proxy

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// boundListener accepts no more than some connections at a time: others wait in the
// kernel's queue, and cost nothing here.
type boundListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func bound(l net.Listener, most int) *boundListener {
	return &boundListener{Listener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

func (l *boundListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &boundConn{Conn: conn, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *boundListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// boundConn gives its place back when it is closed.
type boundConn struct {
	net.Conn
	release func()
}

func (c *boundConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite ends one direction only, where the connection has two.
func (c *boundConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// patient writes an answer to a client that may stop taking it: each piece has to be
// taken within idleTimeout.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(idleTimeout)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}
